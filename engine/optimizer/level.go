package optimizer

import (
	"bytes"
	"cmp"
	"path"
	"strings"

	"placet/engine"
	"placet/engine/run"
	"placet/schemas"
	"placet/templates"
)

// decisionInputs holds the inputs of the decision.
type decisionInputs struct {
	assets *Assets // nil if the file is absent
	kpi    *KPI
	usage  *KPI
	// ok is false while one of them is invalid or not yet readable.
	ok bool
}

// inputs reads what the decision depends on. A file that exists but is invalid gets no default.
func (r *cycle) inputs() decisionInputs {
	return run.Once(r.run, "inputs", func() decisionInputs { return readInputs(r) })
}

func readInputs(r *cycle) (in decisionInputs) {
	var assets, kpi run.Reading
	in.assets, assets = run.Load[Assets](&r.run.Input, r.run.Snap.In("inputs/assets.json"), "optimizer/assets")
	in.kpi, kpi = loadSound[KPI](r, "inputs/kpi.json", "optimizer/kpi")
	usage, ok := r.usage()
	if in.usage = usage; usage != nil {
		if problem := usage.problem(); problem != nil {
			r.run.Notes.Add(r.run.Path("usage.problem.md"), r.words("note.usage.problem", "file", usagePath(r), "problem", problem))
			ok = false
		}
	}
	in.ok = isUsable(assets) && isUsable(kpi) && ok
	return in
}

// loadSound loads a document and checks what its schema cannot express.
func loadSound[T interface{ problem() error }](r *cycle, rel, schema string) (*T, run.Reading) {
	d := r.run.Snap.In(rel)
	v, got := run.Load[T](&r.run.Input, d, schema)
	if v != nil {
		if problem := (*v).problem(); problem != nil {
			r.run.Bad(d, r.words("note.unusable", "file", path.Base(rel), "problem", problem))
			return nil, run.Bad
		}
	}
	return v, got
}

// isUsable reports whether a document is good, or absent for certain.
func isUsable(got run.Reading) bool { return got == run.Absent || got == run.Good }

// levelError returns inputs/level-error.json if it names the current level; pending is true while
// the file is not readable yet.
func levelError(r *cycle) (e *LevelError, pending bool) {
	type read struct {
		*LevelError
		run.Reading
	}
	v := run.Once(r.run, "level-error", func() (v read) {
		v.LevelError, v.Reading = run.Load[LevelError](&r.run.Input, r.run.Snap.In("inputs/level-error.json"), "optimizer/level-error")
		return v
	})
	if v.LevelError != nil && v.Level == r.run.State.Level.Current {
		e = v.LevelError
	}
	return e, v.Reading == run.Pending
}

// unsureLevel reports whether a level-error.json may still say that the current level cannot be
// carried out. An answer with a receipt does not wait for that.
func unsureLevel(r *cycle, a *run.Answer) bool {
	_, pending := levelError(r)
	return pending && !a.HasReceipt()
}

// data is the content of retrieved.jsonl: ok if it is usable, pending if somebody may still be
// writing it.
type data struct {
	list        []Record
	ok, pending bool
}

func (r *cycle) data() data { return run.Once(r.run, "retrieved", func() data { return readData(r) }) }

func readData(r *cycle) (v data) {
	d := r.run.Snap.In("retrieved.jsonl")
	got := r.run.Judge(d, func() (err error) {
		if v.list, err = parseRecords(d.Body); err != nil {
			torn := !bytes.HasSuffix(d.Body, []byte("\n")) // an incomplete write: the last line has no end
			return &schemas.Error{Path: "retrieved.jsonl", Problem: templates.NewMessage("say.text", "text", err), Torn: torn}
		}
		return nil
	})
	v.ok, v.pending = got == run.Good, got == run.Pending
	return v
}

// proposed is the content of suggestions.json: there is false if the file is absent, ok is false if
// it is invalid or may still be being written.
type proposed struct {
	Suggestions
	there, ok bool
}

func (r *cycle) suggestions() proposed {
	return run.Once(r.run, "suggestions", func() proposed {
		v, got := loadSound[Suggestions](r, "suggestions.json", "optimizer/suggestions")
		return proposed{Suggestions: *cmp.Or(v, &Suggestions{}), there: got != run.Absent, ok: isUsable(got)}
	})
}

// problem returns why suggestions that fit the schema are unusable, or nil.
func (s Suggestions) problem() error {
	first := map[string]int{}
	for i, g := range s.Suggestions {
		words := strings.TrimSpace(g.Text)
		if words == "" {
			return templates.Errorf("optimizer.problem.suggestion.blank", "at", i)
		}
		if j, doubled := first[words]; doubled {
			return templates.Errorf("optimizer.problem.suggestion.twice", "at", i, "first", j)
		}
		first[words] = i
	}
	if n := s.bytes(); n > mostOffered {
		return templates.Errorf("optimizer.problem.suggestions", "bytes", n, "most", mostOffered)
	}
	return nil
}

// failure returns why the current level failed, and the document that says so; "" if it has not
// failed.
func (r *cycle) failure() (why string, because []engine.Document) {
	e, pending := levelError(r)
	last := r.attempts().last()
	switch {
	case e != nil:
		return templates.Cut(strings.TrimSpace(e.Error), longestError), []engine.Document{r.run.Snap.In("inputs/level-error.json")}
	case pending || !r.attempts().haveFailed(r) || r.attempts().left(r) > 0:
		return "", nil
	}
	return commandName(r) + ": " + r.why(*last), []engine.Document{last.outcomeDoc}
}

// commandName returns the name of the setting that holds the command of the current level.
func commandName(r *cycle) string {
	if r.run.State.Level.Current == 30 {
		return "evaluation"
	}
	return "analysis"
}

// notOurs returns why placet does not overwrite the file in the report's place.
func (r *cycle) notOurs(d engine.Document) string {
	if d.Err != nil {
		return r.words("note.report.place", "error", d.Err)
	}
	return r.words("note.report.foreign")
}

// ours reports whether a report ends with placet's line.
func (r *cycle) ours(d engine.Document) bool {
	if !d.Present() {
		return false
	}
	lines := strings.Split(strings.TrimRight(string(d.Body), "\n"), "\n")
	return strings.HasPrefix(lines[len(lines)-1], "<!-- placet "+r.runID()+" r")
}

// reportBody makes the report again from its inputs; ok is false if they have changed since.
func reportBody(r *cycle) (body []byte, ok bool) {
	for rel, sum := range r.run.State.Report.Inputs {
		if d := r.run.Snap.In(rel); d.Sum != sum {
			return nil, false
		}
	}
	if r.found == nil {
		return nil, false
	}
	from := inputs{}
	if _, used := r.run.State.Report.Inputs["suggestions.json"]; used {
		from.Suggestions = r.suggestions().Suggestions
	}
	if _, used := r.run.State.Report.Inputs["retrieved.jsonl"]; used {
		from.Records = r.data().list
	}
	st := r.run.State
	st.Answer, st.Goal = nil, nil // both came after the report
	body = reportMD(st, *r.found, from, reportRevision(r))
	return body, engine.Sum(body).Hex() == r.run.State.Report.SHA256
}

// reportRevision returns the revision of the state that made the report; the report's last line
// names it.
func reportRevision(r *cycle) int {
	if r.run.State.Status == Reporting {
		return r.run.State.Revision
	}
	if q := r.hitl(); q != nil {
		return q.Revision - 1
	}
	return r.run.State.Revision - 1
}
