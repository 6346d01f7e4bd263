package enginetest

import (
	"context"
	"io/fs"
	"path"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/loop"
	"placet/engine/store"
	"placet/engine/store/memfs"
	"placet/layout"
)

// Scramble is a workspace of several families on a disk in memory, which a fuzz
// target changes at will. Whatever it contains, every pass must end idle, write
// no file of others, and leave nothing for a second pass.
type Scramble struct {
	T    *testing.T
	Disk *memfs.FS

	suites   []Suite
	families []loop.Family
	now      time.Time
	out      *outside
	odd      bool // some path has something that is no file
}

// NewScramble returns an empty workspace of the suites' families. Every step of
// a family is judged.
func NewScramble(t *testing.T, suites ...Suite) *Scramble {
	s := plainScramble(t, suites...)
	for i, suite := range suites {
		s.families[i].Machine = Judged(t, suite)
	}
	return s
}

// plainScramble returns a Scramble whose steps are not judged, which makes a
// step cost a third.
func plainScramble(t *testing.T, suites ...Suite) *Scramble {
	s := &Scramble{T: t, suites: suites, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), out: newOutside(Suite{})}
	s.Disk = memfs.New(func() time.Time { return s.now })
	for _, suite := range suites {
		s.families = append(s.families, loop.Family{Layout: suite.Layout, Machine: suite.Machine})
	}
	return s
}

// Put puts a file in place, unless a file exists where its folder would be.
func (s *Scramble) Put(p, body string) {
	if s.free(p) {
		s.Disk.Put(p, body)
	}
}

// Odd puts something in place that is no file, or a folder for fs.ModeDir.
func (s *Scramble) Odd(p string, mode fs.FileMode) {
	if !s.free(p) {
		return
	}
	s.odd = true
	if _, there := s.Disk.Get(p); there {
		s.Disk.Delete(p)
	}
	if mode.IsDir() {
		s.Disk.PutDir(p)
		return
	}
	s.Disk.PutOdd(p, mode)
}

// free reports whether a name may be given to a file.
func (s *Scramble) free(p string) bool {
	if !layout.Safe(p) || path.Clean(p) != p {
		return false
	}
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if _, file := s.Disk.Get(dir); file {
			return false
		}
	}
	return true
}

// Pass lets time pass.
func (s *Scramble) Pass(d time.Duration) { s.now = s.now.Add(d) }

// Look starts placet again, long after the last change, and lets it settle the
// workspace. Then it makes a second pass, which must change nothing.
func (s *Scramble) Look() {
	s.T.Helper()
	s.Pass(tornTime)
	before := Tree(s.Disk.Tree())
	l := s.loop()
	s.once(l)
	after := Tree(s.Disk.Tree())
	s.mine(before, after)
	s.once(l)
	if diff := compare(after, Tree(s.Disk.Tree())); diff != "" {
		s.T.Fatalf("a second look changes the tree (-after the first +after the second):\n%s", diff)
	}
}

// once lets the loop settle. An error is right if something is in the place of a file.
func (s *Scramble) once(l *loop.Loop) {
	s.T.Helper()
	var r loop.Report
	var err error
	for range mostDeliveries {
		if r, err = l.Once(context.Background()); len(s.out.deliver(s.now)) == 0 {
			break
		}
	}
	if err != nil && (!s.odd || strings.Contains(err.Error(), "a bug")) {
		s.T.Fatalf("it cannot settle: %v", err)
	}
	if len(r.Stuck) > 0 || len(r.Unsettled) > 0 || r.Held != "" {
		s.T.Fatalf("it does not settle: stuck %q, unsettled %q, held %q", r.Stuck, r.Unsettled, r.Held)
	}
}

func (s *Scramble) loop() *loop.Loop {
	s.out.restart()
	now := func() time.Time { return s.now }
	return loop.New(loop.Options{
		Store: store.New(s.Disk, store.Options{Now: now, Parallel: 1}), Families: s.families, Workers: 1, Now: now,
		Begin: s.out.begin,
		End:   s.out.end,
		Facts: func(family string) engine.Environment {
			f := engine.Environment{Trusted: map[engine.Digest]bool{}, Alive: map[string]bool{}}
			for _, suite := range s.suites {
				if suite.Layout.Name() == family {
					f.Config = suite.Config
				}
			}
			s.out.facts(&f, func(outcome string) bool {
				_, there := s.Disk.Get(outcome)
				return there
			})
			return f
		},
	})
}

// mine checks that placet may change the files that a pass has changed.
func (s *Scramble) mine(before, after Tree) {
	s.T.Helper()
	for p, body := range before {
		if now, there := after[p]; (!there || now != body) && !s.may(p, false) {
			s.T.Fatalf("%s is not placet's; it held %q, and then %q (%t)", p, body, now, there)
		}
	}
	for p, body := range after {
		if _, was := before[p]; !was && !s.may(p, true) {
			s.T.Fatalf("%s was written, which is not placet's to write: %q", p, body)
		}
	}
}

// may reports whether placet may write, or replace and remove, the file under a
// name. A form is created once and then belongs to the reviewer; a file that two
// writers may write is only created.
func (s *Scramble) may(p string, new bool) bool {
	if layout.Under(p, ".placet") || new && strings.HasSuffix(p, ".lock") {
		return true
	}
	for _, suite := range s.suites {
		for _, run := range s.runsOf(suite, p) {
			f, known := fileOf(suite.Layout, run, p)
			if known && (f.Writer == layout.Placet || f.Writer == layout.Shared || new && (f.Kind == layout.KindForm || f.Writer == layout.Either)) {
				return true
			}
		}
	}
	return false
}

// runsOf returns the runs of a family that a path may belong to.
func (s *Scramble) runsOf(suite Suite, p string) []layout.Run {
	if run, ok := suite.Layout.At(p); ok {
		return []layout.Run{run}
	}
	runs, err := suite.Layout.Runs(func(dir string) ([]layout.Entry, error) {
		infos, err := s.Disk.List(dir)
		var entries []layout.Entry
		for _, info := range infos {
			entries = append(entries, layout.Entry{Name: info.Name, Dir: info.Mode.IsDir()})
		}
		if err != nil {
			return nil, nil
		}
		return entries, nil
	})
	if err != nil {
		s.T.Fatal(err)
	}
	return runs
}
