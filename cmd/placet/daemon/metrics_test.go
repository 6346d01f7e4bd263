package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

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
	m.registry.gather(runCounts{now: func() time.Time { return noon }, look: func() *health { return &o }}.tell)
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
	if got := m.refused["afl"].n.Load(); got != 2 {
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
	text := exposition(t, m)
	for part := range strings.SplitSeq(strings.TrimPrefix(want, "\n"), "# HELP ") {
		if part != "" && !strings.Contains(text, "# HELP "+part) {
			t.Errorf("missing:\n# HELP %sin\n%s", part, text)
		}
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

var (
	label     = regexp.MustCompile(`(\w+)="([^"]*)"`)
	described = regexp.MustCompile(`(?m)^# HELP (\w+) `)
)

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
	seen := map[string]bool{}
	for line := range strings.Lines(exposition(t, busy())) {
		if !strings.HasPrefix(line, "placet_") {
			continue
		}
		for _, l := range label.FindAllStringSubmatch(line, -1) {
			seen[l[1]] = true
			if !slices.Contains(closed[l[1]], l[2]) {
				t.Errorf("%s: %s=%q is in no closed set", line, l[1], l[2])
			}
		}
	}
	if len(seen) != len(closed) {
		t.Errorf("labels seen: %v", seen)
	}
	if strings.Contains(exposition(t, busy()), "secret") {
		t.Error("a text of the workspace shows")
	}
}

// The text is that of Prometheus: a help and a kind for each name, what would end a line or a value
// escaped, and buckets that count what is at most their bound.
func TestTheExpositionIsThatOfPrometheus(t *testing.T) {
	var r registry
	r.counter(metric{name: "odd_total", kind: "counter", help: "One \\ and\nanother \"line\"."}, "b", "say \"a\\b\"\n", "a", "").inc()
	h := r.histogram(metric{name: "long_seconds", kind: "histogram", help: "How long."}, []float64{0.00025, 1}, "of", "x")
	for _, seconds := range []float64{0.00025, 0.5, 1, 1.5} {
		h.observe(seconds)
	}
	r.gather(func(tell tell) { tell(metric{name: "big", kind: "gauge", help: "Big."}, 12345678) })
	want := `# HELP big Big.
# TYPE big gauge
big 1.2345678e+07
# HELP long_seconds How long.
# TYPE long_seconds histogram
long_seconds_bucket{of="x",le="0.00025"} 1
long_seconds_bucket{of="x",le="1"} 3
long_seconds_bucket{of="x",le="+Inf"} 4
long_seconds_sum{of="x"} 3.00025
long_seconds_count{of="x"} 4
# HELP odd_total One \\ and\nanother "line".
# TYPE odd_total counter
odd_total{a="",b="say \"a\\b\"\n"} 1
`
	for range 2 { // the second time, too
		if got := string(r.text()); got != want {
			t.Errorf("it says\n%sexpected\n%s", got, want)
		}
	}
	if _, err := promlint.New(strings.NewReader(want)).Lint(); err != nil {
		t.Errorf("Prometheus' client cannot read it: %v", err)
	}
}

func TestPromlintSaysNothing(t *testing.T) {
	problems, err := promlint.New(bytes.NewReader(busy().registry.text())).Lint()
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
	names := []string{"waiting", "held_up", "live", "final"}
	for _, d := range degraded {
		names = append(names, d.state)
	}
	for _, m := range described.FindAllStringSubmatch(exposition(t, busy()), -1) {
		names = append(names, m[1])
	}
	for _, name := range names {
		if !strings.Contains(string(body), "`"+name+"`") {
			t.Errorf("docs/metrics.md does not name %s", name)
		}
	}
}
