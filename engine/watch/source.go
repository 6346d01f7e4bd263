package watch

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
