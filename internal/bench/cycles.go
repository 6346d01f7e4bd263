package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The answer about a cycle's report becomes the goal of the next cycle: one
// transition with receipt, goal and result, and a row that is still to be added to
// the audit database. The measurement is how many of them become durable per
// second if all answers arrive at once; the rows are added in parallel.

// cycleSettings make a cycle ask at once.
const cycleSettings = "[optimizer]\nlanguage = \"en\"\ninputs_wait = \"0s\"\n"

// cycleAnswer says that the level was right, and leaves something to do.
const cycleAnswer = `{
  "request_id": "{request}",
  "response": "appropriate",
  "selected": [],
  "comment": "Watch the disk of node {n}",
  "provided_by": {"user": "jmcwilliam", "source": "file"}
}
`

// cycleRun returns the run id of the n-th cycle, each of its own workflow.
func cycleRun(n int) string { return fmt.Sprintf("20261120-msowd-workflow-%05d", n) }

// cycleDir returns the folder of the n-th cycle.
func cycleDir(n int) string { return ".mso-context/active/" + cycleRun(n) + "/optimizer" }

// asksForCycle writes what an agent leaves for the n-th cycle.
func (w workspace) asksForCycle(n int) error {
	kpi := fmt.Sprintf("{\"metrics\": [{\"name\": \"uptime\", \"value\": %d}]}\n", 95+n%5)
	for _, f := range [][2]string{
		{"inputs/assets.json", "{\"analysis_script\": null}\n"}, {"inputs/kpi.json", kpi},
		{"trigger.json", fmt.Sprintf("{\"workflow_name\": \"workflow-%05d\"}\n", n)},
	} {
		if err := w.write(cycleDir(n)+"/"+f[0], f[1]); err != nil {
			return err
		}
	}
	return nil
}

// reports are cycles whose reports wait for a person, or a floor beside them.
type reports struct {
	workspace
	program *program
	ids     []string // of the requests
}

// openReports makes cycles and lets placet bring each to its question.
func (b *bench) openReports(name string, n int) (*reports, error) {
	w, err := b.fresh(name)
	if err != nil {
		return nil, err
	}
	if err := w.write("placet.toml", cycleSettings); err != nil {
		return nil, err
	}
	if err := many(n, w.asksForCycle); err != nil {
		return nil, err
	}
	if err := b.once(w); err != nil {
		return nil, err
	}
	r := &reports{workspace: w}
	for i := range n {
		forms, err := filepath.Glob(filepath.Join(w.root, cycleDir(i), "requests/hitl-*/form.md"))
		if err != nil || len(forms) != 1 {
			return nil, fmt.Errorf("cannot measure: placet did not ask about the report of %s: %v", cycleRun(i), err)
		}
		r.ids = append(r.ids, filepath.Base(filepath.Dir(forms[0])))
	}
	r.program, err = startServing(b.placet, w.root, judged)
	return r, err
}

// judged selects the transitions that an answer about a report causes.
func judged(t transition) (string, bool) { return t.Run, t.Of == "cycle" && t.Event == "answered" }

// answerDir returns the folder of the n-th cycle's request, relative to the workspace.
func (r *reports) answerDir(n int) string { return cycleDir(n) + "/requests/" + r.ids[n] }

// stage writes the n-th answer under a name that nobody reads.
func (r *reports) stage(n int) (from, to string, err error) {
	dir := filepath.Join(r.root, r.answerDir(n))
	from, to = filepath.Join(dir, ".response.json.tmp"), filepath.Join(dir, "response.json")
	text := strings.NewReplacer("{request}", r.ids[n], "{n}", fmt.Sprint(n)).Replace(cycleAnswer)
	return from, to, os.WriteFile(from, []byte(text), 0o644)
}

// floorRun returns the n-th cycle in the form for the floor.
func (r *reports) floorRun(n int) floorRun {
	return floorRun{Dir: cycleDir(n), Watch: r.answerDir(n), Own: []string{r.ids[n], "{request}"}}
}

// learn answers the n-th report and returns what its transition put on disk. The
// list of pending rows is one of its files, although it is written once more when
// the row is added; goal and result come with the commit after it.
func (r *reports) learn(n int) (shape, error) {
	const owed = "audit.json"
	dir := filepath.Join(r.root, cycleDir(n))
	before, err := stamps(dir)
	if err != nil {
		return nil, err
	}
	from, to, err := r.stage(n)
	if err != nil {
		return nil, err
	}
	if err := os.Rename(from, to); err != nil {
		return nil, err
	}
	if _, err := r.program.next(); err != nil {
		return nil, err
	}
	after, err := stamps(dir)
	if err != nil {
		return nil, err
	}
	s := written(before, after, "requests/"+r.ids[n]+"/response.json")
	wrote := func(name string) bool {
		return slices.ContainsFunc(s, func(p piece) bool { return path.Base(p.Path) == name })
	}
	for _, name := range []string{"receipt.json", "state.json"} {
		if !wrote(name) {
			return nil, fmt.Errorf("cannot measure: the answer about %s wrote no %s but %v", cycleRun(n), name, s)
		}
	}
	if !wrote(owed) {
		s = append(shape{{Path: owed, Size: int(after[owed].size)}}, s...)
	}
	return r.floorRun(n).general(s), nil
}

// besideReports starts a floor that makes the same changes to the disk for the
// first n reports.
func (b *bench) besideReports(name string, like *reports, n int, s shape, whole bool) (*reports, error) {
	w, err := b.fresh(name)
	if err != nil {
		return nil, err
	}
	r := &reports{workspace: w, ids: like.ids}
	job := floorJob{Root: w.root, Answer: "response.json", Rounds: []shape{s}, Syncfs: whole}
	for i := range n {
		if err := w.write(r.answerDir(i)+"/request.json", "{}\n"); err != nil {
			return nil, err
		}
		job.Runs = append(job.Runs, r.floorRun(i))
	}
	r.program, err = startFloor(job)
	return r, err
}

// burst answers the first n reports as fast as files can be renamed, and waits
// until all runs have moved.
func (r *reports) burst(n int) (time.Duration, error) {
	froms, tos := make([]string, n), make([]string, n)
	for i := range n {
		var err error
		if froms[i], tos[i], err = r.stage(i); err != nil {
			return 0, err
		}
	}
	began := time.Now()
	for i := range n {
		if err := os.Rename(froms[i], tos[i]); err != nil {
			return 0, err
		}
	}
	seen := map[string]bool{}
	last := began
	for len(seen) < n {
		m, err := r.program.next()
		if err != nil {
			return 0, err
		}
		seen[m.run], last = true, m.at
	}
	return last.Sub(began), nil
}

func (r *reports) close() error {
	r.program.stop()
	return os.RemoveAll(r.root)
}

// burstOfReports is O1: the answers about many cycles at once.
func (b *bench) burstOfReports() error {
	n := b.cycles
	placet, err := b.openReports("placet", n+1)
	if err != nil {
		return err
	}
	s, err := placet.learn(n)
	if err != nil {
		return err
	}
	sides := []*reports{placet, nil, nil}
	for i, name := range []string{"floor-fsync", "floor-syncfs"} {
		if sides[i+1], err = b.besideReports(name, placet, n, s, i == 1); err != nil {
			return err
		}
	}
	var rates []float64
	for _, side := range sides {
		took, err := side.burst(n)
		if err != nil {
			return err
		}
		rates = append(rates, float64(n)/took.Seconds())
	}
	floor, kind := rates[1], "fsync"
	if rates[2] > floor {
		floor, kind = rates[2], "syncfs"
	}
	b.table.note("O1", "an answer about a report writes", fmt.Sprintf("%d × %d B", len(s), s.bytes()/len(s)))
	b.table.rate("O1", fmt.Sprintf("burst of %d answers about reports (floor: %s)", n, kind), rates[0], floor, 0.6)
	for _, side := range sides {
		if err := side.close(); err != nil {
			return err
		}
	}
	return nil
}
