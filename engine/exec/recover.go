package exec

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"
	"time"
)

// lookAgain is how often a process that is not a child is looked at.
const lookAgain = 200 * time.Millisecond

// Recover takes over what an earlier placet left in the state folder: agents that
// still run count as alive again, and every other attempt gets its outcome. Of those
// without one, what an orderly stop ended has ended as "stopped" and may begin again;
// what is left of another is ended, and nobody is told. It must be called before the
// first Begin, by the owner of the workspace's lock.
func (r *Runner) Recover() error {
	root := r.o.State
	if root == nil {
		return nil // nothing could be recorded
	}
	names, err := folders(root)
	if err != nil {
		return fmt.Errorf("cannot look for commands of an earlier placet: %w", err)
	}
	for _, name := range names {
		dir := path.Join(actionsDir, name)
		rec, err := readRecord(root, dir)
		if err != nil {
			r.o.Log.Warn("found the folder of a command that nothing is known of", "folder", dir, "error", err)
			_ = root.RemoveAll(dir) // in the way at worst; nobody but placet has written here
			continue
		}
		r.recover(root, rec)
	}
	return nil
}

// folders lists the commands' folders, sorted.
func folders(root *os.Root) ([]string, error) {
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

// recover takes over one attempt.
func (r *Runner) recover(root *os.Root, rec record) {
	if rec.Outcome != "" && !isOutcome(r.o.Families, rec.Outcome, rec.action().Kind) {
		r.o.Log.Warn("cannot use the record of a command: its outcome is no document of a run", "action", rec.ID, "outcome", rec.Outcome)
		r.clear(rec.ID)
		return
	}
	if rec.Outcome == "" && rec.Stopped {
		if err := r.stoppedBefore(root, rec); err != nil {
			r.o.Log.Warn("cannot take over a command that was stopped: nobody knows how it ended", "action", rec.ID, "error", err)
		}
		return
	}
	if rec.Outcome == "" {
		// Its machine finds it neither alive nor ended. Nothing of it may disturb
		// another try.
		rec.signal(syscall.SIGKILL)
		r.o.Log.Info("ended what an earlier placet left of a command", "action", rec.ID)
		r.clear(rec.ID)
		return
	}
	t, stopping := r.take(rec.action())
	if t == nil || stopping {
		return
	}
	word := rec.found()
	if word == "" && rec.Agent {
		r.o.Log.Info("knows a command again", "action", rec.ID, "pid", rec.Pid)
		go r.adopt(t, rec)
		return
	}
	if !rec.Agent { // a check must not outlive placet, nor anything it started
		rec.signal(syscall.SIGKILL)
		word = lost
	}
	e := ending{word: word, cwd: rec.Cwd}
	rec.hear(root, &e)
	r.conclude(t, rec.Started, e)
}

// found says what became of the attempt: "" if its process still runs.
func (r record) found() string {
	switch err := r.runs(); {
	case err == nil:
		return ""
	case r.Agent && errors.Is(err, errEnded):
		return finished
	default:
		return lost
	}
}

// runs returns nil while the process runs, errEnded when it has ended, and
// another error where nobody can tell.
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

// orphans reports whether the process has ended and others of its group run.
// Where another process has its id nobody of the group is left.
func (r record) orphans() bool {
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
	if r.runs() == nil || r.orphans() {
		_ = syscall.Kill(-r.Pid, sig) // it may just have ended
	}
}

// adopt follows an agent that is not a child of this process.
func (r *Runner) adopt(t *attempt, rec record) {
	defer r.drop(t)
	over, gone := make(chan struct{}), make(chan struct{})
	defer close(gone)
	go rec.await(over, gone)
	terms := terms{quit: t.quit, leave: r.leaving, due: rec.left(r.o.Now()), grace: r.o.Grace, orphans: rec.orphans}
	e := t.explained(ending{word: terms.follow(over, rec.signal), cwd: rec.Cwd})
	if e.word == "" {
		return
	}
	rec.hear(r.o.State, &e)
	r.o.Log.Info("a command ended", told(rec.ID, e)...)
	r.insist(t.action, rec.Started, e)
}

// await closes ended when the process has ended; gone ends the waiting.
func (r record) await(ended chan<- struct{}, gone <-chan struct{}) {
	ticker := time.NewTicker(lookAgain)
	defer ticker.Stop()
	for !errors.Is(r.runs(), errEnded) {
		select {
		case <-ticker.C:
		case <-gone:
			return
		}
	}
	close(ended)
}
