package optimizer

import (
	"bytes"
	"path"
	"regexp"
	"strconv"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
)

// ticketNeeds are where the tickets of the goal's directives belong: upstream's
// folder, and the tickets that it holds. Once tickets.json stands nothing is looked at:
// a ticket that upstream closed and deleted is not made again.
func ticketNeeds(r *cycle) []string {
	if r.run.State.Status != Reached || r.run.State.Goal == nil || !r.cfg.Tickets || !r.run.Snap.In("tickets.json").Absent() || len(r.run.State.Goal.OptimizationDirectives) == 0 {
		return nil
	}
	folder := layout.OptimizerTickets(r.run.Snap.Dir)
	return []string{folder, path.Join(folder, "TKT-*.md")}
}

// ticketOutputs plans the tickets that are not there, if upstream has a folder for them.
func ticketOutputs(r *cycle, w *run.Outputs) {
	needs := ticketNeeds(r)
	if len(needs) == 0 || len(r.run.Snap.Lacks(needs)) > 0 || r.run.Snap.Doc(needs[0]).Absent() {
		return
	}
	var there []engine.Document
	for _, d := range r.run.Snap.Docs {
		if path.Dir(d.Path) == needs[0] && !d.Absent() {
			if d.Unsettled() { // it may be one that an earlier pass wrote
				r.run.Held = true
				return
			}
			there = append(there, d)
		}
	}
	list := Tickets{}
	for _, t := range ticketsOf(r.run.State, r.run.Snap.Key.ID, r.cfg, there) {
		list.Tickets = append(list.Tickets, t.Ticket)
		if t.Body != nil {
			w.Plan.Writes = append(w.Plan.Writes, engine.Document{Path: path.Join(needs[0], t.File), Kind: layout.OptimizerKindTickets, Body: t.Body})
		}
	}
	w.Put("tickets.json", encoded(list))
}

// numbered is how upstream finds the number of a ticket.
var numbered = regexp.MustCompile(`^TKT-([0-9]+)`)

// ticketNumbers are the numbers that tickets have.
type ticketNumbers struct {
	highest int // of those that are not the cycle's own
	taken   map[int]bool
	own     map[string]string // the file names of the cycle's own, by directive
}

// numbersOf looks at the tickets in a folder. One that carries the id of a directive was
// written by an earlier pass, which ended before it wrote tickets.json.
func numbersOf(there []engine.Document, directives []string) ticketNumbers {
	n := ticketNumbers{taken: map[int]bool{}, own: map[string]string{}}
	for _, d := range there {
		name := path.Base(d.Path)
		of := numbered.FindStringSubmatch(name)
		if of == nil {
			continue
		}
		number, err := strconv.Atoi(of[1])
		if err != nil {
			continue // no number of ours comes near it
		}
		n.taken[number] = true
		foreign := true
		for _, id := range directives {
			if bytes.Contains(d.Body, []byte("\ndirective_id: "+yamlText(id)+"\n")) {
				n.own[id], foreign = name, false
			}
		}
		if foreign {
			n.highest = max(n.highest, number)
		}
	}
	return n
}

// next takes the number of the k-th ticket: upstream's own next one, so that the one
// after ours is free, and none is left out.
func (n ticketNumbers) next(k int) int {
	number := n.highest + k
	for n.taken[number] {
		number++
	}
	n.taken[number] = true
	return number
}
