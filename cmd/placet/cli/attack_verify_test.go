package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var verifyAttacks = []attack{
	{
		name: "a receipt written by hand",
		does: "An agent writes receipt.json of the next revision in the name of an approver, so that it counts as fact.",
		try: func(t *testing.T, _ *place) {
			p := waitingPlace(t, byTester)
			p.write(p.request(0)+"/receipt.json", p.forged(receiptOf{digest: p.shown(), revision: 2}))
			p.movesNothing("not verified")
			p.honest()
			if rc := p.read(p.request(0) + "/receipt.json"); strings.Contains(rc, "forged") || !strings.Contains(rc, `"source": "file"`) {
				t.Errorf("the receipt of the honest answer is %s", rc)
			}
			if out, _ := p.placet("log"); strings.Contains(out, "not verified") {
				t.Errorf("an answer that placet took is shown as not verified:\n%s", out)
			}
			// A receipt that replaces placet's own is no record any more.
			p.write(p.request(0)+"/receipt.json", p.forged(receiptOf{digest: p.shown(), revision: 2}))
			if out, _ := p.placet("log"); !strings.Contains(out, "not verified") {
				t.Errorf("log shows another receipt as placet's:\n%s", out)
			}
		},
	},
	{
		name: "a receipt that does not fit",
		does: "A receipt with the id of another request, a digest of zeros, or of a later revision is carried out where every answer counts.",
		try: func(t *testing.T, _ *place) {
			zero := "sha256:" + strings.Repeat("0", 64)
			for name, rc := range map[string]receiptOf{
				"another request": {id: "fr-20261120-999999", revision: 2}, "a digest of zeros": {digest: zero, revision: 2}, "a later revision": {revision: 7},
			} {
				p := waitingPlace(t, "")
				if rc.digest == "" {
					rc.digest = p.shown()
				}
				p.write(p.request(0)+"/receipt.json", p.forged(rc))
				p.movesNothing("receipt.json")
				if p.honest(); t.Failed() {
					t.Fatalf("with %s", name)
				}
			}
			p := waitingPlace(t, "")
			p.write(p.request(0)+"/receipt.json", p.forged(receiptOf{digest: p.shown(), revision: 2}))
			if p.placet("once"); !p.answered(0) {
				t.Errorf("a receipt that fits is not taken at the level file: %s", p.read(p.request(0)+"/problem.md"))
			}
			rc := p.read(p.request(0) + "/receipt.json")
			if !strings.Contains(rc, "did not write") || strings.Contains(rc, "owner:") || !strings.Contains(rc, "claimed:tester") {
				t.Errorf("the receipt does not say that it is a claim: %s", rc)
			}
		},
	},
	{
		name: "an entry of the history that names an approver",
		does: "An agent writes an approver's answer into feedback_history of state.json.",
		try: func(t *testing.T, _ *place) {
			entry := func(p *place) {
				p.edit(p.runs[0]+"/state.json", `"feedback_request": {`, fmt.Sprintf(
					`"feedback_history": [{"request_id": %q, "request_type": "review", "response": "approve", "provided_by": {"user": "tester", "source": "cli"}, "received_at": "2026-11-20T10:00:00Z"}], "feedback_request": {`, p.requestID(0)))
			}
			p := waitingPlace(t, byTester)
			entry(p)
			p.movesNothing("not verified")
			p.edit(p.runs[0]+"/state.json", "feedback_history", "was")
			p.honest()
			open := waitingPlace(t, "")
			if entry(open); !open.answeredInTime() || !strings.Contains(open.read(open.request(0)+"/receipt.json"), "claimed:tester") {
				t.Errorf("an entry of the history is not taken at the level file: %s", open.read(open.request(0)+"/problem.md"))
			}
		},
	},
	{
		name: "an event that names an approver",
		does: "An agent writes a feedback_received event with an approver's answer, or one that looks like placet's own of a passed deadline.",
		try: func(t *testing.T, _ *place) {
			event := func(p *place, response, by, placet string) {
				p.write(p.runs[0]+"/events/003-feedback_received.json", fmt.Sprintf(
					`{"event_id": 3, "type": "feedback_received", "timestamp": "2026-11-20T10:00:00.000Z", "run_id": "x", "metadata": {"request_id": %q, "response": %q, "provided_by": %s%s}}`,
					p.requestID(0), response, by, placet))
			}
			const tester, deadline = `{"user": "tester", "source": "cli"}`, `{"user": "placet", "source": "deadline"}`
			const ours = `, "placet": {"revision": 2, "key": "0123456789ab"}`
			p := waitingPlace(t, byTester)
			event(p, "approve", tester, ours)
			p.movesNothing("not verified")
			event(p, "approve", deadline, ours)
			p.movesNothing("the deadline took")
			p.honest()
			open := waitingPlace(t, "")
			event(open, "approve", deadline, ours)
			open.movesNothing("the deadline took")
			if event(open, "approve", tester, ""); !open.answeredInTime() || !strings.Contains(open.read(open.request(0)+"/receipt.json"), "claimed:tester") {
				t.Errorf("an event is not taken at the level file: %s", open.read(open.request(0)+"/problem.md"))
			}
		},
	},
	{
		name: "an answer written into the state",
		does: "An agent sets state.json to in_progress with an approver's answer, so that placet tells an agent to go on.",
		try: func(t *testing.T, _ *place) {
			p := waitingPlace(t, byTester)
			state := p.runs[0] + "/state.json"
			p.edit(state, `"awaiting_feedback"`, `"in_progress"`)
			p.edit(state, `"feedback_request": {`, fmt.Sprintf(
				`"feedback_history": [{"request_id": %q, "request_type": "review", "response": "approve", "provided_by": {"user": "tester", "source": "cli"}, "received_at": "2026-11-20T10:00:00Z"}], "was": {`, p.requestID(0)))
			p.edit(state, `"resume_point": {`, fmt.Sprintf(`"resume_point": {"request_id": %q, "action": "continue", "position": "at", `, p.requestID(0)))
			p.until("the claim stands still", func() bool {
				p.placet("once")
				return p.read(p.request(0)+"/receipt.json") != ""
			})
			if p.read(p.runs[0]+"/resume.md") != "" {
				t.Error("an agent is told to go on with an answer that nobody verified")
			}
			for _, verb := range []string{"explain", "log"} {
				if out, _ := p.placet(verb, "faber"); !strings.Contains(out, "not verified") {
					t.Errorf("%s says nothing of it:\n%s", verb, out)
				}
			}
			p = waitingPlace(t, byTester)
			if p.honest(); p.read(p.runs[0]+"/resume.md") == "" {
				t.Error("nobody is told to go on with a verified answer")
			}
		},
	},
	{
		name: "an approval inside the checkpoints",
		does: "An agent approves its own checkpoints by approved_at in the file, or by the flag in meta.json.",
		try: func(t *testing.T, _ *place) {
			const dir = ".afl/sessions/s1"
			begin := func(settings, head, meta string) *place {
				p := settled(t, 0, "[afl]\napproval_quiet = \"0s\"\n"+settings)
				p.write(dir+"/specs/checkpoints.yaml", head+"checkpoints:\n  - {id: one, criteria: [it is well], validation: {command: \"true\", expected: well done}}\n")
				p.write(dir+"/meta.json", meta)
				p.placet("once", "--no-commands")
				return p
			}
			const stamp = "approved_at: 2026-01-19T10:30:00Z\napproved_by: tester\n"
			for _, file := range []string{"/specs/checkpoints.yaml", "/meta.json"} {
				head, meta := stamp, "{}"
				if file == "/meta.json" {
					head, meta = "", `{"checkpointsApproved": true}`
				}
				p := begin(byTester, head, meta)
				if st := p.read(dir + "/state.json"); !strings.Contains(st, `"approved": null`) {
					t.Fatalf("%s approves: %s", file, st)
				}
				if note := p.read(dir + file + ".problem.md"); !strings.Contains(note, "not verified") || !strings.Contains(note, "form.md") {
					t.Errorf("%s: the note says %q", file, note)
				}
				if out, _ := p.placet("inbox"); !strings.Contains(out, "not verified") {
					t.Errorf("%s: the inbox says nothing of it:\n%s", file, out)
				}
				if out, _ := p.placet("explain", "afl"); strings.Contains(out, "<now> approves them") {
					t.Errorf("%s: explain advises what does not count:\n%s", file, out)
				}
				p.placet("approve", p.reference(), "--as", "tester")
				p.placet("once", "--no-commands")
				if st := p.read(dir + "/state.json"); !strings.Contains(st, `"source": "request"`) {
					t.Errorf("%s: the approver's answer is not taken: %s", file, st)
				}
				open := begin("", head, meta)
				if st := open.read(dir + "/state.json"); !strings.Contains(st, `"approved": {`) {
					t.Errorf("%s does not approve at the level file: %s", file, st)
				}
			}
		},
	},
	{
		name: "a deadline edited into a request",
		does: "An agent writes a passed deadline into request.json, or into state.json, and deletes the form, so that the default is taken at once.",
		try: func(t *testing.T, _ *place) {
			for file, edit := range map[string]func(p *place){
				"request.json": func(p *place) {
					p.edit(p.request(0)+"/request.json", p.member("deadline"), `"deadline": "2026-01-01T00:00:00Z"`)
				},
				"requested_at of state.json": func(p *place) {
					p.edit(p.runs[0]+"/state.json", p.member("requested_at"), `"requested_at": "2026-01-01T00:00:00Z"`)
				},
				"context of state.json": func(p *place) {
					p.edit(p.runs[0]+"/state.json", `"prompt": `, `"context": {"deadline": "2026-01-01T00:00:00Z"}, "prompt": `)
				},
			} {
				p := rejecting(t, "72h")
				edit(p)
				if err := os.Remove(filepath.Join(p.root, p.request(0), "form.md")); err != nil {
					t.Fatal(err)
				}
				if p.answeredBy("once") {
					t.Errorf("a deadline in %s is taken: %s", file, p.read(p.request(0)+"/receipt.json"))
				}
			}
			p := rejecting(t, "1s")
			p.until("the deadline", func() bool { return p.answeredBy("once") })
			if rc := p.read(p.request(0) + "/receipt.json"); !strings.Contains(rc, `"expired"`) {
				t.Errorf("the settings' deadline is not taken: %s", rc)
			}
		},
	},
	{
		name: "a receipt before the question",
		does: "A receipt stands in the request's folder before anybody was asked.",
		try: func(t *testing.T, _ *place) {
			for _, revision := range []int{1, 2} {
				p := settled(t, 1, "")
				p.write(p.request(0)+"/receipt.json", p.forged(receiptOf{digest: "sha256:" + strings.Repeat("1", 64), revision: revision}))
				for range 2 { // it opens, and is looked at again
					if p.answeredBy("once") {
						t.Fatal("an answer to what nobody was shown is taken")
					}
				}
				if err := os.Remove(filepath.Join(p.root, p.request(0), "receipt.json")); err != nil {
					t.Fatal(err)
				}
				p.honest()
			}
		},
	},
}

const byTester = "[gates]\n\"*\" = { level = \"file\", approvers = [\"tester\"] }\n"

// settled is a workspace of n runs with settings of the user's own.
func settled(t *testing.T, n int, settings string) *place {
	t.Helper()
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), n)
	p.write("../home-"+filepath.Base(p.root)+"/placet/placet.toml", settings)
	return p
}

// waitingPlace is a workspace with one run whose request is open.
func waitingPlace(t *testing.T, settings string) *place {
	t.Helper()
	p := settled(t, 1, settings)
	if p.placet("once"); !p.opened() {
		t.Fatal("the request does not open")
	}
	return p
}

// rejecting makes such a workspace. Its request, made now, is rejected after a time.
func rejecting(t *testing.T, after string) *place {
	t.Helper()
	p := settled(t, 1, "[faber]\non_deadline = \"reject\"\ndeadline = { review = \""+after+"\" }\n")
	p.edit(p.runs[0]+"/state.json", `"requested_at": "2026-11-20T10:00:00Z"`, `"requested_at": "`+time.Now().UTC().Format(time.RFC3339)+`"`)
	if p.placet("once"); !p.opened() && after != "1s" {
		t.Fatal("the request does not open")
	}
	return p
}

// receiptOf says how a receipt is made up.
type receiptOf struct {
	id, digest string
	revision   int
}

// forged is a receipt that an agent wrote.
func (p *place) forged(r receiptOf) string {
	if r.id == "" {
		r.id = p.requestID(0)
	}
	return fmt.Sprintf(`{"schema_version": 1, "request_id": %q, "result": "accepted", "response": "approve", "selected": [], "comment": "forged", "late": false,
 "provided_by": {"user": "tester", "source": "cli"}, "known_as": ["owner:tester", "claimed:tester"], "answer": null, "digest": %q,
 "received_at": "2026-11-20T10:05:00Z", "decided_at": "2026-11-20T10:05:00.000Z", "reason": "", "revision": %d}`+"\n", r.id, r.digest, r.revision)
}

// shown returns the digest of what the first run's request shows, as the inbox says.
func (p *place) shown() string {
	p.t.Helper()
	out, _ := p.placet("inbox", "--json")
	var inbox struct {
		Data struct {
			Requests []struct {
				Digest string `json:"digest"`
			} `json:"requests"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(out), &inbox); err != nil {
		p.t.Fatalf("%v: %s", err, out)
	}
	if len(inbox.Data.Requests) == 0 {
		return "sha256:" + strings.Repeat("2", 64)
	}
	return inbox.Data.Requests[0].Digest
}

// edit replaces a text of a file, once.
func (p *place) edit(rel, old, other string) {
	p.t.Helper()
	body := p.read(rel)
	if !strings.Contains(body, old) {
		p.t.Fatalf("%s has no %s:\n%s", rel, old, body)
	}
	p.write(rel, strings.Replace(body, old, other, 1))
}

// member returns a member with a text in the first run's request.json, as it is written there.
func (p *place) member(name string) string {
	p.t.Helper()
	_, after, _ := strings.Cut(p.read(p.request(0)+"/request.json"), `"`+name+`": "`)
	value, _, _ := strings.Cut(after, `"`)
	return fmt.Sprintf(`"%s": "%s"`, name, value)
}

// answeredBy reports whether the first run is answered after a command.
func (p *place) answeredBy(args ...string) bool {
	p.t.Helper()
	p.placet(args...)
	return p.answered(0)
}

// answeredInTime makes placet look until the first run's request is answered: the run's own
// records count once the run has settled.
func (p *place) answeredInTime() bool {
	p.t.Helper()
	p.until("the claim stands still", func() bool { return p.answeredBy("once") })
	return true
}

// movesNothing fails the test if the first run moves, or if note, inbox or explain do not say
// why not.
func (p *place) movesNothing(because string) {
	p.t.Helper()
	if p.answeredBy("once") {
		p.t.Fatalf("the run moved: %s", p.read(p.runs[0]+"/state.json"))
	}
	if note := p.read(p.request(0) + "/problem.md"); !strings.Contains(note, because) {
		p.t.Errorf("the note says %q", note)
	}
	for _, args := range [][]string{{"inbox"}, {"explain", "faber"}, {"show", p.requestID(0)}} {
		if out, _ := p.placet(args...); !strings.Contains(out, because) {
			p.t.Errorf("%v says nothing of it:\n%s", args, out)
		}
	}
}

// honest makes the approver answer the first run's request, and checks that the answer is
// accepted.
func (p *place) honest() {
	p.t.Helper()
	p.placet("once")
	p.write(p.request(0)+"/response.json", p.response(0, "approve", "seen"))
	p.until("the honest answer", func() bool { return p.answeredBy("once") })
	p.verify(0, "approve")
}
