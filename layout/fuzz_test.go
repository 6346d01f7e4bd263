package layout

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// hostileNames are names that become paths, or that an attacker hopes will.
var hostileNames = []string{
	"", ".", "..", "/", "//", "a/../b", "../../etc/passwd", "a\x00b", "a\nb", "a\r\nb", "\u202etxt.nosj", "a\u200bb", "\x1b[2J", `"`, "'", "`x`", "$(x)",
	"-rf", "~", ".git", "con", strings.Repeat("a", 300), strings.Repeat("é", 64), "a b", "a%2f..", "A", "status.json", "index.json", "state.json",
	"3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34", "3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c3/", "------------------------------------", "fr-20251206-a1b2c3",
	"response.sync-conflict-20251206-181500-ABCDEFG.json", "form-deadbeef.md", ".placet-1.tmp", "x.tmp", "x.problem.md", "001-step_start.json",
	"000-x.json", "1e9-x.json", "9999999999-x.json", "validation-2.json", "validation-02.json", "review-1.json", "iterations", "null", "0", "01", "-1",
	"20260302-msowd-sop-masking", "20260302-MSOWD-x", "20260302-msowd-x@2026-03", "2026-03", "20260302 희귀", "30-1.json", "30-01.json", "20-2.outcome.json",
	"escalation-1.json", "result-01.json", "0001-impl-query.json", "trigger.json", "late.json", "usage.problem.md", "callback-1.json", "x.agent-collaboration.json", "jewels",
}

// FuzzNames checks that a name leads only to the place of its run: not out of the
// root, not through dot parts, and not to two places.
func FuzzNames(f *testing.F) {
	for _, name := range hostileNames {
		f.Add(".fractary/faber/runs/acme/web/"+name, name, "state.json")
		f.Add(".afl/sessions/"+name, "requests/"+name+"/response.json", "delegations/"+name+"/iterations/1/result.json")
		f.Add(name+"/.afl/sessions/a/x", "checkpoints/"+name, "contracts/a/"+name)
		f.Add(".fractary/runs/"+name, "events/"+name, "actions/resume-r"+name+"/attempt.json")
		f.Add(".mso-context/active/"+name+"/optimizer", "attempts/"+name, "requests/"+name+"/late.json")
		f.Add("workspace/.mso-context/archive/2026-03/"+name+"/optimizer/x", name+".problem.md", "inputs/"+name)
		f.Add(".nemawashi/actions/"+name, "intake/"+name+"/command.json", "jobs/"+name+"/1/"+name)
		f.Add(".nemawashi/actions/7/"+name, "drafts/"+name, "requests/apr-0123456789ab/"+name)
		f.Add(PalRoot+"/"+name, "sessions/build/"+name+"/impl/result-1.json", "channels/a/messages/"+name)
		f.Add(PalRoot+"/a/"+name, "sessions/build/a/impl/"+name, "sessions/build/a/"+name+"/session.json")
		f.Add(".mso-context/archive/"+name+"/20260302-msowd-x/optimizer/state.json", name, "../"+name)
	}
	f.Fuzz(func(t *testing.T, p, name, rel string) {
		for _, family := range []Family{Faber{}, AFL{}, Optimizer{}, Ask{}, Nemawashi{}, Pal{}} {
			if run, ok := family.At(p); ok {
				if !Under(p, run.Dir) {
					t.Fatalf("%q does not lie in %+v", p, run)
				}
				checkRun(t, family, run, p)
				checkFile(t, family, run, rel)
				checkFile(t, family, run, name)
			}
			runs, err := family.Runs(listing(name, rel))
			if err != nil {
				t.Fatal(err)
			}
			for _, run := range runs {
				checkRun(t, family, run, run.State)
				checkFile(t, family, run, rel)
			}
		}
		checkWords(t, name)
		if Safe(p) && !Under(path.Join("workspace", p), "workspace") {
			t.Fatalf("%q is called safe and leads out", p)
		}
	})
}

// listing lists one folder, and one name in it, wherever it is called.
func listing(first, second string) Lister {
	return func(dir string) ([]Entry, error) {
		if strings.Count(dir, "/") > 6 {
			return nil, nil
		}
		return []Entry{{Name: first, Dir: true}, {Name: second, Dir: true}, {Name: "optimizer", Dir: true}, {Name: "state.json"}, {Name: "trigger.json"}, {Name: second}, {Name: first, Link: true}}, nil
	}
}

// checkRun asserts that a run is below a root of its family, under plain names,
// and is found again by its own paths.
func checkRun(t *testing.T, family Family, run Run, p string) {
	t.Helper()
	below := false
	for _, root := range family.Roots() {
		below = below || strings.HasPrefix(run.Dir, root+"/")
	}
	if !below || path.Clean(run.Dir) != run.Dir || !Under(run.State, run.Dir) || path.Clean(run.State) != run.State || !Safe(run.State) {
		t.Fatalf("%s: %q leads to %+v", family.Name(), p, run)
	}
	for _, part := range strings.Split(run.State, "/") {
		if len(part) > 255 || strings.IndexFunc(part, unplain) >= 0 && run.Class != OptimizerMisnamed || strings.IndexFunc(part, unseen) >= 0 {
			t.Fatalf("%s: %q in the path of %+v", family.Name(), part, run)
		}
	}
	if f, ok := family.File(run, strings.TrimPrefix(run.State, run.Dir+"/")); !ok || f.Kind != KindStateFile {
		t.Fatalf("%s: the state document of %+v is %+v", family.Name(), run, f)
	}
	if at, ok := family.At(p); ok {
		for _, again := range []string{run.State, run.Dir, run.Dir + "/requests/x/response.json"} {
			if same, ok := family.At(again); !ok || same.State != run.State || same.ID != at.ID {
				t.Fatalf("%s: %q is of %+v, and %q of %+v", family.Name(), p, at, again, same)
			}
		}
	}
}

// unplain reports whether a character may not be in a run's path.
func unplain(r rune) bool {
	return r > '~' || r < '!' || strings.ContainsRune(`"'\`+"`$", r)
}

// unseen reports whether a character cannot be shown unchanged: a person who
// reads a misnamed run's name must see all of it.
func unseen(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }

// checkFile asserts that a document is where the loader goes, under its only
// name, with a size limit, and that its note is known, too.
func checkFile(t *testing.T, family Family, run Run, rel string) {
	t.Helper()
	f, ok := family.File(run, rel)
	if (Pal{}).Volatile(run, rel) && ok && family.Name() == "pal" {
		t.Fatalf("%q is volatile, and a %s", rel, f.Kind)
	}
	if !ok {
		return
	}
	if path.Clean(rel) != rel || path.IsAbs(rel) || rel == "." || strings.HasPrefix(rel, "../") || f.Kind == "" || f.Writer == "" || f.Limit <= 0 {
		t.Fatalf("%s: %q is %+v", family.Name(), rel, f)
	}
	if IsTemp(path.Base(rel)) || f.Kind != KindProblem && f.Kind != FaberNextID && strings.HasPrefix(path.Base(rel), ".") {
		t.Fatalf("%s: %q is somebody's temporary file, and a %s", family.Name(), rel, f.Kind)
	}
	for dir := path.Dir(rel); ; dir = path.Dir(dir) {
		if !family.Descend(run, dir) {
			t.Fatalf("%s: nobody looks into %q, where %q lies", family.Name(), dir, rel)
		}
		if dir == "." {
			break
		}
	}
	if f.Kind == KindProblem {
		if f.Writer != Placet {
			t.Fatalf("%s: the note %q is %s's", family.Name(), rel, f.Writer)
		}
		return
	}
	note := rel + ProblemSuffix
	if f.Request != "" && f.Kind != KindRequest && f.Kind != FaberPosted {
		note = path.Join(path.Dir(rel), "problem.md")
	}
	known, ok := family.File(run, note)
	if f.Writer != Placet && f.Kind != FaberNextID && run.Class != FaberSuffix && (!ok || known.Kind != KindProblem) {
		t.Fatalf("%s: a note on %q (%s) would stand at %q, which is %+v", family.Name(), rel, f.Kind, note, known)
	}
}

// checkWords asserts the functions for each kind of name.
func checkWords(t *testing.T, name string) {
	t.Helper()
	if IsRequestID(name) && (len(name) > 100 || strings.ContainsAny(name, "/\\ \n\"'") || name[0] == '.' || !utf8.ValidString(name)) {
		t.Fatalf("%q names a request", name)
	}
	if (IsAFLSession(name) || IsAFLCheckpoint(name) || IsPalID(name)) && (len(name) > 64 || strings.ContainsAny(name, "/\\ \n\"'") || Noise(name)) {
		t.Fatalf("%q names a session, a checkpoint, an orchestration or a port", name)
	}
	if n, typ, ok := FaberEventName(name); ok && (n < 0 || typ == "" || !strings.HasSuffix(name, "-"+typ+".json")) {
		t.Fatalf("%q is event %d of type %q", name, n, typ)
	}
	if stem, k, ok := AFLNumber(name); ok && AFLNumbered(stem, k, ".json") != name {
		t.Fatalf("%q is number %d of %q", name, k, stem)
	}
	if n, err := strconv.Atoi(name); err == nil {
		if count, ok := parseCount(name); ok && (count != n || n < 1 || strconv.Itoa(n) != name) {
			t.Fatalf("%q counts as %d", name, count)
		}
	}
	checkOptimizerWords(t, name)
	if seq, role, typ, ok := PalMessageName(name); ok && name != fmt.Sprintf("%04d-%s-%s", seq, role, typ) {
		t.Fatalf("%q is message %d of %s, a %s", name, seq, role, typ)
	}
	rel := "delegations/" + name + "/iterations/" + name + "/result.json"
	if cp, n, file, ok := AFLPlace(rel); ok && AFLIteration(cp, n, file) != rel {
		t.Fatalf("%q is %s of attempt %d of %q", rel, file, n, cp)
	}
}

// checkOptimizerWords is checkWords for the names of cycles.
func checkOptimizerWords(t *testing.T, name string) {
	t.Helper()
	if date, key, slug, ok := OptimizerParts(name); ok != IsOptimizerRunID(name) || ok && (date+"-"+key+"-"+slug != name || !isPrintableName(name) || strings.Contains(name, "@")) {
		t.Fatalf("%q is run %q of %q on %q, %v", name, slug, key, date, ok)
	}
	switch level, n, outcome, ok := OptimizerAttempt("attempts/" + name); {
	case ok && outcome && OptimizerOutcomeFile(level, n) != "attempts/"+name, ok && !outcome && OptimizerAttemptFile(level, n) != "attempts/"+name:
		t.Fatalf("%q is attempt %d of level %d", name, n, level)
	}
}
