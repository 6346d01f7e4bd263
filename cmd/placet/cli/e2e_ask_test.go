package cli_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"placet/engine/ask"
)

// asker is a running placet ask or placet wait.
type asker struct {
	cmd  *exec.Cmd
	out  bytes.Buffer
	done chan struct{}
}

func (p *place) asker(args ...string) *asker {
	p.t.Helper()
	a := &asker{cmd: p.program(append([]string{"-C", p.root}, args...)...), done: make(chan struct{})}
	a.cmd.Stdout = &a.out
	if err := a.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() { _ = a.cmd.Wait(); close(a.done) }()
	p.t.Cleanup(func() { <-a.done })
	return a
}

// ends checks what the asker prints, and how it ends.
func (a *asker) ends(t *testing.T, code int, out string) {
	t.Helper()
	<-a.done
	if got := a.cmd.ProcessState.ExitCode(); got != code || a.out.String() != out {
		t.Errorf("%q ends with %d and prints %q, expected %d and %q", a.cmd.Args, got, a.out.String(), code, out)
	}
}

// writeAsk writes a question to a file.
func (p *place) writeAsk(id string) {
	p.write(".asks/"+id+"/ask.json", fmt.Sprintf(`{"question": "Deploy %s?", "options": [{"id": "deploy"}, {"id": "wait"}]}`, id))
}

func (p *place) showsForm(id string) bool {
	return p.read(".asks/"+id+"/requests/"+ask.RequestID(id)+"/form.md") != ""
}

func (p *place) choose(id, option string) {
	p.write(".asks/"+id+"/requests/"+ask.RequestID(id)+"/response.json", fmt.Sprintf(`{"request_id": %q, "response": %q, "provided_by": {"user": "kim", "source": "file"}}`, ask.RequestID(id), option))
}

// A waiting asker makes its own passes while no daemon does, and a daemon can begin beside it
// at once. Other asks do not move without a daemon.
func TestAsksAreServedWithAndWithoutADaemon(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	var waiting []*asker
	for _, id := range []string{"a", "a", "b", "c", "d"} {
		p.writeAsk(id)
		waiting = append(waiting, p.asker("wait", id, "--any"))
	}
	p.writeAsk("nobody-waits")
	for _, id := range []string{"a", "b", "c", "d"} {
		p.until("the question is asked", func() bool { return p.showsForm(id) })
	}
	p.choose("a", "deploy")
	waiting[0].ends(t, 0, "deploy\n")
	waiting[1].ends(t, 0, "deploy\n")
	if p.showsForm("nobody-waits") {
		t.Error("a pass was made over an ask that nobody waits for")
	}
	d := p.start()
	p.await(d)
	p.until("the daemon asks, too", func() bool { return p.showsForm("nobody-waits") })
	p.choose("b", "wait")
	waiting[2].ends(t, 0, "wait\n")
	d.stop(syscall.SIGKILL)
	p.choose("c", "deploy")
	waiting[3].ends(t, 0, "deploy\n")
	waiting[4].end(syscall.SIGINT)
	waiting[4].ends(t, 130, "")
	p.choose("d", "wait")
	p.asker("wait", "d", "--any").ends(t, 0, "wait\n")
}

func (a *asker) end(sig syscall.Signal) { _ = a.cmd.Process.Signal(sig) }

func TestAskersOfOneKeyShareTheAnswer(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	const id = "k-6607395827e11cd1" // of the key build-7
	var waiting []*asker
	for range 8 {
		waiting = append(waiting, p.asker("ask", "Deploy?", "--option", "deploy", "--option", "wait", "--key", "build-7", "--any", "--wait"))
	}
	p.until("the question is asked", func() bool { return p.showsForm(id) })
	p.choose(id, "wait")
	for _, a := range waiting {
		a.ends(t, 0, "wait\n")
	}
	if out, _ := p.placet("status", "--all"); strings.Count(out, "ask/") != 1 {
		t.Errorf("there is not one ask:\n%s", out)
	}
}

func TestAnAskThatIsInterrupted(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	const id = "k-6607395827e11cd1"
	a := p.asker("ask", "Deploy?", "--key", "build-7", "--wait", "--ephemeral")
	p.until("the question is asked", func() bool { return p.showsForm(id) })
	a.end(syscall.SIGTERM)
	a.ends(t, 130, "")
	if body := p.read(".asks/" + id + "/answer.json"); !strings.Contains(body, `"status": "withdrawn"`) {
		t.Errorf("it is not taken back:\n%s", body)
	}
}

// An asker serves only its own ask, however many others are open. All of them count towards the
// limit of open asks.
func TestTortureAnAskAmongManyOthers(t *testing.T) {
	t.Parallel()
	n := tortured(100, 10_000)
	p := newPlace(t, t.TempDir(), 0)
	p.write("placet.toml", fmt.Sprintf("[ask]\nmax_open = %d\n", n))
	p.writeAsk("first")
	p.asker("wait", "first", "--any", "--timeout", "1ms").ends(t, 3, "")
	state := p.read(".asks/first/state.json")
	for i := range n - 2 {
		id := fmt.Sprintf("beside-%d", i)
		p.write(".asks/"+id+"/state.json", strings.NewReplacer(`"first"`, `"`+id+`"`, ask.RequestID("first"), ask.RequestID(id)).Replace(state))
	}
	p.writeAsk("unregistered")
	p.asker("ask", "Deploy?", "--key", "build-7").ends(t, 0, "k-6607395827e11cd1\n")
	if !p.showsForm("k-6607395827e11cd1") || p.showsForm("unregistered") {
		t.Error("the ask is not open, or a pass was made over another one")
	}
	p.asker("ask", "Deploy?", "--key", "build-8").ends(t, 2, "")
}

// An answer that is given out again says how often it was before, also beside a daemon. A
// question without an answer counts no use.
func TestAKeyThatIsUsedAgain(t *testing.T) {
	t.Parallel()
	for _, daemon := range []bool{false, true} {
		t.Run(fmt.Sprintf("daemon %t", daemon), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
			p.write("placet.toml", "")
			if daemon {
				d := p.start()
				defer d.stop(syscall.SIGTERM)
				p.await(d)
			}
			again := []string{"ask", "Deploy?", "--type", "approval", "--key", "k"}
			p.says(p.must(0, append(again, "--once", "--json")...), `"reused":null`)
			p.until("the question is asked", func() bool { return p.showsForm(keyed) })
			p.must(3, append(again, "--once", "--wait=1ms")...) // nothing is used while it is open
			p.says(p.must(2, "ask", "Deploy?", "--once"), "--once needs --key")
			p.approvedByKim(t, keyed)
			for n, want := range []string{`"reused":null}}`, `"reused":{"times":1,"first_at":"20`, `"reused":{"times":2,"first_at":"20`} {
				args := append(again, "--json")
				if n != 1 {
					args = append(args, "--wait")
				}
				out := p.must(0, args...)
				p.says(out, want)
				if said := strings.Contains(out, "this answer of kim (claimed) was given "); said != (n > 0) {
					t.Errorf("the use number %d: %s", n, out)
				}
			}
			p.says(p.must(0, append(again, "--wait")...), "approve\n", "and has been used 3 times before")
			p.says(p.read(".asks/"+keyed+"/reuse.json"), `"times": 4`)
			p.says(p.must(0, "show", "ask/"+keyed), "4 times, first 20")
			p.says(p.must(0, "log"), "used", "4 times")
			p.says(p.must(0, append(again, "--once", "--json")...), `"response":"approve"`, `"times":4`)
			p.says(p.must(7, append(again, "--once")...), "used up at ", " by ask (pid ")
			p.says(p.must(0, append(again, "--wait")...), "used 5 times before") // a caller who is refused uses nothing
			p.must(0, "check")
		})
	}
}

func TestAKeyThatNobodyAnsweredIsNotUsed(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
	p.write("placet.toml", "")
	expires := []string{"ask", "Go on?", "--option", "go-on", "--option", "stay", "--deadline", "1s", "--default", "stay", "--key", "e", "--once", "--any", "--wait"}
	for range 2 {
		p.says(p.must(4, expires...), "stay\n")
	}
	p.must(0, "ask", "Well?", "--key", "w")
	p.must(0, "withdraw", "k-408b697ac95cbd12", "-m", "no need")
	for range 2 {
		p.must(5, "ask", "Well?", "--key", "w", "--once", "--wait")
	}
	if found, _ := filepath.Glob(filepath.Join(p.root, ".asks/*/reuse.json")); len(found) > 0 {
		t.Errorf("%q count a use", found)
	}
}
