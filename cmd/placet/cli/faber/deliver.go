package faber

import (
	"errors"
	"path"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/faber"
	"placet/engine/gate"
	"placet/engine/statedir"
	"placet/engine/store"
	"placet/layout"
)

// issueRuns returns the live runs with an issue.
func issueRuns(b *workspace.Workspace) (runs []faber.IssueRun) {
	for _, f := range b.Runs() {
		if f.Run.Family != "faber" {
			continue
		}
		snap, err := b.SettledRun(f, false)
		if err != nil {
			b.Env.Note("cli.faber.read", "run", console.Brief(f.Key()), "error", console.Plain(err))
			continue
		}
		if r, ok := faber.New().OnIssue(snap); ok {
			runs = append(runs, r)
		}
	}
	return runs
}

// deliver writes a comment into a run, unless it is there. It records first who wrote the comment
// according to GitHub: both are claims of whoever could write there.
func deliver(b *workspace.Workspace, id string, d faber.Delivery) (file string, err error) {
	body, err := d.Comment.Encode()
	if err != nil {
		return "", err
	}
	doc := engine.Document{Path: path.Join(d.Run.Dir, layout.FaberCommentFile(id, "json")), Kind: layout.FaberComment, Body: body}
	if b.StateDir != nil {
		defer b.StateDir.HoldPath(doc.Path)()
		if b.Store.Exists(doc.Path) {
			return doc.Path, nil // its record must stay that of the present file
		}
		err := b.StateDir.Attribute(statedir.Attribution{
			Path: doc.Path, Digest: engine.Sum(body), Who: d.Comment.Login(), Source: gate.SourceIssueComment, At: b.Env.Now().UTC(),
		})
		if err != nil {
			return "", err
		}
	}
	if err := b.Store.Create(doc); err != nil && !errors.Is(err, store.ErrConflict) {
		return "", console.Refused("cli.faber.write", "file", doc.Path, "error", console.Plain(err))
	}
	return doc.Path, nil
}
