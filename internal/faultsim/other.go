package main

import (
	"encoding/json"
	"maps"
	"slices"

	"placet/engine/store/memfs"
)

// theirs is what somebody else writes in the state document.
const theirs = "theirs"

// others are the things that somebody else does at a call: writing words in the
// state document (in a new file, or in place), restoring the state document from
// before the step, removing a view of placet's.
var others = map[string]func(w *world){
	"words":   func(w *world) { w.words((*memfs.FS).Put) },
	"inplace": func(w *world) { w.words((*memfs.FS).Rewrite) },
	"stale": func(w *world) {
		old, _ := w.sc.before[w.step].Get(w.sc.state)
		if old == "" {
			old = fresh
		}
		w.say(old, (*memfs.FS).Put)
		w.stale = true
	},
	"unview": func(w *world) {
		if _, there := w.disk.Get(w.sc.view); there {
			w.disk.Delete(w.sc.view)
		}
	},
}

// speak makes somebody else act.
func (w *world) speak(kind string) {
	w.disturbed = true
	others[kind](w)
}

// other returns the kinds that a scene must withstand. On a system that cannot
// exchange names, there is a moment between the last look at the state document
// and its replacement.
func (sc *scene) other() []string {
	switch {
	case sc.state == "":
		return nil
	case sc.variant.name == "noexchange":
		return []string{"unview"}
	}
	return slices.Sorted(maps.Keys(others))
}

// words adds words to the present state document, as a program does that reads,
// edits and writes.
func (w *world) words(write func(d *memfs.FS, name, body string)) {
	if body, there := w.disk.Get(w.sc.state); there {
		w.say(body, write)
	}
}

func (w *world) say(body string, write func(d *memfs.FS, name, body string)) {
	var st state
	if json.Unmarshal([]byte(body), &st) != nil {
		return
	}
	st.Words = theirs
	write(w.disk, w.sc.state, string(st.body()))
	w.spoke = true
}
