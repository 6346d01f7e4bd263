package nemawashi

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"placet/internal/enginetest"
	"placet/schemas"
	"placet/templates"
)

var (
	// translated is a piece of a sentence in the pseudo-language.
	translated = regexp.MustCompile(`⟦[^⟧]*⟧`)
	// english matches two consecutive words.
	english = regexp.MustCompile(`[A-Za-z']{2,} [a-z']{2,}`)
	// foreign matches values of several words, and sentences of other packages.
	foreign = regexp.MustCompile(`All of it|Tell the team|not needed|(smtp|http) [a-z:/]+\.acme\.example|550 no such user|SMTP_PASSWORD is not set|` +
		`[a-z_]+ by (root|kim) \((form|file)\)|nobody answered until the deadline|` + "`\\.nemawashi/[^`]+/response\\.json` (?s:(says|does not count).+)|/actor: is the number 7[^⟦]+|who commands, with user and source")
)

// In the pseudo-language, nothing that people read about an action is English except its values;
// TestLanguages covers the cases of the laws.
func TestWhatPeopleReadIsTranslated(t *testing.T) {
	stories := []enginetest.Case{
		story("asked twice", mailAction, commands("a", `"command": "request-approval"`)),
		story("a member that nobody reads", strings.Replace(mailAction, "{", `{"sumary": "", `, 1)),
	}
	for _, s := range scenes() {
		stories = append(stories, s.story)
	}
	suite := laws()
	suite.Config.Language = templates.Pseudo
	for _, c := range stories {
		c.Notes = true
		t.Run(c.Name, func(t *testing.T) {
			enginetest.AtDesk(t, suite, c, func(desk *enginetest.Desk) {
				d := &storyDesk{desk}
				d.Lax = true
				for _, step := range append([]enginetest.Step{{}}, c.Steps...) {
					d.takes(step)
					for _, words := range d.read() {
						if english.MatchString(foreign.ReplaceAllString(translated.ReplaceAllString(words, "⟦⟧"), "")) {
							t.Errorf("after the step %q it says %q", step.Name, words)
						}
					}
				}
			})
		})
	}
}

// read returns what people read about the action.
func (d *storyDesk) read() (texts []string) {
	a := d.Account(path.Base(dir))
	texts = slices.Concat(a.Why, a.WaitsFor)
	for _, u := range a.Unblock {
		texts = append(texts, u.Content)
	}
	for _, f := range a.Facts {
		texts = append(texts, f.Label, f.Value)
	}
	for _, n := range a.Graph {
		texts = append(texts, n.Label)
	}
	for _, f := range a.Findings {
		texts = append(texts, f.Text)
	}
	for p, body := range d.Tree() {
		switch base := path.Base(p); {
		case strings.HasSuffix(base, "problem.md"):
			texts = append(texts, body)
		case base == "receipt.json":
			var rc struct {
				Reason string `json:"reason"`
			}
			if schemas.Decode("", p, []byte(body), &rc) == nil {
				texts = append(texts, rc.Reason)
			}
		case base == "state.json":
			if st, err := ReadState(p, []byte(body)); err == nil {
				texts = append(texts, st.Last.Reason)
			}
		}
	}
	return texts
}

// A bad input is refused in the reader's language, and the place that it names stays in front.
func TestRefusalsAreTranslated(t *testing.T) {
	for _, action := range []string{
		`{"type": "mail_draft", "payload": {"to": "a@b.example,Boss <c@d.example>"}}`, `{"type": "mail_draft", "payload": {"to": ["pm@b.example", "prn@b.example"]}}`,
		`{"type": "mail_draft", "payload": {"subject": "a\rb"}}`, `{"type": "meeting_request", "payload": {"start_at": "noon"}}`,
		`{"type": "mail_draft", "payload": {"actions": [{"type": "fax"}]}}`,
	} {
		err := CheckAction([]byte(strings.Replace(action, "{", `{"summary": "Tell", "requested_by": "agent", `, 1)))
		if err == nil {
			t.Errorf("%s can be used", action)
			continue
		}
		words := templates.In(templates.Pseudo, err)
		if rest := translated.ReplaceAllString(words, ""); english.MatchString(strings.ReplaceAll(rest, "Boss <", "")) {
			t.Errorf("%s: %s", action, words)
		}
		if ko := templates.In("ko", err); !strings.HasPrefix(ko, Pointer(err)) || Pointer(err) == "" || ko == err.Error() {
			t.Errorf("%s: %s", action, ko)
		}
	}
}
