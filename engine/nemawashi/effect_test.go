package nemawashi

import (
	"path"
	"slices"
	"strings"
	"testing"

	"placet/engine"
	"placet/internal/enginetest"
)

// formOf tells a story up to a request in a language, and returns its form.
func formOf(t *testing.T, lang, prefix string, c enginetest.Case) (form string) {
	t.Helper()
	before := c.Config
	c.Config = func(conf *engine.Config) {
		conf.Language = lang
		if before != nil {
			before(conf)
		}
	}
	enginetest.AtDesk(t, laws(), c, func(d *enginetest.Desk) {
		d.Settle()
		for _, step := range c.Steps {
			tree := d.Tree().Clone()
			step.Do(tree)
			for _, p := range tree.Paths() {
				if was := d.Tree(); was[p] != tree[p] {
					d.Put(p, tree[p])
				}
			}
			d.Settle()
		}
		for _, p := range d.Tree().Paths() {
			if path.Base(p) == "form.md" && strings.HasPrefix(path.Base(path.Dir(p)), prefix) {
				form = d.Read(p)
			}
		}
	})
	return form
}

// The table of effects, section 6 of the format page, stands in every form.
func TestEveryFormShowsTheEffects(t *testing.T) {
	smtpOn := func(c *Config) { c.Mail.Provider, c.Mail.SMTPHost = smtp, "mail.acme.example" }
	byCommand := func(c *Config) { c.ExecuteOnApprove = false }
	for _, c := range []struct {
		name, prefix string
		story        enginetest.Case
		effects      []string
	}{
		{"approval", "apr-", story("", batchAction), []string{
			"approve: Approve → carries out what is shown: 1 mail\\_draft", "pm@acme.example; 2 meeting\\_request", "reject: Reject → ends this action for good, nothing is sent",
			"steer: Ask for changes → sends nothing, adds your words as draft v2 and asks again (needs a comment)",
		}},
		{"approval without sending", "apr-", set(story("", mailAction), byCommand), []string{"approve: Approve → allows it; nothing is sent before execute"}},
		{"retry", "rty-", story("", batchAction, ticks("apr-", "approve"), ends("done", ""), ends("refused", ""), ends("done", "")), []string{
			"retry: Try again → tries again: part 2; what succeeded is not repeated", "give_up: Give up → ends this action for good, what was sent stays sent",
		}},
		{"outcome", "out-", set(story("", mailAction, ticks("apr-", "approve"), ends("unknown", "")), smtpOn), []string{
			"happened: It happened → counts part 1 as done, it is not sent again", "did_not_happen: It did not happen → counts part 1 as failed; you are asked whether to try again",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			form := formOf(t, "en", c.prefix, c.story)
			for _, effect := range c.effects {
				if !strings.Contains(strings.ReplaceAll(form, `\_`, "_"), strings.ReplaceAll(effect, `\_`, "_")) {
					t.Errorf("the form lacks %q:\n%s", effect, form)
				}
			}
			for _, lang := range []string{"ja", "ko"} {
				other := formOf(t, lang, c.prefix, c.story)
				options := func(s string) int { return strings.Count(s, "- [ ] ") }
				if options(other) != options(form) || strings.Count(other, " → ") != strings.Count(form, " → ") || slices.Equal(strings.Split(other, "\n"), strings.Split(form, "\n")) {
					t.Errorf("the form in %s shows other options, or none of its language:\n%s", lang, other)
				}
			}
		})
	}
}
