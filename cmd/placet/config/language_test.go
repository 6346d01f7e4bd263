package config

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/statedir"
	"placet/templates"
)

var (
	// translated is a piece of a sentence in the pseudo-language.
	translated = regexp.MustCompile(`⟦[^⟧]*⟧`)
	// english are two words, one after the other.
	english = regexp.MustCompile(`[A-Za-z']{2,} [a-z']{2,}`)
	// foreign are what the reader of expressions says, and a command to type.
	foreign = regexp.MustCompile("error parsing regexp: .*|placet trust a@")
)

// inEnglish returns the English words in a text of the pseudo-language, "" for none.
func inEnglish(text string) string {
	return english.FindString(foreign.ReplaceAllString(translated.ReplaceAllString(text, "|"), ""))
}

func TestWhatIsWrongWithSettingsIsToldInTheReadersLanguage(t *testing.T) {
	for _, toml := range []string{
		"language = \"fr\"", "[faber]\nlanguage = \"fr\"", "typo = 1", "langauge = \"en\"", "enabled = true", "[faber]\nenabled = \"yes\"", "[faber]\nroots = []",
		"[gates]\nnobody = {}", "[gates]\n\"*\" = { level = \"signed\" }", "[gates]\n\"*\" = { level = \"x\" }", "[commands]\nenv = [\"a b\"]",
		"[hook]\nwait = \"24h\"", "[hook]\nstop = \"no\"", "[[hook.rule]]\ndo = \"maybe\"", "[[hook.rule]]\ndo = \"deny\"\ntool = [\"[\"]", "[[hook.rule]]\ndo = \"deny\"\nmatch = [\"(\"]",
		"[serve]\nlisten = \"x\"", "[serve]\nlisten = \":1\"", "[serve]\npublic_url = \"x\"", "[serve]\nallowed_origins = [\"x\"]", "[serve]\nallowed_hosts = [\"\"]", "[serve]\nwait = \"1h\"",
		"[slack]\nfamilies = [\"x\"]", "[slack]\nrequest_ttl_seconds = 0", "[slack]\napi_url = \"x\"", "[slack]\nbot_token_file = \"x\"", "[mcp]\nelicit = \"x\"",
		"a = " + strings.Repeat("{", limitTables+1), "a = " + strings.Repeat("1", limitLine), strings.Repeat("#\n", limitSettings),
	} {
		from := places(t)
		put(t, from.Workspace, "placet.toml", toml+"\n")
		_, err := Load(from)
		p, ok := err.(*console.Problem)
		if !ok {
			t.Errorf("%.40q: %v", toml, err)
			continue
		}
		for _, text := range []string{p.In(templates.Pseudo), p.Hint(templates.Pseudo)} {
			if said := inEnglish(text); said != "" {
				t.Errorf("%.40q: %q in %q", toml, said, text)
			}
		}
	}
}

func TestWhatIsWrongWithAWorkspaceIsToldInTheReadersLanguage(t *testing.T) {
	dir := t.TempDir()
	file := put(t, dir, "file", "")
	_, missing := folder(filepath.Join(dir, "missing"))
	_, none := folder(file)
	waiting := []UntrustedLine{{Name: "a", Digest: engine.Sum([]byte("1")), Files: map[string]string{"work.sh": "gone"}}, {Name: "b"}, {Name: "b"}}
	problems := []error{missing, none, NoWorkspace("", dir), NoWorkspace(dir, dir), Untrustable(templates.Errorf("config.file.regular"))}
	for _, arg := range []string{"a@12345678", "b", "c"} {
		_, _, err := ChooseNamed(statedir.References{}, templates.Pseudo, []string{arg}, waiting, TrustFile{})
		problems = append(problems, err)
	}
	for _, err := range problems {
		p := err.(*console.Problem)
		for _, text := range append(p.Fits, p.In(templates.Pseudo), p.Hint(templates.Pseudo), TighterWaits("a").In(templates.Pseudo)) {
			if said := inEnglish(text); said != "" {
				t.Errorf("%v: %q in %q", err, said, text)
			}
		}
	}
}
