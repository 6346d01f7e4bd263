package pal

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Words of a result.
const (
	resultReady   = "ready"
	resultPartial = "partial"
	resultFailed  = "failed"
)

// Result is result-<try>.json.
type Result struct {
	Try          int      `json:"try"`
	SessionID    string   `json:"session_id"`
	Status       string   `json:"status"`
	Summary      string   `json:"summary"`
	ChangedFiles []string `json:"changed_files"`
	TokensUsed   int      `json:"tokens_used"`
}

// Feedback is feedback-<try>.json. Upstream's programs write the numbers flat.
type Feedback struct {
	Try          int          `json:"try"`
	SessionID    string       `json:"session_id"`
	Success      bool         `json:"success"`
	FailedTests  []FailedTest `json:"failed_tests"`
	Suggestions  []string     `json:"suggestions"`
	Metrics      *Metrics     `json:"metrics"`
	ResultDigest string       `json:"result_digest"`
	TotalTests   *int         `json:"total_tests"`
	PassedTests  *int         `json:"passed_tests"`
	Coverage     *float64     `json:"coverage"`
}

// FailedTest is a test that failed.
type FailedTest struct {
	Name         string `json:"name"`
	Expected     string `json:"expected,omitzero"`
	Actual       string `json:"actual,omitzero"`
	StackTrace   string `json:"stack_trace,omitzero"`
	SuggestedFix string `json:"suggested_fix,omitzero"`
	File         string `json:"file,omitzero"`
	Line         int    `json:"line,omitzero"`
}

// Metrics are the numbers of a feedback, for people alone.
type Metrics struct {
	Total    *int     `json:"total,omitzero"`
	Passed   *int     `json:"passed,omitzero"`
	Coverage *float64 `json:"coverage,omitzero"`
}

// ReadFeedback reads a feedback of either dialect. The error says why it cannot be used.
func ReadFeedback(name string, body []byte) (fb Feedback, err error) {
	if err = schemas.Decode("pal/feedback", name, body, &fb); err != nil {
		return fb, err
	}
	if fb.Metrics == nil {
		fb.Metrics = &Metrics{fb.TotalTests, fb.PassedTests, fb.Coverage}
	}
	m := fb.Metrics
	switch {
	case fb.Success && len(fb.FailedTests) > 0:
		return fb, templates.Errorf("pal.feedback.failed_tests", "file", name, "n", len(fb.FailedTests))
	case m.Total != nil && m.Passed != nil && *m.Passed > *m.Total:
		return fb, templates.Errorf("pal.feedback.passed", "file", name, "passed", *m.Passed, "total", *m.Total)
	case fb.Success && m.Total != nil && m.Passed != nil && *m.Passed < *m.Total:
		return fb, templates.Errorf("pal.feedback.success", "file", name, "passed", *m.Passed, "total", *m.Total)
	}
	return fb, nil
}

// Failed is how many tests failed.
func (fb Feedback) Failed() int {
	if m := fb.Metrics; m.Total != nil && m.Passed != nil {
		return *m.Total - *m.Passed
	}
	return len(fb.FailedTests)
}

// tryInHand is what was handed in for the try of a port that is awaited.
type tryInHand struct {
	result   *resultIn
	feedback *feedbackIn
	// pending is true while what is awaited may still be being written.
	pending bool
}

// resultIn and feedbackIn are hand-ins with their documents.
type resultIn struct {
	*Result
	doc engine.Document
}

type feedbackIn struct {
	*Feedback
	doc engine.Document
}

// awaitedFile is the path of what a port waits for, relative to the run's folder; "" for
// nothing.
func (p *port) awaitedFile() string {
	switch p.loop.role() {
	case roleImpl:
		return layout.PalResultFile(p.id, p.LastTry)
	case roleTest:
		return layout.PalFeedbackFile(p.id, p.LastTry)
	}
	return ""
}

// inHand reads what is awaited, once per step. A port that does not run waits for nothing.
func (p *port) inHand() *tryInHand {
	if p.try != nil {
		return p.try
	}
	p.try = &tryInHand{}
	if p.Status != Running {
		return p.try
	}
	d := p.r.run.Snap.In(p.awaitedFile())
	switch p.loop.role() {
	case roleImpl:
		res, got := run.Load[Result](&p.r.run.Input, d, "pal/result")
		p.try.pending = got == run.Pending
		if res != nil && p.isUsable(d, res.Try, res.SessionID, roleImpl) && p.isInWorkspace(d, res.ChangedFiles) {
			p.try.result = &resultIn{res, d}
		}
		if res := p.try.result; res != nil && res.Status == resultReady && p.isMessagePending(roleImpl, "result") {
			p.try = &tryInHand{pending: true}
		}
	case roleTest:
		var fb *Feedback
		got := p.r.run.Judge(d, func() (err error) {
			fb, err = engine.Parse(d, func(name string, body []byte) (Feedback, error) { return ReadFeedback(path.Base(name), body) })
			return err
		})
		p.try.pending = got == run.Pending
		if got == run.Good && p.isUsable(d, fb.Try, fb.SessionID, roleTest) && p.isOfResult(d, fb) {
			p.try.feedback = &feedbackIn{fb, d}
		}
		if fb := p.try.feedback; fb != nil && !fb.Success && p.isMessagePending(roleTest, "feedback") {
			p.try = &tryInHand{pending: true}
		}
	}
	return p.try
}

// isMessagePending reports whether it cannot be told what stands in the place of the
// message that the awaited hand-in calls for: a commit that failed may have left it.
func (p *port) isMessagePending(role, typ string) bool {
	return p.r.run.Undecidable(p.r.run.Snap.In(layout.PalMessageFile(p.id, messageName(p.LastTry, role, typ))))
}

// isUsable reports whether what a hand-in says of itself fits where it stands.
func (p *port) isUsable(d engine.Document, try int, session, role string) bool {
	return fits(p.r, d, p.misfit(path.Base(d.Path), try, session, role))
}

// fits notes what is wrong with a document, and reports whether nothing is.
func fits(r *view, d engine.Document, err error) bool {
	if err != nil {
		r.run.Bad(d, templates.In(r.run.Lang, err))
	}
	return err == nil
}

// misfit says what a hand-in says of itself that does not fit where it stands, nil for
// nothing.
func (p *port) misfit(name string, try int, session, role string) error {
	own := p.r.run.State.session(memberPath(p.id, role))
	switch {
	case try != 0 && try != p.LastTry:
		return templates.Errorf("pal.handin.try", "file", name, "is", try, "n", p.LastTry)
	case session != "" && session != own:
		return templates.Errorf("pal.handin.session", "file", name, "is", inQuotes(session), "session", strconv.Quote(own))
	}
	return nil
}

func (p *port) isInWorkspace(d engine.Document, files []string) bool {
	for i, f := range files {
		if !layout.Safe(f) {
			p.r.run.Bad(d, p.r.say("handin.path", "file", path.Base(d.Path), "i", i, "path", strconv.Quote(f)))
			return false
		}
	}
	return true
}

// isOfResult reports whether a feedback is about the result that was taken in.
func (p *port) isOfResult(d engine.Document, fb *Feedback) bool {
	return fits(p.r, d, p.misfitResult(path.Base(d.Path), fb))
}

// misfitResult says that a feedback is about another result than the one that was taken
// in, nil where it is not.
func (p *port) misfitResult(name string, fb *Feedback) error {
	t := p.loop.last()
	if fb.ResultDigest == "" || t != nil && fb.ResultDigest == string(t.ResultDigest) {
		return nil
	}
	return templates.Errorf("pal.handin.result", "file", name)
}

func (p *port) result() *resultIn     { return p.inHand().result }
func (p *port) feedback() *feedbackIn { return p.inHand().feedback }

// isBeingWritten reports whether what is awaited may still be being written.
func (p *port) isBeingWritten() bool { return p.inHand().pending }

// try is the entry of the history that a result opens.
func (res *resultIn) try(n int, now text) Try {
	return Try{Try: n, ResultDigest: text(res.doc.Sum), ResultAt: now, Tokens: res.TokensUsed}
}

// fill adds to the entry of a try what its feedback says.
func (fb *feedbackIn) fill(t *Try, now text) {
	t.Success, t.FeedbackDigest, t.At = fb.Success, text(fb.doc.Sum), now
	t.Total, t.Passed, t.Coverage = fb.Metrics.Total, fb.Metrics.Passed, fb.Metrics.Coverage
}

// changedFiles are those of the last result of the newest loop, none where its file is
// not what was taken in any more.
func (p *port) changedFiles() []string {
	t := p.loop.last()
	if t == nil || t.ResultDigest == "" {
		return nil
	}
	d := p.r.run.Snap.In(layout.PalResultFile(p.id, t.Try))
	if text(d.Sum) != t.ResultDigest {
		return nil
	}
	res, err := engine.Parse(d, func(name string, body []byte) (res Result, err error) {
		err = schemas.Decode("pal/result", path.Base(name), body, &res)
		return res, err
	})
	if err != nil {
		return nil
	}
	return res.ChangedFiles
}

// failedTests are the names of the tests that failed in the awaited feedback.
func (p *port) failedTests() []string {
	names := []string{}
	if fb := p.feedback(); fb != nil {
		for _, t := range fb.FailedTests[:min(len(fb.FailedTests), 100)] {
			names = append(names, t.Name)
		}
	}
	return names
}

// notesOnHandIns says of hand-ins beside the awaited one that they are not counted.
func notesOnHandIns(r *view) {
	for _, d := range r.run.Snap.Under("sessions") {
		switch d.Kind {
		case layout.PalMisnamed:
			noteMisnamed(r, d)
		case layout.PalResult, layout.PalFeedback:
			if id, role, try, ok := layout.PalTry(r.run.Snap.Rel(d.Path)); ok && r.ports[id] != nil {
				noteHandIn(r.ports[id], d, role, try)
			}
		}
	}
}

// noteMisnamed says which name is expected.
func noteMisnamed(r *view, d engine.Document) {
	dir := path.Dir(r.run.Snap.Rel(d.Path))
	p, role := r.ports[path.Base(path.Dir(dir))], path.Base(dir)
	if p == nil {
		return
	}
	expected := map[string]string{roleImpl: "result-<try>.json", roleTest: "feedback-<try>.json"}[role]
	if strings.HasPrefix(path.Base(d.Path), "escalation") {
		expected = "escalation-<n>.json"
	}
	r.run.Bad(d, r.say("note.misnamed", "name", expected, "n", max(p.LastTry, 1)))
}

// noteHandIn says of a hand-in why it is not counted.
func noteHandIn(p *port, d engine.Document, role string, try int) {
	taken, was := p.takenDigest(role, try)
	switch {
	case taken && text(d.Sum) != was && d.Present():
		p.r.run.Bad(d, p.r.say("note.changed"))
	case taken || d.Unsettled():
	case isFinal(p.Status):
		p.r.run.Bad(d, p.r.say("note.ended", "port", p.id, "status", p.Status))
	case try < p.LastTry || try == p.LastTry && p.loop != nil && p.loop.Status != Running:
		p.r.run.Bad(d, p.r.say("note.over", "n", try, "port", p.id))
	}
}

// takenDigest is that of a hand-in that was taken in.
func (p *port) takenDigest(role string, try int) (taken bool, sum text) {
	for round := p.Round; round > 0; round-- {
		l := p.r.run.State.Loops[loopID(p.id, round)]
		if l == nil {
			continue
		}
		i := slices.IndexFunc(l.History, func(t Try) bool { return t.Try == try })
		if i < 0 {
			continue
		}
		if sum = l.History[i].ResultDigest; role == roleTest {
			sum = l.History[i].FeedbackDigest
		}
		return sum != "", sum
	}
	return false, ""
}

// untouched are the hand-ins whose turn has not come.
func (p *port) untouched() (files []string) {
	for _, d := range p.r.run.Snap.Under(layout.PalPortDir(p.id)) {
		rel := p.r.run.Snap.Rel(d.Path)
		_, role, try, ok := layout.PalTry(rel)
		if !ok || isFinal(p.Status) || rel == p.awaitedFile() && p.Status == Running {
			continue
		}
		if taken, _ := p.takenDigest(role, try); !taken && try >= p.LastTry {
			files = append(files, rel)
		}
	}
	return files
}
