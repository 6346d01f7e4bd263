package optimizer

import (
	"path"

	"placet/engine"
	"placet/layout"
)

// ticketNeeds are where the tickets of the goal's directives belong: upstream's
// folder, and each ticket. Once tickets.json stands nothing is looked at: a ticket
// that upstream closed and deleted is not made again.
func (r *reading) ticketNeeds() []string {
	if r.st.Status != Reached || r.st.Goal == nil || !r.cfg.Tickets || !r.Snap.In("tickets.json").Absent() || len(r.st.Goal.OptimizationDirectives) == 0 {
		return nil
	}
	folder := layout.OptimizerTickets(r.Snap.Dir)
	needs := []string{folder}
	for _, t := range ticketsOf(r.st, r.Snap.Key.ID, r.cfg) {
		needs = append(needs, path.Join(folder, t.File))
	}
	return needs
}

// tickets plans the tickets that are not there, if upstream has a folder for them.
func (w *writing) tickets() {
	r := w.r
	needs := r.ticketNeeds()
	if len(needs) == 0 || len(r.Snap.Lacks(needs)) > 0 || r.Snap.Doc(needs[0]).Absent() {
		return
	}
	list := Tickets{}
	for i, t := range ticketsOf(r.st, r.Snap.Key.ID, r.cfg) {
		list.Tickets = append(list.Tickets, t.Ticket)
		if p := needs[i+1]; r.Snap.Doc(p).Absent() {
			w.Plan.Writes = append(w.Plan.Writes, engine.Document{Path: p, Kind: layout.OptimizerKindTickets, Body: t.Body})
		}
	}
	w.Put("tickets.json", encoded(list))
}
