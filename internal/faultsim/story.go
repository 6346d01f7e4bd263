package main

import (
	"strings"
	"time"

	"placet/engine"
	"placet/engine/loop"
	"placet/engine/store/memfs"
)

// story is a workspace and what others do to it, step by step. After each step
// placet settles what is there.
type story struct {
	name  string
	steps []step
	// family is whose runs they are.
	family loop.Family
	facts  engine.Environment
	// together: plans of several runs share their rounds.
	together bool
	// dear: a schedule costs much, so of pairs and errors only every so many-th
	// call is tried, which one the seed says; 0: all.
	dear int
	// same is how trees are compared; nil: byte by byte, but for the desk's times.
	same func(want, got map[string]string) string
	// others: somebody else may write in between. It is the path of the state
	// document that they write in, and of a document of placet's that they remove.
	state, view string
}

// step is what others do before placet looks.
type step struct {
	name  string
	after time.Duration
	do    func(d *memfs.FS)
}

// put is the step in which somebody puts files into place.
func put(pairs ...string) step {
	return step{name: "put " + pairs[0], do: func(d *memfs.FS) {
		for i := 0; i < len(pairs); i += 2 {
			d.Put(pairs[i], pairs[i+1])
		}
	}}
}

// epoch is when every story begins.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const (
	runA     = deskRoot + "/a/"
	runB     = deskRoot + "/b/"
	fresh    = `{"status":"new","revision":0}`
	approval = `{"request_id":"q-1","response":"approve"}`
	finished = `{"ok":true}`
)

// stories are all that the laboratory tells.
func stories() []*story { return []*story{deskStory(), groupStory(), faberStory()} }

// deskStory has one of everything: a request, a bad answer and a note, a good one
// and a receipt, the end.
func deskStory() *story {
	return &story{
		name: "desk", family: loop.Family{Layout: desk{}, Machine: clerk{}}, state: runA + "state.json", view: runA + "summary.md",
		steps: []step{
			put(runA+"state.json", fresh),
			put(runA+request+"response.json", `{"request_id":"q-0","response":"approve"}`),
			put(runA+request+"response.json", approval),
			put(runA+"result.json", finished),
		},
	}
}

// groupStory is two runs whose plans share their rounds.
func groupStory() *story {
	return &story{
		name: "group", family: loop.Family{Layout: desk{}, Machine: clerk{}}, together: true,
		steps: []step{
			put(runA+"state.json", fresh, runB+"state.json", fresh),
			put(runA+request+"response.json", approval, runB+request+"response.json", strings.Replace(approval, "approve", "reject", 1)),
		},
	}
}

// variant is a kind of file system, or a way to use it.
type variant struct {
	name string
	on   func(*memfs.FS)
	many int // as in store.Options
}

var variants = []variant{
	{name: "plain"},
	{name: "noexchange", on: (*memfs.FS).NoExchange},
	{name: "syncall", many: 1},
	{name: "nosyncall", many: 1, on: (*memfs.FS).NoSyncAll},
}

// scene is a story in a variant, with the rests that it comes to without trouble.
type scene struct {
	*story
	variant variant
	// before[i] is the disk before the i-th step, rests[i] the tree after it, with
	// what others say in between where they do.
	before []*memfs.FS
	rests  []map[string]string
	spoken []map[string]string
	starts []time.Time
	// records[i] is what placet remembers of its writes by then.
	records []*memfs.Record
}
