package loop

import (
	"context"
	"os"
	"path"
	"sync"

	"placet/engine/watch"
	"placet/internal/await"
	"placet/layout"
)

// service is a running Watch.
type service struct {
	watcher *watch.Watcher
	stop    func() // ends it and waits
	ready   chan [2]int
}

// serve starts to watch and waits until it is ready.
func (w *world) serve(open watch.Open) *service {
	w.t.Helper()
	s := w.start(open)
	await.Receive(w.t, "the watch is ready", s.ready)
	return s
}

func (w *world) start(open watch.Open) *service {
	w.t.Helper()
	watcher, err := watch.NewFrom(w.root, w.o.Log, open)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &service{watcher: watcher, ready: make(chan [2]int, 1)}
	ended := make(chan error, 1)
	go func() {
		ended <- w.Watch(ctx, watcher, func(runs, waiting int) { s.ready <- [2]int{runs, waiting} })
	}()
	s.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Errorf("Watch ended with %v", err)
		}
		if err := watcher.Close(); err != nil {
			w.t.Error(err)
		}
	})
	w.t.Cleanup(s.stop)
	return s
}

func (w *world) eventually(what string, ok func() bool) {
	w.t.Helper()
	await.Until(w.t, what, ok)
}

func (w *world) becomes(id, status string) {
	w.t.Helper()
	w.eventually(id+" becomes "+status, func() bool { return w.state(id).Status == status })
}

// lossy drops the events for which drop returns true, except the watcher's own tests.
func lossy(drop func(p string) bool) watch.Open {
	return func(sink watch.Sink) (watch.Source, error) {
		return watch.Notify(watch.Sink{Broken: sink.Broken, Event: func(e watch.Event) {
			if layout.IsTemp(path.Base(e.Path)) || !drop(e.Path) {
				sink.Event(e)
			}
		}})
	}
}

// mute is a source that never reports anything.
type mute struct{}

func (*mute) Add(dir string) error { _, err := os.Lstat(dir); return err }
func (*mute) Remove(string) error  { return nil }
func (*mute) List() []string       { return nil }
func (*mute) Close() error         { return nil }

func deaf(watch.Sink) (watch.Source, error) { return &mute{}, nil }

// counting counts the folders that are watched.
type counting struct {
	watch.Source
	mu   sync.Mutex
	dirs map[string]bool
}

func (c *counting) Add(dir string) error {
	err := c.Source.Add(dir)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.dirs[dir] = true
	}
	return err
}

func (c *counting) Remove(dir string) error {
	c.mu.Lock()
	delete(c.dirs, dir)
	c.mu.Unlock()
	return c.Source.Remove(dir)
}

func (c *counting) below(dir string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for d := range c.dirs {
		if layout.Under(d, dir) {
			n++
		}
	}
	return n
}
