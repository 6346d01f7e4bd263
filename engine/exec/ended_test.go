package exec

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/internal/await"
)

// fact is a check whose end is a fact.
func fact(t *testing.T, script string, args ...string) engine.Action {
	a := shell(t, script, args...)
	a.Outcome, a.Fields, a.Output = "", nil, "PLACET_OUT"
	return a
}

// end begins an action without Outcome and waits for its end.
func (b *bench) end(a engine.Action) engine.Ended {
	b.t.Helper()
	b.Begin(a)
	await.Until(b.t, "it has ended", func() bool { return !b.Alive()[a.ID] })
	e, ok := b.Ended()[a.ID]
	if !ok {
		b.t.Fatal("it is neither alive nor ended")
	}
	return e
}

// bare is an end without its times.
func bare(e engine.Ended) engine.Ended {
	e.Began, e.At = time.Time{}, time.Time{}
	return e
}

func exitCode(n int) *int { return &n }

func TestAnEndWithoutAnOutcomeIsAFact(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		script string
		want   engine.Ended
	}{
		{"it fails", `echo out; echo err >&2; exit 3`, engine.Ended{Result: "finished", Exit: exitCode(3), Stdout: "out\n", Stderr: "err\n"}},
		{"it writes", `test ! -e "$PLACET_OUT" && printf '{"a":1}' > "$PLACET_OUT"`, engine.Ended{Result: "finished", Exit: exitCode(0), Output: []byte(`{"a":1}`)}},
		{"it writes nothing into it", `: > "$PLACET_OUT"`, engine.Ended{Result: "finished", Exit: exitCode(0), Output: []byte{}}},
		{"it writes by a rename", `printf x > "$PLACET_OUT.tmp" && mv "$PLACET_OUT.tmp" "$PLACET_OUT"`, engine.Ended{Result: "finished", Exit: exitCode(0), Output: []byte("x")}},
		{"a signal ends it", `printf x > "$PLACET_OUT"; kill -9 $$`, engine.Ended{Result: "finished", Reason: "ended by signal: killed", Output: []byte("x")}},
		{"it writes too much", `head -c 1048577 /dev/zero > "$PLACET_OUT"`, engine.Ended{Result: "finished", Exit: exitCode(0), Reason: "cannot read what the command wrote: it is larger than 1048576 bytes; write less"}},
		{"it makes a link", `echo secret > other; ln -s "$PWD/other" "$PLACET_OUT"`, engine.Ended{Result: "finished", Exit: exitCode(0), Reason: "cannot read what the command wrote: it is no regular file; write the file itself"}},
		{"it makes a FIFO", `mkfifo "$PLACET_OUT"`, engine.Ended{Result: "finished", Exit: exitCode(0), Reason: "cannot read what the command wrote: it is no regular file; write the file itself"}},
		{"it makes its folder a link", `mkdir other; echo secret > other/` + producedName + `; dir=$(dirname "$PLACET_OUT"); mv "$dir" moved; ln -s "$PWD/other" "$dir"`, engine.Ended{Result: "finished", Exit: exitCode(0)}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, RunnerOptions{})
			if diff := cmp.Diff(test.want, bare(b.end(fact(t, test.script)))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if left := b.folders(); len(left) > 0 {
				t.Errorf("folders left behind: %q", left)
			}
			if b.has("run") {
				t.Error("something was written")
			}
		})
	}
}

func TestAnEndIsKeptUntilItIsForgotten(t *testing.T) {
	t.Parallel()
	told := make(chan string, 8)
	b := newBench(t, RunnerOptions{Now: clock(1500 * time.Millisecond), OnEnd: func(id string) { told <- id }})
	a := fact(t, "exit 0")
	e := b.end(a)
	if got := e.At.Sub(e.Began); got < 1500*time.Millisecond {
		t.Errorf("it took %s", got)
	}
	if id := <-told; id != a.ID {
		t.Errorf("told of %q", id)
	}
	b.Begin(a) // not a second time
	if ends := b.Ended(); len(ends) != 1 || len(b.Alive()) != 0 {
		t.Errorf("ends %v, alive %v", ends, b.Alive())
	}
	b.End(a.ID)
	if ends := b.Ended(); len(ends) != 0 {
		t.Errorf("it is not forgotten: %v", ends)
	}
}

// Each output has its own tail, of whole characters.
func TestOfAnEndTheTailsAreKept(t *testing.T) {
	t.Parallel()
	for _, tail := range []int{0, 100} {
		b := newBench(t, RunnerOptions{})
		a := fact(t, `i=0; while [ $i -lt 3000 ]; do printf '한%d\n' $i; i=$((i+1)); done; echo err >&2`)
		a.ID, a.Tail = fmt.Sprint(a.ID, tail), tail
		e, most := b.end(a), 4096
		if tail > 0 {
			most = tail
		}
		if len(e.Stdout) > most || len(e.Stdout) < most-3 || !utf8.ValidString(e.Stdout) || !strings.HasSuffix(e.Stdout, "한2999\n") || e.Stderr != "err\n" {
			t.Errorf("tail %d: %d bytes %q, %q", tail, len(e.Stdout), e.Stdout, e.Stderr)
		}
	}
	b := newBench(t, RunnerOptions{})
	a := fact(t, `head -c 9000 /dev/zero | tr '\0' '\377'`)
	if e := b.end(a); len(e.Stdout) > 4096 || !utf8.ValidString(e.Stdout) {
		t.Errorf("%d bytes of what is no text", len(e.Stdout))
	}
}

func TestWhatDoesNotBeginEndsAsAFactToo(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{Permit: func(a engine.Action, _ string) error {
		if strings.Contains(a.ID, "forbidden") {
			return fmt.Errorf("it is not trusted")
		}
		return nil
	}})
	a := fact(t, "touch ran")
	a.ID = "forbidden"
	if e := b.end(a); e.Result != "not_started" || e.Reason != "it is not trusted" {
		t.Errorf("%+v", e)
	}
	a.ID, a.Recorded = "recorded", true
	if e := b.end(a); e.Result != "lost" || e.Reason == "" {
		t.Errorf("%+v", e)
	}
	if b.has("ran") {
		t.Error("it ran")
	}
}

// An agent without an outcome does not outlive placet, because nobody would
// learn of its end.
func TestStopEndsACommandWithoutAnOutcome(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{})
	a := fact(t, "echo > up; sleep 600")
	a.Command.Agent = true
	b.Begin(a)
	await.Until(t, "it runs", func() bool { return b.has("up") })
	if err := b.Stop(await.Context(t)); err != nil {
		t.Fatal(err)
	}
	if e := b.Ended()[a.ID]; e.Result != "stopped" {
		t.Errorf("%+v", e)
	}
	late := a
	late.ID = "late"
	b.Begin(late)
	if _, ended := b.Ended()["late"]; ended || len(b.Alive()) > 0 {
		t.Errorf("what comes while placet stops has an end, or is alive: %v", b.Alive())
	}
}

// The next placet knows once what an orderly stop ended, and may begin it again
// unasked. If it crashes before that, nothing is known any more.
func TestWhatAnOrderlyStopEndedMayBeginAgain(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	first := benchAt(t, root, RunnerOptions{})
	a := fact(t, "echo >> up; test -e again || sleep 600")
	first.Begin(a)
	await.Until(t, "it runs", func() bool { return first.has("up") })
	unwanted := fact(t, "echo > other; sleep 600")
	unwanted.ID = "unwanted"
	first.Begin(unwanted)
	await.Until(t, "it runs", func() bool { return first.has("other") })
	first.End(unwanted.ID)
	await.Until(t, "it has ended", func() bool { return !first.Alive()[unwanted.ID] })
	if err := first.Stop(await.Context(t)); err != nil {
		t.Fatal(err)
	}
	if looked := Stopped(stateIn(t, root)); len(looked) != 1 || looked[a.ID].Result != "stopped" {
		t.Errorf("whoever looks sees %+v", looked)
	}

	next := benchAt(t, root, RunnerOptions{})
	if err := next.Recover(); err != nil {
		t.Fatal(err)
	}
	if ended := next.Ended(); len(ended) != 1 || ended[a.ID].Result != "stopped" || len(next.folders()) != 0 || len(Stopped(stateIn(t, root))) != 0 {
		t.Fatalf("ended %+v, folders %q", ended, next.folders())
	}
	crashed := benchAt(t, root, RunnerOptions{})
	if err := crashed.Recover(); err != nil || len(crashed.Ended()) != 0 {
		t.Errorf("a second placet knows it, too: %+v, %v", crashed.Ended(), err)
	}
	if err := os.WriteFile(filepath.Join(root, "again"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if e := next.end(a); e.Result != "finished" || e.Exit == nil || *e.Exit != 0 {
		t.Errorf("begun again it ended %+v", e)
	}
}

// What a killed placet left running is ended, so that the action may be asked for
// again; the end is written nowhere.
func TestAfterAKillACommandWithoutAnOutcomeIsEnded(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	gates(t, root)
	killedPlacet(t, root, `sh -c 'echo $$ > "$0".below; exec sleep 600' "$0" & `+patient, "OUTCOMES=none")
	told := make(chan string, 8)
	b := benchAt(t, root, RunnerOptions{OnEnd: func(id string) { told <- id }})
	for _, name := range []string{"agent.below", "check.below"} {
		await.Until(t, name+" is there", func() bool { return b.wrote(name) })
	}
	if err := b.Recover(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"agent.pid", "check.pid", "agent.below", "check.below"} {
		gone(t, b.read(name))
	}
	if len(b.Alive())+len(b.Ended())+len(told)+len(b.folders()) > 0 || b.has("run") {
		t.Errorf("alive %v, ended %v, folders %q", b.Alive(), b.Ended(), b.folders())
	}
	a := fact(t, "exit 7")
	a.ID = "agent"
	if e := b.end(a); e.Exit == nil || *e.Exit != 7 {
		t.Errorf("again: %+v", e)
	}
}

// desk is a database that carries out one action at a time.
type desk struct {
	t     *testing.T
	mu    sync.Mutex
	atOne map[string]bool
	order []string
	gate  chan struct{} // nil: no action waits
	fails string        // why rows fail, "" for no failure
}

func (l *desk) do(d engine.Database) engine.Ended {
	l.mu.Lock()
	if l.atOne[d.Path] {
		l.t.Errorf("two at once for %s", d.Path)
	}
	if l.atOne == nil {
		l.atOne = map[string]bool{}
	}
	l.atOne[d.Path] = true
	l.order = append(l.order, d.Insert.ID)
	l.mu.Unlock()
	if l.gate != nil {
		<-l.gate
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.atOne[d.Path] = false
	if l.fails != "" {
		return engine.Ended{Result: "failed", Reason: l.fails}
	}
	return engine.Ended{Result: "done", Output: []byte(d.Insert.ID)}
}

func (l *desk) asked() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string{}, l.order...)
}

func row(at, id string) engine.Action {
	return engine.Action{ID: id, Database: &engine.Database{Path: at, Insert: &engine.Row{Table: "t", ID: id}}}
}

// placet's own rows need no trust of the workspace's owner.
func TestRowsForADatabaseGoOneAfterTheOther(t *testing.T) {
	t.Parallel()
	l := &desk{t: t}
	b := newBench(t, RunnerOptions{Database: l.do, Permit: func(engine.Action, string) error { return os.ErrPermission }})
	var want []string
	for i := range 50 {
		id := fmt.Sprintf("row-%02d", i)
		want = append(want, id)
		b.Begin(row("a.db", id))
	}
	if err := b.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, l.asked()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, id := range want {
		if e := b.Ended()[id]; e.Result != "done" || string(e.Output) != id || e.At.Before(e.Began) || e.Began.IsZero() {
			t.Errorf("%s: %+v", id, e)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if q := b.queues["a.db"]; len(q.waiting) > 0 {
		t.Errorf("actions are left: %v", q.waiting)
	}
}

func TestTwoDatabasesDoNotWaitForOneAnother(t *testing.T) {
	t.Parallel()
	l := &desk{t: t, gate: make(chan struct{})}
	b := newBench(t, RunnerOptions{Database: l.do})
	b.Begin(row("a.db", "a-1"))
	b.Begin(row("./a.db", "a-2")) // the same file
	b.Begin(row("b.db", "b-1"))
	await.Until(t, "both databases are at work", func() bool { return len(l.asked()) == 2 })
	if got := l.asked(); got[0] == "a-2" || got[1] == "a-2" {
		t.Errorf("asked %q", got)
	}
	close(l.gate)
	if err := b.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A stop waits for the row under way; those behind it have no end, and the next
// placet may be asked for them again.
func TestStopWaitsForTheRowAtHand(t *testing.T) {
	t.Parallel()
	l := &desk{t: t, gate: make(chan struct{})}
	b := newBench(t, RunnerOptions{Database: l.do})
	for _, id := range []string{"row-1", "row-2", "row-3"} {
		b.Begin(row("a.db", id))
	}
	await.Until(t, "the first is at hand", func() bool { return len(l.asked()) == 1 })
	b.End("row-1") // the row is written all the same
	stopped := make(chan error)
	go func() { stopped <- b.Stop(await.Context(t)) }()
	await.Until(t, "it is stopping", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.stopped
	})
	if !b.Alive()["row-1"] {
		t.Error("the row at hand was given up")
	}
	close(l.gate)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	ends := b.Ended()
	if len(ends) != 1 || ends["row-1"].Result != "done" || len(b.Alive()) > 0 || len(l.asked()) != 1 {
		t.Errorf("ends %v, alive %v, asked %q", ends, b.Alive(), l.asked())
	}
}

func TestWithoutADatabaseEveryRowHasFailed(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{})
	if e := b.end(row("a.db", "row-1")); e.Result != "failed" || e.Reason == "" {
		t.Errorf("%+v", e)
	}
	if names, _ := filepath.Glob(filepath.Join(b.root, "*")); len(names) > 0 {
		t.Errorf("something was written: %q", names)
	}
}

// If one row fails, all that waited meanwhile fail: they do not wait for the same
// lock one after the other, and the failure is logged once.
func TestWhatKeepsOneRowOutKeepsOutAllThatWait(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	l := &desk{t: t, gate: make(chan struct{}, 2), fails: "it is locked"}
	b := newBench(t, RunnerOptions{Database: l.do, Log: slog.New(slog.NewTextHandler(&said, nil))})
	for _, id := range []string{"row-1", "row-2", "row-3"} {
		b.Begin(row("a.db", id))
	}
	await.Until(t, "the first is at hand", func() bool { return len(l.asked()) == 1 })
	l.gate <- struct{}{}
	if err := b.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.gate <- struct{}{}
	b.Begin(row("a.db", "row-4"))
	if err := b.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"row-1", "row-4"}, l.asked()); diff != "" {
		t.Errorf("asked: -want +got:\n%s", diff)
	}
	for _, id := range []string{"row-1", "row-2", "row-3", "row-4"} {
		if e := b.Ended()[id]; e.Result != "failed" || e.Reason != "it is locked" {
			t.Errorf("%s: %+v", id, e)
		}
	}
	if n := strings.Count(said.String(), "cannot use a database"); n != 1 {
		t.Errorf("said %d times:\n%s", n, said.String())
	}
}
