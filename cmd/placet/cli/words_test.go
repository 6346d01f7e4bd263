package cli

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	asks "placet/cmd/placet/cli/ask"
	"placet/cmd/placet/cli/demo"
	"placet/cmd/placet/cli/setup"
	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/family"
	"placet/cmd/placet/view"
	"placet/engine"
	"placet/engine/ask"
	"placet/templates"
)

// untranslated returns the letters of a text that no words.json has, except for paths and some
// values.
func untranslated(text string, values ...string) string {
	text = regexp.MustCompile(`⟦[^⟧]*⟧`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`\S*/\S*`).ReplaceAllString(text, "")
	for _, value := range values {
		text = strings.ReplaceAll(text, value, "")
	}
	return strings.Join(regexp.MustCompile(`\pL+`).FindAllString(text, -1), " ")
}

func TestWhatPeopleReadIsTranslated(t *testing.T) {
	var out bytes.Buffer
	root, home := t.TempDir(), t.TempDir()
	w := &console.Env{
		In: strings.NewReader("\x1b[A\n"), Out: &out, Err: &out, Cwd: root, Lang: templates.Pseudo, Now: func() time.Time { return noon },
		Getenv: func(name string) string { return map[string]string{"HOME": home}[name] },
		Flags:  console.Flags{Workspace: root, Lang: templates.Pseudo},
	}
	open := engine.OpenRequest{Run: engine.Key{Family: "ask", ID: "7"}, Request: "r-7", Type: "approval", Where: "here", RequestedAt: noon, Deadline: noon}
	late := open
	late.Overdue = true
	answered := ask.State{Status: ask.Answered, Answer: &ask.Given{Response: "go"}}
	answered.Answer.By.User, answered.Answer.Comment = "kim", "fine"
	agent := *w
	agent.Getenv = func(name string) string { return map[string]string{"CLAUDECODE": "1"}[name] }
	says := map[string]struct {
		say  func() error
		data []string
	}{
		"init":                  {func() error { return setup.InitWorkspace(w, root, config.Settings{}, nil, nil) }, []string{"placet.toml"}},
		"doctor":                {func() error { return examine(w) }, append([]string{".asks", "Apple Git", "git", "inotify"}, family.Names()...)},
		"a story":               {func() error { return playWith(w, "demo", "x") }, []string{"x", "placet demo ask|faber|afl|optimizer|nemawashi|pal"}},
		"an agent that answers": {func() error { return verb.RefuseAgent(&agent, commandAt(&agent, "approve"), nil) }, []string{"CLAUDECODE"}},
		"an agent that lets in": {func() error { return verb.RefuseAgent(&agent, commandAt(&agent, "login"), nil) }, []string{"CLAUDECODE", "placet", "login"}},
		"words": {func() error {
			return verb.CheckWords(w, "adopt", "ask/7", w.Text("cli.words.reason"), strings.Repeat("x", 1<<20), "")
		}, nil},
		"a length":  {func() error { _, err := asks.Duration("soon"); return err }, []string{"soon"}},
		"a browser": {func() error { return openBrowser(w, "link") }, nil},
		"the head": {func() error {
			out.WriteString(requestHead(w, open, w.Text("cli.inbox.unusable")) + requestHead(w, late, ""))
			return nil
		}, []string{"ask/7", "here", "r-7", "approval"}},
		"an answer": {func() error { asks.Say(w, answered); return nil }, []string{"placet:", "go", "kim", "fine"}},
		"findings": {func() error {
			line := finding(w, view.MisplacedLine{Family: "ask", Path: "x", Why: "7"})
			printFindings(w, 0, []view.FindingLine{line}, 0)
			return nil
		}, []string{"x"}},
		"a prompt": {func() error {
			p := w.NewPrompter()
			defer p.Close()
			return p.Agreed(t.Context(), w.Text("cli.adopt.ask"))
		}, nil},
	}
	for name, test := range says {
		t.Run(name, func(t *testing.T) {
			out.Reset()
			text, err := "", test.say()
			if err != nil && name != "doctor" {
				p := console.ProblemOf(err)
				text = p.In(w.Lang) + p.Hint(w.Lang)
			}
			text += out.String()
			if left := untranslated(text, test.data...); left != "" {
				t.Errorf("%q is in no words.json; shown:\n%s", left, text)
			}
			if name != "words" && !strings.Contains(text, "⟦") {
				t.Errorf("nothing of it is in words.json:\n%s", text)
			}
		})
	}
}

// commandAt matches a command of placet.
func commandAt(w *console.Env, path ...string) *cobra.Command {
	cmd, _, _ := newRoot(w, new(bool)).Find(path)
	return cmd
}

// playWith plays a verb that runs without a workspace.
func playWith(w *console.Env, name string, args ...string) error {
	for _, v := range verbs() {
		if word, _, _ := strings.Cut(v.Use, " "); word == name {
			return v.Run(verb.Call{Env: w, Args: args})
		}
	}
	return os.ErrNotExist
}

func TestTheDemoHasWordsInEveryLanguage(t *testing.T) {
	for _, key := range demo.Words.FindAllString(demo.Script, -1) {
		if key = strings.TrimPrefix(key, "@@"); templates.Text(templates.English, key) == key {
			t.Errorf("there are no words for %s", key)
		}
	}
	for _, lang := range templates.Languages() {
		if script := demo.In(lang); demo.Words.MatchString(script) || strings.Count(script, "\n") != strings.Count(demo.Script, "\n") {
			t.Errorf("%s: the demo lacks words", lang)
		}
	}
}
