package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine/optimizer"
)

// These tests are about cycles whose database cannot be written, or was made by others.

// ownTables is the database of upstream, written from the format page alone.
const ownTables = "../../../engine/sqlite/testdata/pagealone.sql"

const (
	nearRoot, farRoot = ".mso-context", "workspace/.mso-context"
	nearRun           = nearRoot + "/active/20260302-msowd-near/optimizer/"
	farRun            = farRoot + "/active/20260302-msowd-far/optimizer/"
)

// newCycle makes a run of level 10, all but its trigger.
func (p *place) newCycle(dir string) {
	p.write(dir+"inputs/assets.json", `{}`)
	p.write(dir+"suggestions.json", `{"suggestions": [{"text": "희귀 라벨"}, {"text": "fewer masks"}]}`)
}

func (p *place) trigger(dir, workflow string) {
	p.saved(dir+"trigger.json", fmt.Sprintf(`{"workflow_name": %q}`, workflow))
}

// newWorkspace makes a workspace with two runs, one in each root.
func newWorkspace(t *testing.T, settings string) *place {
	t.Helper()
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "workspace"), 0)
	p.write("placet.toml", "")
	p.write("../home-workspace/placet/placet.toml", settings)
	p.newCycle(nearRun)
	p.newCycle(farRun)
	return p
}

// asked waits until a cycle asks, and returns the folder of its request and its id.
func (p *place) asked(dir string) (folder, id string) {
	p.t.Helper()
	p.until(dir+" asks", func() bool {
		id = p.cycle(dir + "state.json").RequestID
		folder = dir + "requests/" + id + "/"
		return id != "" && p.there(folder+"form.md")
	})
	return folder, id
}

// reaches waits until a cycle has its goal.
func (p *place) reaches(dir string) {
	p.t.Helper()
	p.until(dir+" has its goal", func() bool {
		return p.cycle(dir+"state.json").Status == "goal" && p.there(dir+"goal.json")
	})
}

// row is a cycle's row for a table, as audit.json has it.
func (p *place) row(dir, table string) (row optimizer.Row) {
	for _, r := range p.audit(dir) {
		if r.Table == table {
			return r
		}
	}
	return row
}

// lockDatabase locks a database until the function that it returns is called.
func (p *place) lockDatabase(name string) (unlock func()) {
	p.t.Helper()
	db := p.database(name)
	if _, err := db.Exec("BEGIN EXCLUSIVE"); err != nil {
		p.t.Fatal(err)
	}
	held := true
	unlock = func() {
		if !held {
			return
		}
		held = false
		if _, err := db.Exec("ROLLBACK"); err != nil {
			p.t.Error(err)
		}
		db.Close()
	}
	p.t.Cleanup(unlock)
	return unlock
}

// tables makes a database from the tables that others have written down.
func (p *place) tables(name string, more ...string) {
	p.t.Helper()
	script, err := os.ReadFile(ownTables)
	if err != nil {
		p.t.Fatal(err)
	}
	p.write(name, "")
	db := p.database(name)
	defer db.Close()
	for _, statements := range append([]string{string(script)}, more...) {
		if _, err := db.Exec(statements); err != nil {
			p.t.Fatal(err)
		}
	}
}

// Another process keeps both databases locked. An answer still makes its goal, and its row is
// still owed. A report's row is tried again, and the request opens once it is in.
// PLACET_TORTURE=full waits until the row is given up as pending.
func TestTortureRowsWaitForALockedDatabase(t *testing.T) {
	p := newWorkspace(t, "")
	p.tables(farRoot+"/audit_global.db", "PRAGMA journal_mode=WAL") // the row is collected while the database is locked
	d := p.start()
	defer func() { d.stop(syscall.SIGTERM) }()
	p.await(d)
	p.trigger(nearRun, "near")
	folder, id := p.asked(nearRun)
	unlockNear, unlockFar := p.lockDatabase(nearRoot+"/audit_global.db"), p.lockDatabase(farRoot+"/audit_global.db")
	p.answer(folder, id, judgements[byForm])
	p.trigger(farRun, "far")
	p.reaches(nearRun)
	if row := p.row(nearRun, "user_feedback"); row.Settled() {
		t.Errorf("the row is %s while the database is locked", row.Outcome)
	}
	p.tried(nearRun, "user_feedback")
	p.tried(farRun, "audit_logs")
	if st := p.cycle(farRun + "state.json"); st.Status != "reporting" || !p.there(farRun+"level10_report.md") {
		t.Errorf("the cycle whose row is owed is %s", st.Status)
	}
	long := os.Getenv("PLACET_TORTURE") == "full"
	if long {
		p.givenUp(nearRun, "user_feedback")
		p.givenUp(farRun, "audit_logs")
		folder, id = p.asked(farRun)
		p.answer(folder, id, judgements[bySecond])
		p.reaches(farRun)
	}
	unlockNear()
	unlockFar()
	if long { // the daemon's own next try is ten minutes away, that of placet watch --once is now
		if out, code := p.placet("optimizer", "replay"); code != 0 {
			t.Errorf("replay: %d: %s", code, out)
		}
		d.stop(syscall.SIGTERM)
		p.once(0)
	} else {
		folder, id = p.asked(farRun)
		p.answer(folder, id, judgements[bySecond])
	}
	p.until("all rows are in", func() bool { return p.settled(nearRun) && p.settled(farRun) })
	p.until("the list of pending rows is gone", func() bool {
		return !p.there(nearRun+"audit-pending.jsonl") && !p.there(farRun+"audit-pending.jsonl")
	})
	p.reaches(farRun)
	d.stop(syscall.SIGTERM)
	p.verifyDatabase(nearRoot+"/audit_global.db", []string{nearRun})
	p.verifyDatabase(farRoot+"/audit_global.db", []string{farRun})
	p.clean()
}

// tried waits until a row was tried, and checks that it is still owed.
func (p *place) tried(dir, table string) {
	p.t.Helper()
	var row optimizer.Row
	p.until("the "+table+" row of "+dir+" was tried", func() bool {
		row = p.row(dir, table)
		return row.Tries > 0
	})
	next, err := time.Parse(time.RFC3339, string(row.NextTryAt))
	if row.Outcome != "owed" || err != nil || next.Before(time.Now().Add(-time.Minute)) || !strings.Contains(string(row.LastError), "is locked by another program") {
		p.t.Errorf("%saudit.json: %s after %d tries, next at %q: %q", dir, row.Outcome, row.Tries, row.NextTryAt, row.LastError)
	}
}

// givenUp waits until a row is given up as pending, and checks that it is listed.
func (p *place) givenUp(dir, table string) {
	p.t.Helper()
	p.until("the "+table+" row of "+dir+" is pending", func() bool { return p.row(dir, table).Outcome == "pending" })
	var line struct{ Table, ID string }
	body := p.read(dir + "audit-pending.jsonl")
	if row := p.row(dir, table); json.Unmarshal([]byte(body), &line) != nil || line.Table != table || line.ID != row.ID || row.Tries != 5 {
		p.t.Errorf("%s is pending after %d tries, audit-pending.jsonl: %s", row.ID, row.Tries, body)
	}
}

// clean checks that no work of placet is left, and that all is well.
func (p *place) clean() {
	p.t.Helper()
	if left := append(p.leftOvers(), p.notes()...); len(left) > 0 {
		p.t.Errorf("left: %v", left)
	}
	if out, code := p.placet("check"); code != 0 {
		p.t.Errorf("check: %d: %s", code, out)
	}
}

// A database made by others gets the rows of an answer and of a late one, by its rules, and
// nothing else in it changes.
func TestADatabaseOfThePageAloneTakesTheRows(t *testing.T) {
	p := newWorkspace(t, "[optimizer.workflows]\n\"far\" = { hitl_timeout = \"1s\" }\n")
	const near, far = nearRoot + "/audit_global.db", farRoot + "/audit_global.db"
	var before [2][][]string
	for i, name := range []string{near, far} {
		p.tables(name)
		before[i] = p.shape(name)
	}
	d := p.start()
	defer func() { d.stop(syscall.SIGTERM) }()
	p.await(d)
	p.trigger(nearRun, "near")
	p.trigger(farRun, "far")
	folder, id := p.asked(nearRun)
	p.answer(folder, id, judgements[byForm])
	p.reaches(nearRun)
	p.reaches(farRun)
	goal := p.read(farRun + "goal.json")
	late, id := p.asked(farRun)
	p.answer(late, id, judgements[bySilence])
	p.until("all rows are in", func() bool { return p.settled(nearRun) && p.settled(farRun) })
	d.stop(syscall.SIGTERM)
	p.verifyDatabase(near, []string{nearRun})
	p.verifyDatabase(far, []string{farRun})
	for i, name := range []string{near, far} {
		if diff := cmp.Diff(before[i], p.shape(name)); diff != "" {
			t.Errorf("%s was altered (-before +after):\n%s", name, diff)
		}
	}
	if !p.there(late+"late.json") || p.read(farRun+"goal.json") != goal {
		t.Errorf("after the late answer goal.json is %s, it was %s", p.read(farRun+"goal.json"), goal)
	}
	if diff := cmp.Diff([]string{late + "problem.md"}, p.notes()); diff != "" {
		t.Errorf("problem notes (-want +got):\n%s", diff)
	}
}

// shape returns everything in a database except its rows.
func (p *place) shape(name string) [][]string {
	p.t.Helper()
	db := p.database(name)
	defer db.Close()
	return append(p.ask(db, "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"), slices.Concat(p.ask(db, "PRAGMA user_version"), p.ask(db, "PRAGMA application_id"))...)
}
