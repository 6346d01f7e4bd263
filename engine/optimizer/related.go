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

// shares lists the files of a run that its peers need.
var shares = []string{"trigger.json", "state.json", "goal.json", "audit.json", "events.jsonl", "../manifest.json"}

// Shares implements [engine.PeerMachine].
func (Machine) Shares() []string { return shares }

// Entry is what a run's peers need to know of it.
type Entry struct {
	// Key is the run's key, RunID its id, and Root the folder that holds it.
	Key   string `json:"-"`
	Root  string `json:"root"`
	RunID string `json:"run_id"`
	// Archived marks a run in the archive.
	Archived bool `json:"archived"`
	// Triggered is true if a trigger or the state of a cycle exists, usable or not. LastRunID is
	// the run whose goal it took up.
	Triggered bool `json:"triggered"`
	LastRunID text `json:"last_run_id"`
	// Workflow and the members down to Feedback describe the cycle, if one has begun.
	Workflow         string        `json:"workflow"`
	Status           engine.Status `json:"status"`
	BeganAt          text          `json:"began_at"`
	MovedAt          text          `json:"moved_at"`
	TimeoutReentries int           `json:"timeout_reentries"`
	Goal             *Goal         `json:"goal"`
	Feedback         []FeedbackRow `json:"feedback"`
	// Manifest is upstream's manifest.
	Manifest *Manifest `json:"manifest"`
	// Refused is true if the system refuses to read one of the run's files. The run may have taken
	// up any goal.
	Refused bool `json:"refused"`
}

// Refused implements [engine.PeerMachine]. Other cycles go on beside such a run; [NextCycles] keeps
// the runs of its root from taking up a goal meanwhile.
func (Machine) Refused(s engine.Snapshot) []byte {
	if s.Class == layout.OptimizerMisnamed {
		return []byte("{}")
	}
	return run.Encoded(Entry{Root: layout.OptimizerRoot(s.Dir), RunID: layout.OptimizerRunID(s.Dir), Archived: s.Class == layout.OptimizerArchived, Refused: true})
}

// usable decodes a document of another run and returns nil if it cannot. The note about it is
// written by that run.
func usable[T any](d engine.Document, decode func(path string, body []byte) (T, error)) *T {
	if d.Present() {
		if v, err := decode(d.Path, d.Body); err == nil {
			return &v
		}
	}
	return nil
}

// decoder returns a function that decodes documents of a schema.
func decoder[T any](schema string) func(path string, body []byte) (T, error) {
	return func(path string, body []byte) (v T, err error) { return v, schemas.Decode(schema, path, body, &v) }
}

// Decoders of the documents of other runs, except states and triggers.
var (
	decodeGoal     = decoder[Goal]("optimizer/goal")
	decodeManifest = decoder[Manifest]("optimizer/manifest")
	decodeAudit    = decoder[Audit]("optimizer/audit")
	decodeLate     = decoder[Late]("optimizer/late")
)

// Entry implements [engine.PeerMachine]. An unusable document counts as absent.
func (Machine) Entry(s engine.Snapshot) []byte {
	if s.Class == layout.OptimizerMisnamed {
		return nil
	}
	trigger, state := s.In("trigger.json"), s.In("state.json")
	e := Entry{
		Root: layout.OptimizerRoot(s.Dir), RunID: layout.OptimizerRunID(s.Dir), Archived: s.Class == layout.OptimizerArchived,
		Triggered: !trigger.Absent() || !state.Absent(), Manifest: usable(s.Doc(layout.OptimizerManifest(s.Dir)), decodeManifest),
	}
	if t := usable(trigger, decodeTrigger); t != nil {
		e.Workflow, e.LastRunID = t.WorkflowName, t.LastRunID
	}
	e.cycle(state, s.In("events.jsonl"))
	if e.Status == Reached {
		e.Goal = usable(s.In("goal.json"), decodeGoal)
	}
	e.feedback(s.In("audit.json"))
	if !e.Triggered && e.Manifest == nil {
		return nil
	}
	return run.Encoded(e)
}

// cycle copies what a state says if the journal accounts for it: nobody takes up a goal that
// somebody else wrote into a cycle.
func (e *Entry) cycle(d, journal engine.Document) {
	st := usable(d, decodeState)
	if st == nil || st.RunID != e.RunID || !run.Accounts(journal, d, st.Revision) {
		return
	}
	e.Workflow, e.Status, e.BeganAt, e.TimeoutReentries = st.WorkflowName, st.Status, st.BeganAt, st.TimeoutReentries
	e.LastRunID = st.trig.LastRunID
	if st.Last != nil {
		e.MovedAt = st.Last.At
	}
}

// feedback adds the run's rows of the table user_feedback.
func (e *Entry) feedback(d engine.Document) {
	a := usable(d, decodeAudit)
	if a == nil {
		return
	}
	for _, row := range a.Rows {
		if row.Table != userFeedback {
			continue
		}
		if f, ok := feedbackOf(e.Workflow, row.ID, func(column string) text { return text(columnText(row, column)) }); ok {
			e.Feedback = append(e.Feedback, f)
		}
	}
}

// columnText returns a column of a row as text, "" if it holds none.
func columnText(row Row, column string) string {
	s, _ := plainValue(row.Row.Get(column)).(string)
	return s
}

// feedbackText is the JSON that placet writes into the column feedback_text.
type feedbackText struct {
	FeedbackType text   `json:"feedback_type"`
	WorkflowName string `json:"workflow_name"`
	LevelBefore  *int   `json:"level_before"`
	LevelAfter   *int   `json:"level_after"`
	FreeText     text   `json:"free_text"`
}

// feedbackOf reads a row of user_feedback; ok is false if the row is not about the workflow or has
// no levels.
func feedbackOf(workflow, id string, column func(string) text) (row FeedbackRow, ok bool) {
	var f feedbackText
	if schemas.Decode("", "feedback_text", []byte(column("feedback_text")), &f) != nil || f.WorkflowName != workflow || f.LevelBefore == nil || f.LevelAfter == nil {
		return row, false
	}
	return FeedbackRow{
		ID: id, Date: column("date"), CreatedAt: column("created_at"), FeedbackType: f.FeedbackType,
		LevelBefore: *f.LevelBefore, LevelAfter: *f.LevelAfter, FreeText: f.FreeText,
	}, true
}

// Entries decodes the entries of all runs and sorts them by key.
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

// shared is what a run needs to know of its peers.
type shared struct {
	// Goal is the cycle whose goal the run takes up.
	Goal *Entry `json:"goal"`
	// Slug is that cycle if slugs may match runs with goals, too.
	Slug *Entry `json:"slug"`
	// Feedback holds the newest rows about the workflow in the files of this root.
	Feedback []FeedbackRow `json:"feedback"`
	// Before lists the run ids of the cycles behind it, the newest first.
	Before []string `json:"before"`
	// Others lists the newest workflows of this root if the run's workflow has no other cycle: its
	// name may be a misspelling.
	Others []string `json:"others"`
}

// Relate implements [engine.PeerMachine].
func (Machine) Relate(entries map[string][]byte) map[string][]byte {
	all := Entries(entries)
	of := relation{}
	of.goals(all)
	of.feedback(all)
	of.others(all)
	runs := byRun(all)
	for _, e := range all {
		if e.LastRunID != "" && !e.Archived && !final(e.Status) {
			of.at(e.Key).Before = before(runs, e)
		}
	}
	answers := map[string][]byte{}
	for key, s := range of {
		answers[key] = run.Encoded(s)
	}
	return answers
}

// relation maps the key of each run to what it needs to know of its peers.
type relation map[string]*shared

func (of relation) at(key string) *shared {
	if of[key] == nil {
		of[key] = &shared{}
	}
	return of[key]
}

// goals adds the goals that runs take up.
func (of relation) goals(all []Entry) {
	for _, g := range NextCycles(all, false) {
		if g.Taken != "" {
			of.at(g.Taken).Goal = &g.Entry
		}
	}
	for _, g := range NextCycles(all, true) {
		if g.Taken != "" {
			of.at(g.Taken).Slug = &g.Entry
		}
	}
}

// feedback adds the newest rows about its workflow to each cycle that is not final.
func (of relation) feedback(all []Entry) {
	rows := map[inRoot][]FeedbackRow{}
	for _, e := range all {
		rows[e.workflow()] = append(rows[e.workflow()], e.Feedback...)
	}
	for _, e := range all {
		if newest := rows[e.workflow()]; e.Status != "" && !final(e.Status) && len(newest) > 0 {
			of.at(e.Key).Feedback = newestFeedback(newest)
		}
	}
}

// mostNames is how many names of other workflows a run gets.
const mostNames = 3

// others gives each beginning cycle the newest workflows of its root if its own workflow has no
// other cycle: the name may be a misspelling.
func (of relation) others(all []Entry) {
	begins := func(e Entry) bool { return e.Status == Context && !e.Archived }
	if !slices.ContainsFunc(all, begins) {
		return
	}
	count, names := map[inRoot]int{}, map[string][]string{}
	for _, e := range newestFirst(all) {
		if count[e.workflow()]++; count[e.workflow()] == 1 && len(names[e.Root]) <= mostNames { // one of them may be its own
			names[e.Root] = append(names[e.Root], e.Workflow)
		}
	}
	for _, e := range all {
		if !begins(e) || count[e.workflow()] > 1 {
			continue
		}
		offered := slices.DeleteFunc(slices.Clone(names[e.Root]), func(name string) bool { return name == e.Workflow })
		if len(offered) > 0 {
			of.at(e.Key).Others = offered[:min(len(offered), mostNames)]
		}
	}
}

// before returns the cycles behind one, as far back as placet looks for open issues.
func before(runs map[inRoot]Entry, e Entry) (behind []string) {
	own := e.RunID
	for len(behind) < mostLinks {
		last := string(e.LastRunID)
		if last == "" || last == own || slices.Contains(behind, last) {
			break
		}
		behind = append(behind, last)
		e = runs[inRoot{e.Root, last}]
	}
	return behind
}

// readShared decodes what the run needs to know of its peers.
func readShared(body []byte) (s shared) {
	if len(body) > 0 {
		_ = schemas.Decode("", engine.NeedPeers, body, &s)
	}
	return s
}

// reentryNeeds returns what a run without a cycle reads: its manifest and, once the manifest says
// completed, the open goals.
func reentryNeeds(r *cycle) []string {
	if !r.trigger.Absent() {
		return nil
	}
	manifest := layout.OptimizerManifest(r.run.Snap.Dir)
	if m := usable(r.run.Snap.Doc(manifest), decodeManifest); m != nil && m.Status == "completed" {
		return []string{manifest, engine.NeedPeers}
	}
	return []string{manifest}
}

// reenter takes up an open goal by writing the trigger.json of its run.
func reenter(r *cycle, w *run.Outputs) {
	d, m := r.run.Snap.Doc(engine.NeedPeers), usable(r.run.Snap.Doc(layout.OptimizerManifest(r.run.Snap.Dir)), decodeManifest)
	if !r.run.Snap.Has(engine.NeedPeers) || d.Err != nil || m == nil || !r.trigger.Absent() {
		return
	}
	s := readShared(d.Body)
	g := s.Goal
	if run.Config(r.run.Snap, DefaultConfig).MatchSlug {
		g = s.Slug
	}
	if g == nil || g.Goal == nil {
		return
	}
	timeouts := 0
	if g.Goal.ApprovedBy == byTimeout {
		timeouts = g.TimeoutReentries + 1
	}
	w.Put("trigger.json", run.Encoded(schemas.Object{
		{Name: "workflow_name", Value: g.Workflow}, {Name: "trigger_type", Value: external}, {Name: "last_run_id", Value: g.RunID},
		{Name: "current_level", Value: g.Goal.NextAutomationLevel}, {Name: "optimization_directives", Value: g.Goal.OptimizationDirectives},
		{Name: "carry_over_issues", Value: g.Goal.CarryOverIssues}, {Name: "timeout_reentries", Value: timeouts},
		{Name: "created_by", Value: "placet"}, {Name: "created_at", Value: cmp.Or(m.CompletedAt, m.UpdatedAt)},
	}))
}

// link is one cycle of the chain behind a run: its trigger, state, goal and late answer. A nil
// member is an absent or unusable document.
type link struct {
	Goal     *Goal
	State    *State
	Trigger  *Trigger
	Late     *Late
	Archived bool
}

// mostLinks is how many cycles back placet looks for open issues.
const mostLinks = 10

// before returns the run whose goal the cycle took up, or "". The state decides; without a state of
// placet's the trigger does.
func (l link) before() string {
	switch {
	case l.State != nil:
		return string(l.State.trig.LastRunID)
	case l.Trigger != nil:
		return string(l.Trigger.LastRunID)
	}
	return ""
}

// openIssues returns the issues of the previous goal and, as long as a goal comes from a timeout,
// those of the goal before it: a person's words survive cycles that nobody answered. It drops
// duplicates, what a late answer settled, and the timeout's own sentence, which is nobody's words:
// a warning says that nobody answered. The chain begins with the run that last_run_id names, and
// each further link is the run before. It ends where a goal is missing or belongs to another
// workflow.
func openIssues(chain []link) []string {
	issues, workflow, known := []string{}, "", map[string]bool{}
	for _, l := range chain[:min(len(chain), mostLinks)] {
		if l.Goal == nil || l.State != nil && workflow != "" && l.State.WorkflowName != workflow {
			break
		}
		if l.State != nil {
			workflow = l.State.WorkflowName
		}
		for _, issue := range l.settledLate() {
			known[issue] = true
		}
		for _, issue := range l.Goal.CarryOverIssues {
			if !timeoutIssue(issue) && !known[issue] {
				known[issue] = true
				issues = append(issues, issue)
			}
		}
		if l.Goal.ApprovedBy != byTimeout {
			break
		}
	}
	return issues
}

// settledLate returns the issues that an answer after the cycle's deadline settled.
func (l link) settledLate() []string {
	if l.Late == nil || l.State == nil {
		return nil
	}
	return l.State.settled(l.Late.Selected)
}

// mostIssues is how many open issues a request offers.
const mostIssues = 100

// carried returns the open issues that a cycle takes up, the newest, and how many are left out
// because one request cannot show them.
func carried(issues []string) (taken []string, left int) {
	bytes := 0
	for at, issue := range issues {
		if bytes += len(line(issue)); at == mostIssues || bytes > mostOffered {
			return issues[:at], len(issues) - at
		}
	}
	return issues, 0
}
