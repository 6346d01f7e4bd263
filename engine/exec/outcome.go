package exec

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"placet/engine"
	"placet/layout"
	"placet/schemas"
)

// These words say how an attempt ended; see the package's documentation.
const (
	finished  = engine.CommandFinished
	timedOut  = engine.CommandTimedOut
	stopped   = engine.CommandStopped
	lost      = engine.CommandLost
	revoked   = engine.CommandRevoked
	unstarted = engine.CommandNotStarted
)

// stamp is the layout of times: RFC 3339 in UTC with milliseconds.
const stamp = "2006-01-02T15:04:05.000Z07:00"

// producedMax is the largest size in bytes of the file that a command may
// write.
const producedMax = 1 << 20

// exitResult says how a command ended.
type exitResult struct {
	word     string
	code     *int
	reason   string // what no output says
	cwd      string // where it ran, relative to the workspace; "" if unknown
	stdout   Output // both outputs if they were merged
	stderr   Output
	produced []byte // the content of the file that the command may write
	// matched and marker are what the judge found in the whole output, nil if
	// it found nothing.
	matched *bool
	marker  *string
}

// notStarted returns the result of a command that never ran.
func notStarted(err error) exitResult { return exitResult{word: unstarted, reason: err.Error()} }

// logFields returns the fields of the log's line about a command's end.
func (e exitResult) logFields(id string) []any {
	fields := []any{"action", id, "outcome", e.word}
	if e.reason != "" {
		fields = append(fields, "reason", e.reason)
	}
	return fields
}

// encode returns the outcome document, which begins with the action's own fields.
// Control characters grow sixfold in JSON: if the document became larger than any
// reader accepts, less of the outputs is kept.
func (e exitResult) encode(a engine.Action, from, to time.Time) ([]byte, error) {
	to = latest(from, to)
	for {
		body, err := schemas.Encode(e.document(a, from, to))
		kept := e.stdout.Head + e.stdout.Tail + e.stderr.Head + e.stderr.Tail
		if err != nil || len(body) <= layout.LimitJSON || kept == "" {
			return body, err
		}
		e.stdout, e.stderr = e.stdout.half(), e.stderr.half()
	}
}

// latest returns to, or from if the clock was set back meanwhile.
func latest(from, to time.Time) time.Time {
	if to.Before(from) {
		return from
	}
	return to
}

// document lists the members of an outcome; see [engine.Action] for those that
// an action asks for.
//
// finished_at is when placet saw the end. For an agent that ended while placet
// did not run, that is later than the end. reason exists only if it says
// something that no output says.
func (e exitResult) document(a engine.Action, from, to time.Time) schemas.Object {
	var doc schemas.Object
	add := func(name string, value any) { doc = append(doc, schemas.Member{Name: name, Value: value}) }
	for _, f := range a.Fields {
		add(f.Name, f.Value)
	}
	if a.Judge {
		add("cwd", e.cwd)
	}
	add("started_at", from.UTC().Format(stamp))
	add("finished_at", to.UTC().Format(stamp))
	if a.Tail <= 0 {
		add("duration_ms", to.Sub(from).Milliseconds())
	}
	add("outcome", e.word)
	add("exit_code", e.code) // null if nobody saw it
	if a.Judge {
		add("timed_out", e.word == timedOut)
	}
	if a.Tail > 0 {
		add("tail", e.stdout.Tail)
	} else {
		add("stdout", e.stdout.object())
		add("stderr", e.stderr.object())
	}
	if a.Judge {
		add("matched_expected", e.matched)
		add("failing_marker", e.marker)
	}
	if e.reason != "" {
		add("reason", e.reason)
	}
	return doc
}

func (o Output) object() schemas.Object {
	return schemas.Object{
		{Name: "bytes", Value: o.Bytes},
		{Name: "head", Value: o.Head},
		{Name: "tail", Value: o.Tail},
		{Name: "truncated", Value: o.Truncated},
	}
}

// ended returns the result of an action without Outcome as a fact for its machine.
func (e exitResult) ended(a engine.Action, from, to time.Time) engine.Ended {
	most := tailOf(a)
	end := engine.Ended{
		Began: from, At: latest(from, to), Result: e.word, Exit: e.code, Reason: e.reason, Output: e.produced,
		Stdout: lastBytes(e.stdout.Tail, most), Stderr: lastBytes(e.stderr.Tail, most),
	}
	if e.reason == revokedReason {
		end.Result = revoked
	}
	return end
}

// lastBytes returns at most the last so many bytes of a text, without a torn
// character.
func lastBytes(text string, most int) string {
	text = text[max(0, len(text)-most):]
	return strings.TrimLeftFunc(text, func(c rune) bool { return c == utf8.RuneError })
}

// readProduced reads into e the file that a command wrote.
func (e *exitResult) readProduced(own *os.Root) {
	body, err := produced(own)
	if err != nil {
		e.reason = cmp.Or(e.reason, "cannot read what the command wrote: "+err.Error())
		return
	}
	e.produced = body
}

// produced returns the content of the file that a command may write in its folder, nil
// if there is none. It follows no link and never blocks, because the command decides
// what the file is.
func produced(own *os.Root) ([]byte, error) {
	info, err := own.Lstat(producedName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no regular file; write the file itself")
	}
	f, err := own.OpenFile(producedName, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		return nil, errors.New("it is another file by now")
	}
	body, err := io.ReadAll(io.LimitReader(f, producedMax+1))
	if err == nil && len(body) > producedMax {
		return nil, fmt.Errorf("it is larger than %d bytes; write less", producedMax)
	}
	return body, err
}
