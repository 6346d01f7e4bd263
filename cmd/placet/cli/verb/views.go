package verb

import (
	"io/fs"
	"maps"
	"strings"
	"sync"
	"text/template"
	"time"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/templates"
)

// Views are templates by which verbs show data to people.
type Views struct {
	parsed func() *template.Template
	funcs  func(*console.Env) template.FuncMap
}

// NewViews returns the templates of a folder "views". more are functions that they call besides
// those of all views, nil for none.
func NewViews(files fs.FS, more func(*console.Env) template.FuncMap) *Views {
	funcs := func(w *console.Env) template.FuncMap {
		all := viewFuncs(w)
		if more != nil {
			maps.Copy(all, more(w))
		}
		return all
	}
	return &Views{funcs: funcs, parsed: sync.OnceValue(func() *template.Template {
		return template.Must(template.New("").Funcs(funcs(&console.Env{})).ParseFS(files, "views/*.tmpl"))
	})}
}

// Show prints data for people, by a view.
func (v *Views) Show(w *console.Env, view string, data any) {
	t := template.Must(v.parsed().Clone()).Funcs(v.funcs(w))
	if err := t.ExecuteTemplate(w.Out, view, data); err != nil {
		w.Note("cli.view.cut", "error", err)
	}
}

// viewFuncs are what all views call. Whatever comes from files goes through line, lines or clip.
func viewFuncs(w *console.Env) template.FuncMap {
	paint := func(style string) func(string) string {
		return func(text string) string { return w.Paint(style, text) }
	}
	say := func(key templates.Key, pairs ...any) string { return w.Text("cli."+key, pairs...) }
	return template.FuncMap{
		"say": say, "worded": func(err error) string { return templates.In(w.Lang, err) },
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
		"strong": paint(console.Strong), "alarm": paint(console.Alarm), "waiting": paint(console.Waiting), "style": w.Paint,
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
