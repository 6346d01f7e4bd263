package cli_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A note about an unusable answer goes with its request: once, a form that nobody could take
// back made check end with 1 for ever.
func TestANoteGoesWhenItsRequestIsAnsweredOtherwise(t *testing.T) {
	t.Parallel()
	p := answeredPlace(t, 4, 4)
	reject := func(i int) string {
		return strings.Replace(p.ticked(i, "approve"), "- [ ] reject", "- [x] reject", 1)
	}
	p.replace(p.request(0)+"/form.md", reject(0))                                  // two options
	p.replace(p.request(1)+"/response.json", p.response(1, "perhaps", ""))         // none of them
	p.replace(p.request(2)+"/response.json", p.response(2, "request_changes", "")) // no comment
	p.replace(p.request(3)+"/form.md", reject(3))
	p.must(1, "once")
	for i := range p.runs {
		p.says(p.read(p.request(i)+"/problem.md"), "# Problem")
	}
	p.write(p.request(0)+"/response.json", p.response(0, "approve", ""))
	p.replace(p.request(1)+"/form.md", p.ticked(1, "approve"))
	p.replace(p.request(2)+"/form.md", p.ticked(2, "approve"))
	p.must(0, "approve", p.listedAs(3))
	p.must(0, "once")
	for i := range p.runs {
		p.verify(i, "approve")
		p.stays(p.request(i) + "/problem.md")
	}
	p.must(0, "once")
	p.must(0, "check")

	// A different answer that could have counted is still reported.
	p.replace(p.request(0)+"/response.json", p.response(0, "reject", ""))
	p.must(1, "once")
	p.says(p.read(p.request(0)+"/problem.md"), "says `reject`", "It is closed")
}

// listedAs is a run's request as the inbox lists it, with the digest of what it shows.
func (p *place) listedAs(i int) string {
	p.t.Helper()
	out, _ := p.placet("inbox")
	_, after, found := strings.Cut(out, p.requestID(i)+"@")
	if !found {
		p.t.Fatalf("the inbox does not list request %d: %s", i, out)
	}
	digest, _, _ := strings.Cut(after, " ")
	return p.requestID(i) + "@" + digest
}

// A daemon logs which answers it refuses, each once: before, only people who looked for a note
// knew.
func TestWatchSaysWhichAnswersItRefuses(t *testing.T) {
	t.Parallel()
	p := answeredPlace(t, 2, 2)
	d := p.start()
	defer func() { d.stop(syscall.SIGTERM) }()
	p.await(d)
	refused := func(i int) int {
		return strings.Count(d.said(), "request: "+p.requestID(i)+"  run: faber/acme/web/"+filepath.Base(p.runs[i])+"  note: "+p.request(i)+"/problem.md")
	}
	p.replace(p.request(0)+"/response.json", p.response(0, "perhaps", ""))
	p.until("the first refusal", func() bool { return refused(0) == 1 })
	p.says(d.said(), "placet: an answer does not count: ", "`perhaps`, which is none of the options")
	// A deleted note comes back, and is not logged again.
	p.remove(p.request(0) + "/problem.md")
	p.until("the note again", func() bool { return p.there(p.request(0) + "/problem.md") })
	p.replace(p.request(0)+"/response.json", p.response(0, "maybe", ""))
	p.replace(p.request(1)+"/form.md", strings.Replace(p.ticked(1, "approve"), "- [ ] reject", "- [x] reject", 1))
	p.until("the others", func() bool { return refused(0) == 2 && refused(1) == 1 })
	p.says(d.said(), "`maybe`, which is none of the options", "has 2 options ticked")
}
