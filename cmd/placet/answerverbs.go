package main

import (
	"errors"

	"github.com/spf13/cobra"

	"placet/engine/gate"
)

// approveCommand answers yes.
func approveCommand(w *world) *cobra.Command {
	return plainVerb(w, "approve", approvals, "Answer a request with approve, confirm or accept", `
Picks the option "approve", "confirm" or "accept" of an open request; a request
that offers none of them is not answered. REQUEST is the request's id as the inbox shows
it, <run>:<id> where two runs use it, or a run that has one open request. It
may be left out where one request alone is open.`)
}

// rejectCommand answers no.
func rejectCommand(w *world) *cobra.Command {
	return plainVerb(w, "reject", refusals, "Answer a request with reject, cancel or abort", `
Picks the option "reject", "cancel" or "abort" of an open request; a request
that offers none of them is not answered. REQUEST is named as for approve.`)
}

// plainVerb is a verb that stands for one option.
func plainVerb(w *world, verb string, words []string, short, long string) *cobra.Command {
	r := reply{}
	cmd := &cobra.Command{
		Use: verb + " [REQUEST]", Short: short, Long: short + "." + long + answerNote,
		Args: takes(0, 1), GroupID: groupDecide, ValidArgsFunction: completeRequests(w),
		RunE: func(_ *cobra.Command, args []string) error {
			b, err := w.look()
			if err != nil {
				return err
			}
			t, err := b.oneRequest(first(args))
			if err != nil {
				return b.already(err, words)
			}
			if r.option, err = pick(t, verb, words); err != nil {
				return err
			}
			resp, err := b.response(t, r)
			if err != nil {
				return err
			}
			return b.give(t, resp)
		},
	}
	answerFlags(cmd, &r)
	return cmd
}

const answerNote = `

The answer is written as response.json beside the request and is durable when
the command returns. placet watch, or the next placet once, carries it out.`

func answerFlags(cmd *cobra.Command, r *reply) {
	cmd.Flags().StringVarP(&r.comment, "message", "m", "", "the comment that goes with the answer")
	cmd.Flags().StringVar(&r.by, "as", login(), "who answers")
}

// already lets the same answer to a closed request pass: approving twice is
// one approval. Anything else stays refused.
func (b *bench) already(err error, words []string) error {
	var c closed
	if !errors.As(err, &c) {
		return err
	}
	given := []gate.Option{{ID: c.receipt.Response}}
	for _, word := range words {
		if _, same := gate.Match(given, word); same && c.receipt.Result == "accepted" {
			return b.w.answer(written{
				RequestID: c.receipt.RequestID, Run: c.run.String(), Response: c.receipt.Response,
				Selected: append([]string{}, c.receipt.Selected...), Comment: c.receipt.Comment,
				ProvidedBy: c.receipt.ProvidedBy, Digest: c.receipt.Digest, Result: "same", Daemon: daemonRuns(b.root),
			}, func() { b.w.say("%s", c.Error()) })
		}
	}
	return refused("cannot answer: %s", c.Error()).try("placet log %s shows what happened since", brief(c.run))
}

// respondCommand answers with any option, or in words.
func respondCommand(w *world) *cobra.Command {
	r, attempts := reply{}, 0
	cmd := &cobra.Command{
		Use: "respond REQUEST [OPTION…|TEXT]", Short: "Answer a request with any of its options, or in words",
		Long: `Answer a request with any of its options, or in words where it asks a question.

Options are matched without regard to case, and with blanks, - and _ alike.
Several may be named where the request lets them be chosen together. On a
terminal, without an option, the request is shown and the answer is asked
for. REQUEST is named as for approve.` + answerNote,
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
			t, err := b.oneRequest(args[0])
			if err != nil {
				return b.already(err, nonEmpty(r.option))
			}
			if asks := len(args) < 2 && !(t.FreeText && r.comment != ""); asks && isTerminal(w.in) {
				if err := w.prompt(t, &r); err != nil {
					return err
				}
			}
			resp, err := b.response(t, r)
			if err != nil {
				return err
			}
			return b.give(t, resp)
		},
	}
	answerFlags(cmd, &r)
	cmd.Flags().StringSliceVar(&r.selected, "select", nil, "what is chosen, where several may be: a,b")
	cmd.Flags().IntVar(&attempts, "attempts", 0, "how many more attempts the option retry_more gives")
	return cmd
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
