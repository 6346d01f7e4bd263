package optimizer

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const (
	unansweredKo = "HITL 미응답 — 다음 주기에 재검토 필요"
	unansweredEn = "No HITL response — review again in the next cycle"
)

// behind is a link of the chain.
func behind(by string, issues ...string) link {
	return link{Goal: &Goal{NextAutomationLevel: 20, CarryOverIssues: issues, ApprovedBy: by}, State: &State{WorkflowName: "w"}}
}

func TestOpenIssues(t *testing.T) {
	other := behind(byHuman, "of another workflow")
	other.State.WorkflowName = "v"
	stateless := behind(byTimeout, unansweredEn, "without a state")
	stateless.State = nil
	for _, c := range []struct {
		name  string
		chain []link
		want  []string
	}{
		{"no cycle before", nil, []string{}},
		{"a person's goal ends it", []link{behind(byHuman, "a", "b"), behind(byHuman, "c")}, []string{"a", "b"}},
		{"a timeout looks further", []link{behind(byTimeout, unansweredKo), behind(byTimeout, unansweredEn, "Level 30 failed: x"), behind(byHuman, "a"), behind(byHuman, "b")}, []string{"Level 30 failed: x", "a"}},
		{"no doubles", []link{behind(byTimeout, "a", "a"), behind(byHuman, "b", "a")}, []string{"a", "b"}},
		{"the sentence of a passed deadline is no issue, whoever says it", []link{behind(byHuman, unansweredKo, unansweredEn, "a")}, []string{"a"}},
		{"a person without issues", []link{behind(byHuman), behind(byHuman, "a")}, []string{}},
		{"a goal that is missing", []link{behind(byTimeout, "a"), {State: &State{WorkflowName: "w"}}, behind(byHuman, "b")}, []string{"a"}},
		{"another workflow", []link{behind(byTimeout, "a"), other}, []string{"a"}},
		{"a goal without our state counts", []link{stateless, behind(byTimeout, "b"), other}, []string{"without a state", "b"}},
	} {
		if diff := cmp.Diff(c.want, openIssues(c.chain)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestOpenIssuesAreLookedForTenCyclesBack(t *testing.T) {
	var chain []link
	for i := range 12 {
		chain = append(chain, behind(byTimeout, unansweredKo, fmt.Sprint(i)))
	}
	if diff := cmp.Diff([]string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}, openIssues(chain)); diff != "" {
		t.Error(diff)
	}
}

func TestOpenIssuesAreThoseOfTheChainOnce(t *testing.T) {
	issue := rapid.SampledFrom([]string{"a", "b", "c", unansweredKo, unansweredEn})
	links := rapid.Custom(func(t *rapid.T) link {
		return behind(rapid.SampledFrom([]string{byHuman, byTimeout, byTimeout}).Draw(t, "by"), rapid.SliceOfN(issue, 0, 4).Draw(t, "issues")...)
	})
	rapid.Check(t, func(t *rapid.T) {
		chain := rapid.SliceOfN(links, 0, 14).Draw(t, "chain")
		got := openIssues(chain)
		reach := slices.IndexFunc(chain, func(l link) bool { return l.Goal.ApprovedBy == byHuman })
		if reach < 0 {
			reach = len(chain) - 1
		}
		want := map[string]bool{}
		for i, l := range chain {
			for _, s := range l.Goal.CarryOverIssues {
				if i <= reach && i < 10 && len(s) == 1 {
					want[s] = true
				}
			}
		}
		if len(got) != len(want) || slices.ContainsFunc(got, func(s string) bool { return !want[s] }) {
			t.Fatalf("%q, want %v", got, want)
		}
	})
}

func TestTheRunBefore(t *testing.T) {
	ours := &State{trig: Trigger{LastRunID: "20260301-msowd-x"}}
	theirs := &Trigger{LastRunID: "20260228-msowd-x"}
	for want, l := range map[string]link{
		"20260301-msowd-x": {State: ours, Trigger: theirs}, "20260228-msowd-x": {Trigger: theirs}, "": {},
	} {
		if got := l.before(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A goal may hold as many issues as fit into it: that costs what its text costs.
func TestManyOpenIssues(t *testing.T) {
	const many = 200_000
	g := &Goal{}
	for i := range many {
		g.CarryOverIssues = append(g.CarryOverIssues, strconv.Itoa(i), strconv.Itoa(i/2))
	}
	if got := openIssues([]link{{Goal: g}}); len(got) != many || got[0] != "0" || got[many-1] != strconv.Itoa(many-1) {
		t.Errorf("%d issues", len(got))
	}
}
