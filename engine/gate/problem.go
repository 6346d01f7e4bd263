package gate

import (
	"errors"
	"slices"
	"strings"

	"placet/engine"
	"placet/schemas"
	"placet/templates"
)

// The functions below return the texts of problem.md. Each text names the file, quotes what
// was found and says what would be right; [note] adds what can be answered, and where.

// How much of what was found a text repeats.
const (
	shownFound = 200
	shownList  = 5
	shownIDs   = 50
)

// code returns a path or an id as code.
func code(s string) string { return templates.Code(s) }

// quoted returns text from an answer as code, on one line, truncated.
func quoted(s string) string { return templates.Code(templates.Cut(s, shownFound)) }

// listed returns a list of the first few quoted texts.
func listed(lang string, all []string) string {
	var shown []string
	for _, s := range all[:min(len(all), shownList)] {
		shown = append(shown, quoted(s))
	}
	return more(lang, shown, len(all)-len(shown))
}

// more returns a list that says how many entries are omitted.
func more(lang string, shown []string, left int) string {
	list := strings.Join(shown, ", ")
	if left > 0 {
		return templates.Phrase(lang, "gate.list.more", "all", list, "n", left)
	}
	return list
}

func codes(all []string) string {
	var shown []string
	for _, s := range all[:min(len(all), shownIDs)] {
		shown = append(shown, code(s))
	}
	return strings.Join(shown, ", ")
}

// say returns a sentence about an answer.
func (a Evaluation) say(key string, pairs ...any) string {
	return templates.Phrase(a.Lang, "gate."+key, pairs...)
}

func unusableProblem(a Evaluation, path string, err error) string {
	if e := (*schemas.Error)(nil); errors.As(err, &e) {
		where := *e
		where.Path = ""
		err = &where
	}
	return a.say("unusable", "file", code(path), "error", code(templates.In(a.Lang, err)))
}

// staleResponse returns the problem of a response that answers something other than what is
// shown now, by its digest or, without one, by the request as issued.
func staleResponse(a Evaluation, path string, found engine.Digest) string {
	key := "stale.issued"
	switch {
	case found != "":
		key = "stale.other"
	case a.Issued == "":
		key = "stale.unknown"
	}
	return a.say(key, "file", code(path), "found", code(string(found)), "now", code(string(a.View)), "changed", a.changed(), "form", a.form())
}

// form returns the path of the present form for a text.
func (a Evaluation) form() string {
	if a.Present == "" {
		return a.say("form")
	}
	return code(a.Present)
}

func staleForm(a Evaluation, path string) string {
	if path == a.Present {
		return a.say("stale.present", "file", code(path))
	}
	return a.say("stale.form", "file", code(path), "changed", a.changed(), "form", a.form())
}

// changed returns the sentence that says what changed, with a blank before it.
func (a Evaluation) changed() string {
	if a.Stale == "" {
		return ""
	}
	return " " + templates.Inline(a.Stale)
}

// strayMembers returns the problem of unknown members in response.json, whose content would be
// lost.
func strayMembers(a Evaluation, path string, strays []schemas.Stray) string {
	var all []string
	for _, s := range strays[:min(len(strays), shownList)] {
		text := quoted(s.Name)
		if s.Meant != "" {
			text = a.say("stray.meant", "name", text, "meant", code(s.Meant))
		}
		all = append(all, text)
	}
	return a.say("stray", "file", code(path), "names", more(a.Lang, all, len(strays)-len(all)))
}

// standsAlone returns the problem of an option that may not be chosen together with others.
func standsAlone(a Evaluation, path string, chosen, several []string) string {
	alone := slices.DeleteFunc(slices.Clone(chosen), func(id string) bool { return slices.Contains(several, id) })
	return a.say("answer.alone", "file", code(path), "options", codes(chosen), "alone", code(alone[0]))
}

func noOption(a Evaluation, path string) string {
	if a.Default != "" && a.Hint != "" {
		return a.say("answer.nothing", "file", code(path), "hint", a.Hint)
	}
	return a.say("answer.none", "file", code(path))
}

func emptyText(a Evaluation, path string) string { return a.say("answer.text", "file", code(path)) }

// waitsForTrust returns what applies while gates wait for trust, with a blank before it.
func waitsForTrust(a Evaluation) string {
	if !a.Gate.Waits {
		return ""
	}
	return " " + a.say("trust")
}

// approvers returns the list of those whom the gate lets answer, for people.
func (a Evaluation) approvers() string {
	if slices.Equal(a.Gate.Approvers, []string{Nobody}) {
		return a.say("nobody")
	}
	return codes(a.Gate.Approvers)
}

func notAllowed(a Evaluation, path string, known []string) string {
	key := "author.unknown"
	if len(known) > 0 {
		key = "author.known"
	}
	return a.say(key, "file", code(path), "known", codes(known), "approvers", a.approvers()) + waitsForTrust(a)
}

// differ returns the problem of valid answers that contradict each other. It quotes them.
func differ(lang string, answers []Decision) string {
	var lines []string
	for _, a := range answers {
		lines = append(lines, templates.Phrase(lang, "gate.differ.line", "file", code(a.Path), "said", said(lang, a.Response, a.Selected, a.Edits)))
	}
	return templates.Phrase(lang, "gate.differ", "answers", strings.Join(lines, "\n"))
}

// said returns the content of an answer, quoted.
func said(lang, response string, selected []string, edits []Edit) string {
	text := quoted(response)
	// The response is already named, and may be the first of several options.
	selected = slices.DeleteFunc(slices.Clone(selected), func(s string) bool { return s == response })
	if len(selected) > 0 {
		text = templates.Phrase(lang, "gate.said.with", "answer", text, "all", listed(lang, selected))
	}
	for _, e := range edits {
		text = templates.Phrase(lang, "gate.said.edit", "answer", text, "file", code(e.Path), "sum", e.SHA256()[:12])
	}
	return text
}

// note returns the text of problem.md: the problems, and below them what can be answered,
// and where.
func note(a Evaluation, problems []string) string {
	if len(problems) == 0 {
		return ""
	}
	return strings.Join(append(slices.Clone(problems), guide(a)), "\n\n")
}

// guide returns the list of answers that a request accepts.
func guide(a Evaluation) string {
	response := code(a.Dir + "/response.json")
	if a.Request.FreeText() {
		return a.say("guide.text", "form", a.form(), "response", response, "example", a.example())
	}
	var b strings.Builder
	b.WriteString(a.say("guide.options") + "\n\n")
	for _, o := range a.Request.Options[:min(len(a.Request.Options), shownIDs)] {
		b.WriteString("- " + code(o.ID) + described(templates.Cut(o.Description, shownFound), o.Effect))
		if _, required := newNames(a.Request.CommentRequired...).match(o.ID); required {
			b.WriteString(" (" + templates.Text(a.Lang, "form.required") + ")")
		}
		b.WriteString("\n")
	}
	if more := len(a.Request.Options) - shownIDs; more > 0 {
		b.WriteString("- " + a.say("guide.more", "n", more) + "\n")
	}
	if ids := itemIDs(a.Request.Items); len(ids) > 0 {
		b.WriteString("\n" + a.mayPick(ids) + "\n")
	}
	how := "guide.tick"
	if ids := a.Request.several(); len(ids) > 0 {
		b.WriteString("\n" + a.say("guide.several", "options", codes(ids)) + "\n")
		how = "guide.tick.several"
	}
	if a.Hint != "" {
		how = "guide.hint"
	}
	b.WriteString("\n" + a.say(how, "hint", a.Hint, "form", a.form(), "response", response, "example", a.example()))
	return b.String()
}

// example returns the content of a response.json that answers the request: with its last option, which
// rarely approves anything.
func (a Evaluation) example() string {
	answer := schemas.Object{{Name: "response", Value: "…"}}
	if options := a.Request.Options; len(options) > 0 {
		id := options[len(options)-1].ID
		answer[0].Value = id
		if slices.Contains(a.Request.several(), id) {
			answer = append(answer, schemas.Member{Name: "selected", Value: []string{id}})
		}
		if _, required := newNames(a.Request.CommentRequired...).match(id); required {
			answer = append(answer, schemas.Member{Name: "comment", Value: "…"})
		}
	}
	body, err := schemas.Line(answer)
	if err != nil {
		return ""
	}
	return code(strings.TrimSpace(string(body)))
}

// mayPick returns how many of a request's items an answer may pick, and with which options.
func (a Evaluation) mayPick(ids []string) string {
	key := "guide.items"
	if a.Request.ItemsMax > 0 {
		key += ".most"
	}
	if len(a.Request.ItemsWith) > 0 {
		key += ".with"
	}
	return a.say(key, "items", codes(ids), "most", a.Request.ItemsMax, "with", codes(a.Request.ItemsWith))
}

func described(text, effect string) string {
	if text == "" && effect == "" {
		return ""
	}
	return ": " + templates.Inline(engine.Says(text, effect))
}
