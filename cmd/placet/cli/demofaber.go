package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/layout"
)

// The first story of the demo: FABER runs that wait for a person.

func (d *demo) prepare(ctx context.Context) error {
	d.tale("Agents have stopped in six runs to ask a person. This is what they left, in %s:", d.dir)
	if err := d.unpack("demo/faber"); err != nil {
		return err
	}
	d.prompt("git init && placet init && git add . && git commit -m 'six runs wait'")
	if err := d.git(ctx, io.Discard, "init", "-q", "-b", "main"); err != nil {
		return err
	}
	if err := d.placet(ctx, "init"); err != nil {
		return err
	}
	if err := d.commit(ctx, "six runs wait"); err != nil {
		return err
	}
	d.tale("The daemon opens every request: a form to edit, in the run's own folder.")
	return nil
}

func (d *demo) commit(ctx context.Context, message string) error {
	if err := d.git(ctx, io.Discard, "add", "-A"); err != nil {
		return err
	}
	return d.git(ctx, io.Discard, "commit", "-q", "-m", message)
}

// ask waits until the requests are open and shows them.
func (d *demo) ask(ctx context.Context) error {
	if err := d.await(ctx, "the forms", func() bool { return len(d.glob("form.md")) == 6 }); err != nil {
		return err
	}
	if err := d.settle(ctx); err != nil {
		return err
	}
	if err := d.commit(ctx, "requests opened"); err != nil {
		return err
	}
	d.tale("What is asked of you, oldest first:")
	d.prompt("placet inbox")
	return d.placet(ctx, "inbox")
}

// settle waits until the daemon has nothing left to write: the states say
// that every form is there.
func (d *demo) settle(ctx context.Context) error {
	return d.await(ctx, "the states", func() bool {
		n := 0
		for _, path := range d.globAt("*/state.json") {
			if body, err := os.ReadFile(path); err == nil && strings.Contains(string(body), "request_opened") {
				n++
			}
		}
		return n == 6
	})
}

// answerByForm answers the review the way an editor does: tick, save.
func (d *demo) answerByForm(ctx context.Context) error {
	form, err := d.form("approve", "request_changes")
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(d.dir, form)
	if err != nil {
		return err
	}
	d.tale("A reviewer opens one form, ticks an option and \"submit\", and saves:")
	d.prompt("$EDITOR " + rel)
	if err := d.tick(form, "approve", "submit this answer"); err != nil {
		return err
	}
	return d.carriedOut(ctx, form)
}

// carriedOut waits until a form's answer has moved its run.
func (d *demo) carriedOut(ctx context.Context, form string) error {
	run := filepath.Dir(filepath.Dir(filepath.Dir(form)))
	return d.await(ctx, "the state", func() bool {
		body, err := os.ReadFile(filepath.Join(run, "state.json"))
		return err == nil && strings.Contains(string(body), `"in_progress"`) && exists(filepath.Join(run, "resume.md"))
	})
}

// tick edits a form as an editor does: a new file, renamed over the old one.
func (d *demo) tick(form string, items ...string) error {
	body, err := os.ReadFile(form)
	if err != nil {
		return err
	}
	text := string(body)
	for _, item := range items {
		ticked := strings.Replace(text, "- [ ] "+item, "- [x] "+item, 1)
		if ticked == text {
			return fmt.Errorf("the form has no item %q", item)
		}
		text = ticked
	}
	for _, l := range strings.Split(text, "\n") {
		if strings.HasPrefix(l, "- [") {
			d.Say("    %s", console.OneLine(l))
		}
	}
	saved := filepath.Join(filepath.Dir(form), ".form.md.swp")
	if err := os.WriteFile(saved, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(saved, form)
}

// answerByCommand approves the merge on the command line.
func (d *demo) answerByCommand(ctx context.Context) error {
	form, err := d.form("approve", "reject")
	if err != nil {
		return err
	}
	request, err := shownBy(form)
	if err != nil {
		return err
	}
	d.tale("The same answer from a shell:")
	d.prompt("placet approve " + request + " -m 'Ship it'")
	if err := d.placet(ctx, "approve", request, "-m", "Ship it"); err != nil {
		return err
	}
	return d.carriedOut(ctx, form)
}

// shownBy is what a form shows, as approve takes it: by its first line.
func shownBy(form string) (string, error) {
	body, err := os.ReadFile(form)
	if err != nil {
		return "", err
	}
	first, _, _ := strings.Cut(string(body), "\n")
	words := strings.Fields(first)
	if len(words) != 6 {
		return "", fmt.Errorf("the first line of %s names no request", form)
	}
	return workspace.Reference(engine.Asked{Request: words[3], Digest: engine.Digest(words[4])}), nil
}

// look shows what the two answers changed.
func (d *demo) look(ctx context.Context) error {
	if err := d.stop(); err != nil {
		return err
	}
	d.tale("Every decision is in the files, and in the diff:")
	d.prompt("git add -N . && git diff --stat")
	if err := d.git(ctx, io.Discard, "add", "-N", "."); err != nil {
		return err
	}
	if err := d.git(ctx, d.Out, "diff", "--stat=120"); err != nil {
		return err
	}
	d.tale("The agents read resume.md and go on. Four requests are left:")
	d.prompt("placet status")
	return d.placet(ctx, "status")
}

// globAt returns the files below the project of the story.
func (d *demo) globAt(pattern string) []string {
	paths, err := filepath.Glob(filepath.Join(d.dir, layout.FaberRoots[0], "acme-corp/proja", pattern))
	if err != nil {
		return nil
	}
	return paths
}

func (d *demo) glob(name string) []string { return d.globAt("*/requests/*/" + name) }

// form returns the form that offers exactly these options, among others a
// review offers.
func (d *demo) form(options ...string) (string, error) {
	for _, path := range d.glob("form.md") {
		body, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		all := true
		for _, o := range options {
			all = all && strings.Contains(string(body), "- [ ] "+o)
		}
		if all && !exists(filepath.Join(filepath.Dir(path), "receipt.json")) {
			return path, nil
		}
	}
	return "", fmt.Errorf("no form offers %s", strings.Join(options, " and "))
}
