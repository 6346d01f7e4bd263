package layout

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pgregory.net/rapid"
	"placet/templates"
)

const session = ".afl/sessions/abc12345"

func TestEveryFolderWithASessionsNameIsARun(t *testing.T) {
	var listed []string
	files := lister(
		".afl/sessions/abc12345/meta.json",
		".afl/sessions/A.b_c-9/state.json",
		".afl/sessions/empty/x/y",
		".afl/sessions/"+strings.Repeat("x", 64)+"/meta.json",
		// Never a session:
		".afl/sessions/index.json/meta.json",
		".afl/sessions/delegations/a/status.json",
		".afl/sessions/unknown/delegations/a/status.json",
		".afl/sessions/file.json",
		".afl/sessions/-a/meta.json",
		".afl/sessions/.a/meta.json",
		".afl/sessions/a b/meta.json",
		".afl/sessions/a.bak/meta.json",
		".afl/sessions/a.problem.md/meta.json",
		".afl/sessions/"+strings.Repeat("x", 65)+"/meta.json",
		".afl/state/abc12345/meta.json",
	)
	runs, err := AFL{}.Runs(func(dir string) ([]Entry, error) {
		listed = append(listed, dir)
		entries, err := files(dir)
		return append(entries, Entry{Name: "link", Link: true}), err
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range runs {
		got = append(got, r.ID)
		if r.Family != "afl" || r.Dir != ".afl/sessions/"+r.ID || r.State != r.Dir+"/state.json" || r.Class != "" || r.Locks != nil {
			t.Errorf("%+v", r)
		}
		if at, ok := (AFL{}).At(r.State); !ok || !cmp.Equal(at, r) {
			t.Errorf("%s is in %+v, %v", r.State, at, ok)
		}
	}
	if diff := cmp.Diff([]string{"A.b_c-9", "abc12345", "empty", strings.Repeat("x", 64)}, got); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff((AFL{}).Roots(), listed); diff != "" {
		t.Errorf("every listed folder is watched (-want +got):\n%s", diff)
	}
}

func TestPathToSession(t *testing.T) {
	for _, p := range []string{session, session + "/state.json", session + "/delegations/a/iterations/1/result.json"} {
		if run, ok := (AFL{}).At(p); !ok || run.ID != "abc12345" || run.Dir != session {
			t.Errorf("%s: %+v, %v", p, run, ok)
		}
	}
	for _, p := range []string{
		"", ".afl", ".afl/sessions", ".afl/sessions/", ".afl/sessions/index.json", ".afl/sessions/unknown/delegations/a/status.json",
		".afl/sessions/../x/state.json", ".afl/sessions/.x", ".afl/config.json", ".afl/sessionsx/a/state.json", "x/.afl/sessions/a",
	} {
		if run, ok := (AFL{}).At(p); ok {
			t.Errorf("%s is in run %+v", p, run)
		}
	}
}

func TestFilesOfASession(t *testing.T) {
	run, _ := AFL{}.At(session)
	const mega = 1 << 20
	at := func(name string) string { return "delegations/coupon-a/iterations/12/" + name }
	for rel, want := range map[string]struct {
		kind   string
		writer Writer
		format Format
		limit  int64
	}{
		"meta.json":                           {"meta", Upstream, JSON, mega},
		"specs/checkpoints.yaml":              {"checkpoints-yaml", Person, Text, mega},
		"specs/checkpoints.yml":               {"checkpoints-yml", Person, Text, mega},
		"specs/contracts.md":                  {"contracts", Person, Text, mega},
		"specs/architecture.md":               {"architecture", Person, Text, mega},
		"architecture.md":                     {"architecture", Person, Text, mega},
		"checkpoints/coupon-a.json":           {"checkpoint", Person, JSON, mega},
		"checkpoints/coupon a.json":           {"checkpoint", Person, JSON, mega}, // its id is bad, and a finding says so
		"checkpoints/status.json.json":        {"checkpoint", Person, JSON, mega},
		"contracts/coupon-a/CouponService.ts": {"contract-file", Person, Text, mega},
		"contracts/coupon-a/a b (1)":          {"contract-file", Person, Text, mega},
		"control.json":                        {"control", Person, JSON, mega},
		"review.json":                         {"review", Agent, JSON, mega},
		"review-2.json":                       {"review", Agent, JSON, mega},
		"state.json":                          {"state", Placet, JSON, 16 * mega},
		"events.jsonl":                        {"events", Placet, Text, mega},
		"changes.md":                          {"changes", Placet, Text, mega},
		"report.md":                           {"report", Placet, Text, mega},
		"delegations/status.json":             {"status", Placet, JSON, mega},
		"delegations/coupon-a/status.json":    {"status", Placet, JSON, mega},
		"delegations/coupon-a/routing.json":   {"routing", Placet, JSON, mega},
		"delegations/c/escalation.md":         {"escalation-md", Placet, Text, mega},
		"delegations/c/escalation.json":       {"escalation-json", Placet, JSON, mega},
		"delegations/c/pending-question.json": {"pending-question", Upstream, JSON, mega},
		at("prompt.md"):                       {"prompt", Placet, Text, mega},
		at("worker.json"):                     {"worker", Agent, JSON, mega},
		at("worker-run.json"):                 {"worker-run", Placet, JSON, mega},
		at("worker-run-2.json"):               {"worker-run", Placet, JSON, mega},
		at("oracle-run.json"):                 {"oracle-run", Placet, JSON, mega},
		at("review-run-2.json"):               {"review-run", Placet, JSON, mega},
		at("checkpoint-review.json"):          {"checkpoint-review", Agent, JSON, mega},
		at("answer.md"):                       {"answer", Placet, Text, mega},
		at("result.json"):                     {"result", Anyone, JSON, 16 * mega},
		at("validation.json"):                 {"validation", Placet, JSON, 2 * mega},
		at("validation-999999999.json"):       {"validation", Placet, JSON, 2 * mega},
		at("analysis.json"):                   {"analysis", Agent, JSON, mega},
		at("verdict.json"):                    {"verdict", Placet, JSON, mega},
		at("verdict-10.json"):                 {"verdict", Placet, JSON, mega},
		at("feedback.md"):                     {"feedback", Placet, Text, mega},
		"requests/escalation-0a1b/form.md":    {"form", Reviewer, Text, mega},
		"requests/escalation-0a1b/problem.md": {"problem", Placet, Text, mega},

		"problems/.claude--afl.yaml.problem.md":                    {"problem", Placet, Text, mega},
		"problems/.afl--state--current-delegation.json.problem.md": {"problem", Placet, Text, mega},
		"state.json.problem.md":                                    {"problem", Placet, Text, mega},
		"specs/checkpoints.yaml.problem.md":                        {"problem", Placet, Text, mega},
		"review-2.json.problem.md":                                 {"problem", Placet, Text, mega},
		"contracts/coupon-a/x.ts.problem.md":                       {"problem", Placet, Text, mega},
		"delegations/status.json.problem.md":                       {"problem", Placet, Text, mega},
		at("result.json.problem.md"):                               {"problem", Placet, Text, mega},
		at("validation-2.json.problem.md"):                         {"problem", Placet, Text, mega},
	} {
		f, ok := AFL{}.File(run, rel)
		if want.kind == "events" {
			if f.End <= 0 || f.End > want.limit {
				t.Errorf("%d bytes of %s are read", f.End, rel)
			}
			f.End = 0
		}
		if diff := cmp.Diff(File{Kind: want.kind, Writer: want.writer, Format: want.format, Limit: want.limit, Request: f.Request, Once: f.Once}, f); !ok || diff != "" {
			t.Errorf("%s, %v (-want +got):\n%s", rel, ok, diff)
		}
		for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
			if !(AFL{}).Descend(run, dir) {
				t.Errorf("%s of %s is not looked into", dir, rel)
			}
		}
	}
}

func TestNoiseOfASession(t *testing.T) {
	run, _ := AFL{}.At(session)
	for _, rel := range []string{
		"", "state.json.tmp", "state.json~", ".placet-0a1b.tmp", "index.json", "conversation.md", "decisions.json", "final-result.json",
		"checkpoints.yaml", "specs/meta.json", "specs/sub/contracts.md", "contracts.md",
		"checkpoints/a.json.tmp", "checkpoints/.a.json", "checkpoints/a.yaml", "checkpoints/sub/a.json", "checkpoints/a.json.problem.md.tmp",
		"contracts/a", "contracts/a/x~", "contracts/a/.x", "contracts/a/b/x", "contracts/../x", "contracts/status.json/x", "contracts/a b/x",
		"review-1.json", "review-0.json", "review-02.json", "review-.json", "review-x.json", "review.md", "review-2.md", "reviews.json",
		"delegations/x.json", "delegations/a/state.json", "delegations/a/prompt.md", "delegations/status.json/routing.json",
		"delegations/a.tmp/status.json", "delegations/../status.json", "delegations/.a/status.json", "delegations/a/iterations/status.json",
		"delegations/a/iterations/0/prompt.md", "delegations/a/iterations/01/prompt.md", "delegations/a/iterations/null/prompt.md",
		"delegations/a/iterations/-1/prompt.md", "delegations/a/iterations/+1/prompt.md", "delegations/a/iterations/1000000000/prompt.md",
		"delegations/a/iterations/1/validation-1.json", "delegations/a/iterations/1/validation-02.json", "delegations/a/iterations/1/validation-2.md",
		"delegations/a/iterations/1/validation-1000000000.json", "delegations/a/iterations/1/review.json", "delegations/a/iterations/1/result-2.json",
		"delegations/a/iterations/1/prompt-2.md", "delegations/a/iterations/1/sub/result.json", "delegations/a/iterations/1/result.json.tmp",
		"problems/x.md", "problems/.problem.md", "problems/a/x.problem.md", "problems.problem.md", "x.problem.md", ".problem.md",
		"conversation.md.problem.md", "delegations/a/iterations/null/result.json.problem.md", "state.json.problem.md.problem.md", "contracts/a/.problem.md",
	} {
		if f, ok := (AFL{}).File(run, rel); ok {
			t.Errorf("%q is a document: %+v", rel, f)
		}
	}
	for _, dir := range []string{
		"", "x", "specs/sub", "checkpoints/a", "contracts/a/b", "contracts/status.json", "delegations/status.json", "delegations/.a", "delegations/a.tmp",
		"delegations/a/x", "delegations/a/iterations/null", "delegations/a/iterations/0", "delegations/a/iterations/01", "delegations/a/iterations/1/x",
		"delegations/a/iterations/1/2/3", "problems/x", "requests/.x", "requests/a/b", "delegations/../x",
	} {
		if (AFL{}).Descend(run, dir) {
			t.Errorf("%q is looked into", dir)
		}
	}
}

func TestIDsOfSessionsAndCheckpoints(t *testing.T) {
	for id, want := range map[string][2]bool{
		"a": {true, true}, "abc12345": {true, true}, "A.b_c-9": {true, true}, "status": {true, true}, "a.json": {true, true},
		strings.Repeat("a", 64): {true, true}, "null": {true, true},
		"status.json": {true, false}, "index.json": {false, true}, "delegations": {false, true}, "unknown": {false, true},
		"": {}, ".": {}, "..": {}, "../x": {}, "a/b": {}, ".a": {}, "-a": {}, "_a": {}, "a b": {}, "a\n": {}, "ä": {}, "a\u202eb": {},
		"a.tmp": {}, "a.bak": {}, "a.problem.md": {}, strings.Repeat("a", 65): {},
	} {
		if IsAFLSession(id) != want[0] || IsAFLCheckpoint(id) != want[1] {
			t.Errorf("%.70q names a session: %v, a checkpoint: %v", id, IsAFLSession(id), IsAFLCheckpoint(id))
		}
	}
}

func TestNumberedNamesThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stem := rapid.SampledFrom([]string{"worker-run", "validation", "verdict", "review", "oracle-run", "review-run"}).Draw(t, "stem")
		k := rapid.IntRange(1, 999_999_999).Draw(t, "k")
		name := AFLNumbered(stem, k, ".json")
		if s, n, ok := AFLNumber(name); !ok || s != stem || n != k {
			t.Fatalf("%s is %s number %d, %v", name, s, n, ok)
		}
		if want := fmt.Sprintf("%s-%d.json", stem, k); k > 1 && name != want {
			t.Fatalf("%s, expected %s", name, want)
		}
		cp := rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9._-]{0,20}`).Filter(IsAFLCheckpoint).Draw(t, "cp")
		rel := AFLIteration(cp, k, name)
		if c, n, base, ok := AFLPlace(rel); !ok || c != cp || n != k || base != name {
			t.Fatalf("%s is %s of attempt %d of %s, %v", rel, base, n, c, ok)
		}
		if _, known := (AFL{}).File(Run{}, rel); known != (stem != "review") {
			t.Fatalf("%s is a document: %v", rel, known)
		}
	})
	for name, want := range map[string]string{"validation": "validation.json", "review": "review.json"} {
		if got := AFLNumbered(name, 1, ".json"); got != want {
			t.Errorf("%s, expected %s", got, want)
		}
	}
	if cp, n, name, ok := AFLPlace("delegations/a/escalation.md"); !ok || cp != "a" || n != 0 || name != "escalation.md" {
		t.Errorf("%s %d %s %v", cp, n, name, ok)
	}
	for _, rel := range []string{"", "delegations", "delegations/a", "delegations/a/", "delegations/a/iterations", "delegations/a/iterations/1", "delegations/a/iterations/1/", "delegations/a/iterations/x/y", "specs/a/b", "delegations/a/b/c", "delegations/a/b/1/c"} {
		if cp, n, name, ok := AFLPlace(rel); ok {
			t.Errorf("%s is %s of attempt %d of %s", rel, name, n, cp)
		}
	}
}

func TestLitterIsNamed(t *testing.T) {
	files := lister(
		session+"/meta.json",
		session+"/delegations/status.json",
		session+"/delegations/coupon-a/iterations/1/prompt.md",
		session+"/delegations/coupon-a/iterations/null/result.json",
		session+"/delegations/coupon-a/iterations/01/result.json",
		session+"/delegations/a b/iterations/null/result.json",
		session+"/delegations/.hidden/x",
		".afl/sessions/delegations/a/status.json",
		".afl/sessions/unknown/delegations/a/iterations/null/x",
		".afl/sessions/a b/meta.json",
		".afl/sessions/.git/x",
		".afl/sessions/abc12345.bak/meta.json",
		".afl/sessions/index.json",
	)
	got, err := AFL{}.Misplaced(files)
	want := []Misplaced{
		{".afl/sessions/a b", templates.Untranslated(`the session's name "a b" does not match ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`), true},
		{session + "/delegations/a b", templates.Untranslated(`"a b" cannot name a checkpoint`), false},
		{session + "/delegations/coupon-a/iterations/01", templates.Untranslated(`"01" is no number of an attempt`), false},
		{session + "/delegations/coupon-a/iterations/null", templates.Untranslated(`"null" is no number of an attempt`), false},
		{".afl/sessions/abc12345.bak", templates.Untranslated(`the session's name "abc12345.bak" looks like that of a backup or a note`), true},
		{".afl/sessions/delegations", templates.Untranslated(`"delegations" is no session's name: upstream's hooks make it`), false},
		{".afl/sessions/unknown", templates.Untranslated(`"unknown" is no session's name: upstream's hooks make it`), false},
	}
	if diff := cmp.Diff(want, got, cmp.Transformer("words", templates.Message.String)); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestAFolderThatCannotBeListedIsAnError(t *testing.T) {
	closed := errors.New("closed")
	files := lister(session + "/delegations/a/iterations/1/prompt.md")
	for _, dir := range []string{".afl/sessions", session + "/delegations", session + "/delegations/a/iterations"} {
		ls := func(d string) ([]Entry, error) {
			if d == dir {
				return nil, closed
			}
			return files(d)
		}
		if _, err := (AFL{}).Misplaced(ls); !errors.Is(err, closed) {
			t.Errorf("%s: %v", dir, err)
		}
		if _, err := (AFL{}).Runs(ls); errors.Is(err, closed) != (dir == ".afl/sessions") {
			t.Errorf("runs: %s: %v", dir, err)
		}
	}
}
