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

// longestWork is how long a worker's command may run if its port has no deadline.
const longestWork = 24 * time.Hour

// of returns the argument vector of a role's command, or nil.
func (w Workers) of(role string) []string {
	if role == roleTest {
		return w.Test
	}
	return w.Impl
}

func (p *port) hasCommands() bool { return len(p.Workers.Impl)+len(p.Workers.Test) > 0 }

// CommandDigest returns the digest under which trust in a worker's command is recorded.
func CommandDigest(argv []string) engine.Digest { return engine.CommandDigest("pal worker", argv...) }

// untrusted returns the roles of a port whose commands nobody has agreed to.
func (p *port) untrusted() (roles []string) {
	for _, role := range []string{roleImpl, roleTest} {
		if argv := p.Workers.of(role); len(argv) > 0 && !p.r.run.Snap.Facts.Trusts(CommandDigest(argv), "") {
			roles = append(roles, role)
		}
	}
	return roles
}

// waitsForTrust reports whether a port does not go on only because nobody has agreed to its commands.
func (p *port) waitsForTrust() bool {
	if p.r.run.State.Status != Running || len(p.untrusted()) == 0 {
		return false
	}
	return p.Status == Ready || p.Status == Running && p.loop.role() != "" && p.r.run.Snap.In(p.awaitedFile()).Absent()
}

// Attempt is attempt-<try>-<start>.json: the record of a command that began.
type Attempt struct {
	Role          string        `json:"role"`
	Try           int           `json:"try"`
	Start         int           `json:"start"`
	Argv          []string      `json:"argv"`
	CommandDigest engine.Digest `json:"command_digest"`
	StartedAt     text          `json:"started_at"`
}

// Outcome is outcome-<try>-<start>.json: the record of how a command ended.
type Outcome struct {
	run.CommandEnd
	Stdout run.CommandOutput `json:"stdout"`
	Stderr run.CommandOutput `json:"stderr"`
}

// shownOutput is how much of a command's output a person sees, in bytes.
const shownOutput = 4 << 10

// tail returns the end of a command's output.
func (o *Outcome) tail() string {
	out := strings.TrimSpace(o.Stdout.Head + o.Stdout.Tail + "\n" + o.Stderr.Head + o.Stderr.Tail)
	if len(out) > shownOutput {
		out = out[len(out)-shownOutput:]
	}
	return templates.Clean(out)
}

// outcome returns how a role's command for the current try ended.
func (p *port) outcome(role string) run.HandIn[Outcome] {
	return run.ReadHandIn[Outcome](&p.r.run.Input, p.r.run.Snap.In(layout.PalOutcomeFile(p.id, role, p.LastTry, p.Starts)), "pal/outcome", nil)
}

// commands begins the command of the worker that a port waits for, and resumes a recorded one
// without an outcome. A command begins only once its worker's instructions can be written.
func commands(p *port, w *run.Outputs, isTold bool) {
	snap := p.r.run.Snap
	for _, role := range []string{roleImpl, roleTest} {
		record, argv := layout.PalAttemptFile(p.id, role, p.LastTry, p.Starts), p.Workers.of(role)
		hasEnded := !snap.In(layout.PalOutcomeFile(p.id, role, p.LastTry, p.Starts)).Absent()
		switch {
		case len(argv) == 0:
		case !snap.In(record).Absent():
			if !hasEnded {
				w.Resume(actionOf(p, role, argv))
			}
		case isTold && mayBegin(p, role):
			body := run.Encoded(Attempt{
				Role: role, Try: p.LastTry, Start: p.Starts, Argv: argv, CommandDigest: CommandDigest(argv), StartedAt: run.Seconds(snap.Now),
			})
			if hasEnded {
				w.Put(record, body) // somebody removed the record
			} else {
				w.Begin(actionOf(p, role, argv), record, body)
			}
		}
	}
}

// mayBegin reports whether a role's command for the current try, which has not begun yet, may
// begin.
func mayBegin(p *port, role string) bool {
	return role == p.loop.role() && p.r.run.Snap.In(p.awaitedFile()).Absent() && p.r.run.State.Status == Running &&
		!p.r.conf().Still && len(p.untrusted()) == 0 && !p.isAtWork(role)
}

// actionOf returns the command of a role for the current try.
func actionOf(p *port, role string, argv []string) engine.Action {
	r := p.r
	dir := layout.PalMember(p.id, role)
	file := layout.PalResultFile(p.id, p.LastTry)
	if role == roleTest {
		file = layout.PalFeedbackFile(p.id, p.LastTry)
	}
	timeout := longestWork
	if p.Deadline != "" {
		timeout = max(p.Deadline.Time().Sub(r.run.Snap.Now), time.Second)
	}
	return engine.Action{
		ID: p.actionID(role, p.LastTry, p.Starts), Kind: layout.PalOutcome, Outcome: r.run.Path(layout.PalOutcomeFile(p.id, role, p.LastTry, p.Starts)),
		Fields: []engine.Field{{Name: "role", Value: role}, {Name: "try", Value: p.LastTry}, {Name: "start", Value: p.Starts}},
		Command: engine.Command{
			Argv: argv, Dir: ".", Agent: true, Timeout: timeout,
			Env: []string{
				"PLACET_RUN=" + r.run.Snap.Key.String(), "PLACET_PORT=" + p.id, "PLACET_SESSION=" + r.run.State.session(memberPath(p.id, role)),
				"PLACET_ROLE=" + role, fmt.Sprintf("PLACET_TRY=%d", p.LastTry),
			},
			Paths: []string{
				"PLACET_WORKSPACE=.", "PLACET_INBOX=" + r.run.Path(path.Join(dir, "inbox")), "PLACET_OUT=" + r.run.Path(file), "PLACET_PROGRESS=" + r.run.Path(p.progressFile(role)),
			},
		},
	}
}

// actionID returns the id of a role's command for a try and a start.
func (p *port) actionID(role string, try, start int) string {
	st := &p.r.run.State
	return run.ActionID(p.r.run, st.ID, st.CreatedAt, p.id, role, try, start)
}

// isAtWork reports whether an earlier command of a worker is still running although placet asked it
// to end. Two commands must not work on the same thing.
func (p *port) isAtWork(role string) bool {
	for _, of := range []string{roleImpl, roleTest} {
		dir := layout.PalMember(p.id, of)
		for _, d := range p.r.run.Snap.Under(dir) {
			var try, start int
			if d.Kind != layout.PalAttempt || p.r.run.Snap.Rel(path.Dir(d.Path)) != dir {
				continue
			}
			if _, err := fmt.Sscanf(path.Base(d.Path), "attempt-%d-%d.json", &try, &start); err != nil || of != role && start == p.Starts {
				continue
			}
			if p.r.run.Snap.Facts.Alive[p.actionID(of, try, start)] && p.r.run.Snap.In(layout.PalOutcomeFile(p.id, of, try, start)).Absent() {
				return true
			}
		}
	}
	return false
}

// progressFile returns the path of a worker's progress.json.
func (p *port) progressFile(role string) string {
	return path.Join(layout.PalMember(p.id, role), "progress.json")
}

// ProgressFile is progress.json.
type ProgressFile struct {
	Progress    float64 `json:"progress"`
	CurrentTask string  `json:"current_task"`
	TokensUsed  int     `json:"tokens_used"`
}

// readProgress returns a worker's progress, nil if the file is absent or unusable.
func (r *view) readProgress(rel string) *ProgressFile {
	d := r.run.Snap.Doc(engine.VolatileNeed + r.run.Path(rel))
	if d.Absent() {
		return nil
	}
	f, err := engine.Parse(d, decodeProgress)
	switch {
	case d.Err != nil:
		r.run.Notes.Add(r.run.Note(r.run.Path(rel)), r.say("note.progress", "problem", path.Base(rel)+": "+templates.In(r.run.Lang, d.Err)))
		return nil
	case err != nil:
		r.run.Notes.Add(r.run.Note(r.run.Path(rel)), r.say("note.progress", "problem", err))
		return nil
	}
	return f
}

// progressFiles returns the progress files of the running ports' sessions, and of ports that may
// run again.
func progressFiles(r *view) []string {
	files := []string{layout.PalSessionFile("build", "progress.json")}
	for _, id := range r.order {
		switch p := r.ports[id]; {
		case p.Status == Running:
			files = append(files, layout.PalPortDir(p.id)+"/progress.json", p.progressFile(roleImpl), p.progressFile(roleTest))
		case p.Status == Blocked && p.Starts > 0:
			files = append(files, p.progressFile(roleImpl), p.progressFile(roleTest))
		}
	}
	for _, a := range r.agents {
		if p := r.ports[strings.Split(a.path, "/")[1]]; p.Status == Running {
			files = append(files, layout.PalSessionFile(a.path, "progress.json"))
		}
	}
	return files
}

// progressOf decodes progress.json for display.
func progressOf(name string, body []byte) (engine.Progress, error) {
	f, err := decodeProgress(name, body)
	return engine.Progress{Value: f.Progress, Task: f.CurrentTask, Used: f.TokensUsed}, err
}

func decodeProgress(name string, body []byte) (f ProgressFile, err error) {
	err = schemas.Decode("pal/progress", path.Base(name), body, &f)
	return f, err
}

// tokens returns how many tokens a worker has used in all rounds.
func (p *port) tokens(role string) int {
	used := 0
	if f := p.r.readProgress(p.progressFile(role)); f != nil {
		used = f.TokensUsed
	}
	if t := p.loop.last(); t != nil && role == roleImpl {
		used = max(used, t.Tokens)
	}
	return used
}

// tokenThreshold returns the number of tokens at which placet tells a person.
func (p *port) tokenThreshold(role string) int {
	return p.TokenBase.of(role) + (p.Limits.TokenBudget*p.r.conf().tokenPercent()+99)/100
}
