package cli_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// optionAttacks are requests that upstream accepts and no form can show.
var optionAttacks = []attack{
	{"options that no form can offer", "upstream asks with options that are alike, empty, invisible, the form's own words or too many", func(t *testing.T, p *place) {
		many := make([]string, 1001)
		for i := range many {
			many[i] = fmt.Sprintf("option%d", i)
		}
		bad := []struct {
			options []string
			says    []string
		}{
			{[]string{"Yes", "yes"}, []string{`both "Yes" and "yes"`}},
			{[]string{"option_a", "option-a"}, []string{`both "option_a" and "option-a"`}},
			{[]string{"a", ""}, []string{"without a name"}},
			{[]string{"a", " \u00a0"}, []string{"without a name"}},
			{[]string{"a", "\t"}, []string{"without a name"}},
			{[]string{"a\tb", "c"}, []string{`"a\tb"`, "control"}},
			{[]string{"a\nb", "c"}, []string{`"a\nb"`, "line ends"}},
			{[]string{"a", "a\u200d"}, []string{`"a\u200d"`, "invisible"}},
			{[]string{"a", "submit this answer"}, []string{`"submit this answer"`, "last item"}},
			{[]string{"a", "Submit_this answer: now"}, []string{`"Submit_this answer: now"`, "last item"}},
			{[]string{"yes", "yes: and now"}, []string{`both "yes" and "yes: and now"`}},
			{many, []string{"1001 options", "1000"}},
		}
		for i, b := range bad {
			p.asksAs(i, map[string]any{"options": b.options})
		}
		p.asksAs(len(bad), map[string]any{"options": []string{"a", "b"}, "context": map[string]any{"artifact_path": strings.Repeat("(", 120000)}})
		bad = append(bad, struct{ options, says []string }{nil, []string{"cannot write the form"}})
		p.asksAs(len(bad), map[string]any{"options": []string{"a", "b"}})

		d := p.start()
		defer d.stop(syscall.SIGINT)
		p.await(d)
		for i, b := range bad {
			note := p.runs[i] + "/state.json.problem.md"
			p.until("a note", func() bool { return p.there(note) })
			p.says(p.read(note), b.says...)
			p.stays(p.request(i) + "/request.json")
			if n := strings.Count(d.said(), p.runs[i][len(p.runs[i])-36:]); n > 1 {
				t.Errorf("said %d times of %q:\n%s", n, b.options, d.said())
			}
		}
		if said := d.said(); strings.Contains(said, "panic") {
			t.Errorf("the machine panicked:\n%s", said)
		}
		honest := len(bad)
		p.until("the run beside them asks", func() bool { return p.there(p.request(honest) + "/form.md") })
		p.asksAs(0, map[string]any{"options": []string{"yes", "no"}})
		p.until("the corrected options are asked", func() bool {
			return p.there(p.request(0)+"/form.md") && !p.there(p.runs[0]+"/state.json.problem.md")
		})
	}},
	{"an id in other letters", "upstream asks anew under the id of an answered request in other letters, which a disk that folds case takes for the same folder", func(t *testing.T, p *place) {
		p.askedOnce(t)
		p.write(p.request(0)+"/form.md", p.ticked(0, "request_changes")+"\nUse UTF-8\n")
		if !p.onceMoved(0) {
			t.Fatal(p.problem())
		}
		state, receipt := p.runs[0]+"/state.json", p.read(p.request(0)+"/receipt.json")
		asks := func(id string) {
			p.edit(state, `"status": "in_progress",`, `"status": "awaiting_feedback", "feedback_request": {"request_id": "`+id+`", "type": "approval", "prompt": "And now?"},`)
			p.placet("once")
		}
		asked := p.read(state)
		id := strings.ToUpper(p.requestID(0))
		asks(id)
		p.says(p.read(state+".problem.md"), id, p.requestID(0), "only in case")
		p.stays(p.runs[0] + "/requests/" + id)
		if out, _ := p.placet("status"); !strings.Contains(out, "only in case") {
			t.Errorf("status says nothing of it: %s", out)
		}
		if p.read(p.request(0)+"/receipt.json") != receipt {
			t.Error("the receipt of the answered request was changed")
		}
		p.write(state, asked)
		asks("fr-20261120-000009")
		if p.there(state+".problem.md") || !p.there(p.runs[0]+"/requests/fr-20261120-000009/form.md") {
			t.Errorf("under an id of its own it is not asked: %s", p.read(state+".problem.md"))
		}
	}},
}

// asksAs makes the run of a number, from 0, ask with further members of its request.
func (p *place) asksAs(i int, members map[string]any) {
	p.t.Helper()
	uuid := fmt.Sprintf("%08x-0000-4000-8000-%012x", i+1, i+1)
	for len(p.runs) <= i {
		p.runs = append(p.runs, ".fractary/faber/runs/acme/web/"+uuid)
	}
	request := map[string]any{"request_id": p.requestID(i), "type": "selection", "prompt": "Which?", "requested_at": "2026-11-20T10:00:00Z"}
	for name, value := range members {
		request[name] = value
	}
	body, err := json.Marshal(map[string]any{
		"run_id": "acme/web/" + uuid, "status": "awaiting_feedback", "current_phase": "architect", "current_step": "design-review",
		"updated_at": "2026-11-20T10:00:00Z", "feedback_request": request,
		"phases": map[string]any{"architect": map[string]any{"status": "in_progress", "steps": []any{map[string]any{"id": "design-review", "status": "in_progress"}}}},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.write(p.runs[i]+"/state.json", string(body))
}
