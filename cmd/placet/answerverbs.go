package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
)

// approveCommand answers yes.
func approveCommand(w *world) *cobra.Command {
	return plainVerb(w, approving, "Answer a request with approve, confirm or accept", `
Picks the option "approve", "confirm" or "accept" of an open request, or, of one
about a decision, its only option that agrees, such as "yes" or "ship"; else the
one that stands for none where it may be left out. A request that offers none of
them is not answered. REQUEST is the request's id as the inbox shows
it, <run>:<id> where two runs use it, or a run that has one open request. It
may be left out where one request alone is open.`)
}

// rejectCommand answers no.
func rejectCommand(w *world) *cobra.Command {
	return plainVerb(w, rejecting, "Answer a request with reject, cancel or abort", `
Picks the option "reject", "cancel" or "abort" of an open request, or, of one
about a decision, its only option that refuses, such as "no" or "stop". A request
that offers none of them is not answered. REQUEST is named as for approve.`)
}

// plainVerb is a verb that stands for one option.
func plainVerb(w *world, d decision, short, long string) *cobra.Command {
	r := reply{}
	cmd := &cobra.Command{
		Use: d.verb + " [REQUEST]", Short: short, Long: short + "." + long + answerNote,
		Args: takes(0, 1), GroupID: groupDecide, ValidArgsFunction: completeRequests(w),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := w.look()
			if err != nil {
				return err
			}
			name, digest, err := cutDigest(first(args))
			if err != nil {
				return err
			}
			t, err := b.oneRequest(name)
			if err != nil {
				return b.already(err, func(c closed) bool { return c.says(d.words) || d.means(c.receipt.Response) })
			}
			if r.option, err = d.pick(t); err != nil {
				return err
			}
			if err := b.wasShown(t, digest, d.verb, ""); err != nil {
				return err
			}
			return b.reply(cmd.Context(), t, r, digest == "")
		},
	}
	answerFlags(cmd, &r)
	return cmd
}

const answerNote = `

REQUEST carries the digest that the listing shows, as in fr-20261120-b3d309@4f2a91c:
where the request shows something else by now, nothing is answered, and it is
shown again. Without the digest it is shown, and asked whether the answer is
meant; that needs a terminal.

The answer is written as response.json beside the request and is durable when
the command returns. placet watch, or the next placet once, carries it out.`

func answerFlags(cmd *cobra.Command, r *reply) {
	cmd.Flags().StringVarP(&r.comment, "message", "m", "", "the comment that goes with the answer")
	cmd.Flags().StringVar(&r.by, "as", login(), "who answers")
}

// already lets the same answer to a closed request pass: approving twice is
// one approval. Anything else stays refused.
func (b *bench) already(err error, same func(closed) bool) error {
	var c closed
	if !errors.As(err, &c) {
		return err
	}
	if same(c) && c.receipt.Result == "accepted" {
		return b.w.answer(written{
			RequestID: c.receipt.RequestID, Run: c.run.String(), Response: c.receipt.Response,
			Selected: append([]string{}, c.receipt.Selected...), Comment: c.receipt.Comment,
			ProvidedBy: c.receipt.ProvidedBy, Digest: c.receipt.Digest, Result: "same", Daemon: daemonRuns(b.root),
		}, func() { b.w.say("%s", c.Error()) })
	}
	return refused("cannot answer: %s", c.Error()).try("%s shows what happened since", typed("log", brief(c.run)))
}

// respondCommand answers with any option, or in words.
func respondCommand(w *world) *cobra.Command {
	r, attempts := reply{}, 0
	cmd := &cobra.Command{
		Use: "respond REQUEST [OPTION…|TEXT]", Short: "Answer a request with any of its options, or in words",
		Long: `Answer a request with any of its options, or in words where it asks a question.

Options are matched without regard to case, and with blanks, - and _ alike.
Several may be named where the request lets them be chosen together; where it
lets the option be left out, --select or -m answer alone. On a terminal, without
an answer, the request is shown and the answer is asked for. REQUEST is named as for approve.` + answerNote,
		Args: takesSeveral, GroupID: groupDecide, ValidArgsFunction: completeRequests(w),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := w.look()
			if err != nil {
				return err
			}
			if len(args) > 1 {
				r.option, r.more = args[1], args[2:]
			}
			if cmd.Flags().Changed("attempts") {
				r.attempts = &attempts
			}
			name, digest, err := cutDigest(args[0])
			if err != nil {
				return err
			}
			t, err := b.oneRequest(name)
			if err != nil {
				return b.already(err, func(c closed) bool { return c.saysAll(r) })
			}
			if err := b.wasShown(t, digest, "respond", " …"); err != nil {
				return err
			}
			if len(args) < 2 && !t.given(r) && w.atTerminal() {
				if err := w.prompt(cmd.Context(), t, &r); err != nil {
					return err
				}
				digest = t.Digest.Hex() // the prompt showed it
			}
			return b.reply(cmd.Context(), t, r, digest == "")
		},
	}
	answerFlags(cmd, &r)
	cmd.Flags().StringSliceVar(&r.selected, "select", nil, "what is chosen, where several may be: a,b")
	cmd.Flags().IntVar(&attempts, "attempts", 0, "how many more attempts the option retry_more gives")
	return cmd
}

// reply gives an answer, and asks first where nothing says that the request was
// shown.
func (b *bench) reply(ctx context.Context, t target, r reply, asks bool) error {
	resp, err := b.response(t, r)
	if err != nil {
		return err
	}
	if asks {
		if err := b.confirm(ctx, t, resp); err != nil {
			return err
		}
	}
	return b.give(t, resp)
}

// given reports whether a reply without an option is an answer.
func (t target) given(r reply) bool {
	return t.FreeText && r.comment != "" || t.Default != "" && (len(r.selected) > 0 || r.comment != "")
}

// first is the first argument, "" where there is none.
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
