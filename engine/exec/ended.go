package exec

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"placet/engine"
)

// failed is the result of an action for a database that may be tried again.
const failed = "failed"

const (
	// endTail is how many of the last bytes of each output an end holds where the
	// action does not say.
	endTail = 4 << 10
	// producedMax is how many bytes the file may have that a command writes.
	producedMax = 1 << 20
	// producedName is that file in the command's folder.
	producedName = "produced"
)

// ends holds how actions ended, and a copy for all who ask until one more ends or is
// forgotten: of a thousand runs each asks at every look.
type ends struct {
	of   map[string]engine.Ended
	copy map[string]engine.Ended // nil where it is to be made
}

func (e *ends) put(id string, end engine.Ended) { e.of[id], e.copy = end, nil }

func (e *ends) forget(id string) {
	if _, known := e.of[id]; known {
		delete(e.of, id)
		e.copy = nil
	}
}

// Ended returns how the actions without Outcome ended that nobody has asked to
// forget; see [Runner.End]. An action is there before it is no longer alive. The
// map is shared: neither it nor the bytes in it may be changed.
func (r *Runner) Ended() map[string]engine.Ended {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended.copy == nil {
		r.ended.copy = maps.Clone(r.ended.of)
	}
	return r.ended.copy
}

// tell keeps how an action ended, and says so.
func (r *Runner) tell(t *attempt, e engine.Ended) {
	r.mu.Lock()
	r.ended.put(t.action.ID, e)
	r.mu.Unlock()
	r.drop(t)
	r.o.Told(t.action.ID)
}

// finish keeps how a command ended that has no Outcome, and clears its folder away.
// Of one that an orderly stop ended the folder says so to the next placet.
func (r *Runner) finish(t *attempt, from time.Time, e ending, own *os.Root) {
	end := r.endedBy(t.action, from, e, own)
	if e.reason == revokedReason {
		end.Result = revoked
	}
	if e.word != stopped || t.revoked.Load() || !r.isLeaving() || r.noteStopped(t.action.ID) != nil {
		r.clear(t.action.ID)
	}
	r.tell(t, end)
}

func (r *Runner) isLeaving() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopped
}

// noteStopped notes in a command's folder that an orderly stop ended it.
func (r *Runner) noteStopped(id string) error {
	if r.o.State == nil {
		return errors.New("there is no state folder")
	}
	rec, err := readRecord(r.o.State, folder(id))
	if err != nil {
		return err
	}
	rec.Stopped = true
	return rec.save(r.o.State)
}

// stoppedBefore takes over a command that an orderly stop of an earlier placet ended.
// That is known once: the note is gone for good before the command can begin again,
// so that no crash has it begun twice unasked.
func (r *Runner) stoppedBefore(root *os.Root, rec record) error {
	if err := root.RemoveAll(folder(rec.ID)); err != nil {
		return err
	}
	dir, err := root.Open(actionsDir)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended.put(rec.ID, rec.ended(r.o.Now()))
	return nil
}

// ended is how a command ended that an orderly stop ended.
func (r record) ended(at time.Time) engine.Ended {
	return engine.Ended{Began: r.Started, At: at, Result: stopped}
}

// endedBy is how a command ended. own is its folder, nil where it has none.
func (r *Runner) endedBy(a engine.Action, from time.Time, e ending, own *os.Root) engine.Ended {
	to := r.o.Now()
	if to.Before(from) { // the clock was set back meanwhile
		to = from
	}
	most := tailOf(a)
	end := engine.Ended{
		Began: from, At: to, Result: e.word, Exit: e.code, Reason: e.reason,
		Stdout: lastOf(e.stdout.Tail, most), Stderr: lastOf(e.stderr.Tail, most),
	}
	if a.Output == "" || own == nil {
		return end
	}
	var err error
	if end.Output, err = produced(own); err != nil {
		end.Reason = cmp.Or(end.Reason, err.Error())
	}
	return end
}

// tailOf is how many bytes of each output the end of an action holds.
func tailOf(a engine.Action) int {
	if a.Tail > 0 {
		return min(a.Tail, tailMax)
	}
	return endTail
}

// lastOf returns the last bytes of a text, at most so many, and no torn character.
func lastOf(text string, most int) string {
	text = text[max(0, len(text)-most):]
	return strings.TrimLeftFunc(text, func(c rune) bool { return c == utf8.RuneError })
}

// produced returns what a command wrote into the file of its own, nil where there is
// none. Links are not followed, and nothing is waited for: what lies there is the
// command's.
func produced(own *os.Root) ([]byte, error) {
	info, err := own.Lstat(producedName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read what the command wrote: %v", err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("cannot read what the command wrote: it is no regular file; write the file itself")
	}
	f, err := own.OpenFile(producedName, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot read what the command wrote: %v", err)
	}
	defer f.Close()
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		return nil, errors.New("cannot read what the command wrote: it is another file by now")
	}
	body, err := io.ReadAll(io.LimitReader(f, producedMax+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot read what the command wrote: %v", err)
	case len(body) > producedMax:
		return nil, fmt.Errorf("cannot take what the command wrote: it is larger than %d bytes; write less", producedMax)
	}
	return body, nil
}
