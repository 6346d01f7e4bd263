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

// Values of Result.Status.
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

// Feedback is feedback-<try>.json. Upstream's programs write the numbers as members of the object
// itself.
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

// FailedTest is a failed test.
type FailedTest struct {
	Name         string `json:"name"`
	Expected     string `json:"expected,omitzero"`
	Actual       string `json:"actual,omitzero"`
	StackTrace   string `json:"stack_trace,omitzero"`
	SuggestedFix string `json:"suggested_fix,omitzero"`
	File         string `json:"file,omitzero"`
	Line         int    `json:"line,omitzero"`
}

// Metrics are the numbers of a feedback. Only people use them.
type Metrics struct {
	Total    *int     `json:"total,omitzero"`
	Passed   *int     `json:"passed,omitzero"`
	Coverage *float64 `json:"coverage,omitzero"`
}

// readFeedback decodes a feedback of either dialect. The error says why it is unusable.
func readFeedback(p string, body []byte) (fb Feedback, err error) {
	name := path.Base(p)
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

// Failed returns how many tests failed.
func (fb Feedback) Failed() int {
	if m := fb.Metrics; m.Total != nil && m.Passed != nil {
		return *m.Total - *m.Passed
	}
	return len(fb.FailedTests)
}

// handIns holds the submitted documents for the current try of a port.
type handIns struct {
	result   run.HandIn[Result]
	feedback run.HandIn[Feedback]
}

// awaitedFile returns the path of the document that a port waits for, relative to the run's folder,
// or "".
func (p *port) awaitedFile() string {
	switch p.loop.role() {
	case roleImpl:
		return layout.PalResultFile(p.id, p.LastTry)
	case roleTest:
		return layout.PalFeedbackFile(p.id, p.LastTry)
	}
	return ""
}

// handIns reads the document that the port waits for, once a step. A port that does not run waits
// for none.
func (p *port) handIns() *handIns {
	if p.try != nil {
		return p.try
	}
	p.try = &handIns{}
	if p.Status != Running {
		return p.try
	}
	in, d := &p.r.run.Input, p.r.run.Snap.In(p.awaitedFile())
	switch p.loop.role() {
	case roleImpl:
		h := run.ReadHandIn(in, d, "pal/result", p.misfitResult)
		if h.Said != nil && h.Said.Status == resultReady && p.isMessagePending(roleImpl, "result") {
			h = run.HandIn[Result]{Pending: true}
		}
		p.try.result = h
	case roleTest:
		h := run.ParseHandIn(in, d, readFeedback, p.misfitFeedback)
		if h.Said != nil && !h.Said.Success && p.isMessagePending(roleTest, "feedback") {
			h = run.HandIn[Feedback]{Pending: true}
		}
		p.try.feedback = h
	}
	return p.try
}

// isMessagePending reports whether the message that belongs to the awaited document exists and is
// unreadable now. A failed commit may have left it.
func (p *port) isMessagePending(role, typ string) bool {
	return p.r.run.Undecidable(p.r.run.Snap.In(layout.PalMessageFile(p.id, messageName(p.LastTry, role, typ))))
}

// misfitResult returns what contradicts the place of a result, or nil.
func (p *port) misfitResult(res *Result) error {
	name := path.Base(p.awaitedFile())
	if err := p.misfit(name, res.Try, res.SessionID, roleImpl); err != nil {
		return err
	}
	for i, f := range res.ChangedFiles {
		if !layout.Safe(f) {
			return templates.Errorf("pal.handin.path", "file", name, "i", i, "path", strconv.Quote(f))
		}
	}
	return nil
}

// misfitFeedback returns what contradicts the place of a feedback, or nil. The feedback must be
// about the accepted result.
func (p *port) misfitFeedback(fb *Feedback) error {
	name := path.Base(p.awaitedFile())
	if err := p.misfit(name, fb.Try, fb.SessionID, roleTest); err != nil {
		return err
	}
	if t := p.loop.last(); fb.ResultDigest != "" && (t == nil || fb.ResultDigest != string(t.ResultDigest)) {
		return templates.Errorf("pal.handin.result", "file", name)
	}
	return nil
}

// misfit returns the member of a submitted document that contradicts its place, or nil.
func (p *port) misfit(name string, try int, session, role string) error {
	own := p.r.run.State.session(memberPath(p.id, role))
	switch {
	case try != 0 && try != p.LastTry:
		return templates.Errorf("pal.handin.try", "file", name, "is", try, "n", p.LastTry)
	case session != "" && session != own:
		return templates.Errorf("pal.handin.session", "file", name, "is", run.QuoteID(session), "session", strconv.Quote(own))
	}
	return nil
}

// resultThat returns the awaited result if it has a status and may cause a move.
func (p *port) resultThat(status string) (h run.HandIn[Result]) {
	if res := p.handIns().result; res.Said != nil && res.Said.Status == status && p.r.isMoving() && p.Status == Running {
		return res
	}
	return h
}

// feedbackThat returns the awaited feedback if the tests passed or failed as given and it may cause
// a move.
func (p *port) feedbackThat(passed bool) (h run.HandIn[Feedback]) {
	if fb := p.handIns().feedback; fb.Said != nil && fb.Said.Success == passed && p.r.isMoving() && p.Status == Running {
		return fb
	}
	return h
}

// isBeingWritten reports whether somebody may still be writing the awaited document.
func (p *port) isBeingWritten() bool {
	try := p.handIns()
	return try.result.Pending || try.feedback.Pending
}

// tryOf returns the entry of the history that a result begins.
func tryOf(res run.HandIn[Result], n int, now text) Try {
	return Try{Try: n, ResultDigest: res.Sum(), ResultAt: now, Tokens: res.Said.TokensUsed}
}

// fill adds the feedback of a try to its entry.
func (t *Try) fill(fb run.HandIn[Feedback], now text) {
	t.Success, t.FeedbackDigest, t.At = fb.Said.Success, fb.Sum(), now
	t.Total, t.Passed, t.Coverage = fb.Said.Metrics.Total, fb.Said.Metrics.Passed, fb.Said.Metrics.Coverage
}

// changedFiles returns the files that the last result of the newest loop names, none if that
// document has changed since.
func (p *port) changedFiles() []string {
	t := p.loop.last()
	if t == nil || t.ResultDigest == "" {
		return nil
	}
	d := p.r.run.Snap.In(layout.PalResultFile(p.id, t.Try))
	if text(d.Sum) != t.ResultDigest {
		return nil
	}
	if res := run.Peek[Result](d, "pal/result"); res != nil {
		return res.ChangedFiles
	}
	return nil
}

// failedTests returns the names of the failed tests in the awaited feedback.
func (p *port) failedTests() []string {
	names := []string{}
	if fb := p.handIns().feedback.Said; fb != nil {
		for _, t := range fb.FailedTests[:min(len(fb.FailedTests), 100)] {
			names = append(names, t.Name)
		}
	}
	return names
}

// notesOnHandIns writes notes beside submitted documents that do not count.
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

// noteMisnamed notes the expected name.
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

// noteHandIn notes why a submitted document does not count.
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

// takenDigest returns the digest of a document that was accepted; taken is false if none was.
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

// untouched returns the submitted documents that no loop waits for yet.
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
