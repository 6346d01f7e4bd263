package asks

import (
	"errors"
	"path"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/ask"
	"placet/engine/store"
)

// CheckEdited refuses an answer if a file does not have the text that was approved, because the
// asker would use that file.
func CheckEdited(a *Asks, st ask.State) error {
	for _, f := range st.Edited() {
		file := path.Join(a.Workspace.Ask.Root, st.AskID, f.File)
		if d := a.Workspace.Artifact(file); !d.Absent() && !d.Matches(f.SHA256()) {
			return console.Changed("workspace.edited.changed", "file", file, "ask", "ask/"+st.AskID).Try("workspace.edited.try", "file", file)
		}
	}
	return nil
}

// Apply writes the texts that a person changed and approved over the files that they were asked
// about. It writes nothing unless each file still has the content that they were shown, or the
// one that they approved.
func Apply(a *Asks, st ask.State) error {
	edited := st.Edited()
	for _, f := range st.Ask.Artifacts {
		d := a.Workspace.Artifact(f.Path)
		approved := d.Matches(f.SHA256)
		for _, e := range edited {
			approved = approved || e.Path == f.Path && d.Matches(e.SHA256())
		}
		if f.Editable && !approved {
			return notApplied(a, st, f.Path)
		}
	}
	for _, f := range edited {
		err := a.Workspace.Store.Write(engine.Document{Path: f.Path, Kind: "artifact", Body: []byte(f.Text), Over: engine.Digest("sha256:" + f.Asked)})
		switch {
		case errors.Is(err, store.ErrConflict):
			return notApplied(a, st, f.Path)
		case err != nil:
			return console.Refused("workspace.apply", "file", f.Path, "error", console.Plain(err))
		}
	}
	return nil
}

// notApplied returns the error that names the file that has changed since it was asked about.
func notApplied(a *Asks, st ask.State, file string) error {
	return console.Changed("workspace.apply.changed", "file", file, "ask", "ask/"+st.AskID).Try("workspace.apply.try", "folder", path.Join(a.Workspace.Ask.Root, st.AskID))
}
