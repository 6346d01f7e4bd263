package afl

import (
	"fmt"
	"strings"
	"time"

	"placet/engine"
)

// parts are the checkpoints as show prints one of them.
func (r *session) parts() []engine.Part {
	var list []engine.Part
	for _, id := range displayOrder(r.State) {
		list = append(list, r.part(id, r.checkpoint(id)))
	}
	if len(list) > 0 || r.State.Approved != nil {
		return list
	}
	for _, d := range r.specs.definitions() {
		list = append(list, engine.Part{ID: d.ID, Status: "not approved", Facts: definitionFacts(d)})
	}
	return list
}

func (r *session) part(id string, c *Checkpoint) engine.Part {
	p := engine.Part{ID: id, Status: c.Status}
	if d := r.defs[id]; d != nil {
		p.Facts = definitionFacts(*d)
	}
	add := func(label, value string) {
		if value != "" {
			p.Facts = append(p.Facts, engine.Fact{Label: label, Value: value})
		}
	}
	if c.Iteration > 0 {
		add("attempt", fmt.Sprintf("%d/%d", c.Iteration, c.MaxIterations))
	}
	add("aborted because", string(c.AbortedBecause))
	if c.Status == Retrying {
		add("next attempt", string(c.RetryAt))
	}
	if words, _, ok := totalTime(*c); ok {
		add("time", words)
	}
	if len(c.History) > 0 {
		add("feedback quality", feedbackQuality(*c))
	}
	if e := c.Escalation; e != nil {
		add("last escalation", since(e.Reason, e.At))
	}
	section := func(title, body string) {
		if strings.TrimSpace(body) != "" {
			p.Sections = append(p.Sections, engine.Section{Title: title, Text: body})
		}
	}
	section("History", historyLines(c))
	if c.Escalation != nil {
		if rep, ok := r.escalationReport(id); ok {
			section("Last escalation", rep.lines())
		}
	}
	if n := len(c.Feedback); n > 0 {
		last := c.Feedback[n-1].Iteration
		section(fmt.Sprintf("Feedback on attempt %d", last), unmarked(r.Snap.In(place(id, last, "feedback.md")).Body))
	}
	section("Files", strings.Join(r.filesAt(id, c), "\n"))
	return p
}

// definitionFacts are what a checkpoint is to be.
func definitionFacts(d Definition) []engine.Fact {
	var list []engine.Fact
	add := func(label, value string) {
		if value != "" {
			list = append(list, engine.Fact{Label: label, Value: value})
		}
	}
	add("name", d.Name)
	add("type", d.Type)
	add("description", string(d.Description))
	add("depends on", strings.Join(d.Dependencies, ", "))
	for _, c := range d.Criteria {
		add("criterion", c)
	}
	add("command", string(d.Command))
	add("expected", string(d.Expected))
	if d.TimeoutMS != nil {
		add("timeout", (time.Duration(*d.TimeoutMS) * time.Millisecond).String())
	}
	return list
}

// historyLines are the verdicts, one a line.
func historyLines(c *Checkpoint) string {
	var lines []string
	for _, h := range c.History {
		line := fmt.Sprintf("%s  attempt %d", h.Timestamp, h.Iteration)
		if h.Run > 1 {
			line += fmt.Sprintf(", run %d", h.Run)
		}
		line += fmt.Sprintf("  %s  %s", h.Result, h.Route)
		if h.FailureType != "" {
			line += "  " + string(h.FailureType)
		}
		if h.Result == failed && len(h.FailedCriteria) > 0 {
			line += "  " + oneLine(strings.Join(h.FailedCriteria, "; "), shownName)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// unmarked is one of placet's Markdown documents without its first line.
func unmarked(body []byte) string {
	words := string(body)
	if strings.HasPrefix(words, mark) {
		_, words, _ = strings.Cut(words, "\n")
	}
	return words
}

// filesAt are the files of a checkpoint that are there: of the whole of it, and
// of the attempt in hand.
func (r *session) filesAt(id string, c *Checkpoint) []string {
	var list []string
	dir := r.Path("delegations/" + id)
	latest := r.Path(place(id, c.Iteration, "")) + "/"
	for _, d := range r.Snap.Under("delegations/" + id) {
		if d.Absent() {
			continue
		}
		if !strings.Contains(strings.TrimPrefix(d.Path, dir+"/"), "/") || c.Iteration > 0 && strings.HasPrefix(d.Path, latest) {
			list = append(list, d.Path)
		}
	}
	return list
}
