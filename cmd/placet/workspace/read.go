package workspace

import (
	"context"
	"errors"
	"path"
	"slices"
	"time"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/loop"
	"placet/layout"
	"placet/templates"
)

// Runs finds the runs of the workspace. It names folders that cannot be listed, and returns the
// runs of the others.
func (b *Workspace) Runs() []loop.Found {
	found, err := b.Loop.Runs()
	if err != nil {
		b.Env.Note("say.text", "text", console.Lines(templates.In(b.Env.Lang, err)))
		b.Unlisted = true
	}
	return found
}

// FamilyNames returns the enabled families.
func (b *Workspace) FamilyNames() []string {
	var names []string
	for _, f := range b.Families {
		names = append(names, f.Layout.Name())
	}
	return names
}

// Peers returns, by run, what the runs of a family publish for each other. It names those that
// are still being written, and leaves them out.
func (b *Workspace) Peers(family string) (map[string][]byte, error) {
	peers, err := b.Loop.Entries(family)
	if errors.Is(err, engine.ErrUnsettled) {
		b.Env.Note("say.text", "text", err)
		err = nil
	}
	return peers, err
}

// Patience is how long a verb waits for documents to settle before it shows what it has. It is
// counted in pauses, not by the clock: if one look takes that long, a second look is still
// needed to tell whether a document has settled.
const Patience = 2500 * time.Millisecond

// settlePause is how long a verb waits before it reads a document again.
const settlePause = 130 * time.Millisecond

// SettledRun reads the documents of a run once its state document has settled or, with whole,
// once all of them have. It waits no longer than [Workspace.Settled].
func (b *Workspace) SettledRun(f loop.Found, whole bool, needs ...string) (engine.Snapshot, error) {
	for waited := time.Duration(0); ; waited += settlePause {
		seen, err := b.Loop.Look(f, needs...)
		moves := seen.Snap.Doc(f.Run.State).Unsettled() || whole && slices.ContainsFunc(seen.Snap.Docs, engine.Document.Unsettled)
		if err != nil || !moves || waited > Patience {
			return seen.Snap, err
		}
		time.Sleep(settlePause)
	}
}

// ReadDocument reads a document in a run's folder, once it has settled.
func (b *Workspace) ReadDocument(f loop.Found, name string) engine.Document {
	kind, _ := f.Family.Layout.File(f.Run, name)
	return b.Settled(path.Join(f.Run.Dir, name), kind)
}

// Settled reads one document, and waits for a while until it has settled.
func (b *Workspace) Settled(path string, f layout.File) engine.Document {
	return b.SettledBy(context.Background(), path, f)
}

// SettledBy reads one document, and waits until it has settled, for a while or until the
// context is done.
func (b *Workspace) SettledBy(ctx context.Context, path string, f layout.File) engine.Document {
	for waited := time.Duration(0); ; waited += settlePause {
		d := b.Store.Read(path, f)
		if !d.Unsettled() || waited > Patience || !Pause(ctx, settlePause) {
			return d
		}
	}
}

// Pause waits for d, and reports false if the context is done before.
func Pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// Artifact reads a file that a request shows. It follows no link.
func (b *Workspace) Artifact(path string) engine.Document {
	return b.Settled(path, layout.File{Kind: "artifact", Writer: layout.Anyone, Limit: layout.LimitState})
}
