package ask

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"placet/cmd/placet/answer"
	"placet/cmd/placet/asks"
	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/engine"
	"placet/engine/ask"
	"placet/engine/gate"
	"placet/engine/loop"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// newAsk is an ask from the command line.
type newAsk struct {
	asks.Draft
	file, contextFile  string
	again, roundOf     string // earlier asks
	comments, approves []string
	dryRun, once       bool
	by                 string
	wait               waitFlags
}

// Verb returns the verb that asks people.
func Verb() verb.Verb {
	var x newAsk
	return verb.Verb{
		Spares: true,
		Use:    "ask [QUESTION|-]", About: "waiting",
		Most: -1, Group: verb.GroupAsk, Flags: x.flags, Run: x.ask, Common: true,
	}
}

func (x *newAsk) flags(f *pflag.FlagSet) {
	text := func(name string, set func(string)) {
		f.Func(name, "", func(s string) error { set(s); return nil })
	}
	word := func(name string, set func()) {
		f.BoolFunc(name, "", func(string) error { set(); return nil })
	}
	no := false
	f.StringVar(&x.Type, "type", "", "")
	word("text", func() { x.Type = "text" })
	word("review", func() { x.Type = "review" })
	word("multi", func() { x.Type = "multi" })
	text("option", func(s string) {
		id, description, _ := strings.Cut(s, "=")
		x.Options = append(x.Options, ask.Option{ID: id, Description: description})
	})
	f.StringSliceVar(&x.comments, "comment-on", nil, "")
	f.StringSliceVar(&x.approves, "approves", nil, "")
	f.StringVar(&x.Context, "context", "", "")
	f.StringVar(&x.contextFile, "context-file", "", "")
	text("artifact", func(s string) { x.Artifacts = append(x.Artifacts, ask.Artifact{Path: s}) })
	text("editable", func(s string) { x.Artifacts = append(x.Artifacts, ask.Artifact{Path: s, Editable: true}) })
	text("info", func(s string) { x.Artifacts = append(x.Artifacts, ask.Artifact{Path: s, Binding: &no}) })
	f.StringVar(&x.Deadline, "deadline", "", "")
	f.StringVar(&x.Default, "default", "", "")
	f.StringArrayVar(&x.MayAnswer, "may-answer", nil, "")
	f.StringVar(&x.by, "as", "", "")
	f.StringSliceVar(&x.Tags, "tag", nil, "")
	f.StringVar(&x.Parent, "parent", "", "")
	f.StringVar((*string)(&x.Correlation), "correlation", "", "")
	word("private", func() { x.Sensitivity = "private" })
	f.StringVar((*string)(&x.IdempotencyKey), "key", "", "")
	f.StringVar(&x.Supersedes, "supersedes", "", "")
	f.StringVar(&x.again, "again", "", "")
	f.StringVar(&x.roundOf, "round-of", "", "")
	f.StringVar(&x.file, "file", "", "")
	f.BoolVar(&x.once, "once", false, "")
	f.BoolVar(&x.dryRun, "dry-run", false, "")
	f.StringVar(&x.wait.timeout, "wait", "", "")
	f.Lookup("wait").NoOptDefVal = waitForEver
	x.wait.flags(f)
	verb.GroupFlags(f, "answer", "option", "text", "review", "multi", "type", "comment-on", "approves", "default", "may-answer")
	verb.GroupFlags(f, "shown", "artifact", "editable", "info", "context", "context-file", "as", "tag", "private")
	verb.GroupFlags(f, "wait", "wait", "ok", "any", "deadline", "ephemeral", "keep-waiting", "apply")
	verb.GroupFlags(f, "other", "parent", "correlation", "key", "once", "supersedes", "again", "round-of")
	verb.GroupFlags(f, "file", "file", "dry-run")
}

// ask asks, and waits for the answer if --wait is given.
func (x *newAsk) ask(c verb.Call) error {
	if x.once && x.IdempotencyKey == "" {
		return console.Usage("cli.ask.once")
	}
	question, err := x.oneQuestion(c)
	if err != nil {
		return err
	}
	a, err := Open(c)
	if err != nil {
		return err
	}
	x.Deadline = fromClock(c.Env.Now(), x.Deadline)
	if c.Flags.Changed("as") {
		x.AskedBy = &ask.AskedBy{Name: x.by}
	}
	if err := cmp.Or(x.read(a, question), x.follow(a)); err != nil {
		return x.answered(a, err)
	}
	if x.Supersedes != "" {
		f, err := a.Named(x.Supersedes)
		if err != nil {
			return err
		}
		x.Supersedes = f.Run.ID
	}
	if x.dryRun {
		body, err := x.Preview(a)
		return cmp.Or(x.refused(err), a.Workspace.Env.Answer(schemas.Raw(body), func() { fmt.Fprintln(a.Workspace.Env.Out, strings.TrimSuffix(string(body), "\n")) }))
	}
	if c.Flags.Changed("wait") || x.once {
		if err := x.wait.checkSuccess(x.Drafted()); err != nil {
			return err
		}
	}
	f, err := x.Create(c.Ctx, a)
	if err != nil {
		return x.answered(a, err)
	}
	x.wait.use = func(st ask.State) (ask.State, *ask.Reuse, error) { return x.use(a, f, st) }
	if c.Flags.Changed("wait") {
		noteWait(a, f)
		return x.wait.wait(c.Ctx, a, f)
	}
	if err := cmp.Or(a.Pass(c.Ctx), a.Refused(f)); err != nil {
		return err
	}
	st, _ := a.State(f)
	if x.once && st.IsFinal() {
		x.wait.alone = true
		return x.wait.report(a, []ask.State{st}, console.ExitFine)
	}
	_, reused, err := x.use(a, f, st)
	if err != nil {
		return err
	}
	return sayAsked(a, f, st, reused)
}

// follow makes the ask the next round after another, if one is named.
func (x *newAsk) follow(a *asks.Asks) error {
	switch {
	case x.again != "" && (x.Question != "" || x.file != "" || x.roundOf != ""):
		return console.Usage("cli.ask.again").Try("cli.ask.again.try", "command", console.Typed("ask --round-of", x.again))
	case x.again != "":
		return x.Again(a, x.again)
	case x.roundOf != "":
		_, err := x.Follows(a, x.roundOf)
		return err
	}
	return nil
}

// answered shows the answer that prevents an ask, if that is why it failed, and returns why.
func (x *newAsk) answered(a *asks.Asks, err error) error {
	if done := (asks.AnsweredAlready{}); errors.As(err, &done) {
		Say(a.Workspace.Env, done.State)
	}
	return x.refused(err)
}

// use counts that one more caller gets the answer of a key, and returns the count before that.
// With --once it takes the one use first, and without it no caller gets the answer.
func (x *newAsk) use(a *asks.Asks, f loop.Found, st ask.State) (ask.State, *ask.Reuse, error) {
	if x.IdempotencyKey == "" || st.Status != ask.Answered {
		return st, nil, nil
	}
	if x.once {
		var err error
		if st, err = a.TakeUse(f, "ask"); err != nil {
			return st, nil, err
		}
	}
	reused := a.CountUse(f)
	if reused != nil {
		at, _ := time.Parse(time.RFC3339, string(st.Last.At))
		a.Workspace.Env.Note("cli.ask.reused", "by", ShownBy(a.Workspace.Env, st), "ago", console.Ago(a.Workspace.Env.Lang, a.Workspace.Env.Now(), at), "n", reused.Times)
	}
	return st, reused, nil
}

// noteWait says, while nobody has answered an ask, that placet waits, and where a person answers.
func noteWait(a *asks.Asks, f loop.Found) {
	answered := slices.ContainsFunc(view.Of(a.Workspace, f).Open, func(r engine.OpenRequest) bool { return r.Counts })
	if st, _ := a.State(f); !st.IsFinal() && !answered {
		request := ask.RequestID(f.Run.ID)
		a.Workspace.Env.Note("cli.ask.waiting", "request", request, "form", a.Workspace.Env.Here(layout.RequestPath(f.Run.Dir, request, "form.md")))
	}
}

// sayAsked prints the id of an ask, and notes how it can be answered, or was.
func sayAsked(a *asks.Asks, f loop.Found, st ask.State, reused *ask.Reuse) error {
	request := ask.RequestID(f.Run.ID)
	form := layout.RequestPath(f.Run.Dir, request, "form.md")
	return a.Workspace.Env.Answer(map[string]any{"ask_id": f.Run.ID, "request_id": request, "form": form, "reused": reused}, func() {
		fmt.Fprintln(a.Workspace.Env.Out, f.Run.ID)
		if st.IsFinal() {
			noteAnswer(a.Workspace.Env, st)
			return
		}
		a.Workspace.Env.Note("cli.ask.form", "form", a.Workspace.Env.Here(form))
		answers, key := []string{console.Typed("respond", request)}, templates.Key("cli.ask.answer") // until the daemon has opened it
		for _, open := range view.Of(a.Workspace, f).Open {
			listed := false
			if answers, listed = answer.ToAnswer(a.Workspace.Env.Lang, open, false); !listed {
				key = "cli.ask.read"
			}
		}
		for _, how := range answers {
			a.Workspace.Env.Note(key, "command", strings.ReplaceAll(how, "\n", "  "))
		}
	})
}

// read reads the question from the file and the flags.
func (x *newAsk) read(a *asks.Asks, question string) error {
	if s := []string{question, x.contextFile, x.file}; len(slices.DeleteFunc(s, func(name string) bool { return name != "-" })) > 1 {
		return console.Usage("cli.ask.stdin")
	}
	x.Question = question
	inputs := map[string]func(text string) error{
		x.contextFile: func(text string) error { x.Context = text; return nil },
		x.file:        func(text string) (err error) { x.Members, err = schemas.Members([]byte(text)); return err },
	}
	if question == "-" {
		inputs["-"] = func(text string) error { x.Question = text; return nil }
	}
	for name, take := range inputs {
		if name == "" {
			continue
		}
		text, err := verb.ReadInput(a.Workspace.Env, name)
		if err = cmp.Or(err, take(text)); err != nil {
			return console.Usage("cli.ask.input", "file", name, "error", console.Plain(err))
		}
	}
	x.FromFile = x.file != ""
	if x.Correlation == "" && x.Members.Raw("correlation") == nil { // so that the agent gets the answer
		x.Correlation = schemas.OrNull(a.Workspace.Env.AgentSession())
	}
	return cmp.Or(x.setOptions(), x.setArtifacts(a))
}

// setOptions marks the options that need a comment, and those that approve.
func (x *newAsk) setOptions() error {
	offers := len(x.Options) > 0
	for _, id := range slices.Concat(x.comments, x.approves) {
		i := slices.IndexFunc(x.Options, func(o ask.Option) bool { return gate.Fold(o.ID) == gate.Fold(id) })
		if i < 0 && offers {
			return console.Usage("cli.ask.option", "option", strconv.Quote(console.OneLine(id))).Try("cli.ask.option.try")
		}
		if i < 0 {
			i, x.Options = len(x.Options), append(x.Options, ask.Option{ID: id})
			x.Type = cmp.Or(x.Type, "approval")
		}
		x.Options[i].Comment, x.Options[i].Approves = slices.Contains(x.comments, id), slices.Contains(x.approves, id)
	}
	return nil
}

// setArtifacts replaces the paths of the files by those relative to the workspace.
func (x *newAsk) setArtifacts(a *asks.Asks) error {
	for i, f := range x.Artifacts {
		rel, err := a.Below(f.Path)
		if err != nil {
			return console.Usage("cli.ask.artifact", "file", f.Path, "error", console.Plain(err)).Try("cli.ask.artifact.try")
		}
		x.Artifacts[i].Path = rel
	}
	return nil
}
