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

// Runs finds the runs of the workspace. Folders that cannot be listed are
// named; what lies in the others is there all the same.
func (b *Workspace) Runs() []loop.Found {
	found, err := b.Loop.Runs()
	if err != nil {
		b.Env.Note("say.text", "text", console.Lines(templates.In(b.Env.Lang, err)))
		b.Unlisted = true
	}
	return found
}

// FamilyNames are the families that are enabled.
func (b *Workspace) FamilyNames() []string {
	var names []string
	for _, f := range b.Families {
		names = append(names, f.Layout.Name())
	}
	return names
}

// Peers are what the runs of a family say of themselves for each other, by run. Those
// that are still being written are named and left out.
func (b *Workspace) Peers(family string) (map[string][]byte, error) {
	peers, err := b.Loop.Entries(family)
	if errors.Is(err, engine.ErrUnsettled) {
		b.Env.Note("say.text", "text", err)
		err = nil
	}
	return peers, err
}

// Patience is how long a verb waits for documents to stand still before it shows what there
// is. It is counted in pauses, not by the clock: where one look takes that long, another
// look is needed all the same to know that a document stands still.
const Patience = 2500 * time.Millisecond

// settlePause is how long a verb waits before it reads a document again.
const settlePause = 130 * time.Millisecond

// SettledRun reads the documents of a run, once its state document stands still; of a
// whole one, once all of them do. It waits no longer than [Workspace.Settled].
func (b *Workspace) SettledRun(f loop.Found, whole bool) (engine.Snapshot, error) {
	for waited := time.Duration(0); ; waited += settlePause {
		seen, err := b.Loop.Look(f)
		moves := seen.Snap.Doc(f.Run.State).Unsettled() || whole && slices.ContainsFunc(seen.Snap.Docs, engine.Document.Unsettled)
		if err != nil || !moves || waited > Patience {
			return seen.Snap, err
		}
		time.Sleep(settlePause)
	}
}

// ReadDocument reads a document in a run's folder, once it stands still.
func (b *Workspace) ReadDocument(f loop.Found, name string) engine.Document {
	kind, _ := f.Family.Layout.File(f.Run, name)
	return b.Settled(path.Join(f.Run.Dir, name), kind)
}

// Settled reads one document and waits, for a while, until it stands still.
func (b *Workspace) Settled(path string, f layout.File) engine.Document {
	return b.SettledBy(context.Background(), path, f)
}

// SettledBy reads one document and waits, for a while or until the context is done, until
// it stands still.
func (b *Workspace) SettledBy(ctx context.Context, path string, f layout.File) engine.Document {
	for waited := time.Duration(0); ; waited += settlePause {
		d := b.Store.Read(path, f)
		if !d.Unsettled() || waited > Patience || !Pause(ctx, settlePause) {
			return d
		}
	}
}

// Pause waits so long, and reports false where the context is done before.
func Pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// Artifact reads a file that a request shows. No link is followed.
func (b *Workspace) Artifact(path string) engine.Document {
	return b.Settled(path, layout.File{Kind: "artifact", Writer: layout.Anyone, Limit: layout.LimitState})
}
