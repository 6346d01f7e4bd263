package optimizer

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"placet/engine"
)

var (
	// english matches two consecutive words.
	english = regexp.MustCompile(`[A-Za-z']{2,} [a-z']{2,}`)
	// foreign matches commands to type, values of several words, and sentences of other packages.
	foreign = regexp.MustCompile("placet (optimizer( [a-z]+)?|trust)|front matter|database is locked.*|: (line \\d+, column \\d+|\\d+번째 줄, \\d+번째 칸): .*|[a-z]+(, s\\d)* by kim|nobody answered until the deadline|The request `hitl-[0-9a-f]+` passed [^\\n]*")
)

// inKorean checks that everything that people read of the run is Korean, except values.
func (d *desk) inKorean(where string) {
	d.T.Helper()
	a := d.account()
	texts := slices.Concat(a.Why, a.WaitsFor)
	for _, u := range a.Unblock {
		texts = append(texts, u.Content)
	}
	facts := slices.Clone(a.Facts)
	for _, p := range a.Parts {
		facts = append(facts, p.Facts...)
		for _, s := range p.Sections {
			texts = append(texts, s.Title, s.Text)
		}
	}
	for _, f := range facts {
		texts = append(texts, f.Value)
		if regexp.MustCompile(`[a-z]`).MatchString(f.Label) {
			d.T.Errorf("%s: the label %q is English", where, f.Label)
		}
	}
	for _, f := range a.Findings {
		texts = append(texts, f.Text)
	}
	for _, e := range a.Log {
		texts = append(texts, e.Message)
	}
	for _, q := range a.Open {
		texts = append(texts, q.Where, q.Summary, q.NoReject)
	}
	for _, note := range d.notes() {
		texts = append(texts, d.noteBody(note))
	}
	for _, text := range texts {
		if words := english.FindString(foreign.ReplaceAllString(text, "")); words != "" {
			d.T.Errorf("%s: %q is English in\n%s", where, words, text)
		}
	}
}

// TestLanguages covers the cases of the laws. This test covers bad files that none of them has,
// with the default settings: everything that people read is Korean, except values.
func TestWhatPeopleReadIsInTheLanguageOfTheCycle(t *testing.T) {
	tellWith(t, korean, func(d *desk) {
		settle := func(where string) { d.T.Helper(); d.Settle(); d.inKorean(where) }
		write := func(rel, body, where string) { d.T.Helper(); d.write(rel, body); settle(where) }
		usage := func(body string) { d.Put("docs/usage/"+flow+".md", body) }
		d.Put(".mso-context/active/"+runA+"/README.md", "")
		d.inKorean("no cycle")
		write("trigger.json", triggerOf(flow, `"current_metrics": {"f1": "x"}`), "a trigger that cannot be used")
		d.trigger(`"created_by": "kim"`, `"timeout_reentries": 4`, `"optimization_goal": "빠르게"`)
		d.pass(time.Second)
		d.inKorean("a trigger")
		settle("too many cycles")
		d.respond(typeCap, `"response": "continue"`)
		settle("goes on")
		d.write("inputs/assets.json", `{"criteria_fixed": "yes"}`)
		d.write("inputs/kpi.json", `{"treshold": 1, "other": 2, "metrics": [{"name": "a"}, {"name": "a"}]}`)
		usage("---\nkpi: 3\n---\n")
		settle("inputs that cannot be used")
		d.write("inputs/kpi.json", `{"metrics": [{"name": "n", "unit": "number", "direction": "down", "value": 3}, {"name": "a", "value": 1, "target": 2}, {"name": "e"}]}`)
		usage("---\nkpi: {metrics: {x: {unit: number, gate: true}}}\n---\n")
		d.assets(20)
		settle("a usage document that cannot be used")
		usage("")
		settle("data are awaited")
		for _, data := range []string{"", "{}\n", "\n\n", goodRecord + "\n\n", `{"record_id": "r", "metric": "m"}` + "\n", strings.Replace(goodRecord, "null", `"x"`, 1) + "\n", goodRecord, "a\x00b"} {
			d.write("retrieved.jsonl", data)
			d.pass(time.Minute)
			settle("data: " + data)
		}
		write("retrieved.jsonl", retrievedLines, "suggestions are awaited")
		write("suggestions.json", `{"suggestions": [{"text": "a"}, {"text": "a"}]}`, "suggestions that cannot be used")
		d.write("level20_report.md", "# mine\n")
		write("suggestions.json", threeSuggestions, "a report of somebody else's")
		d.unlink("level20_report.md")
		settle("asked")
		d.write("trigger.json", `{"workflow_name": "other"}`)
		write("goal.json", `{}`, "a goal of somebody else's")
		d.unlink("goal.json")
		d.trigger(`"created_by": "kim"`, `"timeout_reentries": 4`, `"optimization_goal": "빠르게"`)
		report := d.read("level20_report.md")
		write("level20_report.md", "changed", "a report that was changed")
		d.write("level20_report.md", report)
		d.respond(typeHITL, `"response": "raise"`, `"comment": "자주"`, fmt.Sprintf(`"artifacts": [{"path": %q, "sha256": %q}]`, badRun+"/level20_report.md", engine.Sum([]byte(report)).Hex()))
		settle("answered")
		d.write("stop.json", `{"reason": "그만"}`)
		d.write("goal.json", strings.Replace(d.read("goal.json"), "30", "10", 1))
		d.pass(time.Minute)
		settle("a goal that was changed, and a late stop")
	})
}
