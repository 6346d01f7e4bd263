package facade

import (
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	// mostAnonymous is how many connections there may be at once whose caller has not said
	// who they are, and mostIdentified of those who have. They share nothing: whoever has no
	// name takes no place of one who has.
	mostAnonymous, mostIdentified = 64, 256
	// graceTime is how long a connection has to say who it is before a newer one takes its
	// place. A header is sent at once; the time is for a busy machine.
	graceTime = 250 * time.Millisecond
)

// connections is a listener that bounds how many connections there are. A connection is
// anonymous until a call on it says who calls, and again once a call does not. Where there are
// too many anonymous ones, the oldest is closed for the next.
type connections struct {
	net.Listener
	mostAnonymous, mostIdentified int
	// room receives when an anonymous connection has gone.
	room  chan struct{}
	ended chan struct{}
	end   func()

	mu         sync.Mutex
	anonymous  []*connection // the oldest first
	identified []*connection
}

// connection is one that such a listener has accepted.
type connection struct {
	net.Conn
	of *connections
	// since is when it became anonymous, idle when its last call was answered: the zero
	// time while one is under way.
	since, idle time.Time
}

// LimitConns returns a listener of callers who say no name, with so many connections at once.
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

// add takes a connection in. Where there is no room, the oldest anonymous one makes it; wait
// is how long that one may still take to say who it is.
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

// drop closes a connection to make room for another. The lock is held.
func (l *connections) drop(c *connection) {
	l.remove(c)
	_ = c.Conn.Close()
}

// remove takes a connection out of its class, and reports whether it was in one. The lock is
// held.
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

// identify counts a connection among those of known callers. One of them that waits for its
// next call makes room for it; identify is false where none does.
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
	if l.remove(c) { // else it is closed already
		l.identified = append(l.identified, c)
	}
	return true
}

// dropIdle closes the known caller's connection that has waited longest for its next call. The
// lock is held.
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

// forget counts a connection among the anonymous ones again: a call on it has said no name, or
// one that is good no more.
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

// connectionState notes which connections wait for their next call. It is [http.Server]'s ConnState.
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

// connectionKey is where the context of a call holds its connection.
type connectionKey struct{}

// connectionOf is the connection of a call, nil where the listener is another.
func connectionOf(r *http.Request) *connection {
	c, _ := r.Context().Value(connectionKey{}).(*connection)
	return c
}
