package layout

import (
	"path"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const uuid = "3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34"

// lister lists folders of a tree that is described by its files.
func lister(files ...string) Lister {
	return func(dir string) ([]Entry, error) {
		names := map[string]bool{}
		for _, f := range files {
			if rel, ok := strings.CutPrefix(f, dir+"/"); ok {
				name, _, below := strings.Cut(rel, "/")
				names[name] = names[name] || below
			}
		}
		var entries []Entry
		for name, isDir := range names {
			entries = append(entries, Entry{Name: name, Dir: isDir})
		}
		sort.Slice(entries, func(i, j int) bool { return entries[i].Name < entries[j].Name })
		return entries, nil
	}
}

func TestRunsAreFoundAndForeignOnesKnown(t *testing.T) {
	runs, err := Faber{}.Runs(lister(
		".fractary/faber/runs/acme/web/"+uuid+"/state.json",
		".fractary/plugins/faber/runs/acme/web/"+uuid+"/state.json",
		".fractary/plugins/faber/runs/acme/old/"+uuid+"/state.json",
		".fractary/faber/runs/plan-a/state.json",
		".fractary/faber/runs/plan-a/state-one.json",
		".fractary/faber/runs/plan-b/suffix/state.json",
		".fractary/runs/plan-c-run-2026-01-07/state.json",
		// Never a run:
		".fractary/faber/runs/backups/state.json",
		".fractary/faber/runs/.batch-state.json",
		".fractary/faber/runs/ACME/web/"+uuid+"/state.json",
		".fractary/faber/runs/acme/web/not-a-uuid/state.json",
		".fractary/faber/runs/acme/web/"+strings.ToUpper(uuid)+"/state.json",
		".fractary/faber/state.json",
		".fractary/faber/runs/"+strings.Repeat("x", 300)+"/state.json",
	))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range runs {
		got = append(got, r.Class+" "+r.ID)
	}
	want := []string{
		" acme/web/" + uuid,
		"plan .fractary/faber/runs/plan-a",
		"suffix .fractary/faber/runs/plan-a/state-one.json",
		"plan .fractary/faber/runs/plan-b/suffix",
		" acme/old/" + uuid,
		"shadowed .fractary/plugins/faber/runs/acme/web/" + uuid,
		"plan .fractary/runs/plan-c-run-2026-01-07",
	}
	sort.Strings(want)
	sort.Strings(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPathToRunAndBack(t *testing.T) {
	dir := ".fractary/faber/runs/acme/web/" + uuid
	for _, p := range []string{dir, dir + "/state.json", dir + "/requests/fr-1/form.md"} {
		run, ok := Faber{}.At(p)
		if !ok || run.Dir != dir || run.ID != "acme/web/"+uuid || run.State != dir+"/state.json" || len(run.Locks) != 2 {
			t.Errorf("%s: %+v, %v", p, run, ok)
		}
	}
	for _, p := range []string{"", "specs/x.md", ".fractary/faber/runs", ".fractary/faber/runs/acme/web", ".fractary/faber/runs/../../x/y/" + uuid} {
		if run, ok := (Faber{}).At(p); ok {
			t.Errorf("%s is in run %+v", p, run)
		}
	}
}

func TestFilesOfARun(t *testing.T) {
	run, _ := Faber{}.At(".fractary/faber/runs/acme/web/" + uuid)
	for rel, want := range map[string]string{
		"state.json": "state shared", "metadata.json": "metadata upstream", "cancel.json": "cancel reviewer",
		"issue.json": "issue agent", "resume.md": "resume placet", "context.md": "context placet",
		"events/001-step_start.json": "event shared", "events/1234-x.json": "event shared", "events/.next-id": "next-id shared",
		"events/000-x.json": "bad-event shared", "events/x.json": "bad-event shared",
		"requests/fr-1/request.json": "request placet", "requests/fr-1/form.md": "form reviewer",
		"requests/fr-1/form-0a1b2c3d.md": "form reviewer", "requests/fr-1/response.json": "response anyone",
		"requests/fr-1/receipt.json": "receipt placet", "requests/fr-1/problem.md": "problem placet",
		"requests/fr-1/posted.json": "posted either", "requests/fr-1/posted-0123abcd.json": "posted either", "requests/fr-1/issue-comment.md": "issue-comment placet", "requests/fr-1/issue-comment-0123abcd.md": "issue-comment placet", "requests/fr-1/posted.json.problem.md": "problem placet",
		"requests/fr-1/request.json.problem.md": "problem placet", "state.json.problem.md": "problem placet",
		"requests/fr-1/response.sync-conflict-20261120-120000-ABCDEFG.json": "response-copy anyone",
		"actions/resume-r2/attempt.json":                                    "attempt placet", "actions/resume-r2/outcome.json": "outcome placet",
		"gates/release.json": "gate agent", "gates/build.a%2Fb.json": "gate agent", "gates/nowhere.x.json": "gate agent",
		"gates/release.pass.json": "gate-pass placet", "gates/build.a.b.pass.json": "gate-pass placet",
		"actions/resume-r2.2/attempt.json": "attempt placet", "actions/post-fr-1/attempt.json": "attempt placet", "actions/post-fr-1/again-1.json": "again reviewer", "actions/reply-gh-7.2/outcome.json": "outcome placet",
		"comments/gh-7.json": "comment anyone", "comments/gh-7.receipt.json": "comment-receipt placet", "comments/gh-7.reply.md": "comment-reply placet", "comments/gh-7.posted.json": "posted either",
	} {
		f, ok := Faber{}.File(run, rel)
		if got := f.Kind + " " + string(f.Writer); !ok || got != strings.ToLower(want) {
			t.Errorf("%s is %q, %v; expected %q", rel, got, ok, want)
		}
		if !(Faber{}).Descend(run, path.Dir(rel)) {
			t.Errorf("the folder of %s is not looked into", rel)
		}
		if f.Limit <= 0 {
			t.Errorf("%s has no limit", rel)
		}
	}
	for _, rel := range []string{
		"state.json.tmp", "state.json.lock", "state.json~", "events/.next-id.lock", "events/001-x.json.tmp", "events/sub/001-x.json",
		"requests/../state.json", "requests/.x/form.md", "requests/fr-1/form.md~", "requests/fr-1/form-xyz.md", "plan.json", "backups/state.json",
		"resume.txt", ".x.problem.md", "actions/x/attempt.json", "elsewhere/a.problem.md",
		"gates/.x.json", "gates/a..json", "gates/x.md", "gates/Build.json", "gates/build.%zz.json", "gates/build.x.json.tmp",
	} {
		if f, ok := (Faber{}).File(run, rel); ok {
			t.Errorf("%s is a document: %+v", rel, f)
		}
	}
}

// The name of a call leads back to what it is about, and no call has the name of a reply.
func TestGateFiles(t *testing.T) {
	run, _ := Faber{}.At(".fractary/faber/runs/acme/web/" + uuid)
	for _, step := range []string{"", "merge-pr", "a/b", "pass", "x.pass", "a.b", "../x", "é", "100%", "A B"} {
		call, reply := FaberGateFiles("build", step)
		phase, got, ok := FaberGateName(path.Base(call))
		if !ok || phase != "build" || got != step || path.Dir(call) != FaberGates {
			t.Errorf("%q: %s is about %s:%q, %v", step, call, phase, got, ok)
		}
		if f, ok := (Faber{}).File(run, call); !ok || f.Kind != FaberGate {
			t.Errorf("%s: %+v, %v", call, f, ok)
		}
		if f, ok := (Faber{}).File(run, reply); !ok || f.Kind != FaberPass {
			t.Errorf("%s: %+v, %v", reply, f, ok)
		}
	}
}

func TestEventNames(t *testing.T) {
	for name, want := range map[string]int{"001-a.json": 1, "016-feedback_received.json": 16, "1000-a.json": 1000, "000-a.json": 0} {
		if n, _, ok := FaberEventName(name); !ok || n != want {
			t.Errorf("%s: %d, %v", name, n, ok)
		}
	}
	for _, name := range []string{"1-a.json", "01-a.json", "001_a.json", "001-A.json", "001-a.txt", "0000000001-a.json", "9999999999-a.json"} {
		if n, _, ok := FaberEventName(name); ok {
			t.Errorf("%s is event %d", name, n)
		}
	}
}

func TestRequestFileNames(t *testing.T) {
	if got := RequestPath("r", "fr-1", "form.md"); got != "r/requests/fr-1/form.md" {
		t.Error(got)
	}
	if got := FormView(strings.Repeat("0a1b2c3d", 8)); got != "form-0a1b2c3d.md" {
		t.Error(got)
	}
}

// eventPattern is the pattern with which the names of events were matched at
// first.
var eventPattern = regexp.MustCompile(`^(\d{3,9})-([a-z_]+)\.json$`)

func TestEventNamesAreThoseOfThePattern(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.StringMatching(`[0-9]{0,11}-?[a-z_]{0,4}(\.json)?[\n-]?`), rapid.String()).Draw(t, "name")
		number, typ, ok := FaberEventName(name)
		m := eventPattern.FindStringSubmatch(name)
		if ok != (m != nil) {
			t.Fatalf("%q is one: %t", name, ok)
		}
		if want := 0; ok {
			if want, _ = strconv.Atoi(m[1]); number != want || typ != m[2] {
				t.Fatalf("%q: %d, %q", name, number, typ)
			}
		}
	})
}
