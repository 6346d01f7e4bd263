package notify

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"placet/engine/statedir"
	"placet/templates"
)

// ledgerName is the file in the state folder with a line for every attempt, and one for its
// outcome.
const ledgerName = "notified.jsonl"

// longLedger is the size, in bytes, above which the older half is dropped: rungs that came
// due in its time then count as told. It is a variable for tests.
var longLedger int64 = 2 << 20

// The outcomes of an attempt. An attempt without one is as uncertain as one with isUnknown.
const (
	isSent    = "sent"
	isRefused = "refused"
	isUnknown = "unknown"
)

// line is one line of the ledger.
type line struct {
	At time.Time `json:"at"`
	// Begins are rungs of targets, "<target> <rung>". A rung that came due before At counts
	// as told.
	Begins []string `json:"begins,omitempty"`
	// Attempt is the number of an attempt to tell Target; Told holds the rungs by request.
	Attempt int               `json:"attempt,omitempty"`
	Target  string            `json:"target,omitempty"`
	Told    map[string]string `json:"told,omitempty"`
	// Of is the attempt with this Outcome.
	Of      int    `json:"of,omitempty"`
	Outcome string `json:"outcome,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// told is the last attempt to tell a target about a request.
type told struct {
	rung    string
	tries   int // of this rung
	attempt int
	outcome string    // "" for none yet
	at      time.Time // of the outcome, else of the attempt
	reason  string
}

// noticed identifies a request and a target.
type noticed struct{ request, target string }

// ledger is the file, and its content. Several processes may add to it at the same time.
type ledger struct {
	dir *statedir.Dir

	mu   sync.Mutex
	file fs.FileInfo // the file that was read, and read how much of it
	read int64
	memory
}

// memory is the content of a ledger's lines.
type memory struct {
	begun  map[string]time.Time // by target and rung
	told   map[noticed]told
	open   map[int]line           // attempts without an outcome
	recent map[string][]time.Time // by target: the last attempts
	last   int                    // the number of the last attempt
}

func newMemory() memory {
	return memory{map[string]time.Time{}, map[noticed]told{}, map[int]line{}, map[string][]time.Time{}, 0}
}

// mostRecent is how many attempts at a target are remembered by their times.
const mostRecent = mostMinute + 1

// add adds the content of a line.
func (m *memory) add(l line) {
	for _, name := range l.Begins {
		m.begun[name] = l.At
	}
	if l.Attempt > 0 {
		m.last = max(m.last, l.Attempt)
		m.open[l.Attempt] = l
		m.recent[l.Target] = append(m.recent[l.Target], l.At)
		if n := len(m.recent[l.Target]); n > mostRecent {
			m.recent[l.Target] = slices.Clone(m.recent[l.Target][n-mostRecent:])
		}
		for request, rung := range l.Told {
			at := noticed{request, l.Target}
			tries := 1
			if before, ok := m.told[at]; ok && before.rung == rung {
				tries += before.tries
			}
			m.told[at] = told{rung: rung, tries: tries, attempt: l.Attempt, at: l.At}
		}
	}
	if of, ok := m.open[l.Of]; ok && l.Outcome != "" {
		delete(m.open, l.Of)
		for request := range of.Told {
			at := noticed{request, of.Target}
			if t := m.told[at]; t.attempt == l.Of {
				t.outcome, t.at, t.reason = l.Outcome, l.At, l.Reason
				m.told[at] = t
			}
		}
	}
}

// retries are the times between a refused attempt and the next one.
var retries = []time.Duration{10 * time.Second, time.Minute, 5 * time.Minute}

// due returns when to tell a target about a rung that came due at a moment, according to the
// ledger. ok is false if the target was told, or counts as told.
func (m *memory) due(request, target string, r rung, at time.Time) (due time.Time, ok bool) {
	if began, known := m.begun[target+" "+r.name]; known && at.Before(began) {
		return due, false
	}
	before, ok := m.told[noticed{request, target}]
	switch {
	case !ok, r.age > ageOf(before.rung):
		return at, true
	case r.name == before.rung && before.outcome == isRefused && before.tries <= len(retries):
		return before.at.Add(retries[before.tries-1]), true
	}
	return due, false
}

// claim records an attempt, durably, and returns its number and its requests: those that
// nobody else has told the target about meanwhile. The number is 0 if there are none.
func (l *ledger) claim(target string, rungs map[string]rung, now time.Time) (attempt int, mine map[string]string, err error) {
	err = l.locked(func(f *os.File) error {
		mine = map[string]string{}
		for request, r := range rungs {
			if due, ok := l.due(request, target, r, now); ok && !due.After(now) {
				mine[request] = r.name
			}
		}
		if len(mine) == 0 {
			return nil
		}
		attempt = l.last + 1
		return l.append(f, true, line{At: now, Attempt: attempt, Target: target, Told: mine})
	})
	if err != nil { // the line may be lost, so nothing is sent
		return 0, nil, err
	}
	return attempt, mine, nil
}

// end records the outcome of an attempt.
func (l *ledger) end(attempt int, outcome, reason string, now time.Time) error {
	return l.locked(func(f *os.File) error {
		return l.append(f, false, line{At: now, Of: attempt, Outcome: outcome, Reason: reason})
	})
}

// clockSlack is how far a clock may be set back before the times that it recorded are
// useless.
const clockSlack = time.Minute

// begin records the rungs of targets that appear for the first time, or that were recorded by
// a clock that was ahead: otherwise nobody would be told until that time.
func (l *ledger) begin(names []string, now time.Time) error {
	isNew := func(name string) bool {
		at, known := l.begun[name]
		return !known || at.After(now.Add(clockSlack))
	}
	l.mu.Lock()
	some := slices.ContainsFunc(names, isNew)
	l.mu.Unlock()
	if !some {
		return nil
	}
	return l.locked(func(f *os.File) error {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !isNew(name) })
		if len(names) == 0 {
			return nil
		}
		// Requests record when they were asked in whole seconds.
		return l.append(f, true, line{At: now.Truncate(time.Second), Begins: names})
	})
}

// dueAt is due under the lock: it returns when to tell a target about a rung that came due at
// a moment. ok is false if the target was told, or counts as told.
func (l *ledger) dueAt(request, target string, r rung, at time.Time) (time.Time, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.due(request, target, r, at)
}

// lastMinute returns the times of the attempts at a target in the minute before now. It
// ignores times of a clock that was ahead.
func (l *ledger) lastMinute(target string, now time.Time) (times []time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, at := range l.recent[target] {
		if at.After(now.Add(-time.Minute)) && !at.After(now) {
			times = append(times, at)
		}
	}
	return times
}

// refresh reads what others have added.
func (l *ledger) refresh() error { return l.locked(func(*os.File) error { return nil }) }

// locked reads what was added to the file and then calls do with the file, while no other
// process can change it.
func (l *ledger) locked(do func(f *os.File) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		f, err := l.dir.Root().OpenFile(ledgerName, os.O_RDWR|os.O_APPEND|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
		if err != nil {
			return err
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
			return errors.Join(err, f.Close())
		}
		mine, err := f.Stat()
		named, err2 := l.dir.Root().Lstat(ledgerName)
		if err == nil && err2 == nil && !os.SameFile(mine, named) { // it was shortened meanwhile
			f.Close()
			continue
		}
		if err = errors.Join(err, err2); err == nil && !mine.Mode().IsRegular() {
			err = templates.Errorf("notify.irregular", "file", ledgerName)
		}
		if err == nil {
			err = l.take(mine)
		}
		if err == nil {
			err = do(f)
		}
		return errors.Join(err, f.Close())
	}
}

// take reads what was added to the file since it was last read. It skips a line that a crash
// has torn, because nothing was begun after it.
func (l *ledger) take(info fs.FileInfo) error {
	if l.file == nil || !os.SameFile(l.file, info) || info.Size() < l.read {
		l.memory, l.read = newMemory(), 0
	}
	body, err := l.dir.ReadFrom(ledgerName, l.read, 4*longLedger)
	if err != nil {
		return err
	}
	body = body[:bytes.LastIndexByte(body, '\n')+1]
	for text := range bytes.Lines(body) {
		var one line
		if json.Unmarshal(text, &one) == nil {
			l.add(one)
		}
	}
	l.file, l.read = info, l.read+int64(len(body))
	return nil
}

// append adds a line to the file and to the memory. A durable line is on the disk before
// append returns.
func (l *ledger) append(f *os.File, durable bool, one line) error {
	body, err := json.Marshal(one)
	if err != nil {
		return err
	}
	if l.read > longLedger && durable {
		return l.shorten(body)
	}
	isNew := l.read == 0
	// A newline first, so that the line does not continue one that a crash has torn.
	if _, err := f.Write(append(append([]byte("\n"), body...), '\n')); err != nil {
		return err
	}
	if durable {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	if durable && isNew {
		if err := l.dir.SyncNames(); err != nil {
			return err
		}
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return l.take(info)
}

// shorten drops the older half of the file, and adds a line. Rungs that came due before the
// last dropped line count as told.
func (l *ledger) shorten(last []byte) error {
	body, err := l.dir.Read(ledgerName, 4*longLedger)
	if err != nil {
		return err
	}
	half := len(body)/2 + bytes.IndexByte(body[len(body)/2:], '\n') + 1
	var dropped time.Time // the time of the last line
	for text := range bytes.Lines(body[:half]) {
		var one line
		if json.Unmarshal(text, &one) == nil && one.At.After(dropped) {
			dropped = one.At
		}
	}
	var short []byte
	for _, name := range slices.Sorted(maps.Keys(l.begun)) {
		at := l.begun[name]
		if dropped.Add(time.Second).After(at) {
			at = dropped.Add(time.Second)
		}
		text, err := json.Marshal(line{At: at, Begins: []string{name}})
		if err != nil {
			return err
		}
		short = append(append(short, text...), '\n')
	}
	short = slices.Concat(short, body[half:], []byte("\n"), last, []byte("\n"))
	if err := l.dir.Write(ledgerName, short, true); err != nil {
		return err
	}
	info, err := l.dir.Root().Lstat(ledgerName)
	if err != nil {
		return err
	}
	return l.take(info)
}

// Doubt is an attempt to tell somebody that may not have arrived.
type Doubt struct {
	Request string    `json:"request"` // "<run>:<request id>"
	Target  string    `json:"target"`
	Rung    string    `json:"rung"`
	Outcome string    `json:"outcome"` // "unknown" or "refused"
	At      time.Time `json:"at"`
	Reason  string    `json:"reason"`
}

// inFlight is how long an attempt may take.
const inFlight = sendTime + 2*time.Second

// Doubts returns the last attempts, by request and target, that may not have arrived: those
// without an outcome, and those that were refused for the last time.
func Doubts(dir *statedir.Dir, now time.Time) (list []Doubt, err error) {
	body, err := dir.Read(ledgerName, 4*longLedger)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m := newMemory()
	for text := range bytes.Lines(body) {
		var one line
		if json.Unmarshal(text, &one) == nil {
			m.add(one)
		}
	}
	for at, t := range m.told {
		d := Doubt{at.request, at.target, t.rung, isUnknown, t.at, t.reason}
		switch {
		case t.outcome == isSent, t.outcome == "" && now.Sub(t.at) < inFlight, t.outcome == isRefused && t.tries <= len(retries):
			continue
		case t.outcome == isRefused:
			d.Outcome = isRefused
		}
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b Doubt) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Request, b.Request), cmp.Compare(a.Target, b.Target))
	})
	return list, nil
}
