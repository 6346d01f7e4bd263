package workspace

import (
	"cmp"
	"context"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/loop"
	"placet/engine/statedir"
	"placet/engine/store"
	"placet/layout"
)

// Author returns who answers, as a gate knows it.
func (b *Workspace) Author() string { return cmp.Or(b.who, "owner:"+console.Login()) }

// CommandLine is the surface of calls that name no other.
const CommandLine = "cli"

// Surface returns the surface of placet that writes.
func (b *Workspace) Surface() string { return cmp.Or(b.source, CommandLine) }

// Put writes a document that is not placet's own, for the person for whom this workspace
// writes. It records that person and the surface first. Without a state folder only the owner
// of this process can write, and the document counts as much as any other file. The error is
// [store.ErrConflict] if the file is not the one that the document replaces.
func (b *Workspace) Put(doc engine.Document, request string) error {
	switch {
	case b.StateDir == nil && b.who == "":
		return b.Store.Write(doc)
	case b.StateDir == nil:
		return console.Refused("workspace.answer.stateless", "who", b.who, "error", b.Stateless).Kinded(console.KindUnwritable)
	}
	defer b.StateDir.HoldPath(doc.Path)()
	// A record for a write that fails would replace the record of the present file. A file that
	// was written a moment ago is present, too, though its content does not count yet.
	if there := b.Store.Read(doc.Path, ResponseFile(request)); there.Sum != doc.Over || doc.Over == "" && !there.Absent() {
		return store.ErrConflict
	}
	err := b.StateDir.Attribute(statedir.Attribution{
		Path: doc.Path, Digest: engine.Sum(doc.Body), Request: request, Who: b.Author(), Source: b.Surface(), At: b.Env.Now().UTC(),
	})
	if err != nil {
		return err
	}
	return b.Store.Write(doc)
}

// Submit has the loop of this process write a document that is not there yet, for the person for whom
// a workspace writes, together with what follows from it. judge may refuse that. The error is
// [loop.ErrNotSubmitted] if the loop does not.
func Submit(ctx context.Context, b *Workspace, f loop.Found, doc engine.Document, judge func(engine.Snapshot, engine.Plan) error) error {
	if b.StateDir == nil {
		return loop.ErrNotSubmitted // nobody could say later for whom it was written
	}
	doc.Known, doc.Source = []string{b.Author()}, b.Surface()
	return b.Loop.Submit(ctx, f, doc, judge)
}

// ResponseFile returns how response.json is read.
func ResponseFile(request string) layout.File {
	return layout.File{Kind: layout.KindResponse, Writer: layout.Anyone, Limit: layout.LimitJSON, Request: request}
}
