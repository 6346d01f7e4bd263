package notify

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"placet/engine/statedir"
)

// noon is a moment.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// office holds a workspace's requests, and a notifier that tells people about
// them.
type office struct {
	t        testing.TB
	state    *statedir.Dir
	settings atomic.Pointer[Settings]
	ahead    atomic.Int64 // of now
	now      func() time.Time
	lang     string // of what is recorded
	press    Answer // nil: messages have no buttons
	buttons  Buttons
	postTo   string

	mu       sync.Mutex
	requests map[string]Facts
	n        *Notifier
	stop     func()
}

// newOffice makes an office whose clock shows noon until it is set forward.
func newOffice(t testing.TB, s Settings) *office {
	t.Helper()
	dir := t.TempDir()
	o := &office{t: t, state: stateAt(t, dir), requests: map[string]Facts{}}
	o.now = func() time.Time { return noon.Add(time.Duration(o.ahead.Load())) }
	o.settings.Store(&s)
	return o
}

func stateAt(t testing.TB, dir string) *statedir.Dir {
	t.Helper()
	state, err := statedir.Create(filepath.Join(dir, "state"), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { state.Close() })
	return state
}

// begin starts a notifier, with another way to deliver unless it is nil.
func (o *office) begin(deliver func(context.Context, target, Message, []string) error) {
	o.t.Helper()
	o.n = New(Options{
		State: o.state, Settings: func() Settings { return *o.settings.Load() }, List: o.list, Now: o.now,
		Summarize: func(n int, first []Message) Message {
			var names []string
			for _, m := range first {
				names = append(names, m.Title)
			}
			return Message{Title: fmt.Sprintf("%d: %s", n, strings.Join(names, " "))}
		},
		Env: func() []string { return nil }, Answer: o.press, PostTo: o.postTo, Lang: func() string { return o.lang }, Log: slog.New(slog.DiscardHandler),
	})
	if deliver != nil {
		o.n.deliver = deliver
	}
	o.n.Begin()
	ctx, cancel := context.WithCancel(o.t.Context())
	done := make(chan struct{})
	go func() { o.n.Run(ctx); close(done) }()
	o.stop = func() { cancel(); <-done }
	o.t.Cleanup(o.stop)
}

// forward sets the clock forward.
func (o *office) forward(d time.Duration) {
	o.ahead.Add(int64(d))
	o.n.wake()
}

func (o *office) list() (all []Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for id := range o.requests {
		all = append(all, o.request(id))
	}
	return all
}

func (o *office) request(id string) Request {
	facts := func() (f Facts, open bool) {
		o.mu.Lock()
		defer o.mu.Unlock()
		f, open = o.requests[id]
		return f, open
	}
	return Request{ID: id, Look: facts, Say: func(rung string) (Message, bool) {
		_, open := facts()
		return Message{Title: id, Text: rung, Request: id, Run: "ask/" + id, Form: "/" + id + "/form.md", Rung: rung, Buttons: o.buttons}, open
	}}
}

// ask opens requests.
func (o *office) ask(f Facts, ids ...string) {
	if f.At.IsZero() {
		f.At = o.now().Truncate(time.Second)
	}
	o.mu.Lock()
	for _, id := range ids {
		o.requests[id] = f
	}
	o.mu.Unlock()
	for _, id := range ids {
		o.n.Opened(o.request(id))
	}
}

// answer closes a request.
func (o *office) answer(id string) {
	o.mu.Lock()
	delete(o.requests, id)
	o.mu.Unlock()
	o.n.Closed(id)
}

// mailbox is a way to deliver that stores the messages.
type mailbox struct {
	mu   sync.Mutex
	got  []string
	came chan string
	// fails says how an attempt ends.
	fails func(t target, m Message) error
}

func newMailbox() *mailbox { return &mailbox{came: make(chan string, 1000)} }

func (b *mailbox) deliver(_ context.Context, t target, m Message, _ []string) error {
	kind, _, _ := strings.Cut(t.key, "-")
	line := kind + " " + m.Title + " " + m.Text
	b.mu.Lock()
	b.got = append(b.got, line)
	b.mu.Unlock()
	b.came <- line
	if b.fails != nil {
		return b.fails(t, m)
	}
	return nil
}

// take returns the messages since the last call, sorted.
func (b *mailbox) take() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	got := b.got
	b.got = nil
	slices.Sort(got)
	return got
}

func fact() Facts { return Facts{Family: "ask", Type: "approval"} }
