package loop

// semaphore bounds how many passes do something side by side. A pass that waits for
// the disk or for a lock releases the one for workers, so that others get ready
// meanwhile and share its rounds of fsync. Passes get it in the order in which they
// ask, and only one at a time begins: those that come back from a wait do not wait for
// all that have not begun.
type semaphore chan struct{}

func (s semaphore) acquire() { s <- struct{}{} }

func (s semaphore) release() { <-s }
