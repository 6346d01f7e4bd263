package optimizer

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"placet/engine"
	"placet/templates"
)

// Tickets is tickets.json: which directive became which ticket. A ticket that
// upstream closed and deleted is not made again.
type Tickets struct {
	Tickets []Ticket `json:"tickets"`
}

// Ticket is a ticket that was made of a directive.
type Ticket struct {
	DirectiveID string `json:"directive_id"` // 8 hex digits, upper case
	TicketID    string `json:"ticket_id"`    // TKT-<number>
	File        string `json:"file"`         // its name in the folder of tickets
	CreatedAt   text   `json:"created_at"`
}

// ticketFile is a ticket and its file, nil where that is there already.
type ticketFile struct {
	Ticket
	Body []byte
}

// ticketsOf are the tickets of a cycle that reached its goal, one per directive,
// in their order, beside those that are there. run is the run's id in its key. They
// follow from the goal's transition, the last one: nothing later changes them.
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

// longestSlug is the greatest length of a slug, in characters.
const longestSlug = 60

// slug is a text as a part of a file's name, as upstream makes it: ASCII letters
// and digits, Korean syllables, "_" and "-". Blanks become hyphens, and so does
// each run of these and of underscores.
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
	outsideSlug = regexp.MustCompile(`[^0-9A-Za-z가-힣_ -]`)
	joins       = regexp.MustCompile(`[-_]{2,}`)
)

// shownTitle is how much of a directive is a ticket's title, in bytes.
const shownTitle = 200

// ticketMD is a ticket: the front matter that upstream reads, and for people
// what is to be done and where it comes from.
func (st State) ticketMD(t Ticket, directive string, s settings) string {
	created := st.Last.At.Time().UTC()
	today, due := created.Format("2006-01-02"), created.AddDate(0, 0, s.TicketDueDays).Format("2006-01-02")
	var b strings.Builder
	b.WriteString("---\n")
	for _, f := range []struct{ key, value string }{
		{"id", t.TicketID}, {"task_context_id", t.TicketID}, {"task_id", t.TicketID},
		{"title", yamlText(oneLine(directive, shownTitle))},
		{"status", "todo"}, {"priority", st.priority(directive)},
		{"owner", yamlText(s.TicketOwner)}, {"owner_agent", yamlText(s.TicketOwner)},
		{"dispatch_mode", "run"}, {"role", "executor"},
		{"objective", yamlText(sentence(directive))},
		{"workflow_name", yamlText(st.WorkflowName)}, {"run_id", st.RunID},
		{"due_by", due}, {"created", today}, {"updated", today},
		{"dependencies", "[]"}, {"tags", `["` + domain + `"]`},
		{"directive_id", yamlText(t.DirectiveID)},
	} {
		b.WriteString(f.key + ": " + f.value + "\n")
	}
	fmt.Fprintf(&b, "---\n\n# %s\n\n- %s\n- %s\n", t.TicketID, templates.Inline(sentence(directive)),
		phrase(st.Lang, "ticket.from", "run", st.RunID, "report", templates.Code(st.Report.Path)))
	return b.String()
}

// priority is that of the suggestion which a directive was.
func (st State) priority(directive string) string {
	for _, s := range st.Suggestions {
		if s.Text == directive && s.Priority == high {
			return high
		}
	}
	return "medium"
}

// yamlText is a text in double quotes on one line of YAML. What cannot be
// printed is escaped.
func yamlText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range strings.Join(strings.Fields(templates.Clean(s)), " ") {
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
