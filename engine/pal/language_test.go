package pal

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/internal/enginetest"
	"placet/layout"
	"placet/templates"
)

var (
	// translated is a piece of a sentence in the pseudo-language.
	translated = regexp.MustCompile(`⟦[^⟧]*⟧`)
	// english matches two consecutive words.
	english = regexp.MustCompile(`[A-Za-z']{2,} [a-z']{2,}`)
	// foreign matches values of several words: text of others, sentences of a schema or a parser,
	// members with their values, and comments.
	foreign = regexp.MustCompile(`<!-- .* -->|parallel_enabled true|by kim \(file\)|look at this|look at the last line|from the start|the left one|I did it|⟦expected ⟧⟦⟧[a-z0-9, ]+⟦|invalid character .*|esc-[0-9a-f]+ [a-z_]+`)
)

// said returns the texts that people read of the run.
func (d desk) said() (texts []string) {
	a := d.Account("shop")
	texts = slices.Concat(a.Why, a.WaitsFor)
	add := func(facts []engine.Fact) {
		for _, f := range facts {
			texts = append(texts, f.Label, f.Value)
		}
	}
	add(a.Facts)
	for _, p := range a.Parts {
		add(p.Facts)
	}
	for _, u := range a.Unblock {
		texts = append(texts, u.Content)
	}
	for _, f := range a.Findings {
		texts = append(texts, f.Text)
	}
	for p, body := range d.Tree() {
		if name := path.Base(p); strings.HasSuffix(name, "problem.md") || name == "report.md" {
			texts = append(texts, body)
		}
	}
	if d.Has(dir + "/state.json") {
		st := d.state()
		texts = append(texts, st.Last.Reason)
		for _, p := range st.Ports {
			texts = append(texts, string(p.Reason))
		}
		for _, e := range st.Escalations {
			texts = append(texts, e.Title, strings.TrimPrefix(string(e.Resolution), "superseded: "))
		}
	}
	return texts
}

// speaks checks that nothing is English except values.
func (d desk) speaks() {
	d.t.Helper()
	for _, text := range d.said() {
		for line := range strings.Lines(text) {
			if bare := translated.ReplaceAllString(foreign.ReplaceAllString(line, ""), "|"); english.MatchString(bare) {
				d.t.Errorf("it says %q", line)
			}
		}
	}
}

// In the pseudo-language, nothing that people read of bad files is English except values.
// TestLanguages covers the cases of the laws.
func TestWhatPeopleReadIsTranslated(t *testing.T) {
	s := laws()
	s.Config.Language = templates.Pseudo
	tell := func(c enginetest.Case, told func(d desk)) {
		t.Run(c.Name, func(t *testing.T) {
			enginetest.AtDesk(t, s, c, func(at *enginetest.Desk) {
				at.Lax = true
				d := desk{at, t}
				d.settle()
				d.speaks()
				told(d)
			})
		})
	}
	tell(story("hand-ins that do not count", orchestrationOf("A", "B:A", "C")), func(d desk) {
		for _, c := range badRows {
			d.Put(path.Join(dir, c.file), c.body)
			d.Pass(11 * time.Second)
			d.settle()
			d.speaks()
			d.Remove(path.Join(dir, c.file))
		}
		if !d.Has(dir + "/state.json") {
			t.Error("nothing has begun")
		}
	})
	for _, body := range []string{
		objects("A C", "B A", "C B Z", "a", "api-1", "api-l", "A", "x.md"), `{"title": "t", "id": "x", "ports": ["A", "B", "C", "D"]}`,
		`{"title": "t", "ports": ["A"], "atomic_ports": ["B"]}`, `{"title": "t", "timeout_per_port": "soon", "ports": ["A"]}`, `{"title": "t", "ports": [{"port_id": "A", "spec": "../x.md"}]}`,
	} {
		c := story("what cannot be planned: "+body, body)
		c.Files["ports/A.md"], c.Files["ports/B.md"], c.Files["ports/C.md"] = "> ID: other\n", "> ID: B\n> Port ID: b\n", "# C\xff"
		c.Files[configYAML] = "orchestration:\n  timeout_per_port: soon\n"
		tell(c, func(d desk) {
			d.Pass(11 * time.Second)
			d.settle()
			d.speaks()
			if d.Notes() == "" {
				t.Error("there is no note")
			}
		})
	}
	tell(worked(), func(d desk) {
		d.Case.Trusted = nil
		d.settle()
		d.speaks()
		d.put(layout.PalFiledFile("build/A/impl", 1), `{"type": "banana", "title": "look at this"}`)
		d.put("sessions/build/A/impl/progress.json", `{"progress": 0.5, "tokens_used": 5}`)
		d.put("escalations/esc-0123456789ab.json", `{}`)
		d.speaks()
	})
}

// Errors in the settings are English in logs, and in the reader's language elsewhere.
func TestErrorsAreWordedForTheReader(t *testing.T) {
	for _, c := range []Config{{AutoResolve: []string{"x"}}, {AutoResolve: []string{typeTimeout}}, {AutoResolve: []string{"conflict"}}} {
		err := c.Check()
		if err == nil || strings.ContainsAny(err.Error(), "⟦⟧") || !strings.Contains(templates.In(templates.Pseudo, err), "⟦") {
			t.Errorf("%v", err)
		}
	}
}
