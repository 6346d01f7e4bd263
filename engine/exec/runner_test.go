package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/engine/store/fs"
	"placet/internal/await"
)

// clock returns a clock that advances by step with every reading.
func clock(step time.Duration) func() time.Time {
	var mu sync.Mutex
	now := time.Date(2026, 11, 20, 10, 0, 0, 120e6, time.UTC)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(step)
		return now
	}
}

func TestOutcomeHoldsTheActionsFieldsFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{Now: clock(1500 * time.Millisecond)})
	a := shell(t, `printf 'out < "한" >'; printf 'err\n' >&2; exit 3`)
	a.Fields = []engine.Field{{Name: "revision", Value: 7}, {Name: "argv", Value: []string{"sh"}}}
	b.do(a)
	want := `{
  "revision": 7,
  "argv": [
    "sh"
  ],
  "started_at": "2026-11-20T10:00:01.620Z",
  "finished_at": "2026-11-20T10:00:03.120Z",
  "duration_ms": 1500,
  "outcome": "finished",
  "exit_code": 3,
  "stdout": {
    "bytes": 13,
    "head": "out < \"한\" >",
    "tail": "",
    "truncated": false
  },
  "stderr": {
    "bytes": 4,
    "head": "err\n",
    "tail": "",
    "truncated": false
  }
}
`
	if diff := cmp.Diff(want, b.read(a.Outcome)); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
	if left := b.folders(); len(left) != 0 {
		t.Errorf("folders left behind: %q", left)
	}
}

func TestOutcomeNeverEndsBeforeItBegan(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{Now: clock(-time.Hour)})
	got := b.do(shell(t, "exit 0"))
	if got.FinishedAt != got.StartedAt || got.DurationMS != 0 {
		t.Errorf("started %s, finished %s after %d ms", got.StartedAt, got.FinishedAt, got.DurationMS)
	}
}

func TestAnActionBeginsOncePerProcess(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{})
	a := shell(t, "echo begun >> begun")
	for range 20 {
		b.Begin(a)
	}
	b.do(a)
	b.do(a)
	if got := b.read("begun"); got != "begun\n" {
		t.Errorf("the command ran %d times", strings.Count(got, "begun"))
	}
}

func TestAnActionIsAliveUntilItsOutcomeIsRecorded(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{})
	a := shell(t, "read line < gate")
	if err := syscall.Mkfifo(filepath.Join(b.root, "gate"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.Begin(a)
	if !b.Alive()[a.ID] {
		t.Error("not alive right after Begin")
	}
	open(t, filepath.Join(b.root, "gate"))
	await.Until(t, "the outcome is there", func() bool { return b.has(a.Outcome) })
	await.Until(t, "it is no longer alive", func() bool { return !b.Alive()[a.ID] })
}

// open lets a command that reads a FIFO go on.
func open(t *testing.T, fifo string) {
	t.Helper()
	f, err := os.OpenFile(fifo, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("go\n"); err != nil {
		t.Fatal(err)
	}
	f.Close()
}

func TestACommandGetsItsInputFolderAndEnvironment(t *testing.T) {
	t.Parallel()
	for _, kind := range []struct {
		name string
		make func(*testing.T, string, ...string) engine.Action
	}{{"check", shell}, {"agent", agent}} {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, RunnerOptions{
				Environ: append(os.Environ(), "SECRET=1", "API_KEY=k", "LC_TIME=ko_KR", "PLACET_STEP=old"),
				Allow:   []string{"API_KEY"},
			})
			if err := os.MkdirAll(filepath.Join(b.root, "sub/folder"), 0o777); err != nil {
				t.Fatal(err)
			}
			a := kind.make(t, `cat; echo "$SECRET|$API_KEY|$LC_TIME|$PLACET_STEP|$1"; basename "$PWD"`, "sh", "a b;c")
			a.Command.Stdin = []byte("resume here\n")
			a.Command.Dir = "sub/folder"
			a.Command.Env = []string{"PLACET_STEP=build"}
			got := b.do(a)
			if want := "resume here\n|k|ko_KR|build|a b;c\nfolder\n"; got.Stdout.Head != want {
				t.Errorf("stdout = %q, want %q", got.Stdout.Head, want)
			}
		})
	}
}

func TestWithoutInputACommandReadsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{})
	if got := b.do(shell(t, "cat; echo end")); got.Stdout.Head != "end\n" {
		t.Errorf("stdout = %q", got.Stdout.Head)
	}
}

func TestWhatCannotStartIsRecordedWithItsReason(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	tests := []struct {
		name string
		edit func(*engine.Action)
		want string
	}{
		{"empty command", func(a *engine.Action) { a.Command.Argv = nil }, "the command is empty"},
		{"no such program", func(a *engine.Action) { a.Command.Argv = []string{"no-such-program-here"} }, "no-such-program-here"},
		{"not executable", func(a *engine.Action) { a.Command.Argv = []string{"./file"} }, "permission denied"},
		{"folder missing", func(a *engine.Action) { a.Command.Dir = "worktrees/a" }, `cannot run in "worktrees/a"`},
		{"folder is a file", func(a *engine.Action) { a.Command.Dir = "file" }, `cannot run in "file": it is not a folder`},
		{"folder above", func(a *engine.Action) { a.Command.Dir = "../x" }, `cannot run in "../x": it is not a folder of the workspace`},
		{"folder by a link that leads out", func(a *engine.Action) { a.Command.Dir = "out" }, `cannot run in "out"`},
		{"not permitted", func(a *engine.Action) { a.ID = "forbidden" }, "the trust was taken back"},
		{"field that is no JSON", func(a *engine.Action) { a.Fields = []engine.Field{{Name: "f", Value: func() {}}} }, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, RunnerOptions{Permit: func(a engine.Action, _ string) error {
				if a.ID == "forbidden" {
					return errors.New("the trust was taken back")
				}
				return nil
			}})
			if err := os.WriteFile(filepath.Join(b.root, "file"), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(outside, filepath.Join(b.root, "out")); err != nil {
				t.Fatal(err)
			}
			a := shell(t, "exit 0")
			test.edit(&a)
			if test.want == "" {
				b.Begin(a)
				if err := b.Stop(t.Context()); err != nil {
					t.Fatal(err)
				}
				if b.has(a.Outcome) {
					t.Error("an outcome was written without its fields")
				}
				return
			}
			got := b.do(a)
			if got.Outcome != "not_started" || got.code() != -1 || !strings.Contains(got.Reason, test.want) {
				t.Errorf("outcome %q, exit code %d, reason %q; want not_started, null, %q", got.Outcome, got.code(), got.Reason, test.want)
			}
			if len(b.folders()) != 0 {
				t.Error("a folder was left behind")
			}
		})
	}
}

func TestOfALongOutputHeadAndTailAreKept(t *testing.T) {
	t.Parallel()
	for _, kind := range []struct {
		name string
		make func(*testing.T, string, ...string) engine.Action
	}{{"check", shell}, {"agent", agent}} {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, RunnerOptions{})
			got := b.do(kind.make(t, `echo first; i=0; while [ $i -lt 40 ]; do printf '%08000d' $i; i=$((i+1)); done; echo last`)).Stdout
			if got.Bytes != 320011 || len(got.Head) != headMax || len(got.Tail) != tailMax || !got.Truncated {
				t.Errorf("%d bytes, head %d, tail %d, truncated %t", got.Bytes, len(got.Head), len(got.Tail), got.Truncated)
			}
			if !strings.HasPrefix(got.Head, "first\n0000") || !strings.HasSuffix(got.Tail, "00039last\n") {
				t.Errorf("head %.20q, tail %q", got.Head, got.Tail[len(got.Tail)-20:])
			}
		})
	}
}

// gone waits until a process has ended.
func gone(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(pid))
	if err != nil {
		t.Fatalf("not a process id: %q", pid)
	}
	await.Until(t, fmt.Sprintf("process %d is gone", n), func() bool {
		_, err := birth(n)
		return errors.Is(err, errEnded)
	})
}

func TestADeadlineEndsTheWholeGroup(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, script string
		grace        time.Duration
		code         int
		reason       string
	}{
		{"SIGTERM is enough", "sleep 600 & echo $!; wait", time.Minute, -1, "ended by signal: terminated"},
		{"it says how it ended", "trap 'exit 7' TERM; sleep 600 & echo $!; wait", time.Minute, 7, ""},
		{"SIGTERM is ignored", "trap '' TERM; sleep 600 & echo $!; wait; wait", 200 * time.Millisecond, -1, "ended by signal: killed"},
		{"SIGTERM is ignored by what it started", "(trap '' TERM; exec sleep 600) & echo $!; wait", 200 * time.Millisecond, -1, "ended by signal: terminated"},
	}
	for _, test := range tests {
		for _, make := range []func(*testing.T, string, ...string) engine.Action{shell, agent} {
			a := make(t, test.script)
			t.Run(fmt.Sprintf("%s, agent %t", test.name, a.Command.Agent), func(t *testing.T) {
				t.Parallel()
				got := result{}
				// A busy machine may take longer to start the script than the command may run.
				for timeout := 300 * time.Millisecond; !strings.HasSuffix(got.Stdout.Head, "\n"); timeout *= 2 {
					a.Command.Timeout = timeout
					got = newBench(t, RunnerOptions{Grace: test.grace}).do(a)
				}
				if got.Outcome != "timed_out" || got.code() != test.code || got.Reason != test.reason {
					t.Errorf("outcome %q, exit code %d, reason %q", got.Outcome, got.code(), got.Reason)
				}
				gone(t, got.Stdout.Head)
			})
		}
	}
}

func TestWhatACheckLeavesBehindIsEnded(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{})
	got := b.do(shell(t, "sleep 600 & echo $!"))
	if got.Outcome != "finished" || got.code() != 0 {
		t.Errorf("outcome %q, exit code %d", got.Outcome, got.code())
	}
	gone(t, got.Stdout.Head)
}

func TestACheckDoesNotWaitForWhoLeftItsGroup(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a := shell(t, `"$0" & echo $!; read ready < gate`, self)
	a.Command.Env = []string{"PLACET_TEST_PROGRAM=leave-the-group"}
	if err := syscall.Mkfifo(filepath.Join(b.root, "gate"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := b.do(a)
	pid, err := strconv.Atoi(strings.TrimSpace(got.Stdout.Head))
	if err != nil {
		t.Fatalf("stdout = %q", got.Stdout.Head)
	}
	if _, err := birth(pid); err != nil {
		t.Errorf("the process that left the group: %v; want it still running", err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}

func TestStopEndsChecksAndLeavesAgents(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{})
	for _, name := range []string{"check", "agent", "late check", "late agent"} {
		if err := syscall.Mkfifo(filepath.Join(b.root, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script := `echo up > "$0".pid; read line < "$0"; echo "$0" went on`
	check, agent := shell(t, script, "check"), agent(t, script, "agent")
	agent.ID, agent.Outcome = "agent", "run/agent.json"
	b.Begin(check)
	b.Begin(agent)
	await.Until(t, "both run", func() bool { return b.has("check.pid") && b.has("agent.pid") })

	if err := b.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := b.outcome(check); got.Outcome != "stopped" || got.code() != -1 {
		t.Errorf("check: outcome %q, exit code %d; want stopped, null", got.Outcome, got.code())
	}
	await.Until(t, "the agent is let go", func() bool { return len(b.Alive()) == 0 })
	if b.has(agent.Outcome) {
		t.Error("the agent has an outcome although it runs")
	}

	// An action that comes later does not begin, and its outcome says so.
	check.ID, check.Outcome = "late check", "run/late-check.json"
	agent.ID, agent.Outcome = "late agent", "run/late-agent.json"
	if got := b.do(check); got.Outcome != "stopped" {
		t.Errorf("late check: outcome %q, want stopped", got.Outcome)
	}
	if got := b.do(agent); got.Outcome != "not_started" || got.Reason != "placet was stopping" {
		t.Errorf("late agent: outcome %q because %q", got.Outcome, got.Reason)
	}
	if err := b.Stop(t.Context()); err != nil {
		t.Errorf("a second stop: %v", err)
	}
	open(t, filepath.Join(b.root, "agent"))
	next := benchAt(t, b.root, RunnerOptions{})
	if err := next.Recover(); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the agent's outcome is there", func() bool { return next.has("run/agent.json") })
	agent.Outcome = "run/agent.json"
	if got := next.outcome(agent); got.Outcome != "finished" || got.Stdout.Head != "agent went on\n" {
		t.Errorf("the agent: outcome %q, stdout %q", got.Outcome, got.Stdout.Head)
	}
}

func TestStopNamesWhatDoesNotEndInTime(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{Grace: time.Second})
	a := shell(t, "trap '' TERM; echo > up; while :; do sleep 0.05; done")
	b.Begin(a)
	await.Until(t, "it runs", func() bool { return b.has("up") })
	ctx, cancel := context.WithTimeout(t.Context(), -1) // the time ends before the command does
	defer cancel()
	err := b.Stop(ctx)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), a.ID) {
		t.Errorf("Stop: %v; want the deadline and the action's name", err)
	}
}

func TestWaitIsForChecksAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{})
	waiting := agent(t, "sleep 600")
	waiting.ID = "agent"
	b.Begin(waiting)
	a := shell(t, "exit 4")
	b.Begin(a)
	if err := b.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := b.outcome(a); got.code() != 4 {
		t.Errorf("exit code %d", got.code())
	}
	if !b.Alive()["agent"] {
		t.Error("the agent is gone")
	}
}

func TestACommandNobodyWantsIsEnded(t *testing.T) {
	t.Parallel()
	for _, make := range []func(*testing.T, string, ...string) engine.Action{shell, agent} {
		b := newBench(t, RunnerOptions{})
		a := make(t, "echo > up; sleep 600")
		b.Begin(a)
		await.Until(t, "it runs", func() bool { return b.has("up") })
		b.End("somebody else")
		b.End(a.ID)
		b.End(a.ID)
		await.Until(t, "it has ended", func() bool { return !b.Alive()[a.ID] })
		if got := b.outcome(a); got.Outcome != "stopped" {
			t.Errorf("agent %t: outcome %q, want stopped", a.Command.Agent, got.Outcome)
		}
	}
}

func TestAnAgentNobodyWantsIsNotLeftBehind(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{})
	close(closed)
	for range 50 { // a select takes any of several ready cases
		g := loneProcess{ended: make(chan struct{})}
		terms := terms{quit: closed, leave: closed, grace: time.Minute}
		if word := terms.follow(g, g.ended); word != "stopped" {
			t.Fatalf("outcome %q, want stopped", word)
		}
	}
}

// loneProcess is a group of one process that ends at the first signal.
type loneProcess struct{ ended chan struct{} }

func (p loneProcess) signal(syscall.Signal) { close(p.ended) }
func (p loneProcess) hasOrphans() bool      { return false }

func TestAnOutcomeThatStandsIsKept(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{})
	a := shell(t, "exit 0")
	put(t, b.root, a.Outcome, `{"outcome":"lost"}`)
	if got := b.do(a); got.Outcome != "lost" {
		t.Errorf("outcome %q, want the one that stood there", got.Outcome)
	}
}

// put writes a file of the workspace.
func put(t *testing.T, root, name, body string) {
	t.Helper()
	name = filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAnOutcomeThatCannotBeWrittenIsTriedAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{})
	a := shell(t, "echo > ran")
	put(t, b.root, filepath.Dir(a.Outcome), "a file in the folder's place")
	b.Begin(a)
	await.Until(t, "it ran", func() bool { return b.has("ran") })
	if !b.Alive()[a.ID] {
		t.Error("it counts as over although no outcome is recorded")
	}
	if err := os.Remove(filepath.Join(b.root, filepath.Dir(a.Outcome))); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the outcome is there", func() bool { return b.has(a.Outcome) })
}

func TestWithoutAWorkspaceNothingStarts(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{})
	b.Runner.root = filepath.Join(b.root, "gone")
	ran := filepath.Join(b.root, "ran")
	b.Begin(shell(t, "echo > "+ran))
	await.Until(t, "it has ended", func() bool { return b.has("run") })
	if b.has("ran") {
		t.Error("it ran")
	}
}

func TestARevokedCommandIsEndedAndSaysWhy(t *testing.T) {
	t.Parallel()
	first := newBench(t, RunnerOptions{})
	document, fact, other := agent(t, "exec sleep 600"), shell(t, "exec sleep 600"), shell(t, "exec sleep 600")
	document.ID, fact.ID, other.ID = "document", "fact", "other"
	fact.Outcome, other.Outcome = "", ""
	for _, a := range []engine.Action{document, fact, other} {
		first.Begin(a)
	}
	for _, id := range []string{document.ID, fact.ID, other.ID} {
		await.Until(t, id+" runs", func() bool {
			rec, err := readRecord(first.o.State, folder(id))
			return err == nil && rec.Pid > 0
		})
	}
	revoked := func(a engine.Action) bool {
		return a.ID != other.ID && a.Command.Argv[len(a.Command.Argv)-1] == "exec sleep 600"
	}
	first.Revoke(revoked)
	await.Until(t, "both have ended", func() bool { return len(first.Alive()) == 1 })
	if got := first.outcome(document); got.Outcome != "stopped" || got.Reason != revokedReason {
		t.Errorf("%+v", got)
	}
	if got := first.Ended()[fact.ID]; got.Result != "revoked" || got.Reason != revokedReason {
		t.Errorf("%+v", got)
	}

	// An agent that an earlier placet began is handled in the same way.
	left := agent(t, "exec sleep 600")
	left.ID, left.Outcome = "left", "run/left.json"
	first.Begin(left)
	await.Until(t, "it runs", func() bool {
		rec, err := readRecord(first.o.State, folder(left.ID))
		return err == nil && rec.Pid > 0
	})
	if err := first.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := benchAt(t, first.root, RunnerOptions{})
	if err := second.Recover(); err != nil {
		t.Fatal(err)
	}
	second.Revoke(revoked)
	await.Until(t, "it has ended", func() bool { return len(second.Alive()) == 0 })
	if got := second.outcome(left); got.Outcome != "stopped" || got.Reason != revokedReason {
		t.Errorf("%+v", got)
	}
}

// recordOf is a store's record: the digests by path.
type recordOf map[string][]engine.Digest

func (recordOf) Attributed(string, engine.Digest) (who, source string) { return "", "" }

func (r recordOf) IssuedSince(string, fs.Info) (engine.Issued, fs.Info, bool) {
	return engine.Issued(r), fs.Info{}, false
}

func (recordOf) Confirm(string, []engine.Document) error { return nil }

func (recordOf) WriteFor([]engine.Document, func(string) (bool, error), time.Time) (func(), error) {
	return func() {}, nil
}

func (r recordOf) Issue(_ string, docs []engine.Document) error {
	for _, d := range docs {
		r[d.Path] = append(r[d.Path], engine.Sum(d.Body))
	}
	return nil
}

// Permit is called after everything is prepared, with the folder in which the command will
// run. Before that, the outcome is recorded as issued with unknown content.
func TestPermissionIsOfTheFolderWhereTheCommandRuns(t *testing.T) {
	t.Parallel()
	var in string
	record := recordOf{}
	b := newBench(t, RunnerOptions{Record: record, Permit: func(_ engine.Action, dir string) error {
		in = dir
		return nil
	}})
	a := shell(t, "exit 0")
	a.Command.Prefer = "tree"
	if err := os.Mkdir(filepath.Join(b.root, "tree"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.do(a)
	if in != "tree" {
		t.Errorf("asked of %q", in)
	}
	body, err := os.ReadFile(filepath.Join(b.root, a.Outcome))
	if err != nil {
		t.Fatal(err)
	}
	want := []engine.Digest{engine.Sum(nil), engine.Sum(body)}
	if diff := cmp.Diff(want, record[a.Outcome]); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}
