package family

import (
	"regexp"
	"testing"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/layout"
	"placet/templates"
)

var (
	// translated matches a piece of a sentence in the pseudo-language.
	translated = regexp.MustCompile(`⟦[^⟧]*⟧`)
	// english matches two words, one after the other.
	english = regexp.MustCompile(`[A-Za-z']{2,} [a-z']{2,}`)
	// command matches a command to type.
	command = regexp.MustCompile(`placet show --why`)
)

func TestWhatAControlSaysIsInTheReadersLanguage(t *testing.T) {
	nothing := func(string) engine.Document { return engine.Document{} }
	for _, f := range All {
		texts := map[string]string{"noun": f.Noun.In(templates.Pseudo)}
		for _, c := range f.Controls {
			for name, view := range map[string]engine.RunView{
				"new": {Absent: true}, "final": {Final: true, Status: "done"}, "served": {}, "paused": {Facts: []engine.Fact{{Name: "paused", Value: "person"}}},
				"held": {Facts: []engine.Fact{{Name: "paused", Value: "checkpoints"}}},
			} {
				for _, class := range []string{"", layout.OptimizerArchived, "other"} {
					target := Target{RunView: view, Run: layout.Run{Class: class}, Name: "x", Lang: templates.Pseudo, Read: nothing}
					texts[c.Use+name+"said"] = c.Said(target, "kim", "")
					if c.Remark != nil {
						texts[c.Use+name+"remark"] = c.Remark(target, "kim", "")
					}
					if err := c.Refuse("end", target); err != nil {
						p := err.(*console.Problem)
						texts[c.Use+name+class] = p.In(templates.Pseudo)
					}
				}
			}
		}
		for name, text := range texts {
			if said := english.FindString(command.ReplaceAllString(translated.ReplaceAllString(text, "|"), "")); said != "" {
				t.Errorf("%s: %s: %q in %q", f.Name, name, said, text)
			}
		}
	}
}
