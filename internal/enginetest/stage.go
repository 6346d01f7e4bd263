package enginetest

import (
	"encoding/json"
	"errors"
	"maps"
	"path"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/layout"
	"placet/templates"
)

// Stage is one run in a workspace in memory. It carries out plans one by one, as
// the acting half does, and lets a test check each: without a disk or a loop, at
// the time that the test sets.
type Stage struct {
	T       testing.TB
	Machine engine.Machine
	Layout  layout.Family
	Run     layout.Run
	Files   map[string]string
	Changed map[string]time.Time
	// Owner names the owner of a file; without an entry it is jmcwilliam.
	Owner map[string]string
	// Unsettled are files that are still being written.
	Unsettled map[string]bool
	Now       time.Time
	Facts     engine.Environment
	// Runs is the document about the other runs; nil: there are none.
	Runs []byte
	// Begun are the actions that were begun, in order; each begins once.
	Begun []engine.Action
	// Ended are the actions that the machine wanted to end.
	Ended []string
	// Forgotten are the actions whose end the machine has written down.
	Forgotten []string
	// Unrecorded says that the machine finds no record that this machine wrote a document.
	Unrecorded bool
	issued     engine.Issued
	// writtenFor holds the answers that plans wrote for somebody, by path.
	writtenFor map[string]engine.Document
	story      *transcript
}

// NewStage returns the stage of a run at noon of some day.
func NewStage(t testing.TB, m engine.Machine, l layout.Family, run layout.Run, config engine.Config) *Stage {
	s := &Stage{
		T: t, Machine: m, Layout: l, Run: run, Files: map[string]string{}, Changed: map[string]time.Time{},
		issued: engine.Issued{}, writtenFor: map[string]engine.Document{},
		Owner: map[string]string{}, Unsettled: map[string]bool{}, Now: time.Date(2025, 12, 6, 18, 15, 0, 120e6, time.UTC),
		Facts: engine.Environment{Config: config, Trusted: map[engine.Digest]bool{}, Alive: map[string]bool{}, Ended: map[string]engine.Ended{}},
	}
	if config.Language != templates.Pseudo { // no run of a workspace has this language
		s.story = newTranscript(t)
	}
	return s
}

// End ends the action whose ID ends in suffix, as an action without Outcome does. It
// fails the test unless exactly one such action runs.
func (s *Stage) End(suffix string, e engine.Ended) {
	s.T.Helper()
	var ids []string
	for id := range s.Facts.Alive {
		if strings.HasSuffix(id, suffix) {
			ids = append(ids, id)
		}
	}
	if len(ids) != 1 {
		s.T.Fatalf("%d actions run that end in %q: %q", len(ids), suffix, ids)
	}
	if e.At.IsZero() {
		e.Began, e.At = s.Now, s.Now
	}
	delete(s.Facts.Alive, ids[0])
	if s.Facts.Ended == nil {
		s.Facts.Ended = map[string]engine.Ended{}
	}
	s.Facts.Ended[ids[0]] = e
}

// Clone returns a copy of the stage, to continue it in another way.
func (s *Stage) Clone() *Stage {
	c := *s
	c.Files, c.Changed, c.Owner, c.Unsettled = maps.Clone(s.Files), maps.Clone(s.Changed), maps.Clone(s.Owner), maps.Clone(s.Unsettled)
	c.story = s.story.clone()
	c.writtenFor = maps.Clone(s.writtenFor)
	c.issued, c.Begun = maps.Clone(s.issued), slices.Clone(s.Begun)
	c.Facts.Alive, c.Facts.Ended = maps.Clone(s.Facts.Alive), maps.Clone(s.Facts.Ended)
	for p, sums := range c.issued {
		c.issued[p] = slices.Clone(sums)
	}
	return &c
}

// Put writes a file, by its path in the workspace.
func (s *Stage) Put(p, body string) {
	s.Files[p] = body
	s.Changed[p] = s.Now
}

// Issue writes a document as placet does, and records that.
func (s *Stage) Issue(d engine.Document) {
	s.Put(d.Path, string(d.Body))
	if d.Source != "" {
		s.writtenFor[d.Path] = d
	}
	switch d.Kind {
	case layout.KindRequest, layout.KindForm, layout.KindReceipt, layout.KindVoid, layout.FaberText, layout.FaberReply, layout.FaberConsumed, engine.KindState:
		s.issued.Add(d.Path, engine.Sum(d.Body))
		s.issued.Confirm(d.Path, engine.Sum(d.Body))
	}
}

// In returns the path of a file in the run's folder.
func (s *Stage) In(rel string) string { return path.Join(s.Run.Dir, rel) }

// Write writes a file of the run's folder.
func (s *Stage) Write(rel, body string) { s.Put(s.In(rel), body) }

// Read returns a file of the run's folder, and fails the test without it.
func (s *Stage) Read(rel string) string {
	s.T.Helper()
	body, ok := s.Files[s.In(rel)]
	if !ok {
		s.T.Fatalf("there is no %s", rel)
	}
	return body
}

// Has reports whether a file exists in the run's folder.
func (s *Stage) Has(rel string) bool { _, ok := s.Files[s.In(rel)]; return ok }

// Snapshot returns the run with the documents that it needs from elsewhere.
func (s *Stage) Snapshot(needs []string) engine.Snapshot {
	snap := engine.Snapshot{
		Key: engine.Key{Family: s.Layout.Name(), ID: s.Run.ID}, Dir: s.Run.Dir, Class: s.Run.Class, Now: s.Now, Facts: s.Facts,
	}
	docs := map[string]engine.Document{}
	for p, body := range s.Files {
		rel, ok := strings.CutPrefix(p, s.Run.Dir+"/")
		if !ok {
			continue
		}
		if f, ok := s.Layout.File(s.Run, rel); ok {
			docs[p] = s.document(p, f.Kind, body)
		}
	}
	for _, need := range needs {
		snap.Needs = append(snap.Needs, need)
		if need == engine.NeedPeers {
			docs[need] = engine.Document{Path: need, Body: s.Runs, Sum: engine.Sum(s.Runs)}
			continue
		}
		if p, ok := strings.CutPrefix(need, engine.VolatileNeed); ok {
			docs[need] = s.volatile(p)
			continue
		}
		pattern := strings.TrimPrefix(need, "still:")
		found := false
		for p, body := range s.Files {
			if ok, _ := path.Match(pattern, p); ok {
				docs[p], found = s.document(p, "", body), true
			}
		}
		if !found && !strings.ContainsAny(pattern, "*?[") {
			docs[pattern] = engine.Document{Path: pattern, Err: engine.ErrAbsent}
		}
	}
	sort.Strings(snap.Needs)
	for _, d := range docs {
		snap.Docs = append(snap.Docs, d)
	}
	sort.Slice(snap.Docs, func(i, j int) bool { return snap.Docs[i].Path < snap.Docs[j].Path })
	return snap
}

// volatile returns a volatile document in the form of the loop.
func (s *Stage) volatile(p string) engine.Document {
	d := engine.Document{Path: engine.VolatileNeed + p, Err: engine.ErrAbsent}
	if body, ok := s.Files[p]; ok {
		d = s.document(p, "", body)
		d.Path, d.Known, d.Issued = engine.VolatileNeed+p, nil, nil
	}
	return d
}

// document returns a file in the form of the store. A file whose content begins
// with "unusable:" cannot be read, for the reason that follows.
func (s *Stage) document(p, kind, body string) engine.Document {
	d := engine.Document{Path: p, Kind: kind, Body: []byte(body), Sum: engine.Sum([]byte(body)), Changed: s.Changed[p]}
	owner := s.Owner[p]
	if owner == "" {
		owner = "jmcwilliam"
	}
	d.Known, d.Source = []string{"owner:" + owner}, surfaceOf(p, body)
	if w, ok := s.writtenFor[p]; ok && string(w.Body) == body {
		d.Known, d.Source = w.Known, w.Source
	}
	if !s.Unrecorded {
		d.Issued = slices.Clone(s.issued[p])
	}
	switch {
	case s.Unsettled[p]:
		d.Body, d.Sum, d.Err = nil, "", engine.ErrUnsettled
	case strings.HasPrefix(body, "unusable:"):
		d.Body, d.Sum, d.Err = nil, "", errors.New(strings.TrimPrefix(body, "unusable:"))
	}
	return d
}

// Full returns a snapshot with all needs looked up, and the plan for it.
func (s *Stage) Full() (engine.Snapshot, engine.Plan) {
	s.T.Helper()
	var needs []string
	for range 5 {
		snap := s.Snapshot(needs)
		p, err := s.Machine.Step(snap)
		if err != nil {
			s.T.Fatal(err)
		}
		lacks := snap.Lacks(p.Needs)
		if len(lacks) == 0 {
			return snap, p
		}
		needs = append(needs, lacks...)
	}
	s.T.Fatal("needs never end")
	return engine.Snapshot{}, engine.Plan{}
}

// Step carries out one plan and returns it. It fails the test if a write replaces
// content that the plan did not expect, or if a transition is no row of the table.
func (s *Stage) Step() engine.Plan {
	s.T.Helper()
	_, p := s.Full()
	for _, d := range p.Writes {
		have, exists := s.Files[d.Path]
		if exists != (d.Over != "") || exists && engine.Sum([]byte(have)) != d.Over {
			s.T.Fatalf("write of %s over %q, but the file holds %q", d.Path, d.Over, have)
		}
		s.Issue(d)
	}
	for _, p := range p.Removes {
		delete(s.Files, p)
	}
	for _, l := range p.Lines {
		s.Put(l.Path, s.Files[l.Path]+string(l.Body))
	}
	for _, a := range p.Actions {
		if !s.Facts.Alive[a.ID] {
			s.Begun = append(s.Begun, a)
			s.Facts.Alive[a.ID] = true
		}
	}
	for _, id := range p.Ends {
		if s.Facts.Alive[id] {
			s.Ended = append(s.Ended, id)
			delete(s.Facts.Alive, id)
		}
		if _, ended := s.Facts.Ended[id]; ended {
			s.Forgotten = append(s.Forgotten, id)
			delete(s.Facts.Ended, id)
		}
	}
	s.legal(p)
	return p
}

func (s *Stage) legal(p engine.Plan) {
	s.T.Helper()
	for _, t := range p.Transitions {
		found := false
		for _, e := range s.Machine.Edges() {
			found = found || e == t.Edge
		}
		if !found {
			s.T.Fatalf("transition %+v is no row of the table", t.Edge)
		}
	}
}

// mostSteps is the number of plans within which a run must become idle.
const mostSteps = 300

// Settle steps until nothing is left to do, and returns the edges taken.
func (s *Stage) Settle() []engine.Transition {
	s.T.Helper()
	var taken []engine.Transition
	for range mostSteps {
		p := s.Step()
		taken = append(taken, p.Transitions...)
		if len(p.Transitions)+len(p.Writes)+len(p.Removes)+len(p.Lines) == 0 {
			s.story.rest(s.T, s.Files, taken)
			return taken
		}
	}
	s.T.Fatal("does not settle")
	return nil
}

// Respond writes response.json of a request.
func (s *Stage) Respond(id string, fields map[string]any) {
	s.T.Helper()
	m := map[string]any{"request_id": id, "provided_by": map[string]any{"user": "jmcwilliam", "source": "cli"}}
	for k, v := range fields {
		m[k] = v
	}
	body, err := json.Marshal(m)
	if err != nil {
		s.T.Fatal(err)
	}
	s.Write("requests/"+id+"/response.json", string(body))
}

// Tick ticks items of a form, given its path in the workspace, as a reviewer does.
func (s *Stage) Tick(p string, items ...string) {
	s.T.Helper()
	body, ok := s.Files[p]
	if !ok {
		s.T.Fatalf("there is no form %s", p)
	}
	for _, item := range items {
		ticked := strings.Replace(body, "- [ ] "+item, "- [x] "+item, 1)
		if ticked == body {
			s.T.Fatalf("the form has no item %q:\n%s", item, body)
		}
		body = ticked
	}
	s.Put(p, body)
}
