package optimizer

import (
	"strings"
	"testing"
	"time"
)

// What a crash left of the first transition, which asks already, is no cycle whose
// state is gone: the cycle begins.
func TestACrashBeforeTheFirstStateLeavesTheCycleToBegin(t *testing.T) {
	tell(t, func(d *desk) {
		d.trigger(`"timeout_reentries": 4`)
		d.goes(triggered)
		id := d.asked(typeCap)
		d.unlink("state.json")
		d.unlink("events.jsonl")
		d.unlink("context.json")
		d.Restart()
		d.pass(time.Minute)
		d.goes(triggered)
		if d.asked(typeCap) != id {
			t.Errorf("%s was asked again as %s", id, d.asked(typeCap))
		}
		d.respond(typeCap, `"response": "continue"`)
		d.goes(continued)
		// Later the state is gone indeed.
		d.unlink("state.json")
		d.goes()
		if !strings.Contains(d.Notes(), "state.json is gone") {
			t.Errorf("the notes are %s", d.Notes())
		}
	})
}
