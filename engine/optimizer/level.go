package optimizer

import (
	"fmt"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/reader"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// basis are the inputs of the decision.
type basis struct {
	assets *Assets // nil where there is no file
	kpi    *KPI
	usage  *KPI
	// ok is false while one of them is bad or cannot be read yet.
	ok bool
}

// inputs reads what the decision is made from. A file that is there but invalid
// blocks its own default.
func (r *reading) inputs() basis { return once(r, "inputs", r.readInputs) }

func (r *reading) readInputs() basis {
	in := basis{ok: true}
	in.assets = readInto[Assets](r, "inputs/assets.json", "optimizer/assets", &in.ok)
	in.kpi = readInto[KPI](r, "inputs/kpi.json", "optimizer/kpi", &in.ok)
	if in.kpi != nil {
		if problem := in.kpi.problem(); problem != "" {
			r.Bad(r.Snap.In("inputs/kpi.json"), "cannot use kpi.json: "+problem)
			in.ok = false
		}
	}
	var ok bool
	if in.usage, ok = r.usage(); !ok {
		in.ok = false
	}
	if in.usage != nil {
		if problem := in.usage.problem(); problem != "" {
			r.Notes.Add(r.Path("usage.problem.md"), "cannot use the front matter of "+r.usagePath()+": "+problem)
			in.ok = false
		}
	}
	return in
}

// readInto reads a JSON document that others write; nil where it is absent or
// cannot be used, and then ok becomes false in the second case.
func readInto[T any](r *reading, rel, schema string, ok *bool) *T {
	d := r.Snap.In(rel)
	if d.Absent() {
		return nil
	}
	var v T
	if !r.Decode(d, schema, &v) {
		*ok = false
		return nil
	}
	return &v
}

// decides is edge 5: the three signals, and the goal before.
func (r *reading) decides() (p engine.Plan, ok bool) {
	if r.found == nil {
		return p, false
	}
	in := r.inputs()
	if !in.ok {
		return p, false
	}
	waited := r.due(r.st.InputsUntil)
	a, whyA, sure := signalA(in.assets, r.cfg, waited)
	if !sure {
		return p, false
	}
	kpi := mergeKPI(r.st.trig, in.kpi, in.usage, r.cfg)
	b, whyB := signalB(kpi)
	c, whyC := signalC(r.found.Feedback)
	causes := []engine.Document{r.Snap.In("context.json")}
	for _, rel := range []string{"inputs/assets.json", "inputs/kpi.json"} {
		if d := r.Snap.In(rel); d.Present() {
			causes = append(causes, d)
		}
	}
	d := decide(Signals{A: a, B: b, C: c}, &whys{A: whyA, B: whyB, C: whyC}, r.found.PreviousGoal, r.st.Lang)
	m := r.move(decided, Running, fmt.Sprintf("level %d", d.AutomationLevel), causes...)
	m.st.Decision, m.st.KPI, m.st.Level = &d, kpi, &Level{Current: d.AutomationLevel}
	return m.plan(), true
}

// levelError is inputs/level-error.json where it names the level in hand.
func (r *reading) levelError() *LevelError {
	e := once(r, "level-error", func() *LevelError {
		ok := true
		return readInto[LevelError](r, "inputs/level-error.json", "optimizer/level-error", &ok)
	})
	if e == nil || e.Level != r.st.Level.Current {
		return nil
	}
	return e
}

// unsureLevel reports whether it cannot be told now that the level in hand is not to
// be done: level-error.json is still being written, or cannot be read.
func (r *reading) unsureLevel() bool {
	return once(r, "level-error held", func() bool {
		held := r.Held
		r.Held = false
		r.levelError()
		unsure := r.Held
		r.Held = r.Held || held
		return unsure
	})
}

// data is what retrieved.jsonl holds; ok is false where it is absent, bad, or may
// be on its way.
type data struct {
	list []Record
	ok   bool
}

func (r *reading) data() data { return once(r, "retrieved", r.readData) }

func (r *reading) readData() (v data) {
	d := r.Snap.In("retrieved.jsonl")
	v.ok = r.Read(d, func() error {
		var problem string
		if v.list, problem = parseRecords(d.Body); problem != "" {
			return &schemas.Error{Path: "retrieved.jsonl", Problem: problem, Torn: tornEnd(d.Body)}
		}
		return nil
	})
	return v
}

// tornEnd reports whether a file of lines may be half of a write: its last line
// has no end.
func tornEnd(body []byte) bool { return len(body) == 0 || body[len(body)-1] != '\n' }

// proposed is what suggestions.json holds: there is false where it is absent, ok
// where it is bad or may be on its way.
type proposed struct {
	Suggestions
	there, ok bool
}

func (r *reading) suggestions() proposed { return once(r, "suggestions", r.readSuggestions) }

func (r *reading) readSuggestions() (s proposed) {
	d := r.Snap.In("suggestions.json")
	if d.Absent() {
		return proposed{ok: true}
	}
	s.there = true
	if !r.Decode(d, "optimizer/suggestions", &s.Suggestions) {
		return s
	}
	if problem := s.problem(); problem != "" {
		r.Bad(d, "cannot use suggestions.json: "+problem)
		return s
	}
	s.ok = true
	return s
}

// problem is why suggestions that fit the schema cannot be used, "" if they can.
func (s Suggestions) problem() string {
	first := map[string]int{}
	for i, g := range s.Suggestions {
		words := strings.TrimSpace(g.Text)
		if words == "" {
			return fmt.Sprintf("/suggestions/%d/text is blank: expected what is suggested", i)
		}
		if j, doubled := first[words]; doubled {
			return fmt.Sprintf("/suggestions/%d/text is that of /suggestions/%d: expected each suggestion once", i, j)
		}
		first[words] = i
	}
	if n := s.bytes(); n > mostOffered {
		return fmt.Sprintf("/suggestions: the texts have %d bytes together: expected at most %d, which is what a request can show; put the rest into a file and name it", n, mostOffered)
	}
	return ""
}

// failure is why the level in hand has failed, and the document that says so; ""
// where it has not.
func (r *reading) failure() (why string, because []engine.Document, by *answer) {
	if q := r.st.openRequest(typeUnknown); q != nil {
		by = r.answerFor(q)
	}
	demote := by != nil && by.Response == optDemote
	if e := r.levelError(); e != nil && !(demote && by.revision > 0) {
		return templates.Cut(strings.TrimSpace(e.Error), longestError), []engine.Document{r.Snap.In("inputs/level-error.json")}, nil
	}
	if demote {
		return r.commandName() + ": nobody knows how it ended", nil, by
	}
	t := r.attempts()
	if t.last() == nil || !t.usedUp(r) {
		return "", nil, nil
	}
	return r.commandName() + ": " + t.last().why(), []engine.Document{t.last().outcomeDoc}, nil
}

// commandName is what the command of the level in hand is for.
func (r *reading) commandName() string {
	if r.st.Level.Current == 30 {
		return "evaluation"
	}
	return "analysis"
}

// fails is edges 8 and 9: the level cannot be done, a lower one may be.
func (r *reading) fails() (p engine.Plan, ok bool) {
	why, because, by := r.failure()
	if why == "" {
		return p, false
	}
	from := r.st.Level.Current
	if from == 10 {
		m := r.move(levelFailed, Failed, "level 10 failed: "+why, because...)
		return m.fail(why), true
	}
	m := r.move(demoted, Running, fmt.Sprintf("level %d failed: %s", from, why), because...)
	if by != nil {
		m.take(by)
	}
	m.endAll(gate.Superseded, "the level was demoted")
	m.st.Demotions = append(m.st.Demotions, Demotion{From: from, To: from - 10, Error: why, At: m.now})
	m.st.Level = &Level{Current: from - 10}
	m.st.SuggestionsUntil = ""
	if from-10 == 10 {
		m.st.Decision.EscalationNeeded = true
	}
	return m.plan(), true
}

// retries is edge 7: a person has the command begun once more.
func (r *reading) retries() (p engine.Plan, ok bool) {
	q := r.st.openRequest(typeUnknown)
	if q == nil {
		return p, false
	}
	a := r.answerFor(q)
	if a == nil || a.Response != optRetry {
		return p, false
	}
	m := r.move(retried, Running, "one more attempt").take(a)
	m.st.Level.ExtraAttempts++
	return m.plan(), true
}

// retrieves is edge 6: the data of the level are there.
func (r *reading) retrieves() (p engine.Plan, ok bool) {
	if r.st.Level.Current < 20 || r.st.Level.Retrieved != "" {
		return p, false
	}
	v, d := r.data(), r.Snap.In("retrieved.jsonl")
	if !v.ok {
		return p, false
	}
	m := r.move(retrieved, Running, fmt.Sprintf("%d records", len(v.list)), d)
	m.st.Level.Retrieved = text(d.Sum)
	m.st.SuggestionsUntil = m.after(r.cfg.InputsWait)
	m.endAll(gate.Superseded, "retrieved.jsonl has come")
	return m.plan(), true
}

// reports is edge 10: the level's report is written.
func (r *reading) reports() (p engine.Plan, ok bool) {
	if r.found == nil {
		return p, false
	}
	s := r.suggestions()
	if !s.ok {
		return p, false
	}
	from := inputs{Suggestions: s.Suggestions}
	causes := []engine.Document{}
	if r.st.Level.Current >= 20 {
		if r.st.Level.Retrieved == "" {
			return p, false
		}
		v := r.data()
		if !v.ok {
			return p, false
		}
		from.Records = v.list
		if !s.there && !r.due(r.st.SuggestionsUntil) {
			return p, false
		}
		causes = append(causes, r.Snap.In("retrieved.jsonl"))
	}
	if s.there {
		causes = append(causes, r.Snap.In("suggestions.json"))
	}
	rel := layout.OptimizerReportName(r.st.Level.Current)
	if d := r.Snap.In(rel); !d.Absent() && !r.ours(d) {
		if d.Unsettled() {
			r.Held = true
			return p, false
		}
		r.Notes.Beside(d.Path, notOurs(d))
		return p, false
	}
	m := r.move(reported, Reporting, fmt.Sprintf("level %d", r.st.Level.Current), causes...)
	m.endAll(gate.Superseded, "the report is written")
	m.st.Suggestions = m.st.suggestionsOffered(s.Suggestions)
	m.st.AuditID = text(rowID(auditPrefix, r.Snap.Key.ID, m.st.Revision, purposeAudit, m.now))
	m.st.Report = &Report{Path: r.Path(rel), At: m.now, Inputs: map[string]engine.Digest{"context.json": r.Snap.In("context.json").Sum}}
	for _, d := range causes {
		m.st.Report.Inputs[r.Snap.Rel(d.Path)] = d.Sum
	}
	body := reportMD(m.st, *r.found, from, m.st.Revision)
	m.st.Report.SHA256 = engine.Sum(body).Hex()
	p = m.plan()
	return p, true
}

// notOurs is why the report is not written over what lies in its place.
func notOurs(d engine.Document) string {
	if d.Err != nil {
		return fmt.Sprintf("this file cannot be read (%v), and the report of the cycle belongs here: make it readable or move it away", d.Err)
	}
	return "this file is not placet's: the report of the cycle belongs here; move it away, and placet writes its own"
}

// ours reports whether a report ends with placet's line.
func (r *reading) ours(d engine.Document) bool {
	if !d.Present() {
		return false
	}
	lines := strings.Split(strings.TrimRight(string(d.Body), "\n"), "\n")
	return strings.HasPrefix(lines[len(lines)-1], "<!-- placet "+r.runID()+" r")
}

// reportBody makes the report again from what it was made from; ok is false where
// that has changed since.
func (r *reading) reportBody() (body []byte, ok bool) {
	for rel, sum := range r.st.Report.Inputs {
		if d := r.Snap.In(rel); d.Sum != sum {
			return nil, false
		}
	}
	if r.found == nil {
		return nil, false
	}
	from := inputs{}
	if _, used := r.st.Report.Inputs["suggestions.json"]; used {
		from.Suggestions = r.suggestions().Suggestions
	}
	if _, used := r.st.Report.Inputs["retrieved.jsonl"]; used {
		from.Records = r.data().list
	}
	body = reportMD(r.asReported(), *r.found, from, r.reportRevision())
	return body, engine.Sum(body).Hex() == r.st.Report.SHA256
}

// asReported is the state as far as the report shows it: what came later is left
// out.
func (r *reading) asReported() State {
	st := r.st
	st.Answer, st.Goal = nil, nil
	return st
}

// reportRevision is the revision of the state that the report belongs to, which
// its last line names.
func (r *reading) reportRevision() int {
	switch r.st.Status {
	case Reporting:
		return r.st.Revision
	case Awaiting:
		return r.st.Revision - 1
	}
	if q := r.hitl(); q != nil {
		return q.Revision - 1
	}
	return r.st.Revision - 1
}

// reportStands reports whether the report is the one that was asked about; why
// not is said in the request's note.
func (r *reading) reportStands() (problem string, ok bool) {
	name := layout.OptimizerReportName(r.st.Level.Current)
	d := r.Snap.Doc(r.st.Report.Path)
	switch {
	case d.Unsettled():
		r.Held = true
		return "", false
	case reader.Unread(d):
		return fmt.Sprintf("the report cannot be read (%v): make %s readable; answers are held until then", d.Err, name), false
	case d.Absent():
		return "the report is gone and what it was made from has changed: restore " + name + "; answers are held until then", false
	case d.Sum.Hex() != r.st.Report.SHA256:
		return "the report is not the one that was asked about: restore " + name + ", or delete it and placet writes it again; answers are held until then", false
	}
	return "", true
}
