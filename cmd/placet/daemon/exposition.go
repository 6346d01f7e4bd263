package daemon

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// registry holds metrics, and writes them in the text format of Prometheus.
type registry struct {
	mu      sync.Mutex
	metrics []*metric
	collect []func(tell)
}

// tell adds a gauge or a counter that is computed when it is collected.
type tell func(of metric, value float64, labels ...string)

// metric is a name, with its values by their labels.
type metric struct {
	name, kind, help string
	values           []series
}

// series is one value of a metric; labels are those of the value, as they are written.
type series struct {
	labels string
	write  func(b *bytes.Buffer, name, labels string)
}

// counter counts up.
type counter struct{ n atomic.Uint64 }

func (c *counter) inc() { c.n.Add(1) }

// histogram counts durations, in seconds, by the least of its bounds that they do not exceed.
type histogram struct {
	bounds []float64
	counts []atomic.Uint64 // one more than bounds
	nanos  atomic.Int64
}

func (h *histogram) observe(seconds float64) {
	i, _ := slices.BinarySearch(h.bounds, seconds)
	h.counts[i].Add(1)
	h.nanos.Add(int64(seconds * 1e9))
}

// counter adds a counter. Labels are names with their values.
func (r *registry) counter(of metric, labels ...string) *counter {
	c := &counter{}
	r.add(of, labels, func(b *bytes.Buffer, name, labels string) { sample(b, name, labels, float64(c.n.Load())) })
	return c
}

// histogram adds a histogram.
func (r *registry) histogram(of metric, bounds []float64, labels ...string) *histogram {
	h := &histogram{bounds: bounds, counts: make([]atomic.Uint64, len(bounds)+1)}
	r.add(of, labels, h.write)
	return h
}

func (h *histogram) write(b *bytes.Buffer, name, labels string) {
	total := uint64(0)
	for i, bound := range append(slices.Clip(h.bounds), math.Inf(1)) {
		total += h.counts[i].Load()
		sample(b, name+"_bucket", strings.TrimPrefix(labels+`,le="`+number(bound)+`"`, ","), float64(total))
	}
	sample(b, name+"_sum", labels, float64(h.nanos.Load())/1e9)
	sample(b, name+"_count", labels, float64(total))
}

// gather adds what is computed at each collection.
func (r *registry) gather(collect func(tell)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.collect = append(r.collect, collect)
}

func (r *registry) add(of metric, labels []string, write func(*bytes.Buffer, string, string)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.metrics = with(r.metrics, of, series{labelled(labels), write})
}

// with returns metrics with one more value.
func with(all []*metric, of metric, value series) []*metric {
	i, found := slices.BinarySearchFunc(all, of.name, func(m *metric, name string) int { return strings.Compare(m.name, name) })
	if !found {
		all = slices.Insert(all, i, &of)
	}
	all[i].values = append(all[i].values, value)
	return all
}

// text returns all metrics, sorted by name and labels.
func (r *registry) text() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]*metric, len(r.metrics))
	for i, m := range r.metrics {
		own := *m
		own.values = slices.Clone(m.values)
		all[i] = &own
	}
	for _, collect := range r.collect {
		collect(func(of metric, value float64, labels ...string) {
			all = with(all, of, series{labelled(labels), func(b *bytes.Buffer, name, labels string) { sample(b, name, labels, value) }})
		})
	}
	var b bytes.Buffer
	for _, m := range all {
		b.WriteString("# HELP " + m.name + " " + inHelp.Replace(m.help) + "\n# TYPE " + m.name + " " + m.kind + "\n")
		slices.SortFunc(m.values, func(a, b series) int { return strings.Compare(a.labels, b.labels) })
		for _, v := range m.values {
			v.write(&b, m.name, v.labels)
		}
	}
	return b.Bytes()
}

// inHelp and inLabels escape what a help says, and the value of a label.
var (
	inHelp   = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	inLabels = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
)

// labelled returns labels as they are written, sorted by name.
func labelled(pairs []string) string {
	var all []string
	for pair := range slices.Chunk(pairs, 2) {
		all = append(all, pair[0]+`="`+inLabels.Replace(pair[1])+`"`)
	}
	slices.Sort(all)
	return strings.Join(all, ",")
}

func sample(b *bytes.Buffer, name, labels string, value float64) {
	if labels != "" {
		labels = "{" + labels + "}"
	}
	b.WriteString(name + labels + " " + number(value) + "\n")
}

// number returns a number as Prometheus reads it, +Inf too.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
