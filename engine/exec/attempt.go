package exec

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"placet/engine"
	"placet/engine/store"
	"placet/layout"
)

// attempt is an action under way: it is registered, its command runs to its end, its
// outcome is written or published, and the attempt is removed.
type attempt struct {
	action engine.Action
	quit   chan struct{} // closed to ask the command to end
	once   sync.Once
	// revoked says that the command has to end because nobody agrees to it any
	// more.
	revoked atomic.Bool
	over    chan struct{} // closed when its outcome is recorded or given up
}

const revokedReason = "agreement to the command was taken back"

func (t *attempt) end() { t.once.Do(func() { close(t.quit) }) }

// register adds an action to those alive. It returns nil if the action has begun
// before.
func (r *Runner) register(a engine.Action) (t *attempt, stopping bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begun[a.ID] {
		return nil, false
	}
	r.begun[a.ID] = true
	r.forget(a.ID) // an earlier process stopped it, and it begins again
	t = &attempt{action: a, quit: make(chan struct{}), over: make(chan struct{})}
	r.alive[a.ID] = t
	return t, r.stopped
}

// release removes an attempt from those alive.
func (r *Runner) release(t *attempt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.remove(t)
}

func (r *Runner) remove(t *attempt) {
	delete(r.alive, t.action.ID)
	close(t.over)
}

// execute runs the command of an attempt and concludes the attempt.
func (r *Runner) execute(t *attempt) {
	from := r.o.Now()
	s, rec, err := r.prepare(t.action, from)
	defer s.close()
	if err == nil && r.o.Permit != nil { // checked last, so that little can change before the start
		err = r.o.Permit(t.action, rec.Cwd)
	}
	if err != nil {
		r.conclude(t, from, notStarted(err))
		return
	}
	terms := terms{quit: t.quit, timeout: rec.remaining(rec.Started), grace: r.o.Grace, started: func(pid int) {
		rec.identify(pid)
		if err := rec.save(r.o.State); err != nil {
			r.o.Log.Warn("cannot note which process a command is: it cannot be recognized later", "action", rec.ID, "error", err)
		}
		r.o.Log.Info("started a command", "action", rec.ID, "pid", pid)
	}}
	if rec.Agent {
		terms.leave = r.leaving
	}
	e := run(s.spec, retentionOf(t.action), terms)
	e.cwd = rec.Cwd
	if rec.Agent && e.word != "" {
		rec.readOutputs(r.o.State, &e)
	}
	if s.own != nil {
		e.readProduced(s.own)
	}
	r.conclude(t, from, e)
}

// prepared is a command that is ready to start.
type prepared struct {
	spec
	files []*os.File // the files that its spec names
	own   *os.Root   // its folder, opened before it starts; nil if it writes no file
}

func (p *prepared) close() {
	for _, f := range p.files {
		f.Close()
	}
	if p.own != nil {
		p.own.Close()
	}
}

// prepare makes the command's folder with its record and its input and, for an agent,
// the files for its output.
func (r *Runner) prepare(a engine.Action, from time.Time) (p prepared, rec record, err error) {
	root, c := r.o.State, a.Command
	if root == nil {
		return p, rec, errors.New("no command can be recorded: there is no state folder")
	}
	if rec, err = newRecord(a, from); err != nil {
		return p, rec, err
	}
	home, err := r.openWorkspace()
	if err != nil {
		return p, rec, err
	}
	if rec.Cwd, err = workingDir(home, c); err != nil {
		return p, rec, err
	}
	p.spec = spec{argv: c.Argv, session: rec.Agent, dir: r.abs(rec.Cwd), env: r.environ(a)}
	dir := folder(a.ID)
	if err := errors.Join(root.RemoveAll(dir), root.MkdirAll(dir, 0o700)); err != nil {
		return p, rec, err
	}
	if err := rec.save(root); err != nil {
		return p, rec, err
	}
	return p, rec, p.openFiles(root, dir, a)
}

// openFiles opens the files that a command reads and writes. Its input is a file
// because a pipe would break when placet ends; without input the command reads the
// null device. An agent's outputs are opened for appending, so that a program that
// opens one of them again loses nothing.
func (p *prepared) openFiles(root *os.Root, dir string, a engine.Action) (err error) {
	if a.Output != "" {
		if p.own, err = root.OpenRoot(dir); err != nil {
			return err
		}
	}
	if len(a.Command.Stdin) > 0 {
		name := path.Join(dir, stdinName)
		if err := root.WriteFile(name, a.Command.Stdin, 0o600); err != nil {
			return err
		}
		if p.stdin, err = root.Open(name); err != nil {
			return err
		}
		p.files = append(p.files, p.stdin)
	}
	if !p.session {
		return nil
	}
	for i, name := range retentionOf(a).fileNames() {
		f, err := root.OpenFile(path.Join(dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		p.files = append(p.files, f)
		if p.stderr = f; i == 0 {
			p.stdout = f
		}
	}
	return nil
}

// environ returns the environment of an action's command.
func (r *Runner) environ(a engine.Action) []string {
	add := slices.Clone(a.Command.Env)
	for _, v := range a.Command.Paths {
		if name, p, ok := strings.Cut(v, "="); ok {
			add = append(add, name+"="+r.abs(p))
		}
	}
	if a.Output != "" {
		add = append(add, a.Output+"="+path.Join(r.o.State.Name(), folder(a.ID), producedName))
	}
	return environ(r.o.Environ, r.o.Allow, add)
}

// workingDir returns the folder in which a command runs, relative to the workspace:
// the folder that it prefers if that exists, otherwise the one that it names.
func workingDir(root *os.Root, c engine.Command) (string, error) {
	if c.Prefer != "" {
		if dir, err := checkDir(root, c.Prefer); err == nil {
			return dir, nil
		}
	}
	return checkDir(root, c.Dir)
}

// checkDir returns a folder of the workspace, after checking that no link on the way
// leads out of the workspace.
func checkDir(root *os.Root, dir string) (string, error) {
	if dir == "" || dir == "." {
		return ".", nil
	}
	if !layout.Safe(dir) {
		return "", fmt.Errorf("cannot run in %q: it is not a folder of the workspace", dir)
	}
	info, err := root.Stat(dir)
	if err != nil {
		return "", fmt.Errorf("cannot run in %q: %v", dir, err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("cannot run in %q: it is not a folder", dir)
	}
	return path.Clean(dir), nil
}

// openWorkspace returns the workspace's folder. It keeps the folder that it opened
// first: placet must not write in another folder that takes the same name later.
func (r *Runner) openWorkspace() (*os.Root, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.home != nil {
		return r.home, nil
	}
	root, err := os.OpenRoot(r.root)
	if err == nil {
		r.home = root
	}
	return root, err
}

// abs returns the absolute path of a folder of the workspace.
func (r *Runner) abs(dir string) string { return filepath.Join(r.root, filepath.FromSlash(dir)) }

// firstPause and lastPause bound the pauses between two tries to record an
// outcome.
const (
	firstPause = 250 * time.Millisecond
	lastPause  = 30 * time.Second
)

// conclude records how an attempt ended and releases it. If the outcome cannot be
// written at once, a goroutine tries again until placet stops; the next placet then
// finds the command's folder and records what it knows.
func (r *Runner) conclude(t *attempt, from time.Time, e exitResult) {
	if e.word == "" {
		r.o.Log.Info("left a command running", "action", t.action.ID)
		r.release(t)
		return
	}
	if e.word == stopped && t.revoked.Load() {
		e.reason = revokedReason
	}
	r.o.Log.Info("a command ended", e.logFields(t.action.ID)...)
	to := r.o.Now()
	if t.action.Outcome == "" {
		if e.word != stopped || t.revoked.Load() || r.markStopped(t.action.ID) != nil {
			r.removeFolder(t.action.ID)
		}
		r.publish(t, e.ended(t.action, from, to))
		return
	}
	r.record(t, func() error { return r.writeOutcome(t.action, from, to, e) })
}

// record writes the outcome of an attempt and releases it. If write fails, a goroutine
// tries again.
func (r *Runner) record(t *attempt, write func() error) {
	if err := write(); err != nil {
		go r.retry(t, err, write)
		return
	}
	r.release(t)
}

// retry calls write until it succeeds or placet stops.
func (r *Runner) retry(t *attempt, err error, write func() error) {
	defer r.release(t)
	for pause := firstPause; err != nil; pause = min(2*pause, lastPause) {
		r.o.Log.Error("cannot record how an action ended: it is tried again", "action", t.action.ID, "error", err, "in", pause)
		select {
		case <-time.After(pause):
		case <-r.leaving:
			return
		}
		err = write()
	}
}

// markStopped notes in a command's folder that an orderly stop ended the
// command.
func (r *Runner) markStopped(id string) error {
	if !isClosed(r.leaving) {
		return errors.New("placet does not stop")
	}
	rec, err := readRecord(r.o.State, folder(id))
	if err != nil {
		return err
	}
	rec.Stopped = true
	return rec.save(r.o.State)
}

// publish makes the end of an action without Outcome known.
func (r *Runner) publish(t *attempt, e engine.Ended) {
	r.mu.Lock()
	r.setEnded(t.action.ID, e)
	r.remove(t)
	r.mu.Unlock()
	r.o.OnEnd(t.action.ID)
}

// writeOutcome writes the outcome document of a command and removes its folder.
func (r *Runner) writeOutcome(a engine.Action, from, to time.Time, e exitResult) error {
	if e.cwd == "" {
		e.cwd = r.nextDir(a.Command)
	}
	body, err := e.encode(a, from, to)
	if err == nil {
		err = r.storeOutcome(a, body)
	}
	if err == nil {
		r.removeFolder(a.ID)
	}
	return err
}

// storeOutcome writes an outcome document. It keeps one that exists already, because
// an attempt has one outcome.
func (r *Runner) storeOutcome(a engine.Action, body []byte) error {
	if err := r.issue(a, body); err != nil {
		return err
	}
	err := r.store.Write(engine.Document{Path: a.Outcome, Kind: a.Kind, Body: body, Sum: engine.Sum(body)})
	if errors.Is(err, store.ErrConflict) && r.hasOutcome(a) {
		r.o.Log.Warn("an outcome stands already: it is kept", "action", a.ID, "path", a.Outcome)
		return nil
	}
	return err
}

// nextDir returns the folder in which a command would run now. The outcome names it if
// the command never ran, or if nobody knows where it ran.
func (r *Runner) nextDir(c engine.Command) string {
	if root, err := r.openWorkspace(); err == nil {
		if dir, err := workingDir(root, c); err == nil {
			return dir
		}
	}
	return path.Clean(c.Dir) // "." for ""
}

// hasOutcome reports whether an outcome exists. A conflict may also come from a
// change on the way to the outcome, such as its folder: then the outcome must be
// written once more.
func (r *Runner) hasOutcome(a engine.Action) bool {
	_, err := os.Lstat(r.abs(a.Outcome))
	return err == nil
}

// outcomes are the kinds of documents that record how an action ended.
var outcomes = []string{layout.FaberOutcome, layout.AFLValidation, layout.AFLWorkerRun, layout.AFLOracleRun, layout.AFLReviewRun, layout.NemawashiOutcome, layout.PalOutcome, layout.SlackOutcome}

// isOutcome reports whether a family's layout has an outcome of this kind at a path.
// Nothing else is written as an outcome, whatever a record says.
func (r *Runner) isOutcome(p, kind string) bool {
	return slices.ContainsFunc(r.o.Families, func(family layout.Family) bool {
		run, ok := family.At(p)
		if !ok {
			return false
		}
		f, known := family.File(run, strings.TrimPrefix(p, run.Dir+"/"))
		return known && f.Kind == kind && slices.Contains(outcomes, kind)
	})
}

// issue records the content of an outcome before it is written, nil if the content is
// not known yet. From then on any other content under that path is not an outcome,
// because this machine did not write it.
func (r *Runner) issue(a engine.Action, body []byte) error {
	if a.Outcome == "" || r.o.Record == nil {
		return nil
	}
	for _, family := range r.o.Families {
		if run, ok := family.At(a.Outcome); ok {
			return r.o.Record.Issue(run.Dir, []engine.Document{{Path: a.Outcome, Kind: a.Kind, Body: body}})
		}
	}
	return nil
}

// removeFolder removes a command's folder.
func (r *Runner) removeFolder(id string) {
	if r.o.State == nil {
		return
	}
	if err := r.o.State.RemoveAll(folder(id)); err != nil {
		r.o.Log.Warn("cannot clear a command's folder", "folder", folder(id), "error", err)
	}
}
