package workspace

import (
	"slices"
	"strings"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/templates"
)

// ShownItems is how many of a request's items the inbox shows.
const ShownItems = 5

// effectMark begins the line below a command that says what it does. It is a line of its
// own: an effect may name what documents say, and a command is copied with its line.
const effectMark = "\n→ "

// HowToAnswer lists the commands that answer a request, each with what it does on a
// second line.
func HowToAnswer(a engine.Asked, full bool) []string {
	name := Reference(a)
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
		how = append(how, optionCommand(a, o.ID, name)+console.Suffix(effectMark, console.Cut(console.OneLine(o.Effect), ShownAnswer)))
	}
	if together {
		how = append(how, severalCommand(a, name))
	}
	if len(a.Items) > 0 {
		how = append(how, selectCommand(a, name))
	}
	return how
}

// inWords is the command that answers a request in words.
func inWords(name string) string {
	return templates.CommandLine("placet respond", []string{name}, `"…"`)
}

// withComment is the flag that gives a comment.
const withComment = `-m "…"`

// selectCommand picks items, with an option where one must be named.
func selectCommand(a engine.Asked, name string) string {
	ids := make([]string, len(a.Items))
	for i, it := range a.Items {
		ids[i] = console.OneLine(it.ID)
	}
	args := []string{name}
	if a.Default == "" {
		args = append(args, "OPTION")
	}
	picks := "--select " + templates.ShellWord(strings.Join(ids[:min(len(ids), ShownItems)], ","))
	return templates.CommandLine("placet respond", args, picks) + "  (any of them)"
}

// severalCommand chooses several options; one alone is chosen the same way.
func severalCommand(a engine.Asked, name string) string {
	args, flags := []string{name}, []string{}
	for _, id := range a.Several {
		args = append(args, console.OneLine(id))
	}
	if slices.ContainsFunc(a.Several, func(id string) bool { return slices.Contains(a.CommentRequired, id) }) {
		flags = append(flags, withComment)
	}
	return templates.CommandLine("placet respond", args, flags...) + "  (one or more of them)"
}

// optionCommand is the shortest command that chooses an option.
func optionCommand(a engine.Asked, option, name string) string {
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
