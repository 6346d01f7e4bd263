package enginetest

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"placet/engine"
	"placet/engine/loop"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/engine/store/memfs"
	"placet/engine/watch"
	"placet/internal/await"
)

// sideBySide is how many scenarios run on real disks at the same time: they mostly wait for
// files to stop changing.
const sideBySide = 24

// onDisk runs every scenario on a real disk in three ways: by one pass after the other, and if
// that ends idle, by a loop that file events wake, and by a loop that loses half of the events.
func onDisk(t T, s Suite) {
	t.Helper()
	var wg sync.WaitGroup
	slots := make(chan struct{}, sideBySide)
	for _, c := range s.Cases {
		tell := func(kind diskKind) []rest {
			slots <- struct{}{}
			defer func() { <-slots }()
			return tellOnDisk(named{t, c.Name + " on a disk, " + kind.name}, s, c, kind)
		}
		wg.Go(func() {
			looked := tell(byLooks)
			if looked == nil {
				return
			}
			for _, kind := range []diskKind{byEvents, byHalfTheEvents} {
				wg.Go(func() { compareTrees(named{t, c.Name}, s, c, kind.name, looked, tell(kind)) })
			}
		})
	}
	wg.Wait()
}

// diskKind is a way to learn that files changed.
type diskKind struct {
	name  string
	serve func(*diskWorld) server
}

// server is placet on a real disk.
type server interface {
	// settle returns when nothing is left to do.
	settle() error
	// told notes that an action has ended.
	told(id string)
	stop()
}

var (
	byLooks         = diskKind{"by looks", func(w *diskWorld) server { return w.looking() }}
	byEvents        = diskKind{"by events", func(w *diskWorld) server { return w.watching(1) }}
	byHalfTheEvents = diskKind{"by half of the events", func(w *diskWorld) server { return w.watching(2) }}
)

// diskWorld is one run of a scenario on a real disk. Time passes by itself; the time that
// the scenario lets pass is added.
type diskWorld struct {
	ctx   context.Context // ends before the test binary's limit
	suite Suite
	c     Case
	root  string
	ahead atomic.Int64 // of the real time
	// begun is the difference between the scenario's time and the real one at its beginning.
	begun time.Duration
	// record replaces the state folder.
	record memfs.Record

	out *outside
}

// tellOnDisk runs a scenario and returns the tree of every idle state, or nil if the
// scenario fails.
func tellOnDisk(t T, s Suite, c Case, kind diskKind) (rests []rest) {
	t.Helper()
	w := &diskWorld{ctx: await.Context(real(t)), suite: s, c: c, root: t.TempDir(), out: newOutside(s)}
	w.begun = time.Until(c.Now)
	w.ahead.Store(int64(w.begun))
	if err := w.change(Tree{}, c.Files); err != nil {
		t.Errorf("%v", err)
		return nil
	}
	placet := kind.serve(w)
	defer func() { placet.stop() }()
	for i := range len(c.Steps) + 1 {
		if i > 0 && c.Steps[i-1].After > 0 {
			// The clock jumps as if the machine had slept.
			placet.stop()
			w.out.restart()
			w.ahead.Add(int64(c.Steps[i-1].After))
			placet = kind.serve(w)
		}
		err := w.act(i, placet)
		if err == nil {
			err = placet.settle()
		}
		if err != nil {
			t.Errorf("%s: %v", c.where(i), err)
			return nil
		}
		tree, err := w.tree()
		if err != nil {
			t.Errorf("%v", err)
			return nil
		}
		if err := w.out.after(s, tree); err != nil {
			t.Errorf("%s: %v", c.where(i), err)
			return nil
		}
		rests = append(rests, rest{tree: tree})
	}
	return rests
}

func (w *diskWorld) now() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) }

// act takes the i-th step; the 0th is the beginning.
func (w *diskWorld) act(i int, placet server) (err error) {
	if i == 0 {
		return nil
	}
	id, err := w.c.Steps[i-1].take(w.out, w.now())
	if id != "" {
		placet.told(id)
	}
	if err != nil || w.c.Steps[i-1].Do == nil {
		return err
	}
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("cannot take the step: %v", problem)
		}
	}()
	before, err := w.tree()
	if err != nil {
		return err
	}
	after := before.Clone()
	w.c.Steps[i-1].Do(after)
	return errors.Join(w.c.Steps[i-1].record(&w.record, w.suite.Layout, before, after), w.change(before, after))
}

// change makes the disk equal to a tree, in the way that most programs save.
func (w *diskWorld) change(before, after Tree) error {
	for _, p := range after.Paths() {
		if content, there := before[p]; there && content == after[p] {
			continue
		}
		name := filepath.Join(w.root, p)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(name+".tmp", []byte(after[p]), 0o666); err != nil {
			return err
		}
		if err := os.Rename(name+".tmp", name); err != nil {
			return err
		}
	}
	for _, p := range before.Paths() {
		if _, there := after[p]; !there {
			if err := os.Remove(filepath.Join(w.root, p)); err != nil {
				return err
			}
		}
	}
	return nil
}

// tree reads the workspace.
func (w *diskWorld) tree() (Tree, error) {
	tree := Tree{}
	err := filepath.WalkDir(w.root, func(p string, d iofs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return ignoreGone(err)
		}
		body, err := os.ReadFile(p)
		if err != nil {
			return ignoreGone(err)
		}
		rel, err := filepath.Rel(w.root, p)
		tree[filepath.ToSlash(rel)] = string(body)
		return err
	})
	return tree, err
}

// ignoreGone drops the error for a file that vanished during a walk.
func ignoreGone(err error) error {
	if errors.Is(err, iofs.ErrNotExist) {
		return nil
	}
	return err
}

// loop makes a store and a loop. The actions that it begins for a database end
// in a goroutine.
func (w *diskWorld) loop() *loop.Loop {
	var l *loop.Loop
	l = loop.New(loop.Options{
		Store:    store.New(storyTime{fs.OS(w.root), w.begun}, store.Options{Now: w.now, Record: &w.record}),
		Families: []loop.Family{{Layout: w.suite.Layout, Machine: w.suite.Machine}},
		Facts:    func(string) engine.Environment { return w.facts() },
		Lookup:   w.suite.Lookup,
		Begin: func(a engine.Action) {
			w.out.begin(a)
			go func() {
				for _, id := range w.out.deliver(w.now()) {
					l.ActionEnded(id)
				}
			}()
		},
		End: w.out.end,
		Now: w.now,
	})
	return l
}

func (w *diskWorld) facts() engine.Environment {
	f := factsOf(w.suite, w.c)
	if w.c.Agree != nil {
		tree, _ := w.tree() // without the files nothing is agreed to
		w.c.Agree(tree, &f)
	}
	w.out.facts(&f, func(outcome string) bool {
		_, err := os.Lstat(filepath.Join(w.root, outcome))
		return err == nil
	})
	return f
}

// onlooker makes one pass after every step.
type onlooker struct {
	w *diskWorld
	l *loop.Loop
}

func (w *diskWorld) looking() server { return onlooker{w, w.loop()} }

func (o onlooker) stop() {}

func (o onlooker) told(id string) { o.l.ActionEnded(id) }

func (o onlooker) settle() error {
	for range 8 {
		r, err := o.l.Once(context.Background())
		for range mostDeliveries {
			for _, id := range o.w.out.deliver(o.w.now()) { // a busy machine may not have started it yet
				o.l.ActionEnded(id)
			}
			if f := o.w.facts(); err != nil || !o.w.out.busy(f) && len(f.Ended) == 0 {
				break
			}
			r, err = o.l.Once(context.Background())
		}
		if err != nil {
			return err
		}
		if len(r.Stuck) > 0 {
			return fmt.Errorf("it does not settle: stuck %q", r.Stuck)
		}
		if len(r.Unsettled) == 0 {
			return nil
		}
	}
	return errors.New("files are still being written")
}

// watchman is a loop that file events wake.
type watchman struct {
	w      *diskWorld
	every  int // one of so many events is heard
	cancel context.CancelFunc
	over   chan error
	// outside reads the same disk and sees whether something is left to do.
	outside *loop.Loop
	inside  *loop.Loop

	mu   sync.Mutex
	sink watch.Sink
}

// watching starts a loop that hears one of every so many events.
func (w *diskWorld) watching(every int) server {
	ctx, cancel := context.WithCancel(context.Background())
	m := &watchman{w: w, every: every, cancel: cancel, over: make(chan error, 1), outside: w.loop(), inside: w.loop()}
	go func() {
		watcher, err := watch.NewFrom(w.root, nil, m.open)
		if err == nil {
			err = errors.Join(m.inside.Watch(ctx, watcher, nil), watcher.Close())
		}
		m.over <- err
	}()
	return m
}

// open returns the system's source of events with some of them missing.
func (m *watchman) open(sink watch.Sink) (watch.Source, error) {
	m.mu.Lock()
	m.sink = sink
	m.mu.Unlock()
	var n atomic.Int64
	return watch.Notify(watch.Sink{Broken: sink.Broken, Event: func(e watch.Event) {
		if n.Add(1)%int64(m.every) == 0 {
			sink.Event(e)
		}
	}})
}

func (m *watchman) told(id string) { m.inside.ActionEnded(id) }

func (m *watchman) stop() {
	m.cancel()
	<-m.over
}

// quiet is how long after the last event the loop is told that events were lost. Not
// every folder of a run is watched: the scan of each minute finds changes in the
// others, but that is too long to wait for here.
const quiet = 3 * time.Second

// settle waits until an onlooker finds nothing left to do. If events are missing, it
// tells the loop once that some are.
func (m *watchman) settle() error {
	if m.every > 1 {
		m.rescan()
	}
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	nudge := time.NewTimer(quiet)
	defer nudge.Stop()
	for {
		left := m.left()
		if left == "" {
			return nil
		}
		select {
		case <-ticker.C:
		case <-nudge.C:
			m.rescan()
		case err := <-m.over:
			m.over <- err
			return fmt.Errorf("the loop has ended: %v", err)
		case <-m.w.ctx.Done():
			return fmt.Errorf("there is still something to do: %s", left)
		}
	}
}

// rescan tells the loop that events were lost.
func (m *watchman) rescan() {
	m.mu.Lock()
	broken := m.sink.Broken
	m.mu.Unlock()
	if broken != nil {
		broken(errors.New("events were dropped"))
	}
}

// left returns what is left to do, "" for nothing.
func (m *watchman) left() string {
	found, err := m.outside.Runs()
	if err != nil {
		return err.Error()
	}
	for _, f := range found {
		s, _, err := m.outside.Snapshot(f)
		if err != nil {
			return err.Error()
		}
		for _, d := range s.Docs {
			if d.Unsettled() {
				return d.Path + " is still being written"
			}
		}
		if m.w.out.busy(s.Facts) {
			return "something for a database is under way"
		}
		plan, err := m.w.suite.Machine.Step(s)
		if plan = undone(s, plan); err != nil || !plan.Empty() || len(plan.Ends) > 0 {
			return fmt.Sprintf("%s wants %s %v", f.Key(), planText(plan), err)
		}
	}
	return ""
}

// storyTime is a file system whose files change by the clock of a scenario.
type storyTime struct {
	fs.FS
	ahead time.Duration
}

// Stat implements [fs.FS].
func (s storyTime) Stat(name string) (fs.Info, error) {
	info, err := s.FS.Stat(name)
	return s.shift(info), err
}

// Open implements [fs.FS].
func (s storyTime) Open(name string, how fs.How, perm iofs.FileMode) (fs.File, error) {
	f, err := s.FS.Open(name, how, perm)
	if err != nil {
		return nil, err
	}
	return storyFile{f, s}, nil
}

func (s storyTime) shift(info fs.Info) fs.Info {
	info.Modified, info.Changed = info.Modified.Add(s.ahead), info.Changed.Add(s.ahead)
	return info
}

// storyFile is a file of a storyTime.
type storyFile struct {
	fs.File
	of storyTime
}

// Stat implements [fs.File].
func (f storyFile) Stat() (fs.Info, error) {
	info, err := f.File.Stat()
	return f.of.shift(info), err
}
