package watch

import "github.com/fsnotify/fsnotify"

// Event says that something happened at a path.
type Event struct {
	// Path is absolute.
	Path string
	// Entry is true if a name appeared, vanished or was replaced, and false if only its
	// content or metadata changed.
	Entry bool
}

// Source is where events come from: the operating system, or a test. A watch is on a
// folder, by absolute path, and reports only the folder's own entries.
type Source interface {
	// Add watches a folder. Adding it twice is not an error.
	Add(dir string) error
	// Remove ends the watch of a folder.
	Remove(dir string) error
	// List returns the folders that are watched.
	List() []string
	// Close ends all watches. After it returns, the source reports no events, except those
	// that it is just reporting.
	Close() error
}

// Sink receives what a source reports. Both functions may be called from any goroutine.
// Broken must never block.
type Sink struct {
	Event func(Event)
	// Broken reports that events were lost, or that the source can no longer be used.
	Broken func(error)
}

// Open opens a source.
type Open func(Sink) (Source, error)

// notify is the operating system's source.
type notify struct {
	*fsnotify.Watcher
	ended chan struct{}
}

// buffered is how many events are buffered between the system and us, so that a flood of
// them wakes us once for many.
const buffered = 1024

// Notify opens the operating system's file events.
func Notify(sink Sink) (Source, error) {
	fs, err := fsnotify.NewBufferedWatcher(buffered)
	if err != nil {
		return nil, err
	}
	n := &notify{fs, make(chan struct{})}
	// Errors have a goroutine of their own: fsnotify may send one while it holds the lock
	// that Add needs, so nothing may block the reading of the channel.
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
