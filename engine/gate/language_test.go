package gate

import (
	"regexp"
	"strings"
	"testing"

	"placet/engine"
	"placet/templates"
)

var (
	translated = regexp.MustCompile(`⟦[^⟦⟧]*⟧`)
	asCode     = regexp.MustCompile("`[^`]*`")
	english    = regexp.MustCompile(`\pL{2,}`)
)

// spoken fails if a text of the pseudo-language has untranslated words.
func spoken(t *testing.T, text string) {
	t.Helper()
	if text == "" {
		t.Error("nothing is said")
	}
	if left := english.FindString(asCode.ReplaceAllString(translated.ReplaceAllString(text, ""), "")); left != "" {
		t.Errorf("%q is said in English alone:\n%s", left, text)
	}
}

func TestWhatIsSaidIsTranslated(t *testing.T) {
	good := form(t, "approve", submitID)
	for name, change := range map[string]func(*Evaluation){
		"another option":  func(a *Evaluation) { a.Docs = []engine.Document{file("response.json", response("perhaps", ""))} },
		"another request": func(a *Evaluation) { a.Docs = []engine.Document{file("response.json", responseTo("x", "approve", ""))} },
		"stale": func(a *Evaluation) {
			a.Docs, a.View = []engine.Document{file("response.json", response("approve", ""))}, "sha256:x"
		},
		"torn": func(a *Evaluation) { a.Docs = []engine.Document{file("response.json", "{")} },
		"strays": func(a *Evaluation) {
			a.Docs = []engine.Document{file("response.json", response("approve", `,"coment":"x"`))}
		},
		"approvers": func(a *Evaluation) {
			a.Docs, a.Gate = []engine.Document{file("response.json", response("approve", ""))}, engine.Gate{Approvers: []string{"lee"}, Waits: true}
		},
		"nobody": func(a *Evaluation) {
			a.Docs, a.Gate = []engine.Document{file("response.json", response("approve", ""))}, engine.Gate{Approvers: []string{Nobody}}
		},
		"old": func(a *Evaluation) {
			a.Docs, a.Gate.Since = []engine.Document{file("response.json", response("approve", ""))}, now
		},
		"differ": func(a *Evaluation) {
			a.Docs = []engine.Document{file("response.json", response("reject", `,"comment":"no"`)), file("form.md", good)}
		},
		"void": func(a *Evaluation) {
			a.Docs = []engine.Document{file("form.md", strings.Replace(good, "# ", "# X", 1))}
		},
		"no marks": func(a *Evaluation) {
			a.Docs = []engine.Document{file("form.md", strings.ReplaceAll(good, "placet answer", "x"))}
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := asking()
			change(&a)
			a.Lang = templates.Pseudo
			problem := judge(a).Problem
			for _, o := range a.Request.Options {
				problem = strings.ReplaceAll(problem, described(o.Description, o.Effect), "")
			}
			spoken(t, problem)
		})
	}
	spoken(t, templates.In(templates.Pseudo, CheckLimits("x", Answer{Comment: strings.Repeat("a", LongestAnswer+1)})))
	spoken(t, strings.Replace(Receipt{Result: Expired, RequestID: "a", Response: "b"}.closed(templates.Pseudo), "a-1", "", 1))
	d := Decision{lang: templates.Pseudo}
	d.Outside = []templates.Message{belowSubmit, templates.NewMessage("gate.place.above")}
	spoken(t, d.Reason())
	for _, ids := range [][]string{{""}, {"1", "\u200b"}, {"1", "1"}, {submitID}} {
		said := templates.In(templates.Pseudo, CheckOptions(ids))
		spoken(t, strings.ReplaceAll(strings.ReplaceAll(said, `\u200b`, ""), submitID, ""))
	}
}
