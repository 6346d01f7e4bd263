package cli_test

import (
	"syscall"
	"testing"
)

// A note about an unusable answer goes with its request, and one about a late answer goes with
// its cause, even if the run has ended by that time.
func TestANoteGoesWithItsCauseInARunThatHasEnded(t *testing.T) {
	p := newWorkspace(t, "")
	d := p.start()
	defer func() { d.stop(syscall.SIGTERM) }()
	p.await(d)
	p.trigger(nearRun, "near")
	folder, id := p.asked(nearRun)
	p.saved(folder+"response.json", `{"request_id": "`+id+`", "response": "higher", "provided_by": {"user": "kim", "source": "file"}}`)
	p.awaitFile(folder + "problem.md")
	p.answer(folder, id, judgements[byForm])
	p.reaches(nearRun)
	p.until("all rows are in", func() bool { return p.settled(nearRun) })
	p.until("the note about what was no answer is gone", func() bool { return !p.there(folder + "problem.md") })
	d.stop(syscall.SIGTERM)
	p.answer(folder, id, judgement{"appropriate", "", "too much work", false})
	p.placet("once")
	p.awaitFile(folder + "problem.md")
	d = p.start()
	p.await(d)
	p.remove(folder + "response.json")
	p.until("the note is gone", func() bool { return !p.there(folder + "problem.md") })
}
