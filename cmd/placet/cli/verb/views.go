package verb

import (
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"sync"
	"text/template"
	"time"

	"placet/cmd/placet/console"
	"placet/templates"
)

// Views are templates by which verbs show data to people.
type Views struct {
	parsed func() *template.Template
	funcs  func(*console.Env) template.FuncMap
}

// NewViews returns the templates of a folder "views". more returns functions for them besides
// those of all views; it may be nil.
func NewViews(files fs.FS, more func(*console.Env) template.FuncMap) *Views {
	funcs := func(w *console.Env) template.FuncMap {
		all := viewFuncs(w)
		if more != nil {
			maps.Copy(all, more(w))
		}
		return all
	}
	return &Views{funcs: funcs, parsed: sync.OnceValue(func() *template.Template {
		t := template.Must(template.New("").Funcs(funcs(&console.Env{})).ParseFS(files, "views/*.tmpl"))
		for _, view := range t.Templates() {
			console.CleanTemplate(view.Tree)
		}
		return t
	})}
}

// Show prints data for people, by a view.
func (v *Views) Show(w *console.Env, view string, data any) {
	t := template.Must(v.parsed().Clone()).Funcs(v.funcs(w))
	if err := t.ExecuteTemplate(w.Out, view, data); err != nil {
		w.Note("cli.view.cut", "error", err)
	}
}

// viewFuncs returns the functions of all views. The output of a view is cleaned, and on one
// line, except the output of lines, indent and below.
func viewFuncs(w *console.Env) template.FuncMap {
	line := func(v any) string { return fmt.Sprint(console.Printed(v)) }
	paint := func(style string) func(any) console.Cleaned {
		return func(v any) console.Cleaned { return console.Cleaned(w.Paint(style, line(v))) }
	}
	say := func(key templates.Key, pairs ...any) console.Cleaned {
		return console.Cleaned(w.Text("cli."+key, pairs...))
	}
	lines := func(s string) console.Cleaned { return console.Cleaned(console.Lines(s)) }
	return template.FuncMap{
		console.CleanFunc: console.Printed,
		"say":             say, "worded": func(err error) string { return templates.In(w.Lang, err) },
		// label returns a label in a column of a width.
		"label": func(width int, key templates.Key) console.Cleaned {
			text := say(key)
			return text + console.Cleaned(strings.Repeat(" ", max(0, width-console.Columns(string(text)))))
		},
		"line": line, "lines": lines,
		"clip":   func(n int, s string) string { return console.Cut(console.OneLine(s), n) },
		"suffix": func(gap string, v any) console.Cleaned { return console.Cleaned(console.Suffix(gap, line(v))) },
		"typed":  console.Typed, "brief": console.Brief,
		// indent returns a text whose further lines are below its first one.
		"indent": func(prefix, s string) console.Cleaned {
			return console.Cleaned(strings.TrimSpace(console.Indent(console.Lines(s), prefix)))
		},
		// below returns a text beside its label, or on lines of its own below it.
		"below": func(prefix, s string) console.Cleaned {
			if s = console.Lines(s); strings.Contains(s, "\n") {
				return console.Cleaned("\n" + console.Indent(s, prefix))
			}
			return console.Cleaned(" " + s)
		},
		"join": strings.Join, "upper": strings.ToUpper, "percent": func(part float64) float64 { return 100 * part }, "inc": func(n int) int { return n + 1 },
		"moment": func(t time.Time) string {
			if t.IsZero() {
				return ""
			}
			return console.Moment(t)
		},
		"now":    func() string { return w.Now().UTC().Format(time.RFC3339) },
		"strong": paint(console.Strong), "alarm": paint(console.Alarm), "waiting": paint(console.Waiting), "style": func(style string, v any) console.Cleaned { return paint(style)(v) },
	}
}
