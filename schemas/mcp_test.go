package schemas

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What check_answer tells an agent has the statuses that an ask can have.
func TestAnAnswerForAgentsHasEveryStatusOfAnAsk(t *testing.T) {
	statuses := func(name string) []string {
		var s struct {
			Properties struct{ Status struct{ Enum []string } }
		}
		body, err := files.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(body, &s)
		}
		if err != nil || len(s.Properties.Status.Enum) == 0 {
			t.Fatalf("%s has no statuses: %v", name, err)
		}
		return s.Properties.Status.Enum
	}
	if diff := cmp.Diff(statuses("ask/state.json"), statuses("mcp/answer.json")); diff != "" {
		t.Errorf("statuses (-ask/state.json +mcp/answer.json):\n%s", diff)
	}
}
