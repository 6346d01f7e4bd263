package optimizer

import (
	"strings"
	"testing"
	"time"

	"placet/cmd/placet/asks"
	"placet/layout"
)

func TestSlugsOfNewRuns(t *testing.T) {
	for given, want := range map[string]string{
		"SOP Masking": "sop-masking", "a--b__c": "a-b-c", "  x!": "x", "": "default-run", "라벨": "default-run", "---": "default-run",
		"é1": "1", strings.Repeat("ab", 30): strings.Repeat("ab", 20), strings.Repeat("a", 39) + " b": strings.Repeat("a", 39) + "-",
	} {
		got := asks.Slug(given, longestSlug, defaultSlug)
		if got != want {
			t.Errorf("%q becomes %q, want %q", given, got, want)
		}
		if id := layout.OptimizerName(time.Unix(0, 0), "msowd", got); !layout.IsOptimizerRunID(id) {
			t.Errorf("%q makes %q, which is no run id", given, id)
		}
	}
}
