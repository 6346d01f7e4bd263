package layout

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Every temporary name that was measured is noise, and no document is; a
// synchroniser's conflict copy is neither.
func TestMeasuredTemporaryNamesAreNoise(t *testing.T) {
	body, err := os.ReadFile("../testdata/save-patterns.json")
	if err != nil {
		t.Fatal(err)
	}
	var patterns struct {
		Temp []struct{ Regex, From string } `json:"temp_names"`
	}
	if err := json.Unmarshal(body, &patterns); err != nil || len(patterns.Temp) == 0 {
		t.Fatalf("%d patterns: %v", len(patterns.Temp), err)
	}
	for _, name := range []string{
		".state.json.swp", "4913", "state.json~", ".#state.json", "#state.json#", "state.json.tmp", "state.json.temp",
		"state.json.tmp.4711.0a1b2c3d", "state.json.vsctmp", "state.json___jb_tmp___", "state.json___jb_old___",
		"state.jsona1B2c3.bck", ".state.json.Ab3dE9", "state.json.orig", "state.json.rej", "state.json.bak",
		".goutputstream-A1B2C3", ".syncthing.state.json.tmp", ".fuse_hidden0001", ".nfs00ab", ".DS_Store", "._state.json",
		"Thumbs.db", ".~lock.state.json#", "~$state.json", "state.json.lock", "state.json.part", ".placet-0123.tmp",
	} {
		if !Noise(name) {
			t.Errorf("%s is not noise", name)
		}
	}
	for _, name := range []string{"state.json", "form.md", "response.json", "001-step_start.json", "resume.md", "cancel.json"} {
		if Noise(name) || ConflictCopy(name) {
			t.Errorf("%s is noise or a copy", name)
		}
	}
	for _, name := range []string{"response.sync-conflict-20261120-120000-ABCDEFG.json", "response (kim's conflicted copy 2026-11-20).json"} {
		if !ConflictCopy(name) {
			t.Errorf("%s is no conflict copy", name)
		}
	}
}

// Paths from documents are looked up only below the workspace.
func TestSafe(t *testing.T) {
	for p, want := range map[string]bool{
		"specs/x.md": true, "a": true, "a/./b": true,
		"": false, ".": false, "/etc/passwd": false, "../x": false, "a/../../x": false, "a/..": false, "a\x00b": false, "a\nb": false,
		strings.Repeat("a/", 4000): false,
	} {
		if Safe(p) != want {
			t.Errorf("Safe(%.40q) = %v", p, !want)
		}
	}
}

func TestIsArtifact(t *testing.T) {
	for p, want := range map[string]bool{
		"a": true, "specs/a b.md": true, ".pal/x": true, "a/.git/x": true, ".gitignore": true,
		"": false, "/a": false, "../a": false, "a/../b": false, "a//b": false, "a/": false, "./a": false, ".git/config": false, ".GIT/config": false,
		".placet": false, ".placet/clock": false, "a*": false, "a?": false, "a[b]": false, `a\b`: false, "git:HEAD": false, "a\nb": false,
	} {
		if IsArtifact(p) != want {
			t.Errorf("%q may be shown: %v", p, !want)
		}
	}
}

func TestUnder(t *testing.T) {
	for _, c := range []struct {
		p, dir string
		want   bool
	}{{"a/b", "a", true}, {"a", "a", true}, {"ab", "a", false}, {"x/y", ".", true}} {
		if Under(c.p, c.dir) != c.want {
			t.Errorf("Under(%q, %q) = %v", c.p, c.dir, !c.want)
		}
	}
}

// A request id becomes a folder: it can hold no slash and not begin with a dot.
func TestRequestIDs(t *testing.T) {
	for id, want := range map[string]bool{
		"fr-20251206-a1b2c3": true, "a": true, strings.Repeat("a", 100): true,
		"": false, ".": false, "..": false, "../x": false, "a/b": false, ".a": false, "a b": false, "a\n": false,
		"a\u202eb": false, strings.Repeat("a", 101): false,
	} {
		if IsRequestID(id) != want {
			t.Errorf("IsRequestID(%.40q) = %v", id, !want)
		}
	}
}

// noisePattern is Noise as one expression. Matching it with every name that the system
// reports would cost more than everything else that is done with most of them.
var noisePattern = regexp.MustCompile(`^\.|~$|^#.*#$|^4913$|\.(tmp|temp|vsctmp|bck|orig|rej|bak|lock|part|partial|crdownload|download)$|\.tmp\.\d+\.[0-9a-f]+$|___jb_(tmp|old|bak)___$|^~\$|^Thumbs\.db$|^desktop\.ini$`)

func TestNoiseIsWhatThePatternSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{
			".", "~", "#", "_", "___jb_tmp___", "4913", "$", "tmp", "bak", "part", "a", "-", "Thumbs", "desktop", "ini", "db", "0a1b", "7",
		}), 0, 6).Draw(t, "parts")
		if name := strings.Join(parts, ""); Noise(name) != noisePattern.MatchString(name) {
			t.Fatalf("%q is noise: %v", name, Noise(name))
		}
	})
}

// A file that is written once need not be read again: it must not decide anything, and
// others than placet may only add to it.
func TestWhatIsWrittenOnce(t *testing.T) {
	run, _ := Faber{}.At(".fractary/faber/runs/acme/web/" + uuid)
	session, _ := AFL{}.At(".afl/sessions/s")
	at := "delegations/c/iterations/2/"
	for rel, want := range map[string]bool{
		"events/001-step_start.json": true, "events/x.json": false, "events/.next-id": false, "state.json": false,
		"metadata.json": false, "cancel.json": false, "requests/r/request.json": false, "requests/r/response.json": false,
		"requests/r/form.md": false, "requests/r/receipt.json": false, "actions/resume-r2/outcome.json": false,
	} {
		if f, ok := (Faber{}).File(run, rel); !ok || f.Once != want {
			t.Errorf("%s is written once: %t", rel, f.Once)
		}
	}
	for rel, want := range map[string]bool{
		at + "prompt.md": true, at + "feedback.md": true, at + "answer.md": true, at + "validation-2.json": true,
		at + "verdict.json": true, at + "worker-run.json": true, at + "oracle-run.json": true, at + "review-run.json": true, at + "checkpoint-review.json": false, at + "result.json": false, at + "worker.json": false,
		at + "analysis.json": false, "state.json": false, "control.json": false, "review.json": false, "specs/checkpoints.yaml": false,
		"delegations/c/status.json": false, "delegations/c/pending-question.json": false, "requests/r/form.md": false,
	} {
		if f, ok := (AFL{}).File(session, rel); !ok || f.Once != want {
			t.Errorf("%s is written once: %t", rel, f.Once)
		}
	}
	run, _ = Optimizer{}.At(cycle)
	for rel, want := range map[string]bool{
		"attempts/30-1.json": true, "attempts/30-1.outcome.json": true, "trigger.json": false, "state.json": false, "context.json": false,
		"goal.json": false, "retrieved.jsonl": false, "level20_report.md": false, "requests/r/late.json": false, "audit.json": false,
	} {
		if f, ok := (Optimizer{}).File(run, rel); !ok || f.Once != want {
			t.Errorf("%s is written once: %t", rel, f.Once)
		}
	}
}
