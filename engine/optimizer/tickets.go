package optimizer

import (
	"bytes"
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode"

	"placet/engine"
	"placet/engine/run"
	"placet/internal/lazyregexp"
	"placet/layout"
	"placet/templates"
)

// Tickets is tickets.json: the ticket of each directive. placet does not recreate a ticket that
// upstream closed and deleted.
type Tickets struct {
	Tickets []Ticket `json:"tickets"`
}

// Ticket is a ticket made from a directive.
type Ticket struct {
	DirectiveID string `json:"directive_id"` // 8 hex digits, upper case
	TicketID    string `json:"ticket_id"`    // TKT-<number>
	File        string `json:"file"`         // its name in the folder of tickets
	CreatedAt   text   `json:"created_at"`
}

// ticketFile is a ticket and its content; Body is nil if the file already exists.
type ticketFile struct {
	Ticket
	Body []byte
}

// ticketsOf returns the tickets of a cycle that reached its goal, one per directive and in their
// order. there are the tickets that exist, run is the run's id in its key. The tickets follow from
// the transition to the goal, which is the last one, so nothing later changes them.
func ticketsOf(st State, run string, s settings, there []engine.Document) []ticketFile {
	var ids []string
	for i := range st.Goal.OptimizationDirectives {
		ids = append(ids, strings.ToUpper(id(run, st.Revision, "directive:"+strconv.Itoa(i+1))))
	}
	numbers := numbersOf(there, ids)
	var all []ticketFile
	for i, directive := range st.Goal.OptimizationDirectives {
		m := ticketFile{Ticket: Ticket{DirectiveID: ids[i], File: numbers.own[ids[i]], CreatedAt: st.Last.At}}
		if m.File != "" {
			m.TicketID = numbered.FindString(m.File)
		} else {
			m.TicketID = fmt.Sprintf("TKT-%04d", numbers.next(i+1))
			m.File = m.TicketID + "-" + slug(directive) + ".md"
			m.Body = []byte(st.ticketMD(m.Ticket, directive, s))
		}
		all = append(all, m)
	}
	return all
}

// longestSlug is the maximum length of a slug, in characters.
const longestSlug = 60

// slug turns a text into a part of a file name, as upstream does. It keeps ASCII letters and
// digits, Korean syllables, "_" and "-". Blanks become hyphens, and so does each run of hyphens and
// underscores.
func slug(s string) string {
	blanks := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, s)
	kept := strings.TrimSpace(outsideSlug.ReplaceAllString(blanks, ""))
	if kept == "" {
		return "ticket"
	}
	joined := []rune(joins.ReplaceAllString(strings.ReplaceAll(kept, " ", "-"), "-"))
	return string(joined[:min(len(joined), longestSlug)])
}

var (
	outsideSlug = lazyregexp.New(`[^0-9A-Za-z가-힣_ -]`)
	joins       = lazyregexp.New(`[-_]{2,}`)
)

// shownTitle is how many bytes of a directive go into the title of its ticket.
const shownTitle = 200

// ticketMD returns the content of a ticket: front matter for upstream, and for people the task and
// its origin.
func (st State) ticketMD(t Ticket, directive string, s settings) string {
	created := st.Last.At.Time().UTC()
	today, due := created.Format("2006-01-02"), created.AddDate(0, 0, s.TicketDueDays).Format("2006-01-02")
	var b strings.Builder
	b.WriteString("---\n")
	for _, f := range []struct{ key, value string }{
		{"id", t.TicketID}, {"task_context_id", t.TicketID}, {"task_id", t.TicketID},
		{"title", yamlText(templates.Line(directive, shownTitle))},
		{"status", "todo"}, {"priority", st.priority(directive)},
		{"owner", yamlText(s.TicketOwner)}, {"owner_agent", yamlText(s.TicketOwner)},
		{"dispatch_mode", "run"}, {"role", "executor"},
		{"objective", yamlText(run.OneLine(directive))},
		{"workflow_name", yamlText(st.WorkflowName)}, {"run_id", st.RunID},
		{"due_by", due}, {"created", today}, {"updated", today},
		{"dependencies", "[]"}, {"tags", `["` + domain + `"]`},
		{"directive_id", yamlText(t.DirectiveID)},
	} {
		b.WriteString(f.key + ": " + f.value + "\n")
	}
	fmt.Fprintf(&b, "---\n\n# %s\n\n- %s\n- %s\n", t.TicketID, templates.Inline(run.OneLine(directive)),
		phrase(st.Lang, "ticket.from", "run", st.RunID, "report", templates.Code(st.Report.Path)))
	return b.String()
}

// priority returns the priority of the suggestion that became a directive.
func (st State) priority(directive string) string {
	for _, s := range st.Suggestions {
		if s.Text == directive && s.Priority == high {
			return high
		}
	}
	return "medium"
}

// yamlText returns a text as a double-quoted YAML string on one line. It escapes unprintable
// characters.
func yamlText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range templates.OneLine(s) {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == ' ' || unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	return b.String() + `"`
}

// ticketNeeds returns upstream's folder of tickets and the tickets in it, if the goal has
// directives. It returns nothing once tickets.json exists, because placet does not recreate a
// ticket that upstream closed and deleted.
func ticketNeeds(r *cycle) []string {
	if r.run.State.Status != Reached || r.run.State.Goal == nil || !r.cfg.Tickets || !r.run.Snap.In("tickets.json").Absent() || len(r.run.State.Goal.OptimizationDirectives) == 0 {
		return nil
	}
	folder := layout.OptimizerTickets(r.run.Snap.Dir)
	return []string{folder, path.Join(folder, "TKT-*.md")}
}

// ticketOutputs plans the missing tickets if upstream has a folder for them.
func ticketOutputs(r *cycle, w *run.Outputs) {
	needs := ticketNeeds(r)
	if len(needs) == 0 || len(r.run.Snap.Lacks(needs)) > 0 || r.run.Snap.Doc(needs[0]).Absent() {
		return
	}
	var there []engine.Document
	for _, d := range r.run.Snap.Docs {
		if path.Dir(d.Path) == needs[0] && !d.Absent() {
			if d.Unsettled() { // an earlier pass may have written it
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
	w.Put("tickets.json", run.Encoded(list))
}

// numbered matches the number of a ticket as upstream does.
var numbered = lazyregexp.New(`^TKT-([0-9]+)`)

// ticketNumbers holds the numbers that tickets have.
type ticketNumbers struct {
	highest int // of the tickets of other cycles
	taken   map[int]bool
	own     map[string]string // the file names of this cycle's tickets, by directive
}

// numbersOf reads the tickets in a folder. A ticket with the id of a directive comes from an
// earlier pass that ended before it wrote tickets.json.
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
			continue // too large to collide with a number of placet's
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

// next returns the number of the k-th ticket: the one that upstream would give, so that upstream's
// own next number stays free and no number is skipped.
func (n ticketNumbers) next(k int) int {
	number := n.highest + k
	for n.taken[number] {
		number++
	}
	n.taken[number] = true
	return number
}
