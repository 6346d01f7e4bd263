package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/internal/await"
	"placet/internal/leftovers"
)

// scriptFiles are the scripts.
const scriptFiles = "../../../testdata/scripts/*.txtar"

// TestMain runs the tests, or, if this program was started under one of their names, the
// commands that scripts find in PATH.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "placet":
		os.Exit(Main(""))
	case "listed":
		w, err := console.NewEnv()
		if err != nil {
			panic(err)
		}
		os.Exit(listed(context.Background(), w, os.Args[1:]))
	}
	os.Exit(leftovers.Run(tests{m}))
}

// listed is placet for somebody who looks at the inbox first: it adds to the named request the
// digest that the inbox shows.
func listed(ctx context.Context, w *console.Env, args []string) int {
	looks, words := *w, args
	if words[0] == "-C" {
		looks.Flags.Workspace, words = words[1], words[2:]
	}
	if b, err := workspace.Look(&looks); err == nil && len(words) > 1 {
		found, _ := b.Loop.Runs()
		if open := view.OpenRequests(b, found, words[1]); len(open) == 1 {
			_, digest, _ := strings.Cut(view.Reference(open[0].OpenRequest), "@")
			words[1] += "@" + digest // args shares these words
		}
	}
	return run(ctx, w, args)
}

// tests are the tests, with the commands of scripts in a folder beside them.
type tests struct{ *testing.M }

func (t tests) Run() int {
	self, err := os.Executable()
	bin := filepath.Join(leftovers.Dir, "bin")
	err = errors.Join(err, os.Mkdir(bin, 0o755))
	for _, name := range []string{"placet", "listed"} {
		err = errors.Join(err, copyProgram(self, filepath.Join(bin, name)))
	}
	for _, name := range slices.Concat(console.AgentVariables, []string{"CLAUDE_CODE_SESSION_ID"}) { // these tests ask and answer, wherever they run
		err = errors.Join(err, os.Unsetenv(name))
	}
	// They expect English, whatever the machine speaks.
	for name, value := range map[string]string{"LC_ALL": "C", "PATH": bin + ":" + os.Getenv("PATH")} {
		err = errors.Join(err, os.Setenv(name, value))
	}
	if err != nil {
		panic(err)
	}
	return t.M.Run()
}

// copyProgram gives a program a second name. A symbolic link would not do, because a process is
// known by the name to which it leads.
func copyProgram(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	body, err := os.ReadFile(from) // the copy is on another file system
	return errors.Join(err, os.WriteFile(to, body, 0o755))
}

// TestScripts runs testdata/scripts: the whole program on real files. Besides the
// usual commands a script has
//
//	placet [<FILE] ARG…       run a command line of placet in this process, with a file
//	                          to read; what is about signals, terminals and processes says
//	                          exec placet, which starts one
//	listed ARG…               placet approve, reject or respond, with the digest that
//	                          the inbox shows for the request named
//	exits CODE COMMAND ARG…   run a command, or placet or listed in this process, that
//	                          must end with this exit code
//	sample [FOLDER]           copy six real waiting FABER runs into a folder
//	await PATTERN FILE…       wait until each file exists and matches
//	gone FILE                 wait until a file does not exist
//	daemon [FOLDER]           wait until a daemon serves the folder
//	onejson                   stdout is one JSON object {"schema_version":1,"data":…}
//	subst FILE OLD NEW        replace text in a file, the way an editor saves it
//
// Under -short, which is for the race detector, those scripts run that start a daemon.
func TestScripts(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob(scriptFiles)
	if err != nil || len(scripts) == 0 {
		t.Fatalf("there are no scripts: %v", err)
	}
	if testing.Short() {
		scripts = slices.DeleteFunc(scripts, func(name string) bool {
			body, err := os.ReadFile(name)
			return err == nil && !regexp.MustCompile(`(?m)^daemon\b`).Match(body)
		})
	}
	testscript.Run(t, scriptParams(t, scripts, run))
}

// scriptParams returns the parameters of scripts that call run for placet.
func scriptParams(t testing.TB, scripts []string, runs runner) testscript.Params {
	ctx := await.Context(t)
	commands := map[string]runner{
		"placet": runs,
		"listed": func(ctx context.Context, w *console.Env, args []string) int { return listed(ctx, w, args) },
	}
	return testscript.Params{
		Files:               scripts,
		WorkdirRoot:         t.TempDir(), // testscript's own folder is left behind if scripts are filtered
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			home := env.WorkDir + "-home" // outside of all that a script may make its workspace
			env.Defer(func() { _ = os.RemoveAll(home) })
			env.Setenv("HOME", home)
			env.Setenv("TZ", "UTC")
			env.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, ".gitconfig"))
			env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			env.Values[limit{}] = ctx
			env.Values[variables{}] = names(env.Vars)
			if err := os.MkdirAll(home, 0o755); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(home, ".gitconfig"),
				[]byte("[user]\n\tname = Kim\n\temail = kim@example.invalid\n[init]\n\tdefaultBranch = main\n"), 0o644)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"placet": commands["placet"].command(ctx), "listed": commands["listed"].command(ctx), "exits": exits(ctx, commands),
			"sample": sample, "await": awaits, "gone": gone, "daemon": daemonRuns, "onejson": oneJSON, "subst": subst,
		},
	}
}

// runner carries out one command line and returns its exit code, as run does.
type runner func(ctx context.Context, w *console.Env, args []string) int

// variables is the key of the names of a script's variables.
type variables struct{}

// names are those of variables.
func names(vars []string) (all []string) {
	for _, v := range vars {
		name, _, _ := strings.Cut(v, "=")
		all = append(all, name)
	}
	return append(all, scriptVariables()...)
}

// scriptVariables are the names that scripts set.
var scriptVariables = sync.OnceValue(func() (all []string) {
	files, _ := filepath.Glob(scriptFiles)
	for _, name := range files {
		body, err := os.ReadFile(name)
		if err != nil {
			panic(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^env (\w+)=`).FindAllSubmatch(body, -1) {
			all = append(all, string(m[1]))
		}
	}
	return all
})

// in carries out one command line for a script.
func (r runner) in(ctx context.Context, ts *testscript.TestScript, args []string) int {
	w := &console.Env{Out: ts.Stdout(), Err: ts.Stderr(), Getenv: ts.Getenv, Cwd: ts.MkAbs("."), Now: time.Now, Lang: console.Locale(ts.Getenv)}
	input := ""
	if len(args) > 0 && strings.HasPrefix(args[0], "<") {
		input, args = ts.ReadFile(args[0][1:]), args[1:]
	}
	w.In = strings.NewReader(input)
	for _, name := range ts.Value(variables{}).([]string) {
		if value := ts.Getenv(name); value != "" {
			w.Environ = append(w.Environ, name+"="+value)
		}
	}
	return r(ctx, w, args)
}

// command returns a runner as a command of scripts.
func (r runner) command(ctx context.Context) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if code := r.in(ctx, ts, args); (code == 0) == neg {
			ts.Fatalf("exit code %d", code)
		}
	}
}

func exits(ctx context.Context, commands map[string]runner) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < 2 {
			ts.Fatalf("usage: exits CODE COMMAND ARG…")
		}
		want, err := strconv.Atoi(args[0])
		ts.Check(err)
		got := 0
		var exit *exec.ExitError
		if own := commands[args[1]]; own != nil {
			got = own.in(ctx, ts, args[2:])
		} else if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
			got = exit.ExitCode()
		} else if err != nil {
			ts.Fatalf("%v", err)
		}
		if got != want {
			ts.Fatalf("exit code %d, want %d", got, want)
		}
	}
}

func sample(ts *testscript.TestScript, _ bool, args []string) {
	to := ts.MkAbs(".")
	if len(args) > 0 {
		to = ts.MkAbs(args[0])
	}
	ts.Check(os.MkdirAll(to, 0o755))
	ts.Check(os.CopyFS(to, os.DirFS(filepath.Join("..", "..", "..", "testdata", "real", "faber", "awaiting-six-types"))))
	ts.Check(filepath.WalkDir(to, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			err = os.Chmod(path, 0o644)
		}
		return err
	}))
}

func poll(ts *testscript.TestScript, what string, there func() bool) {
	if !await.Is(ts.Value(limit{}).(context.Context), there) {
		ts.Fatalf("waited in vain: %s", what)
	}
}

// limit is the key of the context that ends the waits of a script.
type limit struct{}

func awaits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: await PATTERN FILE…")
	}
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	for _, file := range args[1:] {
		poll(ts, file+" to match "+args[0], func() bool {
			body, err := os.ReadFile(ts.MkAbs(file))
			return err == nil && pattern.Match(body)
		})
	}
}

func gone(ts *testscript.TestScript, _ bool, args []string) {
	poll(ts, args[0]+" to be gone", func() bool {
		_, err := os.Lstat(ts.MkAbs(args[0]))
		return errors.Is(err, fs.ErrNotExist)
	})
}

func daemonRuns(ts *testscript.TestScript, _ bool, args []string) {
	root := ts.MkAbs(".")
	if len(args) > 0 {
		root = ts.MkAbs(args[0])
	}
	poll(ts, "a daemon in "+root, func() bool { return workspace.DaemonRuns(root) })
}

func oneJSON(ts *testscript.TestScript, _ bool, _ []string) {
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	var object struct {
		SchemaVersion int             `json:"schema_version"`
		Data          json.RawMessage `json:"data"`
	}
	dec.DisallowUnknownFields()
	if err := dec.Decode(&object); err != nil || object.SchemaVersion != 1 || len(object.Data) == 0 {
		ts.Fatalf("stdout is no versioned object: %v\n%s", err, ts.ReadFile("stdout"))
	}
	if dec.More() {
		ts.Fatalf("stdout holds more than one object:\n%s", ts.ReadFile("stdout"))
	}
}

func subst(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: subst FILE OLD NEW")
	}
	path := ts.MkAbs(args[0])
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s does not hold %q:\n%s", args[0], args[1], text)
	}
	saved := filepath.Join(filepath.Dir(path), ".saved.swp")
	ts.Check(os.WriteFile(saved, []byte(strings.Replace(text, args[1], args[2], 1)), 0o644))
	ts.Check(os.Rename(saved, path))
}
