package nemawashi

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/internal/enginetest"
	"placet/layout"
)

// slackStage returns the stage of an action whose approval is being posted to Slack for the first
// time.
func slackStage(t *testing.T) *enginetest.Stage {
	t.Helper()
	run, _ := layout.Nemawashi{}.At(dir + "/state.json")
	config := laws().Config
	config.Slack = engine.Slack{Families: []string{"nemawashi"}, API: "https://slack.example/api", Channel: "C1", HasToken: true, Buttons: true}
	s := enginetest.NewStage(t, New(), layout.Nemawashi{}, run, config)
	s.Now = now
	s.Write("action.json", mailAction)
	s.Write("drafts/v1.md", draft)
	if s.Settle(); len(s.Begun) != 1 || !strings.HasSuffix(s.Begun[0].ID, "/ask/1") {
		t.Fatalf("it begins %+v", s.Begun)
	}
	return s
}

// posted ends the attempt of a number to post the approval of a stage.
func posted(s *enginetest.Stage, n int, outcome, more string) {
	id := strings.TrimPrefix(open(s.Files, "apr-"), dir+"/requests/")
	at := s.Now.UTC().Format(time.RFC3339)
	s.Write(fmt.Sprintf("requests/%s/slack/ask/outcome-%d.json", id, n), fmt.Sprintf(
		`{"request_id": %q, "kind": "ask", "attempt": %d, "started_at": %q, "finished_at": %q, "duration_ms": 5, "outcome": %q, "code": null, "response": null%s}`,
		id, n, at, at, outcome, more))
	clear(s.Facts.Alive)
	s.Settle()
}

// passes lets time pass.
func passes(s *enginetest.Stage, by time.Duration) {
	s.Now = s.Now.Add(by)
	s.Settle()
}

// A message that Slack certainly did not accept is tried three times, a minute apart.
func TestAMessageThatFailedIsTriedThreeTimes(t *testing.T) {
	s := slackStage(t)
	for n := 1; n <= 3; n++ {
		if len(s.Begun) != n || s.Begun[n-1].Recorded {
			t.Fatalf("before attempt %d has ended it begins %+v", n, s.Begun)
		}
		posted(s, n, engine.SendFailed, "")
		if passes(s, 55*time.Second); len(s.Begun) != n {
			t.Fatalf("%d attempts within a minute", len(s.Begun))
		}
		passes(s, 6*time.Second)
	}
	if passes(s, 48*time.Hour); len(s.Begun) != 3 {
		t.Errorf("%d attempts", len(s.Begun))
	}
}

// Slack says when placet may try again.
func TestAMessageWaitsAsLongAsSlackSays(t *testing.T) {
	s := slackStage(t)
	posted(s, 1, engine.SendFailed, `, "retry_after_seconds": 300`)
	if passes(s, 295*time.Second); len(s.Begun) != 1 {
		t.Fatal("it was tried again before Slack wants it")
	}
	if passes(s, 6*time.Second); len(s.Begun) != 2 {
		t.Fatal("it was not tried again")
	}
}

// A message that may have arrived, or was refused, is never sent again.
func TestAMessageThatMayHaveArrivedIsNotSentAgain(t *testing.T) {
	for _, outcome := range []string{engine.SendUnknown, engine.SendLost, engine.SendRefused, engine.SendNotStarted} {
		s := slackStage(t)
		posted(s, 1, outcome, "")
		for _, by := range []time.Duration{time.Second, 62 * time.Second, 48 * time.Hour} {
			if passes(s, by); len(s.Begun) != 1 {
				t.Errorf("%s: it begins %+v", outcome, s.Begun[1:])
			}
		}
	}
}

// An attempt that a kill interrupted counts as lost at its deadline, and is not repeated.
func TestAMessageThatAKillHasCutIsLost(t *testing.T) {
	s := slackStage(t)
	clear(s.Facts.Alive)
	if passes(s, 29*time.Second); len(s.Begun) != 1 {
		t.Fatalf("before the deadline it begins %+v", s.Begun[1:])
	}
	if passes(s, 3*time.Second); len(s.Begun) != 2 || !s.Begun[1].Recorded || s.Begun[1].ID != s.Begun[0].ID {
		t.Fatalf("at the deadline it begins %+v", s.Begun[1:])
	}
	posted(s, 1, engine.SendLost, "")
	if passes(s, 48*time.Hour); len(s.Begun) != 2 {
		t.Errorf("it begins %+v", s.Begun[2:])
	}
}

// The state says where the open approval is in Slack as soon as it is there, and never where the
// one before is.
func TestTheStateSaysWhereTheApprovalIs(t *testing.T) {
	plays(t, onSlack(story("", mailAction)), func(d *storyDesk) {
		slack := func(what, want string) {
			d.T.Helper()
			st, err := ReadState("state.json", []byte(d.Read(dir+"/state.json")))
			if err != nil {
				d.T.Fatal(err)
			}
			if got := strings.Join(strings.Fields(string(st.Slack)), ""); got != want {
				d.T.Errorf("%s: slack is %s, expected %s", what, got, want)
			}
		}
		d.takes()
		slack("before it is posted", "null")
		d.takes(inSlack("1700000000.000001"))
		slack("posted", `{"channel":"C1","message_ts":"1700000000.000001","thread_ts":"1700000000.000001"}`)
		d.takes(responds("apr-", `"response": "steer", "comment": "softer tone"`))
		slack("asked anew", "null")
		d.takes(inSlack("1700000000.000002"))
		slack("posted anew", `{"channel":"C1","message_ts":"1700000000.000002","thread_ts":"1700000000.000001"}`)
	})
}
