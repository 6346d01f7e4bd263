// Package actions is the part of nemawashi that all surfaces share: it begins actions, gives them
// commands, reads their states and files, and writes into the threads of their requests.
package actions

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	iofs "io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/loop"
	"placet/engine/nemawashi"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/layout"
	"placet/schemas"
)

// Thread is an action in the history.
type Thread struct {
	ThreadID  string            `json:"thread_id"`
	ActionID  int               `json:"action_id"`
	Status    engine.Status     `json:"status"`
	Summary   string            `json:"summary"`
	ProjectID schemas.OrNull    `json:"project_id"`
	Severity  schemas.OrNull    `json:"severity"`
	UpdatedAt schemas.OrNull    `json:"updated_at"`
	Events    []nemawashi.Event `json:"events"`
}

// shownEvents limits the events of an action that the history shows.
const shownEvents = 100

// Begin writes an action into a new folder, numbered above all others: first its draft, and last
// action.json, by which it begins.
func Begin(b *workspace.Workspace, action schemas.Object, draft string) (id int, err error) {
	body, err := schemas.Encode(action)
	if err != nil {
		return 0, err
	}
	id, err = nextFolder(b)
	if err != nil {
		return 0, console.Refused("workspace.folder", "path", layout.NemawashiRoot, "error", console.Plain(err))
	}
	dir := path.Join(layout.NemawashiRoot, strconv.Itoa(id))
	for _, d := range []engine.Document{{Path: dir + "/drafts/v1.md", Body: []byte(draft)}, {Path: dir + "/action.json", Body: body}} {
		if err := b.Store.Write(d); err != nil {
			return 0, console.Refused("workspace.write", "path", d.Path, "error", console.Plain(err))
		}
	}
	return id, nil
}

// nextFolder makes the folder of the next action. Its number is the highest one plus 1, or a
// later one if another process makes that folder first.
func nextFolder(b *workspace.Workspace) (id int, err error) {
	disk := fs.OS(b.Root)
	names, err := MadeAndListed(disk, layout.NemawashiRoot)
	if err != nil {
		return 0, err
	}
	for _, e := range names {
		if n, err := strconv.Atoi(e.Name); err == nil && layout.IsNemawashiID(e.Name) {
			id = max(id, n)
		}
	}
	for {
		id++
		err := disk.Mkdir(path.Join(layout.NemawashiRoot, strconv.Itoa(id)), 0o777)
		if !errors.Is(err, iofs.ErrExist) {
			return id, err
		}
	}
}

// MadeAndListed makes a folder of the family, follows no link on the way, and lists it.
func MadeAndListed(disk fs.FS, dir string) ([]fs.Name, error) {
	for _, d := range []string{path.Dir(dir), dir} {
		if err := disk.Mkdir(d, 0o777); err != nil && !errors.Is(err, iofs.ErrExist) {
			return nil, err
		}
	}
	return disk.List(dir)
}

// Check returns the reason why an action would not be registered, or nil.
func Check(action schemas.Object) error {
	body, err := schemas.Encode(action)
	if err != nil {
		return err
	}
	return nemawashi.CheckAction(body)
}

// Threads returns the actions that fit, the one that changed last first.
func Threads(b *workspace.Workspace, fits func(nemawashi.State) bool) []Thread {
	list := []Thread{}
	for _, f := range All(b) {
		st, ok := State(b, f)
		if !ok || !fits(st) {
			continue
		}
		events := Events(b, f)
		list = append(list, Thread{
			st.ThreadID, st.ActionID, st.Status, draftOf(b, f, st), st.ProjectID, st.Severity, st.UpdatedAt, events[max(0, len(events)-shownEvents):],
		})
	}
	slices.SortFunc(list, func(x, y Thread) int {
		return cmp.Or(-strings.Compare(string(x.UpdatedAt), string(y.UpdatedAt)), -cmp.Compare(x.ActionID, y.ActionID))
	})
	return list
}

// All returns the actions of nemawashi.
func All(b *workspace.Workspace) []loop.Found {
	return slices.DeleteFunc(b.Runs(), func(f loop.Found) bool { return f.Run.Family != "nemawashi" })
}

// State returns the state of an action as a pass would judge it; ok is false if the action has no
// usable state.
func State(b *workspace.Workspace, f loop.Found) (st nemawashi.State, ok bool) {
	snap, err := b.SettledRun(f, false)
	if err != nil {
		return st, false
	}
	return nemawashi.Judge(snap)
}

// ChangedFile returns a file of an action that differs from what was registered. It returns "" if
// none does, and for a run that is no action. A draft that placet wrote itself may be missing:
// placet can write it again.
func ChangedFile(b *workspace.Workspace, f loop.Found) string {
	if f.Run.Family != "nemawashi" {
		return ""
	}
	st, ok := State(b, f)
	if !ok {
		return ""
	}
	if b.ReadDocument(f, "action.json").Sum != st.ActionDigest {
		return "action.json"
	}
	for i, draft := range st.Drafts {
		d := b.ReadDocument(f, draftName(i+1))
		if d.Sum != draft.Digest && (d.Present() || i == 0) {
			return draftName(i + 1)
		}
	}
	return ""
}

func draftName(version int) string { return fmt.Sprintf("drafts/v%d.md", version) }

// Note returns the text of the problem note that keeps an action from being registered, or its
// draft or state from being used; "" without such a note.
func Note(b *workspace.Workspace, f loop.Found) string {
	for _, name := range []string{"state.json", "action.json", draftName(1)} {
		if d := b.ReadDocument(f, name+layout.ProblemSuffix); d.Present() {
			return engine.NoteBody(string(d.Body))
		}
	}
	return ""
}

// draftOf returns the beginning of the draft in force.
func draftOf(b *workspace.Workspace, f loop.Found, st nemawashi.State) string {
	text := st.Summary
	if n := len(st.Drafts); n > 0 {
		text = string(b.ReadDocument(f, draftName(n)).Body)
	}
	if runes := []rune(text); len(runes) > view.ShownDraft {
		text = string(runes[:view.ShownDraft]) + "..."
	}
	return text
}

// Events returns the events of an action's audit, oldest first.
func Events(b *workspace.Workspace, f loop.Found) []nemawashi.Event {
	list := []nemawashi.Event{}
	journal, _ := f.Family.Layout.File(f.Run, "events.jsonl")
	journal.End, journal.Limit = 0, layout.LimitState // all of it
	for line := range strings.Lines(string(b.Settled(path.Join(f.Run.Dir, "events.jsonl"), journal).Body)) {
		var e nemawashi.Event
		if schemas.Decode("nemawashi/event", "events.jsonl", []byte(line), &e) == nil && !e.JournalOnly() {
			list = append(list, e)
		}
	}
	return list
}

// WriteCommand writes a command for an action into the intake folder of a name. It succeeds if
// the same command is already there.
func WriteCommand(b *workspace.Workspace, f loop.Found, id string, body []byte) (file string, err error) {
	doc := engine.Document{Path: path.Join(f.Run.Dir, "intake", id, "command.json"), Body: body}
	err = b.Put(doc, "")
	if errors.Is(err, store.ErrConflict) && bytes.Equal(b.ReadDocument(f, "intake/"+id+"/command.json").Body, body) {
		err = nil
	}
	if err != nil {
		return doc.Path, console.Refused("workspace.write", "path", doc.Path, "error", console.Plain(err))
	}
	return doc.Path, nil
}

// CommandReceipt returns the outcome of a command: its receipt, if this machine wrote it, or the
// text of the note beside it. It returns nil and "" while there is neither.
func CommandReceipt(b *workspace.Workspace, f loop.Found, id string) (rc *nemawashi.IntakeReceipt, problem string) {
	seen, err := b.Loop.Look(f)
	if d := seen.Snap.In("intake/" + id + "/receipt.json"); err == nil && d.IssuedHere() && schemas.Decode("nemawashi/receipt", d.Path, d.Body, &rc) == nil {
		return rc, ""
	}
	if d := b.ReadDocument(f, "intake/"+id+"/problem.md"); d.Present() {
		return nil, console.OneLine(string(d.Body))
	}
	return nil, ""
}
