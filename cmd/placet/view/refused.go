package view

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"time"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine/statedir"
	"placet/templates"
)

// These are the files of the newest refused answers in the state folder, and the largest size
// of the first, in bytes.
const (
	refusedName    = "refused.jsonl"
	refusedOld     = "refused.1.jsonl"
	longestRefused = 1 << 20
)

// Refusal is an answer from a person who may not give it. It leaves nothing in the workspace.
type Refusal struct {
	At      time.Time `json:"at"`
	Run     string    `json:"run"`
	Request string    `json:"request_id"`
	Who     string    `json:"who"`
	Answer  string    `json:"response"`
}

// KeepRefusal adds a refused answer to those in the state folder.
func KeepRefusal(b *workspace.Workspace, r Refusal) error {
	if b.StateDir == nil {
		return nil
	}
	r.Answer = console.Cut(r.Answer, ShownDraft)
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	root := b.StateDir.Root()
	if info, err := root.Lstat(refusedName); err == nil && info.Size() > longestRefused-int64(len(line)+1) {
		if err := root.Rename(refusedName, refusedOld); err != nil {
			return err
		}
	}
	f, err := root.OpenFile(refusedName, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// refused says how many answers to a run, or to one request of it, were refused, as far as the
// state folder remembers; "" if none were.
func refused(lang string, dir *statedir.Dir, run, request string) string {
	if dir == nil {
		return ""
	}
	n, last := 0, Refusal{}
	for _, name := range []string{refusedOld, refusedName} {
		body, err := dir.Read(name, 2*longestRefused)
		if err != nil {
			continue
		}
		for line := range bytes.Lines(body) {
			var r Refusal
			if json.Unmarshal(line, &r) == nil && r.Run == run && (request == "" || r.Request == request) {
				n, last = n+1, r
			}
		}
	}
	if n == 0 {
		return ""
	}
	return templates.Phrase(lang, "workspace.refused", "n", n, "who", console.OneLine(last.Who), "at", console.Stamp(last.At))
}
