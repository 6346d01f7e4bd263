package ask

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/internal/enginetest"
	"placet/templates"
)

// All that people read of an ask in the pseudo-language is translated, except the asker's own
// text and names.
func TestWhatAnAskSaysIsTranslated(t *testing.T) {
	translated, english := regexp.MustCompile(`⟦[^⟦⟧]*⟧|"[^"]*"|`+"`[^`]*`"), regexp.MustCompile(`\pL{2,}`)
	names := strings.NewReplacer(folder, "", dir, "", RequestID("deploy-14"), "", "Deploy build 14?", "", "approval", "", "withdrawn", "")
	asked := enginetest.Tree{dir + "/ask.json": yes}
	for name, files := range map[string]enginetest.Tree{
		"open":         asked,
		"bad":          {dir + "/ask.json": "{"},
		"refused":      {dir + "/ask.json": `{"question": "a", "options": [{"id": "b"}, {"id": "b"}]}`},
		"absent":       {dir + "/note.md": ""},
		"superseding":  {dir + "/ask.json": `{"question": "a", "supersedes": "a"}`, ".asks/a/ask.json": yes},
		"answer there": {dir + "/ask.json": yes, dir + "/answer.json": theirs},
		"used":         {dir + "/ask.json": yes, dir + "/withdraw.json": `{"reason": "-"}`, dir + "/reuse.json": usedTwice},
		"miscounted":   {dir + "/ask.json": yes, dir + "/withdraw.json": `{"reason": "-"}`, dir + "/reuse.json": "{"},
		"withdrawn":    {dir + "/ask.json": yes, dir + "/withdraw.json": `{"reason": "-", "superseded_by": "deploy-14"}`},
	} {
		t.Run(name, func(t *testing.T) {
			tell(t, files, func(d *enginetest.Desk) {
				d.Case.Config = func(c *engine.Config) { c.Language = templates.Pseudo }
				d.Lax = true
				d.Settle()
				d.Pass(time.Minute)
				d.Settle()
				a := d.Account("deploy-14")
				said := slices.Concat(a.Why, a.WaitsFor)
				for _, u := range a.Unblock {
					said = append(said, u.Content)
				}
				for _, f := range a.Facts {
					said = append(said, f.Label)
				}
				for _, f := range a.Findings {
					said = append(said, f.Text)
				}
				for _, p := range d.Tree().Paths() {
					if strings.HasSuffix(p, ".problem.md") || strings.HasSuffix(p, "/problem.md") {
						said = append(said, d.Read(p))
					}
				}
				for _, text := range said {
					if left := english.FindString(words(names.Replace(translated.ReplaceAllString(text, "")))); left != "" {
						t.Errorf("%q is said in English alone: %s", left, text)
					}
				}
				if len(a.Why) == 0 {
					t.Error("it says nothing")
				}
			})
		})
	}
}

// words returns a text without file names, members and ids.
func words(text string) string {
	return regexp.MustCompile(`[\w/-]+\.(?:json|md)|/[\w/]+|ask/[\w-]+|approve|reject|ask-\w+`).ReplaceAllString(text, "")
}
