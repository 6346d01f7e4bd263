package optimizer

import (
	"placet/engine"
	"placet/engine/reader"
)

// log are the lines of events.jsonl, oldest first.
func (r *reading) log() []engine.Entry {
	var list []engine.Entry
	for _, e := range reader.Entries(r.Snap.In("events.jsonl")) {
		list = append(list, e.Account(string(e.To)))
	}
	return list
}
