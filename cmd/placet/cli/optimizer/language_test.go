package optimizer

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"placet/cmd/placet/console"
	"placet/engine/optimizer"
	"placet/templates"
)

// Text outside of ⟦ ⟧ in the pseudo-language was not translated; the values are in Greek.
func TestWhatViewsShowIsTranslated(t *testing.T) {
	for name, print := range map[string]func(w *console.Env){
		"next": func(w *console.Env) {
			goals := []openLine{{Run: "α", Workflow: "β", ApprovedBy: "γ", Issues: []string{"δ"}, Taken: "ε"}, {HeldBy: "ζ"}, {Waits: waitsFor(w, optimizer.OpenGoal{}, true)}}
			views.Show(w, "next", map[string]any{"goals": goals, "runs": []strayLine{{Run: "η"}, {Run: "θ", Fits: []string{"ι", "κ"}}}})
			views.Show(w, "next", map[string]any{"goals": nil, "runs": nil})
		},
		"level": func(w *console.Env) { _ = showDecision(w, optimizer.Decision{Rationale: []string{"α"}}) },
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			print(&console.Env{Out: &out, Err: &out, Lang: templates.Pseudo, Now: func() time.Time { return time.Unix(0, 0) }})
			shown := regexp.MustCompile(`⟦[^⟧]*⟧`).ReplaceAllString(strings.ReplaceAll(out.String(), "/active", ""), "")
			if !strings.Contains(out.String(), "⟦") || regexp.MustCompile(`[A-Za-z]`).MatchString(shown) {
				t.Errorf("something is in English:\n%s", out.String())
			}
		})
	}
}
