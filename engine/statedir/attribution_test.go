package statedir_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/statedir"
)

func answerOf(n int) statedir.Attribution {
	return statedir.Attribution{
		Path: fmt.Sprintf("runs/r%d/response.json", n), Digest: engine.Sum([]byte(fmt.Sprint(n))), Who: fmt.Sprintf("api:client%d", n), Source: "mcp",
	}
}

// whoWrote returns for whom a content was written.
func whoWrote(d *statedir.Dir, path string, content engine.Digest) string {
	who, _ := d.Attributed(path, content)
	return who
}

func attribute(t *testing.T, d *statedir.Dir, a statedir.Attribution) {
	t.Helper()
	if err := d.Attribute(a); err != nil {
		t.Error(err)
	}
}

func TestWhoAnsweredIsRemembered(t *testing.T) {
	home, workspace := folders(t)
	d := create(t, home, workspace)
	var wg sync.WaitGroup
	for n := range 50 {
		wg.Go(func() { attribute(t, d, answerOf(n)) })
	}
	wg.Wait()
	// Another process knows the same, however the file grows.
	other := create(t, home, workspace)
	for n := range 60 {
		if n >= 50 {
			attribute(t, d, answerOf(n))
		}
		a := answerOf(n)
		for _, from := range []*statedir.Dir{d, other} {
			if who, source := from.Attributed(a.Path, a.Digest); who != a.Who || source != a.Source {
				t.Errorf("answer %d is %q's, not %q's", n, who, a.Who)
			}
			if who := whoWrote(from, a.Path, answerOf(n+1).Digest); who != "" {
				t.Errorf("another content is %q's", who)
			}
		}
	}
}

func TestOnlyTheNewestContentOfAPathIsAttributed(t *testing.T) {
	home, workspace := folders(t)
	d := create(t, home, workspace)
	yes, no, elsewhere := answerOf(1), answerOf(2), answerOf(3)
	no.Path = yes.Path
	expect := func(what, whoYes, whoNo string) {
		t.Helper()
		for _, from := range []*statedir.Dir{d, create(t, home, workspace)} {
			if got := whoWrote(from, yes.Path, yes.Digest); got != whoYes {
				t.Errorf("%s: the first content is %q's, expected %q", what, got, whoYes)
			}
			if got := whoWrote(from, no.Path, no.Digest); got != whoNo {
				t.Errorf("%s: the second content is %q's, expected %q", what, got, whoNo)
			}
			if got := whoWrote(from, yes.Path, ""); got != "" {
				t.Errorf("%s: no content is %q's", what, got)
			}
		}
	}
	attribute(t, d, yes)
	attribute(t, d, elsewhere)
	expect("one", yes.Who, "")
	attribute(t, d, no)
	expect("another in its place", "", no.Who)
	for range 2 {
		attribute(t, d, statedir.Attribution{Path: no.Path, At: time.Now()}) // as the version before wrote it
		expect("nobody's", "", "")
	}
	attribute(t, d, yes)
	expect("the first again, by its author", yes.Who, "")
	if got := whoWrote(d, elsewhere.Path, elsewhere.Digest); got != elsewhere.Who {
		t.Errorf("a content of another path is %q's", got)
	}
}

func TestTheSurfaceOfAContentIsRemembered(t *testing.T) {
	home, workspace := folders(t)
	d := create(t, home, workspace)
	file := filepath.Join(d.Location(), "attributions.jsonl")
	for line, want := range map[string]string{
		// Lines in the form of the version before.
		`"who":"api:ci"`: "api:ci http", `"who":"slack:U1"`: "slack:U1 slack", `"who":"owner:kim"`: "owner:kim cli",
		`"who":"owner:kim","source":"web"`: "owner:kim web", `"who":"api:ci","source":"mcp"`: "api:ci mcp",
		// A line with an unknown surface gives no attribution, and removes the one before
		// it.
		`"who":"owner:kim","source":"telex"`: " ", `"who":"owner:kim","source":"form"`: " ",
	} {
		a := answerOf(1)
		attribute(t, d, a)
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		next := fmt.Sprintf(`{"path":%q,"digest":%q,%s,"at":"2026-11-20T12:00:00Z"}`+"\n", a.Path, a.Digest, line)
		if err := os.WriteFile(file, append(before, next...), 0o600); err != nil {
			t.Fatal(err)
		}
		if who, source := d.Attributed(a.Path, a.Digest); who+" "+source != want {
			t.Errorf("%s: %q by %q", line, who, source)
		}
		if err := d.CheckAttributions(); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestALineOfWhichAPartIsThereSaysNothing(t *testing.T) {
	home, workspace := folders(t)
	d := create(t, home, workspace)
	attribute(t, d, answerOf(1))
	file := filepath.Join(d.Location(), "attributions.jsonl")
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	a := answerOf(1)
	torn := body[:len(body)/2]
	if err := os.WriteFile(file, torn, 0o600); err != nil {
		t.Fatal(err)
	}
	other := create(t, home, workspace)
	if who := whoWrote(other, a.Path, a.Digest); who != "" {
		t.Errorf("half a line names %q", who)
	}
	// A line that is being written is completed later; a torn one is skipped.
	if err := os.WriteFile(file, body, 0o600); err != nil {
		t.Fatal(err)
	}
	if who := whoWrote(other, a.Path, a.Digest); who != a.Who {
		t.Errorf("the whole line names %q", who)
	}
	if err := os.WriteFile(file, torn, 0o600); err != nil {
		t.Fatal(err)
	}
	attribute(t, d, answerOf(2))
	other = create(t, home, workspace)
	if b := answerOf(2); whoWrote(other, b.Path, b.Digest) != b.Who || whoWrote(other, a.Path, a.Digest) != "" {
		t.Error("a torn line hides the next one, or is believed")
	}
}

func TestAttributionsStayShort(t *testing.T) {
	home, workspace := folders(t)
	d := create(t, home, workspace)
	file := filepath.Join(d.Location(), "attributions.jsonl")
	long := strings.Repeat(`{"path":"runs/r0/response.json","digest":"sha256:00","who":"api:old"}`+"\n", 130_000)
	if err := os.WriteFile(file, []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	attribute(t, d, answerOf(1))
	info, err := os.Stat(file)
	if err != nil || info.Size() > int64(len(long))/2+1000 {
		t.Errorf("%d bytes of %d are left, %v", info.Size(), len(long), err)
	}
	if a := answerOf(1); whoWrote(d, a.Path, a.Digest) != a.Who {
		t.Error("the newest line is gone")
	}
}

func TestAttributionsThatOthersCouldWriteAreRefused(t *testing.T) {
	home, workspace := folders(t)
	d := create(t, home, workspace)
	if err := d.CheckAttributions(); err != nil {
		t.Errorf("none: %v", err)
	}
	attribute(t, d, answerOf(1))
	if err := d.CheckAttributions(); err != nil {
		t.Errorf("its own: %v", err)
	}
	file := filepath.Join(d.Location(), "attributions.jsonl")
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := d.CheckAttributions(); err == nil {
		t.Error("others may read it, and it is believed")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("elsewhere", file); err != nil {
		t.Fatal(err)
	}
	if err := d.CheckAttributions(); err == nil {
		t.Error("a link is believed")
	}
}

// A line that no placet has written prevents the start; a line that a crash has torn does
// not.
func TestAttributionsAreReadStrictly(t *testing.T) {
	home, workspace := folders(t)
	d := create(t, home, workspace)
	attribute(t, d, answerOf(1))
	file := filepath.Join(d.Location(), "attributions.jsonl")
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	line := strings.TrimSpace(string(body))
	for what, c := range map[string]struct {
		text string
		bad  bool
	}{
		"two lines":            {line + "\n" + line + "\n", false},
		"a torn line":          {line[:len(line)/2] + "\n" + line + "\n", false},
		"a torn end":           {line + "\n" + line[:len(line)-1], false},
		"zeros after a cut":    {line + "\n\x00\x00\x00\n" + line, false},
		"nobody's any more":    {line + "\n" + `{"path":"runs/r1/response.json","digest":"","who":"","at":"2026-11-20T12:00:00Z"}` + "\n", false},
		"no JSON":              {line + "\nnonsense\n", true},
		"a list":               {"[]\n", true},
		"two objects in one":   {line + line + "\n", true},
		"no author":            {strings.Replace(line, "api:client1", "", 1), true},
		"an author of no kind": {strings.Replace(line, "api:client1", "root", 1), true},
		"a long digest":        {strings.Replace(line, `"sha256:`, `"sha256:0`, 1), true},
		"a number for a path":  {strings.Replace(line, `"runs/r1/response.json"`, "7", 1), true},
		"too large":            {strings.Repeat(line+"\n", (16<<20)/len(line)+1), true},
	} {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := d.CheckAttributions(); (err != nil) != c.bad {
			t.Errorf("%s: %v", what, err)
		}
	}
}
