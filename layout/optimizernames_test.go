package layout

import (
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestRunIDsOfCycles(t *testing.T) {
	for id, want := range map[string]bool{
		"20260302-msowd-sop-masking": true, "20260302-a-1": true, "99999999-z--": true, "20260302-msowd-" + strings.Repeat("x", 40): true,
		"20260302-" + strings.Repeat("k", 204) + "-" + strings.Repeat("x", 41): false, "20260302-" + strings.Repeat("k", 300) + "-x": false,
		"": false, "20260302-MSOWD-x": false, "20260302-msowd-X": false, "2026032-msowd-x": false, "20260302-msowd-": false, "20260302-msowd": false,
		"20260302-mso1-x": false, "20260302--x": false, "20260302-msowd-x_y": false, "20260302-msowd-" + strings.Repeat("x", 41): false,
		"20260302-msowd-x\n": false, "x20260302-msowd-x": false, "20260302-msowd-희귀": false, "20260302-msowd-x@2026-03": false, "２0260302-msowd-x": false,
	} {
		if IsOptimizerRunID(id) != want {
			t.Errorf("%.60q is a run id: %v", id, !want)
		}
		if _, _, _, ok := OptimizerParts(id); ok != want {
			t.Errorf("%.60q has parts: %v", id, ok)
		}
	}
	if date, key, slug, _ := OptimizerParts("20260302-msowd-sop-masking"); date != "20260302" || key != "msowd" || slug != "sop-masking" {
		t.Error(date, key, slug)
	}
	keys := OptimizerKeys()
	if len(keys) != 9 || !slices.Contains(keys, "msowd") || !slices.Contains(keys, "msopt") {
		t.Error(keys)
	}
	keys[0] = "changed"
	if slices.Contains(OptimizerKeys(), "changed") {
		t.Error("the known keys can be changed")
	}
}

func TestNamesOfCyclesThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		day := time.Date(rapid.IntRange(1000, 9999).Draw(t, "year"), time.Month(rapid.IntRange(1, 12).Draw(t, "month")), 1, 23, 59, 0, 0, time.UTC)
		key, slug := rapid.StringMatching(`[a-z]{1,9}`).Draw(t, "key"), rapid.StringMatching(`[a-z0-9-]{1,40}`).Draw(t, "slug")
		id := OptimizerName(day, key, slug)
		if d, k, s, ok := OptimizerParts(id); !ok || d != day.Format("20060102") || k != key || s != slug {
			t.Fatalf("%s is %s, %s, %s, %v", id, d, k, s, ok)
		}
		level, n := rapid.SampledFrom([]int{10, 20, 30}).Draw(t, "level"), rapid.IntRange(1, 999_999_999).Draw(t, "n")
		for rel, is := range map[string]bool{OptimizerAttemptFile(level, n): false, OptimizerOutcomeFile(level, n): true} {
			if l, k, outcome, ok := OptimizerAttempt(rel); !ok || l != level || k != n || outcome != is || path.Dir(rel) != "attempts" {
				t.Fatalf("%s is attempt %d of level %d, %v, %v", rel, k, l, outcome, ok)
			}
		}
	})
	late := time.Date(2026, 3, 2, 23, 30, 0, 0, time.FixedZone("", -3600))
	if got := OptimizerName(late, "msowd", "x"); got != "20260303-msowd-x" {
		t.Errorf("%s is not the day in UTC", got)
	}
}

// The path of a run's folder gives its neighbours, its root and upstream's files,
// whatever the root.
func TestPlacesAroundACycle(t *testing.T) {
	const id, other = "20260302-msowd-x", "20260301-msowd-y"
	for _, root := range []string{".mso-context", "workspace/.mso-context", "archive", "active", "x/archive/2026-01"} {
		o := Optimizer{Folders: []string{root}}
		for _, place := range []string{"active/" + id, "archive/2026-03/" + id} {
			dir := path.Join(root, place, "optimizer")
			run, ok := o.At(dir)
			if !ok || OptimizerRoot(dir) != root || OptimizerRunID(dir) != id {
				t.Errorf("%s is run %q of the root %q, %v", dir, OptimizerRunID(dir), OptimizerRoot(dir), ok)
			}
			neighbour, ok := o.At(OptimizerInActive(dir, other, "state.json"))
			if !ok || path.Dir(neighbour.ID) != path.Dir(run.ID) || path.Base(neighbour.ID) != other || neighbour.Dir != root+"/active/"+other+"/optimizer" {
				t.Errorf("beside %s lies %+v, %v", dir, neighbour, ok)
			}
			if got := OptimizerInActive(dir, other, "../manifest.json"); got != OptimizerManifest(neighbour.Dir) || got != root+"/active/"+other+"/manifest.json" {
				t.Errorf("the manifest beside %s is %s", dir, got)
			}
			for p, want := range map[string]bool{
				root + "/archive/2025-12/" + other + "/optimizer/requests/hitl-1/late.json": true, root + "/archive/x/" + other + "/optimizer/requests/hitl-1/late.json": false,
				root + "/active/" + other + "/optimizer/requests/hitl-1/late.json": false, root + "/archive/2025-12/" + id + "/optimizer/requests/hitl-1/late.json": false,
			} {
				if fits, err := path.Match(OptimizerInArchive(dir, other, "requests/*/late.json"), p); err != nil || fits != want {
					t.Errorf("%s is of the run %s: %v, %v", p, other, fits, err)
				}
			}
			checkOther(t, root, dir, other)
			if got := OptimizerDatabase(dir, ""); got != root+"/audit_global.db" {
				t.Errorf("the database is %s", got)
			}
			if got := OptimizerDatabase(dir, "{root}/{run_id}/50_audit/log.db"); got != root+"/"+id+"/50_audit/log.db" {
				t.Errorf("the database is %s", got)
			}
			if got := OptimizerTickets(dir); got != path.Join(root, place, "40_collaboration/task-context/tickets") {
				t.Errorf("the tickets are in %s", got)
			}
		}
	}
	if got := OptimizerUsage("docs/usage", "sop-masking-engine"); got != "docs/usage/sop-masking-engine.md" {
		t.Error(got)
	}
}

// checkOther asserts that the paths which are looked up for another run are
// recognized as that run's.
func checkOther(t *testing.T, root, dir, run string) {
	t.Helper()
	needs := OptimizerOther(dir, run)
	for i, p := range []string{"/active/" + run, "/archive/2025-12/" + run} {
		for _, name := range []string{"manifest.json", "optimizer/trigger.json", "optimizer/state.json", "optimizer/goal.json", "optimizer/requests/hitl-1/late.json"} {
			file := root + p + "/" + name
			if !slices.ContainsFunc(needs, func(need string) bool { fits, err := path.Match(need, file); return fits && err == nil }) {
				t.Errorf("%s is not looked up", file)
			}
			if OptimizerIsOther(dir, run, i == 0, file) || !OptimizerIsOther(dir, run, i == 1, file) || OptimizerIsOther(dir, run+"x", i == 1, file) || OptimizerIsOther("x/"+dir, run, i == 1, file) {
				t.Errorf("whose %s is, is not known", file)
			}
		}
	}
	if bad := root + "/archive/old/" + run + "/manifest.json"; len(needs) != 10 || OptimizerIsOther(dir, run, true, bad) {
		t.Errorf("%d needs, or %s is a run's", len(needs), bad)
	}
}

func TestCallbacksOfACycle(t *testing.T) {
	folder := path.Dir(cycle) + "/60_observability/"
	for name, want := range map[string]bool{
		"callback-1.json": true, "callback-hitl_request-20260302T091407Z.json": true,
		"callbacks-1.json": false, "callback.json": false, "callback-1.json.tmp": false, ".callback-1.json": false,
		"callback-1.agent-collaboration.json": false, "x/callback-1.json": false, "Callback-1.json": false,
	} {
		fits, err := path.Match(OptimizerCallbacks(cycle), folder+name)
		if err != nil || (fits && IsOptimizerCallback(folder+name)) != want {
			t.Errorf("%s is a callback: %v, %v, %v", name, fits, IsOptimizerCallback(folder+name), err)
		}
	}
}
