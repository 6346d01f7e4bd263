package exec

import (
	"errors"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/store"
)

// carryOut does what an action asks for, from the permission to the outcome.
func (r *Runner) carryOut(t *attempt) {
	from := r.o.Now()
	if t.action.Outcome == "" {
		e, own := r.execute(t, from)
		r.o.Log.Info("a command ended", told(t.action.ID, e)...)
		r.finish(t, from, e, own)
		if own != nil {
			own.Close()
		}
		return
	}
	defer r.drop(t)
	e, _ := r.execute(t, from)
	if e.word == "" {
		r.o.Log.Info("left a command running", "action", t.action.ID)
		return
	}
	r.o.Log.Info("a command ended", told(t.action.ID, e)...)
	r.insist(t.action, from, e)
}

// told is what the log says of a command's end.
func told(id string, e ending) []any {
	said := []any{"action", id, "outcome", e.word}
	if e.reason != "" {
		said = append(said, "reason", e.reason)
	}
	return said
}

// execute runs the command and says how it ended. own is the command's folder where
// the action names an output, as it was before the command began; the caller closes
// it.
func (r *Runner) execute(t *attempt, from time.Time) (e ending, own *os.Root) {
	if r.o.State == nil {
		return notStarted(errors.New("no command can be recorded: there is no state folder")), nil
	}
	rec, err := newRecord(t.action, from)
	if err != nil {
		return notStarted(err), nil
	}
	s, err := r.prepare(r.o.State, t.action, &rec)
	defer s.close()
	if err == nil && t.action.Output != "" {
		own, err = r.o.State.OpenRoot(folder(t.action.ID))
	}
	if err == nil && r.o.Permit != nil { // last of all: little can change in between
		err = r.o.Permit(t.action, rec.Cwd)
	}
	if err != nil {
		return notStarted(err), own
	}
	e = r.started(r.o.State, t, s, rec)
	return t.explained(e), own
}

// explained says of a command that was stopped because nobody agrees to it any more
// that it was.
func (t *attempt) explained(e ending) ending {
	if e.word == stopped && t.revoked.Load() {
		e.reason = revokedReason
	}
	return e
}

const revokedReason = "agreement to the command was taken back"

// started starts what was prepared and follows it to its end.
func (r *Runner) started(root *os.Root, t *attempt, s spec, rec record) ending {
	terms := terms{quit: t.quit, due: rec.left(rec.Started), grace: r.o.Grace, began: func(pid int) {
		rec.of(pid)
		if err := rec.save(root); err != nil {
			r.o.Log.Warn("cannot note which process a command is: it cannot be known again",
				"action", rec.ID, "error", err)
		}
		r.o.Log.Info("started a command", "action", rec.ID, "pid", pid)
	}}
	if !rec.Agent {
		e := run(s, terms)
		e.cwd = rec.Cwd
		return e
	}
	terms.leave = r.leaving
	e := runApart(s, terms)
	e.cwd = rec.Cwd
	if e.word != "" {
		rec.hear(root, &e)
	}
	return e
}

// prepare makes the command's folder with its record and its input and, for an
// agent, the files for its output.
func (r *Runner) prepare(root *os.Root, a engine.Action, rec *record) (spec, error) {
	c := a.Command
	s := spec{argv: c.Argv, session: rec.Agent, env: environ(r.o.Environ, r.o.Allow, slices.Concat(c.Env, r.paths(c), r.output(a))), hearing: hearingOf(a)}
	home, err := r.open()
	if err != nil {
		return s, err
	}
	if rec.Cwd, err = place(home, c); err != nil {
		return s, err
	}
	s.dir = r.abs(rec.Cwd)
	own := folder(a.ID)
	if err := root.RemoveAll(own); err != nil {
		return s, err
	}
	if err := root.MkdirAll(own, 0o700); err != nil {
		return s, err
	}
	if err := rec.save(root); err != nil {
		return s, err
	}
	if s.stdin, err = input(root, path.Join(own, stdinName), c.Stdin); err != nil || !rec.Agent {
		return s, err
	}
	return s, s.openOutputs(root, own)
}

// openOutputs makes the files that an agent's outputs go to. They are appended
// to, so that a program which opens one of them anew loses nothing.
func (s *spec) openOutputs(root *os.Root, dir string) error {
	for i, name := range s.hearing.names() {
		f, err := root.OpenFile(path.Join(dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		if i == 0 {
			s.stdout = f
		}
		s.stderr = f
	}
	return nil
}

// paths are the variables that hold a file's absolute path.
func (r *Runner) paths(c engine.Command) []string {
	var list []string
	for _, v := range c.Paths {
		if name, p, ok := strings.Cut(v, "="); ok {
			list = append(list, name+"="+r.abs(p))
		}
	}
	return list
}

// output is the variable that holds the path of the file that a command may write.
func (r *Runner) output(a engine.Action) []string {
	if a.Output == "" {
		return nil
	}
	return []string{a.Output + "=" + path.Join(r.o.State.Name(), folder(a.ID), producedName)}
}

// close gives back what prepare opened.
func (s spec) close() {
	for _, f := range []*os.File{s.stdin, s.stdout, s.stderr} {
		if f != nil {
			f.Close()
		}
	}
}

// input puts what a command reads into a file: a pipe would break when placet
// ends. Without input it is nil, and the command reads the null device.
func input(root *os.Root, name string, body []byte) (*os.File, error) {
	if len(body) == 0 {
		return nil, nil
	}
	if err := root.WriteFile(name, body, 0o600); err != nil {
		return nil, err
	}
	return root.Open(name)
}

// The pauses between two tries to record an outcome.
const (
	firstPause = 250 * time.Millisecond
	lastPause  = 30 * time.Second
)

// insist records an outcome, again and again if it must, until placet stops:
// then the next one finds the command's folder and records what it can tell.
func (r *Runner) insist(a engine.Action, from time.Time, e ending) {
	to := r.o.Now()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := r.writeAt(a, from, to, e)
		if err == nil {
			return
		}
		r.o.Log.Error("cannot record how a command ended: it is tried again", "action", a.ID, "error", err, "in", pause)
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-r.leaving:
			timer.Stop()
			return
		}
	}
}

// write records an outcome that was seen just now.
func (r *Runner) write(a engine.Action, from time.Time, e ending) error {
	return r.writeAt(a, from, r.o.Now(), e)
}

// stands reports whether an outcome is there. Something may also have moved on
// the way to it, such as its folder: then it must be written once more.
func (r *Runner) stands(outcome string) bool {
	_, err := os.Lstat(r.abs(outcome))
	return err == nil
}

// writeAt records an outcome and clears the command's folder away. An outcome
// that is there already stands: an attempt has one.
func (r *Runner) writeAt(a engine.Action, from, to time.Time, e ending) error {
	if e.cwd == "" {
		e.cwd = r.place(a.Command)
	}
	body, err := outcome(a, from, to, e)
	if err != nil {
		return err
	}
	if err := r.issue(a, body); err != nil {
		return err
	}
	err = r.store.Write(engine.Document{Path: a.Outcome, Kind: a.Kind, Body: body, Sum: engine.Sum(body)})
	if errors.Is(err, store.ErrMoved) && r.stands(a.Outcome) {
		r.o.Log.Warn("an outcome stands already: it is kept", "action", a.ID, "path", a.Outcome)
		err = nil
	}
	if err == nil {
		r.clear(a.ID)
	}
	return err
}

// clear removes a command's folder.
func (r *Runner) clear(id string) {
	if r.o.State == nil {
		return
	}
	if err := r.o.State.RemoveAll(folder(id)); err != nil {
		r.o.Log.Warn("cannot clear a command's folder", "folder", folder(id), "error", err)
	}
}
