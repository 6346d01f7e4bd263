package cli

import (
	"bytes"
	"context"
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

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"placet/cmd/placet/console"
	"placet/cmd/placet/family"
	wording "placet/internal/pseudo"
	"placet/templates"
)

// Check 2 of languages: all that placet prints in any script is translated. The scripts expect
// English, so they fail; only the printed text counts.
func TestLanguageCheck2ScriptsInThePseudoLanguage(t *testing.T) {
	scripts, err := filepath.Glob(scriptFiles)
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
		return err == nil && regexp.MustCompile(`(?m)^(daemon|await|gone)\b|&$|\bdo :; done`).Match(body)
	})
	defer templates.AddPseudo()() // no other test runs beside one that is not parallel
	said := report{lines: map[string]bool{}}
	params := scriptParams(t, scripts, said.run)
	params.ContinueOnError = true
	setup := params.Setup
	params.Setup = func(env *testscript.Env) error {
		env.Setenv("LANG", templates.Pseudo)
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
	h := heedless{t, new(sync.WaitGroup), make(chan struct{}, 16)}
	testscript.RunT(h, params)
	h.scripts.Wait()
	for line := range said.lines {
		t.Error(line)
	}
	if said.calls < 500 {
		t.Errorf("placet ran %d times", said.calls)
	}
}

// heedless is a test that goes on whatever a script expects, with sixteen scripts at a time.
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

// untranslatedCalls are words of calls whose answers programs read, or that another test covers.
var untranslatedCalls = []string{"--json", "--dry-run", "schema", "graph", "hook", "completion", "__complete", "demo", "watchdog", "help", "--help", "-h"}

// report has what the calls of all scripts print outside of the pseudo-language.
type report struct {
	mu    sync.Mutex
	calls int
	lines map[string]bool
}

// run runs placet in the pseudo-language, and reports what it prints outside of it. The event for
// which a call waits may never come, so the call is told to end.
func (r *report) run(ctx context.Context, w *console.Env, args []string) int {
	if w.Getenv("LANG") != templates.Pseudo {
		return run(ctx, w, args) // a script is about another language
	}
	if slices.Contains(args, "--wait") || slices.Contains(args, "wait") {
		over, end := context.WithCancel(ctx)
		end()
		ctx = over
	}
	var printed bytes.Buffer
	shown := w.Out
	w.Out = io.MultiWriter(shown, &printed)
	code := run(ctx, w, args)
	var outside []string
	if !slices.ContainsFunc(args, func(arg string) bool { return slices.Contains(untranslatedCalls, arg) }) &&
		!strings.Contains(printed.String(), "--workspace") { // help, which another test is about
		outside = wordsOutside(w, args, printed.String())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	for _, words := range outside {
		r.lines[fmt.Sprintf("placet %s prints %q", strings.Join(args, " "), words)] = true
	}
	return code
}

// wordsOutside returns the words of a text that nobody translated.
func wordsOutside(w *console.Env, args []string, text string) []string {
	known := wording.New(append([]string{"served driven foreign unreadable absent present null true match do reason git inotify devel EDITOR UTC implementation severity", "cut off in archive", "git is rewriting the tree", "a person is asked"}, args...)...)
	root := newRoot(&console.Env{Getenv: os.Getenv}, new(bool))
	nameVerbs(known, root)
	for _, f := range family.All {
		known.Name(f.Name)
		for _, e := range f.Machine().Edges() {
			known.Name(e.Of, string(e.From), e.Event, string(e.To))
		}
	}
	return known.Outside(text, func() {
		for _, root := range []string{w.Getenv("WORK"), w.Getenv("HOME")} {
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
