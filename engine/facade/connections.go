package facade

import (
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	// mostAnonymous bounds the open connections of unidentified callers, and mostIdentified
	// those of identified ones. The two have separate bounds, so unidentified callers take no
	// connection from the others.
	mostAnonymous, mostIdentified = 64, 256
	// graceTime is how long a connection may remain anonymous before a newer one replaces it.
	// A header is sent at once; the time is for a busy machine.
	graceTime = 250 * time.Millisecond
)

// connections is a listener that bounds the number of open connections. A connection is
// anonymous until a call on it identifies its caller, and again after a call that does not. If
// there are too many anonymous ones, the oldest is closed for the next.
type connections struct {
	net.Listener
	mostAnonymous, mostIdentified int
	// room receives a value when an anonymous connection is gone.
	room  chan struct{}
	ended chan struct{}
	end   func()

	mu         sync.Mutex
	anonymous  []*connection // the oldest first
	identified []*connection
}

// connection is a connection that connections has accepted.
type connection struct {
	net.Conn
	of *connections
	// since is when it became anonymous, idle when its last call was answered; idle is the
	// zero time during a call.
	since, idle time.Time
}

// LimitConns returns a listener for unidentified callers, with at most so many connections at
// once.
func LimitConns(l net.Listener, most int) net.Listener { return limit(l, most, 0) }

func limit(l net.Listener, anonymous, identified int) *connections {
	all := &connections{Listener: l, mostAnonymous: anonymous, mostIdentified: identified, room: make(chan struct{}, 1), ended: make(chan struct{})}
	all.end = sync.OnceFunc(func() { close(all.ended) })
	return all
}

// Accept implements [net.Listener].
func (l *connections) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: conn, of: l}
	for wait := l.add(c); wait > 0; wait = l.add(c) {
		select {
		case <-l.room:
		case <-time.After(wait):
		case <-l.ended:
			_ = conn.Close()
			return nil, net.ErrClosed
		}
	}
	return c, nil
}

// Close implements [net.Listener]. It does not wait for room.
func (l *connections) Close() error {
	l.end()
	return l.Listener.Close()
}

// add adds a connection. If there is no room, it closes the oldest anonymous one; wait is how
// long that one may still take to identify itself.
func (l *connections) add(c *connection) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.anonymous) >= l.mostAnonymous {
		oldest := l.anonymous[0]
		if wait := time.Until(oldest.since.Add(graceTime)); wait > 0 {
			return wait
		}
		l.drop(oldest)
	}
	c.since = time.Now()
	l.anonymous = append(l.anonymous, c)
	return 0
}

// drop closes a connection to make room for another. The caller holds the lock.
func (l *connections) drop(c *connection) {
	l.remove(c)
	_ = c.Conn.Close()
}

// remove removes a connection from its class, and reports whether it was in one. The caller
// holds the lock.
func (l *connections) remove(c *connection) bool {
	if i := slices.Index(l.anonymous, c); i >= 0 {
		l.anonymous = slices.Delete(l.anonymous, i, i+1)
		select {
		case l.room <- struct{}{}:
		default:
		}
		return true
	}
	i := slices.Index(l.identified, c)
	if i >= 0 {
		l.identified = slices.Delete(l.identified, i, i+1)
	}
	return i >= 0
}

// identify counts a connection among those of identified callers. If there are too many, it
// closes one that waits for its next call; it returns false if none does.
func (c *connection) identify() bool {
	if c == nil {
		return true
	}
	l := c.of
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.Contains(l.identified, c) {
		return true
	}
	if len(l.identified) >= l.mostIdentified && !l.dropIdle() {
		return false
	}
	if l.remove(c) { // otherwise it is closed already
		l.identified = append(l.identified, c)
	}
	return true
}

// dropIdle closes the identified caller's connection that has waited longest for its next
// call. The caller holds the lock.
func (l *connections) dropIdle() bool {
	var longest *connection
	for _, c := range l.identified {
		if !c.idle.IsZero() && (longest == nil || c.idle.Before(longest.idle)) {
			longest = c
		}
	}
	if longest == nil {
		return false
	}
	l.drop(longest)
	return true
}

// forget counts a connection among the anonymous ones again, because a call on it did not
// identify its caller, or did so with a token that is no longer valid.
func (c *connection) forget() {
	if c == nil {
		return
	}
	l := c.of
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.identified, c) {
		return
	}
	l.remove(c)
	if len(l.anonymous) >= l.mostAnonymous {
		l.drop(l.anonymous[0])
	}
	c.since = time.Now()
	l.anonymous = append(l.anonymous, c)
}

// Close implements [net.Conn].
func (c *connection) Close() error {
	c.of.mu.Lock()
	c.of.remove(c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// connectionState notes which connections wait for their next call. It is the ConnState of
// [http.Server].
func connectionState(conn net.Conn, state http.ConnState) {
	c, ok := conn.(*connection)
	if !ok {
		return
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.idle = time.Time{}
	if state == http.StateIdle {
		c.idle = time.Now()
	}
}

// connectionKey is the key of a call's connection in the context of the call.
type connectionKey struct{}

// connectionOf returns the connection of a call, nil if another listener accepted it.
func connectionOf(r *http.Request) *connection {
	c, _ := r.Context().Value(connectionKey{}).(*connection)
	return c
}
