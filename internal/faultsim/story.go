package main

import (
	"strings"
	"time"

	"placet/engine"
	"placet/engine/loop"
	"placet/engine/store/memfs"
)

// story is a scenario: a workspace and what others do to it, step by step. After each
// step placet settles the workspace.
type story struct {
	name  string
	steps []step
	// family is the family of the runs.
	family loop.Family
	facts  engine.Environment
	// together says that plans of several runs share their rounds.
	together bool
	// dear says that a schedule costs much, so that of pairs and errors only every
	// dear-th call is tried, chosen by the seed; 0: all.
	dear int
	// same compares trees; nil compares byte by byte, apart from the toy family's times.
	same func(want, got map[string]string) string
	// state is the path of the state document in which somebody else may write,
	// and view is that of a document of placet's that they may remove. They are ""
	// if nobody else acts.
	state, view string
}

// step is what others do before a pass of placet.
type step struct {
	name  string
	after time.Duration
	do    func(d *memfs.FS)
}

// put is the step in which somebody puts files in place.
func put(pairs ...string) step {
	return step{name: "put " + pairs[0], do: func(d *memfs.FS) {
		for i := 0; i < len(pairs); i += 2 {
			d.Put(pairs[i], pairs[i+1])
		}
	}}
}

// epoch is when every scenario begins.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const (
	runA     = deskRoot + "/a/"
	runB     = deskRoot + "/b/"
	fresh    = `{"status":"new","revision":0}`
	approval = `{"request_id":"q-1","response":"approve"}`
	finished = `{"ok":true}`
)

// stories returns all scenarios of the laboratory.
func stories() []*story { return []*story{deskStory(), groupStory(), faberStory()} }

// deskStory returns a scenario with one of everything: a request, a bad answer and
// a note, a good answer and a receipt, the end.
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

// groupStory returns a scenario of two runs whose plans share their rounds.
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

// scene is a scenario in a variant, with the idle states that it reaches without trouble.
type scene struct {
	*story
	variant variant
	// before[i] is the disk before the i-th step, rests[i] is the tree after it,
	// and spoken[i] is the tree if others write in between.
	before []*memfs.FS
	rests  []map[string]string
	spoken []map[string]string
	starts []time.Time
	// records[i] is placet's record of its writes before the i-th step.
	records []*memfs.Record
}
