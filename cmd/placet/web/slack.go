package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"placet/cmd/placet/actions"
	"placet/cmd/placet/answer"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/facade"
	"placet/engine/loop"
	"placet/engine/nemawashi"
	"placet/engine/slack"
	"placet/internal/lazyregexp"
	"placet/templates"
)

// These are the limits of Slack, and of placet within them.
const (
	slackPatience = 2500 * time.Millisecond // of the three seconds that Slack waits
	slackLooks    = 2 * time.Second         // how long a reply waits for another answer
	slackLook     = 50 * time.Millisecond   // how often it looks
	slackSends    = 8                       // concurrent messages to users
)

// ok is the answer to Slack if there is nothing to say.
var ok = map[string]any{"ok": true}

// slackRoutes returns the routes that Slack calls.
func (a *App) slackRoutes() []facade.Route {
	return []facade.Route{
		{Method: http.MethodPost, Path: "/api/slack/interactions", Summary: "Presses of buttons, and dialogs, that Slack signs", Access: facade.Signed, Bare: true, Handle: a.signed("application/x-www-form-urlencoded", a.interaction)},
		{Method: http.MethodPost, Path: "/api/slack/events", Summary: "Replies in threads, that Slack signs", Access: facade.Signed, Bare: true, Handle: a.signed("application/json", a.slackEvent)},
	}
}

// signed accepts a call whose body has a type, and that Slack signed a short while ago. Its
// work ends before Slack stops waiting.
func (a *App) signed(kind string, handle func(*facade.Call) (int, any, error)) func(*facade.Call) (int, any, error) {
	return func(c *facade.Call) (int, any, error) {
		conf := a.b.Current().Slack
		secret, err := a.o.Sender.Secret(conf.SigningSecret())
		if err != nil {
			return 0, nil, fmt.Errorf("cannot verify what Slack sends: %w", err)
		}
		h := c.Header
		switch {
		case secret == "" && conf.AllowUnsigned && a.o.Loopback && facade.IsLoopback(c.Host):
		case !slack.Verify(secret, h.Get("X-Slack-Request-Timestamp"), h.Get("X-Slack-Signature"), c.Raw, time.Now(), conf.TTL()):
			c.Writer.Header().Set("X-Slack-No-Retry", "1")
			return 0, nil, facade.Refuse(http.StatusUnauthorized, "signature", "the signature is missing, wrong or too old")
		default:
			if err := a.server.Identified(c); err != nil {
				return 0, nil, err
			}
		}
		if err := c.CheckType(kind); err != nil {
			return 0, nil, err
		}
		ctx, stop := context.WithTimeout(c.Context(), slackPatience)
		defer stop()
		c.Request = c.WithContext(ctx)
		return handle(c)
	}
}

// nemawashiFamily is the family whose actions take answers in threads.
const nemawashiFamily = "nemawashi"

// presser matches the id of a user of Slack.
var presser = lazyregexp.New(`^[UW][A-Z0-9]{1,20}$`)

// press is the choice of a user in Slack.
type press struct {
	by     facade.Identity
	v      *workspace.Workspace
	at     view.RequestAt
	button slack.Action
	// option is the option of an approval, "" for the option with index i.
	option string
	i      int
	shown  string // digest of what the message showed, "" if the request's id alone says that
	key    string
}

// lang returns the language of the run.
func (p press) lang() string { return p.v.LanguageOf(p.at.Found) }

// say returns a text for the user.
func (p press) say(key string, pairs ...any) string { return templates.Phrase(p.lang(), key, pairs...) }

// interaction answers a press or a dialog.
func (a *App) interaction(c *facade.Call) (int, any, error) {
	x, is := slack.ReadInteraction(c.Raw)
	if !is || !presser.MatchString(x.User.ID) {
		return 0, ok, nil
	}
	switch {
	case x.Type == "block_actions" && len(x.Actions) > 0:
		act := x.Actions[0]
		p, found := a.pressOf(x, act)
		if !found {
			return 0, ok, nil
		}
		p.key = fmt.Sprintf("slack-interaction:%s:%s:%s", firstOf(act.TS, x.ActionTS, x.Message.TS, "unknown"), p.at.ID, act.ID)
		return a.pressed(c.Context(), x, p)
	case x.Type == "view_submission" && x.View.CallbackID == slack.DialogID:
		return a.submitted(c.Context(), x)
	}
	return 0, ok, nil
}

func firstOf(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}

// slackUser returns the identity of a caller from Slack.
func slackUser(id string) facade.Identity {
	return facade.Identity{Known: "slack:" + id, User: id, Source: "slack"}
}

// pressOf returns the choice that a button stands for. All parts of its value must agree with
// one run.
func (a *App) pressOf(x slack.Interaction, act slack.Action) (p press, found bool) {
	parts, is := slack.Values(act.Value)
	if !is {
		return p, false
	}
	who := slackUser(x.User.ID)
	p = press{by: who, v: a.b.Viewer(who), button: act, shown: parts["shown"], i: -1}
	run, id := parts["run"], parts["request_id"]
	if number := parts["action_id"]; number != "" {
		options := map[string]string{"hitl_approve": "approve", "hitl_reject": "reject", "hitl_request_changes": "steer"}
		run, id, p.option = nemawashiFamily+"/"+number, parts["approval_request_id"], options[act.ID]
		if p.shown == "" { // in a message from an earlier version
			parts["shown"] = ""
		}
		n, err := strconv.Atoi(number)
		if err != nil || p.option == "" || len(parts) != 4 || parts["thread_id"] != nemawashi.ThreadID(n) {
			return p, false
		}
	} else {
		i, err := strconv.Atoi(parts["option"])
		if p.i = i; err != nil || i < 0 || len(parts) != 4 || act.ID != "hitl_option_"+parts["option"] {
			return p, false
		}
	}
	p.at, found = a.postedRequest(p.v, run, id)
	return p, found
}

// postedRequest returns a request, if its family is posted to Slack.
func (a *App) postedRequest(v *workspace.Workspace, run, id string) (view.RequestAt, bool) {
	family, _, _ := strings.Cut(run, "/")
	families := v.Settings.Slack.Families
	if !slices.Contains(families, family) && !slices.Contains(families, "*") {
		return view.RequestAt{}, false
	}
	at, err := view.ExactRequest(v, run+":"+id)
	return at, err == nil
}

// pressed gives the answer that a button stands for, or asks for the text that it needs. It
// does not wait for the outcome of the answer.
func (a *App) pressed(ctx context.Context, x slack.Interaction, p press) (int, any, error) {
	t, open := view.OpenRequestAt(p.v, p.at)
	option := p.choose(t)
	switch {
	case open && option == "":
		return 0, ok, nil
	case open && needsWords(t, option):
		if err := a.mayAnswer(p, t, option); err != nil {
			return a.slackAnswer(x, p, option, err)
		}
		if p.v.Settings.Slack.HasToken {
			return a.openDialog(ctx, x, p, t, option)
		}
		if p.at.Found.Run.Family != nemawashiFamily {
			a.notify(x, p.say("slack.words"))
			return 0, ok, nil
		}
		return a.give(ctx, x, p, answer.Reply{Option: option, Comment: "request_changes"})
	}
	return a.give(ctx, x, p, answer.Reply{Option: option})
}

// choose returns the id of the option that a button stands for, "" if the request has no such
// option.
func (p press) choose(t view.Request) string {
	if p.option != "" {
		return p.option
	}
	if p.i >= len(t.Options) {
		return ""
	}
	return t.Options[p.i].ID
}

func needsWords(t view.Request, option string) bool {
	return slices.Contains(t.CommentRequired, option)
}

// mayAnswer returns an error if the user may not answer with an option, before any text is
// asked for.
func (a *App) mayAnswer(p press, t view.Request, option string) error {
	r := answer.Reply{Option: option, Comment: "?", By: p.by.User}
	_, err := answer.NewResponse(p.v, t, r)
	if err != nil {
		return a.refusal(p.v, p.by, t, r, err)
	}
	return nil
}

// give writes an answer, and returns the answer to Slack.
func (a *App) give(ctx context.Context, x slack.Interaction, p press, r answer.Reply) (int, any, error) {
	r.By, r.Keys = p.by.User, []string{p.key}
	return a.slackAnswer(x, p, r.Option, a.write(ctx, p, r))
}

// write writes an answer if it is allowed. Otherwise the problem's code says why it is not. An
// answer that cannot be written does not count as refused, whatever the reason.
func (a *App) write(ctx context.Context, p press, r answer.Reply) error {
	t, open := view.OpenRequestAt(p.v, p.at)
	if !open {
		_, _, err := a.answerClosed(p.v, p.at, r)
		return err
	}
	if p.shown == "" && view.IDSaysShown(p.v, t) {
		p.shown = string(t.Digest)
	}
	if err := checkShown(p.v, t, p.shown); err != nil {
		return err
	}
	_, err := answer.Submit(ctx, p.v, t, r)
	if err == nil {
		return nil
	}
	err = a.refusal(p.v, p.by, t, r, err)
	if problem := problemIn(err); problem != nil && problem.Code == console.KindInTheWay {
		return facade.Deny(http.StatusServiceUnavailable, console.KindInTheWay, "say.text", "text", problem)
	}
	return err
}

// problemIn returns the problem in an error, nil for none.
func problemIn(err error) (p *facade.Problem) {
	errors.As(err, &p)
	return p
}

// slackAnswer returns the answer to Slack about an answer, and notifies its author if it does
// not count. An answer that could not be written is an error: Slack shows that it did not
// arrive.
func (a *App) slackAnswer(x slack.Interaction, p press, option string, err error) (int, any, error) {
	problem := problemIn(err)
	if err != nil && problem == nil {
		return 0, nil, err
	}
	words := map[string]string{"approve": "approved", "reject": "rejected", "steer": "request changes"}
	text := firstOf(words[option], option)
	switch {
	case problem == nil:
	case problem.Status == http.StatusServiceUnavailable:
		a.notify(x, problem.In(p.lang()))
		return 0, nil, err
	case problem.Code == "not_an_approver":
		text = "not allowed"
		a.notify(x, p.say("slack.approver"))
	case problem.Status == http.StatusConflict:
		text = "stale"
		a.notify(x, p.say("slack.stale", "why", problem))
	default:
		a.notify(x, problem.In(p.lang()))
		return 0, ok, nil
	}
	return 0, map[string]string{"text": text}, nil
}

// openDialog asks for the text that an option needs.
func (a *App) openDialog(ctx context.Context, x slack.Interaction, p press, t view.Request, option string) (int, any, error) {
	d := slack.Dialog{Lang: p.lang(), Title: option, Label: p.say("slack.dialog"), Metadata: p.button.Value}
	if option == "steer" {
		d.Title, d.Label = p.say("slack.changes"), p.say("slack.changes.what")
		for _, item := range t.Items {
			d.Choices = append(d.Choices, item.ID)
		}
	}
	sent := a.o.Sender.Send(ctx, a.slackCall("views.open", d.Open(x.TriggerID)))
	if sent.Outcome != engine.SendDone {
		a.o.Log.Warn("a dialog cannot be opened in Slack", "outcome", sent.Outcome, "reason", sent.Reason)
		a.notify(x, p.say("slack.dialog.failed"))
	}
	return a.slackAnswer(x, p, option, nil)
}

// submitted gives the answer of a dialog.
func (a *App) submitted(ctx context.Context, x slack.Interaction) (int, any, error) {
	act := slack.Action{Value: x.View.PrivateMetadata, ID: "hitl_request_changes"}
	if parts, is := slack.Values(act.Value); is && parts["option"] != "" {
		act.ID = "hitl_option_" + parts["option"]
	}
	p, found := a.pressOf(x, act)
	if !found {
		return 0, ok, nil
	}
	words := x.Words()
	if words == "" {
		return 0, slack.DialogErrors(p.say("slack.changes.needed")), nil
	}
	t, _ := view.OpenRequestAt(p.v, p.at)
	p.key = fmt.Sprintf("slack-interaction:%s:%s:%s", firstOf(x.View.ID, "unknown"), p.at.ID, act.ID)
	r := answer.Reply{Option: p.choose(t), Comment: words, By: p.by.User, Keys: []string{p.key}}
	if choice := x.Choice(); choice != "" {
		r.Selected = []string{choice}
	}
	err := a.write(ctx, p, r)
	if problem := problemIn(err); problem != nil && problem.Status != http.StatusServiceUnavailable {
		return 0, slack.DialogErrors(problem.In(p.lang())), nil
	}
	return 0, map[string]string{"response_action": "clear"}, err
}

// slackCall returns a call of a method of Slack.
func (a *App) slackCall(method string, body []byte) engine.Send {
	conf := a.b.Current().Slack.Machine()
	return engine.Send{
		Call: &engine.Call{URL: conf.API + "/" + method, Token: conf.Token, Slack: true, Body: body},
		Key:  "slack-" + engine.Sum(body).Hex()[:24], Timeout: 10 * time.Second,
	}
}

// notify sends a message to the user alone, by the address that Slack gave for that or by the
// channel. Nothing waits for it, and messages beyond slackSends at once are dropped.
func (a *App) notify(x slack.Interaction, text string) {
	if a.isSlack(x.ResponseURL) {
		body := slack.Response(text)
		a.send(engine.Send{Call: &engine.Call{URL: x.ResponseURL, Body: body}, Key: "slack-" + engine.Sum(body).Hex()[:24], Timeout: 10 * time.Second})
		return
	}
	a.notifyIn(x.Channel.ID, x.User.ID, "", text)
}

// notifyIn sends a message to one user of a channel, in a thread if there is one.
func (a *App) notifyIn(channel, user, thread, text string) {
	if !a.b.Current().Slack.HasToken || channel == "" {
		return
	}
	m := slack.Plain(text)
	m.Channel, m.User, m.ThreadTS = channel, user, thread
	a.send(a.slackCall("chat.postEphemeral", m.Encode()))
}

func (a *App) send(what engine.Send) {
	select {
	case a.sending <- struct{}{}:
	default:
		return
	}
	go func() {
		defer func() { <-a.sending }()
		if sent := a.o.Sender.Send(context.Background(), what); sent.Outcome != engine.SendDone {
			a.o.Log.Info("a message to a user of Slack was not taken", "outcome", sent.Outcome, "reason", sent.Reason)
		}
	}()
}

// isSlack reports whether an address belongs to Slack.
func (a *App) isSlack(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.User != nil {
		return false
	}
	api, err := url.Parse(a.b.Current().Slack.APIURL)
	return u.Host == "hooks.slack.com" || err == nil && u.Host == api.Host
}

// slackEvent answers a call about a reply in a thread.
func (a *App) slackEvent(c *facade.Call) (int, any, error) {
	e, err := slack.ReadEvent(c.Raw)
	if err != nil {
		return 0, nil, facade.Refuse(http.StatusBadRequest, "body", "the body must be JSON")
	}
	if e.Type == "url_verification" {
		return 0, map[string]string{"challenge": e.Challenge}, nil
	}
	if !e.IsReply() || !presser.MatchString(e.Event.User) {
		return 0, ok, nil
	}
	v := a.b.Viewer(slackUser(e.Event.User))
	if !slices.Contains(v.Settings.Slack.Families, nemawashiFamily) && !slices.Contains(v.Settings.Slack.Families, "*") {
		return 0, ok, nil
	}
	for _, f := range actions.All(v) {
		if st, is := actions.State(v, f); is && actions.InThread(v, f, st, e.Event.Channel, e.Event.ThreadTS) {
			return a.reply(c.Context(), v, f, e)
		}
	}
	return 0, ok, nil
}

// reply answers a message in the thread of an action. Slack repeats it until the answer is on
// disk.
func (a *App) reply(ctx context.Context, v *workspace.Workspace, f loop.Found, e slack.Event) (int, any, error) {
	looks, stop := context.WithTimeout(ctx, slackLooks)
	defer stop()
	for {
		if waits, err := a.tryReply(ctx, v, f, e); !waits || err != nil {
			return 0, ok, err
		}
		// The outcome depends on the state of the action after the other answer.
		select {
		case <-time.After(slackLook):
		case <-looks.Done():
			return 0, nil, facade.Refuse(http.StatusServiceUnavailable, "busy", "another answer waits to be taken: send it again")
		}
	}
}

// tryReply answers a reply in the present state of the action. waits says that another answer
// must be carried out first.
func (a *App) tryReply(ctx context.Context, v *workspace.Workspace, f loop.Found, e slack.Event) (waits bool, err error) {
	m := e.Event
	keys := []string{e.ID, "slack-message:" + m.Channel + ":" + m.TS}
	st, is := actions.State(v, f)
	if !is || actions.KnowsKey(v, f, st, keys...) {
		return !is, nil
	}
	say := func(request, text string) (bool, error) {
		a.notes.Lock()
		defer a.notes.Unlock()
		return false, actions.SayInThread(v, f, request, engine.Sum([]byte(m.Channel + "\n" + m.TS)).Hex()[:12], text)
	}
	who := slackUser(m.User)
	p := press{by: who, v: v, at: view.RequestAt{Found: f, ID: string(st.ApprovalRequestID)}}
	if st.Status != nemawashi.ApprovalPending {
		return say(lastRequest(st), p.say("slack.unasked", "action", st.ActionID, "status", st.Status))
	}
	t, open := view.OpenRequestAt(v, p.at)
	if !open {
		return true, nil
	}
	if problem := problemIn(a.mayAnswer(p, t, "steer")); problem != nil && problem.Code == "not_an_approver" {
		a.notifyIn(m.Channel, m.User, m.ThreadTS, p.say("slack.approver"))
		return false, nil
	}
	said := nemawashi.ReadReply(e.Typed())
	if !said.Steers {
		return say(p.at.ID, templates.Text(st.Language, string(said.Note)))
	}
	p.shown = string(t.Digest) // a request for changes approves nothing
	r := answer.Reply{Option: "steer", Comment: e.Typed(), By: who.User, Keys: keys}
	if said.Plan != "" {
		r.Selected = []string{said.Plan}
	}
	err = a.write(ctx, p, r)
	switch problem := problemIn(err); {
	case problem == nil || problem.Status == http.StatusServiceUnavailable:
		return false, err
	case problem.Code == "answer_in_place" || problem.Code == "closed":
		return true, nil
	default:
		return say(p.at.ID, console.Cut(problem.In(p.lang()), 1000))
	}
}

// lastRequest returns the newest request of an action.
func lastRequest(st nemawashi.State) string {
	if n := len(st.Requests); n > 0 {
		return st.Requests[n-1].ID
	}
	return string(st.ApprovalRequestID)
}
