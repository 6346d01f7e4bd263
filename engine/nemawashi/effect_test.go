package nemawashi

import (
	"strings"
	"testing"

	"placet/internal/enginetest"
)

// formOf runs a case up to a request, and returns its form.
func formOf(t *testing.T, prefix string, c enginetest.Case) (form string) {
	t.Helper()
	plays(t, c, func(d *storyDesk) {
		d.takes(c.Steps...)
		form = d.Read(open(d.Tree(), prefix) + "/form.md")
	})
	return form
}

// Every form contains the table of effects in section 6 of the format page.
func TestEveryFormShowsTheEffects(t *testing.T) {
	for _, c := range []struct {
		name, prefix string
		story        enginetest.Case
		effects      []string
	}{
		{"approval", "apr-", story("", batchAction), []string{
			"approve: Approve → carries out what is shown: 1 mail\\_draft", "pm@acme.example; 2 meeting\\_request", "reject: Reject → ends this action for good, nothing is sent",
			"steer: Ask for changes → sends nothing, adds your words as draft v2 and asks again (needs a comment)",
		}},
		{"approval without sending", "apr-", set(story("", mailAction), byHand), []string{"approve: Approve → allows it; nothing is sent before execute"}},
		{"retry", "rty-", story("", batchAction, ticks("apr-", "approve"), ends("done", ""), ends("refused", ""), ends("done", "")), []string{
			"retry: Try again → tries again: part 2; what succeeded is not repeated", "give_up: Give up → ends this action for good, what was sent stays sent",
		}},
		{"retry of two", "rty-", story("", batchAction, ticks("apr-", "approve"), ends("refused", ""), ends("refused", ""), ends("done", "")), []string{"retry: Try again → tries again: parts 1, 2; what"}},
		{"outcome", "out-", set(story("", mailAction, ticks("apr-", "approve"), ends("unknown", "")), onSMTP), []string{
			"happened: It happened → counts part 1 as done, it is not sent again", "did_not_happen: It did not happen → counts part 1 as failed; you are asked whether to try again",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			form := formOf(t, c.prefix, c.story)
			for _, effect := range c.effects {
				if !strings.Contains(strings.ReplaceAll(form, `\_`, "_"), strings.ReplaceAll(effect, `\_`, "_")) {
					t.Errorf("the form lacks %q:\n%s", effect, form)
				}
			}
		})
	}
}

// The form after a steer shows what was asked for, also once the draft was revised, and what
// changed in the draft.
func TestTheFormAfterASteerShowsWhatWasAskedFor(t *testing.T) {
	steer := responds("apr-", `"response": "steer", "selected": ["plan b"], "comment": "softer tone,\nplease"`)
	revise := commands("a", `"command": "revise", "draft": "Dear all,\nwe need a few more days.\n"`)
	for _, c := range []struct {
		name  string
		story enginetest.Case
		shows []string
		lacks string
	}{
		{"asked first", story("", mailAction), nil, "asked for changes"},
		{"steered", story("", mailAction, steer), []string{"kim asked for changes of version 1 of the draft:", "> softer tone,", "> please", "Chosen plan: B"}, ""},
		{"revised after that", story("", mailAction, steer, revise), []string{"kim asked for changes of version 1 of the draft:", "> softer tone,", "-we are late.", "+we need a few more days."}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			form := formOf(t, "apr-", c.story)
			for _, want := range c.shows {
				if !strings.Contains(form, want) {
					t.Errorf("the form lacks %q:\n%s", want, form)
				}
			}
			if c.lacks != "" && strings.Contains(form, c.lacks) {
				t.Errorf("the form has %q:\n%s", c.lacks, form)
			}
		})
	}
}
