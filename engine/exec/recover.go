package exec

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"
	"time"

	"placet/engine"
	"placet/templates"
)

// pollProcess is the interval between two looks at a process that is no child.
const pollProcess = 200 * time.Millisecond

// Alive returns the IDs of the actions whose command runs at this moment, according to
// the records in the state folder. It is for programs that only read, with or without
// a daemon: it changes nothing, and leaves out records that it cannot read. state may
// be nil. On a system that does not say when a process started, it finds none.
func Alive(state *os.Root) map[string]bool {
	alive := map[string]bool{}
	for _, rec := range records(state) {
		if rec.runs() == nil {
			alive[rec.ID] = true
		}
	}
	return alive
}

// Stopped returns the actions that an orderly stop ended and that begin again with
// the next placet. It is for programs that only read; see [Alive].
func Stopped(state *os.Root) map[string]engine.Ended {
	ended := map[string]engine.Ended{}
	for _, rec := range records(state) {
		if rec.Stopped && rec.Outcome == "" {
			ended[rec.ID] = rec.stoppedAt(rec.Started)
		}
	}
	return ended
}

// stoppedAt returns the end of a command that an orderly stop ended.
func (r record) stoppedAt(at time.Time) engine.Ended {
	return engine.Ended{Began: r.Started, At: at, Result: stopped}
}

// records returns the records that can be read.
func records(state *os.Root) (all []record) {
	if state == nil {
		return nil
	}
	names, _ := listActions(state) // the names that were read before an error count
	for _, name := range names {
		if rec, err := readRecord(state, path.Join(actionsDir, name)); err == nil {
			all = append(all, rec)
		}
	}
	return all
}

// listActions returns the names of the commands' folders, sorted.
func listActions(root *os.Root) ([]string, error) {
	f, err := root.OpenFile(actionsDir, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// runs returns nil while the process runs, errEnded after it has ended, and
// another error if nobody can tell.
func (r record) runs() error {
	if r.Pid <= 1 || r.Birth == "" || r.Boot == "" || r.Boot != boot() {
		return errors.New("the process is not known")
	}
	now, err := birth(r.Pid)
	if err == nil && now != r.Birth {
		err = errEnded
	}
	return err
}

// hasOrphans implements [group]. If another process has the ID, no member of the
// group is left.
func (r record) hasOrphans() bool {
	if r.Pid <= 1 || r.Session == nil || r.Boot == "" || r.Boot != boot() {
		return false
	}
	if _, err := birth(r.Pid); !errors.Is(err, errEnded) {
		return false
	}
	sid, runs := groupSession(r.Pid)
	return runs && sid == *r.Session
}

// signal sends sig to the process's group if it is still the same group.
func (r record) signal(sig syscall.Signal) {
	if r.runs() == nil || r.hasOrphans() {
		_ = syscall.Kill(-r.Pid, sig) // the group may just have ended
	}
}

// Recover takes over the attempts that an earlier placet left in the state folder:
// agents that still run count as alive again, and every other attempt gets its
// outcome. Among those without Outcome, a command that an orderly stop ended has the
// result "stopped" and may begin again; what is left of any other is killed without a
// result. The owner of the workspace's lock must call Recover before the first Begin.
func (r *Runner) Recover() error {
	root := r.o.State
	if root == nil {
		return nil // without a state folder nothing was recorded
	}
	names, err := listActions(root)
	if err != nil {
		return templates.Errorf("exec.recover", "error", err)
	}
	for _, name := range names {
		dir := path.Join(actionsDir, name)
		rec, err := readRecord(root, dir)
		if err != nil {
			r.o.Log.Warn("found the folder of a command that nothing is known of", "folder", dir, "error", err)
			_ = root.RemoveAll(dir) // only placet writes here
			continue
		}
		r.recoverAttempt(rec)
	}
	return nil
}

// recoverAttempt takes over one attempt.
func (r *Runner) recoverAttempt(rec record) {
	switch {
	case rec.Outcome == "" && rec.Stopped:
		if err := r.recoverStopped(rec); err != nil {
			r.o.Log.Warn("cannot take over a command that was stopped: nobody knows how it ended", "action", rec.ID, "error", err)
		}
	case rec.Outcome == "": // its machine finds it neither alive nor ended, and tries again
		rec.signal(syscall.SIGKILL)
		r.o.Log.Info("ended what an earlier placet left of a command", "action", rec.ID)
		r.removeFolder(rec.ID)
	case !r.isOutcome(rec.Outcome, rec.action().Kind):
		r.o.Log.Warn("cannot use the record of a command: its outcome is no document of a run", "action", rec.ID, "outcome", rec.Outcome)
		r.removeFolder(rec.ID)
	default:
		if t, stopping := r.register(rec.action()); t != nil && !stopping {
			r.resume(t, rec)
		}
	}
}

// recoverStopped takes over a command that an orderly stop of an earlier placet ended.
// It removes the record for good before the command can begin again, so that after a
// crash the command does not begin a second time unasked.
func (r *Runner) recoverStopped(rec record) error {
	if err := r.o.State.RemoveAll(folder(rec.ID)); err != nil {
		return err
	}
	dir, err := r.o.State.Open(actionsDir)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.setEnded(rec.ID, rec.stoppedAt(r.o.Now()))
	return nil
}

// resume follows an agent that still runs, and records the outcome of everything else.
func (r *Runner) resume(t *attempt, rec record) {
	if rec.Agent && rec.Pid == 0 {
		r.findAgent(&rec)
	}
	err := rec.runs()
	e := exitResult{word: lost, cwd: rec.Cwd}
	switch {
	case !rec.Agent: // a check must not outlive placet, nor anything it started
		rec.signal(syscall.SIGKILL)
	case err == nil:
		r.o.Log.Info("recognized a command", "action", rec.ID, "pid", rec.Pid)
		go r.adopt(t, rec)
		return
	case errors.Is(err, errEnded):
		e.word = finished
	}
	rec.readOutputs(r.o.State, &e)
	r.conclude(t, rec.Started, e)
}

// findAgent completes the record of an agent whose placet was killed after it started the
// agent and before it noted the process: the agent leads a session, and its output goes to
// the command's folder.
func (r *Runner) findAgent(rec *record) {
	for _, name := range retentionOf(rec.action()).fileNames() {
		info, err := r.o.State.Lstat(path.Join(folder(rec.ID), name))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		pid := sessionLeader(info)
		if pid == 0 {
			continue
		}
		rec.identify(pid)
		if err := rec.save(r.o.State); err != nil {
			r.o.Log.Warn("cannot note which process a command is: it cannot be recognized later", "action", rec.ID, "error", err)
		}
		return
	}
}

// adopt follows an agent that is no child of this process.
func (r *Runner) adopt(t *attempt, rec record) {
	ended, done := make(chan struct{}), make(chan struct{})
	defer close(done)
	go rec.awaitExit(ended, done)
	terms := terms{quit: t.quit, leave: r.leaving, timeout: rec.remaining(r.o.Now()), grace: r.o.Grace}
	e := exitResult{word: terms.follow(rec, ended), cwd: rec.Cwd}
	if e.word != "" {
		rec.readOutputs(r.o.State, &e)
	}
	r.conclude(t, rec.Started, e)
}

// awaitExit closes ended when the process has ended. It returns then, or when done is
// closed.
func (r record) awaitExit(ended chan<- struct{}, done <-chan struct{}) {
	ticker := time.NewTicker(pollProcess)
	defer ticker.Stop()
	for !errors.Is(r.runs(), errEnded) {
		select {
		case <-ticker.C:
		case <-done:
			return
		}
	}
	close(ended)
}

// readOutputs reads into e the outputs in the command's folder.
func (r record) readOutputs(root *os.Root, e *exitResult) {
	keep := retentionOf(r.action())
	keep.report(e, keep.readFiles(root, folder(r.ID)))
}
