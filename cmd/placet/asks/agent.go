package asks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"placet/cmd/placet/answer"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/ask"
	"placet/engine/facade"
	"placet/engine/facade/mcp"
	"placet/engine/gate"
	"placet/engine/loop"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Agent is a workspace as an agent sees it over MCP. It implements [mcp.Workspace]. Only the
// dialogue of the agent's host gives answers, since the host's user is the caller.
type Agent struct {
	Asks *Asks
	// Who is the caller. Its name for gates is "" for the owner of this process.
	Who facade.Identity
	// Origin keeps the keys of two callers apart that ask the same.
	Origin string
	// Session is the agent's session, as its host calls it, "" if it is not known.
	Session string
	// Look returns the workspace with all its families, for one call.
	Look func() *workspace.Workspace
	// Explanation returns the explanation for people of a run's state.
	Explanation func(b *workspace.Workspace, s view.Subject) string
}

// AgentEnv returns the environment for agents of a workspace: it prints to standard error
// alone, and paths are relative to the workspace.
func AgentEnv(w *console.Env, root string) *console.Env {
	own := *w
	own.Out, own.Colour, own.Flags.JSON = w.Err, false, false
	own.Cwd, own.Flags.Workspace = root, root
	return &own
}

// explained returns an error that says what to do instead.
func explained(err error) error {
	p := (*console.Problem)(nil)
	if !errors.As(err, &p) {
		return err
	}
	text := p.Error()
	for _, fit := range p.Fits {
		text += "\n" + fit
	}
	if hint := p.Hint(templates.English); hint != "" {
		text += ". Try: " + hint
	}
	return errors.New(console.Lines(text))
}

// may refuses a call for which the caller has no role.
func (g *Agent) may(to string, role facade.Role) error {
	if !g.Who.May(role) || !g.Who.Sees("ask") {
		return fmt.Errorf("cannot %s: this token lacks the role %s for asks. Ask the owner of the workspace for another token", to, role)
	}
	return nil
}

// mostRepeats limits how often one call may ask again.
const mostRepeats = 1000

// keys yields the keys of a call: the first one, and those for repeats after asks with it have
// ended.
func (g *Agent) keys(q mcp.Question, x *Draft) func(yield func(key string) bool) {
	key := q.Key
	if key == "" {
		what := []any{g.Origin, x.Question, x.Type, x.Options}
		for _, f := range x.Artifacts {
			what = append(what, f.Path, g.Asks.Workspace.Artifact(f.Path).Sum)
			if f.Editable {
				what = append(what, "editable")
			}
		}
		body, _ := json.Marshal(what)
		key = "mcp-" + engine.Sum(body).Hex()[:32]
	}
	return func(yield func(string) bool) {
		next := key
		for n := 2; n <= mostRepeats+1 && yield(next); n++ {
			next = fmt.Sprintf("%s-%d", key, n)
		}
	}
}

// question returns the question in the form of ask.json.
func (g *Agent) question(q mcp.Question) (*Draft, error) {
	x := &Draft{Ask: ask.Ask{
		Question: q.Question, Type: q.Type, Context: q.Context, Deadline: q.Deadline, Default: q.Default, Tags: q.Tags, Supersedes: strings.TrimPrefix(q.Supersedes, "ask/"),
		AskedBy: &ask.AskedBy{Name: cmp.Or(console.Cut(console.OneLine(cmp.Or(g.Who.Token, q.By)), 200), "an agent"), Session: console.Cut(console.OneLine(g.Session), 200), Tool: "mcp"},
	}}
	for _, o := range q.Options {
		x.Options = append(x.Options, ask.Option{ID: o.ID, Description: o.Description, Comment: o.Comment, Approves: o.Approves})
	}
	for _, name := range q.Artifacts {
		rel, err := g.Asks.Below(name)
		if err != nil {
			return nil, fmt.Errorf("cannot ask about %s: %w. Name a file by its path relative to the workspace %s", console.OneLine(name), console.Plain(err), g.Asks.Workspace.Root)
		}
		x.Artifacts = append(x.Artifacts, ask.Artifact{Path: rel, Editable: slices.Contains(q.Editable, name)})
	}
	for _, name := range q.Editable {
		if !slices.Contains(q.Artifacts, name) {
			return nil, fmt.Errorf("cannot ask: editable names %s, which is none of the artifacts", console.OneLine(name))
		}
	}
	if q.RoundOf != "" {
		if _, err := x.Follows(g.Asks, strings.TrimPrefix(q.RoundOf, "ask/")); err != nil {
			return nil, explained(err)
		}
	}
	return x, nil
}

// Ask implements [mcp.Workspace].
func (g *Agent) Ask(ctx context.Context, q mcp.Question) (id string, err error) {
	if err := g.may("ask", facade.Write); err != nil {
		return "", err
	}
	x, err := g.question(q)
	if err != nil {
		return "", err
	}
	for key := range g.keys(q, x) {
		f, err := g.Asks.Find(KeyedID(key))
		if err != nil {
			return "", explained(err)
		}
		if st, _ := g.Asks.State(f); st.IsFinal() {
			continue // a repeated call asks again
		}
		x.IdempotencyKey = schemas.OrNull(key)
		f, err = x.Create(ctx, g.Asks)
		if other := (OtherQuestion{}); q.Key == "" && errors.As(err, &other) {
			continue // the person should know something else
		}
		if err == nil {
			err = g.awaitOpen(ctx, f)
		}
		return f.Run.ID, explained(err)
	}
	return "", fmt.Errorf("cannot ask: the same was asked %d times. Use another key", mostRepeats)
}

// openTime is how long a call waits for a new ask to open; a pass takes milliseconds.
const openTime = 2 * time.Second

// awaitOpen waits, for a while, until a new ask is open. The error says why it cannot be asked.
func (g *Agent) awaitOpen(ctx context.Context, f loop.Found) error {
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	for {
		changed := g.Changed()
		if _, begun := g.Asks.State(f); begun {
			return nil
		}
		if err := g.Asks.Refused(f); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}

// Changed implements [mcp.Workspace].
func (g *Agent) Changed() <-chan struct{} { return g.Asks.Changed() }

// IsOf implements [mcp.Workspace].
func (g *Agent) IsOf(q mcp.Question, id string) bool {
	x, err := g.question(q)
	if err != nil || g.may("ask", facade.Write) != nil {
		return false
	}
	for key := range g.keys(q, x) {
		f, err := g.Asks.Find(KeyedID(key))
		if err != nil || !g.Asks.IsAsked(f) {
			return false
		}
		if f.Run.ID == id {
			return true
		}
	}
	return false
}

// ask finds an ask that was asked before.
func (g *Agent) ask(id string) (f loop.Found, st ask.State, err error) {
	if !g.Who.Sees("ask") {
		return f, st, g.may("look for an answer", facade.Read)
	}
	if f, err = g.Asks.Find(id); err != nil {
		return f, st, explained(err)
	}
	st, begun := g.Asks.State(f)
	if !begun {
		err = g.Asks.Refused(f)
	}
	return f, st, explained(err)
}

// Answer implements [mcp.Workspace].
func (g *Agent) Answer(id string) (mcp.Answer, error) {
	f, st, err := g.ask(id)
	if err != nil {
		return mcp.Answer{}, err
	}
	a := mcp.Answer{AskID: f.Run.ID, Status: cmp.Or(string(st.Status), string(ask.Open)), Selected: []string{}, Changed: g.changed(st), Edited: []mcp.EditedFile{}, Round: 1, Title: titleOf(st)}
	if st.Round != nil {
		a.Round = st.Round.N
	}
	if form := layout.RequestPath(f.Run.Dir, ask.RequestID(f.Run.ID), "form.md"); g.Asks.Workspace.Store.Exists(form) {
		a.Form = form
	}
	if err := CheckEdited(g.Asks, st); err != nil {
		return mcp.Answer{}, explained(err)
	}
	for _, e := range st.Edited() {
		a.Edited = append(a.Edited, mcp.EditedFile{Path: console.OneLine(e.Path), File: f.Run.Dir + "/" + e.File})
		a.Note = "the person changed the text: use what stands in edited, and not the file that you asked about"
	}
	switch st.Status {
	case ask.Answered:
		given := st.Answer
		a.Answered, a.Response, a.Comment = true, templates.Reveal(given.Response), templates.Reveal(given.Comment)
		a.Selected = append(a.Selected, given.Selected...)
		a.By = gate.By{User: given.By.User, Source: given.By.Source}.Shown(g.Asks.Workspace.Env.Lang, given.KnownAs)
		if given.Late {
			a.Note = strings.TrimPrefix(a.Note+". The answer came after the deadline", ". ")
		}
	case ask.Expired:
		a.Response = st.Ask.Default
		a.Note = "nobody answered in time: this is no consent"
		if a.Response != "" {
			a.Note += ". The response is the question's default"
		}
	case ask.Withdrawn, ask.Superseded:
		a.Note = console.OneLine(st.Last.Reason)
	default:
		a.Note = g.held(f)
		if st.Status == "" && a.Note == "" {
			a.Note = "nobody is asked yet: what it is about may still be being written"
		}
	}
	return a, nil
}

// changed returns the files of an open ask that have changed since it was asked.
func (g *Agent) changed(st ask.State) []string {
	paths := []string{}
	for _, f := range st.Ask.Artifacts {
		if st.Status == ask.Open && f.IsBinding() && !g.Asks.Workspace.Artifact(f.Path).Matches(f.SHA256) {
			paths = append(paths, console.OneLine(f.Path))
		}
	}
	return paths
}

// held returns the reason that keeps an open ask from its answer, besides that nobody has given
// one.
func (g *Agent) held(f loop.Found) string {
	var all []string
	for _, n := range view.Of(g.Asks.Workspace, f).Notes {
		all = append(all, console.OneLine(n.Path+": "+n.Text))
	}
	if why, paused := g.Asks.Workspace.Store.Paused(); paused {
		all = append(all, "nothing is decided at the moment: "+why)
	}
	if err := g.Asks.Trouble(); err != nil && !errors.Is(err, context.Canceled) {
		all = append(all, console.OneLine(err.Error()))
	}
	return strings.Join(all, "\n")
}

// Withdraw implements [mcp.Workspace].
func (g *Agent) Withdraw(ctx context.Context, id, reason string) error {
	if err := g.may("withdraw", facade.Write); err != nil {
		return err
	}
	f, st, err := g.ask(id)
	if err != nil || st.Status == ask.Withdrawn {
		return err
	}
	return explained(g.Asks.TakeBack(ctx, f, ask.Withdraw{Reason: reason, By: console.Cut("agent "+g.Who.Token, 100)}))
}

// Waiting implements [mcp.Workspace].
func (g *Agent) Waiting(family, tag string, limit int) (mcp.Waiting, error) {
	v := g.Look()
	list := mcp.Waiting{Waiting: []mcp.WaitingLine{}}
	if family != "" && (!v.Serves(family) || !g.Who.Sees(family)) {
		return list, fmt.Errorf("there is no family %q here: there are %s", console.OneLine(family), strings.Join(slices.DeleteFunc(v.FamilyNames(), func(f string) bool { return !g.Who.Sees(f) }), ", "))
	}
	found := slices.DeleteFunc(v.Runs(), func(f loop.Found) bool {
		return !g.Who.Sees(f.Run.Family) || family != "" && f.Run.Family != family
	})
	s := view.LookAtRuns(v, found, false)
	if tag != "" {
		s.KeepTagged(v, []string{tag})
	}
	var open []view.Request
	for _, seen := range s.Views {
		for _, a := range seen.Open {
			open = append(open, view.RequestOf(v, a, seen.Found))
		}
	}
	slices.SortFunc(open, func(x, y view.Request) int { return view.OldestFirst(x.OpenRequest, y.OpenRequest) })
	for _, t := range open[:min(limit, len(open))] {
		list.Waiting = append(list.Waiting, waitingLine(v, t))
	}
	list.More = len(open) - len(list.Waiting)
	return list, nil
}

// Explain implements [mcp.Workspace].
func (g *Agent) Explain(run string) (string, error) {
	v := g.Look()
	v.Env.Lang = templates.English
	s, err := view.FindSubject(v, run)
	switch {
	case err == nil && g.Who.Sees(s.View.Key.Family):
	case err == nil || len(g.Who.Families) > 0: // an error may name what the caller may not see
		return "", fmt.Errorf("cannot find a run %q", console.OneLine(run))
	default:
		return "", explained(err)
	}
	return g.Explanation(v, s), nil
}

// Report implements [mcp.Workspace].
func (g *Agent) Report(session string, p mcp.Progress) (bool, error) {
	if err := g.may("report", facade.Write); err != nil {
		return false, err
	}
	return view.ReportAgent(g.Asks.Workspace, view.AgentProgress{
		Agent: cmp.Or(g.Who.Token, "agent"), Message: console.OneLine(p.Message), Percent: p.Percent, Run: console.OneLine(p.Run), At: g.Asks.Workspace.Env.Now().UTC().Truncate(time.Second),
	}, engine.Sum([]byte(g.Origin + "\n" + session)).Hex()[:8]), nil
}

// openRequest returns the open request of an ask, as it was issued. ok is false if its files
// have changed, if the caller may not answer it, or if a dialogue would not show all of it.
func (g *Agent) openRequest(v *workspace.Workspace, id string) (t view.Request, ok bool) {
	f, st, err := g.ask(id)
	if err != nil || st.Ask.Sensitivity == "private" || g.may("answer", facade.Decide) != nil {
		return t, false
	}
	at, err := view.ExactRequest(v, f.Key().String()+":"+ask.RequestID(f.Run.ID))
	if err != nil {
		return t, false
	}
	t, open := view.OpenRequestAt(v, at)
	size := 0
	for _, d := range t.Details {
		size += len(d.Value)
	}
	return t, open && size <= longestDetails && len(t.Unread) == 0 && len(view.ChangedLines(v, t)) == 0
}

// longestDetails limits how much of a question's context and files a dialogue shows, in bytes.
// Nobody may answer in a dialogue that shows only a part: a longer question has its form alone.
const longestDetails = 2000

// Dialogue implements [mcp.Workspace].
func (g *Agent) Dialogue(id string) (d mcp.Dialogue, ok bool) {
	v := g.Look()
	t, ok := g.openRequest(v, id)
	if !ok {
		return d, false
	}
	parts := []string{console.Lines(t.Prompt)}
	for _, d := range t.Details {
		parts = append(parts, console.OneLine(d.Label)+":\n"+console.Lines(d.Value))
	}
	for _, name := range t.Artifacts {
		parts = append(parts, "It is about "+console.OneLine(name))
	}
	d = mcp.Dialogue{Message: strings.Join(append(parts, "The same as a form: "+t.Form), "\n\n"), Multiple: len(t.Several) > 1}
	for _, o := range t.Options {
		d.Options = append(d.Options, mcp.DialogueOption{ID: o.ID, Title: console.OneLine(o.ID + console.Suffix(": ", o.Says()))})
	}
	return d, true
}

// Respond implements [mcp.Workspace]. It answers for the owner of this process, or for the
// token's holder.
func (g *Agent) Respond(ctx context.Context, id string, r mcp.Reply) error {
	v := g.Look()
	t, ok := g.openRequest(v, id)
	if !ok {
		return errors.New("the question, or what it is about, is not what was shown any more")
	}
	reply := answer.Reply{Comment: r.Comment, By: cmp.Or(g.Who.User, console.Login())}
	if len(r.Choices) > 0 {
		reply.Option, reply.More = r.Choices[0], r.Choices[1:]
	}
	_, err := answer.Submit(ctx, v, t, reply)
	return err // the command to type instead is of no use in a dialogue
}

// shownInbox limits the requests that the inbox shows an agent.
const shownInbox = 100

// Inbox implements [mcp.Workspace].
func (g *Agent) Inbox() (string, error) {
	list, err := g.Waiting("", "", shownInbox)
	if err != nil {
		return "", err
	}
	lines := []string{"# What waits for people", ""}
	for _, l := range list.Waiting {
		lines = append(lines, fmt.Sprintf("- %s %s (%s), since %s%s: %s%s", l.Run, l.Request, console.OneLine(l.Type), l.AskedAt, console.Suffix(", until ", l.Deadline), l.Question, console.Suffix(" Form: ", l.Form)))
	}
	switch {
	case len(list.Waiting) == 0:
		lines = append(lines, "Nothing.")
	case list.More > 0:
		lines = append(lines, fmt.Sprintf("- and %d more", list.More))
	}
	return strings.Join(lines, "\n") + "\n", nil
}

// Form implements [mcp.Workspace].
func (g *Agent) Form(request string) (string, error) {
	v := g.Look()
	at, err := view.ExactRequest(v, request)
	if err != nil || !g.Who.Sees(at.Found.Run.Family) {
		return "", fmt.Errorf("cannot find a request %q", console.OneLine(request))
	}
	form := layout.RequestPath(at.Found.Run.Dir, at.ID, "form.md")
	if t, open := view.OpenRequestAt(v, at); open {
		form = t.Form
	}
	d := v.Settled(form, layout.File{Kind: layout.KindForm, Writer: layout.Anyone, Limit: layout.LimitJSON, Request: at.ID})
	if !d.Present() {
		return "", fmt.Errorf("there is no %s", path.Base(form))
	}
	lines := strings.Split(string(d.Body), "\n")
	for i := range lines {
		lines[i] = templates.Clean(lines[i])
	}
	return strings.Join(lines, "\n"), nil
}

// Shown implements [mcp.Workspace].
func (g *Agent) Shown(file string) (string, error) {
	v := g.Look()
	request, number, _ := console.CutLast(file, "/")
	at, err := view.ExactRequest(v, request)
	if err != nil || !g.Who.Sees(at.Found.Run.Family) {
		return "", fmt.Errorf("cannot find a request %q", console.OneLine(request))
	}
	files := view.ArtifactsOf(v, at)
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(files) {
		return "", fmt.Errorf("the request shows %d files: they are counted from 1", len(files))
	}
	text, ok := view.ShownVersion(v, files[n-1])
	if !ok {
		return "", fmt.Errorf("the request does not hold %s as it was", console.OneLine(files[n-1].Path))
	}
	return text, nil
}
