// Package announce notifies people of requests that wait for them, by the settings of the
// workspace: of all requests that a loop opens, or of the asks of one process.
package announce

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/ask"
	"placet/engine/exec"
	"placet/engine/facade"
	"placet/engine/facade/notify"
	"placet/engine/loop"
	"placet/layout"
	"placet/templates"
)

// Announcer notifies people of the requests of a workspace.
type Announcer struct {
	b        *workspace.Workspace
	families map[string]loop.Family
	notifier *notify.Notifier // nil if nothing can be recorded
	// only names the runs that alone are known, "" for all.
	only string
	// PostTo is the address whose calls come to Press, "" for none. It is set before Begin.
	PostTo string
}

// Attach makes a loop report opened and closed requests to the announcer. Begin must be called
// before the loop serves a run.
func (a *Announcer) Attach(o *loop.Options) {
	o.Observers = append(o.Observers, loop.Observer{Committed: func(run layout.Run, plan engine.Plan, _ time.Duration) { a.committed(run, plan) }})
}

// Begin records that people are notified from now on of requests that open.
func (a *Announcer) Begin(b *workspace.Workspace, log *slog.Logger) {
	a.begin(b, log, a.list)
}

func (a *Announcer) begin(b *workspace.Workspace, log *slog.Logger, list func() []notify.Request) {
	if b.StateDir == nil {
		return
	}
	a.b, a.families = b, map[string]loop.Family{}
	for _, f := range b.Families {
		a.families[f.Layout.Name()] = f
	}
	a.notifier = notify.New(notify.Options{
		State: b.StateDir, Settings: func() notify.Settings { return b.Current().Notify }, List: list, Summarize: a.summarize, Answer: a.press, Listener: a.only, PostTo: a.PostTo,
		Environ: b.Env.Environ, Env: func() []string { return exec.Environ(b.Env.Environ, b.Current().Commands.Env) }, Lang: func() string { return b.Current().Language }, Now: b.Env.Now, Log: log,
	})
	a.notifier.Begin()
}

// Run notifies people until the context ends.
func (a *Announcer) Run(ctx context.Context) {
	if a.notifier != nil {
		a.notifier.Run(ctx)
	}
}

// committed reports to the notifier which requests a commit has opened and closed.
func (a *Announcer) committed(run layout.Run, plan engine.Plan) {
	if a.notifier == nil {
		return
	}
	for _, d := range plan.Writes {
		switch id := path.Base(path.Dir(d.Path)); {
		case d.Path == layout.RequestPath(run.Dir, id, "request.json"):
			a.notifier.Opened(a.request(loop.Found{Run: run, Family: a.families[run.Family]}, id))
		case d.Path == layout.RequestPath(run.Dir, id, "receipt.json"):
			a.notifier.Closed(requestName(run, id))
		case path.Base(d.Path) == "outcome.json":
			a.notifier.Opened(a.required(loop.Found{Run: run, Family: a.families[run.Family]}, path.Base(path.Dir(d.Path))))
		}
	}
	if len(plan.Transitions) > 0 {
		f := loop.Found{Run: run, Family: a.families[run.Family]}
		a.notifier.Check(func() []notify.Request {
			v := a.b.Viewer(facade.Identity{})
			return a.stops(v, []view.Run{view.Of(v, f)})
		})
	}
}

// requestName returns the name of a request in notifications.
func requestName(run layout.Run, id string) string {
	return engine.Key{Family: run.Family, ID: run.ID}.String() + ":" + id
}

// list returns the requests that may be open, found by their folders.
func (a *Announcer) list() (all []notify.Request) {
	v := a.b.Viewer(facade.Identity{})
	for _, f := range v.Loop.Live() {
		entries, err := v.Store.List(path.Join(f.Run.Dir, layout.RequestsDir))
		if err != nil {
			continue // it asks nothing
		}
		for _, e := range entries {
			at := func(name string) string { return layout.RequestPath(f.Run.Dir, e.Name, name) }
			if layout.IsRequestID(e.Name) && v.Store.Exists(at("request.json")) && !v.Store.Exists(at("receipt.json")) {
				all = append(all, a.request(f, e.Name))
			}
		}
	}
	runs := view.WithCommands(v)
	for _, run := range runs {
		for _, must := range run.Required {
			all = append(all, a.required(run.Found, must.ID))
		}
	}
	return append(all, a.stops(v, runs)...)
}

// required returns something that a person must do in the form that the notifier needs. It is
// named like the folder that holds the outcome of its command.
func (a *Announcer) required(f loop.Found, id string) notify.Request {
	look := func() (must engine.RequiredAction, ok bool) {
		all := view.Of(a.b.Viewer(facade.Identity{}), f).Required
		i := slices.IndexFunc(all, func(r engine.RequiredAction) bool { return r.ID == id })
		if i < 0 {
			return must, false
		}
		return all[i], true
	}
	return notify.Request{
		ID: requestName(f.Run, id),
		Look: func() (notify.Facts, bool) {
			must, ok := look()
			return notify.Facts{Family: f.Run.Family, Type: "action", At: must.Since}, ok
		},
		Say: func(rung string) (notify.Message, bool) {
			must, ok := look()
			lang, run := a.b.Current().Language, f.Key()
			m := notify.Message{Title: console.Cut(console.OneLine(must.Text), titleLength), Request: requestName(f.Run, id), Run: run.String(), Rung: rung}
			m.Text = templates.Phrase(lang, "notify.run", "run", console.Brief(run), "type", "action", "age", waited(a.b.Env.Now(), must.Since))
			if must.Command != "" {
				m.Text += "\n" + templates.Phrase(lang, "notify.do", "command", console.Cut("placet "+must.Command, partLength))
			}
			return m, ok
		},
	}
}

// request returns a request in the form that the notifier needs.
func (a *Announcer) request(f loop.Found, id string) notify.Request {
	return notify.Request{
		ID:   requestName(f.Run, id),
		Look: func() (notify.Facts, bool) { return a.look(f, id) },
		Say:  func(rung string) (notify.Message, bool) { return a.say(f, id, rung) },
	}
}

// look reads a request's file, which has everything that decides who is notified and when.
func (a *Announcer) look(f loop.Found, id string) (facts notify.Facts, open bool) {
	v := a.b.Viewer(facade.Identity{})
	if v.Store.Exists(layout.RequestPath(f.Run.Dir, id, "receipt.json")) {
		return facts, false
	}
	x, r, at, ok := view.ReadExtras(v, f, id)
	if !ok {
		return facts, false
	}
	facts = notify.Facts{Family: f.Run.Family, Type: r.Type, Tags: x.Tags, At: at}
	facts.Deadline, _ = time.Parse(time.RFC3339, r.Deadline) // zero without a deadline
	if f.Run.Family == "afl" && r.Type == "escalation" {
		asked, _, open := a.find(f, id)
		return facts, open && !asked.Unannounced
	}
	return facts, true
}

// find reads the run of a request. Its last result is false if the run no longer asks it.
func (a *Announcer) find(f loop.Found, id string) (engine.OpenRequest, *workspace.Workspace, bool) {
	v := a.b.Viewer(facade.Identity{})
	open := view.Of(v, f).Open
	i := slices.IndexFunc(open, func(o engine.OpenRequest) bool { return o.Request == id })
	if i < 0 {
		return engine.OpenRequest{}, v, false
	}
	return open[i], v, true
}

// These limit the parts of a message, in characters: together they stay below 1,000.
const (
	titleLength = 200
	partLength  = 250
)

// say returns the message for a request: the question, its run, its age, its form, and the
// command that shows it. It names no command that answers, because a message shows too little
// to decide by.
func (a *Announcer) say(f loop.Found, id, rung string) (notify.Message, bool) {
	o, v, open := a.find(f, id)
	x, _, _, ok := view.ReadExtras(v, f, id)
	if !open || !ok {
		return notify.Message{}, false
	}
	lang := v.Language
	phrase := func(key string, pairs ...any) string {
		return console.Cut(templates.Phrase(lang, "notify."+key, pairs...), partLength)
	}
	title, how := console.Cut(view.FirstLine(o), titleLength), console.Typed("show", o.Run.String()+":"+id)
	if x.Sensitivity == "private" {
		title = phrase("private", "id", console.OneLine(id))
	}
	form := filepath.Join(v.Root, filepath.FromSlash(o.Form))
	lines := []string{phrase("run", "run", console.Brief(o.Run), "type", console.OneLine(o.Type), "age", waited(v.Env.Now(), o.RequestedAt))}
	lines[0] += ", " + console.Cut(view.Due(lang, v.Env.Now(), o, console.Moment), partLength)
	lines = append(lines, phrase("form", "path", console.OneLine(form)), phrase("answer", "command", how))
	m := notify.Message{
		Title: title, Text: strings.Join(lines, "\n"), Request: requestName(f.Run, id), Run: o.Run.String(), Form: form, Rung: rung,
	}
	if v.Settings.Notify.Answers != "" {
		a.addButtons(&m, view.RequestOf(v, view.Describe(v, o), f), x.Sensitivity == "private", lines[0])
	}
	return m, true
}

// waited returns for how long a request has waited.
func waited(now, then time.Time) string {
	if now.Sub(then) < time.Second {
		return "0s"
	}
	return cmp.Or(console.Age(templates.English, now, then), "?")
}

// summarize returns one message for several requests.
func (a *Announcer) summarize(n int, first []notify.Message) notify.Message {
	lang := a.b.Current().Language
	m := notify.Message{Title: templates.Phrase(lang, "notify.waits", "n", n), Rung: "summary"}
	var lines []string
	for _, one := range first {
		lines = append(lines, console.Cut(fmt.Sprintf("%s (%s)", one.Title, console.OneLine(one.Run)), titleLength*4/5))
	}
	if more := n - len(first); more > 0 {
		lines = append(lines, templates.Phrase(lang, "notify.more", "n", more))
	}
	m.Text = strings.Join(lines, "\n")
	return m
}

// Asks notifies people of the asks that were found, if no daemon does so, until the context
// ends. The caller reports their states by Asked.
func Asks(ctx context.Context, b *workspace.Workspace) *AskAnnouncer {
	one := &AskAnnouncer{Announcer: Announcer{only: "-asks"}, ended: make(chan struct{})}
	one.begin(b, slog.New(console.NewLogHandler(b.Env.Err, slog.LevelWarn)), func() []notify.Request { return nil })
	go func() { one.Run(ctx); close(one.ended) }()
	return one
}

// AskAnnouncer is an announcer for asks.
type AskAnnouncer struct {
	Announcer
	ended chan struct{}
}

// Asked takes the states of asks: it opens and closes their notifications.
func (a *AskAnnouncer) Asked(found []loop.Found, states []ask.State) {
	if a.notifier == nil || !a.b.Current().Notify.Enabled() {
		return
	}
	for _, st := range states {
		i := slices.IndexFunc(found, func(f loop.Found) bool { return f.Run.ID == st.AskID })
		switch id := ask.RequestID(st.AskID); {
		case i < 0:
		case st.IsFinal():
			a.notifier.Closed(requestName(found[i].Run, id))
		case !workspace.DaemonRuns(a.b.Root):
			a.notifier.Opened(a.request(found[i], id))
		}
	}
}

// Wait waits, after the end of the context, until nothing is being sent any more.
func (a *AskAnnouncer) Wait() { <-a.ended }

// Notice notifies the user of something that is not a request, once for each key: a title of
// one line, and more lines. It waits for the delivery, 10 s at most. It does nothing if nobody
// is to be notified or the hours are quiet. The workspace must have been opened with
// [workspace.Setup].Remembers.
func Notice(ctx context.Context, b *workspace.Workspace, log *slog.Logger, key, title, text string) error {
	if b.StateDir == nil || !b.Current().Notify.Enabled() {
		return nil
	}
	var a Announcer
	a.begin(b, log, func() []notify.Request { return nil })
	return a.notifier.Notice(ctx, key, notify.Message{
		Title: console.Cut(console.OneLine(title), titleLength), Text: console.Cut(console.Lines(text), 3*partLength), Rung: "notice",
	})
}

// Undelivered returns the notifications of open requests that are not known to have arrived.
func Undelivered(b *workspace.Workspace, views []view.Run) []notify.Doubt {
	if b.StateDir == nil || !b.Notify.Enabled() {
		return nil
	}
	doubts, err := notify.Doubts(b.StateDir, b.Env.Now())
	if err != nil {
		b.Env.Note("workspace.notified", "error", console.Plain(err))
	}
	open := map[string]bool{}
	for _, v := range views {
		for _, o := range v.Open {
			open[requestName(v.Found.Run, o.Request)] = true
		}
		for _, must := range v.Required {
			open[requestName(v.Found.Run, must.ID)] = true
		}
	}
	return slices.DeleteFunc(doubts, func(d notify.Doubt) bool { return !open[d.Request] })
}
