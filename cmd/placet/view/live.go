package view

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"placet/cmd/placet/family"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/loop"
	"placet/layout"
)

// SessionOf returns whose progress a volatile document of a run holds: the worker's session,
// and the port that it works on. The session is the path in the run's folder if the family does
// not say.
func SessionOf(run layout.Run, path string) (session, port string) {
	if of, ok := family.Named(run.Family); ok && of.Session != nil {
		return of.Session(run, path)
	}
	return strings.TrimPrefix(path, run.Dir+"/"), ""
}

// EventsOf returns the events of a commit that only its family has. read reads a document of
// the run.
func EventsOf(run layout.Run, plan engine.Plan, read func(rel string) engine.Document) []family.Event {
	if of, ok := family.Named(run.Family); ok && of.Events != nil {
		return of.Events(run, plan, read)
	}
	return nil
}

// FillPlan draws a run among its peers, if its family does so; otherwise the view already has
// its plan.
func FillPlan(b *workspace.Workspace, v *Run) error {
	of, _ := family.Named(v.Found.Run.Family)
	if of.Plan == nil {
		return nil
	}
	peers, err := b.Peers(v.Found.Run.Family)
	if err != nil {
		return err
	}
	v.Graph = of.Plan(peers, v.Found.Run.ID)
	return nil
}

// Live returns the runs that can still move, and counts the others by status. It returns a run
// that has ended by its state document, but has a note beside it, too: somebody else may have
// written that state.
func Live(b *workspace.Workspace, found []loop.Found) ([]loop.Found, map[engine.Status]int) {
	all := make([]engine.Summary, len(found))
	noted := make([]bool, len(found))
	each(len(found), func(i int) {
		all[i] = b.Loop.Summarize(found[i])
		noted[i] = all[i].Final && b.Store.Exists(found[i].Run.State+layout.ProblemSuffix)
	})
	final := map[engine.Status]int{}
	var live []loop.Found
	for i, f := range found {
		if all[i].Final && !noted[i] {
			final[all[i].Status]++
		} else {
			live = append(live, f)
		}
	}
	return live, final
}

// each calls f for 0 … n-1, as many at a time as there are processors.
func each(n int, f func(i int)) {
	var wg sync.WaitGroup
	var next atomic.Int64
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
}
