package daemon

import (
	"strings"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine/store"
)

// leftoversName is the file of the state folder that holds which leftovers were
// named to a person.
const leftoversName = "leftovers"

// earlierFiles are what a placet of an earlier version read back from the private
// folder of the workspace. Everybody could write it there, so nothing reads it now.
var earlierFiles = []string{"actions", "blind", "recall", "recall-live"}

// NoteLeftovers names, once for each workspace, what an earlier version has left
// below .placet/ and is ignored. Nothing there is removed: it may be anybody's.
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
