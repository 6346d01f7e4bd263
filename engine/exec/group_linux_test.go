package exec

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"placet/internal/await"
)

func TestALostChecksDescendantsAreKilledToo(t *testing.T) {
	t.Parallel()
	const script = `sh -c 'sleep 600 & echo $! > "$0".grandchild; wait' "$0" & echo begun; echo $$ > "$0".pid; read line < "$0"`
	root := t.TempDir()
	gates(t, root)
	killedPlacet(t, root, script)
	b := benchAt(t, root, RunnerOptions{})
	for _, name := range []string{"check.grandchild", "agent.grandchild"} {
		await.Until(t, name+" is there", func() bool { return b.wrote(name) })
	}
	gone(t, b.read("check.pid"))
	if err := b.Recover(); err != nil {
		t.Fatal(err)
	}
	if got := b.outcome(at("run/check.json")); got.Outcome != "lost" {
		t.Errorf("check: outcome %q, want lost", got.Outcome)
	}
	gone(t, b.read("check.grandchild"))
	spared, err := strconv.Atoi(strings.TrimSpace(b.read("agent.grandchild")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := birth(spared); err != nil {
		t.Errorf("the agent's grandchild: %v; want it still running", err)
	}
	b.End("agent")
	gone(t, b.read("agent.grandchild"))
}

func TestAGroupIsKnownWithoutItsLeader(t *testing.T) {
	t.Parallel()
	leader := exec.Command("sh", "-c", "sleep 600 > /dev/null 2>&1 & echo $!")
	leader.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	left, err := leader.Output()
	if err != nil {
		t.Fatal(err)
	}
	here, known := sessionOf(os.Getpid())
	if !known {
		t.Fatal("this process lies in no session")
	}
	another := here + 1
	rec := record{Pid: leader.Process.Pid, Boot: boot(), Birth: "1", Session: &here}
	for name, test := range map[string]struct {
		edit func(*record)
		want bool
	}{
		"as it was":           {func(*record) {}, true},
		"another session":     {func(r *record) { r.Session = &another }, false},
		"session unknown":     {func(r *record) { r.Session = nil }, false},
		"another boot":        {func(r *record) { r.Boot = "another" }, false},
		"boot unknown":        {func(r *record) { r.Boot = "" }, false},
		"never started":       {func(r *record) { r.Pid = 0 }, false},
		"the id is another's": {func(r *record) { r.Pid = os.Getpid() }, false},
	} {
		r := rec
		if test.edit(&r); r.hasOrphans() != test.want {
			t.Errorf("%s: %t, want %t", name, r.hasOrphans(), test.want)
		}
	}
	rec.signal(syscall.SIGKILL)
	gone(t, string(left))
	if _, runs := groupSession(rec.Pid); runs || rec.hasOrphans() {
		t.Error("the group counts as there although nobody is left")
	}
}

// The session's leader is outside, so that its number is 0 for all.
func TestAGroupIsKnownInAContainer(t *testing.T) {
	t.Parallel()
	inside := func(args ...string) *exec.Cmd {
		return exec.Command("unshare", append([]string{"--user", "--map-root-user", "--pid", "--fork", "--mount-proc"}, args...)...)
	}
	if out, err := inside("true").CombinedOutput(); err != nil {
		t.Skipf("needs unshare(1) of util-linux and leave to make namespaces: %v %s", err, out)
	}
	if out, err := inside(os.Args[0], "-test.run=^TestAGroupIsKnownWithoutItsLeader$").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// No later placet has to find the check first.
func TestACheckEndsWithPlacet(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	gates(t, root)
	killedPlacet(t, root, patient)
	b := &bench{t: t, root: root}
	gone(t, b.read("check.pid"))
	agent, err := strconv.Atoi(strings.TrimSpace(b.read("agent.pid")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := birth(agent); err != nil {
		t.Errorf("the agent: %v; want it still running", err)
	}
	if err := syscall.Kill(-agent, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}
