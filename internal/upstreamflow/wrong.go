package upstreamflow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Wrong returns what is duplicated, missing or contradictory at the end of a request: it
// must have one entry in the history, one event of each kind, one receipt and one end.
func Wrong(f Files, id string) (wrong []string) {
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	var st struct {
		Status      string
		CompletedAt string          `json:"completed_at"`
		Feedback    json.RawMessage `json:"feedback_request"`
		History     []struct {
			RequestID string `json:"request_id"`
			Response  string
		} `json:"feedback_history"`
	}
	if err := json.Unmarshal([]byte(f.Read("state.json")), &st); err != nil {
		add("state.json: %v", err)
	}
	kinds := map[string]int{}
	for _, name := range f.Events() {
		_, kind, _ := strings.Cut(name, "-")
		if kinds[kind]++; kinds[kind] == 2 {
			add("a second event %s: %v", kind, f.Events())
		}
	}
	if kinds["feedback_received"] == 0 {
		add("no event feedback_received: %v", f.Events())
	}
	var rc struct{ Result, Response string }
	err := json.Unmarshal([]byte(f.Read("requests/"+id+"/receipt.json")), &rc)
	if len(st.History) != 1 || st.History[0].RequestID != id || err != nil || rc.Result != "accepted" || rc.Response != st.History[0].Response {
		add("the history says %+v, the receipt %+v (%v)", st.History, rc, err)
	}
	cancelled := slices.Contains([]string{"cancelled", "aborted"}, st.Status)
	if !cancelled && st.Status != "in_progress" || len(st.Feedback) > 0 && string(st.Feedback) != "null" ||
		cancelled != (kinds["workflow_cancelled"] == 1) || cancelled != (st.CompletedAt != "") {
		add("status %s, completed_at %q, request %s, events %v", st.Status, st.CompletedAt, st.Feedback, f.Events())
	}
	return wrong
}
