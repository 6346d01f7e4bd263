package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"placet/engine"
	"placet/engine/afl"
	"placet/engine/exec"
	"placet/engine/faber"
	"placet/engine/loop"
	"placet/engine/optimizer"
	"placet/engine/sqlite"
	"placet/engine/statedir"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/layout"
)

// mould is a template: a run that placet itself has brought to its state. Other
// runs are cast from it: the same files with another run's particulars.
type mould struct {
	files  []castFile
	events int      // how many it has
	keys   []string // those particulars that are keys of placet's own events
}

// moulds are the templates of the runs of a population.
type moulds struct {
	approved, rejected mould   // FABER
	endedSessions      []mould // AFL, the shortest first
	endedCycles        mould   // of the optimizer
}

// makeMoulds makes the moulds in a temporary folder.
func makeMoulds() (m moulds, err error) {
	dir, err := os.MkdirTemp("", "placet-mould-")
	if err != nil {
		return m, err
	}
	defer os.RemoveAll(dir)
	w, err := newWorkspace(filepath.Join(dir, "workspace")) // its state folder is beside it
	if err != nil {
		return m, err
	}
	if m.approved, err = w.mouldOfFABER("approve"); err != nil {
		return m, err
	}
	if m.rejected, err = w.mouldOfFABER("reject"); err != nil {
		return m, err
	}
	for _, checkpoints := range []int{1, 3, 8} {
		session, err := w.mouldOfAFL(checkpoints)
		if err != nil {
			return m, err
		}
		m.endedSessions = append(m.endedSessions, session)
	}
	m.endedCycles, err = w.mouldOfCycle()
	return m, err
}

// castFile is a file of a mould: its name and content in pieces, every second of
// which names one of a run's particulars.
type castFile struct{ name, body []string }

// mouldRun is the number of the run of which a mould is made. It occurs nowhere
// else in the mould.
const mouldRun = 987654321

// particulars are what distinguishes the runs of one mould.
type particulars map[string]string

// press makes a mould of the files below a folder.
func press(dir string, known particulars, leave func(rel string) bool) (mould, error) {
	var m mould
	err := filepath.WalkDir(dir, func(p string, d iofs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil || leave(rel) {
			return err
		}
		body, err := os.ReadFile(p)
		// The cast states have other digests, so the journal is made one from before
		// it had digests.
		text := stateDigest.ReplaceAllString(string(body), "")
		m.files = append(m.files, castFile{pieces(rel, known), pieces(text, known)})
		return err
	})
	return m, err
}

// pieces cuts a text at the particulars in it.
func pieces(text string, known particulars) []string {
	var names []string
	for name := range known {
		names = append(names, name)
	}
	// One value may be part of another, so the longer ones come first.
	slices.SortFunc(names, func(a, b string) int { return len(known[b]) - len(known[a]) })
	var pairs []string
	for _, name := range names {
		pairs = append(pairs, known[name], "\x00"+name+"\x00")
	}
	return strings.Split(strings.NewReplacer(pairs...).Replace(text), "\x00")
}

// fillPieces inserts a run's particulars.
func fillPieces(pieces []string, p particulars) string {
	if len(pieces) == 1 {
		return pieces[0]
	}
	var b strings.Builder
	for i, piece := range pieces {
		if i%2 == 1 {
			piece = p[piece]
		}
		b.WriteString(piece)
	}
	return b.String()
}

// cast makes a run from a mould.
func (w workspace) cast(m mould, dir string, p particulars) error {
	for _, f := range m.files {
		if err := w.write(dir+"/"+fillPieces(f.name, p), fillPieces(f.body, p)); err != nil {
			return err
		}
	}
	return nil
}

// settle lets placet's own loop settle a workspace in this process.
func (w workspace) settle() error {
	var l *loop.Loop
	var begun atomic.Int64
	state, err := statedir.Create(stateHome(w.root), w.root)
	if err != nil {
		return err
	}
	defer state.Close()
	st, databases := store.New(fs.OS(w.root), store.Options{Record: state}), sqlite.New(w.root)
	runner := exec.NewRunner(w.root, st, exec.RunnerOptions{
		State: state.Root(), Record: state,
		Database: databases.Do, OnIdle: databases.Release, OnEnd: func(id string) { l.ActionEnded(id) },
	})
	l = loop.New(loop.Options{
		Store: st,
		Families: []loop.Family{
			{Layout: layout.Faber{}, Machine: faber.New()}, {Layout: layout.AFL{}, Machine: afl.New()},
			{Layout: layout.Optimizer{}, Machine: optimizer.New()},
		},
		Facts: func(family string) engine.Environment { return mouldFacts(family, runner) },
		Begin: func(a engine.Action) {
			begun.Add(1)
			runner.Begin(a)
		},
		End: runner.End,
	})
	for range 64 {
		before := begun.Load()
		r, err := l.Once(context.Background())
		err = errors.Join(err, runner.Wait(context.Background()))
		if err != nil || r.Moved == 0 && len(r.Unsettled) == 0 && begun.Load() == before {
			return err
		}
	}
	return errors.New("cannot make a mould: its workspace does not settle")
}

func mouldFacts(family string, runner *exec.Runner) engine.Environment {
	switch family {
	case "faber":
		return engine.Environment{Config: engine.Config{Language: "en", Family: faber.DefaultConfig()}}
	case "optimizer":
		f := engine.Environment{
			Config: engine.Config{Language: "en", Family: optimizer.DefaultConfig()}, Alive: runner.Alive(), Ended: runner.Ended(),
		}
		for id := range f.Ended {
			delete(f.Alive, id)
		}
		return f
	}
	soon, off, result := "0s", "off", "result"
	c := afl.DefaultConfig()
	c.AutoRetryDelay, c.Review, c.Validation = &soon, &off, &result
	return engine.Environment{Config: engine.Config{Language: "en", Family: c}}
}

var (
	stateDigest  = regexp.MustCompile(`, ?"state": ?"sha256:[0-9a-f]{64}"`)
	endedSession = regexp.MustCompile(`"edge": ?"complete"`)
	anyStatus    = regexp.MustCompile(`"status": "[a-z_]+"`)
	anyEventID   = regexp.MustCompile(`"last_event_id": (\d+)`)
)

// mouldOfFABER returns a run that asked for an approval, got an answer, and ended:
// upstream ended an approved run, the answer itself ended the other.
func (w workspace) mouldOfFABER(answer string) (mould, error) {
	dir := w.run("waiting", mouldRun)
	if err := w.waiting(mouldRun, 2); err != nil {
		return mould{}, err
	}
	if err := w.settle(); err != nil {
		return mould{}, err
	}
	text := strings.Replace(fill(responseText, dir, mouldRun, 0), "approve", answer, 1)
	if err := w.write(dir+"/requests/"+requestID(mouldRun)+"/response.json", text); err != nil {
		return mould{}, err
	}
	if err := w.settle(); err != nil {
		return mould{}, err
	}
	if answer == "approve" {
		if err := w.edit(dir+"/state.json", func(s string) string { return replaceFirst(anyStatus, s, `"status": "completed"`) }); err != nil {
			return mould{}, err
		}
		if err := w.settle(); err != nil {
			return mould{}, err
		}
	}
	return w.pressFABER(dir)
}

// pressFABER makes a mould with any number of events.
func (w workspace) pressFABER(dir string) (mould, error) {
	state, err := os.ReadFile(filepath.Join(w.root, dir, "state.json"))
	if err != nil {
		return mould{}, err
	}
	last := anyEventID.FindSubmatch(state)
	if last == nil || strings.Contains(string(state), "awaiting_feedback") {
		return mould{}, fmt.Errorf("cannot make a mould: the run has not ended:\n%s", state)
	}
	err = w.edit(dir+"/state.json", func(s string) string { return replaceFirst(anyEventID, s, `"last_event_id": {events}`) })
	if err != nil {
		return mould{}, err
	}
	known := particulars{"run": runID(dir), "request": requestID(mouldRun), "n": strconv.Itoa(mouldRun), "events": "{events}"}
	keys, err := w.eventKeys(dir)
	if err != nil {
		return mould{}, err
	}
	maps.Copy(known, keys)
	m, err := press(filepath.Join(w.root, dir), known, func(rel string) bool { return rel == "events/.next-id" || strings.HasSuffix(rel, ".lock") })
	if err != nil {
		return mould{}, err
	}
	m.keys = slices.Collect(maps.Keys(keys))
	m.events, err = strconv.Atoi(string(last[1]))
	return m, errors.Join(err, os.RemoveAll(filepath.Join(w.root, dir)))
}

// eventKeys returns the keys by which placet recognizes its own events of a run.
// The name of each is what it hashes besides the run.
func (w workspace) eventKeys(dir string) (particulars, error) {
	keys := particulars{}
	names, err := filepath.Glob(filepath.Join(w.root, dir, "events/*.json"))
	for _, name := range names {
		body, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var e struct {
			Type, Phase, Step string
			Metadata          struct {
				Placet struct {
					Revision int
					Key      string
				}
			}
		}
		if err := json.Unmarshal(body, &e); err != nil {
			return nil, err
		}
		own := e.Metadata.Placet
		for ordinal := range 8 {
			of := strings.Join([]string{strconv.Itoa(own.Revision), e.Type, e.Phase, e.Step, strconv.Itoa(ordinal)}, "\n")
			if own.Key != "" && own.Key == eventKey(runID(dir), of) {
				keys[of] = own.Key
			}
		}
	}
	return keys, err
}

// eventKey returns the key of an event as placet computes it.
func eventKey(run, of string) string {
	sum := sha256.Sum256([]byte(run + "\n" + of + "\n"))
	return hex.EncodeToString(sum[:])[:12]
}

func replaceFirst(re *regexp.Regexp, s, by string) string {
	at := re.FindStringIndex(s)
	if at == nil {
		return s
	}
	return s[:at[0]] + by + s[at[1]:]
}

func (w workspace) edit(name string, change func(string) string) error {
	body, err := os.ReadFile(filepath.Join(w.root, name))
	if err != nil {
		return err
	}
	return w.write(name, change(string(body)))
}

// mouldSession is the session of which a mould is made.
const mouldSession = "mould-of-a-session"

// mouldOfAFL returns a session whose checkpoints all passed, after different
// numbers of attempts.
func (w workspace) mouldOfAFL(checkpoints int) (mould, error) {
	dir := ".afl/sessions/" + mouldSession
	if err := w.write(dir+"/specs/checkpoints.yaml", specsText(checkpoints, true)); err != nil {
		return mould{}, err
	}
	s := &session{workspace: w, at: map[string]int{}}
	for range 64 {
		if err := w.settle(); err != nil {
			return mould{}, err
		}
		state, err := os.ReadFile(filepath.Join(w.root, dir, "state.json"))
		if err != nil {
			return mould{}, err
		}
		if endedSession.Match(state) {
			m, err := press(filepath.Join(w.root, dir), particulars{"session": mouldSession}, func(string) bool { return false })
			return m, errors.Join(err, os.RemoveAll(filepath.Join(w.root, dir)))
		}
		if err := s.handInAll(dir, checkpoints); err != nil {
			return mould{}, err
		}
	}
	return mould{}, errors.New("cannot make a mould: the session does not end")
}

// handInAll reports on every attempt that has no report: the n-th checkpoint
// passes at attempt n%3 + 1.
func (s *session) handInAll(dir string, checkpoints int) error {
	for i := range checkpoints {
		id := checkpointID(i)
		for n := 1; n <= i%3+1; n++ {
			at := dir + "/" + iteration(id, n)
			if _, err := os.Stat(filepath.Join(s.root, at, "prompt.md")); err != nil {
				break
			}
			if _, err := os.Stat(filepath.Join(s.root, at, "result.json")); err == nil {
				continue
			}
			if err := s.write(at+"/result.json", resultText(id, n, n == i%3+1)); err != nil {
				return err
			}
		}
	}
	return nil
}
