package faber

import (
	"errors"
	"path"
	"slices"
	"strings"

	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/faber"
	"placet/engine/store"
	"placet/layout"
	"placet/schemas"
)

// CoordinateVerb returns the verb that has one prompt ask about several runs.
func CoordinateVerb() verb.Verb {
	return verb.Verb{
		Use: "coordinate RUN...", Least: 1, Most: faber.MostCoordinated, Complete: verb.CompleteRuns,
		Look: func(c verb.Call, b *workspace.Workspace) error {
			ids, err := runIDs(b, c.Args)
			if err != nil {
				return err
			}
			return coordinate(b, ids)
		},
	}
}

// runIDs returns the ids of the runs that are named, each once.
func runIDs(b *workspace.Workspace, args []string) (ids []string, err error) {
	for _, arg := range args {
		f, err := view.OneRun(b, arg)
		switch {
		case err != nil:
			return nil, err
		case f.Run.Family != "faber" || f.Run.Class != layout.FaberRun:
			return nil, console.Refused("cli.faber.coordinate.other", "run", console.Brief(f.Key()))
		case !slices.Contains(ids, f.Run.ID):
			ids = append(ids, f.Run.ID)
		}
	}
	return ids, nil
}

// coordinate writes coordinator.json under the first id of these runs that is free today.
func coordinate(b *workspace.Workspace, ids []string) error {
	body, err := schemas.Encode(faber.Coordinator{Runs: ids, CreatedBy: console.Login()})
	if err != nil {
		return err
	}
	sum := engine.Sum([]byte(strings.Join(slices.Sorted(slices.Values(ids)), "\n"))).Hex()
	for i := 0; i+6 <= len(sum); i += 6 {
		id := "coord-" + b.Env.Now().UTC().Format("20060102") + "-" + sum[i:i+6]
		d := engine.Document{Path: path.Join(layout.FaberCoordinators, id, "coordinator.json"), Kind: layout.FaberMembers, Body: body}
		switch err = b.Store.Create(d); {
		case errors.Is(err, store.ErrConflict):
			continue
		case err != nil:
			return console.Refused("workspace.write", "path", d.Path, "error", err)
		}
		data := map[string]any{"run": "faber/" + id, "runs": ids, "path": d.Path, "daemon": b.HasDaemon("workspace.nodaemon.carry")}
		return b.Env.Answer(data, func() { b.Env.Say("cli.faber.coordinate.said", "run", "faber/"+id, "n", len(ids)) })
	}
	return console.Refused("cli.faber.coordinate.taken", "folder", layout.FaberCoordinators)
}
