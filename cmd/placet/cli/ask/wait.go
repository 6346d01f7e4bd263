package ask

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"placet/cmd/placet/asks"
	"placet/cmd/placet/cli/setup"
	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/daemon"
	"placet/engine/ask"
	"placet/engine/gate"
	"placet/engine/loop"
	"placet/schemas"
	"placet/templates"
)

// These are the exit codes of an ask that did not end well.
const (
	exitExpired   = 4
	exitWithdrawn = 5
	exitNotOK     = 6
)

// waitForEver is the timeout of a wait without an end.
const waitForEver = "forever"

// waitFlags say how long to wait, and for which answer.
type waitFlags struct {
	timeout   string
	ok        []string
	any       bool // every answer to a choice is a success; of several asks, the first that ends is enough
	first     bool // the first ask that ends is enough
	ephemeral bool
	apply     bool // write approved texts into the files
	keep      bool // wait on if a file has changed since it was asked about
	alone     bool // there is just one ask
	// use handles an answer before it is shown: it counts the use, and may use it up. It may be
	// nil.
	use func(ask.State) (ask.State, *ask.Reuse, error)
}

func (x *waitFlags) flags(f *pflag.FlagSet) {
	f.StringSliceVar(&x.ok, "ok", nil, "")
	f.BoolVar(&x.any, "any", false, "")
	f.BoolVar(&x.ephemeral, "ephemeral", false, "")
	f.BoolVar(&x.keep, "keep-waiting", false, "")
	f.BoolVar(&x.apply, "apply", false, "")
}

// WaitVerb returns the verb that waits for answers.
func WaitVerb() verb.Verb {
	x := waitFlags{}
	return verb.Verb{
		Spares: true,
		Use:    "wait [ID…]", About: "waiting",
		Most: -1, Group: verb.GroupAsk, Common: true,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&x.first, "first", false, "")
			f.StringVar(&x.timeout, "timeout", waitForEver, "")
			x.flags(f)
		},
		Run: func(c verb.Call) error {
			a, found, err := findAsks(c)
			if err != nil {
				return err
			}
			for _, f := range found {
				if err := x.checkSuccess(a.Question(f)); err != nil {
					return err
				}
			}
			for _, f := range found {
				noteWait(a, f)
			}
			return x.wait(c.Ctx, a, found...)
		},
	}
}

// WithdrawVerb returns the verb that takes a question back.
func WithdrawVerb() verb.Verb {
	w := ask.Withdraw{}
	return verb.Verb{
		Spares: true,
		Use:    "withdraw [ID] -m REASON",
		Most:   1, Group: verb.GroupAsk,
		Flags: func(f *pflag.FlagSet) {
			f.StringVarP(&w.Reason, "message", "m", "", "")
			f.StringVar(&w.By, "by", console.Login(), "")
		},
		Run: func(c verb.Call) error { return withdrawAsk(c, w) },
	}
}

// withdrawAsk takes a question back, and says so.
func withdrawAsk(c verb.Call, w ask.Withdraw) error {
	a, found, err := findAsks(c)
	if err != nil {
		return err
	}
	f := found[0]
	if err := a.TakeBack(c.Ctx, f, w); err != nil {
		return err
	}
	return a.Workspace.Env.Answer(map[string]any{"ask_id": f.Run.ID, "reason": w.Reason, "by": w.By}, func() {
		a.Workspace.Env.Say("cli.withdraw.done", "run", console.Brief(f.Key()), "by", w.By, "reason", console.Cut(console.OneLine(w.Reason), 160))
	})
}

// Open opens the workspace to ask people, and makes git ignore placet's own files.
func Open(c verb.Call) (*asks.Asks, error) {
	a, err := asks.Open(c.Ctx, c.Env)
	if err == nil {
		daemon.NoteWarnings(a.Workspace, "config")
	}
	if err == nil && !a.Workspace.Env.InGitHook() {
		_, _ = setup.Exclude(a.Workspace.Env, a.Workspace.Root, setup.Ignored) // init reports what is wrong
	}
	return a, err
}

// findAsks opens the workspace, and finds the named asks.
func findAsks(c verb.Call) (*asks.Asks, []loop.Found, error) {
	a, err := Open(c)
	if err != nil {
		return nil, nil, err
	}
	var found []loop.Found
	words := c.Args
	if len(words) == 0 {
		words = []string{""} // the only one that is open
	}
	for _, word := range words {
		f, err := a.Named(word)
		if err != nil {
			return nil, nil, err
		}
		found = append(found, f)
	}
	return a, found, nil
}

// Duration reads a duration, which may be in days, too.
func Duration(text string) (time.Duration, error) {
	if text == waitForEver {
		return 0, nil
	}
	days, isDays := strings.CutSuffix(text, "d")
	if isDays {
		text = days + "h"
	}
	d, err := time.ParseDuration(text)
	if isDays {
		d *= 24
	}
	if err != nil || d < 0 {
		return 0, console.Usage("cli.wait.length", "text", strconv.Quote(console.OneLine(text)))
	}
	return d, nil
}

// wait waits until all asks, or the first of them, have ended, and reports their ends.
func (x *waitFlags) wait(ctx context.Context, a *asks.Asks, found ...loop.Found) error {
	x.alone = len(found) == 1
	limit, err := Duration(x.timeout)
	if err != nil {
		return err
	}
	a.KeepsWaiting, a.Ephemeral = x.keep, x.ephemeral
	if x.ephemeral && !signal.Ignored(syscall.SIGHUP) { // under nohup it goes on
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP)
		defer stop()
	}
	ended, err := a.Wait(ctx, limit, found, x.first || x.any)
	switch {
	case err == nil:
		return x.report(a, ended, 0)
	case ctx.Err() != nil:
		return x.interrupt(ctx, a, found)
	case errors.Is(err, context.DeadlineExceeded):
		return x.report(a, ended, console.ExitOpen)
	}
	return err
}

// interrupt ends a wait after a signal. With --ephemeral it takes the open asks back.
func (x *waitFlags) interrupt(ctx context.Context, a *asks.Asks, found []loop.Found) error {
	for _, f := range found {
		if st, _ := a.State(f); x.ephemeral && !st.IsFinal() {
			if err := a.Withdraw(context.WithoutCancel(ctx), f, ask.Withdraw{Reason: templates.Text(st.Lang, "cli.wait.interrupted")}); err != nil {
				return err
			}
		}
	}
	return console.Exit(console.ExitInterrupted)
}

// report prints how asks have ended, and exits with the highest of their codes.
func (x *waitFlags) report(a *asks.Asks, ended []ask.State, code int) error {
	list := []schemas.Object{}
	for i, st := range ended {
		var more schemas.Object
		if x.use != nil {
			used, reused, err := x.use(st)
			if err != nil {
				return err
			}
			st, more = used, schemas.Object{{Name: "reused", Value: reused}}
		}
		ended[i] = st
		list, code = append(list, append(st.AnswerFile(), more...)), max(code, x.code(st))
	}
	for _, st := range ended {
		err := asks.CheckEdited(a, st)
		if err == nil && x.apply && st.Status == ask.Answered && x.code(st) == console.ExitFine {
			err = asks.Apply(a, st)
		}
		if err != nil {
			return err
		}
	}
	data := any(list)
	if x.alone && len(list) == 1 {
		data = list[0]
	}
	err := a.Workspace.Env.Answer(data, func() {
		for _, st := range ended {
			if x.alone {
				Say(a.Workspace.Env, st)
			} else {
				fmt.Fprintf(a.Workspace.Env.Out, "%s\t%s\n", st.AskID, console.OneLine(strings.Join(AnswerLines(st), ",")))
			}
		}
	})
	if err != nil || code == console.ExitFine {
		return err
	}
	return console.Exit(code)
}

// checkSuccess refuses to wait for a choice among options of the asker's own if nothing says
// which of them are a success: `placet ask … --wait && ./deploy` would deploy whatever was
// chosen.
func (x *waitFlags) checkSuccess(question ask.Ask) error {
	if x.any || len(x.ok) > 0 || !offersOwn(question) {
		return nil
	}
	named := question.Options[max(0, slices.IndexFunc(question.Options, func(o ask.Option) bool { return o.Approves }))]
	return console.Usage("cli.wait.ok").Try("cli.wait.ok.try", "option", console.Cleaned(templates.ShellWord(console.OneLine(named.ID))))
}

// offersOwn reports whether a question offers options of the asker's own. Those of an approval
// and a review say themselves which of them is a success.
func offersOwn(question ask.Ask) bool {
	return len(question.Options) > 0 && question.Type != "approval" && question.Type != "review"
}

// code returns the exit code of an ask that has ended. Only an answer can end a wait with 0; a
// default that was taken at the deadline has another code.
func (x *waitFlags) code(st ask.State) int {
	switch st.Status {
	case ask.Answered:
	case ask.Expired:
		return exitExpired
	default:
		return exitWithdrawn
	}
	ok := x.ok
	if len(ok) == 0 && !offersOwn(st.Ask) && st.Ask.Type != "text" {
		ok = []string{"approve"}
	}
	if len(ok) == 0 || slices.ContainsFunc(AnswerLines(st), func(line string) bool {
		return slices.ContainsFunc(ok, func(word string) bool { return gate.Fold(word) == gate.Fold(line) })
	}) {
		return console.ExitFine
	}
	return exitNotOK
}

// AnswerLines returns the answer, or the default that was taken.
func AnswerLines(st ask.State) []string {
	switch {
	case st.Answer == nil && st.Ask.Default != "" && st.Status == ask.Expired:
		return []string{st.Ask.Default}
	case st.Answer == nil:
		return nil
	case len(st.Answer.Selected) > 0:
		return st.Answer.Selected
	}
	return []string{st.Answer.Response}
}

// Say prints the answer alone, and on standard error who gave it.
func Say(w *console.Env, st ask.State) {
	for _, line := range AnswerLines(st) {
		fmt.Fprintln(w.Out, console.Lines(line))
	}
	noteAnswer(w, st)
}

// noteAnswer prints on standard error who gave the answer, or why there is none.
func noteAnswer(w *console.Env, st ask.State) {
	if st.Answer == nil {
		w.Note("say.text", "text", string(st.Status)+": "+console.OneLine(st.Last.Reason))
		return
	}
	key, comment := templates.Key("cli.wait.answered"), console.OneLine(st.Answer.Comment)
	if comment != "" {
		key = "cli.wait.answered.comment"
	}
	w.Note(key, "by", ShownBy(w, st), "source", st.Answer.By.Source, "comment", comment)
	for _, f := range st.Edited() {
		w.Note("cli.wait.edited", "file", f.Path, "text", path.Join(st.AskID, f.File))
	}
}

// ShownBy returns the author of the answer, for people.
func ShownBy(w *console.Env, st ask.State) string {
	by := gate.By{User: st.Answer.By.User, Source: st.Answer.By.Source}
	return console.OneLine(by.Shown(w.Lang, st.Answer.KnownAs))
}
