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

// Facts decide whether people are told about a request, and when.
type Facts struct {
	Family, Type string
	Tags         []string
	// At is when it was asked. Deadline is zero if there is none.
	At, Deadline time.Time
	// Unannounced says that the request's family tells nobody about it.
	Unannounced bool
}

// Request is an open request that people may be told about.
type Request struct {
	ID string // "<run>:<request id>"
	// At and Deadline are as in Facts; At is zero until somebody has looked.
	At, Deadline time.Time
	// Look returns what is known of the request now. It returns false if the request is not
	// open.
	Look func() (Facts, bool)
	// Say words the request for people. It returns false if the request is not open.
	Say func(rung string) (Message, bool)
}

// Options configure a notifier.
type Options struct {
	// State is where the ledger is kept.
	State *statedir.Dir
	// Settings returns the present settings.
	Settings func() Settings
	// List lists the requests that are open.
	List func() []Request
	// Summarize words n requests as one message, given the first messages.
	Summarize func(n int, first []Message) Message
	// Environ is the environment for showing a message on the desktop, nil for the
	// environment of this process.
	Environ []string
	// Env is the environment of the user's own program.
	Env func() []string
	// Answer gives the answer of a press; nil: messages have no buttons. Listener names the
	// processes that know the same requests as this one.
	Answer   Answer
	Listener string
	// PostTo is the address whose calls come to Press; "" if buttons post to the topic of answers.
	PostTo string
	// Lang returns the language of the records of attempts.
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
	// following counts the streams that are open.
	following sync.WaitGroup
	// calling is held while a call answers; calls are those that answered nothing.
	calling sync.Mutex
	calls   failures

	// The fields below belong to the loop.
	settings Settings
	plan     plan
	broken   string // the last problem that was logged
	open     map[string]*openRequest
	relist   time.Time
	streams  map[string]context.CancelFunc
}

// event says that a request has opened or closed, or that those of a list may have opened.
type event struct {
	Request
	closed bool
	list   func() []Request
}

// openRequest is a request, and the time to look at it again.
type openRequest struct {
	Request
	next  time.Time
	later time.Time // the time of its next rung, zero for never
}

const (
	// gather is how long the notifier waits for more events after one.
	gather = 100 * time.Millisecond
	// longestNap is the longest time between two looks at the clock: it may be set, or the
	// machine may sleep.
	longestNap = 30 * time.Second
	// listEvery is how often all open requests are listed.
	listEvery = 10 * time.Minute
	// mostMinute is how many messages a target gets in a minute; one more message tells the
	// rest.
	mostMinute = 5
	// shownFirst is how many requests a summary names.
	shownFirst = 5
	// lastSends is how long an orderly end waits for messages that are being sent.
	lastSends = time.Second
)

// New returns a notifier. It tells people after calls of Begin and Run.
func New(o Options) *Notifier {
	n := &Notifier{
		o: o, ledger: ledger{dir: o.State, memory: newMemory()},
		woken: make(chan struct{}, 1), open: map[string]*openRequest{}, streams: map[string]context.CancelFunc{},
	}
	n.deliver = func(ctx context.Context, t target, m Message, env []string) error {
		if t.ntfy != nil && o.Answer != nil {
			return n.sendNtfy(ctx, t, m)
		}
		return deliver(ctx, t, m, o.Environ, env)
	}
	n.enabled.Store(o.Settings().Enabled())
	return n
}

// Opened says that a request has opened. It does not wait.
func (n *Notifier) Opened(r Request) { n.hear(event{Request: r}) }

// Closed says that a request is no longer open. It does not wait.
func (n *Notifier) Closed(id string) { n.hear(event{Request: Request{ID: id}, closed: true}) }

// Check says that the requests of a list may have opened. The list is made later. Check does not
// wait.
func (n *Notifier) Check(list func() []Request) { n.hear(event{list: list}) }

func (n *Notifier) hear(e event) {
	if !n.enabled.Load() { // all are listed once there are targets
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
	default: // it has not yet seen the last signal
	}
}

// Begin records that people are notified from now on. They are notified of requests that open
// after it returns once Run is called.
func (n *Notifier) Begin() {
	n.readSettings()
	if len(n.plan.targets) > 0 {
		n.begin(n.o.Now())
	}
}

// begin records the targets and rungs that appear for the first time.
func (n *Notifier) begin(now time.Time) (ok bool) {
	err := n.ledger.begin(n.plan.pairs(), now)
	if err != nil {
		n.complain("cannot notify: what was told cannot be recorded", err)
	}
	return err == nil
}

// Run tells people until the context ends. It then waits up to a second for messages that
// are being sent.
func (n *Notifier) Run(ctx context.Context) {
	sends, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			next := n.round(sends)
			n.follow(ctx)
			n.rest(ctx, next)
		}
		n.following.Wait()
		n.sending.Wait()
	}()
	<-ctx.Done()
	select {
	case <-done:
	case <-time.After(lastSends):
	}
}

// rest waits until a time, or until an event and a little longer.
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

// complain logs a problem, unless it was the last one logged.
func (n *Notifier) complain(text string, err error) {
	if said := text + err.Error(); said != n.broken {
		n.broken = said
		n.o.Log.Error(text, "err", err)
	}
}

// readSettings reads the settings. If they have changed, every open request is considered
// again.
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

// pairs returns a name for each rung of each target.
func (p plan) pairs() (names []string) {
	for _, r := range p.rungs {
		for _, key := range r.targets {
			names = append(names, key+" "+r.name)
		}
	}
	return names
}

// takeEvents applies the events of opening and closing.
func (n *Notifier) takeEvents(now time.Time) {
	n.mu.Lock()
	queue := n.queue
	n.queue = nil
	n.mu.Unlock()
	if !n.relist.After(now) || n.relist.Sub(now) > listEvery {
		n.relist = now.Add(listEvery)
		for _, r := range n.open {
			r.next = time.Time{} // the clock may have been set
		}
		for _, r := range n.o.List() {
			n.add(r)
		}
	}
	for _, e := range queue {
		switch {
		case e.list != nil:
			for _, r := range e.list() {
				n.add(r)
			}
		case e.closed:
			delete(n.open, e.ID)
		default:
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
	late bool // the quiet hours delayed it
}

// consider adds what is due about a request, by target, and returns the time of its next
// rung, zero for never.
func (n *Notifier) consider(r *openRequest, now time.Time, due map[string][]dueRung) (next time.Time) {
	if r.At.IsZero() {
		f, ok := r.Look()
		if !ok {
			return next
		}
		r.At, r.Deadline = f.At, f.Deadline
	}
	found := map[string]dueRung{} // the last rung of each target, which replaces those before
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
	// A refused attempt is due again, and a delayed request is looked at again.
	return earlier(next, now.Add(retries[0]))
}

// earlier returns the earlier of two times; zero means none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// tell sends a target what is due, in as many messages as it may get in a minute. It sends
// one message for everything if there is more, and one for everything that the quiet hours
// delayed.
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

// send tells a target about one request, or about several in one message. It records the
// attempt before it begins.
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

// start sends a message in a goroutine, and records the outcome.
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

// try sends a message, and returns the outcome.
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

// reason returns why a message may not have arrived, "" if it has.
func (n *Notifier) reason(err error) string {
	if err == nil {
		return ""
	}
	return templates.In(n.o.Lang(), err)
}

// noticeRung is the only rung of a notice, which is about no request.
const noticeRung = "notice"

// Notice tells the targets of [Settings.To] and the user's own program something that is
// not about a request, once for each key, and waits until it is told or 10 s have passed.
// It tells nothing in quiet hours, and nothing to a target that has had its messages of
// this minute. It is for a notifier that does not run.
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
