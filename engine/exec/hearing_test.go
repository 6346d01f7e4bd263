package exec

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/internal/await"
	"placet/layout"
)

func TestAJudgedOutcomeHoldsWhatTheJudgeSays(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{Now: clock(1500 * time.Millisecond)})
	a := judged(t, `echo '  4 passing (12ms)'; echo '  2 failing'; exit 1`, "4 passing")
	a.Fields = []engine.Field{{Name: "iteration", Value: 1}, {Name: "run", Value: 2}, {Name: "shell", Value: []string{"bash", "-c"}}}
	b.do(a)
	want := `{
  "iteration": 1,
  "run": 2,
  "shell": [
    "bash",
    "-c"
  ],
  "cwd": ".",
  "started_at": "2026-11-20T10:00:01.620Z",
  "finished_at": "2026-11-20T10:00:03.120Z",
  "duration_ms": 1500,
  "outcome": "finished",
  "exit_code": 1,
  "timed_out": false,
  "stdout": {
    "bytes": 31,
    "head": "  4 passing (12ms)\n  2 failing\n",
    "tail": "",
    "truncated": false
  },
  "stderr": {
    "bytes": 0,
    "head": "",
    "tail": "",
    "truncated": false
  },
  "matched_expected": true,
  "failing_marker": "2 failing"
}
`
	if diff := cmp.Diff(want, b.read(a.Outcome)); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
}

func TestTheJudgeHearsBothOutputs(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, script, expected, want string }{
		{"on standard output", "echo 4 passing", "4 passing", "true"},
		{"on standard error", "echo 4 passing >&2", "4 passing", "true"},
		{"not there", "echo 14 passing; echo 4 passing5 >&2", "4 passing", "false"},
		{"not over both", "printf '4 '; printf 'passing' >&2", "4 passing", "false"},
		{"nothing is printed", "exit 0", "4 passing", "false"},
		{"nothing is expected", "echo 4 passing", "", "null"},
		{"beside bytes that are no text", `printf '\377\376 4 passing \377'`, "4 passing", "true"},
		{"it ends with another code", "echo 4 passing; exit 9", "4 passing", "true"},
		{"its output is closed early", "echo 4 passing; exec >&- 2>&-; echo > up", "4 passing", "true"},
		{"a descendant holds the pipe", "sleep 600 & echo 4 passing", "4 passing", "true"},
	}
	for _, test := range tests {
		for _, make := range []func(*testing.T, string, ...string) engine.Action{shell, agent} {
			a := make(t, test.script)
			a.Judge, a.Expected = true, test.expected
			if a.Command.Agent && strings.Contains(test.script, "sleep") {
				continue // an agent may leave processes behind
			}
			t.Run(fmt.Sprintf("%s, agent %t", test.name, a.Command.Agent), func(t *testing.T) {
				t.Parallel()
				b := newBench(t, RunnerOptions{})
				got := b.do(a)
				if got.Outcome != "finished" || got.verdict() != test.want || got.TimedOut {
					t.Errorf("outcome %q, verdict %q, timed out %t; want finished, %q", got.Outcome, got.verdict(), got.TimedOut, test.want)
				}
			})
		}
	}
}

// A shell replaces itself by its last command: if a signal ends that, the outcome
// has the code that the shell would have reported, because rules look at codes.
func TestAJudgedCommandThatASignalEndsHasTheCodeOfAShell(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, script string
		judge        bool
		code         int
		reason       string
	}{
		{"killed", "kill -KILL $$", true, 137, "ended by signal: killed"},
		{"terminated", "kill -TERM $$", true, 143, "ended by signal: terminated"},
		{"a shell reports it", "sh -c 'kill -KILL $$'; exit $?", true, 137, ""},
		{"not judged", "kill -KILL $$", false, -1, "ended by signal: killed"},
	}
	for _, test := range tests {
		for _, make := range []func(*testing.T, string, ...string) engine.Action{shell, agent} {
			a := make(t, "echo 4 passing; "+test.script)
			if test.judge {
				a.Judge, a.Expected = true, "4 passing"
			}
			t.Run(fmt.Sprintf("%s, agent %t", test.name, a.Command.Agent), func(t *testing.T) {
				t.Parallel()
				b := newBench(t, RunnerOptions{})
				got := b.do(a)
				if got.Outcome != "finished" || got.code() != test.code || got.Reason != test.reason {
					t.Errorf("outcome %q, exit code %d, reason %q", got.Outcome, got.code(), got.Reason)
				}
			})
		}
	}
}

func TestOnlyWhatFinishedIsJudged(t *testing.T) {
	t.Parallel()
	const talk = "echo 4 passing; echo 2 failing; echo > up; "
	tests := []struct {
		name, script, outcome string
		edit                  func(*engine.Action)
		then                  func(*bench, engine.Action)
	}{
		{name: "timed out", script: talk + "sleep 600", outcome: "timed_out",
			edit: func(a *engine.Action) { a.Command.Timeout = 300 * time.Millisecond }},
		{name: "timed out, deaf to SIGTERM", script: "trap '' TERM; " + talk + "while :; do sleep 0.05; done", outcome: "timed_out",
			edit: func(a *engine.Action) { a.Command.Timeout = 300 * time.Millisecond }},
		{name: "stopped with placet", script: talk + "sleep 600", outcome: "stopped",
			then: func(b *bench, _ engine.Action) { _ = b.Stop(b.t.Context()) }},
		{name: "stopped, nobody wants it", script: talk + "sleep 600", outcome: "stopped",
			then: func(b *bench, a engine.Action) { b.End(a.ID) }},
		{name: "not started", outcome: "not_started",
			edit: func(a *engine.Action) { a.Command.Argv = []string{"no-such-program-here"} }},
		{name: "lost", outcome: "lost", edit: func(a *engine.Action) { a.Recorded = true }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, RunnerOptions{Grace: 200 * time.Millisecond})
			a := judged(t, test.script, "4 passing")
			if test.edit != nil {
				test.edit(&a)
			}
			b.Begin(a)
			if test.then != nil {
				await.Until(t, "it runs", func() bool { return b.has("up") })
				test.then(b, a)
			}
			got := b.do(a)
			if got.Outcome != test.outcome || got.verdict() != "null" || got.TimedOut != (test.outcome == "timed_out") || got.Cwd != "." {
				t.Errorf("outcome %q, verdict %q, timed out %t, cwd %q", got.Outcome, got.verdict(), got.TimedOut, got.Cwd)
			}
			for _, member := range []string{`"matched_expected": null`, `"failing_marker": null`} {
				if !strings.Contains(b.read(a.Outcome), member) {
					t.Errorf("the outcome lacks %s:\n%s", member, b.read(a.Outcome))
				}
			}
		})
	}
}

func TestACommandThatClosesItsOutputIsWaitedFor(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{})
	gate(t, b.root, "gate")
	a := judged(t, "echo 4 passing; exec >&- 2>&-; echo > up; read line < gate; exit 3", "4 passing")
	b.Begin(a)
	await.Until(t, "its output is closed", func() bool { return b.has("up") })
	if !b.Alive()[a.ID] || b.has(a.Outcome) {
		t.Error("it counts as over although it goes on")
	}
	open(t, filepath.Join(b.root, "gate"))
	if got := b.do(a); got.code() != 3 || got.verdict() != "true" {
		t.Errorf("exit code %d, verdict %q", got.code(), got.verdict())
	}
}

// The test does not run in parallel, because allocations of others would be counted.
func TestOfFiftyMebibytesAWindowIsKept(t *testing.T) {
	const script = `echo first words; yes passing | head -c 26214400; echo; echo middle words; yes passing | head -c 26214400
		echo; echo last words; echo > up; read line < gate`
	for expected, want := range map[string]string{"first words": "true", "middle words": "false", "last words": "true"} {
		b := newBench(t, RunnerOptions{})
		gate(t, b.root, "gate")
		before := live()
		a := judged(t, script, expected)
		b.Begin(a)
		await.Until(t, "all is printed", func() bool { return b.has("up") })
		if grown := live() - before; grown > 12<<20 {
			t.Errorf("%d bytes more are in use, expected little more than the 8 MiB that are matched", grown)
		}
		open(t, filepath.Join(b.root, "gate"))
		got := b.do(a)
		if got.verdict() != want {
			t.Errorf("%s: verdict %q, want %q", expected, got.verdict(), want)
		}
		if o := got.Stdout; o.Bytes != 50<<20+38 || !o.Truncated || len(o.Head) != headMax || len(o.Tail) != tailMax ||
			!strings.HasPrefix(o.Head, "first words\npassing\n") || !strings.HasSuffix(o.Tail, "\nlast words\n") {
			t.Errorf("%d bytes, head %.30q (%d), tail %d", o.Bytes, o.Head, len(o.Head), len(o.Tail))
		}
	}
}

// live is how many bytes are in use.
func live() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestATailIsOfBothOutputsInTheirOrder(t *testing.T) {
	t.Parallel()
	for _, make := range []func(*testing.T, string, ...string) engine.Action{shell, agent} {
		b := newBench(t, RunnerOptions{Now: clock(1500 * time.Millisecond)})
		a := make(t, `echo one; echo two >&2; echo three; exit 4`)
		a.Fields, a.Tail = []engine.Field{{Name: "number", Value: 2}}, 9
		b.do(a)
		want := `{
  "number": 2,
  "started_at": "2026-11-20T10:00:01.620Z",
  "finished_at": "2026-11-20T10:00:03.120Z",
  "outcome": "finished",
  "exit_code": 4,
  "tail": "wo\nthree\n"
}
`
		if diff := cmp.Diff(want, b.read(a.Outcome)); diff != "" {
			t.Errorf("agent %t: outcome (-want +got):\n%s", a.Command.Agent, diff)
		}
	}
}

func TestATailIsTextWhateverIsPrinted(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, script, want string }{
		{"nothing", "exit 0", ""},
		{"a character that the cut goes through", "printf '한글한글'", "글한글"},
		{"bytes that are no text", `printf '\377 end'`, "\uFFFD end"},
		{"an output opened anew", `echo one; echo two >> /dev/stdout; echo three >&2`, "wo\nthree\n"},
		{"all on standard error", "echo one >&2; exec >&-; echo two >&2", "one\ntwo\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, RunnerOptions{})
			a := agent(t, test.script)
			a.Tail = 9
			if got := b.do(a); got.Tail != test.want {
				t.Errorf("tail %q, want %q", got.Tail, test.want)
			}
		})
	}
}

func TestATailWithoutACommand(t *testing.T) {
	t.Parallel()
	for outcome, edit := range map[string]func(*engine.Action){
		"not_started": func(a *engine.Action) { a.Command.Dir = "absent" },
		"lost":        func(a *engine.Action) { a.Recorded = true },
	} {
		b := newBench(t, RunnerOptions{})
		a := agent(t, "echo > ran")
		a.Tail = 9
		edit(&a)
		if got := b.do(a); got.Outcome != outcome || got.Reason == "" || b.has("ran") {
			t.Errorf("outcome %q because %q; want %q with a reason", got.Outcome, got.Reason, outcome)
		}
		if body := b.read(a.Outcome); !strings.Contains(body, `"tail": ""`) || strings.Contains(body, "stdout") {
			t.Errorf("outcome:\n%s", body)
		}
	}
}

func TestAnOutcomeIsNeverTooLargeToBeRead(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{})
	// In JSON each of these bytes takes six.
	got := b.do(shell(t, `echo first; head -c 200000 /dev/zero; echo last; head -c 200000 /dev/zero >&2`))
	info, err := os.Stat(filepath.Join(b.root, "run/actions", t.Name(), "outcome.json"))
	if err != nil || info.Size() > layout.LimitJSON {
		t.Fatalf("the outcome: %v, %v", info, err)
	}
	if !strings.HasPrefix(got.Stdout.Head, "first\n\x00") || !strings.HasSuffix(got.Stdout.Tail, "\x00last\n") || !got.Stdout.Truncated || len(got.Stderr.Tail) < 1000 {
		t.Errorf("head %.10q, tail %d, standard error %d", got.Stdout.Head, len(got.Stdout.Tail), len(got.Stderr.Tail))
	}

	// The action's own fields are not cut.
	a := shell(t, "echo out")
	a.ID, a.Outcome = "large", "run/large.json"
	a.Fields = []engine.Field{{Name: "action", Value: strings.Repeat("x", layout.LimitJSON)}}
	if got := b.do(a); got.Outcome != "finished" || len(got.Action) != layout.LimitJSON {
		t.Errorf("outcome %q, field of %d bytes", got.Outcome, len(got.Action))
	}
}
