package console

import (
	"strings"
	"testing"
	"text/template"

	"placet/engine"
)

// A template's output cannot hide text, even if its author did not think of it.
func TestATemplateCleansWhatItPrints(t *testing.T) {
	const hostile = "a\x1b[2J\n\u202eb"
	text := template.Must(template.New("").Funcs(template.FuncMap{CleanFunc: Printed, "lines": func(s string) Cleaned { return Cleaned(Lines(s)) }}).Parse(
		`{{.Text}}|{{.Status}}|{{.Key}}|{{with .Text}}{{.}}{{end}}|{{range .All}}{{.}}{{else}}{{end}}|{{if true}}{{printf "%s" .Text}}{{end}}|{{$x := .Text}}{{$x}}|{{.N}}|{{lines .Text}}`))
	CleanTemplate(text.Tree)
	var out strings.Builder
	if err := text.Execute(&out, map[string]any{
		"Text": hostile, "Status": engine.Status(hostile), "Key": engine.Key{Family: "f", ID: hostile}, "All": []string{hostile}, "N": 7,
	}); err != nil {
		t.Fatal(err)
	}
	clean := OneLine(hostile)
	want := strings.Join([]string{clean, clean, "f/" + clean, clean, clean, clean, clean, "7", Lines(hostile)}, "|")
	if out.String() != want || strings.Contains(clean, "\n") {
		t.Errorf("%q instead of %q", out.String(), want)
	}
}

// No value of a sentence starts a line of its own, and none hides text, even if its author
// did not think of it.
func TestASentenceCleansItsValues(t *testing.T) {
	var out strings.Builder
	w := &Env{Out: &out, Lang: "en"}
	const hostile = "x\x1b[2J\nplacet: all is well"
	blanks := &Table{}
	blanks.Add("  fine" + strings.Repeat(" \u3000", 100) + "placet: all is well")
	if got := blanks.Text(w); got != "  fine placet: all is well\n" {
		t.Errorf("a cell of many blanks: %q", got)
	}
	w.Say("cli.inbox.none.of", "run", hostile)
	t1 := &Table{}
	t1.Add(hostile)
	said := []string{strings.TrimSuffix(t1.Text(w), "\n"), strings.TrimSuffix(out.String(), "\n"), Usage("cli.inbox.none.of", "run", hostile).Error(), Refused("say.text", "text", "").Try("cli.inbox.none.of", "run", engine.Status(hostile)).Hint("en")}
	for _, s := range said {
		if strings.ContainsAny(s, "\n\x1b") || !strings.Contains(s, OneLine(hostile)) {
			t.Errorf("%q", s)
		}
	}
}
