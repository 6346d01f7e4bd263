package exec

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/internal/await"
	"placet/layout"
)

// bench is a workspace with a runner.
type bench struct {
	t    *testing.T
	root string
	*Runner
}

func newBench(t *testing.T, o RunnerOptions) *bench {
	t.Helper()
	return benchAt(t, t.TempDir(), o)
}

// benchAt makes another runner for a workspace: placet after a restart.
func benchAt(t *testing.T, root string, o RunnerOptions) *bench {
	t.Helper()
	st := store.New(fs.OS(root), store.Options{})
	o.State, o.Families = stateIn(t, root), []layout.Family{runFamily{}}
	b := &bench{t: t, root: root, Runner: NewRunner(root, st, o)}
	t.Cleanup(func() {
		for id := range b.Alive() {
			b.End(id)
		}
		await.Until(t, "every command has ended", func() bool { return len(b.Alive()) == 0 })
	})
	return b
}

// stateIn makes the workspace its own state folder, so that a test sees the
// content of both.
func stateIn(t *testing.T, root string) *os.Root {
	t.Helper()
	state, err := os.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { state.Close() })
	return state
}

// runFamily has one run, in the folder run, in which every JSON file is an outcome.
type runFamily struct{ layout.Family }

func (runFamily) At(p string) (layout.Run, bool) {
	return layout.Run{Dir: "run"}, layout.Under(p, "run") && layout.Safe(p)
}

func (runFamily) File(_ layout.Run, rel string) (layout.File, bool) {
	return layout.File{Kind: layout.FaberOutcome}, filepath.Ext(rel) == ".json"
}

// do begins an action and waits for its outcome.
func (b *bench) do(a engine.Action) result {
	b.t.Helper()
	b.Begin(a)
	await.Until(b.t, a.ID+" has ended", func() bool { return !b.Alive()[a.ID] })
	return b.outcome(a)
}

// result is an outcome document, read back.
type result struct {
	Action     string `json:"action"`
	StartedAt  string `json:"started_at"`
	FinishedAt string `json:"finished_at"`
	DurationMS int    `json:"duration_ms"`
	Outcome    string `json:"outcome"`
	ExitCode   *int   `json:"exit_code"`
	Stdout     kept   `json:"stdout"`
	Stderr     kept   `json:"stderr"`
	Reason     string `json:"reason"`

	Cwd      string  `json:"cwd"`
	TimedOut bool    `json:"timed_out"`
	Matched  *bool   `json:"matched_expected"`
	Marker   *string `json:"failing_marker"`
	Tail     string  `json:"tail"`
}

type kept struct {
	Bytes      int    `json:"bytes"`
	Head, Tail string `json:",omitempty"`
	Truncated  bool   `json:"truncated"`
}

// code is the exit code, -1 for null.
func (r result) code() int {
	if r.ExitCode == nil {
		return -1
	}
	return *r.ExitCode
}

// verdict is what the judge says: "true", "false" or "null", then the marker.
func (r result) verdict() string {
	text := "null"
	if r.Matched != nil {
		text = strconv.FormatBool(*r.Matched)
	}
	if r.Marker != nil {
		text += " " + *r.Marker
	}
	return text
}

func (b *bench) outcome(a engine.Action) result {
	b.t.Helper()
	var r result
	if err := json.Unmarshal([]byte(b.read(a.Outcome)), &r); err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b *bench) read(name string) string {
	b.t.Helper()
	body, err := os.ReadFile(filepath.Join(b.root, name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(body)
}

func (b *bench) has(name string) bool {
	_, err := os.Lstat(filepath.Join(b.root, name))
	return err == nil
}

// wrote reports whether a command has written a line to a file.
func (b *bench) wrote(name string) bool {
	return b.has(name) && strings.HasSuffix(b.read(name), "\n")
}

// folders are the commands' folders that are there.
func (b *bench) folders() []string {
	entries, _ := os.ReadDir(filepath.Join(b.root, actionsDir))
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// shell is a check that runs a shell script; the name of the test is its ID.
func shell(t *testing.T, script string, args ...string) engine.Action {
	return engine.Action{
		ID:      "test/" + t.Name(),
		Outcome: "run/actions/" + strings.ReplaceAll(t.Name(), "/", "-") + "/outcome.json",
		Fields:  []engine.Field{{Name: "action", Value: t.Name()}},
		Command: engine.Command{Argv: append([]string{"sh", "-c", script}, args...)},
	}
}

// agent is the same, outliving placet.
func agent(t *testing.T, script string, args ...string) engine.Action {
	a := shell(t, script, args...)
	a.Command.Agent = true
	return a
}

// judged returns a check whose output is judged.
func judged(t *testing.T, script, expected string) engine.Action {
	a := shell(t, script)
	a.Judge, a.Expected = true, expected
	return a
}
