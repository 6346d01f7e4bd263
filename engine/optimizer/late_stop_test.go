package optimizer

import "testing"

// A stop.json at the end of a cycle moves nothing, and a note beside it says so, be it
// sound or not; the one that stopped the cycle earns none.
func TestAStopAfterTheEndIsNoted(t *testing.T) {
	for name, body := range map[string]string{"sound": `{"reason": "enough"}`, "bad": `{"reason": 7}`, "no JSON": "stop"} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.level10()
				d.tick("raise", "submit")
				d.goes(answered)
				goal := d.read("goal.json")
				d.write("stop.json", body)
				d.goes()
				d.noted("stop.json.problem.md", "the cycle has its goal already: stop.json moves nothing any more; remove it")
				if d.read("goal.json") != goal {
					t.Error("goal.json changed")
				}
				d.unlink("stop.json")
				d.goes()
				d.noted()
			})
		})
	}
	t.Run("failed", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.assets(10)
			d.write("inputs/level-error.json", `{"level": 10, "error": "no"}`)
			d.trigger()
			d.goes(triggered, collected, decided, levelFailed)
			d.write("stop.json", `{"reason": "enough"}`)
			d.goes()
			d.noted("stop.json.problem.md", "the cycle has failed already")
		})
	})
	t.Run("stopped", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.level10()
			d.write("stop.json", `{"reason": "enough"}`)
			d.goes(stopped)
			d.goes()
			d.noted()
		})
	})
}
