package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/memfs"
	"placet/layout"
)

// owing is a machine that has one missing output and writes no state.
type owing struct{ toyMachine }

func (owing) Step(s engine.Snapshot) (p engine.Plan, err error) {
	var st toyState
	if doc := s.In("state.json"); !doc.Present() || json.Unmarshal(doc.Body, &st) != nil {
		return p, nil
	}
	if name := path.Join(s.Dir, fmt.Sprintf("events/%03d.json", st.Count)); s.Doc(name).Absent() {
		p.Writes = []engine.Document{{Path: name, Kind: "event", Body: []byte("{}\n")}}
	}
	return p, nil
}

// A crash came between the exchange of the state document and the check of the one that it
// replaced. The sweep restores what others wrote, so everything seen before is invalid,
// even for outputs.
func TestNothingIsOwedToAStateThatTheSweepTakesBack(t *testing.T) {
	const ours, theirs = `{"status":"counting","count":9}`, `{"status":"counting","count":5}`
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	m := memfs.New(func() time.Time { return at })
	m.Put("toys/a/state.json", ours)
	m.Put("toys/a/"+layout.TempPrefix+"0123456789abcdef"+engine.Sum([]byte("old")).Hex()[:16]+engine.Sum([]byte(ours)).Hex()[:16]+layout.TempSuffix, theirs)
	at = at.Add(time.Hour)
	s := store.New(m, store.Options{Now: func() time.Time { return at }, Parallel: 1})
	unlock, err := s.LockWorkspace()
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	l := New(Options{Store: s, Families: []Family{{Layout: toyLayout{}, Machine: owing{}}}, Now: func() time.Time { return at },
		Pause: func(_ context.Context, d time.Duration) error { at = at.Add(d); return nil }})
	if _, err := l.Once(t.Context()); err != nil {
		t.Fatal(err)
	}
	var files []string
	for name, body := range m.Tree() {
		if files = append(files, path.Base(name)); name == "toys/a/state.json" && body != theirs {
			t.Errorf("the state is %s", body)
		}
	}
	slices.Sort(files)
	if got := strings.Join(files, " "); got != ".gitignore 005.json lock now state.json" {
		t.Errorf("there are %s", got)
	}
}
