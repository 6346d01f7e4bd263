package gate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"placet/engine"
	"placet/schemas"
	"placet/templates"
)

// The texts of problem.md. Each names the file, quotes what was found and says
// what would be right; [note] adds below what can be answered, and where.

// How much a text repeats of what it found.
const (
	shownFound = 200
	shownList  = 5
	shownIDs   = 50
)

// code is a path or an id as code.
func code(s string) string { return templates.Code(s) }

// quoted is text from an answer as code, on one line, cut.
func quoted(s string) string { return templates.Code(templates.Cut(s, shownFound)) }

// listed is a list of quoted texts, the first few of them.
func listed(lang string, all []string) string {
	var shown []string
	for _, s := range all[:min(len(all), shownList)] {
		shown = append(shown, quoted(s))
	}
	return more(lang, shown, len(all)-len(shown))
}

// more is a list that says how many are left out.
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

func unusableProblem(path string, err error) string {
	text := err.Error()
	if e := (*schemas.Error)(nil); errors.As(err, &e) {
		where := *e
		where.Path = ""
		text = where.Error()
	}
	return fmt.Sprintf("%s cannot be used: %s", code(path), code(text))
}

// staleResponse is for a response whose digest, or the request as issued, is
// not what is shown now.
func staleResponse(a Evaluation, path string, found engine.Digest) string {
	what := "has no digest, so it answers the request as issued"
	switch {
	case found != "":
		what = "answers what was shown as " + code(string(found))
	case a.Issued == "":
		what = "has no digest, and nobody can vouch here for what the request showed first"
	}
	return fmt.Sprintf("%s is stale: it %s, and what is shown now is %s.%s Look again in %s, and answer there, or write the digest that is shown now.",
		code(path), what, code(string(a.View)), a.changed(), a.form())
}

// form names the present form.
func (a Evaluation) form() string {
	if a.Present == "" {
		return "the form"
	}
	return code(a.Present)
}

func staleForm(a Evaluation, path string) string {
	if path == a.Present {
		return fmt.Sprintf("%s stands in the place of the present form, but its first line carries another digest. Remove the file, and placet writes the form again.", code(path))
	}
	return fmt.Sprintf("%s is stale: it shows what is no longer so.%s The present form is %s: look again and answer there.", code(path), a.changed(), a.form())
}

// changed is the sentence that says what changed, with a blank before it.
func (a Evaluation) changed() string {
	if a.Stale == "" {
		return ""
	}
	return " " + templates.Inline(a.Stale)
}

// strayMembers is for members of response.json that nobody reads: what they say would
// be lost.
func strayMembers(path string, strays []schemas.Stray) string {
	var all []string
	for _, s := range strays[:min(len(strays), shownList)] {
		text := quoted(s.Name)
		if s.Meant != "" {
			text += " (did you mean " + code(s.Meant) + "?)"
		}
		all = append(all, text)
	}
	if more := len(strays) - len(all); more > 0 {
		all = append(all, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%s does not count: nobody reads its %s, and an answer is never taken without the words beside it. Correct the name, or begin it with \"x-\" if it is your own.",
		code(path), strings.Join(all, ", "))
}

// standsAlone is for an option that may not be chosen together with others.
func standsAlone(path string, chosen, several []string) string {
	alone := slices.DeleteFunc(slices.Clone(chosen), func(id string) bool { return slices.Contains(several, id) })
	return fmt.Sprintf("%s chooses %s together, but %s stands alone. Leave it alone, or leave it out.", code(path), codes(chosen), code(alone[0]))
}

func noOption(a Evaluation, path string) string {
	if a.Default != "" && a.Hint != "" {
		return fmt.Sprintf("%s says nothing: %s.", code(path), a.Hint)
	}
	return fmt.Sprintf("%s names no option.", code(path))
}

func emptyText(path string) string {
	return fmt.Sprintf("%s holds no text, and the text is the answer.", code(path))
}

// waitsForTrust says what holds while gates wait for trust, with a blank before it.
func waitsForTrust(g engine.Gate) string {
	if !g.Waits {
		return ""
	}
	return " Until somebody decides about `[gates]`, the tighter of what was agreed to and what placet.toml says holds: see `placet trust`."
}

func notAllowed(path string, known []string, g engine.Gate) string {
	who := "nothing is known of its author"
	if len(known) > 0 {
		who = "its author is known as " + codes(known)
	}
	return fmt.Sprintf("%s does not count: %s, and the configuration lets only %s answer.%s", code(path), who, codes(g.Approvers), waitsForTrust(g))
}

// differ quotes valid answers of which each would count alone.
func differ(lang string, answers []Decision) string {
	var b strings.Builder
	b.WriteString("There are several answers, and they differ, so none counts:\n")
	for _, a := range answers {
		fmt.Fprintf(&b, "\n- %s says %s", code(a.Path), said(lang, a.Response, a.Selected))
	}
	b.WriteString("\n\nTake one back: remove the response file, or untick the form's last item.")
	return b.String()
}

// said is what an answer says, quoted.
func said(lang, response string, selected []string) string {
	text := quoted(response)
	// The first of several options is named already.
	selected = slices.DeleteFunc(slices.Clone(selected), func(s string) bool { return s == response })
	if len(selected) > 0 {
		text = templates.Phrase(lang, "gate.said.with", "answer", text, "all", listed(lang, selected))
	}
	return text
}

// note is the text of problem.md: the problems, and below them what can be
// answered, and where.
func note(a Evaluation, problems []string) string {
	if len(problems) == 0 {
		return ""
	}
	return strings.Join(append(slices.Clone(problems), guide(a)), "\n\n")
}

// guide lists what a request can be answered with.
func guide(a Evaluation) string {
	response := code(a.Dir + "/response.json")
	if a.Request.FreeText() {
		return fmt.Sprintf("The answer is text of your own. Write it into the comment section of %s and tick the last item, or write it as \"response\" into %s.", a.form(), response)
	}
	var b strings.Builder
	b.WriteString("The options are:\n\n")
	for _, o := range a.Request.Options[:min(len(a.Request.Options), shownIDs)] {
		b.WriteString("- " + code(o.ID) + described(templates.Cut(o.Description, shownFound), o.Effect))
		if _, required := newNames(a.Request.CommentRequired...).match(o.ID); required {
			b.WriteString(" (needs a comment)")
		}
		b.WriteString("\n")
	}
	if more := len(a.Request.Options) - shownIDs; more > 0 {
		fmt.Fprintf(&b, "- and %d more, in request.json\n", more)
	}
	if ids := itemIDs(a.Request.Items); len(ids) > 0 {
		b.WriteString("\n" + a.Request.mayPick(ids) + ".\n")
	}
	more := ""
	if ids := a.Request.several(); len(ids) > 0 {
		fmt.Fprintf(&b, "\nAny number may be chosen together of %s; every other option stands alone.\n", codes(ids))
		more = ", and further ones as \"selected\","
	}
	if a.Hint != "" {
		fmt.Fprintf(&b, "\nTo answer, %s, and tick the last item of %s; or write it as \"response\", \"selected\" and \"comment\" into %s.", a.Hint, a.form(), response)
		return b.String()
	}
	fmt.Fprintf(&b, "\nTick one option and the last item of %s, or write the option as \"response\"%s into %s.", a.form(), more, response)
	return b.String()
}

// mayPick says how many of a request's items an answer may pick, and with which options.
func (r Request) mayPick(ids []string) string {
	text := "Any number may be selected of " + codes(ids)
	if r.ItemsMax > 0 {
		text = fmt.Sprintf("At most %d may be selected of %s", r.ItemsMax, codes(ids))
	}
	if len(r.ItemsWith) > 0 {
		text += ", together with " + codes(r.ItemsWith)
	}
	return text
}

func described(text, effect string) string {
	if text == "" && effect == "" {
		return ""
	}
	return ": " + templates.Inline(engine.Says(text, effect))
}
