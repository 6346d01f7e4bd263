package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"placet/cmd/placet/announce"
	"placet/cmd/placet/answer"
	"placet/cmd/placet/asks"
	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/facade"
	"placet/engine/loop"
	"placet/templates"
)

func inboxVerb() verb.Verb {
	var short, watches bool
	var tags []string
	return verb.Verb{
		Spares: true,
		Use:    "inbox [RUN|FAMILY]",
		Most:   1, Group: verb.GroupDecide, Complete: verb.CompleteRuns, Common: true,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&short, "short", false, "")
			f.StringSliceVar(&tags, "tag", nil, "")
			f.BoolVar(&watches, "watch", false, "")
		},
		Look: func(c verb.Call, b *workspace.Workspace) error {
			switch {
			case watches && c.Env.Flags.JSON:
				return console.Usage("cli.inbox.watch.json")
			case watches:
				return watchInbox(c.Ctx, b, c.Args, tags)
			}
			return showInbox(b, c.Args, short, tags)
		},
	}
}

func showInbox(b *workspace.Workspace, args []string, short bool, tags []string) error {
	found, rest, err := view.Narrow(b, args)
	if err != nil {
		return err
	}
	asks.WithdrawAbandoned(b)
	s := view.LookAtRuns(b, found, false)
	s.KeepTagged(b, tags)
	s.Undelivered = announce.Undelivered(b, s.Views)
	open := s.Open()
	data := view.InboxOf(b, s, open)
	if err := b.Env.Answer(data, func() {
		show(b.Env, "fabricated", s.Views)
		if short {
			printShort(b, open, columnsOf(b.Env.Out), func(engine.OpenRequest) string { return "" })
		} else {
			printWhole(b, open, rest)
		}
		if len(open) == 0 && len(data.Required) == 0 && len(view.Stopping(s.Untrusted)) == 0 {
			key := templates.Key("cli.inbox.none")
			if len(args) > 0 {
				key = "cli.inbox.none.of"
			}
			b.Env.Say(key, "run", console.First(args))
		}
		others := data
		if !short {
			others.Problems = slices.DeleteFunc(slices.Clone(data.Problems), func(p view.RunProblem) bool { return shownWith(open, p) })
		}
		show(b.Env, "troubles", others)
		told := s
		told.Untrusted = nil // it was shown above
		printState(b, told)
	}); err != nil {
		return err
	}
	view.Remember(b, found, len(args) == 0)
	return outcome(b, s)
}

// shownWith reports whether a problem was shown with the request that it is about.
func shownWith(open []engine.OpenRequest, p view.RunProblem) bool {
	return slices.ContainsFunc(open, func(a engine.OpenRequest) bool { return a.Run.String() == p.Run && a.Problem == p.Text })
}

// printWhole shows requests with everything that is needed to answer them. rest are the runs
// that are left out.
func printWhole(b *workspace.Workspace, open []engine.OpenRequest, rest []loop.Found) {
	uses := view.CountUses(b, open, rest)
	for i, a := range open {
		if i > 0 {
			fmt.Fprintln(b.Env.Out)
		}
		showAsked(b, a, uses[a.Request] > 1)
	}
}

// showAsked shows one request: run, step and question on its first line, then the form, and how
// to answer.
func showAsked(b *workspace.Workspace, a engine.OpenRequest, full bool) {
	items := a.Items[:min(len(a.Items), view.ShownItems)]
	commands, listed := answer.ToAnswer(b.Env.Lang, a, full)
	show(b.Env, "asked", map[string]any{
		"A": a, "Head": console.Cleaned(requestHead(b.Env, a, "")), "Items": items, "More": len(a.Items) - len(items),
		"Gate": view.GateOf(b, a), "How": commands, "Listed": listed, "Answer": view.Describe(b, a).Answer,
	})
}

// question returns a request's question on one line. If the text has many lines and a summary,
// that is its first line.
func question(a engine.OpenRequest) string {
	asked := strings.TrimSpace(a.Prompt)
	if lines := strings.Split(asked, "\n"); len(lines) > view.ListedLines && a.Summary != "" {
		asked = lines[0] + " …"
	}
	return console.Cut(console.OneLine(asked), view.ListedPrompt)
}

// requestHead returns what comes before a request's question: run, step, id, and in parentheses
// its type, its age, what happens without an answer, and more.
func requestHead(w *console.Env, a engine.OpenRequest, more string) string {
	return headOf(w, a, view.Due(w.Lang, w.Now(), a, console.Moment), more)
}

// shortHead is the same for a line that has room for little: that there is no deadline is left
// out.
func shortHead(w *console.Env, a engine.OpenRequest, more string) string {
	if a.Deadline.IsZero() {
		return headOf(w, a, view.SinceNobodyWaits(w.Lang, w.Now(), a), more)
	}
	return requestHead(w, a, more)
}

func headOf(w *console.Env, a engine.OpenRequest, due, more string) string {
	about := console.OneLine(a.Type)
	if at := console.Age(w.Lang, w.Now(), a.RequestedAt); at != "" {
		about += ", " + at
	}
	due = console.Suffix(", ", due)
	if a.Overdue || !a.NobodyWaits.IsZero() {
		due = w.Paint(console.Alarm, due)
	}
	about += due + w.Paint(console.Alarm, console.Suffix(", ", more))
	return fmt.Sprintf("%s  %s  %s (%s):", w.Paint(console.Strong, view.RunName(a)), w.Paint(console.Waiting, console.OneLine(a.Where)), view.Reference(a), about)
}

// These are columns of a short line: all of them if no terminal says how many, and those that a
// question has at least, however long its head is.
const (
	usualColumns = 120
	mostColumns  = 100 // of a text that is wrapped
	leastAsked   = 24
)

// printShort shows each request on one line. It never cuts what comes before the question,
// because a line without its run and id is of no use. begin returns what a line begins with.
func printShort(b *workspace.Workspace, open []engine.OpenRequest, wide int, begin func(engine.OpenRequest) string) {
	plain := *b.Env
	plain.Colour = false
	for _, a := range open {
		more := ""
		if a.Problem != "" {
			more = b.Env.Text("cli.inbox.unusable")
		}
		left := wide - console.Columns(begin(a)+shortHead(&plain, a, more)) - 1
		fmt.Fprintln(b.Env.Out, begin(a)+shortHead(b.Env, a, more), console.CutColumns(view.FirstLine(a), max(left, leastAsked)))
	}
}

// columnsOf returns how many columns a stream shows: those of the terminal, else the usual
// number.
func columnsOf(stream any) int {
	if f, ok := stream.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return usualColumns
}

// watchedInbox is an inbox that is listed again whenever it changes. A question keeps its
// number, because a person may be typing it.
type watchedInbox struct {
	b       *workspace.Workspace
	args    []string
	tags    []string
	numbers []string // of the requests, the first one's is 1
	listed  string   // what the last list was about
}

// watchInbox lists what is asked, and again whenever that changes, until the context ends. At a
// terminal a person answers by number.
func watchInbox(ctx context.Context, b *workspace.Workspace, args, tags []string) error {
	x := &watchedInbox{b: b, args: args, tags: tags}
	var p *console.Prompter
	if b.Env.AtTerminal() {
		p = b.Env.NewPrompter()
		defer p.Close()
	}
	for ctx.Err() == nil {
		began := time.Now()
		list, about, err := x.look()
		if err != nil {
			return err
		}
		if about != x.listed {
			x.show(list, p != nil)
			x.listed = about
		}
		if err := x.wait(ctx, p, pauseAfter(time.Since(began))); err != nil {
			break // the input ended
		}
	}
	fmt.Fprintln(b.Env.Err)
	return nil
}

// look returns the list of the open requests, each on a line with its number, and what it is about:
// a list in which nothing but ages and times changes is about the same.
func (x *watchedInbox) look() (list, about string, err error) {
	var notes, lines bytes.Buffer
	env := *x.b.Env
	env.Err = &notes
	b := x.viewer(&env)
	found, _, err := view.Narrow(b, x.args)
	if err != nil {
		return "", "", err
	}
	asks.WithdrawAbandoned(b)
	s := view.LookAtRuns(b, found, false)
	s.KeepTagged(b, x.tags)
	env.Out = &lines
	open := s.Open()
	for _, a := range open {
		about += fmt.Sprintln(x.number(a), a.Digest, a.Problem, a.Overdue, a.NobodyWaits.IsZero())
	}
	printShort(b, open, columnsOf(x.b.Env.Out), func(a engine.OpenRequest) string { return fmt.Sprintf("%3d  ", x.number(a)) })
	if len(open) == 0 {
		env.Say("cli.inbox.none")
	}
	return notes.String() + lines.String(), "listed\n" + about + notes.String(), nil
}

// viewer returns the workspace for one look or answer.
func (x *watchedInbox) viewer(env *console.Env) *workspace.Workspace {
	b := x.b.Viewer(facade.Identity{})
	b.Env = env
	return b
}

// number returns the number of a request.
func (x *watchedInbox) number(a engine.OpenRequest) int {
	name := a.Run.String() + ":" + a.Request
	if !slices.Contains(x.numbers, name) {
		x.numbers = append(x.numbers, name)
	}
	return slices.Index(x.numbers, name) + 1
}

// show prints a list in place of the line on which a number is typed.
func (x *watchedInbox) show(list string, asks bool) {
	if asks {
		fmt.Fprint(x.b.Env.Err, "\r\x1b[K")
	}
	fmt.Fprintln(x.b.Env.Out, list)
	if asks {
		fmt.Fprint(x.b.Env.Err, x.b.Env.Text("cli.inbox.watch.ask"))
	}
}

// wait waits until the next look, or answers the request whose number a person types. It returns
// an error if nobody can type any more.
func (x *watchedInbox) wait(ctx context.Context, p *console.Prompter, pause time.Duration) error {
	till, cancel := context.WithTimeout(ctx, pause)
	defer cancel()
	if p == nil {
		<-till.Done()
		return nil
	}
	typed, err := p.Typed(till)
	if typed == "" || err != nil {
		return err
	}
	if err := x.answer(ctx, strings.TrimSpace(typed)); err != nil && ctx.Err() == nil {
		x.b.Env.Report(err, true)
	}
	x.listed = "" // the answer is between the list and the next number
	return nil
}

// answer shows the request that has a number, and asks for the answer.
func (x *watchedInbox) answer(ctx context.Context, typed string) error {
	n, err := strconv.Atoi(typed)
	switch {
	case typed == "":
		return nil
	case err != nil || n < 1 || n > len(x.numbers):
		return console.Usage("cli.inbox.watch.number", "typed", strconv.Quote(console.OneLine(typed)))
	}
	b := x.viewer(x.b.Env)
	t, err := answer.Find(b, x.numbers[n-1])
	if err != nil {
		return err
	}
	command := answerCommand(t, "respond", " …")
	if err := wasShown(b, t, "", command); err != nil {
		return err
	}
	p := b.Env.NewPrompter() // what was typed before the request is shown is no answer to it
	defer p.Close()
	r := answer.Reply{By: console.Login()}
	if err := askReply(ctx, b.Env, p, t, &r, command); err != nil {
		return err
	}
	return giveReply(ctx, b, t, r, agreeing(p))
}
