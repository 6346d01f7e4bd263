package cli_test

import (
	"strings"
	"testing"
)

// A closed request once could not be shown, and a part of a run only if it was a checkpoint:
// people ask who approved what, and what the status of a step is.
func TestShowAndExplainTakeClosedRequestsAndParts(t *testing.T) {
	t.Parallel()
	p := answeredPlace(t, 2, 1)
	open, closed, uuid := p.requestID(0), p.requestID(1), p.runs[1][strings.LastIndexByte(p.runs[1], '/')+1:]
	for _, name := range []string{closed, uuid[:8] + ":" + closed, uuid[:8] + ":fr-2", closed + "@0123456789ab"} {
		p.says(p.must(0, "show", name), closed+"  accepted: approve", "by        tester (claimed) (file)", "decided   20",
			"answer    "+p.request(1)+"/response.json", "receipt   "+p.request(1)+"/receipt.json", "Is the design of item 2 good?")
	}
	p.says(p.must(0, "explain", closed), closed+" is closed (accepted: approve, by tester (claimed) (file), at 20", "another answer to it moves nothing")
	p.says(p.must(0, "show", "--json", closed), `"result":"accepted"`, `"response":"approve"`, `"user":"tester (claimed)"`, `"receipt":{"schema_version":1`, `"receipt_path":"`)
	p.says(p.must(0, "explain", "--json", closed), `"request":"`+closed+`"`, `"status":"closed"`, `"moves":[]`)
	p.says(p.must(0, "show", open), "Is the design of item 1 good?", "placet approve "+open+"@")
	p.says(p.must(0, "explain", open), "waits for an answer", "ticking approve and submit")
	// Both have the same beginning, so none is chosen.
	p.says(p.must(2, "show", "fr-2026"), `"fr-2026" fits 2 requests`, ":"+open, ":"+closed)
	p.must(2, "explain", "fr-2026")
	p.must(2, "show", "fr-") // too short to be a beginning
	p.must(2, "show", "fr-20261120-999999")

	for _, name := range []string{"architect/design-review", "architect:design-review", "design-review", "architect:desi", "architect", "arch"} {
		out := p.must(0, "show", uuid[:8]+"/"+name)
		p.says(out, uuid+"/architect", "completed", "Events", "feedback_received")
	}
	p.says(p.must(0, "show", p.runs[0][len(".fractary/faber/runs/"):]+"/architect:design-review"), "Asked", open)
	p.says(p.must(0, "explain", uuid[:8]+"/architect:design-review"), "architect:design-review")
	p.says(p.must(2, "show", uuid[:8]+"/build"), `has no part "build": it has architect, architect:design-review`)
}

// A level of an optimization cycle is shown on its own, and so is a checkpoint by the beginning
// of its name.
func TestShowTakesLevelsAndCheckpoints(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	p.shopSession()
	p.says(p.must(0, "show", "shop/seco"), "afl/shop/second", "depends on")
	p.says(p.must(0, "explain", "shop/second"), "second")
	p.must(2, "show", "shop/sec") // too short
	p.must(2, "show", "shop/third")
	run := ".mso-context/active/20260302-msowd-logs/optimizer/"
	p.write(run+"trigger.json", `{"workflow_name": "logs"}`)
	p.write(run+"inputs/assets.json", `{"scripts": [], "has_rules": false}`)
	for range 3 {
		p.placet("once")
	}
	if !strings.Contains(p.read(run+"state.json"), `"decision": {`) {
		t.Fatalf("no level is decided: %s\n%s", p.read(run+"state.json"), p.must(0, "explain", "20260302-msowd-logs"))
	}
	p.says(p.must(0, "show", "20260302-msowd-logs/level10"), "level10  ", "결정")
	p.says(p.must(0, "show", "20260302-msowd-logs/30"), "level30  not used")
	p.must(0, "explain", "20260302-msowd-logs/level10")
}
