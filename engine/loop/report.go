package loop

import (
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/layout"
)

// Report is what Once found and did.
type Report struct {
	// Runs is the number of runs, Waiting how many of them wait for a person.
	Runs, Waiting int
	// Moved is the number of transitions committed.
	Moved int
	// Unsettled are the files, by path, that were still being written when the
	// time to wait for them was over.
	Unsettled []string
	// Torn are the files, by path, that cannot be read and may be half of a write:
	// no note says yet what is wrong with them.
	Torn []string
	// Notes are the paths of the problem notes that stand beside the files of
	// runs that can move.
	Notes []string
	// Wake is the earliest moment at which time alone may move something; zero
	// if there is none.
	Wake time.Time
	// Held says why nothing was decided, "" if it was.
	Held string
	// Stuck are the keys of runs whose machine does not come to rest.
	Stuck []string
}

// add takes one run's last pass into the report.
func (r *Report) add(f Found, p *pass, stuck bool) {
	if stuck {
		r.Stuck = append(r.Stuck, f.Key().String())
	}
	for _, d := range p.last.snap.Docs {
		switch {
		case d.Unsettled() && d.Path == engine.NeedPeers:
			_, writing := p.l.peers[f.Run.Family].entries()
			r.Unsettled = append(r.Unsettled, writing...)
		case d.Unsettled():
			r.Unsettled = append(r.Unsettled, d.Path)
		case d.Kind == layout.KindProblem && !d.Absent() && strings.HasSuffix(d.Path, ".md"):
			r.Notes = append(r.Notes, d.Path)
		}
	}
	for _, h := range p.last.plan.Pending {
		r.Torn = append(r.Torn, h.Path)
	}
	// A request may stand of which the state does not tell.
	if summarize(f, p.last.snap.Doc(f.Run.State)).Waiting || len(openRequests(p.last.snap.Docs)) > 0 {
		r.Waiting++
	}
	r.Wake = earlier(r.Wake, p.wake())
}

// addRest takes a run into the report that is as an earlier placet left it.
func (r *Report) addRest(status engine.Summary, rest *storedIdle) {
	r.Notes = append(r.Notes, rest.Notes...)
	if status.Waiting {
		r.Waiting++
	}
	r.Wake = earlier(r.Wake, rest.Wake)
}

// tidy sorts the lists; a file that several runs need is named once.
func (r *Report) tidy() {
	for _, list := range []*[]string{&r.Unsettled, &r.Torn, &r.Notes, &r.Stuck} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
}
