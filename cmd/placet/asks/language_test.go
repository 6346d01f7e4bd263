package asks

import (
	"regexp"
	"strings"
	"testing"

	"placet/cmd/placet/answer"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/ask"
	"placet/engine/gate"
	"placet/templates"
)

// untranslated returns the Latin letters of a text in the pseudo-language outside of its
// translated pieces.
func untranslated(text string) string {
	rest := regexp.MustCompile(`⟦[^⟧]*⟧`).ReplaceAllString(text, "")
	return strings.Join(regexp.MustCompile(`[A-Za-z]+`).FindAllString(rest, -1), " ")
}

func TestWhyAnAnswerIsRefusedIsTranslated(t *testing.T) {
	plain := view.Request{OpenRequest: engine.OpenRequest{
		Request: "α", Run: engine.Key{Family: "ω", ID: "β"}, Where: "δ", Response: "ρ", Options: []engine.RequestOption{{ID: "κ"}, {ID: "μ"}},
		CommentRequired: []string{"μ"},
	}, Spoken: templates.Pseudo}
	items, words, several := plain, plain, plain
	items.Items = []engine.RequestItem{{ID: "ξ"}}
	words.FreeText = true
	several.Several = []string{"κ"}
	try := func(t view.Request, r answer.Reply) error {
		r.By = "π"
		b := &workspace.Workspace{Env: &console.Env{}}
		_, err := answer.NewResponse(b, t, r)
		return err
	}
	_, unpicked := answer.Steering.Pick(plain)
	_, unworded := answer.Steering.Pick(words)
	_, _, cut := view.CutDigest("α@1")
	for name, err := range map[string]error{
		"unpicked": unpicked, "unworded": unworded, "cut": cut, "named": answer.CheckName("σ", ""),
		"unselected": try(plain, answer.Reply{Selected: []string{"ξ"}}), "no item": try(items, answer.Reply{Selected: []string{"τ"}}),
		"two texts": try(words, answer.Reply{Option: "α", More: []string{"β"}}), "no text": try(words, answer.Reply{}),
		"no option": try(plain, answer.Reply{}), "other option": try(plain, answer.Reply{Option: "τ"}), "no comment": try(plain, answer.Reply{Option: "μ"}),
		"together": try(several, answer.Reply{Option: "κ", More: []string{"μ"}, Comment: "ψ"}), "attempts": try(plain, answer.Reply{Option: "κ", Attempts: new(5)}),
		"closed":   view.Closed{Run: plain.Run, Receipt: gate.Receipt{RequestID: "α", Response: "κ", Selected: []string{"ξ"}}, Doubt: "ζ"},
		"answered": AnsweredAlready{ask.State{}},
	} {
		p := console.ProblemOf(err)
		hint := regexp.MustCompile(`placet [a-z]+|OPTION`).ReplaceAllString(p.Hint(templates.Pseudo), "")
		said := strings.NewReplacer("retry_more", "", "ask/", "", "steer", "").Replace(p.In(templates.Pseudo))
		if !strings.Contains(said, "⟦") || untranslated(said)+untranslated(hint) != "" {
			t.Errorf("%s: %s → %s: %q is in English", name, p.In(templates.Pseudo), p.Hint(templates.Pseudo), untranslated(said)+untranslated(hint))
		}
	}
}
