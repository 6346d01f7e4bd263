package nemawashi

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
)

// The watchdog's action asks at once, and says of which project it is and how severe.
func TestTheWatchdogsActionSaysWhatItIsAbout(t *testing.T) {
	action, _ := Watch([]Report{{"beta", "疲労", "2026-11-21", "b.json"}})[0].Action("en")
	for name, want := range map[string]any{"mode": "watchdog", "project_id": "beta", "severity": levelWarning, "requested_by": "watchdog", "request_approval": "auto"} {
		if got := action.Get(name); got != want {
			t.Errorf("%s: %v, expected %v", name, got, want)
		}
	}
}

func TestScores(t *testing.T) {
	for _, c := range []struct {
		text, level string
		score       int
	}{
		{"", levelSafe, 80},
		{"挑戦と成長", levelSafe, 96},
		{"疲労", levelWarning, 65},
		{"疲労、また疲労", levelCritical, 50},
		{"炎上", levelWarning, 70},
		{strings.Repeat("限界", 9), levelCritical, 0},
		{strings.Repeat("学び", 9), levelSafe, 100},
	} {
		if score, level := Score(c.text); score != c.score || level != c.level {
			t.Errorf("%q: %d %s, expected %d %s", c.text, score, level, c.score, c.level)
		}
	}
}

func TestReportsAreRead(t *testing.T) {
	for _, c := range []struct{ name, body, want, bad string }{
		{"a.json", `{"project_id": "p", "text": "x", "date": "2026-11-22"}`, "p/x/2026-11-22", ""},
		{"a.json", `[{"project_id": "p", "text": "x", "date": "2026-11-22"}, {"project_id": "q", "text": "y", "date": "2026-11-21"}]`, "p/x/2026-11-22 q/y/2026-11-21", ""},
		{"a.md", "---\nproject_id: p\ndate: 2026-11-22\n---\n\nx y\n", "p/x y/2026-11-22", ""},
		{"a.md", "x y\n", "", "between two lines of ---"},
		{"a.json", `{"project_id": "p", "text": "x", "date": "yesterday"}`, "", "/date"},
		{"a.json", `{"text": "x", "date": "2026-11-22"}`, "", "/project_id"},
		{"a.json", `{"project_id": `, "", "report"},
	} {
		list, err := ReadReports(c.name, []byte(c.body))
		var got []string
		for _, r := range list {
			got = append(got, r.ProjectID+"/"+r.Text+"/"+r.Date)
		}
		if c.bad != "" {
			if err == nil || !strings.Contains(err.Error(), c.bad) {
				t.Errorf("%s: %v, expected an error with %q", c.body, err, c.bad)
			}
		} else if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, %v", c.body, got, err)
		}
	}
}

// Scenario A 20: one action for each cause.
func TestTheWatchdogAsksOnceForTheSameEvidence(t *testing.T) {
	alerts := Watch([]Report{
		{"beta", "疲労", "2026-11-21", "b.json"}, {"alpha", "疲労", "2026-11-22", "a.json"}, {"alpha", "限界", "2026-11-21", "z.json"}, {"gamma", "成長", "2026-11-20", "c.json"},
	})
	var got []string
	for _, a := range alerts {
		got = append(got, a.Message)
	}
	want := []string{"alpha risk Critical score 50", "beta risk Warning score 65", "gamma risk Safe score 88"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	alpha, beta, gamma := alerts[0], alerts[1], alerts[2]
	if alpha.Source != engine.Sum([]byte("限界 疲労")) {
		t.Errorf("the texts are not joined from the oldest on: %s", alpha.Source)
	}
	for _, c := range []struct {
		name   string
		alert  Alert
		there  []Seen
		expect bool
	}{
		{"nothing there", alpha, nil, true},
		{"safe", gamma, nil, false},
		{"one goes on", beta, []Seen{{1, "beta", false, ""}}, false},
		{"one of another project goes on", beta, []Seen{{1, "alpha", false, ""}}, true},
		{"rejected on the same texts", beta, []Seen{{1, "beta", true, beta.Source}}, false},
		{"rejected on other texts", beta, []Seen{{1, "beta", true, alpha.Source}}, true},
		{"the newest decides", beta, []Seen{{2, "beta", true, alpha.Source}, {1, "beta", true, beta.Source}}, true},
	} {
		if c.alert.Opens(c.there) != c.expect {
			t.Errorf("%s: expected %t", c.name, c.expect)
		}
	}
	action, draft := alpha.Action("en")
	if action.Get("type") != meetingRequest || !strings.HasPrefix(draft, "alpha / Plan_B proposal\n") || !strings.HasSuffix(draft, "Risk: Critical (score 50)\n") {
		t.Errorf("%v\n%s", action, draft)
	}
	if action, draft := beta.Action("en"); action.Get("type") != mailDraft || !strings.HasPrefix(draft, "beta / Plan_A proposal\n") {
		t.Errorf("%v\n%s", action, draft)
	}
	for lang, want := range map[string]string{
		"en": "alpha / Plan_B proposal\nchange the staffing so that people can grow\nImpact: medium-term growth\nRisk: Critical (score 50)\n",
		"ja": "alpha / Plan_B 提案\nメンバーが成長できるように体制を変える\n影響: 中期の成長\nリスク: Critical (スコア 50)\n",
		"ko": "alpha / Plan_B 제안\n구성원이 성장할 수 있도록 인력 배치 변경\n영향: 중기 성장\n위험: Critical (점수 50)\n",
	} {
		again, draft := alpha.Action(lang)
		if diff := cmp.Diff(action, again); draft != want || diff != "" {
			t.Errorf("in %s the draft is\n%s%s", lang, draft, diff)
		}
	}
}
