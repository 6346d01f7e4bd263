package schemas

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The result of check_answer has every status that an ask can have.
func TestAnAnswerForAgentsHasEveryStatusOfAnAsk(t *testing.T) {
	statuses := func(name string) []string {
		var s struct {
			Properties, Defs struct{ Status struct{ Enum []string } }
		}
		body, err := files.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(bytes.ReplaceAll(body, []byte("$defs"), []byte("defs")), &s)
		}
		all := append(s.Properties.Status.Enum, s.Defs.Status.Enum...)
		if err != nil || len(all) == 0 {
			t.Fatalf("%s has no statuses: %v", name, err)
		}
		return all
	}
	if diff := cmp.Diff(statuses("ask/state.json"), statuses("mcp/answer.json")); diff != "" {
		t.Errorf("statuses (-ask/state.json +mcp/answer.json):\n%s", diff)
	}
}
