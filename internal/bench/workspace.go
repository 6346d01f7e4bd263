package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// perProject is how many runs one folder contains.
const perProject = 500

// workspace makes typical FABER workspaces: most runs completed, a few waiting
// for a person, each with its events.
type workspace struct{ root string }

// newWorkspace makes an empty workspace at a path.
func newWorkspace(root string) (workspace, error) {
	w := workspace{root: root}
	// placet.toml marks the workspace: without it placet would serve one above.
	if err := w.write("placet.toml", ""); err != nil {
		return w, err
	}
	return w, w.write("specs/design.md", "# Design\n\nThree layers.\n")
}

// run returns the folder of the n-th run of a kind, relative to the workspace.
func (workspace) run(kind string, n int) string {
	id := fmt.Sprintf("%08x-0000-4000-8000-%012x", uint32(n)*2654435761, n)
	return fmt.Sprintf(".fractary/faber/runs/acme-corp/%s-%03d/%s", kind, n/perProject, id)
}

// runID returns the id in a run's documents.
func runID(dir string) string {
	return strings.TrimPrefix(dir, ".fractary/faber/runs/")
}

// requestID returns the id of the request of the n-th waiting run.
func requestID(n int) string { return fmt.Sprintf("fr-20261120-%06x", n) }

// waiting makes the n-th run that asks for an approval, with so many events.
func (w workspace) waiting(n, events int) error {
	dir := w.run("waiting", n)
	if err := w.events(dir, events, "feedback_request"); err != nil {
		return err
	}
	if err := w.write(dir+"/metadata.json", fill(metadataText, dir, n, events)); err != nil {
		return err
	}
	return w.write(dir+"/state.json", fill(waitingText, dir, n, events))
}

// completed makes the n-th finished run, with the request it once asked.
func (w workspace) completed(n int) error { return w.completedAfter(n, 4) }

// completedAfter does the same as completed, with so many events.
func (w workspace) completedAfter(n, events int) error {
	dir := w.run("completed", n)
	if err := w.events(dir, events, "workflow_complete"); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"metadata.json": metadataText, "state.json": completedText,
		"requests/" + requestID(n) + "/request.json": oldRequestText,
		"requests/" + requestID(n) + "/receipt.json": oldReceiptText,
	} {
		if err := w.write(dir+"/"+name, fill(text, dir, n, events)); err != nil {
			return err
		}
	}
	return nil
}

// events makes a run's journal; the last event has the type given.
func (w workspace) events(dir string, n int, last string) error {
	return w.eventsFrom(dir, 1, n, last)
}

// eventsFrom does the same as events, from the number first on.
func (w workspace) eventsFrom(dir string, first, n int, last string) error {
	for i := first; i <= n; i++ {
		typ := "checkpoint"
		switch i {
		case n:
			typ = last
		case 1:
			typ = "workflow_start"
		}
		text := strings.ReplaceAll(fill(eventText, dir, i, n), "{type}", typ)
		if err := w.write(fmt.Sprintf("%s/events/%03d-%s.json", dir, i, typ), text); err != nil {
			return err
		}
	}
	return w.write(dir+"/events/.next-id", fmt.Sprintf("%d\n", n+1))
}

func (w workspace) write(name, text string) error {
	name = filepath.Join(w.root, name)
	err := os.WriteFile(name, []byte(text), 0o644)
	if os.IsNotExist(err) {
		if err = os.MkdirAll(filepath.Dir(name), 0o755); err == nil {
			err = os.WriteFile(name, []byte(text), 0o644)
		}
	}
	return err
}

// many calls one for 0 to n-1, several in parallel.
func many(n int, one func(int) error) error {
	const side = 4
	var wg sync.WaitGroup
	errs := make([]error, side)
	for k := range side {
		wg.Go(func() {
			for i := k; i < n && errs[k] == nil; i += side {
				errs[k] = one(i)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// fill inserts a run's particulars into a text.
func fill(text, dir string, n, events int) string {
	return strings.NewReplacer(
		"{run}", runID(dir), "{n}", fmt.Sprint(n), "{request}", requestID(n), "{events}", fmt.Sprint(events),
	).Replace(text)
}
