package workspace

import (
	"errors"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/ask"
	"placet/engine/store"
)

// Apply writes what a person changed and approved over the files that they were asked about,
// each where it still is what they were shown.
func (a *Asks) Apply(st ask.State) error {
	for _, f := range st.Edited() {
		err := a.Store.Write(engine.Document{Path: f.Path, Kind: "artifact", Body: []byte(f.Text), Over: engine.Digest("sha256:" + f.Asked)})
		switch {
		case errors.Is(err, store.ErrConflict):
			return console.Changed("workspace.apply.changed", "file", console.OneLine(f.Path), "ask", "ask/"+st.AskID).Try("workspace.apply.try", "text", a.Ask.Root+"/"+st.AskID+"/"+f.File)
		case err != nil:
			return console.Refused("workspace.apply", "file", console.OneLine(f.Path), "error", console.Plain(err))
		}
	}
	return nil
}
