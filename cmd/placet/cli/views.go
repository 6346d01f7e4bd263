package cli

import (
	"embed"
	"fmt"
	"strings"
	"text/template"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"placet/cmd/placet/answer"
	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/engine"
	"placet/templates"
)

// viewFiles are the views of runs and requests.
//
//go:embed views
var viewFiles embed.FS

// show prints data for people, by a view.
var show = verb.NewViews(viewFiles, viewFuncs).Show

// firstLines returns the first lines of some texts: of commands whose effects are shown above.
func firstLines(texts []string) (lines []string) {
	for _, text := range texts {
		line, _, _ := strings.Cut(text, "\n")
		lines = append(lines, line)
	}
	return lines
}

// viewFuncs returns the functions of these views besides those of all views.
func viewFuncs(w *console.Env) template.FuncMap {
	return template.FuncMap{
		"common": func(cmd *cobra.Command) bool { return cmd.Annotations[verb.Common] != "" },
		"word":   func(key templates.Key, pairs ...any) string { return w.Text("help.word."+key, pairs...) },
		"flags":  func(f *pflag.FlagSet) console.Cleaned { return console.Cleaned(flagLines(w, f)) },
		"pad":    func(n int, s string) console.Cleaned { return console.Cleaned(fmt.Sprintf("%-*s", n, s)) }, "statusStyle": statusStyle,
		"ref": view.Reference, "question": question, "place": func(a engine.OpenRequest) console.Cleaned { return console.Cleaned(place(w, a)) },
		"typeName": func(name string) string { return typeName(w, name) }, "gatesWait": func() string { return w.Text("say.text", "text", config.GatesWait) },
		"howToAnswer": func(a engine.OpenRequest) []string { return firstLines(answer.HowToAnswer(w.Lang, a, false)) },
		"details":     view.Details, "here": w.Here,
		"listedSummary": func() int { return view.ListedSummary }, "listedItem": func() int { return view.ListedItem },
		"runTable": func(s view.Summary) console.Cleaned { return runTable(w, s) }, "tally": func(s view.Summary) string { return tally(w, s) },
		"fabricated": view.Fabricated,
		"severity":   func(of string) console.Cleaned { return severity(w, of) }, "age": func(t time.Time) string { return console.Age(w.Lang, w.Now(), t) },
		"rounded": func(f float64) string { return fmt.Sprintf("%.0f", f) },
		"facts":   func(list []engine.Fact) console.Cleaned { return labelled(w, console.Faint, list) },
		"options": func(a engine.OpenRequest) console.Cleaned {
			var list []engine.Fact
			for _, o := range a.Options {
				list = append(list, engine.Fact{Label: o.ID, Value: o.Says()})
			}
			for _, it := range a.Items {
				list = append(list, engine.Fact{Label: it.ID, Value: it.Label})
			}
			return labelled(w, console.Strong, list)
		},
		"wrapped": func(indent int, s string) console.Cleaned { return wrapped(w, indent, s) },
		"due":     func(o engine.OpenRequest) string { return view.Due(w.Lang, w.Now(), o, console.Moment) },
		"plan":    func(nodes []engine.Node) console.Cleaned { return console.Cleaned(planTable(w, nodes, nil).Text(w)) },
		"lastEvents": func(log []engine.Entry) console.Cleaned {
			return console.Cleaned(eventTable(log[max(0, len(log)-view.LastEvents):]).Text(w))
		},
	}
}

// wrapped returns a text in lines that the terminal holds, all but the first indented.
func wrapped(w *console.Env, indent int, s string) console.Cleaned {
	lines := console.Wrap(console.OneLine(s), min(columnsOf(w.Out), mostColumns)-indent)
	return console.Cleaned(strings.TrimSpace(console.Indent(lines, strings.Repeat(" ", indent))))
}

// labelled returns lines with labels, in columns; a label may be on several of them.
func labelled(w *console.Env, style string, list []engine.Fact) console.Cleaned {
	t := &console.Table{}
	for _, f := range list {
		t.Style([]string{style}, "  "+console.OneLine(f.Label), f.Value)
	}
	return console.Cleaned(t.Text(w))
}
