package daemon

import (
	"log/slog"
	"path"
	"strings"
	"sync"
	"time"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/loop"
	"placet/layout"
)

// refusalLog writes into a daemon's log which answers do not count. It writes each text once: a
// note that was deleted, or the same answer written again, adds no second line.
type refusalLog struct {
	log  *slog.Logger
	mu   sync.Mutex
	said map[refusal]bool
}

// refusal is a problem note beside an answer.
type refusal struct {
	note string
	sum  engine.Digest
}

// mostSaid limits the refusals that are remembered; beyond it they are forgotten and logged
// again.
const mostSaid = 10_000

// attach makes a loop report its commits to the log.
func (r *refusalLog) attach(o *loop.Options) {
	o.Observers = append(o.Observers, loop.Observer{Committed: r.committed})
}

// committed logs the notes about answers that a commit has written.
func (r *refusalLog) committed(run layout.Run, plan engine.Plan, _ time.Duration) {
	for _, d := range plan.Writes {
		id, ok := answeredIn(run, d)
		if !ok || !r.isNew(refusal{d.Path, engine.Sum(d.Body)}) {
			continue
		}
		why, _, _ := strings.Cut(engine.NoteBody(string(d.Body)), "\n\n")
		r.log.Warn("an answer does not count: "+console.Cut(console.OneLine(why), shownRefusal),
			"request", id, "run", engine.Key{Family: run.Family, ID: run.ID}.String(), "note", d.Path)
	}
}

// shownRefusal limits how much of a note is logged, in characters.
const shownRefusal = 300

// answeredIn returns the request whose answer a note is about.
func answeredIn(run layout.Run, d engine.Document) (request string, ok bool) {
	dir, name := path.Split(d.Path)
	request = path.Base(dir)
	return request, d.Kind == layout.KindProblem && name == "problem.md" && d.Path == layout.RequestPath(run.Dir, request, name)
}

// isNew reports whether a refusal is new, and remembers it.
func (r *refusalLog) isNew(x refusal) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.said[x] {
		return false
	}
	if r.said == nil || len(r.said) >= mostSaid {
		r.said = map[refusal]bool{}
	}
	r.said[x] = true
	return true
}
