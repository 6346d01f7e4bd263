package web

import (
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"placet/cmd/placet/console"
	"placet/engine/statedir"
)

// refusals counts answers of people who may not give them, and keeps the newest of them in
// the state folder: nothing is written into the workspace.
type refusals struct {
	dir *statedir.Dir
	mu  sync.Mutex
	n   int
}

// Files of the newest refusals, and how long the first may become, in bytes.
const (
	refusedName    = "refused.jsonl"
	refusedOld     = "refused.1.jsonl"
	longestRefused = 1 << 20
)

// refusal is a line of the file.
type refusal struct {
	At      time.Time `json:"at"`
	Run     string    `json:"run"`
	Request string    `json:"request_id"`
	Who     string    `json:"who"`
	Answer  string    `json:"response"`
}

// add notes an answer that somebody may not give.
func (r *refusals) add(x refusal, log *slog.Logger) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	if r.n == 1 || r.n%100 == 0 {
		log.Warn("an answer was refused: its author may not answer", "run", x.Run, "request", x.Request, "who", x.Who, "refused_so_far", r.n)
	}
	x.Answer = console.Cut(x.Answer, 200)
	line, err := json.Marshal(x)
	if err == nil {
		err = r.append(append(line, '\n'))
	}
	if err != nil {
		log.Debug("a refused answer cannot be noted", "err", err)
	}
}

func (r *refusals) append(line []byte) error {
	if r.dir == nil {
		return nil
	}
	root := r.dir.Root()
	if info, err := root.Lstat(refusedName); err == nil && info.Size() > longestRefused-int64(len(line)) {
		if err := root.Rename(refusedName, refusedOld); err != nil {
			return err
		}
	}
	f, err := root.OpenFile(refusedName, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	return errors.Join(err, f.Close())
}

// Refused is how many answers were refused because their author may not give them.
func (a *App) Refused() int {
	a.refused.mu.Lock()
	defer a.refused.mu.Unlock()
	return a.refused.n
}
