package workspace

import (
	"regexp"
	"strings"
	"testing"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/ask"
	"placet/engine/gate"
	"placet/templates"
)

func TestWhyAnAnswerIsRefusedIsTranslated(t *testing.T) {
	plain := Request{OpenRequest: engine.OpenRequest{
		Request: "α", Run: engine.Key{Family: "ω", ID: "β"}, Where: "δ", Response: "ρ", Options: []engine.RequestOption{{ID: "κ"}, {ID: "μ"}},
		CommentRequired: []string{"μ"},
	}, lang: templates.Pseudo}
	items, words, several := plain, plain, plain
	items.Items = []engine.RequestItem{{ID: "ξ"}}
	words.FreeText = true
	several.Several = []string{"κ"}
	try := func(t Request, r Reply) error {
		r.By = "π"
		b := &Workspace{Env: &console.Env{}}
		_, err := NewResponse(b, t, r)
		return err
	}
	_, unpicked := Steering.Pick(plain)
	_, unworded := Steering.Pick(words)
	_, _, cut := CutDigest("α@1")
	for name, err := range map[string]error{
		"unpicked": unpicked, "unworded": unworded, "cut": cut, "named": CheckName("σ", ""),
		"unselected": try(plain, Reply{Selected: []string{"ξ"}}), "no item": try(items, Reply{Selected: []string{"τ"}}),
		"two texts": try(words, Reply{Option: "α", More: []string{"β"}}), "no text": try(words, Reply{}),
		"no option": try(plain, Reply{}), "other option": try(plain, Reply{Option: "τ"}), "no comment": try(plain, Reply{Option: "μ"}),
		"together": try(several, Reply{Option: "κ", More: []string{"μ"}, Comment: "ψ"}), "attempts": try(plain, Reply{Option: "κ", Attempts: new(5)}),
		"closed":   Closed{Run: plain.Run, Receipt: gate.Receipt{RequestID: "α", Response: "κ", Selected: []string{"ξ"}}, doubt: "ζ"},
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
