package cli

import (
	"fmt"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
)

// noteBlind says in which folders a daemon looks every now and then.
func noteBlind(b *workspace.Workspace, is workspace.WithoutEvents) {
	if is.Count == 0 {
		return
	}
	more := ""
	if n := is.Count - 1; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	often := "every 2 s"
	if is.Count > workspace.BlindMany {
		often = "every few seconds"
	}
	b.Env.Note("the daemon gets no file events in %s%s: it looks %s", console.OneLine(is.Folders[0]), more, often)
}
