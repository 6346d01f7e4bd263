package faber

import (
	"fmt"
	"path"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/run"
	"placet/internal/lazyregexp"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// mostAgain is how often a person may have a command run again.
const mostAgain = 20

// tryState is what became of an attempt to run a command.
type tryState int

// These are the states of an attempt.
const (
	tryDue tryState = iota // it has not begun
	tryRuns
	tryDone   // the command ended with 0
	tryFailed // it certainly failed
	tryLost   // nobody knows what became of it
)

// tries are the attempts of a command that runs once, as read from its folders: that of its name,
// and after each permission of a person a further one. The state is that of the last attempt.
type tries struct {
	name  string // of the first folder, below actions/
	n     int    // the number of the last attempt
	state tryState
	end   commandEnd
}

// commandEnd is the outcome document of a command.
type commandEnd struct {
	run.CommandEnd
	FinishedAt run.Text          `json:"finished_at"`
	Stdout     run.CommandOutput `json:"stdout"`
	Stderr     run.CommandOutput `json:"stderr"`
}

// Again is again-<k>.json: a person has the command run once more after its k-th attempt.
type Again struct {
	By string `json:"by"`
	At string `json:"at"`
}

// tries reads the attempts of a command.
func (r *view) tries(name string) tries {
	t := tries{name: name, n: 1}
	for t.read(r); t.n <= mostAgain && t.isOver() && isAgain(r, name, t.n); t.read(r) {
		t.n++
	}
	return t
}

// isAgain reports whether a person permitted another attempt after the k-th.
func isAgain(r *view, name string, k int) bool {
	var again Again
	return r.Decode(r.Snap.In(fmt.Sprintf("actions/%s/again-%d.json", name, k)), "faber/again", &again)
}

// isOver reports whether only a person can have the command run again. A resume command that ended
// well may have brought no agent to work.
func (t tries) isOver() bool {
	return t.state == tryFailed || t.state == tryLost || t.state == tryDone && t.resumes()
}

// resumes reports whether the command makes an agent continue.
func (t tries) resumes() bool { return strings.HasPrefix(t.name, resumeAction) }

// folder returns the folder of the last attempt, below actions/.
func (t tries) folder() string {
	if t.n == 1 {
		return t.name
	}
	return fmt.Sprintf("%s.%d", t.name, t.n)
}

// file returns the path of a document of the last attempt in the run's folder.
func (t tries) file(name string) string { return "actions/" + t.folder() + "/" + name }

// read determines the state of the last attempt.
func (t *tries) read(r *view) {
	attempt, outcome := r.Snap.In(t.file("attempt.json")), r.Snap.In(t.file("outcome.json"))
	t.end = commandEnd{}
	switch end := run.Peek[commandEnd](outcome, ""); {
	case attempt.Absent() && outcome.Absent():
		t.state = tryDue
	case outcome.Unsettled() || outcome.Absent() && r.Snap.Facts.Alive[r.run.Actions()+t.folder()]:
		t.state = tryRuns
	case end == nil || end.IsLost():
		t.state = tryLost
	default:
		t.end, t.state = *end, tryFailed
		unseen := end.ExitCode == nil && end.Reason == "" && t.resumes() // it ended while no placet ran
		if end.Outcome == engine.CommandFinished && (unseen || end.ExitCode != nil && *end.ExitCode == 0) {
			t.state = tryDone
		}
	}
}

// began returns when the last attempt began, the zero time if it did not.
func (t tries) began(r *view) time.Time { return r.Snap.In(t.file("attempt.json")).Changed }

// why returns why a command failed, on one line: the last line of its error output, its exit code
// if it printed none, or what kept it from running.
func (t tries) why() string {
	lines := strings.Split(strings.TrimSpace(t.end.Stderr.Text()), "\n")
	said := oneLine(lines[len(lines)-1], 200)
	switch {
	case said != "" && t.end.ExitCode != nil:
		return fmt.Sprintf("exit %d: %s", *t.end.ExitCode, said)
	case said != "":
		return t.end.Outcome + ": " + said
	case t.end.ExitCode != nil:
		return fmt.Sprintf("exit %d", *t.end.ExitCode)
	}
	return strings.TrimSuffix(t.end.Outcome+": "+oneLine(t.end.Reason, 200), ": ")
}

// begin plans the attempt that is due, with the document that records it.
func (t tries) begin(r *view, p *engine.Plan, members schemas.Object, c engine.Command) {
	attempt := r.Snap.In(t.file("attempt.json"))
	fields := make([]engine.Field, 0, len(members))
	for _, m := range members {
		fields = append(fields, engine.Field(m))
	}
	started := append(members, schemas.Object{
		{Name: "argv", Value: c.Argv}, {Name: "started_at", Value: run.Millis(r.Snap.Now)}, {Name: "deadline", Value: run.Seconds(r.Snap.Now.Add(c.Timeout))},
	}...)
	p.Writes = append(p.Writes, engine.Document{Path: attempt.Path, Kind: layout.FaberAttempt, Body: run.Must(schemas.Encode(started))})
	p.Actions = append(p.Actions, engine.Action{
		ID: actionID(r, path.Dir(t.file("x"))), Outcome: r.Path(t.file("outcome.json")), Kind: layout.FaberOutcome, Fields: fields, Command: c,
	})
}

// AgainFile returns the document, by its path in the run's folder, with which a person has a command
// run again. action is the name of its first folder; "" means the only command that waits for that,
// the resume command before others.
func (m Machine) AgainFile(s engine.Snapshot, action string) (file string, err error) {
	_, r := m.View(s)
	if action == "" {
		if action = overdueAction(r); action == "" {
			return "", templates.Errorf("faber.again.none", "run", r.short())
		}
	}
	t := r.tries(action)
	switch {
	case t.state == tryDue && t.n == 1:
		return "", templates.Errorf("faber.again.unknown", "run", r.short(), "action", quote(action))
	case t.state == tryDue || t.state == tryRuns:
		return "", templates.Errorf("faber.again.runs", "action", quote(action))
	case t.state == tryDone && !t.resumes():
		return "", templates.Errorf("faber.again.done", "action", quote(action))
	case t.n > mostAgain:
		return "", templates.Errorf("faber.again.most", "action", quote(action), "most", mostAgain)
	}
	return fmt.Sprintf("actions/%s/again-%d.json", action, t.n), nil
}

// overdueAction returns the command that a person may have run again, "" if there is none or several
// are alike.
func overdueAction(r *view) string {
	found := ""
	for _, d := range r.Snap.Under("actions") {
		name := path.Base(path.Dir(d.Path))
		if d.Kind != layout.FaberAttempt || isLater(name) {
			continue
		}
		if t := r.tries(name); !t.isOver() || t.state == tryDone && !r.resumes() {
			continue
		}
		switch resumes := strings.HasPrefix(name, resumeAction); {
		case name == fmt.Sprint(resumeAction, r.state.rev):
			return name
		case resumes: // of an earlier answer
		case found != "":
			return ""
		default:
			found = name
		}
	}
	return found
}

// later matches the folders of attempts after the first.
var later = lazyregexp.New(`\.([2-9]|1[0-9]|2[01])$`)

func isLater(name string) bool { return later.MatchString(name) }
