package exec

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/internal/await"
)

// aliveIDs returns the IDs that a program that only reads sees.
func aliveIDs(root string) []string { return slices.Sorted(maps.Keys(aliveIn(root))) }

// aliveIn returns Alive for a workspace that is its own state folder.
func aliveIn(root string) map[string]bool {
	state, err := os.OpenRoot(root)
	if err != nil {
		return Alive(nil)
	}
	defer state.Close()
	return Alive(state)
}

func TestWhoOnlyLooksSeesWhatRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{})
	if got := aliveIDs(b.root); len(got) != 0 {
		t.Errorf("alive in an empty workspace: %q", got)
	}
	gates(t, b.root)
	for _, a := range []string{"agent", "check"} {
		action := shell(t, patient, a)
		action.ID, action.Outcome, action.Command.Agent = a, "run/"+a+".json", a == "agent"
		b.Begin(action)
	}
	await.Until(t, "both run", func() bool { return known(b.root) == 2 })
	if diff := cmp.Diff([]string{"agent", "check"}, aliveIDs(b.root)); diff != "" {
		t.Errorf("alive (-want +got):\n%s", diff)
	}
	open(t, filepath.Join(b.root, "check"))
	await.Until(t, "the check's outcome is there", func() bool { return b.has("run/check.json") })
	if err := b.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"agent"}, aliveIDs(b.root)); diff != "" {
		t.Errorf("alive when placet has ended (-want +got):\n%s", diff)
	}
	open(t, filepath.Join(b.root, "agent"))
	await.Until(t, "the agent has ended", func() bool { return len(aliveIn(b.root)) == 0 })
	if !slices.Equal(b.folders(), []string{filepath.Base(folder("agent"))}) || b.has("run/agent.json") {
		t.Error("looking has changed something")
	}
	if err := b.Recover(); err != nil { // ends the command at the end of the test
		t.Fatal(err)
	}
}

func TestWhoOnlyLooksBelievesNoRecordBlindly(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{})
	own, err := birth(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for id, rec := range map[string]record{
		"this process":         {Pid: os.Getpid(), Boot: boot(), Birth: own},
		"not started":          {},
		"another's id":         {Pid: os.Getpid(), Boot: boot(), Birth: "1"},
		"another boot":         {Pid: os.Getpid(), Boot: "another", Birth: own},
		"a group, no process":  {Pid: -1, Boot: boot(), Birth: own},
		"its start is unknown": {Pid: os.Getpid(), Boot: boot()},
	} {
		rec.ID, rec.Outcome = id, "run/x.json"
		leave(t, b.root, rec)
	}
	put(t, b.root, filepath.Join(folder("torn"), recordName), `{"id":"torn"`)
	if err := os.MkdirAll(filepath.Join(b.root, folder("fifo")), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(b.root, folder("fifo"), recordName), 0o600); err != nil {
		t.Fatal(err)
	}
	before := len(b.folders())
	if diff := cmp.Diff([]string{"this process"}, aliveIDs(b.root)); diff != "" {
		t.Errorf("alive (-want +got):\n%s", diff)
	}
	if len(b.folders()) != before || b.has("run") {
		t.Error("looking has changed something")
	}
	if got := aliveIn(filepath.Join(b.root, "absent")); len(got) != 0 {
		t.Errorf("alive without a workspace: %v", got)
	}
}
