package cli_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Writers stop in the middle of an answer, at any place, while others are answered: only the
// finished answer is decided.
func TestTortureHalfWrittenAnswers(t *testing.T) {
	t.Parallel()
	writers := tortured(8, 200)
	p := newPlace(t, t.TempDir(), writers+3*writers)
	d := p.start()
	defer d.stop(syscall.SIGTERM)
	p.await(d)
	p.until("all forms are written", p.opened)
	var beside atomic.Int64
	beside.Store(int64(writers))
	pauses := []time.Duration{20, 60, 110, 130, 250, 700, 1500, 3000}
	want := make([]string, writers)
	var wg sync.WaitGroup
	for i := range want {
		want[i] = []string{"approve", "reject"}[i/2%2]
		file, body := p.request(i)+"/response.json", p.response(i, want[i], strings.Repeat("because ", 20))
		if i%2 == 1 {
			file, body = p.request(i)+"/form.md", p.ticked(i, want[i])
		}
		h := half{p: p, run: i, file: filepath.Join(p.root, file), body: body, pause: pauses[i%len(pauses)] * time.Millisecond, beside: &beside}
		wg.Go(func() { h.write(rand.New(rand.NewPCG(uint64(i), 5))) })
	}
	wg.Wait()
	p.decided(upTo(writers))
	for i := range want {
		p.verify(i, want[i])
	}
}

// half is a writer that stops in the middle.
type half struct {
	p     *place
	run   int
	file  string
	body  string
	pause time.Duration
	// beside is the next run, which is answered while the writer pauses.
	beside *atomic.Int64
}

// write saves in up to four pieces, cut anywhere before the answer is whole, by one of three
// ways to write in place.
func (h half) write(rng *rand.Rand) {
	whole := len(h.body) - 2 // a whole object counts, and so may a form without its last letters
	if at := strings.Index(h.body, "- [x] submit"); at > 0 {
		whole = at + len("- [x] subm")
	}
	cuts := 1 + rng.IntN(3)
	if h.pause > time.Second {
		cuts = 1
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if rng.IntN(3) == 0 { // removed before
		_ = os.Remove(h.file)
	}
	f, err := os.OpenFile(h.file, flags, 0o644)
	if err != nil {
		h.p.t.Error(err)
		return
	}
	defer f.Close()
	at := 0
	for k := range cuts {
		to := at + (whole-at)*(k+1)/(cuts+1) + rng.IntN(1+(whole-at)/(cuts+1))
		if rng.IntN(2) == 0 && k == cuts-1 {
			to = whole // the last point at which it is no answer
		}
		if _, err := f.WriteString(h.body[at:to]); err != nil {
			h.p.t.Error(err)
		}
		at = to
		other := int(h.beside.Add(1)) - 1
		h.p.saved(h.p.request(other)+"/response.json", h.p.response(other, "approve", ""))
		h.p.until("another answer is taken", func() bool { return h.p.answered(other) })
		jitter(h.pause)
		if h.p.answered(h.run) {
			h.p.t.Errorf("decided by %d of %d bytes of %s:\n%s", at, len(h.body), h.file, h.body[:at])
		}
	}
	if _, err := f.WriteString(h.body[at:]); err != nil {
		h.p.t.Error(err)
	}
}

// A program that reads placet's files while it works finds them whole: a state, a receipt, an
// event or a form that exists stays there, and is never half written.
func TestTortureTornReads(t *testing.T) {
	t.Parallel()
	const readers = 4
	reads := int64(tortured(3_000, 1_000_000))
	p := newPlace(t, t.TempDir(), tortured(12, 600))
	d := p.start()
	defer d.stop(syscall.SIGTERM)
	var done atomic.Int64
	var wg sync.WaitGroup
	for r := range readers {
		wg.Go(func() {
			seen := &sightings{p: p, rng: rand.New(rand.NewPCG(uint64(r), 11)), last: map[string][]byte{}}
			for done.Load() < reads && !t.Failed() {
				if seen.read() {
					done.Add(1)
				}
			}
		})
	}
	p.await(d)
	p.until("all forms are written", p.opened)
	want := make([]string, len(p.runs))
	for i := range p.runs {
		// The answers come as fast as the reading goes on, until it ends.
		p.until("so much is read", func() bool {
			return done.Load() >= reads*int64(i)/int64(len(p.runs)) || t.Failed()
		})
		want[i] = answer(t, p, i)
	}
	wg.Wait()
	p.decided(upTo(len(p.runs)))
	for i := range p.runs {
		p.verify(i, want[i])
	}
	t.Logf("%d reads while %d runs were opened and answered", reads, len(p.runs))
}

// sightings is one reader, with what it has seen.
type sightings struct {
	p    *place
	rng  *rand.Rand
	last map[string][]byte
}

// read reads one of placet's files, and reports whether it existed.
func (s *sightings) read() bool {
	i := s.rng.IntN(len(s.p.runs))
	kind := s.rng.IntN(5)
	name := [5]string{
		s.p.runs[i] + "/state.json", s.p.request(i) + "/receipt.json", s.p.request(i) + "/request.json",
		s.p.request(i) + "/form.md", s.event(s.p.runs[i] + "/events"),
	}[kind]
	body, err := os.ReadFile(filepath.Join(s.p.root, name))
	last, was := s.last[name]
	switch {
	case os.IsNotExist(err) && !was && kind != 0:
		return false // not yet written
	case err != nil:
		s.p.t.Errorf("cannot read what must be there: %v", err)
	case kind == 3 && !bytes.Contains(body, []byte("] submit")):
		s.p.t.Errorf("half a form: %s\n%s", name, body)
	case kind != 3 && !json.Valid(body):
		s.p.t.Errorf("half a document: %s\n%s", name, body)
	case kind != 0 && kind != 3 && was && !bytes.Equal(last, body):
		s.p.t.Errorf("%s was changed:\n%s\n%s", name, last, body)
	}
	s.last[name] = body
	return true
}

// event is one of the events in a folder.
func (s *sightings) event(dir string) string {
	entries, err := os.ReadDir(filepath.Join(s.p.root, dir))
	if err != nil {
		s.p.t.Error(err)
	}
	var names []string
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".json" && e.Name()[0] != '.' {
			names = append(names, e.Name())
		}
	}
	return dir + "/" + names[s.rng.IntN(len(names))]
}
