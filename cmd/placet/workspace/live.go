package workspace

import (
	"strings"

	"placet/cmd/placet/family"
	"placet/engine"
	"placet/layout"
)

// SessionOf says whose progress a volatile document of a run holds: the worker's session,
// and the port that it works on. Where the family does not say, the session is the path in
// the run's folder.
func SessionOf(run layout.Run, path string) (session, port string) {
	if of, ok := family.Named(run.Family); ok && of.Session != nil {
		return of.Session(run, path)
	}
	return strings.TrimPrefix(path, run.Dir+"/"), ""
}

// EventsOf are the events of a commit that its family alone has. read reads a document of the
// run.
func EventsOf(run layout.Run, plan engine.Plan, read func(rel string) engine.Document) []family.Event {
	if of, ok := family.Named(run.Family); ok && of.Events != nil {
		return of.Events(run, plan, read)
	}
	return nil
}

// FillPlan draws a run among its peers, where its family does so; else the view has its plan
// already.
func FillPlan(b *Workspace, v *View) error {
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
