package main

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"placet/templates"
)

// page is the manual page of a command.
type page struct {
	cmd  *cobra.Command
	lang string
}

// pages returns the pages of a command and of those below it that its help lists. Those below
// completion have none: they print a script for a shell.
func pages(cmd *cobra.Command, lang string) []page {
	all := []page{{cmd, lang}}
	for _, below := range listed(cmd) {
		if cmd.HasParent() || below.Name() != "completion" {
			all = append(all, pages(below, lang)...)
		} else {
			all = append(all, page{below, lang})
		}
	}
	return all
}

// listed returns the commands that the help of a command lists.
func listed(cmd *cobra.Command) (all []*cobra.Command) {
	for _, below := range cmd.Commands() {
		if below.IsAvailableCommand() && below.Name() != "help" {
			all = append(all, below)
		}
	}
	return all
}

// nameOf returns the name of a command's page, such as placet-pal-plan.
func nameOf(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

func (p page) name() string { return nameOf(p.cmd) }

// text returns a word of the help in the page's language.
func (p page) text(key string) string { return templates.Phrase(p.lang, key) }

// roff returns the page as man reads it.
func (p page) roff(of edition) string {
	var b strings.Builder
	b.WriteString(p.titled(of))
	p.section(&b, "help.man.name", escaped(p.name()+" - "+cmp.Or(p.cmd.Short, "placet"))+"\n")
	p.section(&b, "help.man.synopsis", ".nf\n"+guarded(p.cmd.UseLine())+".fi\n")
	p.section(&b, "help.man.description", described(cmp.Or(p.cmd.Long, p.cmd.Short)))
	var below strings.Builder
	for _, c := range listed(p.cmd) {
		below.WriteString(".TP\n" + bold(c.Name()) + guarded(c.Short))
	}
	p.section(&b, "help.man.commands", below.String())
	p.section(&b, "help.man.options", options(p.cmd.LocalFlags())+options(p.cmd.InheritedFlags()))
	p.section(&b, "help.man.see", p.seeAlso())
	return b.String()
}

// section writes a section that is not empty.
func (p page) section(b *strings.Builder, heading, body string) {
	if body != "" {
		b.WriteString(".SH " + quoted(p.text(heading)) + "\n" + body)
	}
}

// seeAlso returns the names of the pages above and below.
func (p page) seeAlso() string {
	var names []string
	if p.cmd.HasParent() {
		names = append(names, nameOf(p.cmd.Parent()))
	}
	for _, c := range listed(p.cmd) {
		if p.cmd.Name() != "completion" {
			names = append(names, nameOf(c))
		}
	}
	for i, name := range names {
		names[i] = ".BR " + escaped(name) + " (1)"
	}
	if len(names) == 0 {
		return ""
	}
	return strings.Join(names, ",\n") + "\n"
}

// options returns the flags that help lists, with their texts.
func options(flags *pflag.FlagSet) string {
	var b strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		value, text := pflag.UnquoteUsage(f)
		name := "--" + strings.TrimSpace(f.Name+" "+value)
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		b.WriteString(".TP\n" + bold(name) + guarded(text))
	})
	return b.String()
}

// described returns a text of the manual: paragraphs, and indented lines as they are.
func described(text string) string {
	var b strings.Builder
	for i, part := range strings.Split(text, "\n\n") {
		indented := false
		if i > 0 {
			b.WriteString(".PP\n")
		}
		for line := range strings.Lines(part + "\n") {
			line = strings.TrimSuffix(line, "\n")
			switch is := strings.HasPrefix(line, "  "); {
			case is && !indented:
				b.WriteString(".RS\n.nf\n")
				indented = true
			case !is && indented:
				b.WriteString(".fi\n.RE\n")
				indented = false
			}
			if line != "" {
				b.WriteString(guarded(strings.TrimPrefix(line, "  ")))
			}
		}
		if indented {
			b.WriteString(".fi\n.RE\n")
		}
	}
	return b.String()
}

// escaped returns a text in which roff reads no letter as a command. A hyphen that is typed stays
// one that can be copied.
func escaped(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)
}

// guarded returns a line of text that roff does not read as a request.
func guarded(line string) string {
	if line = escaped(line); strings.HasPrefix(line, ".") {
		line = `\&` + line
	}
	return line + "\n"
}

// quoted returns a text as one argument of a macro.
func quoted(text string) string { return `"` + strings.ReplaceAll(escaped(text), `"`, `\(dq`) + `"` }

// bold returns a line in bold.
func bold(text string) string { return `\fB` + escaped(text) + `\fR` + "\n" }
