package main

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"
)

// The verbs that stand for one option.
const (
	verbApprove = "approve"
	verbReject  = "reject"
)

// approveCommand answers yes.
func approveCommand(w *world) *cobra.Command {
	return plainVerb(w, verbApprove, approvals, "Answer a request with approve, confirm or accept", `
Picks the option "approve", "confirm" or "accept" of an open request, or the one
that stands for none where it may be left out; a request that offers none of
them is not answered. REQUEST is the request's id as the inbox shows
it, <run>:<id> where two runs use it, or a run that has one open request. It
may be left out where one request alone is open.`)
}

// rejectCommand answers no.
func rejectCommand(w *world) *cobra.Command {
	return plainVerb(w, verbReject, refusals, "Answer a request with reject, cancel or abort", `
Picks the option "reject", "cancel" or "abort" of an open request; a request
that offers none of them is not answered. REQUEST is named as for approve.`)
}

// plainVerb is a verb that stands for one option.
func plainVerb(w *world, verb string, words []string, short, long string) *cobra.Command {
	r := reply{}
	cmd := &cobra.Command{
		Use: verb + " [REQUEST]", Short: short, Long: short + "." + long + answerNote,
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
				return b.already(err, words, nil)
			}
			if r.option, err = pick(t, verb, words); err != nil {
				return err
			}
			if err := b.wasShown(t, digest, verb, ""); err != nil {
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
// one approval. Anything else stays refused: another option than one of words, and,
// where more is given, another choice than the two make together.
func (b *bench) already(err error, words, more []string) error {
	var c closed
	if !errors.As(err, &c) {
		return err
	}
	same := c.says(words)
	if len(more) > 0 {
		same = c.saysAll(slices.Concat(words, more))
	}
	if same && c.receipt.Result == "accepted" {
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
				return b.already(err, nonEmpty(r.option), slices.Concat(r.more, r.selected))
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

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// first is the first argument, "" where there is none.
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
