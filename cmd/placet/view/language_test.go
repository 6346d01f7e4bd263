package view

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/gate"
	"placet/templates"
)

// untranslated returns the Latin letters of a text in the pseudo-language outside of its
// translated pieces.
func untranslated(text string) string {
	rest := regexp.MustCompile(`⟦[^⟧]*⟧`).ReplaceAllString(text, "")
	return strings.Join(regexp.MustCompile(`[A-Za-z]+`).FindAllString(rest, -1), " ")
}

// In some languages a mark follows a name where English has a blank.
func TestAPartIsFoundInEveryLanguage(t *testing.T) {
	for text, names := range map[string]bool{
		"the next pass moves κ:λ α → β": true, "다음 패스에서 옮깁니다, κ:λ: α → β": true, "κ:λ、κ:μ を待ちます": true, "κ:λμ": false, "κ": false,
	} {
		v := Run{RunView: engine.RunView{Why: []string{text}}}
		if why, _ := ofPart(Subject{View: v, Part: engine.Part{ID: "κ:λ"}}); (why[0] == text) != names {
			t.Errorf("%q: %q", text, why)
		}
	}
}

func TestHowARunStandsIsTranslated(t *testing.T) {
	run := Run{RunView: engine.RunView{Key: engine.Key{Family: "ω", ID: "β"}}, lang: templates.Pseudo}
	open, awaits, noted, failed := run, run, run, run
	open.Open = []engine.OpenRequest{{Request: "α", Where: "δ", Type: "γ", Overdue: true, Problem: "ι"}, {}}
	awaits.awaited, awaits.awaitedToo = "ν", 2
	noted.Blocked, noted.awaited = true, "ν"
	failed.Err = templates.Errorf("workspace.late", "limit", 1, "most", 2)
	step := engine.Node{ID: "κ", Group: "λ", After: []string{"μ"}, Current: true, Gate: true}
	part := stepPart(run, step)
	closed := Closed{Receipt: gate.Receipt{RequestID: "α"}, User: "π", File: "ρ", spoken: templates.Pseudo}
	b := &workspace.Workspace{Env: &console.Env{Lang: templates.Pseudo, Now: func() time.Time { return noon }}}
	all := []string{
		WaitsAt(open), WaitsAt(awaits), WaitsAt(noted), WaitsAt(failed), LineOf(open).WaitsFor, LineOf(awaits).WaitsFor, LineOf(failed).Problems[0].Text,
		heldFile{why: "ζ"}.finding(templates.Pseudo), closed.How(), ambiguous("α", nil).In(templates.Pseudo), noRun(b, "α").In(templates.Pseudo),
		strings.Join(closed.Why(), ""), Strays(Run{stray: []string{"requests/α"}, lang: templates.Pseudo})[0].Text,
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
