package notify

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"placet/engine/statedir"
	"placet/templates"
)

// Facts are what decides whether people are told about a request, and when.
type Facts struct {
	Family, Type string
	Tags         []string
	// At is when it was asked, Deadline zero for none.
	At, Deadline time.Time
	// Unannounced says that its family tells nobody about it.
	Unannounced bool
}

// Request is an open request that people may be told about.
type Request struct {
	ID string // "<run>:<request id>"
	// At and Deadline are as in Facts; At is zero where nobody has looked yet.
	At, Deadline time.Time
	// Look looks what is known of the request now. It is false where it is not open.
	Look func() (Facts, bool)
	// Say words the request for people. It is false where it is not open.
	Say func(rung string) (Message, bool)
}

// Options are what a notifier works with.
type Options struct {
	// State is where the ledger is kept.
	State *statedir.Dir
	// Settings are those that hold now.
	Settings func() Settings
	// List lists the requests that are open.
	List func() []Request
	// Summarize words n requests as one message, given the first of them.
	Summarize func(n int, first []Message) Message
	// Environ is the environment for showing a message on the desktop, nil for that of this
	// process.
	Environ []string
	// Env is the environment of the user's own program.
	Env func() []string
	// Lang is the language of what is recorded about attempts.
	Lang func() string
	// Now is the clock, in the zone of the quiet hours.
	Now func() time.Time
	Log *slog.Logger
}

// Notifier tells people that requests are open.
type Notifier struct {
	o       Options
	ledger  ledger
	deliver func(ctx context.Context, t target, m Message, env []string) error

	woken   chan struct{}
	enabled atomic.Bool
	mu      sync.Mutex
	queue   []event
	sending sync.WaitGroup

	// Of the loop.
	settings Settings
	plan     plan
	broken   string // what was said last to be wrong
	open     map[string]*openRequest
	relist   time.Time
}

// event says that a request has opened or closed.
type event struct {
	Request
	closed bool
}

// openRequest is a request, and when to look at it again.
type openRequest struct {
	Request
	next  time.Time
	later time.Time // when its next rung is, zero for never
}

const (
	// gather is how long it is waited for more to happen.
	gather = 100 * time.Millisecond
	// longestNap is how long nobody looks at the clock: it may be put, or the machine sleep.
	longestNap = 30 * time.Second
	// listEvery is how often all open requests are listed.
	listEvery = 10 * time.Minute
	// mostMinute is how many messages a target gets in a minute; what is due besides is told
	// in one more.
	mostMinute = 5
	// shownFirst is how many requests a summary names.
	shownFirst = 5
	// lastSends is how long an orderly end waits for what is under way.
	lastSends = time.Second
)

// New returns a notifier. Begin and then Run have it tell people.
func New(o Options) *Notifier {
	n := &Notifier{
		o: o, ledger: ledger{dir: o.State, memory: newMemory()}, deliver: func(ctx context.Context, t target, m Message, env []string) error {
			return deliver(ctx, t, m, o.Environ, env)
		},
		woken: make(chan struct{}, 1), open: map[string]*openRequest{},
	}
	n.enabled.Store(o.Settings().Enabled())
	return n
}

// Opened says that a request has opened. It does not wait.
func (n *Notifier) Opened(r Request) { n.hear(event{Request: r}) }

// Closed says that a request is not open any more. It does not wait.
func (n *Notifier) Closed(id string) { n.hear(event{Request{ID: id}, true}) }

func (n *Notifier) hear(e event) {
	if !n.enabled.Load() { // all are listed once somebody is to be told
		return
	}
	n.mu.Lock()
	n.queue = append(n.queue, e)
	n.mu.Unlock()
	n.wake()
}

func (n *Notifier) wake() {
	select {
	case n.woken <- struct{}{}:
	default: // it has not heard of the last time yet
	}
}

// Begin records that people are told from now on. Whatever opens after it returns is told
// once Run is called.
func (n *Notifier) Begin() {
	n.readSettings()
	if len(n.plan.targets) > 0 {
		n.begin(n.o.Now())
	}
}

// begin records targets and rungs that are there for the first time.
func (n *Notifier) begin(now time.Time) (ok bool) {
	err := n.ledger.begin(n.plan.pairs(), now)
	if err != nil {
		n.complain("cannot notify: what was told cannot be recorded", err)
	}
	return err == nil
}

// Run tells people until the context ends. What is under way then is waited for, for a
// second.
func (n *Notifier) Run(ctx context.Context) {
	sends, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			n.rest(ctx, n.round(sends))
		}
		n.sending.Wait()
	}()
	<-ctx.Done()
	select {
	case <-done:
	case <-time.After(lastSends):
	}
}

// rest waits until a moment, or until something happens and a little longer.
func (n *Notifier) rest(ctx context.Context, until time.Time) {
	t := time.NewTimer(min(max(until.Sub(n.o.Now()), gather), longestNap))
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	case <-n.woken:
		t.Reset(gather)
		select {
		case <-ctx.Done():
		case <-t.C:
		}
	}
}

// round sends what is due, and returns when to look again.
func (n *Notifier) round(ctx context.Context) (next time.Time) {
	now := n.o.Now()
	later := now.Add(longestNap)
	n.readSettings()
	if len(n.plan.targets) == 0 {
		clear(n.open)
		return later
	}
	if !n.begin(now) {
		return later
	}
	n.takeEvents(now)
	due := map[string][]dueRung{}
	for id, r := range n.open {
		if r.next.After(now) {
			continue
		}
		if r.next = n.consider(r, now, due); r.next.IsZero() {
			delete(n.open, id) // nothing follows
		}
	}
	for key, list := range due {
		n.tell(ctx, n.plan.targets[key], list, now)
	}
	next = later
	for _, r := range n.open {
		if r.next.Before(next) {
			next = r.next
		}
	}
	return next
}

// complain says once what is wrong.
func (n *Notifier) complain(text string, err error) {
	if said := text + err.Error(); said != n.broken {
		n.broken = said
		n.o.Log.Error(text, "err", err)
	}
}

// readSettings takes over other settings. Then every open request is considered anew.
func (n *Notifier) readSettings() {
	s := n.o.Settings()
	n.enabled.Store(s.Enabled())
	if reflect.DeepEqual(s, n.settings) {
		return
	}
	n.settings = s
	var err error
	if n.plan, _, err = s.plan(); err != nil { // they were checked
		n.complain("cannot notify", err)
		n.plan = plan{}
	}
	n.relist = time.Time{}
}

// pairs name each rung of each target.
func (p plan) pairs() (names []string) {
	for _, r := range p.rungs {
		for _, key := range r.targets {
			names = append(names, key+" "+r.name)
		}
	}
	return names
}

// takeEvents takes in what has opened and closed.
func (n *Notifier) takeEvents(now time.Time) {
	n.mu.Lock()
	queue := n.queue
	n.queue = nil
	n.mu.Unlock()
	if !n.relist.After(now) || n.relist.Sub(now) > listEvery {
		n.relist = now.Add(listEvery)
		for _, r := range n.open {
			r.next = time.Time{} // the clock may have been put
		}
		for _, r := range n.o.List() {
			n.add(r)
		}
	}
	for _, e := range queue {
		if e.closed {
			delete(n.open, e.ID)
		} else {
			n.add(e.Request)
		}
	}
}

func (n *Notifier) add(r Request) {
	if n.open[r.ID] == nil {
		n.open[r.ID] = &openRequest{Request: r}
	}
}

// dueRung is a rung of a request that is due at a target.
type dueRung struct {
	*openRequest
	rung
	late bool // the quiet hours held it back
}

// consider adds what is due about a request, by target, and returns when the next of its
// rungs is, zero for never.
func (n *Notifier) consider(r *openRequest, now time.Time, due map[string][]dueRung) (next time.Time) {
	if r.At.IsZero() {
		f, ok := r.Look()
		if !ok {
			return next
		}
		r.At, r.Deadline = f.At, f.Deadline
	}
	found := map[string]dueRung{} // the last of each target: it stands for those before
	for _, step := range n.plan.rungs {
		at := r.At.Add(step.age)
		for _, key := range step.targets {
			when, ok := n.ledger.dueAt(r.ID, key, step, at)
			if !ok {
				continue
			}
			shifted := n.plan.quiet.due(when.In(now.Location()), r.Deadline)
			switch {
			case shifted.After(now):
				next = earlier(next, shifted)
			default:
				found[key] = dueRung{r, step, shifted.After(when)}
			}
		}
	}
	if r.later = next; len(found) == 0 {
		return next
	}
	if f, ok := r.Look(); !ok || f.Unannounced || !n.plan.wants(f) {
		return time.Time{}
	}
	for key, d := range found {
		due[key] = append(due[key], d)
	}
	// A refused attempt is due again, and what is put off is looked at again.
	return earlier(next, now.Add(retries[0]))
}

// earlier is the earlier of two moments; zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// tell sends a target what is due, in so many messages as it may get in a minute: one for
// all where there are more, and one for what the quiet hours held back.
func (n *Notifier) tell(ctx context.Context, t target, list []dueRung, now time.Time) {
	slices.SortFunc(list, func(a, b dueRung) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	sent := n.ledger.lastMinute(t.key, now)
	if len(sent) > mostMinute {
		for _, d := range list { // all of them at once
			d.next = earlier(d.later, sent[0].Add(time.Minute))
		}
		return
	}
	var late []dueRung
	var messages [][]dueRung
	for _, d := range list {
		if d.late {
			late = append(late, d)
		} else {
			messages = append(messages, []dueRung{d})
		}
	}
	if len(late) > 0 {
		messages = append(messages, late)
	}
	if len(messages) > max(mostMinute-len(sent), 1) {
		messages = [][]dueRung{list}
	}
	for _, about := range messages {
		n.send(ctx, t, about, now)
	}
}

// send tells a target about one request, or about several in one message. The attempt is
// recorded before it begins.
func (n *Notifier) send(ctx context.Context, t target, about []dueRung, now time.Time) {
	rungs := map[string]rung{}
	var first []Message
	for _, d := range about {
		if len(about) == 1 || len(first) < shownFirst {
			m, ok := d.Say(d.rung.name)
			if !ok {
				delete(n.open, d.ID)
				continue
			}
			first = append(first, m)
		}
		rungs[d.ID] = d.rung
	}
	if len(first) == 0 {
		return
	}
	attempt, mine, err := n.ledger.claim(t.key, rungs, now)
	if err != nil {
		n.complain("cannot notify: what was told cannot be recorded", err)
	}
	if attempt == 0 {
		return
	}
	m := first[0]
	if len(about) > 1 {
		m = n.o.Summarize(len(mine), first)
	}
	n.start(ctx, t, m, attempt)
}

// start sends a message beside the loop, and records what came of it.
func (n *Notifier) start(ctx context.Context, t target, m Message, attempt int) {
	n.sending.Go(func() {
		defer n.wake()
		outcome, err := n.try(ctx, t, m)
		if err != nil {
			n.o.Log.Warn("cannot notify", "target", t.key, "request", m.Request, "outcome", outcome, "err", err)
		}
		if err := n.ledger.end(attempt, outcome, n.reason(err), n.o.Now()); err != nil {
			n.o.Log.Warn("what came of a notification cannot be recorded", "target", t.key, "err", err)
		}
	})
}

// try sends a message, and says what came of it.
func (n *Notifier) try(ctx context.Context, t target, m Message) (outcome string, err error) {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	switch err = n.deliver(ctx, t, m, n.o.Env()); {
	case err == nil:
		return isSent, nil
	case errors.As(err, new(refusal)):
		return isRefused, err
	}
	return isUnknown, err
}

// reason is why a message may not have arrived, "" where it has.
func (n *Notifier) reason(err error) string {
	if err == nil {
		return ""
	}
	return templates.In(n.o.Lang(), err)
}

// noticeRung is the one rung of what is told about no request.
const noticeRung = "notice"

// Notice tells the targets of [Settings.To] and the user's own program something that is no
// request, once for each key, and waits until it is told or 10 s have passed. In quiet hours,
// and to a target that has had its messages of this minute, it is not told at all. It is for
// a notifier that does not run.
func (n *Notifier) Notice(ctx context.Context, key string, m Message) error {
	now := n.o.Now()
	n.readSettings()
	i := slices.IndexFunc(n.plan.rungs, func(r rung) bool { return r.name == opening })
	if i < 0 || n.plan.quiet.holds(now) {
		return nil
	}
	if err := n.ledger.refresh(); err != nil {
		return err
	}
	for _, target := range n.plan.rungs[i].targets {
		if len(n.ledger.lastMinute(target, now)) >= mostMinute {
			continue
		}
		attempt, _, err := n.ledger.claim(target, map[string]rung{noticeRung + ":" + key: {name: noticeRung}}, now)
		if err != nil {
			return err
		}
		if attempt > 0 {
			n.start(ctx, n.plan.targets[target], m, attempt)
		}
	}
	n.sending.Wait()
	return nil
}
