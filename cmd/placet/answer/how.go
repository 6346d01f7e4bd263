package answer

import (
	"slices"
	"strings"

	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/engine"
	"placet/templates"
)

// effectMark begins the line below a command that says what the command does. It is a line of
// its own, because an effect may quote documents, and people copy a command with its line.
const effectMark = "\n→ "

// HowToAnswer returns the commands that answer a request, each with its effect on a second
// line.
func HowToAnswer(lang string, a engine.OpenRequest, full bool) []string {
	name := view.Reference(a)
	if full {
		name = console.OneLine(a.Run.String()) + ":" + name
	}
	if a.FreeText {
		return []string{inWords(name)}
	}
	var how []string
	together := false
	for _, o := range a.Options {
		if len(a.Several) > 1 && slices.Contains(a.Several, o.ID) {
			together = true
			continue
		}
		how = append(how, optionCommand(a, o.ID, name)+console.Suffix(effectMark, console.Cut(console.OneLine(o.Says()), view.ShownAnswer)))
		if len(a.Editable) > 0 && o.ID == Approving.Words[0] {
			how = append(how, templates.CommandLine("placet approve", []string{name}, "--edit")+"  "+templates.Text(lang, "workspace.how.edit"))
		}
	}
	if together {
		how = append(how, severalCommand(lang, a, name))
	}
	if len(a.Items) > 0 {
		how = append(how, selectCommand(lang, a, name))
	}
	return how
}

// inWords returns the command that answers a request in words.
func inWords(name string) string {
	return templates.CommandLine("placet respond", []string{name}, `"…"`)
}

// withComment is the flag that gives a comment.
const withComment = `-m "…"`

// selectCommand returns the command that picks items, with an option if one must be named.
func selectCommand(lang string, a engine.OpenRequest, name string) string {
	ids := make([]string, len(a.Items))
	for i, it := range a.Items {
		ids[i] = console.OneLine(it.ID)
	}
	args, many := []string{name}, templates.Phrase(lang, "workspace.how.any")
	if a.ItemsMax > 0 {
		many = templates.Phrase(lang, "workspace.how.most", "n", a.ItemsMax)
	}
	switch {
	case len(a.ItemsWith) > 0:
		args = append(args, console.OneLine(a.ItemsWith[0]))
	case a.Default == "":
		args = append(args, "OPTION")
	}
	picks := "--select " + templates.ShellWord(strings.Join(ids[:min(len(ids), view.ShownItems)], ","))
	return templates.CommandLine("placet respond", args, picks) + "  " + many
}

// severalCommand returns the command that chooses several options. It chooses one alone the
// same way.
func severalCommand(lang string, a engine.OpenRequest, name string) string {
	args, flags := []string{name}, []string{}
	for _, id := range a.Several {
		args = append(args, console.OneLine(id))
	}
	if slices.ContainsFunc(a.Several, func(id string) bool { return slices.Contains(a.CommentRequired, id) }) {
		flags = append(flags, withComment)
	}
	return templates.CommandLine("placet respond", args, flags...) + "  " + templates.Phrase(lang, "workspace.how.some")
}

// optionCommand returns the shortest command that chooses an option.
func optionCommand(a engine.OpenRequest, option, name string) string {
	verb, args, flags := "placet respond", []string{name, console.OneLine(option)}, []string{}
	switch option {
	case Approving.option(a):
		verb, args = "placet approve", args[:1]
	case Rejecting.option(a):
		verb, args = "placet reject", args[:1]
	}
	switch {
	case option == retryMore && slices.Contains(a.Members, "attempts"):
		flags = append(flags, "--attempts 3", withComment)
	case slices.Contains(a.CommentRequired, option):
		flags = append(flags, withComment)
	}
	return templates.CommandLine(verb, args, flags...)
}

// ToAnswer returns the commands that a list shows for a request: those that answer it or, if
// the list shows less than an answer decides about, the one that shows it.
func ToAnswer(lang string, a engine.OpenRequest, full bool) (commands []string, listed bool) {
	if view.IsListed(a) {
		return HowToAnswer(lang, a, full), true
	}
	name := a.Request
	if full {
		name = view.NameOf(a)
	}
	return []string{console.Typed("show", name)}, false
}
