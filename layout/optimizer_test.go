package layout

import (
	"errors"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	cycle    = ".mso-context/active/20260302-msowd-sop-masking/optimizer"
	putAway  = ".mso-context/archive/2026-03/20260302-msowd-sop-masking/optimizer"
	misnamed = ".mso-context/active/20260302-MSOWD-x/optimizer"
)

// optimizerTree lists what upstream, agents, people and placet keep in both
// roots.
var optimizerTree = []string{
	".mso-context/audit_global.db",
	".mso-context/audit_global.db-wal",
	".mso-context/active/20260302-msowd-sop-masking/manifest.json",
	cycle + "/trigger.json",
	".mso-context/active/20260303-msowd-no-cycle-yet/manifest.json",
	".mso-context/active/20260304-other-key/60_observability/callback-1.json",
	".mso-context/active/20260302-MSOWD-x/optimizer/trigger.json",
	".mso-context/active/20260302 희귀/optimizer/trigger.json",
	".mso-context/archive/2026-03/20260302-msowd-sop-masking/optimizer/goal.json",
	".mso-context/archive/2026-02/20260202-msowd-sop-masking/optimizer/goal.json",
	"workspace/.mso-context/active/20260302-msowd-sop-masking/optimizer/trigger.json",
	"workspace/.mso-context/archive/2026-01/20260102-msowd-x/optimizer/state.json",
	// Never a run:
	".mso-context/active/20260302-MSOWD-y/manifest.json",
	".mso-context/active/20260302-MSOWD-z/optimizer/state.json",
	".mso-context/active/20260302-MSOWD-link.tmp/optimizer/trigger.json",
	".mso-context/active/.hidden/optimizer/trigger.json",
	".mso-context/active/a\u202eb/optimizer/trigger.json",
	".mso-context/active/20260302-MSOWD-w/optimizer/trigger.json/x",
	".mso-context/active/registry.json",
	".mso-context/archive/2026-03/20260303-msowd-no-cycle/manifest.json",
	".mso-context/archive/2026-03/20260303-MSOWD-x/optimizer/trigger.json",
	".mso-context/archive/2026-3/20260303-msowd-x/optimizer/goal.json",
	".mso-context/archive/20260303-msowd-x/optimizer/goal.json",
	"other/.mso-context/active/20260302-msowd-x/optimizer/trigger.json",
}

func TestCyclesAreFoundInBothRootsAndTheArchive(t *testing.T) {
	var listed []string
	files := lister(optimizerTree...)
	runs, err := Optimizer{}.Runs(func(dir string) ([]Entry, error) {
		listed = append(listed, dir)
		entries, err := files(dir)
		return append(entries, Entry{Name: "20260302-msowd-link", Link: true}), err
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, r := range runs {
		got = append(got, r.Class+" "+r.ID)
		if r.Family != "optimizer" || r.State != r.Dir+"/state.json" || path.Base(r.Dir) != "optimizer" || r.Locks != nil || i > 0 && runs[i-1].Dir >= r.Dir {
			t.Errorf("%+v", r)
		}
		if at, ok := (Optimizer{}).At(r.State); ok == (r.Class == OptimizerMisnamed) || ok && !cmp.Equal(at, r) {
			t.Errorf("%s is in %+v, %v", r.State, at, ok)
		}
	}
	if diff := cmp.Diff([]string{
		"misnamed .mso-context/active/20260302 희귀",
		"misnamed .mso-context/active/20260302-MSOWD-x",
		" 20260302-msowd-sop-masking",
		" 20260303-msowd-no-cycle-yet",
		" 20260304-other-key",
		"archived 20260202-msowd-sop-masking@2026-02",
		"archived 20260302-msowd-sop-masking@2026-03",
		" workspace/20260302-msowd-sop-masking",
		"archived workspace/20260102-msowd-x@2026-01",
	}, got); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	turned, err := Optimizer{Folders: []string{OptimizerRoots[1], OptimizerRoots[0]}}.Runs(files)
	if diff := cmp.Diff(runs, turned); err != nil || diff != "" {
		t.Errorf("the order of the roots decides, %v (-first +turned):\n%s", err, diff)
	}
	for _, dir := range listed {
		below := false
		for _, root := range (Optimizer{}).Roots() {
			below = below || Under(dir, root)
		}
		if !below {
			t.Errorf("%s is listed and lies below no root", dir)
		}
	}
	for _, root := range (Optimizer{}).Roots() {
		if !strings.Contains(strings.Join(listed, "\n"), root) {
			t.Errorf("%s is not listed: %q", root, listed)
		}
	}
}

func TestOtherRootsHaveIDsOfTheirOwn(t *testing.T) {
	o := Optimizer{Folders: []string{"a/.mso-context", "mso", "a/second", "b/c/.mso-context"}}
	seen := map[string]string{}
	for _, root := range o.Folders {
		for _, rest := range []string{"/active/20260302-msowd-x/optimizer", "/archive/2026-03/20260302-msowd-x/optimizer/goal.json"} {
			run, ok := o.At(root + rest)
			if !ok || seen[run.ID] != "" {
				t.Errorf("%s has the id %q of %s", root+rest, run.ID, seen[run.ID])
			}
			seen[run.ID] = root + rest
		}
	}
	for _, id := range []string{"a/20260302-msowd-x", "20260302-msowd-x", "a/second/20260302-msowd-x@2026-03", "b/c/20260302-msowd-x"} {
		if seen[id] == "" {
			t.Errorf("no run %s in %v", id, seen)
		}
	}
	if run, ok := o.At(cycle); ok {
		t.Errorf("a run below no root: %+v", run)
	}
}

func TestPathToCycle(t *testing.T) {
	for p, id := range map[string]string{
		cycle: "20260302-msowd-sop-masking", cycle + "/state.json": "20260302-msowd-sop-masking", cycle + "/requests/x/form.md": "20260302-msowd-sop-masking",
		"workspace/" + cycle: "workspace/20260302-msowd-sop-masking", putAway + "/goal.json": "20260302-msowd-sop-masking@2026-03",
	} {
		if run, ok := (Optimizer{}).At(p); !ok || run.ID != id || !Under(p, run.Dir) {
			t.Errorf("%s: %+v, %v", p, run, ok)
		}
	}
	for _, p := range []string{
		"", ".mso-context", ".mso-context/active", path.Dir(cycle), path.Dir(cycle) + "/manifest.json", path.Dir(cycle) + "/optimizers/x", misnamed + "/trigger.json",
		path.Dir(putAway), ".mso-context/archive/2026-13a/20260302-msowd-x/optimizer", ".mso-context/active/../active/20260302-msowd-x/optimizer",
		".mso-context/archive/20260302-msowd-x/optimizer", "x/" + cycle, ".mso-contexts/active/20260302-msowd-x/optimizer", "workspace/active/20260302-msowd-x/optimizer",
	} {
		if run, ok := (Optimizer{}).At(p); ok {
			t.Errorf("%s is in run %+v", p, run)
		}
	}
}

func TestFilesOfACycle(t *testing.T) {
	const mega = 1 << 20
	type file struct {
		kind   string
		writer Writer
		format Format
		limit  int64
	}
	files := map[string]file{
		"trigger.json":                  {"trigger", Either, JSON, mega},
		"inputs/assets.json":            {"assets", Agent, JSON, mega},
		"inputs/kpi.json":               {"kpi", Agent, JSON, mega},
		"inputs/level-error.json":       {"level-error", Anyone, JSON, mega},
		"stop.json":                     {"stop", Anyone, JSON, mega},
		"retrieved.jsonl":               {"retrieved", Either, Text, mega},
		"suggestions.json":              {"suggestions", Agent, JSON, mega},
		"state.json":                    {"state", Placet, JSON, 16 * mega},
		"context.json":                  {"context", Placet, JSON, mega},
		"decision.json":                 {"decision", Placet, JSON, mega},
		"attempts/30-1.json":            {"attempt", Placet, JSON, mega},
		"attempts/20-12.json":           {"attempt", Placet, JSON, mega},
		"attempts/30-1.outcome.json":    {"outcome", Placet, JSON, mega},
		"level10_report.md":             {"report", Placet, Text, mega},
		"level20_report.md":             {"report", Placet, Text, mega},
		"level30_report.md":             {"report", Placet, Text, mega},
		"audit.json":                    {"audit", Placet, JSON, mega},
		"audit-pending.jsonl":           {"audit-pending", Placet, Text, mega},
		"goal.json":                     {"goal", Placet, JSON, mega},
		"optimizer_result.json":         {"result", Placet, JSON, mega},
		"events.jsonl":                  {"events", Placet, Text, mega},
		"tickets.json":                  {"tickets", Placet, JSON, mega},
		"requests/hitl-3f9a/late.json":  {"late", Placet, JSON, mega},
		"usage":                         {},
		"requests/hitl-3f9a/problem.md": {"problem", Placet, Text, mega},

		"requests/hitl-3f9a/request.json":            {"request", Placet, JSON, mega},
		"requests/hitl-3f9a/form.md":                 {"form", Reviewer, Text, mega},
		"requests/hitl-3f9a/response.json":           {"response", Anyone, JSON, mega},
		"requests/hitl-3f9a/receipt.json":            {"receipt", Placet, JSON, mega},
		"requests/hitl-3f9a/request.json.problem.md": {"problem", Placet, Text, mega},
	}
	for _, dir := range []string{cycle, "workspace/" + cycle, putAway} {
		run, ok := Optimizer{}.At(dir)
		if !ok {
			t.Fatal(dir)
		}
		for rel, want := range files {
			if want.kind != "" {
				checkDocument(t, run, rel, File{Kind: want.kind, Writer: want.writer, Format: want.format, Limit: want.limit})
			}
			if !strings.HasPrefix(rel, "requests/") || want.kind == "late" {
				checkDocument(t, run, rel+ProblemSuffix, File{Kind: "problem", Writer: Placet, Format: Text, Limit: mega})
			}
		}
	}
}

func checkDocument(t *testing.T, run Run, rel string, want File) {
	t.Helper()
	f, ok := Optimizer{}.File(run, rel)
	if want.Kind == "events" {
		if f.End <= 0 || f.End > want.Limit {
			t.Errorf("%d bytes of %s are read", f.End, rel)
		}
		f.End = 0
	}
	want.Once = want.Kind == "attempt" || want.Kind == "outcome"
	if strings.HasPrefix(rel, "requests/") && want.Kind != "problem" {
		want.Request = "hitl-3f9a"
	}
	if want.Kind == "problem" {
		f.Request = ""
	}
	if diff := cmp.Diff(want, f); !ok || diff != "" {
		t.Errorf("%s, %v (-want +got):\n%s", rel, ok, diff)
	}
	for dir := path.Dir(rel); ; dir = path.Dir(dir) {
		if !(Optimizer{}).Descend(run, dir) {
			t.Errorf("%s of %s is not looked into", dir, rel)
		}
		if dir == "." {
			return
		}
	}
}

func TestNoiseOfACycle(t *testing.T) {
	run, _ := Optimizer{}.At(cycle)
	for _, rel := range []string{
		"", ".", "trigger.json.tmp", "state.json~", ".placet-0a1b.tmp", ".state.json", "usage", "usage.md", "assets.json", "kpi.json", "level-error.json",
		"inputs/stop.json", "inputs/trigger.json", "inputs/sub/kpi.json", "inputs/assets.json.part", "inputs", "attempts", "requests",
		"trigger.agent-collaboration.json", "inputs/kpi.agent-collaboration.json", "callbacks-20260302.json", "process/state.json", "process/goal.json",
		"llm-as-a-judge/state.json", "jewels/goal.json", "jewels/x.json", "audit_global.db", "audit_global.db-wal", "audit.db-shm", "audit.db-journal",
		"level00_report.md", "level1_report.md", "level40_report.md", "level030_report.md", "level20_report.md.bak", "level20-report.md", "level_report.md",
		"attempts/10-0.json", "attempts/30-01.json", "attempts/40-1.json", "attempts/30.json", "attempts/30-.json", "attempts/-1.json", "attempts/30-1.outcomes.json",
		"attempts/30-1.outcome", "attempts/30-1.outcome.outcome.json", "attempts/30-1-2.json", "attempts/sub/30-1.json", "attempts/30-1000000000.json", "attempts/30-1.json.tmp",
		"late.json", "requests/late.json", "requests/.x/late.json", "requests/x/y/late.json", "requests/x/goal.json", "requests/x/late.json.tmp",
		"x.problem.md", ".problem.md", "problem.md", "manifest.json", "manifest.json.problem.md", "inputs/usage.problem.md", "usage.md.problem.md",
		"goal.json.problem.md.problem.md", "usage.problem.md.problem.md", "requests/x/form.md.problem.md", "requests/x/response.json.problem.md",
		"../manifest.json", "inputs/../goal.json",
	} {
		if f, ok := (Optimizer{}).File(run, rel); ok {
			t.Errorf("%q is a document: %+v", rel, f)
		}
	}
	for _, dir := range []string{"", "x", "process", "llm-as-a-judge", "jewels", "inputs/x", "attempts/30-1", "requests/.x", "requests/a/b", "..", "inputs/.."} {
		if (Optimizer{}).Descend(run, dir) {
			t.Errorf("%q is looked into", dir)
		}
	}
}

func TestOfAMisnamedCycleTheTriggerAloneIsKnown(t *testing.T) {
	run := Run{Family: "optimizer", ID: path.Dir(misnamed), Dir: misnamed, Class: OptimizerMisnamed, State: misnamed + "/state.json"}
	for _, rel := range []string{"trigger.json", "trigger.json.problem.md", "state.json"} {
		if f, ok := (Optimizer{}).File(run, rel); !ok {
			t.Errorf("%s is no document: %+v", rel, f)
		}
	}
	for _, rel := range []string{"goal.json", "inputs/kpi.json", "attempts/30-1.json", "requests/x/form.md", "requests/x/late.json", "usage.problem.md", "goal.json.problem.md"} {
		if f, ok := (Optimizer{}).File(run, rel); ok {
			t.Errorf("%s is a document: %+v", rel, f)
		}
	}
	for _, dir := range []string{"inputs", "attempts", "requests", "requests/x"} {
		if (Optimizer{}).Descend(run, dir) {
			t.Errorf("%s is looked into", dir)
		}
	}
}

func TestARootThatCannotBeListedIsAnError(t *testing.T) {
	closed := errors.New("closed")
	files := lister(optimizerTree...)
	for _, dir := range []string{
		".mso-context/active", ".mso-context/archive", ".mso-context/archive/2026-03", path.Dir(putAway), misnamed, "workspace/.mso-context/active",
	} {
		if _, err := (Optimizer{}).Runs(func(d string) ([]Entry, error) {
			if d == dir {
				return nil, closed
			}
			return files(d)
		}); !errors.Is(err, closed) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
