package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/optimizer"
	"placet/engine/sqlite"
)

// These functions make the optimisation cycles of a population. Of four ended
// cycles, three are in the archive, as upstream leaves them after a week; the rows
// of all are in the audit database.

// mouldCycle is the run of which the mould of a cycle is made.
const mouldCycle = "20261120-msowd-mould-of-a-cycle"

// cycleRoot contains the cycles of a population, and cycleDatabase their rows.
const (
	cycleRoot     = ".mso-context"
	cycleDatabase = cycleRoot + "/audit_global.db"
)

// cycleFiles are the files of a cycle whose digests other files contain, each
// after those whose digests it contains itself; * stands for the request.
var cycleFiles = []string{"context.json", "level10_report.md", "requests/*/request.json", "requests/*/response.json"}

// shownDigest is the name of the digest of what was shown.
const shownDigest = "shown"

// mouldOfCycle returns a cycle whose report a person has judged.
func (w workspace) mouldOfCycle() (mould, error) {
	dir := cycleRoot + "/active/" + mouldCycle + "/optimizer"
	for name, text := range map[string]string{"inputs/assets.json": "{}\n", "trigger.json": "{\"workflow_name\": \"nightly\"}\n"} {
		if err := w.write(dir+"/"+name, text); err != nil {
			return mould{}, err
		}
	}
	if err := w.settle(); err != nil {
		return mould{}, err
	}
	forms, err := filepath.Glob(filepath.Join(w.root, dir, "requests/hitl-*/form.md"))
	if err != nil || len(forms) != 1 {
		return mould{}, fmt.Errorf("cannot make a mould: the cycle asks nothing: %v", err)
	}
	request := filepath.Base(filepath.Dir(forms[0]))
	text := strings.NewReplacer("{request}", request, `"comment": "Watch the disk of node {n}",`, `"comment": "",`).Replace(cycleAnswer)
	if err := w.write(dir+"/requests/"+request+"/response.json", text); err != nil {
		return mould{}, err
	}
	if err := w.settle(); err != nil {
		return mould{}, err
	}
	known, err := w.cycleParticulars(dir, request)
	if err != nil {
		return mould{}, err
	}
	m, err := press(filepath.Join(w.root, dir), known, func(string) bool { return false })
	return m, errors.Join(err, os.RemoveAll(filepath.Join(w.root, cycleRoot)))
}

// cycleParticulars returns what distinguishes an ended cycle from another one.
func (w workspace) cycleParticulars(dir, request string) (particulars, error) {
	var st struct {
		Status     string `json:"status"`
		AuditID    string `json:"audit_id"`
		FeedbackID string `json:"feedback_id"`
		Requests   []struct {
			View engine.Digest `json:"view"`
		} `json:"requests"`
	}
	body, err := os.ReadFile(filepath.Join(w.root, dir, "state.json"))
	if err == nil {
		err = json.Unmarshal(body, &st)
	}
	if err != nil || st.Status != "goal" || len(st.Requests) != 1 {
		return nil, fmt.Errorf("cannot make a mould: the cycle has no goal: %v\n%.500s", err, body)
	}
	known := particulars{
		"run": mouldCycle, "request": request, shownDigest: st.Requests[0].View.Hex(),
		"audit": hexOf(st.AuditID), "feedback": hexOf(st.FeedbackID),
	}
	for _, name := range cycleFiles {
		body, err := os.ReadFile(filepath.Join(w.root, dir, strings.Replace(name, "*", request, 1)))
		if err != nil {
			return nil, err
		}
		known[name] = engine.Sum(body).Hex()
	}
	return known, nil
}

// hexOf returns the last eight digits of an id.
func hexOf(id string) string { return id[max(0, len(id)-8):] }

// endedCycleRun returns the run id of the n-th run if it is an ended cycle.
func endedCycleRun(n int) string { return fmt.Sprintf("20261120-msowd-nightly-%08d", n) }

// cycleParticularsOf returns those of the n-th run, computed from a mould's files.
func cycleParticularsOf(m mould, n int) particulars {
	run := endedCycleRun(n)
	hash := func(revision int, purpose string) string {
		return engine.Sum(fmt.Appendf(nil, "optimizer\n%s\n%d\n%s", run, revision, purpose)).Hex()[:8]
	}
	who := particulars{
		"run": run, "request": "hitl-" + hash(5, "hitl"),
		"audit": strings.ToUpper(hash(4, "audit")), "feedback": strings.ToUpper(hash(6, "feedback")),
	}
	for _, name := range cycleFiles {
		for _, f := range m.files {
			if fillPieces(f.name, particulars{"request": "*"}) != name {
				continue
			}
			body := []byte(fillPieces(f.body, who))
			who[name] = engine.Sum(body).Hex()
			if strings.HasSuffix(name, "/request.json") {
				who[shownDigest] = gate.Digest(body, []string{who["level10_report.md"]}, 0).Hex()
			}
		}
	}
	return who
}

// endedCycle makes the n-th run an ended optimisation cycle.
func (c casting) endedCycle(n int) error {
	place := "active"
	if n%4 != 0 {
		place = "archive/2026-11"
	}
	who := cycleParticularsOf(c.endedCycles, n)
	dir := cycleRoot + "/" + place + "/" + who["run"] + "/optimizer"
	if err := c.cast(c.endedCycles, dir, who); err != nil {
		return err
	}
	body, err := os.ReadFile(filepath.Join(c.root, dir, "audit.json"))
	if err != nil {
		return err
	}
	audit, err := optimizer.ReadAudit(body)
	if err != nil {
		return err
	}
	return c.rows.add(audit.Rows)
}

// ledger is the audit database of a population.
type ledger struct {
	mu        sync.Mutex // rows are added one after the other
	databases *sqlite.Databases
}

func newLedger(w workspace) *ledger { return &ledger{databases: sqlite.New(w.root)} }

func (l *ledger) add(rows []optimizer.Row) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, row := range rows {
		if end := l.databases.Do(row.Into(cycleDatabase)); end.Result != "done" {
			return fmt.Errorf("cannot make a population: the row %s is %s: %s", row.ID, end.Result, end.Reason)
		}
	}
	return nil
}

func (l *ledger) rest() { l.databases.Release(cycleDatabase) }
