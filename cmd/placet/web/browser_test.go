package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"placet/cmd/placet/view"
	"placet/engine"
	"placet/internal/await"
	"placet/internal/browsertest"
	"placet/layout"
)

// busyRun is the page of a run in which fifty workers are at work.
func busyRun(workers int, used func(worker int) int) runView {
	seen := view.Run{RunView: engine.RunView{Key: engine.Key{Family: "pal", ID: "O"}, Status: "running"}}
	for i := range workers / 2 {
		id := fmt.Sprintf("port-%02d", i)
		n := engine.Node{ID: id, Group: fmt.Sprint(i/6 + 1), Status: "running", Current: true, Critical: i%6 == 0}
		if i >= 6 {
			n.After = []string{fmt.Sprintf("port-%02d", i-6), fmt.Sprintf("port-%02d", i/6*6-6)}
		}
		seen.Graph = append(seen.Graph, n)
		seen.Parts = append(seen.Parts, engine.Part{ID: id, Status: "running", Facts: []engine.Fact{{Label: "try", Value: "1 of 3"}, {Label: "deadline", Value: "2026-11-20T12:30:00Z"}}})
	}
	for i := range workers {
		role := []string{"impl", "test"}[i%2]
		seen.Parts = append(seen.Parts, engine.Part{
			ID: workerOf(i), Status: "running", Facts: []engine.Fact{{Label: "substatus", Value: role}},
			Progress: &engine.Progress{Value: 0.1, Task: "reading the specification of the port", Used: used(i), Of: 15000},
		})
	}
	page := runViewOf(pageHead{Lang: "en", Title: "pal/O", Page: "run", Who: "owner:me", Workspace: "/work"}, view.Explanation{Why: []string{"the workers are at work"}}, seen)
	ask := engine.OpenRequest{
		Request: "esc-0123456789ab", Reference: "esc-0123", Run: seen.Key, Type: "escalation", Where: "port-03", Prompt: "Port port-03 failed 3 of 3 tries.", RequestedAt: time.Now(),
		Options: []engine.RequestOption{
			{ID: "retry", Description: "Try again", Effect: "starts port-03 again with 3 new tries"}, {ID: "skip", Description: "Leave it out", Effect: "leaves port-03 out for good"},
			{ID: "abort_orchestration", Description: "Stop", Effect: "stops the whole orchestration for good"},
		},
	}
	page.Asks = []askView{askOf(page.pageHead, view.Request{OpenRequest: ask}, true)}
	return page
}

func workerOf(i int) string {
	return fmt.Sprintf("build/port-%02d/%s", i/2, []string{"impl", "test"}[i%2])
}

// busySite serves the page of such a run, and a stream of its workers' progress.
type busySite struct {
	*httptest.Server
	mu   sync.Mutex
	used int
	fast chan struct{} // closed when the workers begin
}

const busyWorkers = 50

func (s *busySite) now(worker int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used + worker
}

func newBusySite(t *testing.T) *busySite {
	s := &busySite{fast: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /runs/", func(w http.ResponseWriter, _ *http.Request) {
		var out bytes.Buffer
		if err := pages().ExecuteTemplate(&out, "run", busyRun(busyWorkers, s.now)); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Security-Policy", contentPolicy)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(out.Bytes())
	})
	mux.HandleFunc("GET /static/{name}", func(w http.ResponseWriter, r *http.Request) {
		body, _ := staticFiles.ReadFile("static/" + r.PathValue("name"))
		w.Header().Set("Content-Type", staticTypes[r.PathValue("name")])
		_, _ = w.Write(body)
	})
	mux.HandleFunc("GET /api/v1/events", s.stream)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

// stream sends the progress of each worker, ten times.
func (s *busySite) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, "event: connection.established\ndata: {}\n\n")
	_ = http.NewResponseController(w).Flush()
	select {
	case <-s.fast:
	case <-r.Context().Done():
		return
	}
	run := layout.Run{Family: "pal", ID: "O", Dir: ".pal/orchestrations/O"}
	for i := range 10 * busyWorkers {
		worker, round := i%busyWorkers, i/busyWorkers+1
		s.mu.Lock()
		s.used = round * 1000
		s.mu.Unlock()
		e := progressEvent(run, "x", engine.Progress{Value: float64(round) / 10, Task: fmt.Sprintf("step %d of the work on the port", round), Used: round*1000 + worker}, time.Now())
		data := e.Data.(progressEnvelope)
		data.Data.SessionID = "O/" + workerOf(worker)
		body, _ := json.Marshal(data)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.Name, body)
		_ = http.NewResponseController(w).Flush()
	}
	<-r.Context().Done()
}

// The progress of fifty workers changes their bars in place, and in the end each bar shows the
// last report.
func TestBrowserProgress(t *testing.T) {
	t.Parallel()
	s := newBusySite(t)
	b := browsertest.NewTab(t, browsertest.Open(t))
	b.Looks(1440, "light")
	b.Do(chromedp.Navigate(s.URL+"/runs/pal/O"), chromedp.WaitVisible(".worker"))
	bars := browsertest.Eval[int](b, `(() => { window.marked = [...document.querySelectorAll(".worker")]; return marked.length; })()`)
	if bars != busyWorkers {
		t.Fatalf("%d bars", bars)
	}
	close(s.fast)
	await.Until(t, "the last that each worker says", func() bool {
		return browsertest.Eval[bool](b, `[...document.querySelectorAll(".worker")].every((bar, i) =>
			bar.querySelector("progress").value === 100 && bar.querySelector(".percent").textContent === "100 %" && bar.querySelector(".tokens").textContent === (10000 + i) + " of 15000 tokens" && bar.querySelector(".task").textContent.startsWith("step 10 "))`)
	})
	if !browsertest.Eval[bool](b, `[...document.querySelectorAll(".worker")].every((bar, i) => bar === marked[i])`) {
		t.Error("the bars were made anew")
	}
	b.States("9-progress")
}
