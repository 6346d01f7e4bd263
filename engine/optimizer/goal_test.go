package optimizer

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"placet/schemas"
)

func TestGoalOf(t *testing.T) {
	for _, c := range []struct {
		name    string
		level   int
		failed  []Demotion
		issues  []string
		given   *Given
		ko, en  Goal
		english bool
	}{
		{
			name: "raise, one suggestion, a comment", level: 20,
			given: &Given{Response: optRaise, Selected: []string{"s1"}, Comment: "  더 자주\n검토 \n"},
			ko:    Goal{30, []string{"희귀 라벨 검사 추가"}, []string{"더 자주\n검토"}, byHuman},
		},
		{name: "raise at 30", level: 30, given: &Given{Response: optRaise}, ko: Goal{30, nil, nil, byHuman}},
		{name: "raise at 10", level: 10, given: &Given{Response: optRaise}, ko: Goal{20, nil, nil, byHuman}},
		{name: "lower at 10", level: 10, given: &Given{Response: optLower}, ko: Goal{10, nil, nil, byHuman}},
		{name: "lower at 30", level: 30, given: &Given{Response: optLower}, ko: Goal{20, nil, nil, byHuman}},
		{name: "appropriate", level: 20, given: &Given{Response: optAppropriate}, ko: Goal{20, nil, nil, byHuman}},
		{name: "only s2", level: 20, given: &Given{Response: optAppropriate, Selected: []string{"s2"}}, ko: Goal{20, []string{"Split the slow step"}, nil, byHuman}},
		{
			name: "in their order, whatever order they were named in", level: 20, given: &Given{Response: optAppropriate, Selected: []string{"s2", "s1"}},
			ko: Goal{20, []string{"희귀 라벨 검사 추가", "Split the slow step"}, nil, byHuman},
		},
		{name: "a blank comment is none", level: 20, given: &Given{Response: optAppropriate, Comment: " \n\t"}, ko: Goal{20, nil, nil, byHuman}},
		{
			name: "demotions after the comment", level: 10, failed: []Demotion{{From: 30, To: 20, Error: "evaluation: exit 2"}, {From: 20, To: 10, Error: "no data"}},
			given: &Given{Response: optAppropriate, Comment: "c"},
			ko:    Goal{10, nil, []string{"c", "Level 30 실패: evaluation: exit 2", "Level 20 실패: no data"}, byHuman},
			en:    Goal{10, nil, []string{"c", "Level 30 failed: evaluation: exit 2", "Level 20 failed: no data"}, byHuman}, english: true,
		},
		{
			name: "open issues stay open", level: 20, issues: []string{"old", "older"},
			given: &Given{Response: optAppropriate, Comment: "new"}, ko: Goal{20, nil, []string{"new", "old", "older"}, byHuman},
		},
		{
			name: "an issue is settled, and said again another one", level: 20, issues: []string{"a", "b", "c"},
			given: &Given{Response: optAppropriate, Selected: []string{"i3", "s2"}, Comment: "b"},
			ko:    Goal{20, []string{"Split the slow step"}, []string{"b", "a"}, byHuman},
		},
		{
			name: "the deadline leaves open issues to the cycles before", level: 20, issues: []string{"old"},
			ko: Goal{20, nil, []string{"HITL 미응답 — 다음 주기에 재검토 필요"}, byTimeout},
			en: Goal{20, nil, []string{"No HITL response — review again in the next cycle"}, byTimeout}, english: true,
		},
		{
			name: "the deadline", level: 20,
			ko: Goal{20, nil, []string{"HITL 미응답 — 다음 주기에 재검토 필요"}, byTimeout},
			en: Goal{20, nil, []string{"No HITL response — review again in the next cycle"}, byTimeout}, english: true,
		},
		{
			name: "the deadline after a demotion", level: 20, failed: []Demotion{{From: 30, To: 20, Error: "x"}},
			ko: Goal{20, nil, []string{"HITL 미응답 — 다음 주기에 재검토 필요", "Level 30 실패: x"}, byTimeout},
			en: Goal{20, nil, []string{"No HITL response — review again in the next cycle", "Level 30 failed: x"}, byTimeout}, english: true,
		},
	} {
		if !c.english {
			c.en = c.ko
		}
		for lang, want := range map[string]Goal{"ko": c.ko, "en": c.en} {
			st := asked(lang)
			st.Level.Current, st.Demotions, st.Issues = c.level, c.failed, c.issues
			// The decided level does not matter.
			st.Decision.AutomationLevel = 30
			if diff := cmp.Diff(want, goalOf(st, c.given)); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", c.name, lang, diff)
			}
		}
	}
}

func TestAGoalIsLevelWithinBoundsAndTextsThatWereOffered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st := asked("en")
		st.Level.Current = rapid.SampledFrom([]int{10, 20, 30}).Draw(t, "level")
		given := &Given{
			Response: rapid.SampledFrom([]string{optAppropriate, optRaise, optLower}).Draw(t, "response"),
			Selected: rapid.SliceOf(rapid.SampledFrom([]string{"s1", "s2", "s3", ""})).Draw(t, "selected"),
		}
		g := goalOf(st, given)
		step := map[string]int{optRaise: 10, optLower: -10}[given.Response]
		if want := max(10, min(30, st.Level.Current+step)); g.NextAutomationLevel != want {
			t.Fatalf("%d, want %d", g.NextAutomationLevel, want)
		}
		taken, left := st.sorted(given.Selected)
		if len(taken)+len(left) != len(st.Suggestions) || !slices.Equal(taken, g.OptimizationDirectives) {
			t.Fatalf("taken %q, left %q, directives %q", taken, left, g.OptimizationDirectives)
		}
	})
}

func TestSuggestionsAreNumberedHighFirst(t *testing.T) {
	var sg Suggestions
	if err := schemas.Decode("", "suggestions.json", []byte(`{"suggestions": [
		{"text": "a"}, {"text": "b", "priority": "high"}, {"text": "c", "priority": "normal"}, {"text": "d", "priority": "high"}]}`), &sg); err != nil {
		t.Fatal(err)
	}
	want := []Suggestion{{"s1", "b", high}, {"s2", "d", high}, {"s3", "a", normal}, {"s4", "c", normal}}
	if diff := cmp.Diff(want, State{}.suggestionsOffered(sg)); diff != "" {
		t.Error(diff)
	}
	if got := (State{}).suggestionsOffered(Suggestions{}); len(got) != 0 {
		t.Errorf("suggestions of nothing: %v", got)
	}
}
