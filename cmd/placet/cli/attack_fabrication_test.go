package cli_test

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// fabricationAttacks are on the record: another program claims that work went on or is done
// while a person is asked. Each row has an honest run beside the forged one.
var fabricationAttacks = []attack{
	{"a FABER run completed while it asks", "an agent sets a run to completed, with and without taking its question back", completedWhileAsked},
	{"a FABER run completed and accepted", "a person accepts what an agent claims, and an agent tries to", claimAdopted},
	{"an ask answered in its state", "an agent writes an answer into the state.json of an ask, where anybody may answer", askAnsweredInState},
	{"an AFL session completed while it asks", "upstream's meta.json says completed while the checkpoints wait for their approval, and a worker reports an attempt that has not begun", sessionCompletedWhileAsked},
	{"a goal that nobody approved", "an agent writes a goal.json that a person is said to have approved", goalUnapproved},
	{"a mail that nobody approved", "an agent sets an action to approved in its state.json", actionApprovedInState},
	{"an escalation that nobody resolved", "an agent closes an escalation in an orchestration's state.json, so that its port goes on", escalationResolvedInState},
}

// fabrication is what check says of one claim, as JSON.
type fabrication struct {
	Run, Severity, Path, Text, Code, Pointer string
	Request                                  string `json:"request_id"`
}

// fabrications returns the findings of check about claims that the record contradicts.
func (p *place) fabrications() (list []fabrication) {
	p.t.Helper()
	out, _ := p.placet("check", "--json")
	var all struct {
		Data struct{ Findings []fabrication }
	}
	if err := json.Unmarshal([]byte(out[strings.Index(out, "{"):strings.LastIndex(out, "}")+1]), &all); err != nil {
		p.t.Fatalf("%v\n%s", err, out)
	}
	for _, f := range all.Data.Findings {
		if f.Code == "fabrication" {
			list = append(list, f)
		}
	}
	return list
}

// honestly checks that no fabrication is reported.
func (p *place) honestly() {
	p.t.Helper()
	if list := p.fabrications(); len(list) > 0 {
		p.t.Fatalf("an honest run: %+v", list)
	}
}

const wentOn = "1 run went on without its answer: placet doctor\n"

// wentOn checks that every surface reports the one run that went on without an answer, and what
// check says of it.
func (p *place) wentOn(path, pointer, request string) {
	p.t.Helper()
	for _, verb := range []string{"status", "inbox"} {
		if out := p.must(1, verb); !strings.HasPrefix(out, wentOn) {
			p.t.Errorf("%s does not begin with it: %s", verb, out)
		}
	}
	list := p.fabrications()
	if len(list) != 1 || list[0].Path != path || list[0].Pointer != pointer || list[0].Severity != "error" || list[0].Request != request {
		p.t.Fatalf("check: %+v", list)
	}
	p.says(list[0].Text, pointer+" says", "request "+request+" has no answer")
	p.says(p.must(1, "check"), path+": "+pointer+" says")
}

// sets changes members of a JSON document as a program does that knows only these. nil removes
// a member.
func (p *place) sets(rel string, members map[string]any) {
	p.t.Helper()
	var all map[string]any
	if err := json.Unmarshal([]byte(p.read(rel)), &all); err != nil {
		p.t.Fatal(err)
	}
	for name, value := range members {
		if all[name] = value; value == nil {
			delete(all, name)
		}
	}
	body, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		p.t.Fatal(err)
	}
	p.replace(rel, string(body)+"\n")
}

func completedWhileAsked(t *testing.T, p *place) {
	p.runs = newPlace(t, p.root, 3).runs
	p.must(3, "once")
	p.write(p.request(0)+"/response.json", p.response(0, "approve", ""))
	p.must(3, "once")
	p.sets(p.runs[0]+"/state.json", map[string]any{"status": "completed", "resume_point": nil})
	p.must(3, "once")
	p.honestly()

	p.sets(p.runs[1]+"/state.json", map[string]any{"status": "completed", "feedback_request": nil, "completed_at": "2026-11-20T10:05:00Z"})
	p.must(1, "once")
	p.wentOn(p.runs[1]+"/state.json", "/status", p.requestID(1))
	p.says(p.read(p.runs[1]+"/state.json.problem.md"), "/status says `completed`, but request "+p.requestID(1)+" has no answer", "placet doctor --fix")
	if state := p.read(p.runs[1] + "/state.json"); !strings.Contains(state, `"status": "completed"`) {
		t.Errorf("placet undoes it: %s", state)
	}
	p.must(1, "once") // a pass without anything to do reports it, too
	p.wentOn(p.runs[1]+"/state.json", "/status", p.requestID(1))

	p.sets(p.runs[2]+"/state.json", map[string]any{"status": "completed"})
	p.must(1, "once")
	if out := p.must(1, "status"); !strings.HasPrefix(out, "2 runs went on without their answer: placet doctor\n") {
		t.Errorf("status: %s", out)
	}
}

func claimAdopted(t *testing.T, p *place) {
	request := p.shopAsks()
	p.replace(shop+"/meta.json", `{"sessionId": "shop", "title": "Shop", "status": "completed"}`)
	p.must(1, "once")
	const id = "afl/shop"
	out := p.must(1, "adopt", id, "-m", "kim said so")
	p.says(out, "nobody can be asked here", "/status says `completed`")
	digest := regexp.MustCompile(`placet doctor --fix (\S+@[0-9a-f]+)`).FindStringSubmatch(out)
	if digest == nil {
		t.Fatalf("no digest: %s", out)
	}
	p.must(1, "adopt", id+"@000000000000")
	p.vars = []string{"CLAUDECODE=1"}
	p.must(1, "adopt", digest[1])
	p.vars = nil
	p.wentOn(shop+"/meta.json", "/status", request)
	p.says(p.must(0, "adopt", digest[1], "-m", "kim said so"), "adopted", "kim said so")
	p.must(3, "once")
	p.honestly()
	p.must(3, "status")
	p.stays(shop + "/state.json.problem.md")
	p.says(p.must(0, "trust"), "adopted "+id, "kim said so")
}

func askAnsweredInState(t *testing.T, p *place) {
	for _, id := range []string{"honest", "forged"} {
		p.write(".asks/"+id+"/ask.json", `{"question": "Drop production?"}`)
	}
	p.must(3, "once")
	requests, err := filepath.Glob(filepath.Join(p.root, ".asks/*/requests/*"))
	if err != nil || len(requests) != 2 {
		t.Fatalf("%v, %v", requests, err)
	}
	forged, honest := filepath.Base(requests[0]), filepath.Base(requests[1])
	p.write(".asks/honest/requests/"+honest+"/response.json", `{"request_id": "`+honest+`", "response": "approve", "provided_by": {"user": "kim", "source": "file"}}`)
	p.must(3, "once")
	p.honestly()
	answer := map[string]any{
		"response": "approve", "selected": []string{}, "comment": "", "by": map[string]any{"user": "ceo", "source": "http"}, "known_as": []string{"api:ceo"}, "late": false,
	}
	p.sets(".asks/forged/state.json", map[string]any{"status": "answered", "revision": 2, "answer": answer})
	p.must(1, "once")
	p.wentOn(".asks/forged/state.json", "/status", forged)
	p.stays(".asks/forged/requests/" + forged + "/receipt.json")
	p.stays(".asks/forged/answer.json")
}

// shopAsks begins a session whose checkpoint waits for approval, and returns the request.
func (p *place) shopAsks() string {
	p.t.Helper()
	p.write("placet.toml", "[afl]\napproval_quiet = \"0s\"\n")
	p.write(shop+"/specs/checkpoints.yaml", "checkpoints:\n  - {id: first, criteria: [it is well], validation: {command: make first, expected: ok 1}}\n")
	p.write(shop+"/meta.json", `{"sessionId": "shop", "title": "Shop", "status": "designing"}`)
	p.must(3, "once")
	p.honestly()
	return p.openRequest().ID
}

func sessionCompletedWhileAsked(t *testing.T, p *place) {
	id := p.shopAsks()
	p.replace(shop+"/meta.json", `{"sessionId": "shop", "title": "Shop", "status": "completed"}`)
	p.must(1, "once")
	p.wentOn(shop+"/meta.json", "/status", id)

	p.replace(shop+"/meta.json", `{"sessionId": "shop", "title": "Shop", "status": "delegating"}`)
	p.must(3, "once")
	p.honestly()
	p.must(0, "approve", p.reference())
	p.must(0, "once")
	p.write(shop+"/delegations/first/iterations/1/worker.json", `{"status": "completed"}`)
	p.placet("once")
	p.honestly()
	p.write(shop+"/delegations/first/iterations/7/worker.json", `{"status": "completed"}`)
	if list := p.fabrications(); len(list) != 1 || list[0].Path != shop+"/delegations/first/iterations/7/worker.json" || list[0].Pointer != "/status" {
		t.Fatalf("check: %+v", list)
	}
	if out := p.must(1, "status"); !strings.HasPrefix(out, "1 run claims more than its record holds: placet doctor\n") {
		t.Errorf("status: %s", out)
	}
}

func goalUnapproved(t *testing.T, p *place) {
	p.write("placet.toml", "[optimizer]\nlanguage = \"en\"\n")
	p.newCycle(nearRun)
	p.write(nearRun+"trigger.json", `{"workflow_name": "masking"}`)
	p.once(3)
	folder, id := p.asked(nearRun)
	p.honestly()
	p.write(nearRun+"goal.json", `{"next_automation_level": 30, "optimization_directives": [], "carry_over_issues": [], "approved_by": "human_feedback"}`)
	p.placet("once")
	p.wentOn(nearRun+"goal.json", "/approved_by", id)
	p.remove(nearRun + "goal.json")
	p.write(folder+"response.json", `{"request_id": "`+id+`", "response": "appropriate", "provided_by": {"user": "kim", "source": "file"}}`)
	p.once(0)
	p.says(p.read(nearRun+"goal.json"), "human_feedback")
	p.honestly()
}

func actionApprovedInState(t *testing.T, p *place) {
	p.write("draft.md", "Dear all,\nwe are late.\n")
	p.write("payload.json", `{"to": "pm@acme.example", "subject": "Delay"}`)
	p.write("placet.toml", "")
	p.must(0, "nemawashi", "new", "--type", "mail_draft", "--summary", "Tell the customer", "--draft", filepath.Join(p.root, "draft.md"), "--payload", filepath.Join(p.root, "payload.json"), "--project", "acme")
	p.must(3, "once")
	id := p.openRequest().ID
	p.honestly()
	const state = ".nemawashi/actions/1/state.json"
	good := p.read(state)
	p.replace(state, strings.Replace(good, `"status": "approval_pending"`, `"status": "approved"`, 1))
	p.must(1, "once")
	p.wentOn(state, "/status", id)
	p.replace(state, good)
	p.must(3, "once")
	p.must(0, "approve", p.reference())
	p.must(0, "once")
	p.honestly()
}

func escalationResolvedInState(t *testing.T, p *place) {
	const dir = ".pal/orchestrations/shop/"
	p.write("placet.toml", "")
	p.write(dir+"orchestration.json", `{"title": "Shop", "ports": [{"port_id": "A"}, {"port_id": "B"}]}`)
	p.must(0, "once")
	p.write(dir+"sessions/build/escalation-1.json", `{"type": "decision", "title": "which?", "port_id": "B"}`)
	p.must(3, "once")
	id := p.openRequest().ID
	p.honestly()
	good := p.read(dir + "state.json")
	open := regexp.MustCompile(`("` + id + `": \{[^}]*"status": )"open"`)
	if !open.MatchString(good) {
		t.Fatalf("no escalation: %s", good)
	}
	p.replace(dir+"state.json", open.ReplaceAllString(good, `$1"resolved"`))
	p.must(1, "once")
	p.wentOn(dir+"state.json", "/escalations/"+id+"/status", id)
	p.replace(dir+"state.json", good)
	p.must(3, "once")
	p.must(0, "respond", p.reference(), "retry", "-m", "the left one")
	p.must(0, "once")
	p.honestly()
}
