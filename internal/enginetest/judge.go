package enginetest

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/engine/gate"
	"placet/layout"
)

// judge is a machine that wraps another and checks every step against the laws. It does
// not change the machine's results.
type judge struct {
	engine.Machine
	t     T
	suite Suite
	// honest says that the documents of two histories are never mixed.
	honest bool

	mu    sync.Mutex
	taken map[engine.Edge]bool
}

func newJudge(t T, s Suite) *judge {
	return &judge{Machine: s.Machine, t: t, suite: s, taken: map[engine.Edge]bool{}}
}

// machine returns the judge as the loop needs it: if the wrapped machine is an
// [engine.PeerMachine], the result is one too.
func (j *judge) machine() engine.Machine {
	if r, ok := j.Machine.(engine.PeerMachine); ok {
		return relatedJudge{j, r}
	}
	return j
}

// relatedJudge is a judge around a machine whose runs must know of one another. It also checks
// that the document about the other runs is a function of what the machine gets about them.
type relatedJudge struct {
	*judge
	r engine.PeerMachine
}

func (j relatedJudge) Shares() []string { return j.r.Shares() }

func (j relatedJudge) Entry(s engine.Snapshot) []byte {
	entry := j.r.Entry(copySnapshot(s))
	if again := j.r.Entry(copySnapshot(s)); !bytes.Equal(entry, again) {
		j.t.Errorf("equal snapshots of %s give different entries: %s, %s", s.Key, entry, again)
	}
	return entry
}

func (j relatedJudge) Refused(s engine.Snapshot) []byte { return j.r.Refused(s) }

func (j relatedJudge) Relate(entries map[string][]byte) map[string][]byte {
	told := j.r.Relate(maps.Clone(entries))
	if diff := compare(told, j.r.Relate(maps.Clone(entries))); diff != "" {
		j.t.Errorf("runs are told different things of equal entries (-first +second):\n%s", diff)
	}
	return told
}

// Step implements [engine.Machine].
func (j *judge) Step(s engine.Snapshot) (engine.Plan, error) {
	before := copySnapshot(s)
	plan, err := j.Machine.Step(s)
	again, errAgain := j.Machine.Step(copySnapshot(before))
	// Steps are judged one at a time, although runs are evaluated in parallel.
	j.mu.Lock()
	defer j.mu.Unlock()
	j.t.Helper()
	if diff := compare(before, s); diff != "" {
		j.t.Errorf("a step changed its snapshot (-before +after):\n%s", diff)
	}
	if diff := compare(plan, again); diff != "" {
		j.t.Errorf("equal snapshots of %s give different plans (-first +second):\n%s", s.Key, diff)
	}
	if fmt.Sprint(err) != fmt.Sprint(errAgain) {
		j.t.Errorf("equal snapshots of %s give different errors: %v, %v", s.Key, err, errAgain)
	}
	if err != nil {
		j.t.Errorf("the machine cannot step %s: %v", s.Key, err)
		return plan, err
	}
	if len(s.Lacks(plan.Needs)) == 0 {
		j.judge(s, plan)
	}
	return plan, nil
}

// judge checks a plan that will be carried out against the laws.
func (j *judge) judge(s engine.Snapshot, p engine.Plan) {
	j.t.Helper()
	for _, law := range []func(engine.Snapshot, engine.Plan) []string{
		j.rows, j.finality, commitPoint, j.writers, compareAndSwap, distinct, wakes, actions, j.replays,
	} {
		for _, problem := range law(s, p) {
			j.t.Errorf("%s at %s: %s", s.Key, s.Now.Format("15:04:05.000"), problem)
		}
	}
	j.account(s)
}

// rows checks that every transition is a row of the table.
func (j *judge) rows(_ engine.Snapshot, p engine.Plan) (problems []string) {
	for _, tr := range p.Transitions {
		if !slices.Contains(j.Machine.Edges(), tr.Edge) {
			problems = append(problems, fmt.Sprintf("the transition %s is no row of the table", rowText(tr.Edge)))
		}
		j.taken[tr.Edge] = true
	}
	return problems
}

// finality checks that a run whose state document is final does not move.
func (j *judge) finality(s engine.Snapshot, p engine.Plan) (problems []string) {
	for _, d := range s.Docs {
		if d.Kind != engine.KindState || !d.Present() || !layout.Under(d.Path, s.Dir) || !j.Machine.Summarize(d.Body).Final {
			continue
		}
		for _, tr := range p.Transitions {
			if !slices.Contains(j.suite.WaysOut, tr.Edge) {
				problems = append(problems, fmt.Sprintf("%s although the run is final", rowText(tr.Edge)))
			}
		}
	}
	return problems
}

// commitPoint checks that a transition comes with a write of the state document.
func commitPoint(_ engine.Snapshot, p engine.Plan) []string {
	state := slices.ContainsFunc(p.Writes, func(d engine.Document) bool { return d.Kind == engine.KindState })
	if len(p.Transitions) > 0 && !state {
		return []string{fmt.Sprintf("%s without a write of the state document", rowText(p.Transitions[0].Edge))}
	}
	return nil
}

// replays checks that a receipt that this machine wrote for another request under the same
// id decides nothing if a gate requires more than a claim.
func (j *judge) replays(s engine.Snapshot, p engine.Plan) (problems []string) {
	for _, w := range p.Writes {
		r, err := gate.ReadReceipt(w.Path, w.Body)
		if w.Kind != layout.KindReceipt || err != nil || r.Result != gate.Accepted && r.Result != gate.Expired {
			continue
		}
		gated := copySnapshot(s)
		gated.Facts.Config.Gates = map[string]engine.Gate{"*": {Level: "file", Approvers: []string{"somebody else"}}}
		gated.Docs = slices.DeleteFunc(gated.Docs, func(d engine.Document) bool { return d.Path == w.Path })
		old := copySnapshot(gated)
		w.Sum, w.Issued, w.Changed = engine.Sum(w.Body), []engine.Digest{engine.Sum(w.Body), ""}, s.Now.Add(-time.Hour)
		at, _ := slices.BinarySearchFunc(old.Docs, w.Path, func(d engine.Document, p string) int { return strings.Compare(d.Path, p) })
		old.Docs = slices.Insert(old.Docs, at, w)
		without, with := j.moves(gated), j.moves(old)
		if diff := compare(without, with); diff != "" {
			problems = append(problems, fmt.Sprintf("the receipt of another request moves it (-without +with):\n%s", diff))
		}
	}
	return problems
}

// moves returns the rows that the next step takes.
func (j *judge) moves(s engine.Snapshot) (rows []string) {
	p, err := j.Machine.Step(s)
	if err != nil {
		return []string{err.Error()}
	}
	for _, tr := range p.Transitions {
		rows = append(rows, rowText(tr.Edge)+" "+tr.Subject)
	}
	return rows
}

// writers checks that no file of another writer is written or removed. A file of another
// writer may be created if it does not exist (a form, once), but never replaced.
func (j *judge) writers(s engine.Snapshot, p engine.Plan) (problems []string) {
	run, ok := j.find(s)
	if !ok {
		return []string{fmt.Sprintf("the layout does not know the folder %q", s.Dir)}
	}
	for _, w := range p.Writes {
		f, known := fileOf(j.suite.Layout, run, w.Path)
		switch {
		case w.Source != "":
			problems = append(problems, j.passedOn(s, w)...)
		case !known:
			problems = append(problems, fmt.Sprintf("writes %s, which the layout does not know", w.Path))
		case w.Kind != f.Kind:
			problems = append(problems, fmt.Sprintf("writes %s as %q, which the layout calls %q", w.Path, w.Kind, f.Kind))
		case f.Writer != layout.Placet && f.Writer != layout.Shared && !s.Doc(w.Path).Absent():
			problems = append(problems, fmt.Sprintf("replaces %s, whose writer is %s", w.Path, f.Writer))
		}
	}
	for _, p := range p.Removes {
		if f, known := fileOf(j.suite.Layout, run, p); !known || f.Writer != layout.Placet {
			problems = append(problems, fmt.Sprintf("removes %s, which is not placet's", p))
		}
	}
	for _, l := range p.Lines {
		if f, known := fileOf(j.suite.Layout, run, l.Path); !known || f.Writer != layout.Placet && f.Writer != layout.Shared {
			problems = append(problems, fmt.Sprintf("appends to %s, which is not placet's", l.Path))
		}
		if !strings.HasSuffix(string(l.Body), "\n") || strings.Count(string(l.Body), "\n") != 1 {
			problems = append(problems, fmt.Sprintf("appends %q to %s, which is not one line", l.Body, l.Path))
		}
	}
	return problems
}

// passedOn checks an answer that a plan writes into another run: it creates a response.json, and
// says for whom.
func (j *judge) passedOn(s engine.Snapshot, w engine.Document) []string {
	to, ok := j.suite.Layout.At(w.Path)
	f, known := fileOf(j.suite.Layout, to, w.Path)
	if !ok || to.Dir == s.Dir || !known || f.Kind != layout.KindResponse || w.Kind != f.Kind || len(w.Known) != 1 || w.Over != "" || !s.Doc(w.Path).Absent() {
		return []string{fmt.Sprintf("writes %s for %q, which is no new answer in another run", w.Path, w.Known)}
	}
	return nil
}

// find returns the place of a snapshot's run.
func (j *judge) find(s engine.Snapshot) (layout.Run, bool) {
	for _, d := range s.Docs {
		if d.Kind != engine.KindState {
			continue
		}
		if run, ok := j.suite.Layout.At(d.Path); ok && run.Dir == s.Dir {
			run.Class = s.Class
			return run, true
		}
		return layout.Run{Family: s.Key.Family, ID: s.Key.ID, Dir: s.Dir, Class: s.Class, State: d.Path}, true
	}
	state := path.Join(s.Dir, "state.json")
	if run, ok := j.suite.Layout.At(state); ok {
		return run, true
	}
	// The name of the run's folder does not identify the run: the listing gave its class.
	return layout.Run{Family: s.Key.Family, ID: s.Key.ID, Dir: s.Dir, Class: s.Class, State: state}, s.Class != ""
}

// fileOf returns the file of a run that a path of the workspace names.
func fileOf(l layout.Family, run layout.Run, p string) (layout.File, bool) {
	rel, inside := strings.CutPrefix(p, run.Dir+"/")
	if !inside || path.Clean(rel) != rel {
		return layout.File{}, false
	}
	return l.File(run, rel)
}

// compareAndSwap checks that a write names the content that it replaces, so that a
// write of somebody else in between is never lost.
func compareAndSwap(s engine.Snapshot, p engine.Plan) (problems []string) {
	for _, w := range p.Writes {
		have := s.Doc(w.Path)
		switch {
		case have.Unsettled():
			problems = append(problems, fmt.Sprintf("writes %s, which is still being written", w.Path))
		case have.Sum != w.Over:
			problems = append(problems, fmt.Sprintf("writes %s over %q, but there is %q", w.Path, w.Over, have.Sum))
		case have.Present() && have.Sum == engine.Sum(w.Body):
			problems = append(problems, fmt.Sprintf("writes %s as it is", w.Path))
		}
	}
	return problems
}

// distinct checks that one plan does one thing to one path.
func distinct(_ engine.Snapshot, p engine.Plan) (problems []string) {
	seen := map[string]bool{}
	paths := slices.Clone(p.Removes)
	for _, w := range p.Writes {
		paths = append(paths, w.Path)
	}
	for _, path := range paths {
		if seen[path] {
			problems = append(problems, fmt.Sprintf("does two things to %s", path))
		}
		seen[path] = true
	}
	return problems
}

// wakes checks that a plan that wants nothing does not ask for another pass at once.
func wakes(s engine.Snapshot, p engine.Plan) []string {
	if undone(s, p).Empty() && !p.Wake.IsZero() && !p.Wake.After(s.Now) {
		return []string{fmt.Sprintf("wants nothing, and yet to be woken at %s, which has passed", p.Wake.Format("15:04:05.000"))}
	}
	return nil
}

// actions checks that an action has a name, a program and a path for its outcome, or
// a name and a row for a database or questions to one, and that it is not begun again
// before its end is written down.
func actions(s engine.Snapshot, p engine.Plan) (problems []string) {
	for _, a := range p.Actions {
		if _, ended := s.Facts.Ended[a.ID]; ended {
			problems = append(problems, fmt.Sprintf("begins %q, which has ended", a.ID))
		}
		if d := a.Database; d != nil {
			if a.ID == "" || a.Outcome != "" || !layout.Safe(d.Path) || (d.Insert == nil) == (len(d.Select) == 0) {
				problems = append(problems, fmt.Sprintf("begins %q, which is neither one row for a database of the workspace nor a look into one, or has an outcome", a.ID))
			}
			continue
		}
		if a.Send != nil && a.ID != "" && layout.Under(a.Outcome, s.Dir) {
			continue
		}
		if a.ID == "" || len(a.Command.Argv) == 0 || a.Outcome != "" && (a.Output != "" || !layout.Under(a.Outcome, s.Dir)) {
			problems = append(problems, fmt.Sprintf("begins %q, whose id, program or outcome (%q) is missing or elsewhere", a.ID, a.Outcome))
		}
	}
	return problems
}

// account checks that what a person sees is a function of the snapshot too, and names
// what a run that can move waits for. In no case do documents contradict each other,
// and nothing is reported as fabricated.
func (j *judge) account(s engine.Snapshot) {
	j.t.Helper()
	first, second := j.Machine.Account(copySnapshot(s)), j.Machine.Account(copySnapshot(s))
	if diff := compare(first, second); diff != "" {
		j.t.Errorf("equal snapshots of %s give different accounts (-first +second):\n%s", s.Key, diff)
	}
	for _, f := range first.Findings {
		switch {
		case !j.honest:
		case f.Code == engine.CodeFabrication:
			j.t.Errorf("%s at %s: a fabrication, where nobody forges anything: %s: %s", s.Key, s.Now.Format("15:04:05.000"), f.Path, f.Text)
		case f.Urgent:
			j.t.Errorf("%s at %s: %s", s.Key, s.Now.Format("15:04:05.000"), f.Text)
		}
	}
	if a := first; !a.Absent && !(a.Final && a.Blocked) && a.Final == (len(a.WaitsFor)+len(a.Open) > 0) {
		j.t.Errorf("%s at %s: status %s, final %t, waits for %q, %d requests open: expected a run to wait for something until it has ended (final is what the machine's Account says)\n%s",
			s.Key, s.Now.Format("15:04:05.000"), a.Status, a.Final, a.WaitsFor, len(a.Open), strings.Join(a.Why, "\n"))
	}
}

// copySnapshot returns an equal snapshot that shares nothing that can be modified.
func copySnapshot(s engine.Snapshot) engine.Snapshot {
	s.Docs = slices.Clone(s.Docs)
	for i := range s.Docs {
		s.Docs[i].Body = slices.Clone(s.Docs[i].Body)
		s.Docs[i].Known = slices.Clone(s.Docs[i].Known)
		s.Docs[i].Issued = slices.Clone(s.Docs[i].Issued)
	}
	s.Needs = slices.Clone(s.Needs)
	s.Facts.Trusted = maps.Clone(s.Facts.Trusted)
	s.Facts.Alive = maps.Clone(s.Facts.Alive)
	s.Facts.Ended = maps.Clone(s.Facts.Ended)
	s.Facts.Config.Gates = maps.Clone(s.Facts.Config.Gates)
	return s
}

// compare returns how two values differ; errors are equal if their texts are.
func compare[V any](a, b V) string {
	if reflect.DeepEqual(a, b) {
		return ""
	}
	return cmp.Diff(a, b,
		cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) }),
		cmp.Transformer("text", func(b []byte) string { return string(b) }),
		cmp.Exporter(func(reflect.Type) bool { return true }))
}
