package daemon

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"placet/engine"
	"placet/engine/loop"
	"placet/layout"
)

// metrics count what a daemon does. Every value of a label comes from a closed set (families,
// rows of their tables, words of this program), never from a run, a path or a text of a
// workspace. docs/metrics.md lists the metrics.
type metrics struct {
	registry *prometheus.Registry
	moves    map[string]map[engine.Edge]prometheus.Counter // family → row of its table
	passes   map[string]prometheus.Observer
	refused  map[string]prometheus.Counter
	commits  prometheus.Histogram
}

// lengths are the buckets for durations, in seconds.
var lengths = []float64{
	0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
}

// newMetrics returns the metrics of a placet of a version.
func newMetrics(version string) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		moves:    map[string]map[engine.Edge]prometheus.Counter{},
		passes:   map[string]prometheus.Observer{}, refused: map[string]prometheus.Counter{},
		commits: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "placet_commit_duration_seconds", Buckets: lengths,
			Help: "How long it took to make a plan durable; plans that are ready together share their rounds.",
		}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "placet_build_info", Help: "Always 1; the label says which placet this is.",
		ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	m.registry.MustRegister(m.commits, build, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// attach makes a loop report to the metrics. It creates all possible counters at once, so that
// a first transition shows as an increase.
func (m *metrics) attach(o *loop.Options) {
	moves := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "placet_transitions_total", Help: "Transitions committed, by the row of the family's table.",
	}, []string{"family", "of", "event", "from", "to"})
	refused := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "placet_refused_inputs_total", Help: "Problem notes that were written where none stood.",
	}, []string{"family"})
	passes := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "placet_pass_duration_seconds", Buckets: lengths,
		Help: "How long passes over a run took, their commits and the waits for its locks included.",
	}, []string{"family"})
	m.registry.MustRegister(moves, refused, passes)
	for _, f := range o.Families {
		name, rows := f.Layout.Name(), map[engine.Edge]prometheus.Counter{}
		for _, e := range f.Machine.Edges() {
			rows[e] = moves.WithLabelValues(name, e.Of, e.Event, string(e.From), string(e.To))
		}
		m.moves[name], m.refused[name], m.passes[name] = rows, refused.WithLabelValues(name), passes.WithLabelValues(name)
	}
	o.Observers = append(o.Observers, loop.Observer{Moved: m.moved, Committed: m.committed, Passed: m.passed})
}

func (m *metrics) moved(run layout.Run, t engine.Transition) {
	m.moves[run.Family][t.Edge].Inc()
}

func (m *metrics) passed(run layout.Run, took time.Duration) {
	m.passes[run.Family].Observe(took.Seconds())
}

func (m *metrics) committed(run layout.Run, plan engine.Plan, took time.Duration) {
	m.commits.Observe(took.Seconds())
	for _, d := range plan.Writes {
		if d.Kind == layout.KindProblem && d.Over == "" {
			m.refused[run.Family].Inc()
		}
	}
}
