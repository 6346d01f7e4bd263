package optimizer

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"placet/engine"
)

var (
	// english are two words, one after the other.
	english = regexp.MustCompile(`[A-Za-z']{2,} [a-z']{2,}`)
	// foreign are commands to type, values of several words, and what other packages say.
	foreign = regexp.MustCompile("placet (optimizer( [a-z]+)?|trust)|front matter|database is locked.*|: (line \\d+, column \\d+|\\d+번째 줄, \\d+번째 칸): .*|[a-z]+(, s\\d)* by kim|nobody answered until the deadline|The request `hitl-[0-9a-f]+` passed [^\\n]*")
)

// inKorean expects that nothing that people read of the run in hand is English but values.
func (d *desk) inKorean(where string) {
	d.T.Helper()
	a := d.account()
	texts := slices.Concat(a.Why, a.WaitsFor)
	for _, u := range a.Unblock {
		texts = append(texts, u.Content)
	}
	facts := func(list []engine.Fact) {
		for _, f := range list {
			texts = append(texts, f.Value)
			if regexp.MustCompile(`[a-z]`).MatchString(f.Label) {
				d.T.Errorf("%s: the label %q is English", where, f.Label)
			}
		}
	}
	facts(a.Facts)
	for _, p := range a.Parts {
		facts(p.Facts)
		for _, s := range p.Sections {
			texts = append(texts, s.Title, s.Text)
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
	if d.there("state.json") && a.Status != "unreadable" {
		for _, q := range d.state().Requests {
			texts = append(texts, string(q.Reason))
		}
	}
	for _, text := range texts {
		if words := english.FindString(foreign.ReplaceAllString(text, "")); words != "" {
			d.T.Errorf("%s: %q is English in\n%s", where, words, text)
		}
	}
}

// With the default settings all that people read of a cycle is Korean but values.
func TestWhatPeopleReadIsInTheLanguageOfTheCycle(t *testing.T) {
	settle := func(d *desk, where string) { d.Settle(); d.inKorean(where) }
	for name, story := range map[string]func(d *desk){
		"inputs": func(d *desk) {
			d.Put(".mso-context/active/"+runA+"/README.md", "")
			d.inKorean("no cycle")
			d.trigger(`"current_metrics": {"f1": "x"}`)
			settle(d, "a trigger that cannot be used")
			d.trigger(`"created_by": "kim"`, `"timeout_reentries": 4`, `"optimization_goal": "빠르게"`)
			d.pass(time.Second)
			d.inKorean("a trigger")
			settle(d, "too many cycles")
			d.respond(typeCap, `"response": "continue"`)
			settle(d, "goes on")
			d.write("inputs/assets.json", `{"criteria_fixed": "yes"}`)
			d.write("inputs/kpi.json", `{"treshold": 1, "other": 2, "metrics": [{"name": "a"}, {"name": "a"}]}`)
			d.Put("docs/usage/"+flow+".md", "---\nkpi: 3\n---\n")
			settle(d, "inputs that cannot be used")
			d.write("inputs/kpi.json", `{"metrics": [{"name": "n", "unit": "number", "direction": "down", "value": 3}, {"name": "a", "value": 1, "target": 2}, {"name": "e"}]}`)
			d.Put("docs/usage/"+flow+".md", "---\nkpi: {metrics: {x: {unit: number, gate: true}}}\n---\n")
			d.assets(20)
			settle(d, "a usage document that cannot be used")
			d.Put("docs/usage/"+flow+".md", "")
			settle(d, "data are awaited")
			for _, data := range []string{"", "{}\n", "\n\n", goodRecord + "\n\n", `{"record_id": "r", "metric": "m"}` + "\n", strings.Replace(goodRecord, "null", `"x"`, 1) + "\n", goodRecord, "a\x00b"} {
				d.write("retrieved.jsonl", data)
				d.pass(time.Minute)
				settle(d, "data: "+data)
			}
			d.write("retrieved.jsonl", retrievedLines)
			settle(d, "suggestions are awaited")
			d.write("suggestions.json", `{"suggestions": [{"text": "a"}, {"text": "a"}]}`)
			settle(d, "suggestions that cannot be used")
			d.write("level20_report.md", "# mine\n")
			d.write("suggestions.json", threeSuggestions)
			settle(d, "a report of somebody else's")
			d.unlink("level20_report.md")
			settle(d, "asked")
			d.write("trigger.json", `{"workflow_name": "other"}`)
			d.write("goal.json", `{}`)
			settle(d, "a goal of somebody else's")
			d.unlink("goal.json")
			d.trigger(`"created_by": "kim"`, `"timeout_reentries": 4`, `"optimization_goal": "빠르게"`)
			report := d.read("level20_report.md")
			d.write("level20_report.md", "changed")
			settle(d, "a report that was changed")
			d.write("level20_report.md", report)
			d.respond(typeHITL, `"response": "raise"`, `"comment": "자주"`)
			settle(d, "answered")
			d.write("stop.json", `{"reason": "그만"}`)
			d.write("goal.json", strings.Replace(d.read("goal.json"), "30", "10", 1))
			d.pass(time.Minute)
			settle(d, "a goal that was changed, and a late stop")
		},
		"silence": func(d *desk) {
			d.level10()
			d.inKorean("asked")
			d.pass(49 * time.Hour)
			settle(d, "nobody answered")
			d.respond(typeHITL, `"response": "lower"`, `"comment": "늦음"`)
			settle(d, "a late answer")
		},
		"attempts": func(d *desk) {
			d.config(func(c *Config) { withCommands(nil)(c) })
			d.trigger()
			settle(d, "an untrusted command")
			d.trust(evaluate, analyse)
			settle(d, "it runs")
			d.Restart()
			d.EndCommand("level/30-1", engine.Ended{Result: "lost"})
			settle(d, "nobody knows how it ended")
			d.respond(typeUnknown, `"response": "demote"`)
			settle(d, "demoted")
			d.EndCommand("level/20-1", exited(0, "x\n"))
			settle(d, "demoted again")
			d.holds("attempts/20-1.outcome.json", "올바른 retrieved.jsonl")
			d.write("stop.json", `{"reason": "그만", "by": "kim"}`)
			settle(d, "stopped")
		},
		"rows": func(d *desk) {
			d.assets(10)
			d.trigger()
			d.Lock(theDB, true)
			for range 14 {
				settle(d, "a locked database")
				d.pass(3 * time.Minute)
			}
			d.Lock(theDB, false)
			settle(d, "unlocked")
		},
		"a folder's name": func(d *desk) {
			const dir = ".mso-context/active/20260302-MSOWD-x"
			d.Put(dir+"/optimizer/trigger.json", triggerOf(flow))
			d.Settle()
			a := d.Account(dir)
			for _, text := range append(slices.Concat(a.Why, a.WaitsFor), a.Unblock[0].Content, a.Findings[0].Text, d.Read(dir+"/optimizer/trigger.json.problem.md")) {
				if english.MatchString(text) {
					d.T.Error(text)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) { tellWith(t, korean, story) })
	}
}
