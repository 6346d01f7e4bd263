package daemon

import (
	"strings"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine/store"
)

// leftoversName is the file in the state folder that records which leftovers were reported to a
// person.
const leftoversName = "leftovers"

// earlierFiles are the files that an earlier version of placet read back from the private
// folder of the workspace. Everybody could write there, so nothing reads them now.
var earlierFiles = []string{"actions", "blind", "recall", "recall-live"}

// NoteLeftovers reports, once for each workspace, the files below .placet/ that an earlier
// version has left and that are ignored. It removes nothing: the files may be anybody's.
func NoteLeftovers(b *workspace.Workspace) {
	if b.StateDir == nil {
		return
	}
	var left []string
	for _, name := range earlierFiles {
		if b.Store.Exists(store.PrivateDir + "/" + name) {
			left = append(left, store.PrivateDir+"/"+name)
		}
	}
	text := strings.Join(left, "\n")
	if before, err := b.StateDir.Read(leftoversName, 4<<10); len(left) == 0 || err == nil && string(before) == text {
		return
	}
	b.Env.Note("cli.leftovers", "names", strings.Join(left, ", "))
	if err := b.StateDir.Write(leftoversName, []byte(text), false); err != nil {
		b.Env.Note("cli.leftovers.unsaid", "error", console.Plain(err))
	}
}
