package watch

import "github.com/fsnotify/fsnotify"

// Event says that something happened at a path.
type Event struct {
	// Path is absolute.
	Path string
	// Entry is true where a name appeared, vanished or was replaced, and
	// false where only what it holds or its metadata changed.
	Entry bool
}

// Source is where events come from: the operating system, or a test. Watches
// are on folders, by absolute path, and see the folder's own entries alone.
type Source interface {
	// Add watches a folder. Adding it twice is no error.
	Add(dir string) error
	// Remove ends the watch of a folder.
	Remove(dir string) error
	// List returns the folders that are watched.
	List() []string
	// Close ends all watches. No event is told after it returns, except
	// those that are being told.
	Close() error
}

// Sink takes what a source hears. Either may be called from any goroutine.
// Broken must never block.
type Sink struct {
	Event func(Event)
	// Broken says that events were lost, or that the source is of no more use.
	Broken func(error)
}

// Open begins a source.
type Open func(Sink) (Source, error)

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
