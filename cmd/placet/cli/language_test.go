package cli

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/facade/notify"
	"placet/engine/gate"
	"placet/templates"
)

// pseudo is what the pseudo-language shows as translated.
var pseudo = regexp.MustCompile(`⟦[^⟧]*⟧`)

// inEnglish returns the English words in a text in the pseudo-language. Its values must have no
// Latin letters.
func inEnglish(text string) (lines []string) {
	for line := range strings.Lines(pseudo.ReplaceAllString(text, "")) {
		if regexp.MustCompile(`[A-Za-z]`).MatchString(line) && !strings.Contains(line, "placet ") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// greek is a request in which only placet's own words are in English.
func greek() engine.OpenRequest {
	return engine.OpenRequest{
		Request: "α-1", Run: engine.Key{Family: "ω", ID: "β"}, Type: "γ", Where: "δ", Prompt: "ε", Summary: "ζ", Form: "η", Artifacts: []string{"θ"},
		RequestedAt: noon, Deadline: noon.Add(time.Hour), Overdue: true, Problem: "ι",
		Options: []engine.RequestOption{{ID: "κ", Description: "λ"}, {ID: "μ", Description: "ν"}, {ID: "ρ"}}, Several: []string{"κ", "μ"},
		Items: []engine.RequestItem{{ID: "ξ", Label: "ο"}},
	}
}

func TestWhatViewsShowIsTranslated(t *testing.T) {
	a := greek()
	seen := view.Run{RunView: engine.RunView{
		Key: a.Run, Open: []engine.OpenRequest{a}, Status: "σ", Graph: []engine.Node{{ID: "τ", Status: "σ"}}, Log: []engine.Entry{{At: noon, Event: "υ"}},
	}, Notes: []view.Note{{Path: "φ", Text: "χ"}}}
	wait := config.UntrustedLine{Name: "ψ", Text: "ω", Tighter: true}
	asked := map[string]any{"A": a, "Head": "α", "Items": a.Items, "More": 3, "Gate": engine.Gate{Approvers: []string{"β"}}, "How": []string{"γ", "δ"}, "Answer": &engine.PendingAnswer{Text: "ε"}}
	for name, print := range map[string]func(w *console.Env){
		"prompt": func(w *console.Env) { w.Out.Write([]byte(promptText(w, view.Request{OpenRequest: a}))) },
		"asked":  func(w *console.Env) { show(w, "asked", asked) },
		"run":    func(w *console.Env) { show(w, "run", seen) },
		"part": func(w *console.Env) {
			showPart(&workspace.Workspace{Env: w}, seen, engine.Part{ID: "δ", Status: "σ", Progress: &engine.Progress{Task: "τ", Used: 1, Of: 2}})
		},
		"closed": func(w *console.Env) {
			showClosed(&workspace.Workspace{Env: w}, view.Closed{
				Receipt: gate.Receipt{RequestID: "α", Result: "β", Comment: "γ", ReceivedAt: "1", DecidedAt: "2", Late: true, Reason: "δ", SupersededBy: "ε", KnownAs: []string{"ζ"}},
				Run:     a.Run, User: "η", Source: "θ", Answer: "ι", File: "κ",
			})
		},
		"explanation": func(w *console.Env) {
			showExplanation(w, view.Subject{View: seen}, view.Explanation{
				Run: "ω", Problems: seen.Notes, Holding: []view.PendingLine{{Text: "α"}}, Moves: []engine.UnblockingFile{{Path: "β", Content: "γ"}},
			})
		},
		"untrusted": func(w *console.Env) { show(w, "untrusted", shownTrust{wait, []namedFile{{"α", "β", true}}}) },
		"agreed":    func(w *console.Env) { show(w, "agreed", shownTrust{wait, []namedFile{{"α", "β", false}}}) },
		"once": func(w *console.Env) {
			b := &workspace.Workspace{Env: w}
			printOnce(b, onceData{Waiting: 1, Notes: []string{"α"}, Unsettled: []string{"β"}, Stuck: []string{"γ"}, Untrusted: []config.UntrustedLine{{Name: "δ"}}}, noon)
		},
		"status": func(w *console.Env) {
			s := view.Summary{Daemon: true, Runs: []view.RunLine{{}}, Views: make([]view.Run, 1), Waiting: 2, Final: map[engine.Status]int{"α": 2}, Held: "β",
				Misplaced: []view.MisplacedLine{{Path: "γ", Why: "δ"}}, Blind: workspace.WithoutEvents{Count: 2, Folders: []string{"ε"}},
				Undelivered: []notify.Doubt{{Target: "ζ"}, {Target: "η", Outcome: "refused"}}}
			printStatus(&workspace.Workspace{Env: w}, s)
			w.Out.Write([]byte(tally(w, view.Summary{Workspace: "θ"})))
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			print(&console.Env{Out: &out, Err: &out, Lang: templates.Pseudo, Now: func() time.Time { return noon.Add(2 * time.Hour) }})
			for _, line := range inEnglish(strings.NewReplacer("placet: ", "", "/active", "").Replace(out.String())) {
				t.Errorf("%q is in English:\n%s", line, out.String())
			}
			if !strings.Contains(out.String(), "⟦") {
				t.Errorf("nothing is translated: %s", out.String())
			}
		})
	}
}

// The messages of the parser of flags are shown unchanged, and in every language.
func TestMistakesInFlagsAreTranslated(t *testing.T) {
	for _, args := range [][]string{{"--ω"}, {"-ab"}, {"--number"}, {"-n"}, {"--number", "ω"}, {"--=1"}} {
		cmd := &cobra.Command{Use: "α", RunE: func(*cobra.Command, []string) error { return nil }, SilenceErrors: true, SilenceUsage: true}
		cmd.Flags().IntP("number", "n", 0, "")
		cmd.SetArgs(args)
		err := cmd.Execute()
		said := flagError(err)
		if err == nil || said.Error() != err.Error() {
			t.Errorf("%q: %v, said as %v", args, err, said)
		}
		if worded := (*templates.Error)(nil); !errors.As(said, &worded) || !strings.HasPrefix(worded.In(templates.Pseudo), "⟦") {
			t.Errorf("%q: %v is in English", args, said)
		}
	}
}
