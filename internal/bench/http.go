package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"
)

// clients is how many people answer at once in F1.
const clients = 200

// answering is placet serve with calls as programs make them.
type answering struct {
	*site
	client *http.Client
	token  string
}

// request is a request in the list, with what an answer to it needs.
type request struct {
	ID     string `json:"request_id"`
	Run    string `json:"run"`
	Digest string `json:"digest"`
}

// calls is F1: clients answer requests over HTTP, compared with the same answers as files.
func (b *bench) calls() error {
	files, err := b.open("files", b.calling, 0, 5)
	if err != nil {
		return err
	}
	took, err := files.burst(b.calling, files.daemon)
	if err != nil {
		return err
	}
	if err := files.close(); err != nil {
		return err
	}
	s, err := b.serve("calls", b.calling)
	if err != nil {
		return err
	}
	all, whole, err := s.answerAll()
	if err != nil {
		return err
	}
	b.table.note("F1", fmt.Sprintf("%d clients answer %d requests over HTTP, p50", clients, b.calling), short(all.median()))
	b.table.note("F1", "the same, p99", short(all.at(0.99)))
	b.table.rate("F1", "the same, answers (floor: the same as files)", float64(b.calling)/whole.Seconds(), float64(b.calling)/took.Seconds(), 0.7)
	return s.close()
}

// listing is S12: a view of all open requests.
func (b *bench) listing() error {
	s, err := b.serve("listing", b.listed)
	if err != nil {
		return err
	}
	time.Sleep(2100 * time.Millisecond) // younger files are not cached
	began := time.Now()
	if _, _, err := s.page(""); err != nil {
		return err
	}
	bare := time.Since(began)
	var all times
	for range b.starts {
		began := time.Now()
		if _, err := s.list(); err != nil {
			return err
		}
		all = append(all, time.Since(began))
	}
	b.table.most("S12", fmt.Sprintf("a call for all of %d open requests", b.listed), milliseconds(all.median()), 100, "ms")
	b.table.note("S12", "the same, nothing kept of an earlier look", short(bare))
	return s.close()
}

// serve opens so many requests and serves them over HTTP.
func (b *bench) serve(name string, waiting int) (*answering, error) {
	w, err := b.fresh(name)
	if err != nil {
		return nil, err
	}
	if err := many(waiting, func(n int) error { return w.waiting(n, 5) }); err != nil {
		return nil, err
	}
	// On a busy machine the last of many answers is accepted late: its call must wait for that.
	if err := errors.Join(w.configure("[serve]\nwait = \"50s\"\n"), b.once(w)); err != nil {
		return nil, err
	}
	s, err := b.serveIt(w)
	if err == nil {
		s.waiting = waiting
	}
	return s, err
}

// serveIt serves a workspace over HTTP.
func (b *bench) serveIt(w workspace) (*answering, error) {
	var made struct {
		Token string `json:"token"`
	}
	if err := w.verb(b.placet, &made, "token", "new", "bench", "--roles", "read,decide"); err != nil {
		return nil, err
	}
	var err error
	transport := &http.Transport{MaxIdleConnsPerHost: clients}
	s := &answering{site: &site{workspace: w}, token: made.Token, client: &http.Client{Transport: transport}}
	s.daemon, err = startVerb(b.placet, w.root, answered, "serve", "--listen", "127.0.0.1:0")
	return s, err
}

// verb runs a verb of placet in the workspace and decodes its answer into data.
func (w workspace) verb(placet string, data any, args ...string) error {
	cmd := exec.Command(placet, append(args, "--json")...)
	cmd.Dir, cmd.Env = w.root, quietEnv(w.root)
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("cannot measure: placet %s: %w", args[0], err)
	}
	return json.Unmarshal(out, &struct {
		Data any `json:"data"`
	}{data})
}

// call calls the server and decodes its answer into data.
func (s *answering) call(method, path string, body []byte, data any) error {
	req, err := http.NewRequest(method, s.daemon.url+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("cannot measure: %s %s: %s %.500s", method, path, resp.Status, text)
	}
	return json.Unmarshal(text, &struct {
		Data any `json:"data"`
	}{data})
}

// pageSize is how many requests a call lists at most.
const pageSize = 1000

// page returns the open requests after a request, and where the next page begins.
func (s *answering) page(after string) (open []request, next string, err error) {
	var data struct {
		Requests []request `json:"requests"`
		Next     string    `json:"next"`
	}
	err = s.call(http.MethodGet, fmt.Sprintf("/api/v1/requests?limit=%d&after=%s", pageSize, url.QueryEscape(after)), nil, &data)
	return data.Requests, data.Next, err
}

// list returns all open requests.
func (s *answering) list() (all []request, err error) {
	for after := ""; ; {
		var open []request
		if open, after, err = s.page(after); err != nil {
			return nil, err
		}
		all = append(all, open...)
		if after == "" {
			break
		}
	}
	if len(all) != s.waiting {
		return nil, fmt.Errorf("cannot measure: %d requests are open, not %d", len(all), s.waiting)
	}
	return all, nil
}

// answerAll lets the clients answer every request, each once. It returns how long each
// answer took until it was accepted, and how long all of them took together.
func (s *answering) answerAll() (all times, whole time.Duration, err error) {
	open, err := s.list()
	if err != nil {
		return nil, 0, err
	}
	all = make(times, len(open))
	errs := make(chan error, clients)
	var wg sync.WaitGroup
	var next atomic.Int64
	began := time.Now()
	for range min(clients, len(open)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(open)); i = next.Add(1) - 1 {
				at := time.Now()
				if err := s.answerOne(open[i]); err != nil {
					errs <- err
					return
				}
				all[i] = time.Since(at)
			}
		})
	}
	wg.Wait()
	whole = time.Since(began)
	select {
	case err := <-errs:
		return nil, 0, err
	default:
	}
	moved := map[string]bool{}
	for range open {
		m, err := s.daemon.next()
		if err != nil {
			return nil, 0, err
		}
		if moved[m.run] {
			return nil, 0, fmt.Errorf("cannot measure: %s took two answers", m.run)
		}
		moved[m.run] = true
	}
	return all, whole, nil
}

// answerOne answers a request and requires its receipt.
func (s *answering) answerOne(r request) error {
	body, err := json.Marshal(map[string]any{"response": "approve", "comment": "Looks good", "digest": r.Digest})
	if err != nil {
		return err
	}
	var data struct {
		Receipt struct{ Result string }
	}
	err = s.call(http.MethodPost, "/api/v1/requests/"+url.PathEscape(r.Run+":"+r.ID)+"/answer", body, &data)
	if err == nil && data.Receipt.Result != "accepted" {
		err = fmt.Errorf("cannot measure: the answer to %s came to %q", r.ID, data.Receipt.Result)
	}
	return err
}
