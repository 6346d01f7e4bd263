package optimizer

import (
	"embed"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine/optimizer"
	"placet/layout"
	"placet/templates"
)

// viewFiles are the views of goals.
//
//go:embed views
var viewFiles embed.FS

var views = verb.NewViews(viewFiles, nil)

// Verbs returns the verbs of the family, in the order of the help.
func Verbs() []verb.Verb {
	return []verb.Verb{triggerVerb(), nextVerb(), replayVerb(), decideVerb()}
}

// These are the words of the three signals, as flags take them.
var (
	signalLevels  = []string{"10", "20", "30"}
	signalKPI     = []string{"10", "20", "30", "none"}
	signalHistory = []string{"-10", "0", "10", "+10"}
)

func decideVerb() verb.Verb {
	var a, b, history string
	return verb.Verb{
		Use: "decide --a LEVEL --b LEVEL|none --c -10|0|10",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&a, "a", "", "")
			f.StringVar(&b, "b", "", "")
			f.StringVar(&history, "c", "", "")
		},
		Run: func(c verb.Call) error {
			for _, f := range []struct {
				name, value string
				words       []string
			}{{"a", a, signalLevels}, {"b", b, signalKPI}, {"c", history, signalHistory}} {
				if !slices.Contains(f.words, f.value) {
					return console.Usage("cli.decide.flag", "flag", "--"+f.name, "value", strconv.Quote(console.OneLine(f.value)), "words", strings.Join(f.words, ", ")).Try("say.text", "text", c.Line)
				}
			}
			var kpi *int
			if b != "none" {
				kpi = new(atoi(b))
			}
			return showDecision(c.Env, optimizer.Decide(atoi(a), kpi, atoi(history)))
		},
	}
}

// atoi reads a number that was checked before.
func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// decided is the output of decide as JSON.
type decided struct {
	AutomationLevel  int               `json:"automation_level"`
	EscalationNeeded bool              `json:"escalation_needed"`
	RecommendedLevel *int              `json:"recommended_level"`
	Signals          optimizer.Signals `json:"signals"`
	Rationale        []string          `json:"rationale"`
}

func showDecision(w *console.Env, d optimizer.Decision) error {
	data := decided{d.AutomationLevel, d.EscalationNeeded, d.RecommendedLevel, d.Signals, d.Rationale}
	return w.Answer(data, func() {
		recommended := w.Text("cli.decide.none")
		if d.RecommendedLevel != nil {
			recommended = strconv.Itoa(*d.RecommendedLevel)
		}
		t := &console.Table{}
		t.Style([]string{console.Faint}, w.Text("cli.decide.level"), strconv.Itoa(d.AutomationLevel))
		t.Style([]string{console.Faint}, w.Text("cli.decide.escalation"), w.Text(map[bool]templates.Key{true: "cli.decide.yes", false: "cli.decide.no"}[d.EscalationNeeded]))
		t.Style([]string{console.Faint}, w.Text("cli.decide.recommended"), recommended)
		for _, reason := range d.Rationale {
			t.Style([]string{console.Faint}, w.Text("cli.decide.because"), reason)
		}
		t.Print(w, w.Out)
	})
}

// openLine is an open goal as JSON.
type openLine struct {
	Run        string   `json:"run"`
	Root       string   `json:"root"`
	Workflow   string   `json:"workflow"`
	Level      int      `json:"next_automation_level"`
	ApprovedBy string   `json:"approved_by"`
	Issues     []string `json:"carry_over_issues"`
	Taken      string   `json:"taken_up_by"`
	Candidates []string `json:"candidates"`
	HeldBy     string   `json:"held_by"` // the run of the root that cannot be read
	Waits      string   `json:"-"`
}

// strayLine is a completed run that takes up no goal, as JSON.
type strayLine struct {
	Run     string   `json:"run"`
	Fits    []string `json:"fits"`
	Undated bool     `json:"undated"` // its manifest does not say when it completed
}

func nextVerb() verb.Verb {
	return verb.Verb{
		Use:  "next",
		Look: func(_ verb.Call, b *workspace.Workspace) error { return showNext(b) },
	}
}

func showNext(b *workspace.Workspace) error {
	all, err := optimizerCycles(b)
	if err != nil {
		return err
	}
	var goals []openLine
	bySlug := b.Current().Optimizer.MatchSlug
	open := optimizer.NextCycles(all, bySlug)
	for _, g := range open {
		goals = append(goals, openLine{
			Run: g.Key, Root: g.Root, Workflow: g.Workflow, Level: g.Goal.NextAutomationLevel, ApprovedBy: g.Goal.ApprovedBy,
			Issues: g.Goal.CarryOverIssues, Taken: g.Taken, Candidates: g.Candidates, HeldBy: g.HeldBy, Waits: waitsFor(b.Env, g, bySlug),
		})
	}
	data := map[string]any{"goals": goals, "runs": strayRuns(all, open, bySlug)}
	return b.Env.Answer(data, func() { views.Show(b.Env, "next", data) })
}

// strayRuns returns the completed runs that take up no goal while some are open.
func strayRuns(all []optimizer.Entry, open []optimizer.OpenGoal, bySlug bool) (strays []strayLine) {
	if len(open) == 0 {
		return nil
	}
	for _, m := range optimizer.Matches(all, open, bySlug) {
		if len(m.Goals) == 1 {
			continue
		}
		s := strayLine{Run: m.Run.Key}
		for _, g := range m.Goals {
			s.Fits = append(s.Fits, g.Workflow)
		}
		strays = append(strays, s)
	}
	for _, e := range optimizer.Undated(all) {
		strays = append(strays, strayLine{Run: e.Key, Undated: true})
	}
	return strays
}

// waitsFor says what an open goal waits for: a run of its workflow that completes.
func waitsFor(w *console.Env, g optimizer.OpenGoal, bySlug bool) string {
	if _, key, slug, ok := layout.OptimizerParts(g.RunID); ok && bySlug {
		return w.Text("cli.next.awaits.slug", "folder", g.Root+"/active", "workflow", g.Workflow, "name", key+"-"+slug)
	}
	return w.Text("cli.next.awaits", "folder", g.Root+"/active", "workflow", g.Workflow)
}
