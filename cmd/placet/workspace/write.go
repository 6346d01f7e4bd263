package workspace

import (
	"cmp"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/statedir"
	"placet/engine/store"
	"placet/layout"
)

// Author is who answers, as a gate knows it.
func (b *Workspace) Author() string { return cmp.Or(b.who, "owner:"+console.Login()) }

// CommandLine is the surface that is not said to be another.
const CommandLine = "cli"

// Surface is the surface of placet that writes.
func (b *Workspace) Surface() string { return cmp.Or(b.source, CommandLine) }

// Put writes a document of others, for whoever this workspace writes for. That is recorded
// first, together with the surface: without a state folder the owner of this process alone
// can write, and what is written is worth as much as any other file. The error is
// [store.ErrConflict] where something else stands there than the document replaces.
func (b *Workspace) Put(doc engine.Document, request string) error {
	switch {
	case b.StateDir == nil && b.who == "":
		return b.Store.Write(doc)
	case b.StateDir == nil:
		return console.Refused("workspace.answer.stateless", "who", b.who, "error", b.Stateless).Kinded(console.KindUnwritable)
	}
	defer b.StateDir.HoldPath(doc.Path)()
	// A line for what does not get there would take the place of the line of what is there.
	// What was written a moment ago stands there too, though its content does not count yet.
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

// ResponseFile is how response.json is read.
func ResponseFile(request string) layout.File {
	return layout.File{Kind: layout.KindResponse, Writer: layout.Anyone, Limit: layout.LimitJSON, Request: request}
}
