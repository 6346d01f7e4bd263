package afl

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/run"
	"placet/engine/testoutput"
	"placet/internal/enginetest"
	"placet/layout"
	"placet/schemas"
)

// world is an AFL session on a stage.
type world struct{ *enginetest.Stage }

const sessionDir = ".afl/sessions/abc12345"

// worldLanguage is the language of new worlds.
var worldLanguage = "en"

func newWorld(t testing.TB) *world {
	run, ok := layout.AFL{}.At(sessionDir + "/state.json")
	if !ok {
		t.Fatal("the layout does not know the session")
	}
	return &world{enginetest.NewStage(t, New(), layout.AFL{}, run, engine.Config{Language: worldLanguage, Family: DefaultConfig()})}
}

// cp is a checkpoint of a test's design.
type cp struct {
	id, expected string
	after        []string
	command      string
}

// design returns V1's file.
func design(head string, checkpoints ...cp) string {
	var b strings.Builder
	b.WriteString(head + "checkpoints:\n")
	for _, c := range checkpoints {
		command := c.command
		if command == "" {
			command = "run " + c.id
		}
		fmt.Fprintf(&b, "  - id: %s\n    name: %s\n    criteria: [it works]\n    dependencies: [%s]\n    validation: {command: %q", c.id, c.id, strings.Join(c.after, ", "), command)
		if c.expected != "" {
			fmt.Fprintf(&b, ", expected: %q", c.expected)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

const approvedHead = "approved_at: 2025-12-06T10:00:00Z\napproved_by: kim\n"

// approvedWorld returns a session whose checkpoints are approved by their stamp.
func approvedWorld(t testing.TB, checkpoints ...cp) *world {
	w := newWorld(t)
	w.Write("specs/checkpoints.yaml", design(approvedHead, checkpoints...))
	return w
}

func (w *world) config(change func(*Config)) {
	c := w.Facts.Config.Family.(Config)
	change(&c)
	w.Facts.Config.Family = c
}

func ptr[T any](v T) *T { return &v }

// trust agrees to every validation command of the design, and to the worker's command.
func (w *world) trust() {
	c := w.Facts.Config.Family.(Config)
	if d := c.WorkerDigest(); d != "" {
		w.Facts.Trusted[d] = true
	}
	for _, d := range w.state().Approved.Definitions {
		w.Facts.Trusted[commandDigest("validation", []string{"bash", "-c"}, string(d.Command))] = true
	}
}

func (w *world) state() State {
	w.T.Helper()
	st, err := DecodeState("state.json", []byte(w.Read("state.json")))
	if err != nil {
		w.T.Fatal(err)
	}
	return st
}

// request returns a request of the state, or an empty one.
func (w *world) request(id string) *run.Request {
	w.T.Helper()
	for _, q := range w.state().Requests {
		if q.ID == id {
			return q
		}
	}
	return &run.Request{}
}

func (w *world) cp(id string) *Checkpoint {
	w.T.Helper()
	c := w.state().Checkpoints[id]
	if c == nil {
		w.T.Fatalf("there is no checkpoint %s", id)
	}
	return c
}

// settle returns the edges taken, "event" for the session and "cp:event" for checkpoints.
func (w *world) settle() []string {
	w.T.Helper()
	var taken []string
	for _, t := range w.Settle() {
		name := t.Event
		if t.Subject != "" {
			name = t.Subject + ":" + name
		}
		taken = append(taken, name)
	}
	return taken
}

func (w *world) pass(d time.Duration) { w.Now = w.Now.Add(d) }

// status checks the statuses of the session and of some checkpoints, "id=status".
func (w *world) status(session engine.Status, checkpoints ...string) {
	w.T.Helper()
	st := w.state()
	if st.Status != session {
		w.T.Errorf("the session is %s, expected %s", st.Status, session)
	}
	for _, want := range checkpoints {
		id, status, _ := strings.Cut(want, "=")
		if c := st.Checkpoints[id]; c == nil || string(c.Status) != status {
			got := engine.Status("absent")
			if c != nil {
				got = c.Status
			}
			w.T.Errorf("%s is %s, expected %s", id, got, status)
		}
	}
}

// at returns the path of a file of a checkpoint's current attempt.
func (w *world) at(id, name string) string { return place(id, w.cp(id).Iteration, name) }

// workerSays writes worker.json.
func (w *world) workerSays(id string, fields map[string]any) {
	w.T.Helper()
	body, err := json.Marshal(fields)
	if err != nil {
		w.T.Fatal(err)
	}
	w.Write(w.at(id, "worker.json"), string(body))
}

func (w *world) done(id string) { w.workerSays(id, map[string]any{"status": "completed"}) }

// outcome is how a validation ended.
type outcome struct {
	exit           int
	stdout, stderr string
	how            string // finished if empty
	matched        *bool
	marker         *string
}

// validated writes the outcome of the current run as the acting half does.
func (w *world) validated(id string, o outcome) {
	w.T.Helper()
	rel, body, err := o.document(w.state(), id, w.Now)
	if err != nil {
		w.T.Fatal(err)
	}
	w.Write(rel, body)
	clear(w.Facts.Alive)
}

// document returns the outcome of a checkpoint's current run and its path, relative to the
// session's folder.
func (o outcome) document(st State, id string, at time.Time) (rel, body string, err error) {
	c := st.Checkpoints[id]
	if c == nil || c.Status != Validating || c.Run == nil || c.Run.Mode != modeCommand {
		return "", "", fmt.Errorf("%s has no command to end", id)
	}
	if o.how == "" {
		o.how = engine.CommandFinished
	}
	exit := any(o.exit)
	if o.how != engine.CommandFinished {
		exit = nil
	}
	out := func(s string) schemas.Object {
		return schemas.Object{{Name: "bytes", Value: len(s)}, {Name: "head", Value: s}, {Name: "tail", Value: ""}, {Name: "truncated", Value: false}}
	}
	matched, marker := o.matched, o.marker
	if matched == nil && o.how == engine.CommandFinished {
		for _, d := range st.Approved.Definitions {
			if d.ID == id {
				matched, marker = match(string(d.Expected), o.stdout, o.stderr)
			}
		}
	}
	doc, err := schemas.Encode(schemas.Object{
		{Name: "iteration", Value: c.Iteration}, {Name: "run", Value: c.Run.Number}, {Name: "command_digest", Value: string(c.Run.CommandDigest)},
		{Name: "shell", Value: []any{"bash", "-c"}}, {Name: "cwd", Value: "."}, {Name: "started_at", Value: run.Millis(at)},
		{Name: "finished_at", Value: run.Millis(at)}, {Name: "duration_ms", Value: 7}, {Name: "outcome", Value: o.how},
		{Name: "exit_code", Value: exit}, {Name: "timed_out", Value: o.how == engine.CommandTimedOut}, {Name: "stdout", Value: out(o.stdout)},
		{Name: "stderr", Value: out(o.stderr)}, {Name: "matched_expected", Value: matched}, {Name: "failing_marker", Value: marker},
	})
	return place(id, c.Iteration, numbered("validation", c.Run.Number)), string(doc), err
}

// open returns the id of the only open request of a type, or "".
func (w *world) open(typ string) string {
	w.T.Helper()
	found := ""
	for _, q := range w.state().Requests {
		id := q.ID
		if q.Type == typ && q.Status == run.Open {
			if found != "" {
				w.T.Fatalf("two open requests of type %s", typ)
			}
			found = id
		}
	}
	return found
}

// answer answers the open request of a type.
func (w *world) answer(typ, response string, more map[string]any) string {
	w.T.Helper()
	id := w.open(typ)
	if id == "" {
		w.T.Fatalf("no request of type %s is open", typ)
	}
	fields := map[string]any{"response": response}
	for k, v := range more {
		fields[k] = v
	}
	w.Respond(id, fields)
	return id
}

// notes returns the paths of the problem notes, relative to the session's folder.
func (w *world) notes() []string {
	var list []string
	for p := range w.Files {
		if strings.HasSuffix(p, "problem.md") {
			list = append(list, strings.TrimPrefix(p, sessionDir+"/"))
		}
	}
	slices.Sort(list)
	return list
}

// untilBegun settles a session whose design is approved.
func (w *world) untilBegun() {
	w.T.Helper()
	w.settle()
	w.status(Delegating)
}

// failOnce makes the current attempt fail with an output.
func (w *world) failOnce(id, stdout string) {
	w.T.Helper()
	w.done(id)
	w.settle()
	w.validated(id, outcome{exit: 1, stdout: stdout})
	w.settle()
}

// passOnce makes the current attempt pass.
func (w *world) passOnce(id string) {
	w.T.Helper()
	w.done(id)
	w.settle()
	expected := ""
	for _, d := range w.state().Approved.Definitions {
		if d.ID == id {
			expected = string(d.Expected)
		}
	}
	w.validated(id, outcome{stdout: expected + "\n"})
	w.settle()
}

// read returns a session as the rules see it.
func read(s engine.Snapshot) *session {
	_, r := family.View(s)
	return r
}

// place returns the path of a file of an attempt, relative to the session's folder.
func place(cp string, n int, name string) string { return layout.AFLIteration(cp, n, name) }

// result returns a result.json of an outside validator.
func result(n, exit int, output string, more string) string {
	return fmt.Sprintf(`{"iteration": %d, "exitCode": %d, "output": %q%s}`, n, exit, output, more)
}

// byResult makes an outside validator decide.
func byResult(w *world) { w.config(func(c *Config) { c.Validation = ptr(validateResult) }) }

// escalatedWorld returns a session whose first checkpoint is escalated after one attempt.
func escalatedWorld(t testing.TB, checkpoints ...cp) *world {
	w := approvedWorld(t, checkpoints...)
	w.config(func(c *Config) { c.MaxIterations, c.AutoRetryDelay, c.ApprovalQuiet = ptr(1), ptr("0s"), ptr("0s") })
	w.untilBegun()
	w.trust()
	w.failOnce(checkpoints[0].id, "FAILED a.py::b\n")
	w.status(Escalated, checkpoints[0].id+"=escalated")
	return w
}

const hookQuestion = `{"timestamp": "2025-12-06T18:00:00Z", "checkpoint": "a", "question": %q}`

// workerWorld returns a session whose worker is a trusted command.
func workerWorld(t *testing.T) *world {
	w := approvedWorld(t, cp{id: "a"})
	w.config(func(c *Config) { c.WorkerCommand, c.AutoRetryDelay = ptr("work"), ptr("0s") })
	w.Facts.Trusted[w.Facts.Config.Family.(Config).WorkerDigest()] = true
	w.untilBegun()
	w.trust()
	if len(w.Begun) != 1 || !w.Begun[0].Command.Agent || w.Begun[0].Tail == 0 {
		t.Fatalf("began %+v", w.Begun)
	}
	return w
}

// workerEnded writes the outcome of the worker's last start.
func (w *world) workerEnded(how string, exit any) {
	c := w.cp("a")
	w.Write(w.at("a", numbered("worker-run", c.Worker.Number)), fmt.Sprintf(
		`{"number": %d, "command_digest": %q, "started_at": "2025-12-06T18:15:00.120Z", "finished_at": "2025-12-06T18:16:00.120Z", "outcome": %q, "exit_code": %v, "tail": "bye\n"}`,
		c.Worker.Number, c.Worker.CommandDigest, how, exit))
	clear(w.Facts.Alive)
	w.settle()
}

// step carries out plans until a file exists.
func (w *world) step(rel string) {
	for !w.Has(rel) {
		w.Step()
	}
}

func match(expected string, outputs ...string) (*bool, *string) {
	return testoutput.Match(expected, outputs...)
}
