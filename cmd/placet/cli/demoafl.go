package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/layout"
)

// The second story of the demo: an AFL session with a real test. The demo plays
// the worker; the test is run by the daemon.

// demoSession is the folder of the story's session, demoCheckpoint its only
// checkpoint.
const (
	demoSession    = ".afl/sessions/receipts"
	demoCheckpoint = "total"
)

// What the worker makes of receipt.sh: it gives back the last price, then the
// sum of all.
const (
	lastPrice = `total=0
for price in "$@"; do
	total=$price
done
echo "$total"
`
	sumOfPrices = `total=0
for price in "$@"; do
	total=$((total + price))
done
echo "$total"
`
)

// attempt is a file of an attempt.
func attempt(n int, name string) string {
	return demoSession + "/" + layout.AFLIteration(demoCheckpoint, n, name)
}

func (d *demo) design(context.Context) error {
	d.tale("Now an AFL session, in %s. Kim has approved a checkpoint, and the test that tells whether it is met:", d.dir)
	if err := d.unpack("demo/afl"); err != nil {
		return err
	}
	// Which shell is used is policy: it counts from the user's own file.
	own := config.SourcesOf(d.Env, d.dir).User
	if err := os.MkdirAll(filepath.Dir(own), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(own, []byte("[afl]\nshell = [\"sh\", \"-c\"]\n"), 0o644); err != nil {
		return err
	}
	if err := d.cat(demoSession+"/specs/checkpoints.yaml", "approved_by:", ""); err != nil {
		return err
	}
	d.tale("The daemon begins the first attempt: its prompt.md tells a worker what to do.")
	return nil
}

// cat shows the lines of a file from one that begins with a text up to the next
// that begins with another; "" is its end.
func (d *demo) cat(rel, from, to string) error {
	body, err := os.ReadFile(filepath.Join(d.dir, rel))
	if err != nil {
		return err
	}
	d.prompt("cat " + rel)
	_, rest, found := strings.Cut("\n"+string(body), "\n"+from)
	if !found {
		return fmt.Errorf("%s has no line that begins with %q", rel, from)
	}
	if to != "" {
		rest, _, _ = strings.Cut(rest, "\n"+to)
	}
	d.Say("%s", console.Indent(console.Lines(blankLines.ReplaceAllString(from+rest, "\n")), "    "))
	return nil
}

var blankLines = regexp.MustCompile(`\n\n+`)

// took waits until the session has taken an edge for the n-th time.
func (d *demo) took(ctx context.Context, edge string, n int) error {
	return d.await(ctx, "what follows "+edge, func() bool {
		body, err := os.ReadFile(filepath.Join(d.dir, demoSession, "events.jsonl"))
		return err == nil && strings.Count(string(body), `"edge":"`+edge+`"`) >= n
	})
}

// trustTest agrees to the test.
func (d *demo) trustTest(ctx context.Context) error {
	if err := d.took(ctx, "start", 1); err != nil {
		return err
	}
	d.tale("A test is a command that stands in a file: it runs only once you have agreed to it.")
	d.prompt("placet trust --yes")
	return d.placet(ctx, "trust", "--yes")
}

// handIn hands an attempt in, as a worker does: what it wrote first, if
// anything, then worker.json.
func (d *demo) handIn(n int, code string) error {
	if code != "" {
		d.Say("    receipt.sh:\n%s", console.Indent(console.Lines(code), "        "))
		if err := d.save("receipt.sh", code); err != nil {
			return err
		}
	}
	done := `{"status": "completed"}` + "\n"
	d.Say("    %s: %s", strings.TrimPrefix(attempt(n, "worker.json"), demoSession+"/"), console.OneLine(strings.TrimSpace(done)))
	return d.save(attempt(n, "worker.json"), done)
}

// save writes a file of the workspace beside and renames it into place.
func (d *demo) save(rel, body string) error {
	name := filepath.Join(d.dir, rel)
	if err := os.WriteFile(name+".tmp", []byte(body), 0o644); err != nil {
		return err
	}
	return os.Rename(name+".tmp", name)
}

// fail hands in nothing at all.
func (d *demo) fail(ctx context.Context) error {
	d.tale("The worker, whom this demo plays, hands in without having written anything. placet runs the test:")
	if err := d.handIn(1, ""); err != nil {
		return err
	}
	if err := d.took(ctx, "retry_due", 1); err != nil {
		return err
	}
	d.tale("It failed, was classified, and a second attempt has begun. The worker reads in its prompt.md what was wrong:")
	return d.cat(attempt(1, "feedback.md"), "## Summary", "## Code examples")
}

// failAgain hands in something that is wrong in another way.
func (d *demo) failAgain(ctx context.Context) error {
	d.tale("The worker tries again:")
	if err := d.handIn(2, lastPrice); err != nil {
		return err
	}
	if err := d.took(ctx, "escalate", 1); err != nil {
		return err
	}
	d.tale("Two attempts were allowed, so a person must decide. This is what you are told:")
	if err := d.cat(demoSession+"/delegations/"+demoCheckpoint+"/escalation.md", "### Basic information", "### Recommended action"); err != nil {
		return err
	}
	d.prompt("placet inbox")
	return d.placet(ctx, "inbox")
}

// decide gives the worker one more attempt, with advice.
func (d *demo) decide(ctx context.Context) error {
	request, err := d.openRequest("escalation-")
	if err != nil {
		return err
	}
	const advice = "Add the prices up: the last one must not win."
	d.tale("You give it one more attempt, and a hint for the worker:")
	d.prompt("placet respond " + request + " retry_more --attempts 1 -m '" + advice + "'")
	if err := d.placet(ctx, "respond", request, "retry_more", "--attempts", "1", "-m", advice); err != nil {
		return err
	}
	return d.took(ctx, "retry_due", 2)
}

// pass hands in what is right.
func (d *demo) pass(ctx context.Context) error {
	d.tale("The worker finds the hint in its third prompt.md:")
	if err := d.cat(attempt(2, "feedback.md"), "## Note", ""); err != nil {
		return err
	}
	if err := d.handIn(3, sumOfPrices); err != nil {
		return err
	}
	return d.took(ctx, "review_opened", 1)
}

// accept ends the session.
func (d *demo) accept(ctx context.Context) error {
	request, err := d.openRequest("review-")
	if err != nil {
		return err
	}
	d.tale("It passed. With every checkpoint over, a person looks at the whole:")
	d.prompt("placet respond " + request + " accept")
	if err := d.placet(ctx, "respond", request, "accept"); err != nil {
		return err
	}
	if err := d.await(ctx, "the report", func() bool { return exists(filepath.Join(d.dir, demoSession, "report.md")) }); err != nil {
		return err
	}
	d.prompt("placet show receipts")
	return d.placet(ctx, "show", "receipts")
}

// openRequest is the reference of a request of the session that is not answered.
func (d *demo) openRequest(prefix string) (string, error) {
	forms, err := filepath.Glob(filepath.Join(d.dir, demoSession, "requests", prefix+"*", "form.md"))
	if err != nil {
		return "", err
	}
	for _, form := range forms {
		if dir := filepath.Dir(form); !exists(filepath.Join(dir, "receipt.json")) {
			return shownBy(form)
		}
	}
	return "", fmt.Errorf("no request %s… is open", prefix)
}
