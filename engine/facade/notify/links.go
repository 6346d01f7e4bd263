package notify

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"placet/engine/statedir"
	"placet/internal/lazyregexp"
	"placet/templates"
)

// A press of a button posts a one-time code to the topic of answers, which placet follows by a
// stream that it opens itself. Whoever can read a message has its codes, and a press proves no
// more than that. So a code stands for one answer to what was shown, is taken once, and expires;
// the answer is written as any other, and [gate.Verify] decides whether it counts.

// Answer gives the answer that a code stands for. The error says for people why it does not
// count. ok is false if this process does not know the request, so that another one may.
type Answer func(ctx context.Context, l statedir.Link) (ok bool, err error)

const (
	// mostWrong is how many presses that answer nothing are told of in a minute. A press that
	// counts is taken whatever others do.
	mostWrong = 20
	// pressTime is how long a press waits for another writer of its answer, and so delays others.
	pressTime = 5 * time.Second
	// longestSilence is how long a stream may bring nothing: servers send a line every 45 s.
	longestSilence = 3 * time.Minute
	// firstPause and longestPause are the times before a broken stream is opened again.
	firstPause   = time.Second
	longestPause = time.Minute
	// longestPress is the longest line of a stream that is read, in bytes.
	longestPress = 16 << 10
)

// codes makes a code for each button of a message.
func (n *Notifier) codes(t target, m Message) (codes []string, err error) {
	now := n.o.Now()
	for _, b := range m.Buttons.List {
		code, err := n.o.State.NewLink(statedir.Link{
			Request: m.Request, Digest: m.Buttons.Shown, Option: b.Option, Target: t.key, Expires: statedir.LinkExpires(now, m.Buttons.Until),
		}, now)
		if err != nil {
			return nil, err
		}
		codes = append(codes, n.codePrefix()+code)
	}
	return codes, nil
}

// codePrefix begins the codes of this workspace: several may share a topic of answers.
func (n *Notifier) codePrefix() string {
	return "placet-" + filepath.Base(n.o.State.Location())[:8] + "-"
}

// stream is a topic of answers that is followed, and the targets whose buttons post there.
type stream struct {
	name    string
	topic   *ntfyTopic
	targets map[string]target
	said    string // the last problem that was logged
	full    bool   // too many presses answered nothing
	failures
}

// streams returns the topics of answers, by a name for each and its targets.
func (p plan) streams() map[string]*stream {
	byTopic := map[string]*stream{}
	for _, t := range p.allTargets() {
		if t.ntfy == nil {
			continue
		}
		name := mark(strings.Join([]string{t.ntfy.at(t.ntfy.answers), t.ntfy.conf.Username, t.ntfy.conf.Password}, "\n"))
		if byTopic[name] == nil {
			byTopic[name] = &stream{name: name, topic: t.ntfy, targets: map[string]target{}}
		}
		byTopic[name].targets[t.key] = t
	}
	all := map[string]*stream{}
	for name, s := range byTopic {
		all[name+" "+strings.Join(slices.Sorted(maps.Keys(s.targets)), " ")] = s
	}
	return all
}

// allTargets returns the targets, in a fixed order.
func (p plan) allTargets() (all []target) {
	for _, key := range slices.Sorted(maps.Keys(p.targets)) {
		all = append(all, p.targets[key])
	}
	return all
}

// follow opens the streams that the settings want, and closes the others.
func (n *Notifier) follow(ctx context.Context) {
	wanted := map[string]*stream{}
	if n.o.Answer != nil {
		wanted = n.plan.streams()
	}
	for key, stop := range n.streams {
		if wanted[key] == nil {
			stop()
			delete(n.streams, key)
		}
	}
	for key, s := range wanted {
		if n.streams[key] == nil {
			own, stop := context.WithCancel(ctx)
			n.streams[key] = stop
			n.following.Go(func() { n.listen(own, s) })
		}
	}
}

// listen reads a stream until the context ends, and opens it again if it breaks.
func (n *Notifier) listen(ctx context.Context, s *stream) {
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, longestPause) {
		began, err := n.read(ctx, s)
		if began {
			pause = firstPause
		}
		if said := fmt.Sprint(err); ctx.Err() == nil && said != s.said && !began {
			s.said = said
			n.o.Log.Warn("presses of buttons are not read", "topic", s.name, "err", scrub(said, s.topic.at(s.topic.answers)))
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// ntfyEvent is a line of a stream.
type ntfyEvent struct {
	ID      string `json:"id"`
	Event   string `json:"event"`
	Message string `json:"message"`
}

// read opens a stream after the last message that was read, and reads it until it ends. began
// says that the server sent something.
func (n *Notifier) read(ctx context.Context, s *stream) (began bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	silence := time.AfterFunc(longestSilence, cancel)
	defer silence.Stop()
	since := "all"
	if last := n.o.State.LinksHeard(n.heardName(s)); messageID.MatchString(last) {
		since = last
	}
	r, err := s.topic.request(ctx, http.MethodGet, s.topic.at(s.topic.answers+"/json")+"?since="+url.QueryEscape(since), nil)
	if err != nil {
		return false, err
	}
	res, err := s.topic.client.Do(r)
	if err != nil {
		return false, err
	}
	defer res.Body.Close()
	if err := s.topic.refusal(res); err != nil {
		return false, err
	}
	lines := bufio.NewReaderSize(res.Body, longestPress)
	for {
		line, whole, err := readLine(lines)
		if err != nil {
			return began, err
		}
		silence.Reset(longestSilence)
		began, s.said = true, ""
		var e ntfyEvent
		if !whole || json.Unmarshal(line, &e) != nil || e.Event != "message" || !messageID.MatchString(e.ID) {
			continue
		}
		n.pressed(ctx, s, e)
		if ctx.Err() != nil {
			return began, ctx.Err() // the message may not have been answered
		}
		if err := n.o.State.HearLinks(n.heardName(s), e.ID); err != nil {
			n.o.Log.Info("the last press cannot be recorded", "err", err)
		}
	}
}

// messageID is the form of a message's id.
var messageID = lazyregexp.New(`^[A-Za-z0-9_-]{1,64}$`)

// heardName names the record of how far a stream was read. Processes that know other requests
// have records of their own.
func (n *Notifier) heardName(s *stream) string { return s.name + n.o.Listener }

// readLine reads a line. whole is false for a line that is too long, which is passed over.
func readLine(r *bufio.Reader) (line []byte, whole bool, err error) {
	line, err = r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, true, err
	}
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = r.ReadSlice('\n')
	}
	return nil, false, err
}

// pressed answers for the code in a message of a stream.
func (n *Notifier) pressed(ctx context.Context, s *stream, e ntfyEvent) {
	err := n.answer(ctx, &s.failures, func(key string) (t target, ok bool) { t, ok = s.targets[key]; return t, ok }, e.ID, e.Message)
	if errors.Is(err, errMany) && !s.full {
		n.o.Log.Warn("presses of buttons are passed over for a minute: too many answered nothing", "topic", s.name)
	}
	s.full = errors.Is(err, errMany)
}

// calledID stands for the message of a press that comes by a call: the button may repeat the call.
const calledID = "call"

// Press answers for the code in the body of a call that a button has made. The error says why the
// press does not count.
func (n *Notifier) Press(ctx context.Context, text string) error {
	p, _, err := n.o.Settings().plan()
	if err != nil {
		return err
	}
	n.calling.Lock()
	defer n.calling.Unlock()
	err = n.answer(ctx, &n.calls, func(key string) (t target, ok bool) { t = p.targets[key]; return t, t.ntfy != nil }, calledID, text)
	if errors.Is(err, errOther) {
		n.calls.add(n.o.Now())
	}
	return err
}

var (
	// errOther says that a text is no code of this workspace.
	errOther = templates.Errorf("notify.press.unknown")
	// errUnknown says that a text looks like one.
	errUnknown = templates.Errorf("notify.press.unknown")
	// errMany says that too many presses answered nothing.
	errMany = templates.Errorf("notify.press.many")
)

// answer answers for the code in a text, if this workspace has made it for one of its targets and
// nobody has used it. It tells the target why a press did not count.
func (n *Notifier) answer(ctx context.Context, f *failures, find func(key string) (target, bool), message, text string) error {
	code, mine := strings.CutPrefix(strings.TrimSpace(text), n.codePrefix())
	if !mine {
		return errOther
	}
	l, known := n.o.State.Link(code)
	t, has := find(l.Target)
	if fits := f.fits(n.o.Now()); !known || !has {
		f.add(n.o.Now())
		if !fits {
			return errMany
		}
		return errUnknown
	}
	known, err := n.use(ctx, code, message, l)
	if err == nil || !known || ctx.Err() != nil {
		return err
	}
	if f.fits(n.o.Now()) {
		n.tellRefused(ctx, t, l, err)
	}
	f.add(n.o.Now())
	return err
}

// tellRefused tells a target why a press did not count.
func (n *Notifier) tellRefused(ctx context.Context, t target, l statedir.Link, err error) {
	n.o.Log.Info("a press of a button did not count", "target", t.key, "request", l.Request, "err", err)
	lang := n.o.Lang()
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	said := t.ntfy.message(templates.Text(lang, "notify.press.refused"), templates.In(lang, err)+"\n"+l.Request)
	if err := t.ntfy.publish(ctx, said); err != nil {
		n.o.Log.Info("nobody was told that a press did not count", "target", t.key, "err", judge(err, t.url))
	}
}

// use takes the use of a code for a message and gives its answer.
func (n *Notifier) use(ctx context.Context, code, message string, l statedir.Link) (known bool, err error) {
	use, err := n.o.State.UseLink(code, message)
	switch {
	case err != nil:
		return true, err
	case use == statedir.LinkDone:
		return true, nil
	case use == statedir.LinkUsed:
		return true, templates.Errorf("notify.press.used")
	}
	if known, err = true, templates.Errorf("notify.press.expired"); !n.o.Now().After(l.Expires) {
		own, stop := context.WithTimeout(ctx, pressTime)
		known, err = n.o.Answer(own, l)
		stop()
	}
	if ctx.Err() != nil || !known {
		return known, err // the same message has the use again
	}
	if end := n.o.State.EndLink(code); end != nil {
		n.o.Log.Warn("the end of a press cannot be recorded", "err", end)
	}
	return true, err
}

// failures are the times of the last presses that answered nothing.
type failures []time.Time

// fits reports whether there were fewer than mostWrong in the last minute.
func (f *failures) fits(now time.Time) bool {
	*f = slices.DeleteFunc(*f, func(at time.Time) bool { return now.Sub(at) > time.Minute || at.After(now) })
	return len(*f) < mostWrong
}

// add adds one. It keeps no more than decide.
func (f *failures) add(now time.Time) {
	if len(*f) < mostWrong {
		*f = append(*f, now)
	}
}
