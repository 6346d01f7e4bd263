package optimizer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The headings that check looks for are those that reports have, at every level
// and in both languages, and each that is missing or misplaced is named.
func TestReportsHaveTheirHeadings(t *testing.T) {
	for _, lang := range []string{"ko", "en"} {
		for _, level := range []int{10, 20, 30} {
			t.Run(fmt.Sprint(lang, level), func(t *testing.T) {
				st := State{RunID: "20260302-msowd-x", WorkflowName: "w", Lang: lang, Decision: &Decision{AutomationLevel: level}, Level: &Level{Current: level}}
				body := reportMD(st, Findings{}, inputs{}, 3)
				if missing := missingHeadings(body, level, lang); len(missing) > 0 {
					t.Fatalf("lacks %q:\n%s", missing, body)
				}
				var have []string
				for line := range strings.Lines(string(body)) {
					if strings.HasPrefix(line, "##") {
						have = append(have, strings.TrimSpace(line))
					}
				}
				want := reportHeadings(level, lang)
				if diff := cmp.Diff(want, have); diff != "" {
					t.Error(diff)
				}
				for _, h := range want {
					without := strings.Replace(string(body), "\n"+h+"\n", "\n", 1)
					if diff := cmp.Diff([]string{h}, missingHeadings([]byte(without), level, lang)); diff != "" {
						t.Errorf("without %q: %s", h, diff)
					}
				}
			})
		}
	}
}

func TestChainIsToldBothWays(t *testing.T) {
	cycle := func(root, run, last, began string, archived bool, status string) Entry {
		e := Entry{Key: run, Root: root, RunID: run, LastRunID: text(last), Triggered: true, Workflow: "w", BeganAt: text(began), Archived: archived}
		e.Status = map[string]Entry{"goal": {Status: Reached}, "waits": {Status: Awaiting}, "": {}}[status].Status
		if archived {
			e.Key += "@2026-03"
		}
		return e
	}
	all := []Entry{
		cycle("r", "20260301-msowd-a", "", "1", true, "goal"),
		cycle("r", "20260302-msowd-b", "20260301-msowd-a", "2", true, "waits"),
		cycle("r", "20260303-msowd-c", "20260302-msowd-b", "3", false, "goal"),
		cycle("r", "20260304-msowd-d", "20260303-msowd-c", "4", false, "waits"),
		cycle("r", "20260305-msowd-e", "20260303-msowd-c", "", false, ""),
		cycle("s", "20260306-msowd-f", "20260303-msowd-c", "6", false, "goal"),
	}
	var got []string
	for _, n := range Chain(all, "20260303-msowd-c") {
		mark := ""
		if n.Current {
			mark = " here"
		}
		if n.Gate {
			mark += " asks"
		}
		got = append(got, fmt.Sprintf("%s %s after %v%s", n.ID, n.Status, n.After, mark))
	}
	want := []string{
		"20260301-msowd-a@2026-03 goal after []",
		"20260302-msowd-b@2026-03 cut off in archive after [20260301-msowd-a@2026-03]",
		"20260303-msowd-c goal after [20260302-msowd-b@2026-03] here",
		"20260304-msowd-d awaiting_human after [20260303-msowd-c] asks",
		"20260305-msowd-e new after [20260303-msowd-c]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	circle := []Entry{cycle("r", "20260301-msowd-a", "20260302-msowd-b", "1", false, "goal"), cycle("r", "20260302-msowd-b", "20260301-msowd-a", "2", false, "goal")}
	if n := len(Chain(circle, "20260301-msowd-a")); n != 2 {
		t.Errorf("a circle has %d cycles", n)
	}
	if n := Chain(all, "20260309-msowd-none"); n != nil {
		t.Errorf("no cycle: %v", n)
	}
}

// Cycles may follow one another in their thousands.
func TestALongChainIsTold(t *testing.T) {
	const many = 20_000
	var all []Entry
	for i := range many {
		e := Entry{Key: fmt.Sprintf("k%05d", i), RunID: fmt.Sprintf("r%05d", i), Triggered: true, Status: Reached}
		if i > 0 {
			e.LastRunID = text(all[i-1].RunID)
		}
		all = append(all, e)
	}
	nodes := Chain(all, "k10000")
	if len(nodes) != many || nodes[0].ID != "k00000" || nodes[many-1].ID != "k19999" || nodes[7].After[0] != "k00006" {
		t.Errorf("%d cycles", len(nodes))
	}
}
