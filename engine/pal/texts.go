package pal

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// say returns a sentence of the family in the language of the run.
func (r *view) say(key string, pairs ...any) string {
	return r.run.Say(templates.Key("pal."+key), pairs...)
}

// longestQuoted is how many bytes of a text a worker sees. A longer one is cut and followed by the
// path of the whole text.
const longestQuoted = 4 << 10

// quotedText returns a text quoted for a worker.
func quotedText(r *view, body, file string) string {
	if len(body) <= longestQuoted {
		return templates.Quote(body)
	}
	return templates.Quote(templates.Cut(body, longestQuoted)) + "\n\n" + r.say("cut", "file", templates.Code(file))
}

// render renders a text of the family for people and agents.
func render(r *view, name string, data any) []byte {
	text, err := templates.Render(r.run.Lang, "pal/"+name, data)
	return run.Must([]byte(text), err)
}

// tryText returns inbox/try-<n>.md: a worker's instructions for a try.
func tryText(p *port, role string) []byte {
	r, l := p.r, p.loop
	dir := layout.PalMember(p.id, role)
	data := templates.PalPageData{
		First: mark(r, p.id, fmt.Sprintf("try %d", p.LastTry)),
		Title: r.say("try.title."+role, "port", p.id, "title", p.Title, "n", strconv.Itoa(p.LastTry-l.FirstTry+1), "max", strconv.Itoa(l.MaxRetries)),
	}
	data.Sections = append(data.Sections, templates.PalSection{Title: r.say("try.port"), Body: portText(p)})
	data.Sections = append(data.Sections, earlierHandIn(p, role)...)
	for _, dep := range p.DependsOn {
		if d := r.ports[dep]; d != nil && d.Status == Complete && d.FirstStartedAt != "" {
			data.Sections = append(data.Sections, templates.PalSection{Title: r.say("try.dependency", "port", dep), Body: r.say("file", "file", templates.Code(r.run.Path(layout.PalPortDir(dep)+"/report.md")))})
		}
	}
	file, example := layout.PalResultFile(p.id, p.LastTry), `{"status": "ready", "summary": "…", "changed_files": ["…"], "tokens_used": 0}`
	if role == roleTest {
		file, example = layout.PalFeedbackFile(p.id, p.LastTry), `{"success": false, "failed_tests": [{"name": "…", "expected": "…", "actual": "…", "suggested_fix": "…"}], "metrics": {"total": 1, "passed": 0}}`
	}
	data.Sections = append(data.Sections, templates.PalSection{Title: r.say("try.handin"), Body: strings.Join([]string{
		r.say("try.handin."+role, "file", templates.Code(r.run.Path(file))), "```json\n" + example + "\n```",
		r.say("try.others", "channel", templates.Code(r.run.Path("channels/"+p.id+"/messages/")), "progress", templates.Code(r.run.Path(path.Join(dir, "progress.json"))),
			"escalation", templates.Code(r.run.Path(path.Join(dir, "escalation-1.json")))),
	}, "\n\n")})
	return render(r, "page", data)
}

// portText describes the task of a port.
func portText(p *port) string {
	if p.Spec != "" {
		return p.r.say("try.spec", "file", templates.Code(p.Spec), "digest", string(p.r.run.State.Specs[p.id]))
	}
	if templates.Blank(p.Body) {
		return templates.Dash
	}
	return quotedText(p.r, p.Body, p.r.run.Path(orchestrationFile))
}

// handedInBefore returns the document that a worker builds on: for impl the feedback that reported
// a failure, for test the result. sum is "" if there is none.
func (p *port) handedInBefore(role string) (file, title string, n int, sum text) {
	t := p.loop.last()
	if role == roleImpl && t == nil && p.Round > 1 {
		t = p.r.run.State.Loops[loopID(p.id, p.Round-1)].last()
	}
	switch {
	case t == nil:
		return "", "", 0, ""
	case role == roleImpl && t.FeedbackDigest != "":
		return layout.PalFeedbackFile(p.id, t.Try), "try.feedback", t.Try, t.FeedbackDigest
	}
	return layout.PalResultFile(p.id, t.Try), "try.result", t.Try, t.ResultDigest
}

// earlierHandIn returns the section with the other worker's last document.
func earlierHandIn(p *port, role string) []templates.PalSection {
	file, title, n, sum := p.handedInBefore(role)
	if sum == "" {
		return nil
	}
	d := p.r.run.Snap.In(file)
	body := p.r.say("file", "file", templates.Code(p.r.run.Path(file)))
	if text(d.Sum) == sum && d.Present() {
		body += "\n\n" + quotedText(p.r, string(d.Body), p.r.run.Path(file))
	}
	return []templates.PalSection{{Title: p.r.say(title, "n", strconv.Itoa(n)), Body: body}}
}

// mark returns the first line of a text of placet's.
func mark(r *view, port, what string) string {
	return fmt.Sprintf("<!-- placet pal %s %s %s -->", r.run.State.ID, port, what)
}

// messageText returns inbox/message-<name>.md.
func messageText(p *port, m message) []byte {
	// The body is the same whether it comes from the submitted document or from its message.
	body := strings.TrimSpace(string(run.Encoded(m.Payload)))
	if said, ok := m.Payload.Text(); ok {
		body = said
	}
	return render(p.r, "page", templates.PalPageData{
		First: mark(p.r, p.id, m.name), Title: p.r.say("message.title", "type", m.Type, "from", m.FromSession),
		Sections: []templates.PalSection{
			{Title: p.r.say("message.payload"), Body: quotedText(p.r, body, p.r.run.Path(layout.PalMessageFile(p.id, m.name)))},
			{Title: p.r.say("message.ack"), Body: p.r.say("message.ack.how", "name", m.name)},
		},
	})
}

// answerText returns inbox/answer-<id>.md: a person's decision.
func answerText(p *port, id string, e *Escalation) []byte {
	data := templates.PalPageData{
		First: mark(p.r, p.id, id), Title: p.r.say("answer.title", "type", e.Type),
		Sections: []templates.PalSection{
			{Title: p.r.say("answer.about"), Body: templates.Quote(e.Title)},
			{Title: p.r.say("answer.answer"), Body: templates.Inline(string(e.Resolution)) + " (" + templates.Inline(string(e.ResolvedBy)) + ")"},
		},
	}
	if !templates.Blank(e.Comment) {
		data.Sections = append(data.Sections, templates.PalSection{Title: p.r.say("answer.comment"), Body: quotedText(p.r, e.Comment, p.r.run.Path(layout.RequestsDir+"/"+id+"/receipt.json"))})
	}
	return render(p.r, "page", data)
}

// portReport returns report.md of a port's operator.
func portReport(p *port) []byte {
	r := p.r
	data := templates.PalPageData{
		First: mark(r, p.id, "report"), Title: r.say("report.port", "port", p.id, "title", p.Title),
		Facts: []templates.FormFact{{Label: r.say("report.outcome"), Value: outcomeWords(p)}, {Label: r.say("report.rounds"), Value: strconv.Itoa(p.Round)}},
	}
	var tries, files []string
	for round := 1; round <= p.Round; round++ {
		for _, t := range r.run.State.Loops[loopID(p.id, round)].History {
			tries = append(tries, "- "+tryWords(p, t))
		}
	}
	for _, f := range p.changedFiles() {
		files = append(files, "- "+templates.Code(f))
	}
	data.Sections = []templates.PalSection{
		{Title: r.say("report.tries"), Body: templates.OrDash(strings.Join(tries, "\n"))}, {Title: r.say("report.files"), Body: templates.OrDash(strings.Join(files, "\n"))},
		{Title: r.say("report.escalations"), Body: escalationWords(r, func(e *Escalation) bool { return string(e.PortID) == p.id })},
	}
	return render(r, "page", data)
}

// outcomeWords says how a port ended.
func outcomeWords(p *port) string {
	words := string(p.Status)
	if p.Reason != "" {
		words += ": " + string(p.Reason)
	}
	if p.TakenOverBy != "" {
		words += ", " + p.r.say("report.taken_over", "user", string(p.TakenOverBy))
	}
	return words
}

func tryWords(p *port, t Try) string {
	switch {
	case t.Success:
		return p.r.say("report.try.passed", "n", strconv.Itoa(t.Try), "tests", testWords(t))
	case t.Cause == causeImpl:
		return p.r.say("report.try.impl", "n", strconv.Itoa(t.Try))
	case t.FeedbackDigest == "":
		return p.r.say("report.try.open", "n", strconv.Itoa(t.Try))
	}
	return p.r.say("report.try.failed", "n", strconv.Itoa(t.Try), "tests", testWords(t))
}

func testWords(t Try) string {
	if t.Total == nil || t.Passed == nil {
		return templates.Dash
	}
	words := fmt.Sprintf("%d/%d", *t.Passed, *t.Total)
	if t.Coverage != nil {
		words += fmt.Sprintf(", %g %%", *t.Coverage)
	}
	return words
}

// escalationWords lists the escalations that a function accepts, with their answers.
func escalationWords(r *view, accepts func(*Escalation) bool) string {
	var lines []string
	for _, id := range slices.Sorted(maps.Keys(r.run.State.Escalations)) {
		e := r.run.State.Escalations[id]
		if !accepts(e) {
			continue
		}
		line := fmt.Sprintf("- %s, %s: %s", templates.Code(id), e.Type, templates.Inline(e.Title))
		if e.Status != Open {
			line += " → " + templates.Inline(string(e.Resolution))
		}
		if !templates.Blank(e.Comment) {
			line += " (" + templates.Inline(templates.Cut(run.OneLine(e.Comment), 300)) + ")"
		}
		lines = append(lines, line)
	}
	return templates.OrDash(strings.Join(lines, "\n"))
}

// runReport returns report.md of the orchestration.
func runReport(r *view) []byte {
	st := r.run.State
	data := templates.PalPageData{
		First: mark(r, "-", "report"), Title: r.say("report.run", "id", st.ID, "title", st.Title),
		Facts: []templates.FormFact{
			{Label: r.say("report.outcome"), Value: string(st.Status)}, {Label: r.say("report.percent"), Value: strconv.Itoa(st.Percent) + " %"},
			{Label: r.say("report.started"), Value: templates.OrDash(string(st.StartedAt))}, {Label: r.say("report.ended"), Value: templates.OrDash(string(st.CompletedAt))},
		},
	}
	var ports []string
	for _, id := range r.order {
		p := r.ports[id]
		ports = append(ports, fmt.Sprintf("- %s: %s, %s", templates.Code(id), templates.Inline(outcomeWords(p)), r.say("report.ntries", "n", strconv.Itoa(p.tries()))))
	}
	data.Sections = []templates.PalSection{
		{Title: r.say("report.ports"), Body: strings.Join(ports, "\n")}, {Title: r.say("report.escalations"), Body: escalationWords(r, isAny)},
	}
	return render(r, "page", data)
}

// tries returns how many tries a port has had.
func (p *port) tries() (n int) {
	for round := 1; round <= p.Round; round++ {
		n += len(p.r.run.State.Loops[loopID(p.id, round)].History)
	}
	return n
}

// contextOf returns an escalation's context for a request.
func contextOf(e *Escalation, id string, st *State) schemas.Object {
	port := text(e.PortID)
	o := schemas.Object{
		member("escalation", schemas.Object{
			member("id", id), member("type", e.Type), member("severity", e.Severity), member("title", e.Title), member("description", e.Description),
			member("session_id", e.SessionID), member("suggested_actions", e.Actions), member("context", e.Context),
		}),
		member("port", port),
	}
	return append(o, member("dependents", e.Dependents))
}
