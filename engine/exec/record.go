package exec

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"syscall"
	"time"

	"placet/engine"
	"placet/layout"
	"placet/schemas"
)

// actionsDir is the folder in the workspace's state folder that holds a folder
// for every running command. If it vanishes, a running command counts as lost.
const actionsDir = "actions"

// These are the names of the files in a command's folder.
const (
	recordName = "process.json"
	stdinName  = "stdin"
	stdoutName = "stdout"
	stderrName = "stderr"
	outputName = "output" // both, if they are merged
	// producedName is the file that a command may write; see [engine.Action].Output.
	producedName = "produced"
)

// record is what a later placet must know to conclude an attempt.
type record struct {
	ID      string  `json:"id"`
	Outcome string  `json:"outcome"`
	Kind    string  `json:"kind"`
	Fields  []field `json:"fields"`
	// Judge and the members below say what the outcome has to report; see
	// [engine.Action].
	Judge    bool   `json:"judge,omitempty"`
	Expected string `json:"expected,omitempty"`
	Tail     int    `json:"tail,omitempty"`
	// Argv is the command, which identifies the agreement to it.
	Argv []string `json:"argv,omitempty"`
	// Cwd is where the command runs, relative to the workspace.
	Cwd     string    `json:"cwd"`
	Agent   bool      `json:"agent"`
	Started time.Time `json:"started_at"`
	// Timeout is how long the command may run, 0 for ever.
	Timeout time.Duration `json:"timeout_ns"`
	// Pid is 0 until the program has been started.
	Pid int `json:"pid"`
	// Boot and Birth distinguish the process from another with the same id;
	// Session distinguishes its group from another after the process has ended.
	Boot    string `json:"boot"`
	Birth   string `json:"birth"`
	Session *int   `json:"session,omitempty"`
	// Stopped says that an orderly stop ended the command, and that it has no
	// outcome and has to begin again.
	Stopped bool `json:"stopped,omitempty"`
}

// field is an [engine.Field] on disk.
type field struct {
	Name  string      `json:"name"`
	Value schemas.Raw `json:"value"`
}

func newRecord(a engine.Action, now time.Time) (record, error) {
	r := record{
		ID: a.ID, Outcome: a.Outcome, Kind: a.Kind, Judge: a.Judge, Expected: a.Expected, Tail: a.Tail,
		Argv: a.Command.Argv, Agent: a.Outlives(), Started: now, Timeout: a.Command.Timeout,
	}
	for _, f := range a.Fields {
		value, err := schemas.Encode(f.Value)
		if err != nil {
			return r, fmt.Errorf("cannot record the field %q: %v", f.Name, err)
		}
		r.Fields = append(r.Fields, field{Name: f.Name, Value: value})
	}
	return r, nil
}

// identify notes which process the command is. If the system does not say when it
// started, no later placet recognizes it.
func (r *record) identify(pid int) {
	r.Pid, r.Boot = pid, boot()
	if sid, known := sessionOf(pid); known {
		r.Session = &sid
	}
	r.Birth, _ = birth(pid)
}

// remaining returns how long the command may still run, nil for ever.
func (r record) remaining(now time.Time) *time.Duration {
	if r.Timeout <= 0 {
		return nil
	}
	d := r.Started.Add(r.Timeout).Sub(now)
	return &d
}

// folder returns the command's folder, relative to the state folder.
func folder(id string) string { return path.Join(actionsDir, engine.Sum([]byte(id)).Hex()[:16]) }

// save writes the record so that a reader finds either the old or the new one.
// It does not make the record durable, because a power cut ends the process
// too.
func (r record) save(root *os.Root) error {
	body, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	name := path.Join(folder(r.ID), recordName)
	if err := root.WriteFile(name+".tmp", append(body, '\n'), 0o600); err != nil {
		return err
	}
	return root.Rename(name+".tmp", name)
}

// readRecord reads the record in a command's folder.
func readRecord(root *os.Root, dir string) (record, error) {
	var r record
	name := path.Join(dir, recordName)
	f, size, err := openRegular(root, name)
	if err != nil {
		return r, err
	}
	defer f.Close()
	if size > layout.LimitJSON {
		return r, fmt.Errorf("cannot read %s: it is larger than any record", name)
	}
	body, err := io.ReadAll(io.LimitReader(f, size))
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return r, fmt.Errorf("cannot read %s: %v", name, err)
	}
	if folder(r.ID) != dir {
		return r, fmt.Errorf("cannot use %s: it is not the record of this folder's command", name)
	}
	return r, nil
}

// openRegular opens a file of a command's folder for reading and returns its
// size. It refuses what is no regular file and never blocks, because the command
// may have put something else in the file's place.
func openRegular(root *os.Root, name string) (*os.File, int64, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() {
		return f, info.Size(), nil
	}
	f.Close()
	if err == nil {
		err = fmt.Errorf("cannot read %s: it is no regular file", name)
	}
	return nil, 0, err
}

// action returns the action that the record was made for, as far as the record
// holds it.
func (r record) action() engine.Action {
	a := engine.Action{
		ID: r.ID, Outcome: r.Outcome, Kind: r.Kind, Judge: r.Judge, Expected: r.Expected, Tail: r.Tail,
		Command: engine.Command{Argv: r.Argv, Agent: r.Agent, Timeout: r.Timeout, Dir: r.Cwd},
	}
	if a.Kind == "" { // the record is older than the commands of other families
		a.Kind = layout.FaberOutcome
	}
	for _, f := range r.Fields {
		a.Fields = append(a.Fields, engine.Field{Name: f.Name, Value: f.Value})
	}
	return a
}
