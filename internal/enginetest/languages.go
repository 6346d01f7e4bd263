package enginetest

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"placet/engine"
	"placet/internal/pseudo"
	"placet/schemas"
	"placet/templates"
)

// Languages runs every scenario in the pseudo-language, in which every text for people must
// be translated, and in languages that change in every idle state: a form that was written in
// one language is read under another, and the run moves as it does in English.
func Languages(t T, s Suite) {
	t.Helper()
	for _, c := range s.Cases {
		under(t, c.Name, func(t T) {
			want, _ := spoken(t, s, c, func(int) string { return templates.English }, nil)
			langs := templates.Languages()
			got, _ := spoken(t, s, c, func(rest int) string { return langs[(rest+1)%len(langs)] }, nil)
			if !slices.Equal(want, got) {
				t.Errorf("it moves otherwise where the languages change:\n%s\nin English:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if speaksAlready(c) {
				return
			}
			_, said := spoken(t, s, c, func(int) string { return templates.Pseudo }, names(s))
			for _, words := range said {
				t.Errorf("nobody translated %q", words)
			}
		})
	}
}

// spoken runs a scenario in a language for each idle state. It returns what moved, and, with
// names, the texts without a translation.
func spoken(t T, s Suite, c Case, lang func(rest int) string, names *pseudo.Words) (moved, said []string) {
	t.Helper()
	bubble(t, func(t T) {
		rests := 0
		var reasons []string
		config := c.Config
		c.Config = func(conf *engine.Config) {
			if config != nil {
				config(conf)
			}
			conf.Language = lang(rests)
			if s.Speak != nil {
				s.Speak(conf, conf.Language)
			}
		}
		w := newWorld(s, c, s.Machine, telling{moved: func(tr engine.Transition) {
			if names != nil {
				reasons = append(reasons, tr.Reason)
			}
			moved = append(moved, fmt.Sprintf("%s %s %s → %s (%s)", tr.Of, tr.Subject, tr.From, tr.To, tr.Event))
		}})
		err := w.tell(func(int) {
			rests++
			if names != nil {
				said = append(said, w.untranslated(t, names, reasons)...)
				reasons = nil
			}
		})
		if err != nil {
			t.Errorf("%v", err)
		}
	})
	slices.Sort(moved) // parallel runs move in any order
	slices.Sort(said)
	return moved, slices.Compact(said)
}

// speaksAlready reports whether a scenario begins with a state that names its language.
func speaksAlready(c Case) bool {
	for _, body := range c.Files {
		if state.MatchString(body) {
			return true
		}
	}
	return false
}

var state = regexp.MustCompile(`"lang(uage)?": ?"en"`)

// names returns the words that a family's texts may contain in every language.
func names(s Suite) *pseudo.Words {
	known := pseudo.New("person agent placet git served driven foreign true false null")
	for _, e := range s.Machine.Edges() {
		known.Name(e.Of, string(e.From), e.Event, string(e.To))
	}
	// These words come from the readers of JSON and YAML.
	known.Name("invalid character in literal null expecting", "did not find expected node content")
	for _, name := range schemas.Names() { // their words are for programs too
		if body, err := schemas.Source(name); err == nil {
			known.Say(string(body))
		}
	}
	return known
}

// untranslated returns the untranslated words of the runs' texts for people, of the notes,
// and of the reasons of transitions.
func (w *world) untranslated(t T, known *pseudo.Words, reasons []string) (rows []string) {
	t.Helper()
	tree := w.tree()
	for p, body := range tree {
		known.Name(p)
		if !strings.HasSuffix(p, "problem.md") {
			known.Say(body)
		}
	}
	add := func(where string, texts ...string) {
		for _, text := range texts {
			for _, words := range known.Outside(text, nil) {
				rows = append(rows, where+": "+words+": "+text)
			}
		}
	}
	for p, body := range tree {
		if strings.HasSuffix(p, "problem.md") {
			add(path.Base(p), body)
		}
	}
	add("reason", reasons...)
	found, err := w.loop.Runs()
	if err != nil {
		t.Errorf("cannot find the runs: %v", err)
	}
	for _, f := range found {
		s, _, err := w.loop.Snapshot(f)
		if err != nil {
			t.Errorf("cannot look at %s: %v", f.Key(), err)
			continue
		}
		a := w.suite.Machine.Account(s)
		add("why", a.Why...)
		add("waits for", a.WaitsFor...)
		for _, u := range a.Unblock {
			add("would move it", u.Content)
		}
		for _, finding := range a.Findings {
			add("finding", finding.Text)
		}
		for _, fact := range a.Facts {
			add("fact", fact.Label)
		}
		for _, o := range a.Open {
			add("problem", o.Problem)
		}
	}
	return rows
}
