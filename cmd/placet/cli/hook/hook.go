// Package hook holds the verb that clients of agents call: before a tool runs, when a permission is
// asked for, and at each turn. hook.go decides about a call, prompt.go stands beside a client's own
// prompt, news.go reports to the agent.
package hook

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"placet/cmd/placet/asks"
	askverb "placet/cmd/placet/cli/ask"
	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/family"
	"placet/cmd/placet/hook"
	"placet/engine"
	"placet/engine/ask"
	"placet/engine/gate"
	"placet/engine/loop"
	"placet/schemas"
	"placet/templates"
)

// Verb returns the verb that answers a client of an agent. personVerb returns the verb for people
// alone that the arguments of placet call, "" for none.
func Verb(personVerb func(args []string) string) verb.Verb {
	later := false
	return verb.Verb{
		Use:   "hook " + strings.Join(hook.Names(true), "|"),
		Least: 1, Most: 2, Group: verb.GroupSetUp, Page: "hook", Spares: true,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&later, "defer", false, "")
		},
		Run: func(c verb.Call) error {
			client, ok := hook.Named(c.Args[0])
			if !ok || !client.HasHooks() {
				return console.Usage("cli.hook.unknown", "client", strconv.Quote(console.OneLine(c.Args[0])), "names", strings.Join(hook.Names(true), ", "))
			}
			if later && client.Name != "claude-code" {
				return console.Usage("cli.hook.defer", "client", client.Name)
			}
			if len(c.Args) > 1 && client.Name != "codex" {
				return console.Usage("cli.hook.argument", "command", strconv.Quote("placet hook "+client.Name))
			}
			h := hookCall{Call: c, client: client, defers: later, personVerb: personVerb}
			return h.answer()
		},
	}
}

// hookCall is one call of a client's hook.
type hookCall struct {
	verb.Call
	client hook.Client
	defers bool
	in     hook.Input
	// beside says that the client shows its own prompt, too: whichever is answered first counts, and
	// where placet has no answer it says nothing.
	beside bool
	// personVerb returns the verb for people alone that arguments call.
	personVerb func(args []string) string
	// workspaces are those whose rules apply to the call, the one that it belongs to first.
	workspaces    []hookWorkspace
	hookWorkspace // the one in which the hook works
}

// hookWorkspace is a workspace whose rules apply to a call.
type hookWorkspace struct {
	root string
	conf config.Settings
}

// answer tells the client whether a call may run, or tells the agent what it does not know yet.
// After any error before a tool is called the call does not run. At any other moment an error is
// only noted, and the agent goes on.
func (h *hookCall) answer() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = templates.Errorf("cli.hook.panic", "error", p)
		}
		err = h.end(err)
	}()
	if err := h.read(); err != nil {
		return err
	}
	if h.in.Moment == hook.Other {
		return nil
	}
	if err := h.openWorkspaces(); err != nil {
		return err
	}
	switch h.in.Moment {
	case hook.BeforeTool:
		return h.judge(func(c config.Hook) []config.HookRule { return c.Rule })
	case hook.Permission:
		return h.permission()
	case hook.Waits:
		return h.notice()
	case hook.AfterTool:
		return h.leave()
	}
	return cmp.Or(h.turn(), h.leave())
}

// end returns the error with which the hook ends.
func (h *hookCall) end(err error) error {
	if err == nil {
		return nil
	}
	p := console.ProblemOf(err)
	switch h.in.Moment {
	case hook.Permission:
		if h.beside {
			h.Env.Note("say.text", "text", console.OneLine(p.In(h.Env.Lang)))
			return nil
		}
		deny := hook.Outcome{Do: config.HookDeny, Reason: "placet cannot ask a person: " + console.OneLine(p.Error())}
		if h.print(h.client.Answer(h.in, deny)) == nil {
			return nil
		}
	case hook.AfterTool, hook.TurnBegins, hook.TurnEnds, hook.Waits, hook.Other:
		h.Env.Note("say.text", "text", console.OneLine(p.In(h.Env.Lang)))
		return nil
	}
	return console.Usage("cli.hook.norun", "error", p).Try("say.text", "text", cmp.Or(p.Hint(h.Env.Lang), "placet doctor"))
}

// read reads standard input, until a signal ends the hook.
func (h *hookCall) read() (err error) {
	if len(h.Args) > 1 {
		h.in, err = h.client.ReadNotify(h.Args[1])
		return err
	}
	read := make(chan error, 1)
	var in hook.Input
	go func() {
		var err error
		defer func() {
			if p := recover(); p != nil {
				err = templates.Errorf("cli.hook.panic", "error", p)
			}
			read <- err
		}()
		in, err = h.client.Read(h.Env.In)
	}()
	select {
	case <-h.Ctx.Done():
		return h.Ctx.Err()
	case err := <-read:
		h.in = in
		return err
	}
}

// openWorkspaces finds the workspaces whose rules apply to the call, and reads their settings: the one that
// the call belongs to, and all above it, or above the folders in which the client says that it
// works. Thus nobody can choose the rules by the folder in which they start.
func (h *hookCall) openWorkspaces() error {
	env := *h.Env
	folders := h.client.Folders(h.in, env.Getenv)
	if env.Flags.Workspace == "" && len(folders) > 0 {
		env.Cwd = folders[0]
	}
	root, err := config.FindRoot(&env)
	if err != nil {
		return err
	}
	if !config.IsWorkspace(env.StateHome(), root) {
		return config.NoWorkspace(env.Flags.Workspace, root)
	}
	roots, err := config.WorkspacesAbove(env.StateHome(), append([]string{root}, folders...)...)
	if err != nil {
		return err
	}
	for _, root := range roots {
		from := config.SourcesOf(&env, root)
		from.Above = nil // each has rules of its own
		conf, err := config.Load(from)
		if err != nil {
			return err
		}
		h.workspaces = append(h.workspaces, hookWorkspace{root, conf})
	}
	h.Env = &env
	h.work(0)
	return nil
}

// work makes the hook work in one of the workspaces.
func (h *hookCall) work(i int) {
	h.hookWorkspace = h.workspaces[i]
	h.Env.Flags.Workspace = h.root
}

func (h *hookCall) print(body []byte) error {
	if len(body) == 0 {
		return nil
	}
	_, err := h.Env.Out.Write(body)
	return err
}

// places returns the places of a workspace.
func (h *hookCall) places(w hookWorkspace) hook.Places {
	p := hook.Places{Root: w.root, Cwd: cmp.Or(h.in.Cwd, h.root), Home: h.Env.Getenv("HOME"), PersonVerb: h.personVerb}
	for _, f := range family.All {
		p.Layouts = append(p.Layouts, f.Layout(&w.conf.File.Settings))
	}
	return p
}

// permission answers a client's own prompt, if the settings say that placet asks.
func (h *hookCall) permission() error {
	rules := h.promptRules
	if !slices.ContainsFunc(h.workspaces, func(w hookWorkspace) bool { return rules(w.conf.Hook) != nil }) {
		return nil
	}
	return h.judge(rules)
}

// judge tells the client whether a call may run, by the rules of all workspaces. It asks a person in
// the first workspace whose rules say so. Only those may answer whom the other such workspaces let
// answer, too.
func (h *hookCall) judge(rules func(config.Hook) []config.HookRule) (err error) {
	var all []hook.Workspace
	for _, w := range h.workspaces {
		all = append(all, hook.Workspace{Rules: rules(w.conf.Hook), Places: h.places(w)})
	}
	o, asks := h.client.Judge(all, h.in)
	h.beside = o.Do == config.HookAsk && h.isBeside(asks)
	switch {
	case h.beside && h.in.Moment == hook.BeforeTool:
		o = o.Shown() // and the client calls the hook again when it shows its prompt
	case o.Do == config.HookAsk:
		h.work(asks[0])
		if o, err = h.ask(o.Reason, h.approvers(asks[1:])); err != nil {
			return err
		}
	}
	return h.print(h.client.Answer(h.in, o))
}

// approvers returns those who may answer by the gates of some workspaces, none if everybody may.
func (h *hookCall) approvers(of []int) (names []string) {
	for _, i := range of {
		names = gate.Narrow(names, h.workspaces[i].gate().Approvers)
	}
	return names
}

// gate returns the gate for questions about calls.
func (w hookWorkspace) gate() engine.Gate {
	return engine.Config{Gates: w.conf.MachineGates()}.GateFor("ask", "approval")
}

// ask asks a person about a call, and waits for the answer.
func (h *hookCall) ask(reason string, approvers []string) (o hook.Outcome, err error) {
	a, err := askverb.Open(h.Call)
	if err != nil {
		return o, err
	}
	a.Ephemeral = h.in.Moment == hook.Permission
	question := h.question(a, reason)
	question.MayAnswer = approvers
	f, err := question.Create(h.Ctx, a)
	if err != nil {
		return o, err
	}
	if h.defers && h.in.Moment == hook.BeforeTool {
		if err := cmp.Or(a.Pass(h.Ctx), a.Refused(f)); err != nil {
			return o, err
		}
		if st, _ := a.State(f); !st.IsFinal() {
			return hook.Deferred("A person is asked in " + console.Brief(f.Key()) + "."), nil
		}
	}
	// The ask ends by its deadline, and the hook a minute later, whatever delays the ask.
	ctx, stop := h.whileAsked()
	defer stop()
	ended, err := a.Wait(ctx, h.conf.Hook.Waits()+time.Minute, []loop.Found{f}, false)
	if ctx.Err() != nil {
		return o, cmp.Or(h.takeBack(a, f, h.givenUp()), error(templates.Errorf("cli.hook.interrupted")))
	}
	if err != nil {
		return o, err
	}
	if st := ended[0]; st.Answer != nil && !gate.Knows(approvers, st.Answer.KnownAs) {
		return o, console.Refused("cli.hook.approver", "ask", console.Brief(f.Key()), "by", askverb.ShownBy(h.Env, st))
	}
	if h.beside && ended[0].Answer == nil {
		return hook.Outcome{Do: config.HookPass}, nil
	}
	return callOutcome(ended[0]), nil
}

// takeBack takes back an open question about a call for which its client waits no longer.
func (h *hookCall) takeBack(a *asks.Asks, f loop.Found, why templates.Key) error {
	st, _ := a.State(f)
	if st.IsFinal() {
		return nil
	}
	return a.Withdraw(context.WithoutCancel(h.Ctx), f, ask.Withdraw{Reason: templates.Phrase(st.Lang, string(why), "client", h.client.Name)})
}

// callOutcome returns the meaning of a person's answer for a call: only approve lets it run.
func callOutcome(st ask.State) hook.Outcome {
	name := "ask/" + st.AskID
	if st.Answer == nil {
		why := "nobody answered in time"
		if st.Status != ask.Expired {
			why = console.OneLine(st.Last.Reason)
		}
		return hook.Outcome{Do: config.HookDeny, Reason: name + " is " + string(st.Status) + ": " + why}
	}
	comment := console.Lines(st.Answer.Comment)
	by := console.OneLine(gate.By{User: st.Answer.By.User, Source: st.Answer.By.Source}.Shown("", st.Answer.KnownAs))
	if st.Answer.Response == "approve" {
		allowed := templates.Phrase(st.Lang, "cli.hook.approved", "by", by, "ask", name) // the client shows it to its user
		return hook.Outcome{Do: config.HookAllow, Reason: allowed + console.Suffix(": ", comment)}
	}
	return hook.Outcome{Do: config.HookDeny, Reason: cmp.Or(comment, "rejected by "+by+" in "+name)}
}

// hookTag is the tag of asks about calls.
const hookTag = "hook"

// question returns the ask about a call.
func (h *hookCall) question(a *asks.Asks, reason string) *asks.Draft {
	lang := cmp.Or(a.Workspace.Ask.Language, a.Workspace.Language, "en")
	say := func(key string, pairs ...any) string { return templates.Phrase(lang, "hook."+key, pairs...) }
	id := h.in.CallID(h.Env.Now().UTC().Format(time.RFC3339Nano))
	draft := &asks.Draft{Ask: ask.Ask{
		Question: say("wants", "client", h.client.Name, "tool", console.OneLine(h.in.Tool), "line", templates.Code(console.Cut(h.in.FirstLine(h.places(h.hookWorkspace)), 200))),
		Type:     "approval", Context: h.context(say, reason),
		Options:  []ask.Option{{ID: "approve", Description: say("approve")}, {ID: "reject", Description: say("reject")}},
		Deadline: fmt.Sprintf("%ds", int(h.conf.Hook.Waits().Seconds())), Default: "reject",
		AskedBy: &ask.AskedBy{Name: h.client.Name, Session: h.in.Session, Tool: h.in.Tool},
		Tags:    []string{hookTag}, Correlation: schemas.OrNull(h.in.Session),
		IdempotencyKey: schemas.OrNull(h.keys() + id),
	}}
	if h.beside {
		draft.Context, draft.Default = say("beside", "client", h.client.Name)+"\n\n"+draft.Context, ""
	}
	return draft
}

// keys is how the keys of all questions about calls of the session begin.
func (h *hookCall) keys() string { return fmt.Sprintf("hook:%s:%s:", h.client.Name, h.in.Session) }

// shownInput limits how much of a tool's input, and of a command, is shown, in bytes.
const shownInput = 24 << 10

// context returns what a person sees of a call.
func (h *hookCall) context(say func(key string, pairs ...any) string, reason string) string {
	var parts []string
	if reason != "" {
		parts = append(parts, reason)
	}
	if command, ok := h.in.ShellCommand(); ok && strings.Contains(command, "\n") {
		parts = append(parts, cutFence(say, command))
	}
	parts = append(parts, cutFence(say, h.in.Fields()))
	var where []string
	for _, one := range [][2]string{{"folder", h.in.Cwd}, {"mode", h.in.Mode}} {
		if one[1] != "" {
			where = append(where, "- "+say(one[0])+": "+templates.Code(one[1]))
		}
	}
	return strings.Join(append(parts, strings.Join(where, "\n")), "\n\n")
}

// cutFence returns a text as a fenced block. It says how much it left out.
func cutFence(say func(key string, pairs ...any) string, text string) string {
	if len(text) <= shownInput {
		return templates.Fence(text)
	}
	shown := strings.ToValidUTF8(text[:shownInput], "")
	return templates.Fence(shown) + "\n\n" + say("cut", "left", fmt.Sprint(len(text)-len(shown)), "all", fmt.Sprint(len(text)), "digest", string(engine.Sum([]byte(text))))
}
