package faber

import (
	"encoding/json"
	"errors"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/layout"
	"placet/schemas"
)

// world is a workspace in memory: it carries out plans as the acting half
// does, one run at a time. The time is what the test says.
type world struct {
	t       *testing.T
	files   map[string]string
	changed map[string]time.Time
	owner   map[string]string
	unset   map[string]bool // files that are still being written
	now     time.Time
	run     layout.Run
	facts   engine.Facts
	begun   []engine.Action
	lay     layout.Faber
}

var noon = time.Date(2025, 12, 6, 18, 15, 0, 120e6, time.UTC)

func newWorld(t *testing.T, dir string) *world {
	w := &world{
		t: t, files: map[string]string{}, changed: map[string]time.Time{}, owner: map[string]string{},
		unset: map[string]bool{}, now: noon,
		facts: engine.Facts{Config: engine.Config{Language: "en", Family: DefaultConfig()}, Trusted: map[engine.Digest]bool{}, Alive: map[string]bool{}},
	}
	run, ok := w.lay.At(dir + "/state.json")
	if !ok {
		run = layout.Run{Family: "faber", ID: dir, Dir: dir, Class: layout.FaberPlan, State: dir + "/state.json"}
	}
	w.run = run
	return w
}

// load copies a folder of real files into the world.
func (w *world) load(from, to string) {
	w.t.Helper()
	err := filepath.WalkDir(from, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(from, p)
		body, err := os.ReadFile(p)
		w.put(path.Join(to, filepath.ToSlash(rel)), string(body))
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) put(p, body string) {
	w.files[p] = body
	w.changed[p] = w.now
}

// in is the path of a file in the run's folder.
func (w *world) in(rel string) string { return path.Join(w.run.Dir, rel) }

func (w *world) config(change func(*Config)) {
	c := w.facts.Config.Family.(Config)
	change(&c)
	w.facts.Config.Family = c
}

func (w *world) snapshot(needs []string) engine.Snapshot {
	s := engine.Snapshot{Key: engine.Key{Family: "faber", ID: w.run.ID}, Dir: w.run.Dir, Class: w.run.Class, Now: w.now, Facts: w.facts}
	docs := map[string]engine.Document{}
	for p, body := range w.files {
		rel, ok := strings.CutPrefix(p, w.run.Dir+"/")
		if !ok {
			continue
		}
		if f, ok := w.lay.File(w.run, rel); ok {
			docs[p] = w.document(p, f.Kind, body)
		}
	}
	for _, need := range needs {
		s.Needs = append(s.Needs, need)
		pattern := strings.TrimPrefix(need, "still:")
		found := false
		for p, body := range w.files {
			if ok, _ := path.Match(pattern, p); ok {
				docs[p], found = w.document(p, "", body), true
			}
		}
		if !found && !strings.ContainsAny(pattern, "*?[") {
			docs[pattern] = engine.Document{Path: pattern, Err: engine.ErrAbsent}
		}
	}
	sort.Strings(s.Needs)
	for _, d := range docs {
		s.Docs = append(s.Docs, d)
	}
	sort.Slice(s.Docs, func(i, j int) bool { return s.Docs[i].Path < s.Docs[j].Path })
	return s
}

func (w *world) document(p, kind, body string) engine.Document {
	d := engine.Document{Path: p, Kind: kind, Body: []byte(body), Sum: engine.Sum([]byte(body)), Changed: w.changed[p]}
	owner := w.owner[p]
	if owner == "" {
		owner = "jmcwilliam"
	}
	d.Known = []string{"owner:" + owner}
	switch {
	case w.unset[p]:
		d.Body, d.Sum, d.Err = nil, "", engine.ErrUnsettled
	case strings.HasPrefix(body, "unusable:"):
		d.Body, d.Sum, d.Err = nil, "", errors.New(strings.TrimPrefix(body, "unusable:"))
	}
	return d
}

// full is a snapshot with all needs looked up.
func (w *world) full() (engine.Snapshot, engine.Plan) {
	w.t.Helper()
	var needs []string
	for range 5 {
		s := w.snapshot(needs)
		p, err := New().Step(s)
		if err != nil {
			w.t.Fatal(err)
		}
		lacks := s.Lacks(p.Needs)
		if len(lacks) == 0 {
			return s, p
		}
		needs = append(needs, lacks...)
	}
	w.t.Fatal("needs never end")
	return engine.Snapshot{}, engine.Plan{}
}

// step carries out one plan and returns it.
func (w *world) step() engine.Plan {
	w.t.Helper()
	_, p := w.full()
	for _, d := range p.Writes {
		have, exists := w.files[d.Path]
		if exists != (d.Over != "") || exists && engine.Sum([]byte(have)) != d.Over {
			w.t.Fatalf("write of %s over %q, but the file holds %q", d.Path, d.Over, have)
		}
		w.put(d.Path, string(d.Body))
	}
	for _, p := range p.Removes {
		delete(w.files, p)
	}
	for _, a := range p.Actions {
		w.begun = append(w.begun, a)
		w.facts.Alive[a.ID] = true
	}
	w.legal(p)
	return p
}

func (w *world) legal(p engine.Plan) {
	for _, t := range p.Transitions {
		found := false
		for _, e := range New().Edges() {
			found = found || e == t.Edge
		}
		if !found {
			w.t.Fatalf("transition %+v is no row of the table", t.Edge)
		}
	}
}

// settle steps until nothing is left to do, and returns the edges taken.
func (w *world) settle() []string {
	w.t.Helper()
	var taken []string
	for range 20 {
		p := w.step()
		for _, t := range p.Transitions {
			if t.Of == "run" {
				taken = append(taken, t.Event)
			}
		}
		if p.Empty() {
			return taken
		}
	}
	w.t.Fatal("does not settle")
	return nil
}

// state reads the run's state.json.
func (w *world) state() State {
	w.t.Helper()
	var st State
	if err := schemas.Decode("faber/state", "state.json", []byte(w.files[w.run.State]), &st); err != nil {
		w.t.Fatal(err)
	}
	return st
}

func (w *world) respond(id string, fields map[string]any) {
	w.t.Helper()
	m := map[string]any{"request_id": id, "provided_by": map[string]any{"user": "jmcwilliam", "source": "cli"}}
	for k, v := range fields {
		m[k] = v
	}
	body, err := json.Marshal(m)
	if err != nil {
		w.t.Fatal(err)
	}
	w.put(w.in("requests/"+id+"/response.json"), string(body))
}

// tick edits a form as a reviewer does.
func (w *world) tick(p string, items ...string) {
	w.t.Helper()
	body, ok := w.files[p]
	if !ok {
		w.t.Fatalf("there is no form %s", p)
	}
	for _, item := range items {
		ticked := strings.Replace(body, "- [ ] "+item, "- [x] "+item, 1)
		if ticked == body {
			w.t.Fatalf("the form has no item %q:\n%s", item, body)
		}
		body = ticked
	}
	w.put(p, body)
}

// events lists the names of the run's events in order.
func (w *world) events() []string {
	var names []string
	for p := range w.files {
		if path.Dir(p) == w.in("events") && strings.HasSuffix(p, ".json") {
			names = append(names, strings.TrimSuffix(path.Base(p), ".json"))
		}
	}
	sort.Strings(names)
	return names
}

// has reports whether a file of the run's folder is there.
func (w *world) has(rel string) bool { _, ok := w.files[w.in(rel)]; return ok }
