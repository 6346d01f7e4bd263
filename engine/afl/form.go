package afl

import (
	"fmt"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/templates"
)

// How much of a definition a request shows: bytes of a text, and criteria; and
// of a whole design, in bytes. The rest stands in the files that it names.
const (
	shownField    = 200
	shownCriteria = 3
	shownDesign   = 200 << 10
)

// form is a request for a person.
func (r *reading) form(req gate.Request, q *Request, view engine.Digest) ([]byte, error) {
	texts := gate.Texts{Lang: r.lang(), Title: r.words("title." + q.Type), Where: string(q.Checkpoint), Lines: r.formLines(q)}
	return gate.Form(req, view, texts)
}

// formLines say what the form shows besides prompt and context.
func (r *reading) formLines(q *Request) []string {
	var lines []string
	switch q.Type {
	case typeApproval:
		room := shownDesign
		for i, e := range r.specs.entries {
			shown := e.lines()
			if room -= len(strings.Join(shown, "\n")); room < 0 {
				lines = append(lines, fmt.Sprintf("- … +%d: %s", len(r.specs.entries)-i, templates.Code(r.specsFile())))
				break
			}
			lines = append(lines, shown...)
		}
		for _, f := range r.specs.findings[:min(len(r.specs.findings), mostWords)] {
			lines = append(lines, "- "+templates.Inline(templates.Cut(f.line(), engine.LongestReason)))
		}
	case typeEscalation:
		if list := r.dependentsOf(string(q.Checkpoint)); len(list) > 0 {
			lines = append(lines, r.words("ask.dependents")+" "+templates.Inline(strings.Join(list, ", ")))
		}
	}
	return lines
}

// lines are a checkpoint in the form for its approval.
func (e entry) lines() []string {
	line := "- **" + templates.Inline(templates.Cut(e.def.ID, shownField)) + "** " + templates.Inline(templates.Cut(e.def.Name, shownField))
	if len(e.def.Dependencies) > 0 {
		line += " ← " + templates.Inline(templates.Cut(strings.Join(e.def.Dependencies, ", "), shownField))
	}
	if e.def.Command != "" {
		line += ": " + templates.Code(templates.Cut(string(e.def.Command), shownField))
	}
	lines := []string{line}
	for _, criterion := range e.def.Criteria[:min(len(e.def.Criteria), shownCriteria)] {
		lines = append(lines, "  - "+templates.Inline(templates.Cut(criterion, shownField)))
	}
	return lines
}
