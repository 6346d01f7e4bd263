package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/gate"
)

// allEditable names all files of a request that a person may change.
const allEditable = "*"

// editing lets a person change the files of a request in their editor, and gives the answer
// with the changed texts. If that fails, it keeps their files, and says where.
func editing(ctx context.Context, b *workspace.Workspace, t view.Request, name string, give func([]gate.Edit) error) error {
	var files []engine.EditableFile
	for _, f := range t.Editable {
		if name == allEditable || name == f.Path {
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		return console.Refused("cli.edit.none", "request", t.Label()).Try("say.text", "text", showCommand(t))
	}
	dir, err := os.MkdirTemp(b.Env.Getenv("TMPDIR"), "placet-edit-")
	if err != nil {
		return err
	}
	edits, err := editAll(ctx, b.Env, dir, files)
	switch {
	case err == nil && len(edits) == 0:
		err = console.Refused("cli.edit.same", "request", t.Label())
	case err == nil:
		err = give(edits)
	}
	if err != nil && isEdited(dir, files) {
		b.Env.Note("cli.edit.kept", "folder", dir)
		return err
	}
	if removed := os.RemoveAll(dir); err == nil {
		err = removed
	}
	return err
}

// editedFile returns the path of the file in which a text is edited.
func editedFile(dir string, f engine.EditableFile) string {
	return filepath.Join(dir, fmt.Sprintf("%d-%s", f.N, path.Base(f.Path)))
}

// isEdited reports whether one of the texts was changed.
func isEdited(dir string, files []engine.EditableFile) bool {
	return slices.ContainsFunc(files, func(f engine.EditableFile) bool {
		body, err := os.ReadFile(editedFile(dir, f))
		return err == nil && string(body) != f.Text
	})
}

// editAll returns the texts that a person changes in their editor, and shows the changes.
func editAll(ctx context.Context, w *console.Env, dir string, files []engine.EditableFile) (edits []gate.Edit, err error) {
	for _, f := range files {
		text, err := editText(ctx, w, editedFile(dir, f), f.Text)
		if err != nil {
			return edits, err
		}
		if text == f.Text {
			continue
		}
		edits = append(edits, gate.Edit{Path: f.Path, Text: text})
		lines, more := gate.Difference(f.Text, text)
		if more > 0 {
			lines = append(lines, w.Text("cli.show.diff.more", "n", more))
		}
		for _, line := range append([]string{f.Path}, lines...) {
			fmt.Fprintln(w.Err, console.Lines(line))
		}
	}
	return edits, nil
}

// editText opens a text in the editor under a name, and returns the content of the file
// afterwards.
func editText(ctx context.Context, w *console.Env, name, text string) (string, error) {
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		return "", err
	}
	editor := cmp.Or(w.Getenv("VISUAL"), w.Getenv("EDITOR"), "vi")
	cmd := w.Command(ctx, w.Cwd, "sh", "-c", editor+` "$1"`, "sh", name) // as git does: it may have arguments
	cmd.Stdin, cmd.Stdout, cmd.Stderr = w.In, w.Err, w.Err
	if err := cmd.Run(); err != nil {
		return "", console.Refused("cli.edit.editor", "editor", editor, "error", console.Plain(err))
	}
	body, err := os.ReadFile(name)
	return string(body), err
}
