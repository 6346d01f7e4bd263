package loop

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"placet/engine"
	"placet/layout"
)

// shelfLayout is a family whose runs take tickets from a shelf: a run is in
// shelf/<id>/work, whether that folder exists or not.
type shelfLayout struct{}

func (shelfLayout) Name() string    { return "shelf" }
func (shelfLayout) Roots() []string { return []string{"shelf"} }

func (shelfLayout) Runs(ls layout.Lister) ([]layout.Run, error) {
	var runs []layout.Run
	names, err := ls("shelf")
	for _, e := range names {
		if e.Dir && toyName.MatchString(e.Name) {
			runs = append(runs, shelfRun(e.Name))
		}
	}
	return runs, err
}

func shelfRun(id string) layout.Run {
	dir := "shelf/" + id + "/work"
	return layout.Run{Family: "shelf", ID: id, Dir: dir, State: dir + "/state.json"}
}

func (shelfLayout) At(p string) (layout.Run, bool) {
	parts := strings.Split(p, "/")
	if len(parts) < 2 || parts[0] != "shelf" {
		return layout.Run{}, false
	}
	return shelfRun(parts[1]), true
}

func (shelfLayout) Descend(_ layout.Run, rel string) bool { return rel == "." }

func (shelfLayout) File(_ layout.Run, rel string) (layout.File, bool) {
	kinds := map[string]string{"state.json": layout.KindStateFile, "claim.json": "claim"}
	kind, ok := kinds[rel]
	return layout.File{Kind: kind, Writer: layout.Placet, Limit: layout.LimitJSON}, ok
}

// shelfOrder is the content of a run's order.json, beside its folder. Together with what
// the run took, it is what others must know of the run.
type shelfOrder struct {
	Brings []string `json:"brings,omitempty"`
	Wants  bool     `json:"wants,omitempty"`
	Colour string   `json:"colour,omitempty"` // of the ticket that it brings or wants
	Took   string   `json:"took,omitempty"`
}

// shelfMachine takes the first ticket of its colour that nobody took. All runs that want
// one get the same answer.
type shelfMachine struct {
	mu       *sync.Mutex
	steps    map[string]int // by run
	entries  map[string]int
	relates  *int
	unstable bool // Relate panics
}

func newShelf() shelfMachine {
	return shelfMachine{mu: &sync.Mutex{}, steps: map[string]int{}, entries: map[string]int{}, relates: new(int)}
}

func (m shelfMachine) counted(of map[string]int) map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(of)
}

func (m shelfMachine) related() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return *m.relates
}

func (shelfMachine) Family() string { return "shelf" }
func (shelfMachine) Edges() []engine.Edge {
	return []engine.Edge{edge("", "took", "done")}
}
func (shelfMachine) Account(s engine.Snapshot) engine.RunView { return engine.RunView{Key: s.Key} }
func (shelfMachine) Summarize(state []byte) engine.Summary {
	return engine.Summary{Status: "done", Final: true, Touched: true}
}

func (shelfMachine) Shares() []string { return []string{"claim.json", "../order.json"} }

// Refused implements engine.PeerMachine. It returns nil, because nobody knows what such a
// run has taken.
func (shelfMachine) Refused(engine.Snapshot) []byte { return nil }

func (m shelfMachine) Entry(s engine.Snapshot) []byte {
	m.mu.Lock()
	m.entries[s.Key.ID]++
	m.mu.Unlock()
	var o, claim shelfOrder
	order, took := s.Doc(path.Dir(s.Dir)+"/order.json"), s.In("claim.json")
	if len(s.Docs) != 2 || order.Unsettled() || took.Unsettled() || !s.Has(order.Path) {
		panic(fmt.Sprintf("asked about %v", s))
	}
	_ = json.Unmarshal(took.Body, &claim)
	if json.Unmarshal(order.Body, &o) != nil && claim.Took == "" {
		return nil
	}
	o.Took = claim.Took
	return encode(o)
}

func (m shelfMachine) Relate(entries map[string][]byte) map[string][]byte {
	m.mu.Lock()
	*m.relates++
	m.mu.Unlock()
	if m.unstable {
		panic("shelf")
	}
	orders, free := map[string]shelfOrder{}, map[string][]string{}
	taken := map[string]bool{}
	for id, body := range entries {
		var o shelfOrder
		_ = json.Unmarshal(body, &o)
		orders[id], taken[o.Took] = o, true
	}
	for _, o := range orders {
		for _, t := range o.Brings {
			if !taken[t] {
				free[o.Colour] = append(free[o.Colour], t)
			}
		}
	}
	answers := map[string][]byte{}
	for id, o := range orders {
		if list := free[o.Colour]; o.Wants && o.Took == "" && len(list) > 0 {
			answers[id] = []byte(slices.Min(list))
		}
	}
	return answers
}

func (m shelfMachine) Step(s engine.Snapshot) (engine.Plan, error) {
	m.mu.Lock()
	m.steps[s.Key.ID]++
	m.mu.Unlock()
	claim, state, order := s.In("claim.json"), s.In("state.json"), s.Doc(path.Dir(s.Dir)+"/order.json")
	p := engine.Plan{Needs: []string{order.Path}}
	var o shelfOrder
	switch {
	case state.Present():
		return engine.Plan{}, nil
	case claim.Present():
		p.Transitions = []engine.Transition{{Edge: edge("", "took", "done")}}
		p.Writes = []engine.Document{{Path: state.Path, Kind: engine.KindState, Body: []byte("{}\n")}}
		return p, nil
	case json.Unmarshal(order.Body, &o) != nil || !o.Wants:
		return p, nil
	}
	p.Needs = append(p.Needs, engine.NeedPeers)
	if told := s.Doc(engine.NeedPeers); told.Present() && len(told.Body) > 0 {
		p.Writes = []engine.Document{{Path: claim.Path, Kind: "claim", Body: encode(shelfOrder{Took: string(told.Body)})}}
	}
	return p, nil
}

// shelf is a workspace with a shelf in it.
type shelf struct {
	*world
	m shelfMachine
}

func newShelfWorld(t testing.TB, change ...func(*Options)) shelf {
	return shelfWorldAt(t, t.TempDir(), change...)
}

func shelfWorldAt(t testing.TB, root string, change ...func(*Options)) shelf {
	m := newShelf()
	families := func(o *Options) { o.Families = append(o.Families, Family{shelfLayout{}, m}) }
	return shelf{worldAt(t, root, append([]func(*Options){families}, change...)...), m}
}

func (w shelf) order(id string, o shelfOrder) {
	w.t.Helper()
	w.put("shelf/"+id+"/order.json", string(encode(o)))
}

func (w shelf) wants(ids ...string) {
	w.t.Helper()
	for _, id := range ids {
		w.order(id, shelfOrder{Wants: true})
	}
}

func (w shelf) took(id string) string { return tookIn(w.read("shelf/" + id + "/work/claim.json")) }

func (w shelf) takes(id, ticket string) {
	w.t.Helper()
	w.eventually(id+" takes "+ticket, func() bool { return w.took(id) == ticket })
}

func tookIn(claim string) string {
	var o shelfOrder
	_ = json.Unmarshal([]byte(claim), &o)
	return o.Took
}

// numbered returns n names.
func numbered(prefix string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s%04d", prefix, i)
	}
	return names
}

// wantTaken checks that each of the tickets was taken once, and no other.
func wantTaken(t testing.TB, tree map[string]string, tickets []string) {
	t.Helper()
	by := map[string][]string{}
	for p, body := range tree {
		if path.Base(p) == "claim.json" {
			by[tookIn(body)] = append(by[tookIn(body)], p)
		}
	}
	for _, ticket := range tickets {
		if len(by[ticket]) != 1 {
			t.Errorf("%s was taken %d times: %v", ticket, len(by[ticket]), by[ticket])
		}
		delete(by, ticket)
	}
	if len(by) > 0 {
		t.Errorf("taken, but not there: %v", by)
	}
}

// answered returns the answer that a run gets now.
func (w shelf) answered(id string, sure bool) engine.Document {
	w.t.Helper()
	d, _, err := w.Loop.answer(Found{shelfRun(id), Family{shelfLayout{}, w.m}}, sure)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}
