package optimizer

import (
	"cmp"
	"maps"
	"slices"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
)

// shares are the files of a run that others must know.
var shares = []string{"trigger.json", "state.json", "goal.json", "audit.json", "events.jsonl", "../manifest.json"}

// Shares implements [engine.Related].
func (Machine) Shares() []string { return shares }

// Entry is what other runs must know of one.
type Entry struct {
	// Key is the run's, RunID its own id and Root where it lies.
	Key   string `json:"-"`
	Root  string `json:"root"`
	RunID string `json:"run_id"`
	// Archived is true for a run that was put away.
	Archived bool `json:"archived"`
	// Triggered is true where a trigger lies there, or the state of a cycle, usable
	// or not; LastRunID is the goal's run that it took up.
	Triggered bool `json:"triggered"`
	LastRunID text `json:"last_run_id"`
	// The cycle, where one has begun.
	Workflow         string        `json:"workflow"`
	Status           engine.Status `json:"status"`
	BeganAt          text          `json:"began_at"`
	MovedAt          text          `json:"moved_at"`
	TimeoutReentries int           `json:"timeout_reentries"`
	Goal             *Goal         `json:"goal"`
	Feedback         []FeedbackRow `json:"feedback"`
	// What upstream's manifest says.
	Manifest *Manifest `json:"manifest"`
	// Refused is true where the system refuses to read one of the run's files: it
	// may have taken up any goal.
	Refused bool `json:"refused"`
}

// Refused implements [engine.Related]: cycles go on beside such a run; that none of
// its root takes up a goal meanwhile is for [NextCycles] to see to.
func (Machine) Refused(s engine.Snapshot) []byte {
	if s.Class == layout.OptimizerMisnamed {
		return []byte("{}")
	}
	return encoded(Entry{Root: layout.OptimizerRoot(s.Dir), RunID: layout.OptimizerRunID(s.Dir), Archived: s.Class == layout.OptimizerArchived, Refused: true})
}

// Entry implements [engine.Related]. A document that cannot be used counts as
// absent: the note about it is its own run's.
func (Machine) Entry(s engine.Snapshot) []byte {
	if s.Class == layout.OptimizerMisnamed {
		return nil
	}
	e := Entry{Root: layout.OptimizerRoot(s.Dir), RunID: layout.OptimizerRunID(s.Dir), Archived: s.Class == layout.OptimizerArchived}
	if d := s.In("trigger.json"); !d.Absent() {
		e.Triggered = true
		if t, err := decodeTrigger(d.Path, d.Body); d.Present() && err == nil {
			e.Workflow, e.LastRunID = t.WorkflowName, t.LastRunID
		}
	}
	if d := s.In("state.json"); !d.Absent() {
		e.Triggered = true
		e.cycle(d, s.In("events.jsonl"))
	}
	if d := s.In("goal.json"); d.Present() && e.Status == Reached {
		var g Goal
		if schemas.Decode("optimizer/goal", d.Path, d.Body, &g) == nil {
			e.Goal = &g
		}
	}
	if d := s.In("audit.json"); d.Present() {
		e.feedback(d)
	}
	if d := s.Doc(layout.OptimizerManifest(s.Dir)); d.Present() {
		var m Manifest
		if schemas.Decode("optimizer/manifest", d.Path, d.Body, &m) == nil {
			e.Manifest = &m
		}
	}
	if !e.Triggered && e.Status == "" && e.Manifest == nil {
		return nil
	}
	return encoded(e)
}

// cycle takes what a state says, if the journal accounts for it: nobody takes up a
// goal that somebody else wrote into a cycle.
func (e *Entry) cycle(d, journal engine.Document) {
	st, err := decodeState(d.Path, d.Body)
	if err != nil || st.RunID != e.RunID || !run.Accounts(journal, d, st.Revision) {
		return
	}
	e.Workflow, e.Status, e.BeganAt, e.TimeoutReentries = st.WorkflowName, st.Status, st.BeganAt, st.TimeoutReentries
	e.LastRunID = st.trig.LastRunID
	if st.Last != nil {
		e.MovedAt = st.Last.At
	}
}

// feedback takes the rows that the run owes to the table of feedback.
func (e *Entry) feedback(d engine.Document) {
	var a Audit
	if schemas.Decode("optimizer/audit", d.Path, d.Body, &a) != nil {
		return
	}
	for _, row := range a.Rows {
		if row.Table != userFeedback {
			continue
		}
		of := func(column string) text { return text(columnText(row, column)) }
		if f, ok := feedbackOf(e.Workflow, row.ID, of("date"), of("created_at"), string(of("feedback_text"))); ok {
			e.Feedback = append(e.Feedback, f)
		}
	}
}

// columnText is a row's text in a column, "" where it holds none.
func columnText(row Row, column string) string {
	s, _ := plainValue(row.Row.Get(column)).(string)
	return s
}

// feedbackText is what placet keeps of feedback in one text.
type feedbackText struct {
	FeedbackType text   `json:"feedback_type"`
	WorkflowName string `json:"workflow_name"`
	LevelBefore  *int   `json:"level_before"`
	LevelAfter   *int   `json:"level_after"`
	FreeText     text   `json:"free_text"`
}

// feedbackOf reads a row of user_feedback; ok is false where it is not about the
// workflow or has no levels.
func feedbackOf(workflow, id string, date, created text, body string) (row FeedbackRow, ok bool) {
	var f feedbackText
	if schemas.Decode("", "feedback_text", []byte(body), &f) != nil || f.WorkflowName != workflow || f.LevelBefore == nil || f.LevelAfter == nil {
		return row, false
	}
	return FeedbackRow{
		ID: id, Date: date, CreatedAt: created, FeedbackType: f.FeedbackType, LevelBefore: *f.LevelBefore, LevelAfter: *f.LevelAfter, FreeText: f.FreeText,
	}, true
}

// Entries decodes what runs must know of one another, sorted by key.
func Entries(all map[string][]byte) []Entry {
	var list []Entry
	for _, key := range slices.Sorted(maps.Keys(all)) {
		var e Entry
		if schemas.Decode("", key, all[key], &e) == nil {
			e.Key = key
			list = append(list, e)
		}
	}
	return list
}

// shared is what a run must know of the others.
type shared struct {
	// Goal is the cycle whose goal the run takes up.
	Goal *Entry `json:"goal"`
	// Slug is the one that it takes up where runs are told by their slugs, too.
	Slug *Entry `json:"slug"`
	// Feedback are the newest rows about the workflow in the files of this root.
	Feedback []FeedbackRow `json:"feedback"`
	// Before are the run ids of the cycles behind it, the newest first.
	Before []string `json:"before"`
	// Others are the newest workflows of this root, where no other cycle was of the
	// run's own: its name may be a slip.
	Others []string `json:"others"`
}

// Relate implements [engine.Related].
func (Machine) Relate(entries map[string][]byte) map[string][]byte {
	all := Entries(entries)
	of := map[string]*shared{}
	at := func(key string) *shared {
		if of[key] == nil {
			of[key] = &shared{}
		}
		return of[key]
	}
	for _, g := range NextCycles(all, false) {
		if g.Taken != "" {
			at(g.Taken).Goal = &g.Entry
		}
	}
	for _, g := range NextCycles(all, true) {
		if g.Taken != "" {
			at(g.Taken).Slug = &g.Entry
		}
	}
	rows := map[[2]string][]FeedbackRow{}
	for _, e := range all {
		place := [2]string{e.Root, e.Workflow}
		rows[place] = append(rows[place], e.Feedback...)
	}
	for _, e := range all {
		if newest := rows[[2]string{e.Root, e.Workflow}]; e.Status != "" && !final(e.Status) && len(newest) > 0 {
			at(e.Key).Feedback = newestFeedback(e.Workflow, newest)
		}
	}
	known := byRun(all)
	for _, e := range all {
		if e.LastRunID != "" && !e.Archived && !final(e.Status) {
			at(e.Key).Before = before(known, e)
		}
	}
	inContext := func(e Entry) bool { return e.Status == Context && !e.Archived }
	if slices.ContainsFunc(all, inContext) {
		roots := workflowsOf(all)
		for _, e := range all {
			if !inContext(e) {
				continue
			}
			if others := roots[e.Root].besides(e.Workflow); len(others) > 0 {
				at(e.Key).Others = others
			}
		}
	}
	answers := map[string][]byte{}
	for key, s := range of {
		answers[key] = encoded(s)
	}
	return answers
}

// mostNames is how many names of other workflows are offered.
const mostNames = 3

// workflows are those of a root.
type workflows struct {
	cycles map[string]int // workflow → how many cycles
	newest []string       // one more than are offered: one may be the run's own
}

// workflowsOf are the workflows of every root that has cycles.
func workflowsOf(all []Entry) map[string]*workflows {
	cycles := map[string][]*Entry{}
	for i := range all {
		if e := &all[i]; e.Status != "" {
			cycles[e.Root] = append(cycles[e.Root], e)
		}
	}
	of := map[string]*workflows{}
	for root, list := range cycles {
		slices.SortFunc(list, func(a, b *Entry) int { return cmpWords(string(b.BeganAt), string(a.BeganAt), b.RunID, a.RunID) })
		w := &workflows{cycles: map[string]int{}}
		for _, e := range list {
			w.cycles[e.Workflow]++
			if w.cycles[e.Workflow] == 1 && len(w.newest) <= mostNames {
				w.newest = append(w.newest, e.Workflow)
			}
		}
		of[root] = w
	}
	return of
}

// besides are the newest workflows besides the one of a cycle, none where another
// cycle was of its own: its name may be a slip.
func (w *workflows) besides(own string) []string {
	if w.cycles[own] > 1 {
		return nil
	}
	others := slices.DeleteFunc(slices.Clone(w.newest), func(name string) bool { return name == own })
	return others[:min(len(others), mostNames)]
}

// byRun are the entries by root and run id, that of an active run before that of one
// put away.
func byRun(all []Entry) map[[2]string]Entry {
	known := map[[2]string]Entry{}
	for _, e := range all {
		at := [2]string{e.Root, e.RunID}
		if _, there := known[at]; !there || !e.Archived {
			known[at] = e
		}
	}
	return known
}

// before are the cycles behind one, as far back as open issues are looked for.
func before(known map[[2]string]Entry, e Entry) (runs []string) {
	own := e.RunID
	for len(runs) < mostLinks {
		last := string(e.LastRunID)
		if last == "" || last == own || slices.Contains(runs, last) {
			break
		}
		runs = append(runs, last)
		e = known[[2]string{e.Root, last}]
	}
	return runs
}

// readShared decodes what the run must know of the others.
func readShared(body []byte) (s shared) {
	if len(body) > 0 {
		_ = schemas.Decode("", engine.NeedRuns, body, &s)
	}
	return s
}

// sharedFeedback are the rows about the workflow in the files of other runs.
func sharedFeedback(body []byte) []FeedbackRow { return readShared(body).Feedback }

// reentryNeeds are what a run without a cycle looks at: its manifest, and once that
// says that it has completed, the open goals.
func reentryNeeds(r *cycle) []string {
	if !r.trigger.Absent() {
		return nil
	}
	manifest := layout.OptimizerManifest(r.Snap.Dir)
	needs := []string{manifest}
	if d := r.Snap.Doc(manifest); r.Snap.Has(manifest) && d.Present() {
		var m Manifest
		if schemas.Decode("optimizer/manifest", d.Path, d.Body, &m) == nil && m.Status == "completed" {
			needs = append(needs, engine.NeedRuns)
		}
	}
	return needs
}

// reenter takes up an open goal: its run's trigger.json.
func reenter(r *cycle, w *run.Outputs) {
	d := r.Snap.Doc(engine.NeedRuns)
	manifest := r.Snap.Doc(layout.OptimizerManifest(r.Snap.Dir))
	if !r.Snap.Has(engine.NeedRuns) || d.Err != nil || !manifest.Present() || !r.trigger.Absent() {
		return
	}
	s := readShared(d.Body)
	g := s.Goal
	if r.config().MatchSlug {
		g = s.Slug
	}
	if g == nil || g.Goal == nil {
		return
	}
	var m Manifest
	if schemas.Decode("optimizer/manifest", manifest.Path, manifest.Body, &m) != nil {
		return
	}
	timeouts := 0
	if g.Goal.ApprovedBy == byTimeout {
		timeouts = g.TimeoutReentries + 1
	}
	body := encoded(schemas.Object{
		{Name: "workflow_name", Value: g.Workflow}, {Name: "trigger_type", Value: external}, {Name: "last_run_id", Value: g.RunID},
		{Name: "current_level", Value: g.Goal.NextAutomationLevel}, {Name: "optimization_directives", Value: g.Goal.OptimizationDirectives},
		{Name: "carry_over_issues", Value: g.Goal.CarryOverIssues}, {Name: "timeout_reentries", Value: timeouts},
		{Name: "created_by", Value: "placet"}, {Name: "created_at", Value: cmp.Or(m.CompletedAt, m.UpdatedAt)},
	})
	w.Put("trigger.json", body)
}
