package optimizer

import (
	"path"
	"strings"
	"testing"
	"time"

	"placet/engine"
)

// What a workflow's own table says holds for it, and what holds when the cycle begins
// holds to its end.
func TestAWorkflowsOwnSettings(t *testing.T) {
	tellWith(t, func(c *Config) {
		c.Workflows = map[string]Workflow{flow: {Language: ptr("en"), HITLTimeout: ptr("1h"), InputsWait: ptr("1m"), GateThreshold: ptr(60.0)}}
	}, func(d *desk) {
		d.write("inputs/kpi.json", `{"metrics": [{"name": "m", "value": 66}]}`)
		d.trigger()
		d.goes(triggered, collected)
		d.config(func(c *Config) { c.Workflows = nil; c.Language = "ko" })
		d.pass(time.Minute)
		d.config(func(c *Config) {
			c.Workflows = map[string]Workflow{flow: {HITLTimeout: ptr("1h"), GateThreshold: ptr(60.0)}}
		})
		d.goes(decided, reported, recorded)
		st := d.state()
		if st.Lang != "en" || *st.KPI[0].Threshold != 60 || st.Deadline.Time().Sub(st.Last.At.Time()) != time.Hour {
			t.Errorf("the state is %s, %v, %s", st.Lang, *st.KPI[0].Threshold, st.Deadline)
		}
		d.holds("level10_report.md", "## Run summary")
		other := d.on(runB)
		other.write("trigger.json", triggerOf("another"))
		other.Settle()
		if st := other.state(); st.Lang != "ko" || st.InputsUntil.Time().Sub(st.Last.At.Time()) != 10*time.Minute {
			t.Errorf("another workflow has %s, %s", st.Lang, st.InputsUntil)
		}
	})
}

func TestNoResultIsWrittenWhereNobodyWantsIt(t *testing.T) {
	tellWith(t, func(c *Config) { c.WriteResult = false }, func(d *desk) {
		d.level20()
		d.tick("raise", "submit")
		d.goes(answered)
		if d.there("optimizer_result.json") {
			t.Error("there is one")
		}
	})
}

func TestTheDatabaseLiesWhereTheSettingSays(t *testing.T) {
	tellWith(t, func(c *Config) { c.AuditDB = "{root}/{run_id}/50_audit/agent_log.db" }, func(d *desk) {
		d.level20()
		if at := path.Join(".mso-context", runA, "50_audit/agent_log.db"); len(d.Rows(at)) != 1 || len(d.Rows(theDB)) != 0 {
			t.Errorf("in %s are %v, in the root's %v", at, d.Rows(at), d.Rows(theDB))
		}
	})
}

// Where no re-entry by silence may follow another, the first asks.
func TestTheCapMayBeZero(t *testing.T) {
	tellWith(t, func(c *Config) { c.MaxTimeoutReentries = 0 }, func(d *desk) {
		d.level10()
		d.pass(49 * time.Hour)
		d.goes(timedOut)
		d.pass(time.Minute)
		b := d.on(runB)
		b.assets(10)
		b.manifest("completed", 0, "workflow:"+flow)
		d.goes(triggered)
		b.asked(typeCap)
	})
}

// The first valid late answer counts, and no later one.
func TestScenario07TheFirstLateAnswerCounts(t *testing.T) {
	tell(t, func(d *desk) {
		d.level20()
		d.pass(49 * time.Hour)
		d.goes(timedOut)
		late := "requests/" + d.asked(typeHITL) + "/late.json"
		d.tick("raise", "lower", "submit")
		d.goes()
		if d.there(late) || len(d.rows(userFeedback)) != 0 {
			t.Error("an invalid answer was kept")
		}
		d.unlink(d.request(typeHITL, "form.md"))
		d.respond(typeHITL, `"response": "lower"`)
		d.goes()
		first := d.read(late)
		d.respond(typeHITL, `"response": "raise"`, `"comment": "doch"`)
		d.pass(time.Hour)
		d.goes()
		if d.read(late) != first || !strings.Contains(first, `"response": "lower"`) || len(d.rows(userFeedback)) != 1 {
			t.Errorf("kept is %s, then %s; the rows are %v", first, d.read(late), d.rows(userFeedback))
		}
	})
}

func TestScenario17AnAttemptIsLostAgain(t *testing.T) {
	tellWith(t, withCommands(nil), func(d *desk) {
		d.trust(evaluate)
		d.trigger()
		d.Settle()
		d.EndCommand("level/30-1", engine.Ended{Result: "lost"})
		d.goes()
		first := d.asked(typeUnknown)
		d.respond(typeUnknown, `"response": "retry"`)
		d.goes(retried)
		d.EndCommand("level/30-2", engine.Ended{Result: "lost"})
		d.goes()
		if second := d.asked(typeUnknown); second == first {
			t.Fatal("the second loss asks nobody")
		}
		d.respond(typeUnknown, `"response": "demote"`)
		d.goes(demoted)
		d.noted()
	})
}

// underWay is a stage on which the command of level 30 runs, and its id.
func underWay(t *testing.T) (s *stage, id string) {
	t.Helper()
	s = newStage(t)
	s.Facts.Config.Family = configOf(withCommands(nil))
	s.Facts.Trusted[CommandDigest(evaluate)] = true
	s.Write("trigger.json", triggerOf(flow))
	for range 40 {
		s.Step()
		for _, a := range s.Begun {
			if a.Database != nil && s.Facts.Alive[a.ID] {
				s.End(a.ID, engine.Ended{Result: "absent"})
			}
		}
	}
	if !s.Has("attempts/30-1.json") || len(s.Facts.Alive) != 1 {
		t.Fatalf("under way: %v", s.Facts.Alive)
	}
	for id = range s.Facts.Alive {
	}
	return s, id
}

// What an orderly stop of placet ended begins again with the next one, unasked and
// uncounted.
func TestACommandThatWasStoppedWithPlacetBeginsAgain(t *testing.T) {
	s, id := underWay(t)
	clear(s.Facts.Alive) // another process
	s.Facts.Ended = map[string]engine.Ended{id: {Result: "stopped"}}
	_, p := s.Full()
	if len(p.Writes) != 0 || len(p.Ends) != 0 || len(p.Actions) != 1 || p.Actions[0].ID != id || p.Actions[0].Recorded {
		t.Errorf("planned %+v", p)
	}
}

// While placet is down a command is not under way: its attempt is unknown to the next.
func TestScenario17AnAttemptOfAnEarlierProcess(t *testing.T) {
	s, _ := underWay(t)
	clear(s.Facts.Alive) // another process
	s.Settle()
	if body := s.Read("attempts/30-1.outcome.json"); !strings.Contains(body, `"result": "unknown"`) {
		t.Errorf("the outcome is %s", body)
	}
	if q := s.find("request.json"); !strings.Contains(q, "/attempt_unknown-") {
		t.Errorf("asked is %q", q)
	}
}
