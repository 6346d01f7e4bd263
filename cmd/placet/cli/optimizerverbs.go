package cli

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"placet/cmd/placet/console"
	"placet/engine/optimizer"
)

// Words of the three signals, as flags take them.
var (
	signalLevels  = []string{"10", "20", "30"}
	signalKPI     = []string{"10", "20", "30", "none"}
	signalHistory = []string{"-10", "0", "10", "+10"}
)

func decideVerb() verb {
	var a, b, history string
	return verb{
		use: "decide --a LEVEL --b LEVEL|none --c -10|0|10", short: "What three signals come to",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&a, "a", "", "assets: 10, 20 or 30")
			f.StringVar(&b, "b", "", "KPI: 10, 20, 30 or none")
			f.StringVar(&history, "c", "", "history: -10, 0 or 10")
		},
		run: func(c call) error {
			for _, f := range []struct {
				name, value string
				words       []string
			}{{"a", a, signalLevels}, {"b", b, signalKPI}, {"c", history, signalHistory}} {
				if !slices.Contains(f.words, f.value) {
					return console.Usage("cannot decide with --%s %q: it is one of %s", f.name, console.OneLine(f.value), strings.Join(f.words, ", ")).Try("%s", c.line)
				}
			}
			var kpi *int
			if b != "none" {
				kpi = new(atoi(b))
			}
			return showDecision(c.env, optimizer.Decide(atoi(a), kpi, atoi(history)))
		},
	}
}

// atoi reads a number that was checked before.
func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// decided is decide as JSON.
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
		recommended := "none"
		if d.RecommendedLevel != nil {
			recommended = strconv.Itoa(*d.RecommendedLevel)
		}
		t := &console.Table{}
		t.Style([]string{console.Faint}, "automation level", strconv.Itoa(d.AutomationLevel))
		t.Style([]string{console.Faint}, "escalation needed", map[bool]string{true: "yes", false: "no"}[d.EscalationNeeded])
		t.Style([]string{console.Faint}, "recommended level", recommended)
		for _, reason := range d.Rationale {
			t.Style([]string{console.Faint}, "because", console.OneLine(reason))
		}
		t.Print(w, w.Out)
	})
}
