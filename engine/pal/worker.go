package pal

import (
	"fmt"
	"path"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Worker is one worker of a pair in an orchestration, for tools that write in its name. Their
// checks are the machine's own.
type Worker struct {
	p    *port
	role string
}

// SplitSession splits the id of a worker's session, "<orchestration>/build/<port>/<role>".
func SplitSession(id string) (orchestration, port, role string, ok bool) {
	parts := strings.Split(id, "/")
	if len(parts) != 4 || parts[1] != "build" || !layout.IsPalID(parts[0]) || !layout.IsPalID(parts[2]) || parts[3] != roleImpl && parts[3] != roleTest {
		return "", "", "", false
	}
	return parts[0], parts[2], parts[3], true
}

// Worker returns the worker with a session id, in a snapshot of its run. The error says why no such
// worker exists.
func (m Machine) Worker(s engine.Snapshot, session string) (*Worker, error) {
	_, id, role, _ := SplitSession(session)
	_, r := m.View(s)
	switch p := r.ports[id]; {
	case !r.run.Begun || !r.run.Usable():
		return nil, templates.Errorf("pal.worker.state", "run", s.Key)
	case p == nil:
		return nil, templates.Errorf("pal.worker.port", "run", s.Key, "port", run.QuoteID(id), "hint", nearest(id, r.order))
	case p.FirstStartedAt == "":
		return nil, templates.Errorf("pal.worker.unstarted", "port", id, "run", s.Key, "status", p.Status)
	default:
		return &Worker{p, role}, nil
	}
}

// Speak sets the language of what people are told; it is the run's otherwise.
func (w *Worker) Speak(lang string) { w.p.r.run.Lang = lang }

// Session returns the id of the worker's session.
func (w *Worker) Session() string { return w.p.r.run.State.session(memberPath(w.p.id, w.role)) }

// NextNumber returns the first number above those of the worker's messages of a type.
func (w *Worker) NextNumber(typ string) int {
	n := 0
	for _, d := range w.p.r.run.Snap.Under("channels/" + w.p.id + "/messages") {
		seq, role, of, ok := layout.PalMessageName(strings.TrimSuffix(path.Base(d.Path), ".json"))
		if ok && role == w.role && of == typ {
			n = max(n, seq)
		}
	}
	return n + 1
}

// mostMessages is the highest number that the name of a message can hold.
const mostMessages = 9999

// Message makes the worker's query or ack with a number. It returns the message's id, the path of
// its file in the run's folder, and the content. The error says why it would not be delivered.
func (w *Worker) Message(typ string, n int, payload schemas.Raw, now time.Time) (id, file string, body []byte, err error) {
	name := fmt.Sprintf("%04d-%s-%s", n, w.role, typ)
	m := &Message{
		ID: w.p.id + "/" + name, ChannelID: w.p.id, CreatedAt: run.Seconds(now), FromSession: w.Session(),
		ToSession: w.p.r.run.State.session(memberPath(w.p.id, otherRole(w.role))), Type: typ, Payload: payload,
	}
	if typ != "query" && typ != "ack" {
		return "", "", nil, templates.Errorf("pal.worker.type", "type", run.QuoteID(typ))
	}
	if n > mostMessages {
		return "", "", nil, templates.Errorf("pal.worker.numbers", "n", mostMessages, "type", typ)
	}
	if err = checkMessage(w.p, m, name, w.role, typ); err != nil {
		return "", "", nil, err
	}
	body, err = schemas.Encode(m)
	if err == nil && len(body) > layout.LimitJSON {
		err = templates.Errorf("pal.worker.size", "n", len(body), "most", layout.LimitJSON)
	}
	return m.ID, layout.PalMessageFile(w.p.id, name), body, err
}

// TestReport is a checked report of a test worker, with its consequences for the try.
type TestReport struct {
	Feedback
	// File is the path of the document in the run's folder, and Body its content.
	File string
	Body []byte
	// Loop is its loop, and Iteration the number of its try in the loop.
	Loop      string
	Iteration int
	// Passed and Failed count the tests.
	Passed, Failed int
	// Escalates reports whether a person decides next because this was the last failure.
	Escalates bool
	// Message says how the tests went. Next says what comes next if that is not another try.
	Message string
	Next    []string
}

// TestReport reads a test worker's report on the awaited try, in either dialect. The error says why
// it does not count.
func (w *Worker) TestReport(body []byte) (t TestReport, err error) {
	p := w.p
	if w.role != roleTest {
		return t, templates.Errorf("pal.worker.impl", "session", w.Session(), "other", p.r.run.State.session(memberPath(p.id, roleTest)))
	}
	if p.loop.role() != roleTest {
		return t, awaitsNoFeedback(p)
	}
	t.File = p.awaitedFile()
	name := path.Base(t.File)
	if t.Feedback, err = readFeedback(name, body); err != nil {
		return t, templates.Errorf("pal.worker.payload", "problem", err)
	}
	if err = p.misfitFeedback(&t.Feedback); err != nil {
		return t, err
	}
	t.Body, err = schemas.Encode(t.normalised(p.LastTry, w.Session()))
	t.Loop, t.Iteration = loopID(p.id, p.Round), p.loop.CurrentTry+1
	t.Failed, t.Escalates = t.Feedback.Failed(), !t.Success && t.Iteration >= p.loop.MaxRetries
	if t.Metrics.Passed != nil {
		t.Passed = *t.Metrics.Passed
	}
	t.word(p)
	return t, err
}

// awaitsNoFeedback returns an error that says what a port waits for instead of feedback.
func awaitsNoFeedback(p *port) error {
	if p.loop.role() == roleImpl {
		return templates.Errorf("pal.worker.awaits", "port", p.id, "file", path.Base(p.awaitedFile()))
	}
	return templates.Errorf("pal.worker.status", "port", p.id, "status", p.Status)
}

// word describes how the tests went.
func (t *TestReport) word(p *port) {
	if t.Success {
		t.Message = p.r.say("hook.passed")
		return
	}
	lines := []string{p.r.say("hook.failed")}
	for _, one := range t.FailedTests {
		line := "- " + run.OneLine(one.Name)
		if fix := run.OneLine(one.SuggestedFix); fix != "" {
			line += ": " + fix
		}
		lines = append(lines, line)
	}
	t.Message = strings.Join(lines, "\n")
	if t.Escalates {
		t.Next = append(t.Next, p.r.say("hook.escalates", "port", p.id, "n", fmt.Sprint(t.Iteration), "max", fmt.Sprint(p.loop.MaxRetries)))
	}
}

// normalised returns the feedback in placet's dialect, as in feedback-<try>.json.
func (fb Feedback) normalised(try int, session string) schemas.Object {
	o := schemas.Object{member("try", try), member("session_id", session), member("success", fb.Success)}
	if len(fb.FailedTests) > 0 {
		o = append(o, member("failed_tests", fb.FailedTests))
	}
	if len(fb.Suggestions) > 0 {
		o = append(o, member("suggestions", fb.Suggestions))
	}
	if m := fb.Metrics; m.Total != nil || m.Passed != nil || m.Coverage != nil {
		o = append(o, member("metrics", m))
	}
	if fb.ResultDigest != "" {
		o = append(o, member("result_digest", fb.ResultDigest))
	}
	return o
}
