package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"placet/cmd/placet/answer"
	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine/gate"
	"placet/templates"
)

// giveAnswer makes an answer durable as response.json, and says what happens next.
func giveAnswer(ctx context.Context, b *workspace.Workspace, t view.Request, resp gate.Response) error {
	done, err := answer.Give(ctx, b, t, resp)
	if err != nil {
		return err
	}
	if !done.Daemon && !t.Waited {
		key := templates.Key("cli.answer.nodaemon")
		if t.Run.Family == "ask" {
			key = "cli.answer.nodaemon.ask"
		}
		defer b.Env.Note(key)
	}
	if view.GateOf(b, t.OpenRequest).Waits {
		defer b.Env.Note("say.text", "text", config.GatesWait)
	}
	return b.Env.Answer(done, func() {
		key := templates.Key("cli.answer.done")
		if done.Result == "same" {
			key = "cli.answer.same"
		}
		said, with := view.Said(t, resp)
		fmt.Fprintln(b.Env.Out, requestHead(b.Env, t.OpenRequest, ""), question(t.OpenRequest))
		b.Env.Say(key, "request", t.Label(), "answer", console.Cleaned(b.Env.Paint(console.Strong, said)+with+console.Suffix(" → ", console.OneLine(done.Effect))),
			"by", view.ShownAuthor(b.Env.Lang, resp, []string{"owner:" + console.Login()}))
	})
}

// plainVerb returns a verb that stands for one option. needs is what must be typed with it.
func plainVerb(d answer.Decision, needs string) verb.Verb {
	r, edits := answer.Reply{}, ""
	return verb.Verb{
		Use: d.Verb + " [REQUEST]" + needs, About: "answering",
		Most: 1, Group: verb.GroupDecide, Complete: verb.CompleteRequests,
		Common: d.Verb != answer.Steering.Verb, Old: d.Verb == answer.Steering.Verb,
		Flags: func(f *pflag.FlagSet) {
			answerFlags(f, &r)
			switch d.Verb {
			case answer.Steering.Verb:
				f.StringSliceVar(&r.Selected, "plan", nil, "")
			case answer.Approving.Verb:
				f.StringVar(&edits, "edit", "", "")
				f.Lookup("edit").NoOptDefVal = allEditable
			}
		},
		Look: func(c verb.Call, b *workspace.Workspace) error {
			name, digest, err := view.CutDigest(console.First(c.Args))
			if err != nil {
				return err
			}
			t, err := answer.Find(b, name)
			if err != nil {
				return already(b, err, func(c view.Closed) bool {
					r.Option = c.Receipt.Response
					return (answer.Says(c, d.Words) || d.Means(r.Option)) && answer.Took(c, r)
				})
			}
			if r.Option, err = d.Pick(t); err != nil {
				return err
			}
			more := ""
			if slices.Contains(t.CommentRequired, r.Option) {
				more = ` -m "…"`
			}
			if err := wasShown(b, t, digest, answerCommand(t, d.Verb, more)); err != nil {
				return err
			}
			command := answerCommand(t, d.Verb, more)
			if edits == "" {
				return giveReply(c.Ctx, b, t, r, asking(digest, command))
			}
			return editing(c.Ctx, b, t, edits, func(made []gate.Edit) error {
				now, err := answer.Find(b, view.NameOf(t.OpenRequest)) // an editor takes its time
				if err != nil {
					return err
				}
				if now.Digest != t.Digest {
					return wasShown(b, now, t.Digest.Hex(), command)
				}
				r.Edits = made
				return giveReply(c.Ctx, b, now, r, asking(digest, command))
			})
		},
	}
}

func answerFlags(f *pflag.FlagSet, r *answer.Reply) {
	f.StringVarP(&r.Comment, "message", "m", "", "")
	f.StringVar(&r.By, "as", console.Login(), "")
}

// already accepts the same answer to a closed request: approving twice is one approval. It
// refuses every other answer.
func already(b *workspace.Workspace, err error, same func(view.Closed) bool) error {
	var c view.Closed
	if !errors.As(err, &c) {
		return err
	}
	if same(c) {
		return b.Env.Answer(answer.AnsweredBefore(b, c), func() { b.Env.Say("say.text", "text", c) })
	}
	return console.Refused("cli.answer.closed", "error", c).Try("cli.answer.closed.try", "command", console.Typed("show --log", console.Brief(c.Run)))
}

// respondVerb returns the verb that answers with any option, or in words.
func respondVerb() verb.Verb {
	r, attempts := answer.Reply{}, 0
	return verb.Verb{
		Use: "respond [REQUEST] [OPTION…|TEXT]", About: "answering",
		Most: -1, Group: verb.GroupDecide, Complete: verb.CompleteRequests, Common: true,
		Flags: func(f *pflag.FlagSet) {
			answerFlags(f, &r)
			f.StringSliceVar(&r.Selected, "select", nil, "")
			f.IntVar(&attempts, "attempts", 0, "")
		},
		Look: func(c verb.Call, b *workspace.Workspace) error {
			name, options := splitReply(b, c.Args)
			if len(options) > 0 {
				r.Option, r.More = options[0], options[1:]
			}
			if c.Flags.Changed("attempts") {
				r.Attempts = &attempts
			}
			name, digest, err := view.CutDigest(name)
			if err != nil {
				return err
			}
			t, err := answer.Find(b, name)
			if err != nil {
				return already(b, err, func(c view.Closed) bool { return answer.Took(c, r) })
			}
			command := answerCommand(t, "respond", " …")
			if err := wasShown(b, t, digest, command); err != nil {
				return err
			}
			if len(options) == 0 && !answer.IsGiven(t, r) && c.Env.AtTerminal() {
				p := c.Env.NewPrompter()
				defer p.Close()
				if err := askReply(c.Ctx, c.Env, p, t, &r, command); err != nil {
					return err
				}
				return giveReply(c.Ctx, b, t, r, agreeing(p)) // the prompt has shown the request
			}
			return giveReply(c.Ctx, b, t, r, asking(digest, command))
		},
	}
}

// splitReply returns the name of the request in the arguments of respond, and what is answered.
// If only one request is open, one of its options needs no name before it.
func splitReply(b *workspace.Workspace, args []string) (name string, options []string) {
	if len(args) == 0 {
		return "", nil
	}
	if word, _, err := view.CutDigest(args[0]); err == nil && len(view.OpenRequests(b, b.Runs(), word)) == 0 {
		if only, err := answer.Find(b, ""); err == nil {
			if _, offered := gate.Match(answer.Options(only.OpenRequest), args[0]); offered {
				return "", args
			}
		}
	}
	return args[0], args[1:]
}

// asker asks on the terminal whether an answer is meant.
type asker func(ctx context.Context, b *workspace.Workspace, t view.Request, resp gate.Response) error

// asking returns the asker for an answer that names what was shown by its digest: nil, since
// only an answer without a digest is asked about. command is the command that names it.
func asking(digest, command string) asker {
	if digest != "" {
		return nil
	}
	return func(ctx context.Context, b *workspace.Workspace, t view.Request, resp gate.Response) error {
		return confirm(ctx, b, t, resp, command)
	}
}

// giveReply gives an answer, and asks first whether it is meant, unless asks is nil.
func giveReply(ctx context.Context, b *workspace.Workspace, t view.Request, r answer.Reply, asks asker) error {
	resp, err := answer.NewResponse(b, t, r)
	if p := (*console.Problem)(nil); errors.As(err, &p) && p.Kind == console.KindChanged {
		for _, f := range view.ChangedLines(b, t) {
			b.Env.Note("say.text", "text", strings.Join(differenceLines(b, f), "\n"))
		}
	}
	if err != nil {
		return err
	}
	if asks != nil {
		if err := cmp.Or(asks(ctx, b, t, resp), answer.CheckCounts(b, t, resp)); err != nil { // a person takes their time
			return err
		}
	}
	if err := agreeByAnswer(b, t, resp); err != nil {
		return err
	}
	return giveAnswer(ctx, b, t, resp)
}

// wasShown refuses an answer to anything but what its giver was shown: what the digest names
// or, without one, what a terminal is about to show. command is the command that names it.
func wasShown(b *workspace.Workspace, t view.Request, digest, command string) error {
	switch {
	case t.Digest == "":
		return console.Refused("cli.answer.torn", "request", t.Label()).Try("cli.answer.torn.try")
	case digest == "" && !b.Env.AtTerminal():
		return console.Usage("cli.answer.unshown", "request", t.Label()).Try("cli.answer.unshown.try", "show", showCommand(t), "command", command)
	case digest != "" && !view.IsShown(b, t.OpenRequest, digest):
		showOnErr(b, func() { show(b.Env, "request", t.OpenRequest) })
		return console.Refused("cli.answer.changed", "request", t.Label(), "digest", "@"+console.OneLine(digest)).
			Try("cli.answer.changed.try", "reference", view.Reference(t.OpenRequest))
	}
	return nil
}

// showCommand returns the command that shows all of a request.
func showCommand(t view.Request) string { return console.Typed("show", t.Request) }

// answerCommand returns the command that answers a request as it is shown now. more comes after
// its reference.
func answerCommand(t view.Request, word, more string) string {
	return fmt.Sprintf("placet %s %s%s", word, view.Reference(t.OpenRequest), more)
}

// mostRows limits the rows of a terminal that a request may take if it is answered below it: of
// a longer one the person has seen only the end.
const mostRows = 100

// showWhole shows a request on the terminal, before a person answers it there. It cuts a
// request that is too long, says so, and refuses the answer: only the command that names what
// was shown can answer it.
func showWhole(w *console.Env, t view.Request, text, command string) error {
	lines, wide := strings.SplitAfter(text, "\n"), columnsOf(w.Err)
	rows := 0
	for i, line := range lines {
		if rows += 1 + console.Columns(line)/wide; rows > mostRows {
			show := showCommand(t)
			fmt.Fprintln(w.Err, w.Text("cli.answer.more", "n", len(lines)-i, "command", show))
			return console.Refused("cli.answer.long", "request", t.Label()).Try("cli.answer.unshown.try", "show", show, "command", command)
		}
		fmt.Fprint(w.Err, line)
	}
	return nil
}

// viewText returns the output of a view, without colours.
func viewText(w *console.Env, view string, data any) string {
	var text strings.Builder
	plain := *w
	plain.Out, plain.Err, plain.Colour = &text, &text, false
	show(&plain, view, data)
	return text.String()
}

// showOnErr shows something on standard error, because it is no part of the verb's answer.
func showOnErr(b *workspace.Workspace, show func()) {
	answer, onErr := b.Env, *b.Env
	onErr.Out, onErr.Colour = onErr.Err, false
	b.Env = &onErr
	show()
	b.Env = answer
}

// confirm shows a request on the terminal, and asks whether an answer is meant.
func confirm(ctx context.Context, b *workspace.Workspace, t view.Request, resp gate.Response, command string) error {
	p := b.Env.NewPrompter()
	defer p.Close()
	if err := showWhole(b.Env, t, viewText(b.Env, "request", t.OpenRequest), command); err != nil {
		return err
	}
	return agreeing(p)(ctx, b, t, resp)
}

// agreeing returns the asker for a request that was shown on the terminal.
func agreeing(p *console.Prompter) asker {
	return func(ctx context.Context, b *workspace.Workspace, t view.Request, resp gate.Response) error {
		said, with := view.Said(t, resp)
		return p.Agreed(ctx, "\n"+b.Env.Text("cli.answer.confirm", "answer", said+with+console.Suffix(" → ", view.Effects(t, resp))))
	}
}
