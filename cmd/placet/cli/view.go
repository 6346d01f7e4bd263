package cli

import (
	"embed"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/spf13/pflag"

	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/templates"
)

// viewFiles hold how runs and requests are shown to people.
//
//go:embed views
var viewFiles embed.FS

var parseViews = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(viewFuncs(&console.Env{})).ParseFS(viewFiles, "views/*.tmpl"))
})

// show prints data for people, by a view.
func show(w *console.Env, view string, data any) {
	t := template.Must(parseViews().Clone()).Funcs(viewFuncs(w))
	if err := t.ExecuteTemplate(w.Out, view, data); err != nil {
		w.Note("cli.view.cut", "error", err)
	}
}

// firstLines are the first lines of some texts: of commands, where what they do is said above.
func firstLines(texts []string) (lines []string) {
	for _, text := range texts {
		line, _, _ := strings.Cut(text, "\n")
		lines = append(lines, line)
	}
	return lines
}

// viewFuncs are what views call. Whatever comes from files goes through line, lines or clip.
func viewFuncs(w *console.Env) template.FuncMap {
	paint := func(style string) func(string) string {
		return func(text string) string { return w.Paint(style, text) }
	}
	say := func(key templates.Key, pairs ...any) string { return w.Text("cli."+key, pairs...) }
	return template.FuncMap{
		"word":  func(key templates.Key, pairs ...any) string { return w.Text("help.word."+key, pairs...) },
		"flags": func(f *pflag.FlagSet) string { return flagLines(w, f) },
		"say":   say, "worded": func(err error) string { return templates.In(w.Lang, err) },
		// label is a label in a column that is so wide.
		"label": func(width int, key templates.Key) string {
			text := say(key)
			return text + strings.Repeat(" ", max(0, width-console.Columns(text)))
		},
		"line":   func(s any) string { return console.OneLine(text(s)) },
		"lines":  console.Lines,
		"clip":   func(n int, s string) string { return console.Cut(console.OneLine(s), n) },
		"suffix": console.Suffix, "typed": console.Typed, "brief": console.Brief,
		"indent": func(prefix, s string) string { return strings.TrimSpace(console.Indent(s, prefix)) },
		// below is a text beside its label, or in lines of its own below it.
		"below": func(prefix, s string) string {
			if s = console.Lines(s); strings.Contains(s, "\n") {
				return "\n" + console.Indent(s, prefix)
			}
			return " " + s
		},
		"join": strings.Join, "upper": strings.ToUpper, "percent": func(part float64) float64 { return 100 * part }, "inc": func(n int) int { return n + 1 },
		"moment": func(t time.Time) string {
			if t.IsZero() {
				return ""
			}
			return console.Moment(t)
		},
		"now":    func() string { return w.Now().UTC().Format(time.RFC3339) },
		"strong": paint(console.Strong), "alarm": paint(console.Alarm), "waiting": paint(console.Waiting), "style": w.Paint, "statusStyle": statusStyle,
		"ref": workspace.Reference, "question": question, "place": func(a engine.OpenRequest) string { return place(w, a) },
		"typeName": func(name string) string { return typeName(w, name) }, "gatesWait": func() string { return w.Text("say.text", "text", config.GatesWait) },
		"howToAnswer":   func(a engine.OpenRequest) []string { return firstLines(workspace.HowToAnswer(w.Lang, a, false)) },
		"details":       workspace.Details,
		"listedSummary": func() int { return workspace.ListedSummary }, "listedItem": func() int { return workspace.ListedItem },
		"facts": func(list []engine.Fact) string { return labelled(w, console.Faint, list) },
		"options": func(a engine.OpenRequest) string {
			var list []engine.Fact
			for _, o := range a.Options {
				list = append(list, engine.Fact{Label: o.ID, Value: o.Says()})
			}
			for _, it := range a.Items {
				list = append(list, engine.Fact{Label: it.ID, Value: it.Label})
			}
			return labelled(w, console.Strong, list)
		},
		"plan": func(nodes []engine.Node) string { return planTable(w, nodes, nil).Text(w) },
		"lastEvents": func(log []engine.Entry) string {
			return eventTable(log[max(0, len(log)-workspace.LastEvents):]).Text(w)
		},
	}
}

// text is a string, or a word of the engine's.
func text(s any) string {
	switch s := s.(type) {
	case engine.Status:
		return string(s)
	case engine.Digest:
		return string(s)
	}
	return s.(string)
}

// labelled are lines with a label, in columns; a label may stand on several of them.
func labelled(w *console.Env, style string, list []engine.Fact) string {
	t := &console.Table{}
	for _, f := range list {
		t.Style([]string{style}, "  "+console.OneLine(f.Label), console.OneLine(f.Value))
	}
	return t.Text(w)
}
