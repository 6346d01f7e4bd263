package exec

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/internal/await"
	"placet/layout"
)

// recorded is an action whose attempt an earlier commit recorded.
func recorded(a engine.Action) engine.Action {
	a.Recorded = true
	return a
}

func TestARecordedAttemptThatNobodyKnowsIsLost(t *testing.T) {
	t.Parallel()
	for _, make := range []func(*testing.T, string, ...string) engine.Action{shell, agent} {
		b := newBench(t, RunnerOptions{})
		if err := b.Recover(); err != nil {
			t.Fatal(err)
		}
		a := recorded(make(t, "echo > ran"))
		b.Begin(a)
		if b.Alive()[a.ID] {
			t.Error("it counts as alive")
		}
		got := b.outcome(a)
		if got.Outcome != "lost" || got.code() != -1 || got.Reason == "" || got.Action != t.Name() {
			t.Errorf("%+v; want lost, with its fields and a reason", got)
		}
		b.Begin(a)
		if b.has("ran") || len(b.folders()) != 0 {
			t.Error("it ran, or left a folder behind")
		}
	}
}

func TestARecordedAttemptOfThisProcessGoesOn(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{})
	a := shell(t, "echo > up; read line < gate; exit 6")
	gate(t, b.root, "gate")
	b.Begin(a)
	await.Until(t, "it runs", func() bool { return b.has("up") })
	b.Begin(recorded(a))
	if b.has(a.Outcome) {
		t.Fatal("it was given up although it runs")
	}
	open(t, filepath.Join(b.root, "gate"))
	if got := b.do(recorded(a)); got.Outcome != "finished" || got.code() != 6 {
		t.Errorf("outcome %q, exit code %d", got.Outcome, got.code())
	}
}

func TestARecordedAttemptThatIsKnownAgainGoesOn(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	gates(t, root)
	killedPlacet(t, root, patient)
	b := benchAt(t, root, RunnerOptions{})
	if err := b.Recover(); err != nil {
		t.Fatal(err)
	}
	again := engine.Action{ID: "agent", Outcome: "run/agent.json", Command: engine.Command{Argv: []string{"touch", "twice"}, Agent: true}}
	b.Begin(recorded(again))
	if !b.Alive()["agent"] || b.has(again.Outcome) {
		t.Fatal("it was given up although it runs")
	}
	open(t, filepath.Join(root, "agent"))
	if got := b.do(recorded(again)); got.Outcome != "finished" || b.has("twice") {
		t.Errorf("outcome %q, ran twice: %t", got.Outcome, b.has("twice"))
	}
}

func TestWhilePlacetStopsNoRecordedAttemptIsGivenUp(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{})
	if err := b.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	a := recorded(shell(t, "echo > ran"))
	b.Begin(a)
	if b.has("run") || b.has("ran") || b.Alive()[a.ID] {
		t.Error("something was written, or it counts as alive")
	}
	if err := b.Stop(t.Context()); err != nil {
		t.Errorf("a second stop: %v", err)
	}
	next := benchAt(t, b.root, RunnerOptions{})
	if got := next.do(a); got.Outcome != "lost" {
		t.Errorf("outcome %q, want lost from the next placet", got.Outcome)
	}
}

func TestALostAttemptsOutcomeIsTriedAgainAndNeverReplaced(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{})
	a := recorded(shell(t, "exit 0"))
	put(t, b.root, filepath.Dir(a.Outcome), "a file in the folder's place")
	b.Begin(a)
	if !b.Alive()[a.ID] {
		t.Error("it counts as over although no outcome is recorded")
	}
	if err := os.Remove(filepath.Join(b.root, filepath.Dir(a.Outcome))); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the outcome is there", func() bool { return b.has(a.Outcome) })

	a.ID, a.Outcome = "another", "run/another.json"
	put(t, b.root, a.Outcome, `{"outcome":"finished"}`)
	if got := b.do(a); got.Outcome != "finished" {
		t.Errorf("outcome %q, want the one that stood there", got.Outcome)
	}
}

func TestARecordHoldsWhatTheOutcomeNeeds(t *testing.T) {
	t.Parallel()
	a := agent(t, "exit 0")
	a.Kind, a.Judge, a.Expected, a.Tail = "validation", true, "4 passing", 16<<10
	a.Command.Timeout = time.Minute
	rec, err := newRecord(a, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	rec.Cwd = "trees/a"
	body, err := json.Marshal(rec)
	if err != nil {
		t.Fatal(err)
	}
	var again record
	if err := json.Unmarshal(body, &again); err != nil {
		t.Fatal(err)
	}
	got := again.action()
	if len(got.Fields) != 1 || got.Fields[0].Name != a.Fields[0].Name {
		t.Errorf("fields: %v", got.Fields)
	}
	got.Fields = a.Fields
	a.Command = engine.Command{Argv: a.Command.Argv, Agent: true, Timeout: time.Minute, Dir: "trees/a"}
	if diff := cmp.Diff(a, got); diff != "" {
		t.Errorf("the action (-begun +known again):\n%s", diff)
	}
	if old := (record{}).action().Kind; old != layout.FaberOutcome {
		t.Errorf("a record without a kind is of the kind %q, want FABER's", old)
	}
}

func TestAnAgentThatIsKnownAgainTellsWhatWasAskedOfIt(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "trees/a"), 0o777); err != nil {
		t.Fatal(err)
	}
	gate(t, root, "gate")
	b := benchAt(t, root, RunnerOptions{})
	talk := agent(t, "echo one; echo > ../../up-tail; read line < ../../gate; echo two >&2; echo three")
	talk.ID, talk.Outcome, talk.Tail = "tail", "run/tail.json", 9
	talk.Command.Prefer = "trees/a"
	judge := agent(t, "echo 4 passing; echo > ../../up-judge; sleep 600")
	judge.ID, judge.Outcome, judge.Judge, judge.Expected = "judge", "run/judge.json", true, "4 passing"
	judge.Command.Prefer = "trees/a"
	b.Begin(talk)
	b.Begin(judge)
	await.Until(t, "both run", func() bool { return b.has("up-tail") && b.has("up-judge") && known(root) == 2 })
	if err := b.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	next := benchAt(t, root, RunnerOptions{})
	if err := next.Recover(); err != nil {
		t.Fatal(err)
	}
	open(t, filepath.Join(root, "gate"))
	if got := next.do(recorded(talk)); got.Outcome != "finished" || got.Tail != "wo\nthree\n" {
		t.Errorf("outcome %q, tail %q", got.Outcome, got.Tail)
	}
	next.End("judge")
	if got := next.do(recorded(judge)); got.Outcome != "stopped" || got.Cwd != "trees/a" || got.verdict() != "null" || got.Stdout.Head != "4 passing\n" {
		t.Errorf("%+v", got)
	}
}
