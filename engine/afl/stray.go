package afl

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"placet/engine"
	"placet/schemas"
)

// synonyms are words that people write for the members of a checkpoint and of its
// validation, in lower case and without dashes, by the member that they mean.
var synonyms = map[string]map[string]string{
	"checkpoint": {
		"dependson": "dependencies", "depends": "dependencies", "dependency": "dependencies", "deps": "dependencies",
		"needs": "dependencies", "requires": "dependencies", "after": "dependencies", "blockedby": "dependencies",
		"cmd": "validation.command", "command": "validation.command", "run": "validation.command", "test": "validation.command",
		"expected": "validation.expected", "expectedoutput": "validation.expected", "expect": "validation.expected", "timeout": "validation.timeout",
		"validate": "validation", "prerequisite": "prerequisites", "acceptance": "criteria", "acceptancecriteria": "criteria", "criterion": "criteria",
	},
	"validation": {
		"cmd": "command", "run": "command", "script": "command", "test": "command", "exec": "command",
		"expect": "expected", "expects": "expected", "output": "expected", "timeoutms": "timeout",
	},
	"prerequisites": {"task": "tasks", "dependencies": "tasks", "dependson": "tasks", "env": "environment"},
}

// stray is a member that nobody reads although it looks like one that counts.
type stray struct {
	schemas.Stray
	// value is what stands there.
	value schemas.Raw
}

// findStrays are the strays of an object at a place in its document. into is a pointer to
// the struct that it is read into, kind names its synonyms. An unknown member that
// looks like nothing is allowed, and none.
func findStrays(at string, o schemas.Object, into any, kind string) (list []stray) {
	for _, s := range schemas.Strays(at, o, into) {
		if word := synonyms[kind][strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(s.Name))]; word != "" {
			s.Meant = word
		}
		if s.Meant != "" {
			list = append(list, stray{s, o.Raw(s.Name)})
		}
	}
	return list
}

// checkpointStrays are those of one checkpoint. The members of the second layout are
// read there alone: in the first, tasks among them say nothing.
func checkpointStrays(at, layout string, o schemas.Object) []stray {
	list := findStrays(at, o.Without("contract", "prerequisites"), &checkpointFile{}, "checkpoint")
	if v, err := schemas.Members(o.Raw("validation")); err == nil {
		list = append(list, findStrays(at+"/validation", v, &validationFile{}, "validation")...)
	}
	p, err := schemas.Members(o.Raw("prerequisites"))
	switch tasks := p.Raw("tasks"); {
	case err != nil:
	case layout == layoutV2:
		list = append(list, findStrays(at+"/prerequisites", p, &prerequisitesV2{}, "prerequisites")...)
	case tasks != nil:
		list = append(list, stray{schemas.Stray{Pointer: at + "/prerequisites/tasks", Name: "tasks", Meant: "dependencies"}, tasks})
	}
	return list
}

// orders reports whether a stray says in which order checkpoints are to be worked on: it
// means the dependencies, and names checkpoints of the design. Where nobody reads it the
// order is lost, which nothing else would show.
func (s stray) orders(defined map[string]bool) bool {
	means := s.Meant == "dependencies" || s.Meant == "tasks"
	return means && slices.ContainsFunc(textList(s.value), func(id string) bool { return defined[id] })
}

// pairs are the values of the sentences about a stray: its key, and what that was probably
// meant to be.
func (s stray) pairs() []any {
	return []any{"key", strconv.Quote(oneLine(s.Name, shownName)), "meant", s.Meant}
}

// handInFiles are the documents that others hand in, by name, with what they are read into.
// Those of an attempt lie with it.
var (
	handInFiles = map[string]any{"meta.json": &Meta{}, "control.json": &Control{}}
	ofAttempt   = map[string]any{"worker.json": &WorkerReport{}, "result.json": &Result{}, "analysis.json": &Analysis{}}
)

// misread are warnings about keys of documents that others handed in: of the last
// attempt of every checkpoint, of the review, and of the session as a whole.
func misread(r *session) (list []engine.Finding) {
	look := func(rel string, into any) {
		d := r.run.Snap.In(rel)
		if !d.Present() {
			return
		}
		o, err := schemas.Members(d.Body)
		if err != nil {
			return // its note says what is wrong
		}
		for _, s := range findStrays("", o, into, "") {
			list = append(list, engine.Finding{Severity: "warning", Path: d.Path, Text: s.Pointer + ": " + r.say("finding.unknown_key", s.pairs()...) + "; " + r.say("mend.unknown_key", s.pairs()...)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(handInFiles)) {
		look(name, handInFiles[name])
	}
	if v := r.run.State.Review; v != nil {
		look(numbered("review", v.Round), &ReviewReport{})
	}
	for _, id := range r.order {
		if cp := r.checkpoint(id); cp.Iteration > 0 {
			for _, name := range slices.Sorted(maps.Keys(ofAttempt)) {
				look(cp.file(name), ofAttempt[name])
			}
		}
	}
	return list
}
