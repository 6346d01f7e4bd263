package optimizer

import (
	"strings"
	"testing"

	"placet/engine"
)

// Whoever judges an attempt whose end nobody knows reads which command it was and when
// it began, in request.json and in the form: whatever the arguments hold, on one line.
func TestTheQuestionAboutAnAttemptNamesItsCommand(t *testing.T) {
	for lang, argv := range map[string][]string{
		"en": {"python3", "scripts/evaluation.py", "a\n\n# b"}, "ko": {"tool", strings.Repeat("긴 ", 4000)},
	} {
		t.Run(lang, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.trust(argv)
				d.config(func(c *Config) {
					c.Language, c.Workflows = lang, map[string]Workflow{flow: {Evaluation: argv, CriteriaFixed: true}}
				})
				d.trigger()
				d.goes(triggered, collected, decided)
				// Of one that was revoked half-way nobody knows what it has done, either.
				d.EndCommand("level/30-1", engine.Ended{Result: map[string]string{"en": "lost", "ko": "revoked"}[lang]})
				d.goes()
				var asked struct {
					Prompt  string
					Context struct {
						Attempt, Command string
						Level            int
						StartedAt        string `json:"started_at"`
					}
				}
				d.decode(d.request(typeUnknown, "request.json"), &asked)
				var a Attempt
				d.decode("attempts/30-1.json", &a)
				want := oneLine(strings.Join(argv, " "), shownName)
				c := asked.Context
				if c.Attempt != "30-1" || c.Level != 30 || c.Command != want || c.StartedAt != string(a.StartedAt) || len(c.Command) > shownName+len("…") {
					t.Errorf("the context is %+v", c)
				}
				form := d.read(d.request(typeUnknown, "form.md"))
				for where, body := range map[string]string{"the prompt": asked.Prompt, "the form": form} {
					if !strings.Contains(body, want) || !strings.Contains(body, c.StartedAt) {
						t.Errorf("%s does not name command and time:\n%s", where, body)
					}
				}
				d.respond(typeUnknown, `"response": "retry"`)
				d.goes(retried)
				d.noted()
			})
		})
	}
}
