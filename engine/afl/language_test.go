package afl

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/templates"
)

var (
	// translated is a piece of a sentence in the pseudo-language.
	translated = regexp.MustCompile(`⟦[^⟧]*⟧`)
	// english matches two consecutive words.
	english = regexp.MustCompile(`[A-Za-z']{2,} [a-z']{2,}`)
	// foreign matches values of several words, and sentences of other packages.
	foreign = regexp.MustCompile(`\S+\.(json|yaml): ⟦⟧.*|it works|[EW]\d+ [a-z_]+ specs|by jmcwilliam|(Which way|which one)\?|start it|no database|two words|placet afl abc12345|--resume abc12345|line \d+, column \d+: .*|cannot (use|read) state\.json: |state\.json is (gone|of) .*|: restore it from git, .*`)
)

// said returns the texts that people read of a session.
func (w *world) said() []string {
	a := w.account()
	texts := slices.Concat(a.Why, a.WaitsFor)
	for _, u := range a.Unblock {
		texts = append(texts, u.Content)
	}
	add := func(list []engine.Fact) {
		for _, f := range list {
			texts = append(texts, f.Label, f.Value)
		}
	}
	add(a.Facts)
	for _, p := range a.Parts {
		texts = append(texts, string(p.Status))
		add(p.Facts)
		for _, s := range p.Sections {
			texts = append(texts, s.Title, s.Text)
		}
	}
	for _, f := range a.Findings {
		texts = append(texts, f.Text)
	}
	for _, e := range a.Log {
		texts = append(texts, e.Message)
	}
	for p, body := range w.Files {
		switch name := path.Base(p); {
		case strings.HasSuffix(name, "problem.md"), slices.Contains([]string{"feedback.md", "escalation.md", "prompt.md", "changes.md", "report.md"}, name):
			texts = append(texts, body)
		case name == "request.json":
			texts = append(texts, body)
		}
	}
	if w.Has("state.json") {
		if st, err := DecodeState("state.json", []byte(w.Read("state.json"))); err == nil {
			for _, q := range st.Requests {
				texts = append(texts, string(q.Reason))
			}
		}
	}
	return texts
}

// everyFinding is a session whose design has every finding except two layouts and no checkpoints.
func everyFinding(t testing.TB) *world {
	w := newWorld(t)
	w.Write("checkpoints/z.json", "{}")
	w.Write(specsYAML, `session: other
prerequisites: [{id: redis, type: environment, script: up}]
checkpoints:
  - {id: a, dependencies: [b, x], validation: {command: run, timeout: 60s, expect: y}}
  - {id: b, dependencies: [a], type: chore, validation: {expected: ok}}
  - {id: A, depends_on: [a], criteria: [c], validation: {command: run, expected: ok}}
  - {name: two words, validation: {command: run}}
`)
	return w
}

// In the pseudo-language, nothing that people read about a waiting session or about bad files is
// English except values; TestLanguages covers the cases of the laws.
func TestWhatPeopleReadIsTranslated(t *testing.T) {
	worldLanguage = templates.Pseudo
	t.Cleanup(func() { worldLanguage = "en" })
	check := func(t *testing.T, w *world) {
		t.Helper()
		for _, text := range w.said() {
			for line := range strings.Lines(text) {
				if bare := foreign.ReplaceAllString(translated.ReplaceAllString(line, "⟦⟧"), ""); english.MatchString(bare) {
					t.Errorf("it says %q", line)
				}
			}
		}
	}
	for name, c := range explainCases() {
		t.Run(name, func(t *testing.T) { check(t, c.begin(t)) })
	}
	for _, c := range badCases() {
		t.Run(c.name, func(t *testing.T) {
			begin := c.begin
			if begin == nil {
				begin = oneInProgress
			}
			w := begin(t)
			c.spoil(w)
			w.pass(11 * time.Second)
			w.settle()
			check(t, w)
		})
	}
	for name, begin := range map[string]func(testing.TB) *world{
		"every finding": everyFinding,
		"two ids": func(t testing.TB) *world {
			w := newWorld(t)
			w.Write("checkpoints/a.json", `{"id": "b", "criteria": [], "validation": {"command": "run"}, "prerequisites": {"environment": ["docker"]}}`)
			return w
		},
		"nothing defined": func(t testing.TB) *world {
			w := newWorld(t)
			w.Write(specsYAML, "checkpoints: []\n")
			return w
		},
		"more attempts than there can be": func(t testing.TB) *world {
			w := escalatedWorld(t, cp{id: "a"})
			w.answer(typeEscalation, optRetryMore, map[string]any{"attempts": 99})
			return w
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t)
			for range 3 {
				w.settle()
				check(t, w)
				w.pass(time.Minute)
			}
		})
	}
	for _, lang := range append(templates.Languages(), templates.Pseudo) {
		if c := worded("exit", "3"); criterion(lang, c) != phrase(lang, "failed.exit", "value", "3") || criterion(lang, "exit it") != "exit it" {
			t.Errorf("%s: %q", lang, criterion(lang, c))
		}
	}
}

// Every key that the family uses has its words.
func TestEveryKeyHasItsWords(t *testing.T) {
	asked := regexp.MustCompile(`"(?:afl\.)?((?:move|failed|finding|mend|bad|state|setting|why|command|wait|wanted|unblock|show|section)\.[a-z_]+(?:\.[a-z_]+)*|somebody)"`)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range asked.FindAllStringSubmatch(string(body), -1) {
			if m[1] != "state.json" {
				keys = append(keys, m[1])
			}
		}
		for _, m := range regexp.MustCompile(`list\.add\("([a-z_]+)"`).FindAllStringSubmatch(string(body), -1) {
			keys = append(keys, "fact."+m[1])
		}
		for _, m := range regexp.MustCompile(`p\.bad\([^"]*, "([a-z.]+)", "`).FindAllStringSubmatch(string(body), -1) {
			keys = append(keys, "setting."+m[1])
		}
	}
	for _, key := range ownCriteria {
		keys = append(keys, "failed."+key)
	}
	for _, name := range kinds {
		keys = append(keys, "finding."+name, "mend."+name)
	}
	if len(keys) < 200 {
		t.Fatalf("only %d keys are asked for", len(keys))
	}
	for _, key := range keys {
		if phrase(templates.English, key) == "afl."+key {
			t.Errorf("there are no words for %q", key)
		}
	}
}

// Everything offered, asked and reported has its words in both languages, every option has an
// effect, and an option that refuses never lets the session continue.
func TestWhatIsChosenHasItsWords(t *testing.T) {
	keys := []string{
		"title.specs_approval", "title.clarification", "title.escalation", "title.implementation_review", "title.interrupted_run",
		"title.changed_command", "title.checkpoint_review", "ask.changed_command", "ask.changed_command.gone", "ask.changed_command.unknown", "ask.checkpoint_review",
		"option.escalate.changed", "option.checkpoint.accept", "option.checkpoint.reopen", "effect.checkpoint.accept", "effect.checkpoint.reopen",
		"ask.specs_approval", "ask.specs_approval.blocked", "ask.escalation", "ask.dependents", "ask.implementation_review",
		"ask.interrupted_run.validation", "ask.interrupted_run.worker",
	}
	for _, why := range []string{skipPlain, skipForced, becauseSkipped, becauseDependency, becauseRemoved, becauseSession} {
		keys = append(keys, "report.because."+why)
	}
	for _, lang := range []string{"en", "ko"} {
		for _, option := range []string{
			optApprove, optChanges, optReject, optAnswer, optValidate, optEscalate, optRetryMore, optRedesign, optEnvFixed,
			optSkip, optSkipForced, optAbort, optAccept, strings.TrimSuffix(optReopen, ":"), optRunAgain, optFailed, optRun, engine.TrustChanges,
		} {
			keys = append(keys, "option."+option, "effect."+option)
			if len(phrase(lang, "option."+option)) > 500 {
				t.Errorf("%s: %s is longer than a form shows", lang, option)
			}
			if words := phrase(lang, "effect."+option); gate.Refuses(option) && words != phrase(lang, "effect.abort") {
				t.Errorf("%s: %s refuses, and is shown as %q", lang, option, words)
			}
		}
		for _, key := range keys {
			if words := phrase(lang, key); words == "" || words == "afl."+key || lang == "ko" && words == phrase("en", key) {
				t.Errorf("%s has no words for %s", lang, key)
			}
		}
	}
}
