package view

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"placet/engine"
	"placet/layout"
)

// severityOf returns the severity that check gives to a file, "" if it does not name it.
func severityOf(lines []FindingLine, path string) string {
	for _, l := range lines {
		if strings.TrimSuffix(l.Path, layout.ProblemSuffix) == path {
			return l.Severity
		}
	}
	return ""
}

// A file that is too old to be half written is named all the same, also in places that no
// machine reads, such as an answer to a closed request.
func TestWhatCannotBeReadIsNamedForGood(t *testing.T) {
	const conflict = "<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> theirs\n"
	for rel, want := range map[string]string{
		"state.json": "error", "cancel.json": "error", "metadata.json": "warning", "events/001-checkpoint.json": "warning",
		"requests/fr-old/request.json": "error", "requests/fr-old/receipt.json": "error", "requests/fr-old/response.json": "error",
		"requests/fr-old/form.md": "error",
	} {
		for body, severity := range map[string]string{"": want, conflict: "error"} {
			k := newKeeping(t)
			k.make(1, false)
			k.disk.Put(runDir(1)+"/metadata.json", "{}")
			k.disk.Put(runDir(1)+"/"+rel, body)
			k.now = k.now.Add(time.Hour)
			b := k.start(false, "")
			b.WaitsForHeld = true
			if got := severityOf(FindingLines(Runs(b, b.Runs())[0]), runDir(1)+"/"+rel); got != severity {
				t.Errorf("%s with %q is called %q, want %q", rel, body, got, severity)
			}
		}
	}
}

// A file that becomes whole while check waits is no error. Check waits two seconds for one that
// does not.
func TestCheckWaitsForAFileThatIsBeingWritten(t *testing.T) {
	for _, whole := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			k := newKeeping(t)
			k.make(1, false)
			state, _ := k.disk.Get(runDir(1) + "/state.json")
			k.disk.Put(runDir(1)+"/state.json", state[:len(state)/2])
			b := k.start(false, "")
			b.WaitsForHeld = true
			found := b.Runs()
			began, looks := time.Now(), 0
			k.passing = 20 * time.Millisecond
			k.looked = func() {
				if looks++; whole && looks == 5 {
					k.disk.Put(runDir(1)+"/state.json", state)
				}
			}
			named := severityOf(FindingLines(Runs(b, found)[0]), runDir(1)+"/state.json")
			if took := time.Since(began); took > heldPatience+time.Second || !whole && took < heldPatience {
				t.Errorf("becomes whole: %v: check took %v", whole, took)
			}
			if (named == "error") == whole {
				t.Errorf("becomes whole: %v: check calls it %q", whole, named)
			}
		})
	}
}

// A file that counts unless its writer goes on is no problem; one that may be half written is.
func TestAFileThatCountsIsNoProblem(t *testing.T) {
	v := Run{lang: "en", held: []heldFile{
		{PendingFile: engine.PendingFile{Path: "a", Counts: true}}, {PendingFile: engine.PendingFile{Path: "b"}, why: "torn"},
	}}
	var said []string
	for _, l := range FindingLines(v) {
		said = append(said, l.Severity+" "+l.Path)
	}
	if got := strings.Join(said, ", "); got != "error b, info a" {
		t.Error(got)
	}
}
