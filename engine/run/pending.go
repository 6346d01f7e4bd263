package run

import (
	"cmp"
	"slices"

	"placet/engine"
)

// Hold keeps the run from deciding anything and from letting a deadline pass while files
// may still be being written, and schedules a step for when they cannot be any more.
func (r *Input) Hold(files ...engine.PendingFile) {
	r.Held = true
	for _, h := range files {
		r.waitFor(h)
	}
}

// waitFor records a file that may be half written, once.
func (r *Input) waitFor(h engine.PendingFile) {
	r.WakeAt(h.Until)
	if r.held[h.Path] {
		return
	}
	if r.held == nil {
		r.held = map[string]bool{}
	}
	r.held[h.Path] = true
	r.Pending = append(r.Pending, h)
}

// BeingWritten returns all files of the snapshot that may still be being written, as far as
// they were read, sorted by path. Accounts of the run list them.
func (r *Input) BeingWritten() []engine.PendingFile {
	list := slices.Clone(r.Pending)
	for i := range r.Snap.Docs {
		if d := &r.Snap.Docs[i]; d.Err != nil && d.Unsettled() && d.Path != engine.NeedPeers {
			list = append(list, engine.PendingFile{Path: d.Path})
		}
	}
	slices.SortFunc(list, func(a, b engine.PendingFile) int { return cmp.Compare(a.Path, b.Path) })
	return slices.CompactFunc(list, func(a, b engine.PendingFile) bool { return a.Path == b.Path })
}

// Await adds to an account that the run waits for the files that may still be being
// written; the argument what is their name if none is known.
func (r *Input) Await(a *engine.RunView, what string) {
	files := r.BeingWritten()
	for _, h := range files {
		a.Await(r.Say("run.wait.pending", "file", r.Snap.Rel(h.Path)))
	}
	if len(files) == 0 {
		a.Await(r.Say("run.wait.pending", "file", what))
	}
}
