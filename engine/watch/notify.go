package watch

import (
	"github.com/fsnotify/fsnotify"
)

// notify is the operating system's source.
type notify struct {
	*fsnotify.Watcher
	ended chan struct{}
}

// buffered is how many events may lie between the system and us: a flood of them
// wakes us once for many.
const buffered = 1024

// Notify opens the operating system's file events.
func Notify(sink Sink) (Source, error) {
	fs, err := fsnotify.NewBufferedWatcher(buffered)
	if err != nil {
		return nil, err
	}
	n := &notify{fs, make(chan struct{})}
	// Errors have a goroutine of their own: fsnotify may send one while it
	// holds the lock that Add needs, so nothing may stand between the channel
	// and us.
	go func() {
		for err := range fs.Errors {
			sink.Broken(err)
		}
		close(n.ended)
	}()
	go func() {
		for e := range fs.Events {
			sink.Event(Event{Path: e.Name, Entry: e.Op.Has(fsnotify.Create) || e.Op.Has(fsnotify.Remove) || e.Op.Has(fsnotify.Rename)})
		}
	}()
	return n, nil
}

// List implements [Source].
func (n *notify) List() []string { return n.WatchList() }

// Close implements [Source].
func (n *notify) Close() error {
	err := n.Watcher.Close()
	<-n.ended
	return err
}
