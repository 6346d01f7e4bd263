package optimizer

import (
	"strings"
	"testing"
)

// TestNobodyIsAskedAboutAnAttemptWhoseDataAreThere: placet was killed between the data
// that a command left and the word on how it ended.
func TestNobodyIsAskedAboutAnAttemptWhoseDataAreThere(t *testing.T) {
	for name, there := range map[string]bool{"with its data": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.assets(20)
				d.trigger()
				d.Settle()
				d.status(Running)
				if there {
					d.write("retrieved.jsonl", `{"record_id": "r1", "metric": "m", "value": 1}`+"\n")
				}
				d.write("attempts/20-1.json", `{"level": 20, "n": 1, "argv": ["true"], "started_at": "2026-03-02T09:20:00Z", "deadline": "2026-03-02T09:50:00Z"}`)
				d.Settle()
				asked := false
				for _, q := range d.state().Requests {
					asked = asked || q.Type == typeUnknown
				}
				for p := range d.Tree() {
					asked = asked || strings.Contains(p, "/requests/"+typeUnknown)
				}
				if asked == there {
					t.Errorf("asked: %v", asked)
				}
			})
		})
	}
}
