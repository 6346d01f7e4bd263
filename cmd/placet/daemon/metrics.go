package daemon

import (
	"time"

	"placet/engine"
	"placet/engine/loop"
	"placet/layout"
)

// metrics count what a daemon does. Every value of a label comes from a closed set (families,
// rows of their tables, words of this program), never from a run, a path or a text of a
// workspace. docs/metrics.md lists the metrics.
type metrics struct {
	registry registry
	moves    map[string]map[engine.Edge]*counter // family → row of its table
	passes   map[string]*histogram
	refused  map[string]*counter
	commits  *histogram
}

// lengths are the buckets for durations, in seconds.
var lengths = []float64{
	0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
}

// newMetrics returns the metrics of a placet of a version.
func newMetrics(version string) *metrics {
	m := &metrics{moves: map[string]map[engine.Edge]*counter{}, passes: map[string]*histogram{}, refused: map[string]*counter{}}
	m.commits = m.registry.histogram(metric{
		name: "placet_commit_duration_seconds", kind: "histogram",
		help: "How long it took to make a plan durable; plans that are ready together share their rounds.",
	}, lengths)
	build := metric{name: "placet_build_info", kind: "gauge", help: "Always 1; the label says which placet this is."}
	m.registry.gather(func(tell tell) { tell(build, 1, "version", version) })
	m.registry.gather(tellProcess)
	return m
}

// attach makes a loop report to the metrics. It creates all possible counters at once, so that
// a first transition shows as an increase.
func (m *metrics) attach(o *loop.Options) {
	moves := metric{name: "placet_transitions_total", kind: "counter", help: "Transitions committed, by the row of the family's table."}
	refused := metric{name: "placet_refused_inputs_total", kind: "counter", help: "Problem notes that were written where none stood."}
	passes := metric{
		name: "placet_pass_duration_seconds", kind: "histogram",
		help: "How long passes over a run took, their commits and the waits for its locks included.",
	}
	for _, f := range o.Families {
		name, rows := f.Layout.Name(), map[engine.Edge]*counter{}
		for _, e := range f.Machine.Edges() {
			rows[e] = m.registry.counter(moves, "family", name, "of", e.Of, "event", e.Event, "from", string(e.From), "to", string(e.To))
		}
		m.moves[name], m.refused[name] = rows, m.registry.counter(refused, "family", name)
		m.passes[name] = m.registry.histogram(passes, lengths, "family", name)
	}
	o.Observers = append(o.Observers, loop.Observer{Moved: m.moved, Committed: m.committed, Passed: m.passed})
}

func (m *metrics) moved(run layout.Run, t engine.Transition) {
	m.moves[run.Family][t.Edge].inc()
}

func (m *metrics) passed(run layout.Run, took time.Duration) {
	m.passes[run.Family].observe(took.Seconds())
}

func (m *metrics) committed(run layout.Run, plan engine.Plan, took time.Duration) {
	m.commits.observe(took.Seconds())
	for _, d := range plan.Writes {
		if d.Kind == layout.KindProblem && d.Over == "" {
			m.refused[run.Family].inc()
		}
	}
}
