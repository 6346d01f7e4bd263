// Package post makes the messages for Slack about a run. They are outputs of its requests
// like any other: each attempt is recorded before it begins.
package post

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/engine/slack"
	"placet/internal/lazyregexp"
	"placet/layout"
	"placet/schemas"
)

// slackTimeout is how long Slack may take to answer.
const slackTimeout = 10 * time.Second

const slackOutcome = "kernel/slack-outcome"

// Said is what a family says besides the prompts and summaries of its requests. The zero
// Said adds nothing.
type Said struct {
	// Text returns what a message shows of a request; nil: its prompt and summary.
	Text func(gate.Request) slack.Text
	// Reports returns the messages for requests that were posted. nil: none.
	Reports func() []Report
	// Successor returns the request that replaces a closed one, "" for none. known is false
	// while the run may still open it. nil: the receipts name it.
	Successor func(request string) (id string, known bool)
}

// Report is one message in the thread of a request, sent once.
type Report struct {
	// Request is the id of the request, Name distinguishes the report from others about it.
	Request, Name string
	Text          string
}

// Plan plans what to send to Slack about a run: each question that this machine has asked,
// how it ended, and the messages in its thread. A clone sends nothing, because it has asked
// nothing.
func Plan[S, V any](r *run.Run[S, V], w *run.Outputs, said Said) {
	conf := r.Snap.Facts.Config.Slack
	if !r.Begun || w.Fresh || !conf.Posts(r.Snap.Key.Family) {
		return
	}
	for _, f := range r.Folders {
		if f.Request == nil || !f.Doc.IssuedHere() {
			continue
		}
		p := posting[S, V]{r, w, conf, f, said}
		asked := p.posted()
		switch {
		case r.Asks(f):
			p.ask()
		case asked != nil && f.ReceiptDoc.IssuedHere() && f.Receipt != nil:
			p.close(*asked, *f.Receipt)
		}
		if asked != nil {
			p.inThread(*asked)
		}
	}
}

// posting is a request whose folder says what to send to Slack.
type posting[S, V any] struct {
	r    *run.Run[S, V]
	w    *run.Outputs
	conf engine.Slack
	f    *gate.Folder
	said Said
}

// post returns the request in the form that messages show.
func (p posting[S, V]) post() slack.Post {
	shown := p.f.Request.View(p.f.Doc.Body, p.f.Voids)
	x := slack.Post{Lang: p.r.Lang, Request: *p.f.Request, Run: p.r.Snap.Key, Shown: shown, Form: p.f.Dir + "/" + p.f.FormName(shown), AtDeadline: p.r.AtDeadline(*p.f.Request)}
	if p.said.Text != nil {
		x.Text = p.said.Text(*p.f.Request)
	}
	return x
}

// ask plans the message with the question.
func (p posting[S, V]) ask() {
	p.send("ask", "chat.postMessage", func() slack.Message {
		post := p.post()
		m := post.Ask(p.conf.Buttons)
		if m.Channel = p.conf.Channel; post.Text.Thread {
			if first := Where(p.r); first != nil {
				m.Channel, m.ThreadTS = first.Channel, first.ThreadTS
			}
		}
		return m
	})
}

// close plans the message that replaces the question after it is closed, once its successor
// is known.
func (p posting[S, V]) close(at Place, rc gate.Receipt) {
	if p.said.Successor != nil {
		next, known := p.said.Successor(p.f.ID)
		if !known {
			return
		}
		rc.SupersededBy = cmp.Or(rc.SupersededBy, next)
	}
	p.send("close", "chat.update", func() slack.Message {
		m := p.post().Closed(rc)
		m.Channel, m.TS = at.Channel, at.MessageTS
		return m
	})
}

// inThread plans the messages below the question.
func (p posting[S, V]) inThread(at Place) {
	say := func(kind, text string) {
		p.send(kind, "chat.postMessage", func() slack.Message {
			m := slack.Plain(text)
			m.Channel, m.ThreadTS = at.Channel, at.ThreadTS
			return m
		})
	}
	if p.said.Reports != nil {
		for _, report := range p.said.Reports() {
			if report.Request == p.f.ID {
				say("result-"+report.Name, report.Text)
			}
		}
	}
	for _, d := range p.r.Snap.Under(layout.RequestsDir + "/" + p.f.ID + "/" + layout.SlackDir) {
		var note struct {
			Text string `json:"text"`
		}
		byPlacet := slices.ContainsFunc(d.Known, func(k string) bool { return strings.HasPrefix(k, "slack:") })
		if d.Kind == layout.SlackNote && d.Present() && byPlacet && schemas.Decode("kernel/slack-note", d.Path, d.Body, &note) == nil {
			say(path.Base(path.Dir(d.Path)), note.Text)
		}
	}
}

// send plans the next attempt to send a message of a kind, or counts an overdue attempt
// without an outcome as lost. It does not repeat a message that may have arrived.
func (p posting[S, V]) send(kind, method string, message func() slack.Message) {
	r, rel := p.r, layout.RequestsDir+"/"+p.f.ID+"/"+layout.SlackDir+"/"+kind
	s := run.Sends(&r.Input, rel, slackOutcome, slackTimeout)
	id := "slack:" + r.Actions() + p.f.ID + "/" + kind + "/"
	switch {
	case s.UnderWay:
		id += strconv.Itoa(s.Attempts)
		// r.Due schedules a step for the deadline, because perhaps nobody watches the folder.
		if over := s.Due != "" && r.Due(s.Due); over && !r.Snap.Facts.Alive[id] {
			p.w.Resume(p.action(s, id, s.Attempts, engine.Send{}))
		}
		return
	case s.Last != nil && (s.Last.Outcome != engine.SendFailed || s.IsExhausted()):
		return
	case s.Last != nil && !r.Due(s.Again()):
		return
	case !p.conf.HasToken && kind != "ask":
		return // a webhook can only send the question
	}
	m, n := message(), s.Attempts+1
	call := &engine.Call{URL: p.conf.API + "/" + method, Token: p.conf.Token, Slack: true}
	if !p.conf.HasToken {
		m.Channel, m.ThreadTS = "", ""
		call = &engine.Call{Address: p.conf.Webhook}
	}
	call.Body = m.Encode()
	attempt := schemas.Object{
		{Name: "request_id", Value: p.f.ID}, {Name: "kind", Value: kind}, {Name: "attempt", Value: n}, {Name: "channel", Value: run.Text(m.Channel)},
		{Name: "thread_ts", Value: run.Text(m.ThreadTS)}, {Name: "started_at", Value: run.Seconds(r.Snap.Now)}, {Name: "deadline", Value: run.Deadline(r.Snap.Now, slackTimeout)},
	}
	key := "slack-" + engine.Sum([]byte(r.Actions() + p.f.ID + "/" + kind)).Hex()[:12] + "-" + strconv.Itoa(n)
	p.w.Begin(p.action(s, id+strconv.Itoa(n), n, engine.Send{Call: call, Key: key, Timeout: slackTimeout}), s.AttemptFile(n), run.Encoded(attempt))
}

func (p posting[S, V]) action(s run.Sending, id string, n int, send engine.Send) engine.Action {
	return engine.Action{
		ID: id, Send: &send, Outcome: p.r.Path(s.OutcomeFile(n)), Kind: layout.SlackOutcome,
		Fields: []engine.Field{{Name: "request_id", Value: p.f.ID}, {Name: "kind", Value: path.Base(s.Dir)}, {Name: "attempt", Value: n}},
	}
}

// Place says where a question is in Slack.
type Place struct {
	Channel   string `json:"channel"`
	MessageTS string `json:"message_ts"`
	ThreadTS  string `json:"thread_ts"`
}

var (
	slackChannel = lazyregexp.New(`^[A-Z0-9]{1,40}$`)
	slackTS      = lazyregexp.New(`^[0-9]{1,20}\.[0-9]{1,20}$`)
)

// posted returns where the question of the folder is, or nil if this machine did not post
// it.
func (p posting[S, V]) posted() *Place { return postedIn(&p.r.Input, p.f.ID) }

// At returns the place of a request of the run in Slack, nil if this machine did not post it.
func At[S, V any](r *run.Run[S, V], request string) *Place { return postedIn(&r.Input, request) }

func postedIn(r *run.Input, request string) *Place {
	s := run.Sends(r, layout.RequestsDir+"/"+request+"/"+layout.SlackDir+"/ask", slackOutcome, slackTimeout)
	if s.Last == nil || !s.Here {
		return nil
	}
	return ReadPlace(*s.Last, r.Snap.In(s.AttemptFile(s.Attempts)))
}

// ReadPlace returns where a question is in Slack, from the outcome of posting it and the
// attempt that was recorded before; nil if it was not posted.
func ReadPlace(o run.Outcome, attempt engine.Document) *Place {
	var answer struct {
		Channel string `json:"channel"`
		TS      string `json:"ts"`
	}
	var sent struct {
		ThreadTS run.Text `json:"thread_ts"`
	}
	if o.Outcome != engine.SendDone || schemas.DecodeValue(o.Response, &answer) != nil || !slackChannel.MatchString(answer.Channel) || !slackTS.MatchString(answer.TS) {
		return nil
	}
	at := &Place{answer.Channel, answer.TS, answer.TS}
	if attempt.Present() && schemas.Decode("", attempt.Path, attempt.Body, &sent) == nil && slackTS.MatchString(string(sent.ThreadTS)) {
		at.ThreadTS = string(sent.ThreadTS)
	}
	return at
}

// Where returns the place of the newest question of the run in Slack, or nil. All
// questions of a run that are asked in one thread have the same ThreadTS.
func Where[S, V any](r *run.Run[S, V]) *Place {
	for _, q := range slices.Backward(r.Requests()) {
		if at := postedIn(&r.Input, q.ID); at != nil {
			return at
		}
	}
	return nil
}
