package cli_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"placet/engine/optimizer"
)

// archivings are the moments at which upstream archives a run.
var archivings = map[string]func(p *place, dir string){
	"begun":    func(p *place, dir string) { p.awaitFile(dir + "state.json") },
	"reported": func(p *place, dir string) { p.awaitFile(dir + "level10_report.md") },
	"asked":    func(p *place, dir string) { p.asked(dir) },
	"answered": func(p *place, dir string) {
		folder, id := p.asked(dir)
		p.answer(folder, id, judgements[byThird])
	},
	"answer taken": func(p *place, dir string) {
		folder, id := p.asked(dir)
		p.answer(folder, id, judgements[byThird])
		p.awaitFile(folder + "receipt.json")
	},
}

func (p *place) awaitFile(name string) {
	p.t.Helper()
	p.until(name+" is there", func() bool { return p.there(name) })
}

// Runs are archived while placet works on them: nothing of them is made again at the old place,
// those with an open cycle are reported as cut off, and they go on when they are brought back.
func TestARunPutAwayWhilePlacetWorksIsLeftAlone(t *testing.T) {
	p := newWorkspace(t, "")
	d := p.start()
	defer func() { d.stop(syscall.SIGTERM) }()
	p.await(d)
	for i, name := range sortedKeys(archivings) {
		run := fmt.Sprintf("20260302-msowd-run-%d", i)
		active, old := nearRoot+"/active/"+run, nearRoot+"/archive/2026-03/"+run
		p.newCycle(active + "/optimizer/")
		if err := os.MkdirAll(filepath.Join(p.root, filepath.Dir(old)), 0o755); err != nil {
			t.Fatal(err)
		}
		p.trigger(active+"/optimizer/", name)
		archivings[name](p, active+"/optimizer/")
		p.move(active, old)
		p.leftAlone(d, run)
		p.move(old, active)
		p.resumed(active + "/optimizer/")
	}
	d.stop(syscall.SIGTERM)
	p.swept()
	p.clean()
}

// swept waits until placet has removed the temporary files of interrupted commits.
func (p *place) swept() {
	p.t.Helper()
	p.until("temporary files are gone", func() bool {
		p.placet("once")
		return len(p.leftOvers()) == 0
	})
}

func sortedKeys[V any](m map[string]V) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (p *place) move(from, to string) {
	p.t.Helper()
	if err := os.Rename(filepath.Join(p.root, from), filepath.Join(p.root, to)); err != nil {
		p.t.Fatal(err)
	}
}

// leftAlone checks that an archived run does not move, while another cycle shows that placet
// works.
func (p *place) leftAlone(d *daemon, run string) {
	p.t.Helper()
	active, old := nearRoot+"/active/"+run, nearRoot+"/archive/2026-03/"+run
	p.another(run + "-before") // all pending writes are made
	before := p.tree(old)
	p.another(run)
	if p.there(active) {
		p.t.Errorf("%s was made anew: %v", active, p.tree(active))
	}
	if after := p.tree(old); after != before {
		p.t.Errorf("%s was written to in the archive:\n%s\nbefore:\n%s", run, after, before)
	}
	status, cut := p.cycle(old+"/optimizer/state.json").Status, "cut off in archive"
	if status == "goal" {
		cut = "goal"
	}
	for _, args := range [][]string{{"status", "--all"}, {"show", run + "@2026-03"}} {
		out, _ := p.placet(args...)
		lines := slices.DeleteFunc(strings.Split(out, "\n"), func(l string) bool { return args[0] == "status" && !strings.Contains(l, run+"@2026-03") })
		if said := strings.Join(lines, "\n"); !strings.Contains(said, cut) {
			p.t.Errorf("%v says, of a run put away in %s:\n%s", args, status, said)
		}
	}
}

// another brings a cycle to its request after a run was archived.
func (p *place) another(after string) {
	p.t.Helper()
	dir := farRoot + "/active/" + after + "/optimizer/"
	p.newCycle(dir)
	p.trigger(dir, "another "+after)
	folder, id := p.asked(dir)
	p.answer(folder, id, judgements[byThird])
	p.reaches(dir)
}

// tree returns a folder's files with their contents, as one text.
func (p *place) tree(dir string) string {
	p.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(filepath.Join(p.root, dir), func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var body []byte
			body, err = os.ReadFile(name)
			fmt.Fprintf(&b, "%s %q\n", name, body)
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return b.String()
}

// resumed checks that a cycle that was brought back reaches its goal and its rows.
func (p *place) resumed(dir string) {
	p.t.Helper()
	folder, id := p.asked(dir)
	if !p.there(folder+"response.json") && p.cycle(dir+"state.json").Status != "goal" {
		p.answer(folder, id, judgements[byThird])
	}
	p.reaches(dir)
	p.until("the rows of "+dir+" are in", func() bool { return p.settled(dir) })
	p.verifyWalk(dir, p.cycle(dir+"state.json"))
}

// Without a daemon, placet watch --once makes every step: to the request, and after the answer to goal
// and rows.
func TestOnceAloneDrivesACycle(t *testing.T) {
	p := newWorkspace(t, "")
	p.trigger(nearRun, "near")
	p.once(3)
	folder, id := p.asked(nearRun)
	if rows := p.audit(nearRun); len(rows) != 1 || rows[0].Outcome != "inserted" {
		t.Errorf("rows %+v", rows)
	}
	p.answer(folder, id, judgements[byForm])
	p.once(0)
	st := p.cycle(nearRun + "state.json")
	var g goalFile
	if err := json.Unmarshal([]byte(p.read(nearRun+"goal.json")), &g); err != nil || g.Next != 20 || !slices.Equal(g.Directives, []string{"희귀 라벨"}) {
		t.Errorf("goal %+v, %v", g, err)
	}
	if !p.settled(nearRun) || slices.ContainsFunc(p.audit(nearRun), func(r optimizer.Row) bool { return r.Tries != 1 }) {
		t.Errorf("rows %+v", p.audit(nearRun))
	}
	p.verifyWalk(nearRun, st)
	before := p.tree(nearRoot)
	p.once(0)
	if after := p.tree(nearRoot); after != before {
		t.Errorf("a placet with nothing to do has written:\n%s\nbefore:\n%s", after, before)
	}
	p.verifyDatabase(nearRoot+"/audit_global.db", []string{nearRun})
	p.clean()
}

// once runs placet watch --once, which must end with a code.
func (p *place) once(want int) {
	p.t.Helper()
	if out, code := p.placet("once"); code != want {
		p.t.Errorf("once: %d, want %d: %s", code, want, out)
	}
}
