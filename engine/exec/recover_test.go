package exec

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"placet/engine"
	"placet/internal/await"
	"placet/layout"
)

// killedPlacet starts a placet with an agent and a check, waits until both
// run, and kills it.
func killedPlacet(t *testing.T, root, script string, env ...string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	placet := exec.Command(self)
	placet.Dir = root
	placet.Env = append(append(os.Environ(), "PLACET_TEST_PROGRAM=placet", "SCRIPT="+script), env...)
	placet.Stderr = os.Stderr
	if err := placet.Start(); err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, root: root}
	await.Until(t, "both commands run and are known", func() bool {
		return b.wrote("agent.pid") && b.wrote("check.pid") && known(root) == 2
	})
	if err := placet.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = placet.Wait()
}

// known counts the records that name their process.
func known(root string) int {
	n := 0
	names, _ := filepath.Glob(filepath.Join(root, actionsDir, "*", recordName))
	for _, name := range names {
		var r record
		body, _ := os.ReadFile(name)
		if json.Unmarshal(body, &r) == nil && r.Pid > 0 {
			n++
		}
	}
	return n
}

// gate makes a FIFO that a command can wait at.
func gate(t *testing.T, root, name string) {
	t.Helper()
	if err := syscall.Mkfifo(filepath.Join(root, name), 0o600); err != nil {
		t.Fatal(err)
	}
}

func gates(t *testing.T, root string) {
	t.Helper()
	gate(t, root, "agent")
	gate(t, root, "check")
}

const patient = `echo $$ > "$0".pid; echo begun; read line < "$0"; echo went on; exit 5`

func at(outcome string) engine.Action { return engine.Action{Outcome: outcome} }

func TestAfterAKillTheAgentIsKnownAgainAndTheCheckIsLost(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	gates(t, root)
	killedPlacet(t, root, patient)

	b := benchAt(t, root, RunnerOptions{})
	if err := b.Recover(); err != nil {
		t.Fatal(err)
	}
	if alive := b.Alive(); !alive["agent"] || len(alive) != 1 {
		t.Fatalf("alive: %v, want the agent alone", alive)
	}
	if got := b.outcome(at("run/check.json")); got.Outcome != "lost" || got.Action != "check" || got.code() != -1 {
		t.Errorf("check: %+v", got)
	}
	gone(t, b.read("check.pid"))

	// The same action does not begin again when the plan asks for it again.
	b.Begin(engine.Action{ID: "agent", Outcome: "run/agent.json", Command: engine.Command{Argv: []string{"touch", "twice"}, Agent: true}})

	open(t, filepath.Join(root, "agent"))
	await.Until(t, "the agent's outcome is there", func() bool { return b.has("run/agent.json") })
	got := b.outcome(at("run/agent.json"))
	if got.Outcome != "finished" || got.code() != -1 || got.Stdout.Head != "begun\nwent on\n" {
		t.Errorf("agent: outcome %q, exit code %d, stdout %q; want finished, null, its whole output", got.Outcome, got.code(), got.Stdout.Head)
	}
	await.Until(t, "nothing is alive", func() bool { return len(b.Alive()) == 0 })
	if b.has("twice") || len(b.folders()) != 0 {
		t.Error("it began twice, or left a folder behind")
	}
}

// An agent whose placet was killed before it noted the agent's process is found by the files
// of its output: if it counted as "lost", a second one would begin beside it.
func TestAnAgentWhoseProcessWasNotNotedIsFound(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	gates(t, root)
	killedPlacet(t, root, patient)
	rec, err := readRecord(stateIn(t, root), folder("agent"))
	if err != nil {
		t.Fatal(err)
	}
	rec.Pid, rec.Boot, rec.Birth, rec.Session = 0, "", "", nil
	leave(t, root, rec)

	b := benchAt(t, root, RunnerOptions{})
	if err := b.Recover(); err != nil {
		t.Fatal(err)
	}
	if alive := b.Alive(); !alive["agent"] || len(alive) != 1 {
		t.Fatalf("alive: %v, want the agent alone", alive)
	}
	b.End("agent")
	await.Until(t, "it has ended", func() bool { return b.has("run/agent.json") })
	if got := b.outcome(at("run/agent.json")); got.Outcome != "stopped" || got.Stdout.Head != "begun\n" {
		t.Errorf("outcome %q, stdout %q; want stopped", got.Outcome, got.Stdout.Head)
	}
	gone(t, b.read("agent.pid"))
}

func TestAnAgentThatEndedMeanwhileIsFinishedWithoutExitCode(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	gates(t, root)
	killedPlacet(t, root, patient)
	open(t, filepath.Join(root, "agent"))
	b := benchAt(t, root, RunnerOptions{})
	gone(t, b.read("agent.pid"))
	if err := b.Recover(); err != nil {
		t.Fatal(err)
	}
	got := b.outcome(at("run/agent.json"))
	if got.Outcome != "finished" || got.code() != -1 || got.Stdout.Head != "begun\nwent on\n" {
		t.Errorf("agent: outcome %q, exit code %d, stdout %q", got.Outcome, got.code(), got.Stdout.Head)
	}
}

func TestAnAgentKeepsItsDeadlineOverARestart(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{})
	a := agent(t, "echo > up; sleep 600")
	a.Command.Timeout = time.Hour
	b.Begin(a)
	await.Until(t, "it runs", func() bool { return b.has("up") && known(b.root) == 1 })
	if err := b.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	later := func() time.Time { return time.Now().Add(61 * time.Minute) }
	next := benchAt(t, b.root, RunnerOptions{Now: later})
	if err := next.Recover(); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "its outcome is there", func() bool { return next.has(a.Outcome) })
	if got := next.outcome(a); got.Outcome != "timed_out" || got.DurationMS < 3600000 {
		t.Errorf("outcome %q after %d ms", got.Outcome, got.DurationMS)
	}
}

func TestAnAgentThatIsKnownAgainCanBeLeftAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{})
	a := agent(t, "echo > up; sleep 600")
	b.Begin(a)
	await.Until(t, "it runs", func() bool { return b.has("up") && known(b.root) == 1 })
	for range 3 {
		if err := b.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		await.Until(t, "it is let go", func() bool { return len(b.Alive()) == 0 })
		b = benchAt(t, b.root, RunnerOptions{})
		if err := b.Recover(); err != nil {
			t.Fatal(err)
		}
		if !b.Alive()[a.ID] {
			t.Fatal("the agent is not known again")
		}
	}
	b.End(a.ID)
	await.Until(t, "it has ended", func() bool { return b.has(a.Outcome) })
	if got := b.outcome(a); got.Outcome != "stopped" {
		t.Errorf("outcome %q, want stopped", got.Outcome)
	}
}

// leave writes a record as an earlier placet would have left it.
func leave(t *testing.T, root string, r record) {
	t.Helper()
	body, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	put(t, root, filepath.Join(folder(r.ID), recordName), string(body))
}

func TestWhatNobodyKnowsAgainIsLost(t *testing.T) {
	t.Parallel()
	own, err := birth(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		rec  record
		want string
	}{
		{"agent, killed before it was started", record{Agent: true}, "lost"},
		{"agent, its start unknown", record{Agent: true, Pid: os.Getpid(), Boot: boot()}, "lost"},
		{"agent, the machine was started anew", record{Agent: true, Pid: os.Getpid(), Boot: "another", Birth: own}, "lost"},
		{"agent, its id is another's now", record{Agent: true, Pid: os.Getpid(), Boot: boot(), Birth: "1"}, "finished"},
		{"check, its id is another's now", record{Pid: os.Getpid(), Boot: boot(), Birth: "1"}, "lost"},
		{"check, killed before it was started", record{}, "lost"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, RunnerOptions{Now: func() time.Time { return time.Date(2026, 1, 1, 1, 0, 0, 0, time.UTC) }})
			test.rec.ID, test.rec.Outcome = "x", "run/outcome.json"
			test.rec.Started = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			leave(t, b.root, test.rec)
			put(t, b.root, filepath.Join(folder("x"), stderrName), "last words")
			if err := b.Recover(); err != nil {
				t.Fatal(err)
			}
			got := b.outcome(at("run/outcome.json"))
			if got.Outcome != test.want || got.code() != -1 || got.Stderr.Head != "last words" || got.DurationMS != 3600000 {
				t.Errorf("%+v; want outcome %q", got, test.want)
			}
			if len(b.Alive())+len(b.folders()) != 0 {
				t.Error("it is alive, or its folder is there")
			}
		})
	}
}

func TestFoldersThatAreNoRecordsAreClearedAway(t *testing.T) {
	t.Parallel()
	valid := func(id, outcome string) string {
		body, err := json.Marshal(record{ID: id, Outcome: outcome})
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	tests := []struct{ name, dir, body string }{
		{"empty", folder("x"), ""},
		{"half", folder("x"), `{"id":"x`},
		{"another folder's", folder("y"), valid("x", "run/outcome.json")},
		{"outcome outside", folder("x"), valid("x", "../outcome.json")},
		{"outcome in git's folder", folder("x"), valid("x", ".git/outcome.json")},
		{"outcome no document", folder("x"), valid("x", "run/outcome.sh")},
		{"no outcome", folder("x"), valid("x", "")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, RunnerOptions{})
			put(t, b.root, filepath.Join(test.dir, recordName), test.body)
			put(t, b.root, actionsDir+"/a-file", "")
			if err := b.Recover(); err != nil {
				t.Fatal(err)
			}
			if b.has("run") || b.has("../outcome.json") || b.has(".git") || len(b.folders()) != 0 {
				t.Errorf("an outcome was written, or a folder left: %q", b.folders())
			}
		})
	}
}

func TestNothingBelowPlacetIsWaitedForOrReadWithoutEnd(t *testing.T) {
	t.Parallel()
	fifo := func(t *testing.T, root, name string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(filepath.Join(root, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := newBench(t, RunnerOptions{})
	fifo(t, b.root, filepath.Join(folder("x"), recordName))
	put(t, b.root, filepath.Join(folder("y"), recordName), strings.Repeat(" ", layout.LimitJSON+1))
	put(t, b.root, filepath.Join(folder("dir"), recordName, "file"), "")
	leave(t, b.root, record{ID: "z", Outcome: "run/outcome.json", Agent: true})
	fifo(t, b.root, filepath.Join(folder("z"), stdoutName))
	if err := b.Recover(); err != nil {
		t.Fatal(err)
	}
	if got := b.outcome(at("run/outcome.json")); got.Outcome != "lost" || got.Stdout.Bytes != 0 || len(b.folders()) != 0 {
		t.Errorf("%+v, folders %q", got, b.folders())
	}

	other := newBench(t, RunnerOptions{})
	fifo(t, other.root, actionsDir)
	if err := other.Recover(); err == nil {
		t.Error("a FIFO counts as a folder")
	}
}

func TestRecoverGoesOnWhenAnOutcomeCannotBeWritten(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{})
	leave(t, b.root, record{ID: "x", Outcome: "run/outcome.json", Agent: true})
	put(t, b.root, "run", "a file in the folder's place")
	if err := b.Recover(); err != nil {
		t.Fatal(err)
	}
	if !b.Alive()["x"] {
		t.Error("it counts as over although no outcome is recorded")
	}
	if err := os.Remove(filepath.Join(b.root, "run")); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the outcome is there", func() bool { return b.has("run/outcome.json") })
}

func TestActionsFolderThatIsALinkOutIsNotFollowed(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{})
	outside := t.TempDir()
	put(t, outside, "keep/process.json", "not ours")
	if err := os.Symlink(outside, filepath.Join(b.root, actionsDir)); err != nil {
		t.Fatal(err)
	}
	if err := b.Recover(); err == nil || !strings.Contains(err.Error(), "cannot look for commands") {
		t.Errorf("Recover: %v", err)
	}
	if got := b.do(shell(t, "echo > ran")); got.Outcome != "not_started" || b.has("ran") {
		t.Errorf("outcome %q, ran %t; want not_started", got.Outcome, b.has("ran"))
	}
	if _, err := os.Stat(filepath.Join(outside, "keep/process.json")); err != nil {
		t.Error(err)
	}
}

func TestWithoutAStateFolderNoCommandBegins(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{})
	b.o.State = nil
	if err := b.Recover(); err != nil {
		t.Error(err)
	}
	if got := b.do(shell(t, "echo > ran")); got.Outcome != "not_started" || b.has("ran") || !strings.Contains(got.Reason, "state folder") {
		t.Errorf("outcome %q, reason %q, ran %t; want not_started", got.Outcome, got.Reason, b.has("ran"))
	}
}

func TestNoProcessButOneThatPlacetStartedIsSignalled(t *testing.T) {
	t.Parallel()
	bystander := exec.Command("sleep", "600")
	bystander.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = bystander.Wait()
	}()
	t.Cleanup(func() {
		_ = bystander.Process.Kill()
		<-ended
	})
	pid := bystander.Process.Pid
	born, err := birth(pid)
	if err != nil {
		t.Fatal(err)
	}
	session, _ := sessionOf(pid)
	for name, rec := range map[string]record{
		"everybody":            {Pid: -1, Boot: boot(), Birth: born},
		"the group of init":    {Pid: 1, Boot: boot(), Birth: birthOf(t, 1)},
		"born at another time": {Pid: pid, Boot: boot(), Birth: born + "0"},
		"of another boot":      {Pid: pid, Boot: "another", Birth: born, Session: &session},
	} {
		if rec.runs() == nil || rec.hasOrphans() {
			t.Errorf("%s: it counts as a process that placet started", name)
		}
		rec.signal(syscall.SIGKILL)
	}
	select {
	case <-ended:
		t.Error("a process that placet never started was ended")
	default:
	}
}

func birthOf(t *testing.T, pid int) string {
	t.Helper()
	born, err := birth(pid)
	if err != nil {
		t.Fatal(err)
	}
	return born
}
