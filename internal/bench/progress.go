package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"placet/layout"
)

const (
	// reporting is how many workers report progress at once, and reportHz is how often each
	// of them does per second.
	reporting = 50
	reportHz  = 20

	reportedRun = ".pal/orchestrations/busy"
)

// progress is W1: workers report their progress at a high rate. The stream reports it at the
// configured rate, and nothing else follows from it.
func (b *bench) progress() error {
	s, err := b.orchestrate("progress")
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var events atomic.Int64
	ended, err := s.counts(ctx, "/api/v1/events?family=pal&filter=worker.progress", &events)
	if err != nil {
		return err
	}
	var workers sync.WaitGroup
	for i := range reporting {
		workers.Go(func() { s.report(ctx, i) })
	}
	for began := time.Now(); events.Load() < 2*reporting; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			return errors.New("cannot measure: the stream tells of no progress")
		}
	}
	before, err := s.standing()
	if err != nil {
		return err
	}
	streamed := events.Load()
	time.Sleep(b.idle)
	streamed = events.Load() - streamed
	after, err := s.standing()
	if err != nil {
		return err
	}
	stop()
	workers.Wait()
	<-ended
	b.table.most("W1", fmt.Sprintf("events a second of %d workers at %d Hz", reporting, reportHz), float64(streamed)/b.idle.Seconds(), 2*reporting, "/s")
	b.table.most("W1", "processor meanwhile, of a core", 100*float64(after.used-before.used)/float64(b.idle), 10, "%")
	b.table.most("W1", "passes meanwhile", float64(after.passes-before.passes), 0, "")
	b.table.most("W1", "lines of the journal meanwhile", float64(after.lines-before.lines), 0, "")
	return s.close()
}

// standing holds the counts that progress must not change, and its cost.
type standing struct {
	lines, passes int
	used          time.Duration
}

func (s *answering) standing() (at standing, err error) {
	journal, err := os.ReadFile(filepath.Join(s.root, reportedRun, "events.jsonl"))
	if err != nil {
		return at, err
	}
	at.lines = strings.Count(string(journal), "\n")
	resp, err := s.get(context.Background(), "/metrics")
	if err != nil {
		return at, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return at, err
	}
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(name, "placet_pass_duration_seconds_count") {
			n, err := strconv.Atoi(value)
			if err != nil {
				return at, err
			}
			at.passes += n
		}
	}
	if at.passes == 0 {
		return at, errors.New("cannot measure: /metrics counts no passes")
	}
	at.used, err = s.daemon.processor()
	return at, err
}

// get calls the server for something that is no JSON.
func (s *answering) get(ctx context.Context, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.daemon.url+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	resp, err := s.client.Do(req)
	if err == nil && resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		err = fmt.Errorf("cannot measure: %s answers %s", path, resp.Status)
	}
	return resp, err
}

// counts counts the events of a stream until the context ends.
func (s *answering) counts(ctx context.Context, path string, events *atomic.Int64) (ended chan struct{}, err error) {
	resp, err := s.get(ctx, path)
	if err != nil {
		return nil, err
	}
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		defer resp.Body.Close()
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if lines.Text() == "event: worker.progress" {
				events.Add(1)
			}
		}
	}()
	return ended, nil
}

// report replaces a worker's progress until the context ends.
func (s *answering) report(ctx context.Context, i int) {
	name := filepath.Join(s.root, reportedRun, layout.PalMember(fmt.Sprintf("p%02d", i), layout.PalImpl), "progress.json")
	tick := time.NewTicker(time.Second / reportHz)
	defer tick.Stop()
	for n := 0; ; n++ {
		body := fmt.Sprintf(`{"progress": %.3f, "current_task": "task %d", "tokens_used": %d}`, float64(n%1000)/1000, n, n)
		if os.WriteFile(name+".tmp", []byte(body), 0o600) != nil || os.Rename(name+".tmp", name) != nil {
			return // the standing shows that nothing arrived
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// orchestrate serves an orchestration whose ports all run.
func (b *bench) orchestrate(name string) (*answering, error) {
	w, err := b.fresh(name)
	if err != nil {
		return nil, err
	}
	var ports []string
	for i := range reporting {
		ports = append(ports, fmt.Sprintf(`{"port_id": "p%02d"}`, i))
	}
	dir := filepath.Join(w.root, reportedRun)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	body := fmt.Sprintf(`{"title": "busy", "max_concurrency": %d, "token_budget": 0, "timeout_per_port": "0s", "ports": [%s]}`, reporting, strings.Join(ports, ", "))
	if err := os.WriteFile(filepath.Join(dir, "orchestration.json"), []byte(body), 0o600); err != nil {
		return nil, err
	}
	if err := b.once(w); err != nil {
		return nil, err
	}
	last := filepath.Join(dir, layout.PalMember(fmt.Sprintf("p%02d", reporting-1), layout.PalImpl), "session.json")
	if _, err := os.Stat(last); err != nil {
		return nil, errors.New("cannot measure: not all ports run")
	}
	return b.serveIt(w)
}
