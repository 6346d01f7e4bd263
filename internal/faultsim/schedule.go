package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"placet/engine/store/memfs"
)

// trouble is one thing that goes wrong at a call of an execution. A crash ends
// the execution; the calls of the next are counted from 1 again.
type trouble struct {
	// kind is a crash (kill, half, cut, halfcut), an errno, or an act of somebody
	// else (words, inplace, stale, unview).
	kind string
	at   int
	seed uint64 // of a power cut
	long int    // how many calls in a row an error lasts
}

// errnos are the errors that calls return.
var errnos = map[string]syscall.Errno{
	"ENOSPC": syscall.ENOSPC, "EIO": syscall.EIO, "EACCES": syscall.EACCES, "EROFS": syscall.EROFS, "EMFILE": syscall.EMFILE,
	"EDQUOT": syscall.EDQUOT, "ENOMEM": syscall.ENOMEM, "EINTR": syscall.EINTR, "ESTALE": syscall.ESTALE,
}

func (t trouble) crash() bool { return t.kind == "kill" || t.kind == "half" || t.power() }
func (t trouble) power() bool { return t.kind == "cut" || t.kind == "halfcut" }

func (t trouble) String() string {
	text := t.kind + "@" + strconv.Itoa(t.at)
	if t.power() {
		text += "#" + strconv.FormatUint(t.seed, 10)
	}
	if t.long > 1 {
		text += "x" + strconv.Itoa(t.long)
	}
	return text
}

func parseTrouble(text string) (t trouble, err error) {
	kind, rest, ok := strings.Cut(text, "@")
	if _, errno := errnos[kind]; !ok || !errno && !(trouble{kind: kind}).crash() && others[kind] == nil && kind != byOrder {
		return t, fmt.Errorf("cannot read %q: expected kind@call", text)
	}
	t.kind, t.long = kind, 1
	rest, long, isLong := strings.Cut(rest, "x")
	if isLong {
		if t.long, err = strconv.Atoi(long); err != nil {
			return t, err
		}
	}
	rest, seed, hasSeed := strings.Cut(rest, "#")
	if hasSeed {
		if t.seed, err = strconv.ParseUint(seed, 10, 64); err != nil {
			return t, err
		}
	}
	t.at, err = strconv.Atoi(rest)
	return t, err
}

// schedule is a step of a scene and everything that goes wrong in it. onward says
// that the rest of the scenario is run as well.
type schedule struct {
	sc       *scene
	step     int
	troubles []trouble
	onward   bool
}

func (s schedule) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%s/%d", s.sc.name, s.sc.variant.name, s.step)
	for _, t := range s.troubles {
		b.WriteString(" " + t.String())
	}
	if s.onward {
		b.WriteString(" onward")
	}
	return b.String()
}

// with returns the schedule with one more trouble.
func (s schedule) with(t ...trouble) schedule {
	s.troubles = append(s.troubles[:len(s.troubles):len(s.troubles)], t...)
	return s
}

// parse reads the text that String writes.
func (l *lab) parse(text string) (s schedule, err error) {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return s, fmt.Errorf("cannot read an empty schedule: expected story/variant/step and troubles")
	}
	parts := strings.Split(fields[0], "/")
	if len(parts) != 3 {
		return s, fmt.Errorf("cannot read %q: expected story/variant/step", fields[0])
	}
	for _, sc := range l.scenes {
		if sc.name == parts[0] && sc.variant.name == parts[1] {
			s.sc = sc
		}
	}
	if s.step, err = strconv.Atoi(parts[2]); err != nil || s.sc == nil || s.step < 0 || s.step >= len(s.sc.steps) {
		return s, fmt.Errorf("cannot find the scene %q", fields[0])
	}
	for _, field := range fields[1:] {
		if field == "onward" {
			s.onward = true
			continue
		}
		t, err := parseTrouble(field)
		if err != nil {
			return s, err
		}
		s.troubles = append(s.troubles, t)
	}
	return s, nil
}

// strike makes the troubles of a call happen. It returns the error that the call
// returns instead.
func (w *world) strike(c memfs.Call) error {
	for _, t := range w.troubles {
		switch {
		case c.N < t.at || c.N >= t.at+max(t.long, 1):
		case t.crash():
			w.fall(t, c)
			return memfs.ErrCrashed
		case others[t.kind] != nil:
			w.speak(t.kind)
		default:
			w.disturbed = true
			w.erred++
			w.lied = w.lied || strings.HasPrefix(c.Op, "sync") && t.kind == "EIO"
			return errnos[t.kind]
		}
	}
	return nil
}

// strikeAtRest makes the remaining troubles happen in the idle state, because
// their call did not come.
func (w *world) strikeAtRest() error {
	calls := w.disk.Calls()
	for i, t := range w.troubles {
		switch {
		case t.crash():
			w.fall(t, memfs.Call{})
			return errDown
		case t.at > calls && others[t.kind] != nil:
			w.speak(t.kind)
			w.troubles = slices.Delete(slices.Clone(w.troubles), i, i+1)
			return w.rest()
		}
	}
	return nil
}

// fall crashes the world. If half of a call is impossible, none of it is done.
func (w *world) fall(t trouble, c memfs.Call) {
	if w.crashed = fork(w.disk, t, c); w.crashed == nil {
		w.crashed = w.disk.KillClone()
	}
}

// fork returns what a crash at a call leaves of a disk; nil if there is no such
// crash at the call.
func fork(disk *memfs.FS, t trouble, c memfs.Call) *memfs.FS {
	if t.kind == "cut" {
		return disk.CrashClone(t.seed)
	}
	left := disk.KillClone()
	if t.kind != "kill" && !left.Half(c) {
		return nil
	}
	if t.kind == "halfcut" {
		return left.CrashClone(t.seed)
	}
	return left
}
