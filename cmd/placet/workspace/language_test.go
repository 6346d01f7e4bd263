package workspace

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/ask"
	"placet/engine/gate"
	"placet/templates"
)

// untranslated are the Latin letters of a text in the pseudo-language that stand in no
// translated piece of it.
func untranslated(text string) string {
	rest := regexp.MustCompile(`⟦[^⟧]*⟧`).ReplaceAllString(text, "")
	return strings.Join(regexp.MustCompile(`[A-Za-z]+`).FindAllString(rest, -1), " ")
}

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

// In some languages a mark follows a name where in English a blank does.
func TestAPartIsFoundInEveryLanguage(t *testing.T) {
	for text, names := range map[string]bool{
		"the next pass moves κ:λ α → β": true, "다음 패스에서 옮깁니다, κ:λ: α → β": true, "κ:λ、κ:μ を待ちます": true, "κ:λμ": false, "κ": false,
	} {
		v := View{RunView: engine.RunView{Why: []string{text}}}
		if why, _ := ofPart(Subject{View: v, Part: engine.Part{ID: "κ:λ"}}); (why[0] == text) != names {
			t.Errorf("%q: %q", text, why)
		}
	}
}

func TestHowARunStandsIsTranslated(t *testing.T) {
	run := View{RunView: engine.RunView{Key: engine.Key{Family: "ω", ID: "β"}}, lang: templates.Pseudo}
	open, awaits, noted, failed := run, run, run, run
	open.Open = []engine.OpenRequest{{Request: "α", Where: "δ", Type: "γ", Overdue: true, Problem: "ι"}, {}}
	awaits.awaited, awaits.awaitedToo = "ν", 2
	noted.Blocked, noted.awaited = true, "ν"
	failed.Err = templates.Errorf("workspace.late", "limit", 1, "most", 2)
	step := engine.Node{ID: "κ", Group: "λ", After: []string{"μ"}, Current: true, Gate: true}
	part := stepPart(run, step)
	closed := ClosedLine{Receipt: gate.Receipt{RequestID: "α"}, User: "π", File: "ρ", lang: templates.Pseudo}
	b := &Workspace{Env: &console.Env{Lang: templates.Pseudo, Now: func() time.Time { return noon }}}
	all := []string{
		WaitsAt(open), WaitsAt(awaits), WaitsAt(noted), WaitsAt(failed), LineOf(open).WaitsFor, LineOf(awaits).WaitsFor, LineOf(failed).Problems[0].Text,
		heldFile{why: "ζ"}.finding(templates.Pseudo), closed.How(), ambiguous("α", nil).In(templates.Pseudo), noRun(b, "α").In(templates.Pseudo),
		strings.Join(closed.Why(), ""), Strays(View{stray: []string{"requests/α"}, lang: templates.Pseudo})[0].Text,
	}
	for _, f := range part.Facts {
		all = append(all, f.Label+f.Value)
	}
	for _, text := range all {
		if text == "" || untranslated(text) != "" {
			t.Errorf("%q: %q is in English", text, untranslated(text))
		}
	}
}
