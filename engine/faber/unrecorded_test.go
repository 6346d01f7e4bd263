package faber

import (
	"crypto/sha1"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/engine/gate"
	"placet/templates"
)

// unrecordedRun returns a run that waits for an answer about an artifact, on a machine without
// records of what it wrote.
func unrecordedRun(t *testing.T) *world {
	w := newWorld(t, plainDir)
	w.Unrecorded = true
	w.Put("design.md", "first\n")
	w.Put(w.Run.State, `{"status": "awaiting_feedback", "current_phase": "build", "current_step": "make", "updated_at": "2025-12-06T17:00:00Z",
 "feedback_request": {"request_id": "fr-1", "type": "approval", "prompt": "Ship it?", "context": {"artifact_path": "design.md"}}}`)
	w.settle()
	return w
}

const requestFile, formFile = "requests/fr-1/request.json", "requests/fr-1/form.md"

// commit makes git say that the current request.json is committed.
func (w *world) commit() {
	p := w.In(requestFile)
	blob := fmt.Sprintf("blob %d\x00%s", len(w.Files[p]), w.Files[p])
	w.Files["git:blob/"+p] = fmt.Sprintf("%x", sha1.Sum([]byte(blob)))
}

// shown returns the digest of what the request shows now.
func (w *world) shown() engine.Digest {
	return gate.Digest([]byte(w.Files[w.In(requestFile)]), []string{engine.Sum([]byte(w.Files["design.md"])).Hex()}, 0)
}

// reissue changes the artifact and gives request.json its digest.
func (w *world) reissue() {
	w.Put("design.md", "second\n")
	w.Put(w.In(requestFile), strings.Replace(w.Files[w.In(requestFile)], engine.Sum([]byte("first\n")).Hex(), engine.Sum([]byte("second\n")).Hex(), 1))
}

// Without a record, request.json counts if it equals the version in HEAD, or, if HEAD has none, the
// request as it would be issued now. In the latter case an answer must name the digest of the view.
func TestARequestThatNobodyRecorded(t *testing.T) {
	altered := func(w *world) bool {
		return strings.Contains(w.Files[w.In(requestFile+".problem.md")], templates.Text(w.Facts.Config.Language, "faber.altered.changed"))
	}
	respond := func(w *world) { w.Respond("fr-1", map[string]any{"response": "approve"}) }
	korean := func(w *world) { w.Facts.Config.Language = "ko" }
	for _, c := range []struct {
		name    string
		do      func(w *world)
		taken   bool
		altered bool
		note    string
	}{
		{"its form", func(w *world) { w.Tick(w.In(formFile), "approve", "submit") }, true, false, ""},
		{"a digest", func(w *world) { w.Respond("fr-1", map[string]any{"response": "approve", "digest": w.shown()}) }, true, false, ""},
		{"no digest", respond, false, false, "this machine has no record of what was shown"},
		{"no digest, but committed", func(w *world) { w.commit(); respond(w) }, true, false, ""},
		{"re-issued without its form", func(w *world) { w.reissue(); delete(w.Files, w.In(formFile)); respond(w) }, false, false, "this machine has no record"},
		{"re-issued under its form", func(w *world) { w.reissue(); w.Tick(w.In(formFile), "approve", "submit") }, false, false, "stale"},
		{"re-issued, and committed before", func(w *world) { w.commit(); w.reissue(); respond(w) }, false, true, ""},
		{"another description, no form", func(w *world) {
			w.Put(w.In(requestFile), strings.Replace(w.Files[w.In(requestFile)], "Cancel this workflow run", "Go on", 1))
			delete(w.Files, w.In(formFile))
			respond(w)
		}, false, true, ""},
		{"another description, committed", func(w *world) {
			w.Put(w.In(requestFile), strings.Replace(w.Files[w.In(requestFile)], "Cancel this workflow run", "Stop", 1))
			delete(w.Files, w.In(formFile))
			w.commit()
			w.settle()
			w.Tick(w.In(formFile), "approve: Continue", "submit")
		}, true, false, ""},
		{"other settings", func(w *world) { korean(w); w.Tick(w.In(formFile), "approve", "submit") }, false, true, ""},
		{"other settings, committed", func(w *world) { korean(w); w.commit(); w.Tick(w.In(formFile), "approve", "submit") }, true, false, ""},
	} {
		w := unrecordedRun(t)
		c.do(w)
		if taken := w.settle(); cmp.Equal(taken, []string{"answered_continue"}) != c.taken || altered(w) != c.altered ||
			!strings.Contains(w.Files[w.In("requests/fr-1/problem.md")], c.note) {
			t.Errorf("%s: took %v, altered %v, note: %s", c.name, taken, altered(w), w.Files[w.In("requests/fr-1/problem.md")])
		}
	}
}

// If this machine wrote request.json twice, an answer without a digest could mean either version.
func TestARequestThatWasWrittenAgainOverOtherArtifacts(t *testing.T) {
	w := unrecordedRun(t)
	w.Unrecorded = false
	for _, name := range []string{requestFile, formFile} {
		delete(w.Files, w.In(name))
	}
	w.Put("design.md", "second\n")
	w.settle()
	w.Respond("fr-1", map[string]any{"response": "approve"})
	if taken := w.settle(); len(taken) > 0 {
		t.Fatalf("took %v", taken)
	}
	w.Respond("fr-1", map[string]any{"response": "approve", "digest": w.shown()})
	if taken := w.settle(); !cmp.Equal(taken, []string{"answered_continue"}) {
		t.Errorf("took %v: %s", taken, w.Files[w.In("requests/fr-1/problem.md")])
	}
}
