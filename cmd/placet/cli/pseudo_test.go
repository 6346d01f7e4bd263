package cli

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"placet/cmd/placet/console"
	"placet/cmd/placet/family"
	wording "placet/internal/pseudo"
	"placet/templates"
)

// pseudoReport is the variable that has placet speak the pseudo-language, and names the file
// for what it printed in English all the same.
const pseudoReport = "PLACET_PSEUDO_REPORT"

// Check 2 of languages: whatever the scripts do, all that placet prints is translated. What
// they expect is English, so they fail; what counts is what was printed.
func TestLanguageCheck2ScriptsInThePseudoLanguage(t *testing.T) {
	scripts, err := filepath.Glob(filepath.Join("..", "..", "..", "testdata", "scripts", "*.txtar"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("there are no scripts: %v", err)
	}
	if testing.Short() {
		t.Skip("-short is for the race detector, which does not look into another program")
	}
	scripts = slices.DeleteFunc(scripts, func(name string) bool {
		body, err := os.ReadFile(name)
		if own := regexp.MustCompile(`(?m)^cp settings .*/placet\.toml$`); own.Match(body) && bytes.Contains(body, []byte("language = ")) {
			return true // it speaks a language of its own
		}
		return err == nil && regexp.MustCompile(`(?m)^(daemon|await|gone)\b|&$`).Match(body)
	})
	report := filepath.Join(t.TempDir(), "report")
	params := scriptParams(scripts)
	params.ContinueOnError = true
	setup := params.Setup
	params.Setup = func(env *testscript.Env) error {
		env.Setenv("LANG", templates.Pseudo)
		env.Setenv(pseudoReport, report)
		if err := setup(env); err != nil {
			return err
		}
		conf := filepath.Join(env.Getenv("HOME"), ".config", "placet")
		if err := os.MkdirAll(conf, 0o755); err != nil {
			return err
		}
		var text strings.Builder
		fmt.Fprintf(&text, "language = %q\n", templates.Pseudo)
		for _, f := range family.All {
			fmt.Fprintf(&text, "[%s]\nlanguage = %q\n", f.Name, templates.Pseudo)
		}
		return os.WriteFile(filepath.Join(conf, "placet.toml"), []byte(text.String()), 0o644)
	}
	h := heedless{t, new(sync.WaitGroup), make(chan struct{}, 4)}
	testscript.RunT(h, params)
	h.scripts.Wait()
	body, err := os.ReadFile(report)
	if err != nil {
		t.Fatalf("placet did not run: %v", err)
	}
	lines := strings.Split(strings.TrimSpace(string(body)), "\n")
	calls := 0
	seen := map[string]bool{}
	for _, line := range lines {
		if line == ran {
			calls++
		} else if !seen[line] {
			seen[line] = true
			t.Error(line)
		}
	}
	if calls < 500 {
		t.Errorf("placet ran %d times", calls)
	}
}

// heedless is a test that goes on whatever a script expects, with four scripts at a time.
type heedless struct {
	*testing.T
	scripts *sync.WaitGroup
	turns   chan struct{}
}

func (h heedless) Run(_ string, f func(testscript.T)) {
	h.scripts.Go(func() {
		h.turns <- struct{}{}
		defer func() { <-h.turns }()
		f(h)
	})
}
func (h heedless) Parallel()     {}
func (h heedless) Log(...any)    {}
func (h heedless) FailNow()      { runtime.Goexit() }
func (h heedless) Fatal(...any)  { runtime.Goexit() }
func (h heedless) Skip(...any)   { runtime.Goexit() }
func (h heedless) Verbose() bool { return false }

// untranslatedCalls are words of calls whose answers programs read, or that another test is about.
var untranslatedCalls = []string{"--json", "schema", "graph", "hook", "completion", "__complete", "demo", "watchdog", "help", "--help", "-h"}

// longestCall is how long a call may take.
const longestCall = 3 * time.Second

// ran is the line of the report that says that placet ran.
const ran = "ran"

// inPseudo runs placet in the pseudo-language, and reports what it prints outside of it.
func inPseudo(report string) int {
	templates.AddPseudo()
	if os.Getenv("LANG") != templates.Pseudo {
		return Main("") // a script is about another language
	}
	time.AfterFunc(longestCall, func() { os.Exit(1) }) // what it waits for may never come
	out := os.Stdout
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	os.Stdout = w
	var printed bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.Copy(io.MultiWriter(out, &printed), r)
	}()
	code := Main("")
	w.Close()
	<-done
	lines := ran + "\n"
	if !slices.ContainsFunc(os.Args, func(arg string) bool { return slices.Contains(untranslatedCalls, arg) }) {
		if strings.Contains(printed.String(), "--workspace") {
			printed.Reset() // help, which another test is about
		}
		for _, words := range wordsOutside(printed.String()) {
			lines += fmt.Sprintf("placet %s prints %q\n", strings.Join(os.Args[1:], " "), words)
		}
	}
	f, err := os.OpenFile(report, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	if _, err := f.WriteString(lines); err != nil {
		panic(err)
	}
	return code
}

// wordsOutside returns the words of a text that nobody translated.
func wordsOutside(text string) []string {
	known := wording.New(append([]string{"served driven foreign unreadable absent present null git inotify devel EDITOR UTC implementation", "cut off in archive", "git is rewriting the tree"}, os.Args...)...)
	root := newRoot(&console.Env{Getenv: os.Getenv}, new(bool))
	nameVerbs(known, root)
	for _, f := range family.All {
		known.Name(f.Name)
		for _, e := range f.Machine().Edges() {
			known.Name(e.Of, string(e.From), e.Event, string(e.To))
		}
	}
	return known.Outside(text, func() {
		for _, root := range []string{os.Getenv("WORK"), os.Getenv("HOME")} {
			filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
				if err == nil && e.Name() == ".git" {
					return fs.SkipDir
				}
				known.Name(path)
				if err == nil && e.Type().IsRegular() {
					if body, err := os.ReadFile(path); err == nil && len(body) < 1<<20 {
						known.Say(string(body))
					}
				}
				return nil
			})
		}
	})
}

func nameVerbs(known *wording.Words, cmd *cobra.Command) {
	known.Name(cmd.Use)
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known.Name(f.Name) })
	for _, below := range cmd.Commands() {
		nameVerbs(known, below)
	}
}
