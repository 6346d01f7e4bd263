package cli

import (
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
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
)

func TestMain(m *testing.M) {
	testscript.Main(tidy{m}, map[string]func(){
		"placet": func() {
			if report := os.Getenv(pseudoReport); report != "" {
				os.Exit(inPseudo(report))
			}
			os.Exit(Main(""))
		},
		"listed": func() { os.Exit(listed()) },
	})
}

// listed is placet for somebody who looks at the inbox first: the request that is
// named gets the digest that is shown there.
func listed() int {
	w, err := console.NewEnv()
	if err != nil {
		return console.ExitUsage
	}
	args := os.Args[1:]
	if args[0] == "-C" {
		w.Flags.Workspace, args = args[1], args[2:]
	}
	if b, err := workspace.Look(w); err == nil && len(args) > 1 {
		found, _ := b.Loop.Runs()
		if open := b.OpenRequests(found, args[1]); len(open) == 1 {
			_, digest, _ := strings.Cut(workspace.Reference(open[0].OpenRequest), "@")
			args[1] += "@" + digest
		}
	}
	return Main("")
}

// tidy runs the tests with a folder for the program that they build, and removes
// it in the end.
type tidy struct{ m *testing.M }

func (t tidy) Run() int {
	dir, err := os.MkdirTemp("", "placet-e2e-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	for _, name := range slices.Concat(console.AgentVariables, []string{"CLAUDE_CODE_SESSION_ID"}) { // these tests ask and answer, wherever they run
		if err := os.Unsetenv(name); err != nil {
			panic(err)
		}
	}
	// They expect English, whatever the machine speaks.
	for name, value := range map[string]string{"PLACET_E2E_DIR": dir, "LC_ALL": "C"} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	return t.m.Run()
}

// TestScripts runs testdata/scripts: whole program, real files. Besides the
// usual commands a script has
//
//	exits CODE COMMAND ARG…   run a command that must end with this exit code
//	exec listed ARG…          placet approve, reject or respond, with the digest that
//	                          the inbox shows for the request named
//	sample [FOLDER]           copy six real waiting FABER runs into a folder
//	await PATTERN FILE…       wait until each file exists and matches
//	gone FILE                 wait until a file does not exist
//	daemon [FOLDER]           wait until a daemon serves the folder
//	onejson                   stdout is one JSON object {"schema_version":1,"data":…}
//	subst FILE OLD NEW        replace text in a file, the way an editor saves it
//
// Under -short, which is for the race detector, those scripts run that start a daemon.
func TestScripts(t *testing.T) {
	scripts, err := filepath.Glob(filepath.Join("..", "..", "..", "testdata", "scripts", "*.txtar"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("there are no scripts: %v", err)
	}
	if testing.Short() {
		scripts = slices.DeleteFunc(scripts, func(name string) bool {
			body, err := os.ReadFile(name)
			return err == nil && !regexp.MustCompile(`(?m)^daemon\b`).Match(body)
		})
	}
	testscript.Run(t, scriptParams(scripts))
}

func scriptParams(scripts []string) testscript.Params {
	return testscript.Params{
		Files:               scripts,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			home := env.WorkDir + "-home" // outside what a script may make its workspace
			env.Setenv("HOME", home)
			env.Setenv("TZ", "UTC")
			env.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, ".gitconfig"))
			env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			if err := os.MkdirAll(home, 0o755); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(home, ".gitconfig"),
				[]byte("[user]\n\tname = Kim\n\temail = kim@example.invalid\n[init]\n\tdefaultBranch = main\n"), 0o644)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "sample": sample, "await": await, "gone": gone, "daemon": daemon, "onejson": oneJSON, "subst": subst,
		},
	}
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d\n[stdout]\n%s[stderr]\n%s", got, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
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

// pollFor is how long a script waits for what a daemon does.
const pollFor = 15 * time.Second

func poll(ts *testscript.TestScript, what string, there func() bool) {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for end := time.Now().Add(pollFor); !there(); <-ticker.C {
		if time.Now().After(end) {
			ts.Fatalf("waited in vain: %s", what)
		}
	}
}

func await(ts *testscript.TestScript, neg bool, args []string) {
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

func daemon(ts *testscript.TestScript, _ bool, args []string) {
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
