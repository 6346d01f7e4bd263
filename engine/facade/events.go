package facade

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"placet/templates"
)

// Bounds of the stream of events.
const (
	// remembered is how many past events a client can catch up on.
	remembered = 10_000
	// mostStreams is how many clients may listen at once.
	mostStreams = 64
	// mostBehind is how many events a client may be behind; then its stream ends.
	mostBehind = 1000
	// keepAlive is how often a stream sends a sign of life.
	keepAlive = 15 * time.Second
	// lookAtCaller is how often a stream checks whether its client may still listen.
	lookAtCaller = time.Second
)

// Event is one thing that happened.
type Event struct {
	// ID is unique; it is "" for an event that no commit caused, which is not repeated.
	ID string
	// Name is the name by which clients filter, Aliases are further names.
	Name    string
	Aliases []string
	Family  string
	Run     string // "<family>/<id>"
	// Session is the worker's session that the event is about, "" for none.
	Session string
	Data    any
	text    []byte
}

// Events sends events to all clients. The zero value is ready for use.
type Events struct {
	mu      sync.Mutex
	past    []Event // the newest last
	clients map[*client]bool
	closed  bool
}

// client is one stream.
type client struct {
	filter func(Event) bool
	events chan Event
}

// Publish sends events to all clients, in order. It waits for no client.
func (e *Events) Publish(events ...Event) {
	for i := range events {
		events[i].text = frame(events[i])
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, one := range events {
		if one.ID != "" {
			e.past = append(e.past, one)
		}
		for c := range e.clients {
			if !c.filter(one) {
				continue
			}
			select {
			case c.events <- one:
			default: // too far behind
				close(c.events)
				delete(e.clients, c)
			}
		}
	}
	if extra := len(e.past) - remembered; extra > remembered/10 {
		e.past = slices.Clone(e.past[extra:])
	}
}

// frame returns an event in the form of the stream. JSON contains no line end, so
// nothing in the data can begin another field.
func frame(e Event) []byte {
	var b bytes.Buffer
	if e.ID != "" {
		fmt.Fprintf(&b, "id: %s\n", oneLine(e.ID))
	}
	data, err := json.Marshal(e.Data)
	if err != nil {
		data = []byte("null")
	}
	fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", oneLine(e.Name), templates.EscapeJSON(data))
	return b.Bytes()
}

func oneLine(s string) string {
	return strings.NewReplacer("\n", " ", "\r", " ", "\x00", " ").Replace(s)
}

// Close ends all streams.
func (e *Events) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	for c := range e.clients {
		close(c.events)
	}
	e.clients = nil
}

// listen begins a stream, first with the events after the event last, which must be one
// that the client may see. missed says that no such event is remembered.
func (e *Events) listen(last string, sees, filter func(Event) bool) (c *client, before []Event, missed bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || len(e.clients) >= mostStreams {
		return nil, nil, false, Refuse(http.StatusServiceUnavailable, "streams", fmt.Sprintf("there are %d streams already", mostStreams))
	}
	if last != "" {
		i := slices.IndexFunc(e.past, func(one Event) bool { return one.ID == last && sees(one) })
		missed = i < 0
		if !missed {
			before = slices.DeleteFunc(slices.Clone(e.past[i+1:]), func(one Event) bool { return !filter(one) })
		}
	}
	c = &client{filter: filter, events: make(chan Event, mostBehind)}
	if e.clients == nil {
		e.clients = map[*client]bool{}
	}
	e.clients[c] = true
	return c, before, missed, nil
}

func (e *Events) leave(c *client) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.clients, c)
}

// Stream answers a call with the events that its caller may see and asks for, until the
// caller leaves, or may no longer see them.
func (e *Events) Stream(c *Call, isValid func() bool) error {
	client, before, missed, err := e.listen(c.Header.Get("Last-Event-ID"), c.seesEvent, c.eventFilter())
	if err != nil {
		return err
	}
	defer e.leave(client)
	out := http.NewResponseController(c.Writer)
	_ = out.SetReadDeadline(time.Time{})
	c.Writer.Header().Set("Content-Type", "text/event-stream")
	c.Writer.Header().Set("X-Accel-Buffering", "no") // a proxy must not hold events back
	send := func(text []byte) error {
		_ = out.SetWriteDeadline(time.Now().Add(answerTime))
		if _, err := c.Writer.Write(text); err != nil {
			return err
		}
		return nil
	}
	begin := frame(Event{Name: "connection.established", Data: map[string]any{"missed": missed}})
	if missed {
		begin = append(begin, frame(Event{Name: "reset", Data: map[string]any{"reason": "the events since Last-Event-ID are not remembered: fetch anew"}})...)
	}
	for _, one := range before {
		begin = append(begin, one.text...)
	}
	if send(begin) != nil || out.Flush() != nil {
		return nil
	}
	alive, look := time.NewTicker(keepAlive), time.NewTicker(lookAtCaller)
	defer alive.Stop()
	defer look.Stop()
	for {
		text := []byte(": alive\n\n")
		select {
		case <-c.Context().Done():
			return nil
		case <-look.C:
			if !isValid() {
				return nil
			}
			continue
		case one, ok := <-client.events:
			if !ok {
				return nil
			}
			text = one.text
		case <-alive.C:
		}
		if send(text) != nil || out.Flush() != nil {
			return nil
		}
	}
}

// seesEvent reports whether the caller may see an event.
func (c *Call) seesEvent(e Event) bool { return e.Family == "" || c.Who.Sees(e.Family) }

// eventFilter returns a filter for the events that a call asks for, of those that its
// caller may see.
func (c *Call) eventFilter() func(Event) bool {
	family, run, session := c.Text("family"), c.Text("run"), c.Text("session_id")
	var names []string
	if list := c.Text("filter"); list != "" {
		names = strings.Split(list, ",")
	}
	return func(e Event) bool {
		named := names == nil || slices.Contains(names, e.Name) || slices.ContainsFunc(e.Aliases, func(a string) bool { return slices.Contains(names, a) })
		return named && c.seesEvent(e) && (family == "" || e.Family == family) && (run == "" || e.Run == run) &&
			(session == "" || e.Session == "" || e.Session == session)
	}
}
