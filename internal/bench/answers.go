package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// responseText is an answer in the form of placet's own surfaces.
const responseText = `{
  "request_id": "{request}",
  "response": "approve",
  "selected": [],
  "comment": "Looks good",
  "provided_by": {"user": "jmcwilliam", "source": "file"}
}
`

// site is a workspace with waiting runs whose requests are open, and the daemon
// that serves it.
type site struct {
	workspace
	daemon  *program
	waiting int
}

// open makes a workspace with so many waiting and completed runs, lets placet
// open every request, and starts the daemon.
func (b *bench) open(name string, waiting, completed, events int) (*site, error) {
	w, err := b.fresh(name)
	if err != nil {
		return nil, err
	}
	if err := many(completed, w.completed); err != nil {
		return nil, err
	}
	if err := many(waiting, func(n int) error { return w.waiting(n, events) }); err != nil {
		return nil, err
	}
	if err := b.once(w); err != nil {
		return nil, err
	}
	s := &site{workspace: w, waiting: waiting}
	for n := range waiting {
		if _, err := os.Stat(filepath.Join(w.root, s.request(n), "form.md")); err != nil {
			return nil, fmt.Errorf("cannot measure: placet did not open a request: %w", err)
		}
	}
	s.daemon, err = startPlacet(b.placet, w.root)
	return s, err
}

// close ends the daemon and removes the workspace.
func (s *site) close() error {
	s.daemon.stop()
	return os.RemoveAll(s.root)
}

// request returns the request folder of the n-th waiting run.
func (s *site) request(n int) string { return s.run("waiting", n) + "/requests/" + requestID(n) }

// stage writes the answer to the n-th run under a name that nobody reads.
func (s *site) stage(n int) (from, to string, err error) {
	dir := filepath.Join(s.root, s.request(n))
	from, to = filepath.Join(dir, ".response.json.tmp"), filepath.Join(dir, "response.json")
	text := fill(responseText, s.run("waiting", n), n, 0)
	return from, to, os.WriteFile(from, []byte(text), 0o644)
}

// answer answers the n-th run and returns how long it took until the program
// reported that the transition is durable.
func (s *site) answer(n int, p *program) (time.Duration, error) {
	from, to, err := s.stage(n)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := os.Rename(from, to); err != nil {
		return 0, err
	}
	m, err := p.next()
	return m.at.Sub(began), err
}

// learn answers the n-th run and returns what its transition put on disk.
func (s *site) learn(n int) (shape, error) {
	dir := filepath.Join(s.root, s.run("waiting", n))
	before, err := stamps(dir)
	if err != nil {
		return nil, err
	}
	if _, err := s.answer(n, s.daemon); err != nil {
		return nil, err
	}
	after, err := stamps(dir)
	if err != nil {
		return nil, err
	}
	if before["state.json"] == after["state.json"] {
		return nil, fmt.Errorf("cannot measure: the daemon says that %s moved, but its state.json did not change", dir)
	}
	return s.floorRun(n).general(written(before, after, "requests/"+requestID(n)+"/response.json")), nil
}

// floorRun returns the n-th waiting run in the form for the floor.
func (s *site) floorRun(n int) floorRun {
	return floorRun{Dir: s.run("waiting", n), Watch: s.request(n), Own: []string{requestID(n), "{request}"}}
}

// rival is the floor beside a site: the same runs in a workspace of its own.
type rival struct {
	site
	floor *program
}

// beside starts a floor that makes the same changes to the disk for the same
// number of runs.
func (b *bench) beside(name string, waiting int, s shape, whole bool) (*rival, error) {
	w, err := b.fresh(name)
	if err != nil {
		return nil, err
	}
	r := &rival{site: site{workspace: w, waiting: waiting}}
	job := floorJob{Root: w.root, Answer: "response.json", Rounds: []shape{s}, Syncfs: whole}
	err = many(waiting, func(n int) error {
		if err := w.waiting(n, 5); err != nil {
			return err
		}
		return w.write(r.request(n)+"/request.json", "{}\n")
	})
	if err != nil {
		return nil, err
	}
	for n := range waiting {
		job.Runs = append(job.Runs, r.floorRun(n))
	}
	r.floor, err = startFloor(job)
	return r, err
}

func (r *rival) close() error {
	r.floor.stop()
	return os.RemoveAll(r.root)
}
