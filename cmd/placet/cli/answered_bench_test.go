package cli

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/watch"
	"placet/internal/await"
	"placet/layout"
)

const answeredRun = ".fractary/faber/runs/acme/web/00000001-0000-4000-8000-000000000001"

// answeredTree is a FABER run that asks after n requests that were answered.
type answeredTree struct {
	b    testing.TB
	root string
	n    int // answered so far
}

func (a *answeredTree) put(rel, body string) {
	name := filepath.Join(a.root, answeredRun, rel)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		a.b.Fatal(err)
	}
	if err := os.WriteFile(name+".tmp", []byte(body), 0o644); err != nil {
		a.b.Fatal(err)
	}
	if err := os.Rename(name+".tmp", name); err != nil {
		a.b.Fatal(err)
	}
}

func answeredID(n int) string { return fmt.Sprintf("fr-20261120-%06d", n) }

func (a *answeredTree) answer(n int) {
	a.put("requests/"+answeredID(n)+"/response.json", fmt.Sprintf(`{"request_id": %q, "response": "approve", "comment": "good", "provided_by": {"user": "t", "source": "file"}}`, answeredID(n)))
}

// ask makes the agent ask again, on top of the present state.
func (a *answeredTree) ask(n int, state string) {
	state = strings.Replace(state, `"status": "in_progress",`, fmt.Sprintf(`"status": "awaiting_feedback",
  "feedback_request": {"request_id": %q, "type": "review", "prompt": "Is it good?", "requested_at": "2026-11-20T10:00:00Z"},`, answeredID(n)), 1)
	state = strings.Replace(state, `"status": "completed"`, `"status": "in_progress"`, 1)
	a.put("state.json", state)
}

func (a *answeredTree) state() string {
	body, _ := os.ReadFile(filepath.Join(a.root, answeredRun, "state.json"))
	return string(body)
}

// begin writes a run that asks for the first time.
func (a *answeredTree) begin() {
	id := filepath.Base(answeredRun)
	a.put("metadata.json", fmt.Sprintf(`{"run_id": "acme/web/%s", "workflow_id": "none"}`, id))
	a.put("events/001-step_start.json", fmt.Sprintf(`{"event_id": 1, "type": "step_start", "timestamp": "2026-11-20T09:59:00.000Z", "run_id": "acme/web/%s", "phase": "architect", "step": "design-review"}`, id))
	a.put("events/.next-id", "2\n")
	a.ask(1, fmt.Sprintf(`{
  "run_id": "acme/web/%s",
  "work_id": "1",
  "status": "in_progress",
  "current_phase": "architect",
  "current_step": "design-review",
  "last_event_id": 1,
  "updated_at": "2026-11-20T10:00:00Z",
  "phases": {"architect": {"status": "in_progress", "steps": [{"id": "design-review", "status": "in_progress"}]}},
  "resume_point": {"phase": "architect", "step": "design-review", "step_index": 0}
}
`, id))
}

// grow copies the first request's files and its entry in the history, n times.
func (a *answeredTree) grow(n int) {
	first, state := answeredID(1), a.state()
	files := map[string]string{}
	for _, name := range []string{"request.json", "form.md", "response.json", "receipt.json"} {
		body, err := os.ReadFile(filepath.Join(a.root, answeredRun, "requests", first, name))
		if err != nil {
			a.b.Fatal(err)
		}
		files[name] = string(body)
	}
	from := strings.Index(state, `"feedback_history": [`) + len(`"feedback_history": [`)
	to := strings.LastIndex(state, "]")
	entry := strings.TrimSpace(state[from:to])
	all := []string{entry}
	for i := 2; i <= n; i++ {
		id := answeredID(i)
		response := strings.ReplaceAll(files["response.json"], first, id)
		decided := strings.NewReplacer(first, id, engine.Sum([]byte(files["response.json"])).Hex(), engine.Sum([]byte(response)).Hex())
		for name, body := range files {
			a.put("requests/"+id+"/"+name, decided.Replace(body))
		}
		all = append(all, strings.ReplaceAll(entry, first, id))
	}
	a.put("state.json", state[:from]+strings.Join(all, ",\n")+state[to:])
	a.n = n
}

// BenchmarkAnswerAfterManyRequests answers the request of a run that has had many
// answered before: from the answer's last byte to the transition.
func BenchmarkAnswerAfterManyRequests(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchmarkAnswers(b, n) })
	}
}

func benchmarkAnswers(b *testing.B, n int) {
	home, root := b.TempDir(), b.TempDir()
	a := &answeredTree{b: b, root: root}
	moved := make(chan string, 100)
	awaits := func(event string) {
		b.Helper()
		for !strings.HasPrefix(await.Receive(b, event, moved), event) {
		}
	}
	a.begin()
	stop := a.serve(home, moved)
	awaits("request_opened")
	a.answer(1)
	awaits("answered")
	stop()
	a.grow(n)
	stop = a.serve(home, moved)
	defer stop()
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		next := n + 1 + i
		a.settled()
		a.ask(next, a.state())
		awaits("request_opened")
		a.settled()
		b.StartTimer()
		a.answer(next)
		awaits("answered")
	}
}

// settled waits until nothing was written in the run for a moment.
func (a *answeredTree) settled() {
	time.Sleep(300 * time.Millisecond)
}

func (a *answeredTree) serve(home string, moved chan string) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	env := map[string]string{"HOME": home, "XDG_STATE_HOME": home, "XDG_CONFIG_HOME": home}
	var out bytes.Buffer
	w := &console.Env{Out: &out, Err: &out, Getenv: func(name string) string { return env[name] }, Cwd: a.root, Now: time.Now}
	log := slog.New(slog.DiscardHandler)
	bench, err := workspace.Open(w, workspace.Setup{Log: log, Live: true, Cached: true,
		Moved: func(_ layout.Run, t engine.Transition) { moved <- t.Event },
		Acts:  true})
	if err != nil {
		a.b.Fatal(err)
	}
	watcher, err := watch.New(a.root, log)
	if err != nil {
		a.b.Fatal(err)
	}
	ready, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		_ = bench.Loop.Watch(ctx, watcher, func(int, int) { close(ready) })
	}()
	<-ready
	return func() { cancel(); <-done; _ = watcher.Close() }
}
