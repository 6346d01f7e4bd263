package optimizer

import (
	"strings"
	"testing"

	"placet/engine/gate"
)

// What a crash left of a decision that never became fact makes room for the one that
// does. What somebody else wrote there stays, and is noted.
func TestALeftOverDecisionIsReplaced(t *testing.T) {
	tell(t, func(d *desk) {
		d.trigger()
		d.goes(triggered, collected)
		state, events := d.read("state.json"), d.read("events.jsonl")
		d.assets(30)
		d.goes(decided)
		old := d.read("decision.json")
		d.backTo(state, events)
		d.assets(20)
		d.Restart()
		d.goes(decided)
		if got := d.read("decision.json"); got == old || !strings.Contains(got, `"automation_level": 20`) {
			t.Errorf("decision.json says\n%s", got)
		}
	})
	tell(t, func(d *desk) {
		const foreign = `{"automation_level": 30}`
		d.write("decision.json", foreign)
		d.assets(20)
		d.trigger()
		d.goes(triggered, collected, decided)
		if d.read("decision.json") != foreign {
			t.Error("somebody's decision.json was replaced")
		}
		d.noted("decision.json.problem.md", "not placet's")
	})
}

// A request that cannot be made again holds its answers, and says so.
func TestARequestThatCannotBeMadeAgainHoldsItsAnswers(t *testing.T) {
	tell(t, func(d *desk) {
		d.level10()
		rel := d.request(typeHITL, "request.json")
		request, found := d.read(rel), d.read("context.json")
		d.unlink(rel)
		d.write("context.json", strings.Replace(found, `"warnings": [`, "\"warnings\": [\n    \"x\",", 1))
		d.write(strings.Replace(rel, "request.json", "response.json", 1), `{"request_id": "`+strings.Split(rel, "/")[1]+`", "response": "raise", "provided_by": {"user": "kim", "source": "file"}}`)
		d.goes()
		d.noted(rel+".problem.md", "restore")
		d.write(rel, request)
		d.goes(answered)
		d.noted()
	})
}

// A late answer whose comment is too long says so, as one in time does.
func TestALateCommentThatIsTooLongIsNoted(t *testing.T) {
	tell(t, func(d *desk) {
		d.level10()
		d.pass(49 * 60 * 60e9)
		d.goes(timedOut)
		d.respond(typeHITL, `"comment": "`+strings.Repeat("x", gate.LongestAnswer+1)+`"`)
		d.goes()
		d.noted(d.request(typeHITL, "problem.md"), "expected at most")
	})
}
