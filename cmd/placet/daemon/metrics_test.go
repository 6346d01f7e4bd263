package daemon

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"placet/engine"
	"placet/engine/afl"
	"placet/engine/faber"
	"placet/engine/loop"
	"placet/engine/store"
	"placet/engine/watch"
	"placet/layout"
)

// metered are metrics attached to a loop of both families.
func metered() (*metrics, loop.Options) {
	m := newMetrics("v1")
	o := loop.Options{Families: []loop.Family{
		{Layout: layout.Faber{}, Machine: faber.New()}, {Layout: layout.AFL{}, Machine: afl.New()},
	}}
	m.attach(&o)
	return m, o
}

// of registers the counts of a daemon with this health.
func (m *metrics) of(o health) *metrics {
	m.registry.MustRegister(runCounts{now: func() time.Time { return noon }, look: func() *health { return &o }})
	return m
}

func TestTransitionsAreCountedByTheRowOfTheTable(t *testing.T) {
	m, o := metered()
	answered := engine.Edge{Of: "run", From: "awaiting_feedback", Event: "answered_continue", To: "in_progress"}
	begun := engine.Edge{Of: "session", From: "", Event: "seen", To: "designing"}
	for range 3 {
		o.Observers[0].Moved(layout.Run{Family: "faber", ID: "a"}, engine.Transition{Edge: answered, Subject: "x"})
	}
	o.Observers[0].Moved(layout.Run{Family: "afl", ID: "b"}, engine.Transition{Edge: begun})
	text := exposition(t, m)
	for _, want := range []string{
		`placet_transitions_total{event="answered_continue",family="faber",from="awaiting_feedback",of="run",to="in_progress"} 3`,
		`placet_transitions_total{event="seen",family="afl",from="",of="session",to="designing"} 1`,
		`placet_transitions_total{event="answered_abort",family="faber",from="failed",of="run",to="cancelled"} 0`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("missing: %s", want)
		}
	}
	rows := len(faber.New().Edges()) + len(afl.New().Edges())
	if got := strings.Count(text, "\nplacet_transitions_total{"); got != rows {
		t.Errorf("%d counters of transitions, want one for each of %d rows", got, rows)
	}
}

func TestARefusedInputIsANoteThatDidNotStand(t *testing.T) {
	m, o := metered()
	run := layout.Run{Family: "afl"}
	note := engine.Document{Path: "x.problem.md", Kind: layout.KindProblem}
	again := note
	again.Over = engine.Sum([]byte("another text"))
	o.Observers[0].Committed(run, engine.Plan{Writes: []engine.Document{note, {Kind: engine.KindState}, note}}, 3*time.Millisecond)
	o.Observers[0].Committed(run, engine.Plan{Writes: []engine.Document{again}, Removes: []string{"x.problem.md"}}, 20*time.Second)
	o.Observers[0].Passed(run, 300*time.Microsecond)
	if got := testutil.ToFloat64(m.refused["afl"]); got != 2 {
		t.Errorf("%v refused inputs, want 2", got)
	}
	text := exposition(t, m)
	for _, want := range []string{
		`placet_refused_inputs_total{family="faber"} 0`,
		`placet_commit_duration_seconds_bucket{le="0.0025"} 0`,
		`placet_commit_duration_seconds_bucket{le="0.005"} 1`,
		`placet_commit_duration_seconds_bucket{le="10"} 1`,
		`placet_commit_duration_seconds_count 2`,
		`placet_pass_duration_seconds_bucket{family="afl",le="0.00025"} 0`,
		`placet_pass_duration_seconds_bucket{family="afl",le="0.0005"} 1`,
		`placet_pass_duration_seconds_count{family="faber"} 0`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("missing: %s", want)
		}
	}
}

// The functions that the loop calls for every transition, commit and pass leave no garbage.
func TestCountingCostsNoMemory(t *testing.T) {
	_, o := metered()
	run, move := layout.Run{Family: "faber"}, engine.Transition{Edge: faber.New().Edges()[3]}
	plan := engine.Plan{Writes: []engine.Document{{Kind: layout.KindProblem}, {Kind: engine.KindState}}}
	if n := testing.AllocsPerRun(100, func() {
		o.Observers[0].Moved(run, move)
		o.Observers[0].Committed(run, plan, time.Millisecond)
		o.Observers[0].Passed(run, time.Millisecond)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestHowRunsStand(t *testing.T) {
	m, _ := metered()
	m.of(health{runs: loop.Standing{Families: map[string]loop.Count{
		"faber": {Waiting: 2, HeldUp: 3, Live: 4, Final: 5, Requests: 2, Oldest: noon.Add(-90 * time.Minute)},
		"afl":   {Requests: 7, Oldest: noon.Add(time.Hour)}, // a clock that is ahead
	}}})
	want := `
# HELP placet_oldest_wait_seconds Age of the oldest open request; 0 where there is none.
# TYPE placet_oldest_wait_seconds gauge
placet_oldest_wait_seconds{family="afl"} 0
placet_oldest_wait_seconds{family="faber"} 5400
# HELP placet_runs Runs: waiting for a person, held up by an error, live otherwise, or final.
# TYPE placet_runs gauge
placet_runs{family="afl",standing="final"} 0
placet_runs{family="afl",standing="held_up"} 0
placet_runs{family="afl",standing="live"} 0
placet_runs{family="afl",standing="waiting"} 0
placet_runs{family="faber",standing="final"} 5
placet_runs{family="faber",standing="held_up"} 3
placet_runs{family="faber",standing="live"} 4
placet_runs{family="faber",standing="waiting"} 2
# HELP placet_waiting_requests Open requests that wait for a person.
# TYPE placet_waiting_requests gauge
placet_waiting_requests{family="afl"} 7
placet_waiting_requests{family="faber"} 2
`
	if err := testutil.GatherAndCompare(m.registry, strings.NewReader(want), "placet_oldest_wait_seconds", "placet_runs", "placet_waiting_requests"); err != nil {
		t.Error(err)
	}
}

// Every difficulty has one state, which alone is 1 with it.
func TestEveryDifficultyHasItsWord(t *testing.T) {
	held := func(err error) health {
		return health{runs: loop.Standing{Holding: []error{errors.New("else"), fmt.Errorf("cannot write x: %w", err)}}}
	}
	cases := map[string][]health{
		"":                       {{}, held(errors.New("a machine's bug")), held(syscall.EACCES)},
		"git_hold":               {{held: true}},
		"writes_stopped":         {{stopped: true}, held(store.ErrStopped)},
		"disk_full":              {held(syscall.ENOSPC), held(syscall.EDQUOT)},
		"disk_read_only":         {held(syscall.EROFS)},
		"disk_errors":            {held(syscall.EIO)},
		"descriptors_short":      {held(syscall.EMFILE), held(syscall.ENFILE)},
		"memory_short":           {held(syscall.ENOMEM)},
		"no_file_events":         {{lacks: watch.Lacks{Events: true}}},
		"watches_short":          {{lacks: watch.Lacks{Watches: true}}},
		"folders_without_events": {{lacks: watch.Lacks{Folders: true}}},
		"folders_unlisted":       {{runs: loop.Standing{Unlisted: true}}},
		"settings_unusable":      {{unusable: true}},
		"settings_untrusted":     {{untrusted: true}},
	}
	for _, d := range degraded {
		if cases[d.state] == nil {
			t.Errorf("no case for %s", d.state)
		}
	}
	for want, outlooks := range cases {
		for _, o := range outlooks {
			var got []string
			for _, d := range degraded {
				if d.is(&o) {
					got = append(got, d.state)
				}
			}
			if !slices.Equal(got, strings.Fields(want)) {
				t.Errorf("%+v: %q, want %q", o, got, want)
			}
		}
	}
}

// busy returns the metrics of a daemon to which everything has happened.
func busy() *metrics {
	m, o := metered()
	for _, f := range o.Families {
		run := layout.Run{Family: f.Layout.Name(), ID: "secret-run", Dir: "secret-dir", State: "secret-dir/state.json"}
		for _, e := range f.Machine.Edges() {
			o.Observers[0].Moved(run, engine.Transition{Edge: e, Subject: "secret", Actor: "secret", Reason: "secret"})
		}
		o.Observers[0].Committed(run, engine.Plan{Writes: []engine.Document{{Path: "secret", Kind: layout.KindProblem}}}, time.Second)
		o.Observers[0].Passed(run, time.Second)
	}
	return m.of(health{runs: loop.Standing{
		Families: map[string]loop.Count{"faber": {Waiting: 1}, "afl": {}}, Holding: []error{errors.New("secret")},
	}})
}

func TestEveryLabelComesFromAClosedSet(t *testing.T) {
	closed := map[string][]string{
		"family": {"faber", "afl"}, "standing": {"waiting", "held_up", "live", "final"},
		"version": {"v1"}, "le": {"+Inf"}, "of": nil, "event": nil, "from": nil, "to": nil, "state": nil,
	}
	for _, bucket := range lengths {
		closed["le"] = append(closed["le"], fmt.Sprint(bucket))
	}
	for _, d := range degraded {
		closed["state"] = append(closed["state"], d.state)
	}
	for _, e := range slices.Concat(faber.New().Edges(), afl.New().Edges()) {
		for label, value := range map[string]string{"of": e.Of, "event": e.Event, "from": string(e.From), "to": string(e.To)} {
			closed[label] = append(closed[label], value)
		}
	}
	families, err := busy().registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "placet_") {
			continue
		}
		for _, metric := range f.GetMetric() {
			for _, l := range metric.GetLabel() {
				seen[l.GetName()] = true
				if !slices.Contains(closed[l.GetName()], l.GetValue()) {
					t.Errorf("%s: %s=%q is in no closed set", f.GetName(), l.GetName(), l.GetValue())
				}
			}
		}
	}
	if len(seen) != len(closed)-1 { // le is no label here
		t.Errorf("labels seen: %v", seen)
	}
	if strings.Contains(exposition(t, busy()), "secret") {
		t.Error("a text of the workspace shows")
	}
}

func TestPromlintSaysNothing(t *testing.T) {
	problems, err := testutil.GatherAndLint(busy().registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// docs/metrics.md names every metric of placet, every state and every standing.
func TestTheManualNamesEveryMetric(t *testing.T) {
	body, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	families, err := busy().registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"waiting", "held_up", "live", "final"}
	for _, d := range degraded {
		names = append(names, d.state)
	}
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "placet_") {
			names = append(names, f.GetName())
		}
	}
	for _, name := range names {
		if !strings.Contains(string(body), "`"+name+"`") {
			t.Errorf("docs/metrics.md does not name %s", name)
		}
	}
}
