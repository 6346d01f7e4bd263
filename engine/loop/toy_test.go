package loop

import (
	"encoding/json"
	"fmt"
	iofs "io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/layout"
)

// toyLayout is a family of counters: runs are in toys/<name>, or a level lower in
// toys/<group>/<name>, where the group begins with "g". A run whose name begins with
// "locked" has a lock.
type toyLayout struct{}

var toyName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

func (toyLayout) Name() string    { return "toy" }
func (toyLayout) Roots() []string { return []string{"toys"} }

func (toyLayout) Runs(ls layout.Lister) ([]layout.Run, error) {
	var runs []layout.Run
	tops, err := ls("toys")
	if err != nil {
		return nil, err
	}
	for _, e := range tops {
		switch {
		case !e.Dir || !toyName.MatchString(e.Name):
		case e.Name[0] == 'g':
			below, err := ls("toys/" + e.Name)
			if err != nil {
				return nil, err
			}
			for _, b := range below {
				if b.Dir && toyName.MatchString(b.Name) {
					runs = append(runs, toyRun(e.Name+"/"+b.Name))
				}
			}
		default:
			runs = append(runs, toyRun(e.Name))
		}
	}
	return runs, nil
}

func toyRun(id string) layout.Run {
	dir := "toys/" + id
	run := layout.Run{Family: "toy", ID: id, Dir: dir, State: dir + "/state.json"}
	if strings.HasPrefix(path.Base(id), "locked") {
		run.Locks = []string{dir + "/state.json.lock"}
	}
	return run
}

func (toyLayout) At(p string) (layout.Run, bool) {
	parts := strings.Split(p, "/")
	switch {
	case len(parts) >= 3 && parts[0] == "toys" && parts[1][0] == 'g':
		return toyRun(parts[1] + "/" + parts[2]), true
	case len(parts) >= 2 && parts[0] == "toys" && parts[1][0] != 'g' && parts[1] != "odd":
		return toyRun(parts[1]), true
	}
	return layout.Run{}, false
}

func (toyLayout) Descend(_ layout.Run, rel string) bool {
	return rel == "." || rel == "events" || rel == "requests" || path.Dir(rel) == "requests"
}

func (toyLayout) File(_ layout.Run, rel string) (layout.File, bool) {
	switch base := path.Base(rel); {
	case rel == "state.json":
		return layout.File{Kind: layout.KindStateFile, Writer: layout.Shared, Limit: layout.LimitState}, true
	case strings.HasSuffix(base, layout.ProblemSuffix) || base == "problem.md":
		return layout.File{Kind: layout.KindProblem, Writer: layout.Placet, Format: layout.Text, Limit: layout.LimitText}, true
	case path.Dir(rel) == "events" && strings.HasSuffix(base, ".json"):
		return layout.File{Kind: "event", Writer: layout.Placet, Limit: layout.LimitJSON, Once: true}, true
	case path.Dir(path.Dir(rel)) == "requests":
		kinds := map[string]string{"request.json": layout.KindRequest, "response.json": layout.KindResponse, "receipt.json": layout.KindReceipt}
		kind, ok := kinds[base]
		return layout.File{Kind: kind, Limit: layout.LimitJSON}, ok
	}
	return layout.File{}, false
}

// toyState is a counter's state document.
type toyState struct {
	Status   string    `json:"status"` // counting, waiting, over
	Count    int       `json:"count"`
	Target   int       `json:"target"`
	Answer   string    `json:"answer,omitempty"`
	Deadline time.Time `json:"deadline,omitzero"`
	Asked    time.Time `json:"asked,omitzero"` // when the question was asked
	// Need is a file elsewhere whose content ends up in Seen.
	Need string `json:"need,omitempty"`
	Seen string `json:"seen,omitempty"`
	// Quirk makes the machine misbehave: see quirk.
	Quirk string `json:"quirk,omitempty"`
	// Follow makes the machine name the folder of the events to follow.
	Follow bool `json:"follow,omitempty"`
	// Act wants an action with this ID while waiting, End its end.
	Act string `json:"act,omitempty"`
	End string `json:"end,omitempty"`
	// Tell is an action without an outcome document to start; Told is how it ended.
	Tell string `json:"tell,omitempty"`
	Told string `json:"told,omitempty"`
}

// toyMachine counts to the target, one step for each number, then asks whether that was
// enough.
type toyMachine struct{}

func edge(from, event, to string) engine.Edge {
	return engine.Edge{Of: "run", From: engine.Status(from), Event: event, To: engine.Status(to)}
}

func (toyMachine) Family() string { return "toy" }
func (toyMachine) Edges() []engine.Edge {
	return []engine.Edge{
		edge("counting", "counted", "counting"), edge("counting", "asked", "waiting"),
		edge("waiting", "answered", "over"), edge("waiting", "expired", "over"), edge("waiting", "noted", "waiting"),
		edge("waiting", "told", "waiting"), edge("over", "told", "over"),
	}
}

func (toyMachine) Account(s engine.Snapshot) engine.RunView { return engine.RunView{Key: s.Key} }

func (toyMachine) Summarize(state []byte) engine.Summary {
	var st toyState
	if json.Unmarshal(state, &st) != nil {
		return engine.Summary{}
	}
	p := engine.Summary{Status: engine.Status(st.Status), Final: st.Status == "over", Waiting: st.Status == "waiting", Touched: st.Quirk == "noted"}
	if p.Waiting {
		p.Open, p.Asked = 1, st.Asked
	}
	return p
}

func (m toyMachine) Step(s engine.Snapshot) (engine.Plan, error) {
	var p engine.Plan
	doc := s.In("state.json")
	if !doc.Present() {
		return p, nil
	}
	var notes engine.Notes
	var st toyState
	if err := json.Unmarshal(doc.Body, &st); err != nil {
		notes.Beside(doc.Path, "cannot read state.json: "+err.Error())
		notes.Plan(s, &p, nil)
		return p, nil
	}
	if st.Quirk != "" {
		return p, m.quirk(s, st, &p)
	}
	if st.Need != "" {
		p.Needs = []string{st.Need}
	}
	if st.Follow {
		p.Follow = []string{path.Join(s.Dir, "events")}
	}
	if !m.tells(s, st, &p) {
		m.next(s, st, &p, &notes)
	}
	if len(p.Transitions) == 0 {
		notes.Plan(s, &p, nil)
	}
	return p, nil
}

func (m toyMachine) next(s engine.Snapshot, st toyState, p *engine.Plan, notes *engine.Notes) {
	request := path.Join(s.Dir, "requests/q/request.json")
	need := s.Doc(strings.TrimPrefix(st.Need, "still:"))
	switch {
	case st.Status == "counting" && st.Count < st.Target:
		st.Count++
		p.Writes = append(p.Writes, engine.Document{Path: path.Join(s.Dir, fmt.Sprintf("events/%03d.json", st.Count)), Kind: "event", Body: []byte("{}\n")})
		m.move(s, p, st, "counted")
	case st.Status == "counting":
		p.Writes = append(p.Writes, engine.Document{Path: request, Kind: layout.KindRequest, Body: []byte("{}\n")})
		st.Status = "waiting"
		m.move(s, p, st, "asked")
	case st.Status == "waiting" && need.Unsettled():
	case st.Status == "waiting" && st.Need != "" && need.Present() && st.Seen != string(need.Body):
		st.Seen = string(need.Body)
		m.move(s, p, st, "noted")
	case st.Status == "waiting":
		m.wait(s, st, p, notes)
	}
}

// tells records how an action ended, and then has that forgotten. It reports whether
// nothing else is to be done.
func (m toyMachine) tells(s engine.Snapshot, st toyState, p *engine.Plan) bool {
	end, ended := s.Facts.Ended[st.Tell]
	switch {
	case st.Tell == "" || st.Status == "counting":
	case st.Told == "" && ended:
		st.Told = end.Result
		m.move(s, p, st, "told")
		return true
	case st.Told == "":
		p.Actions = []engine.Action{{ID: st.Tell}}
	case ended:
		p.Ends = []string{st.Tell}
		return true
	}
	return false
}

func (m toyMachine) wait(s engine.Snapshot, st toyState, p *engine.Plan, notes *engine.Notes) {
	response := s.In("requests/q/response.json")
	var r struct{ Response string }
	switch {
	case response.Present() && json.Unmarshal(response.Body, &r) == nil && r.Response != "":
		p.Writes = append(p.Writes, engine.Document{Path: path.Join(s.Dir, "requests/q/receipt.json"), Kind: layout.KindReceipt, Body: []byte(fmt.Sprintf("{\"response\": %q}\n", r.Response))})
		st.Status, st.Answer = "over", r.Response
		m.move(s, p, st, "answered")
		return
	case response.Present():
		notes.Add(path.Join(s.Dir, "requests/q/problem.md"), "no answer in it")
	}
	if !st.Deadline.IsZero() && !response.Unsettled() {
		if !s.Now.Before(st.Deadline) {
			st.Status = "over"
			m.move(s, p, st, "expired")
			return
		}
		p.WakeAt(st.Deadline)
	}
	if st.Act != "" {
		p.Actions = []engine.Action{{ID: st.Act}}
	}
	if st.End != "" && s.Facts.Alive[st.End] {
		p.Ends = []string{st.End}
	}
}

func (toyMachine) move(s engine.Snapshot, p *engine.Plan, st toyState, event string) {
	doc := s.In("state.json")
	var before toyState
	_ = json.Unmarshal(doc.Body, &before)
	p.Transitions = []engine.Transition{{Edge: edge(before.Status, event, st.Status)}}
	p.Writes = append(p.Writes, engine.Document{Path: doc.Path, Kind: engine.KindState, Body: encode(st), Over: doc.Sum})
}

// quirk misbehaves in the way that the state names.
func (m toyMachine) quirk(s engine.Snapshot, st toyState, p *engine.Plan) error {
	switch st.Quirk {
	case "loop":
		st.Count++
		m.move(s, p, st, "counted")
	case "scribble":
		note := s.In("state.json.problem.md")
		p.Writes = []engine.Document{{Path: note.Path, Kind: layout.KindProblem, Body: append([]byte("x"), note.Body...), Over: note.Sum}}
	case "log": // a journal line when it ends
		if st.Status != "over" {
			st.Status = "over"
			m.move(s, p, st, "expired")
			p.Lines = []engine.Line{{Path: path.Join(s.Dir, "log.jsonl"), Body: []byte("{}\n")}}
		}
	case "march": // as many steps as it has parts
		if st.Count < st.Target {
			st.Count++
			m.move(s, p, st, "counted")
			p.Transitions[0].Subject = fmt.Sprint(st.Count)
		}
	case "answers": // a step to count each answer, and one to go on
		n := 0
		for _, d := range s.Under("requests") {
			if d.Kind == layout.KindResponse {
				n++
			}
		}
		if st.Count < 2*n {
			st.Count++
			m.move(s, p, st, "counted")
			p.Transitions[0].Subject = fmt.Sprint(st.Count % 2)
		}
	case "sway": // between two parts, for ever
		st.Count++
		m.move(s, p, st, "counted")
		p.Transitions[0].Subject = fmt.Sprint(st.Count % 2)
	case "noted": // until there is a response
		var notes engine.Notes
		if s.In("requests/q/response.json").Absent() {
			notes.Beside(path.Join(s.Dir, "state.json"), "there is no response")
		}
		notes.Plan(s, p, nil)
	case "illegal":
		doc := s.In("state.json")
		p.Transitions = []engine.Transition{{Edge: edge("over", "revived", "counting")}}
		p.Writes = []engine.Document{{Path: doc.Path, Kind: engine.KindState, Body: []byte("{}"), Over: doc.Sum}}
	case "panic":
		panic("toy")
	case "needy":
		p.Needs = append([]string{fmt.Sprintf("specs/%d.txt", len(s.Needs))}, s.Needs...)
	case "error":
		return fmt.Errorf("cannot step: the toy is broken")
	}
	return nil
}

func encode(v any) []byte {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic(err)
	}
	return append(b, '\n')
}

// world is a workspace with toys in it.
type world struct {
	t    testing.TB
	root string
	*Loop
	log *syncBuffer

	mu    sync.Mutex
	begun []string
	moved []string
}

// newPass returns a pass as Once makes them, and acquires its place among the working
// passes.
func (w *world) newPass(f Found) *pass {
	s := newSession(w.Loop, nil, nil)
	s.working.acquire()
	return s.newPass(s.registry.newActive(f))
}

type syncBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// newWorld makes a workspace; options may be changed before the loop is made.
func newWorld(t testing.TB, change ...func(*Options)) *world {
	return worldAt(t, t.TempDir(), change...)
}

func worldAt(t testing.TB, root string, change ...func(*Options)) *world {
	w := &world{t: t, root: root, log: &syncBuffer{}}
	o := Options{
		Families: []Family{{toyLayout{}, toyMachine{}}},
		Log:      slog.New(slog.NewTextHandler(w.log, nil)),
		Begin: func(a engine.Action) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.begun = append(w.begun, a.ID)
		},
		Observers: Observers{{Moved: func(run layout.Run, tr engine.Transition) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.moved = append(w.moved, run.ID+" "+tr.Event)
		}}},
	}
	o.Store = store.New(fs.OS(root), store.Options{Log: o.Log})
	for _, c := range change {
		c(&o)
	}
	w.Loop = New(o)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the log:\n%s", w.log)
		}
	})
	return w
}

func (w *world) abs(p string) string { return filepath.Join(w.root, p) }

// put writes a file by rename, so that it appears whole and under a new inode.
func (w *world) put(p string, body string) {
	w.t.Helper()
	abs := w.abs(p)
	if err := os.MkdirAll(filepath.Dir(abs), 0o755); err != nil {
		w.t.Fatal(err)
	}
	tmp := filepath.Join(filepath.Dir(abs), ".put~")
	if err := os.WriteFile(tmp, []byte(body), 0o644); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Rename(tmp, abs); err != nil {
		w.t.Fatal(err)
	}
}

// toy puts a counter there.
func (w *world) toy(id string, st toyState) {
	w.t.Helper()
	if st.Status == "" {
		st.Status = "counting"
	}
	w.put("toys/"+id+"/state.json", string(encode(st)))
}

func (w *world) answer(id, response string) {
	w.t.Helper()
	w.put("toys/"+id+"/requests/q/response.json", fmt.Sprintf("{\"response\": %q}\n", response))
}

func (w *world) read(p string) string {
	b, err := os.ReadFile(w.abs(p))
	if err != nil {
		return ""
	}
	return string(b)
}

// state returns a toy's state from the disk.
func (w *world) state(id string) toyState {
	var st toyState
	_ = json.Unmarshal([]byte(w.read("toys/"+id+"/state.json")), &st)
	return st
}

// tree returns every file of the workspace that is part of the record, with its content.
func (w *world) tree() map[string]string {
	out := map[string]string{}
	_ = filepath.WalkDir(w.root, func(p string, d iofs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		rel, _ := filepath.Rel(w.root, p)
		if d.IsDir() {
			if rel == ".placet" || rel == ".git" {
				return iofs.SkipDir
			}
			return nil
		}
		b, _ := os.ReadFile(p)
		out[rel] = string(b)
		return nil
	})
	return out
}

func (w *world) begunIDs() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.begun...)
}

func (w *world) movedEvents() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.moved...)
}
