package view

import (
	"path"
	"slices"
	"strings"
	"time"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/gate"
	"placet/engine/loop"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/templates"
)

// receiptEntry returns the outcome of a request for the run's log, where people must find an
// answer that was refused or overtaken. It returns nothing if the receipt cannot be read.
func receiptEntry(snap engine.Snapshot, d engine.Document) []engine.Entry {
	r, err := gate.ReadReceipt(d.Path, d.Body)
	if err != nil {
		return nil
	}
	at, _ := time.Parse(time.RFC3339, r.DecidedAt)
	e := engine.Entry{At: at, Event: "receipt_" + r.Result, Who: r.ProvidedBy.Shown("", r.KnownAs), Message: r.RequestID}
	for _, edit := range r.Edits {
		e.Message += console.Suffix(": ", edit.Path+" changed")
	}
	for _, more := range []string{r.Response, r.Comment, r.Reason, unverified(snap, d, r)} {
		e.Message += console.Suffix(": ", more)
	}
	return []engine.Entry{e}
}

// mergeLog merges entries into a log by their times, each after the log's entries of the same
// moment. It keeps the log's own order.
func mergeLog(log, entries []engine.Entry) []engine.Entry {
	slices.SortStableFunc(entries, func(a, b engine.Entry) int { return a.At.Compare(b.At) })
	all := make([]engine.Entry, len(log)+len(entries))
	for i := len(all); len(entries) > 0; {
		i--
		if n, m := len(log), len(entries); n > 0 && log[n-1].At.After(entries[m-1].At) {
			all[i], log = log[n-1], log[:n-1]
		} else {
			all[i], entries = entries[m-1], entries[:m-1]
		}
	}
	copy(all, log)
	return all
}

// unverified returns why a receipt in a snapshot cannot be trusted, "" if it can.
func unverified(snap engine.Snapshot, d engine.Document, r gate.Receipt) string {
	return templates.In("", gate.Unverified(snap.Facts.Config, snap.Key.Family, snap.Doc(path.Join(path.Dir(d.Path), "request.json")), d, r))
}

// longestJournal limits how much of a journal log reads, from its end, in bytes.
const longestJournal = 64 << 20

// readJournals reads the journals whole of which only the end decides.
func readJournals(b *workspace.Workspace, f loop.Found, docs []engine.Document) []engine.Document {
	docs = slices.Clone(docs)
	for i, d := range docs {
		file, ok := f.Family.Layout.File(f.Run, strings.TrimPrefix(d.Path, f.Run.Dir+"/"))
		if !ok || file.End == 0 || !d.Present() {
			continue
		}
		file.End = longestJournal
		// The workspace's store remembers the end of the file only, so a new store reads it.
		if whole := store.New(fs.OS(b.Root), store.Options{Now: b.Env.Now}).Read(d.Path, file); whole.Present() {
			docs[i] = whole
		}
	}
	return docs
}
