package workspace

import (
	"encoding/json"
	"fmt"
	"os"
	"syscall"
	"time"

	"placet/engine"
	"placet/engine/reconcile"
)

// mark stands for this program and its user in what is stored between two starts:
// another program may make something else of the same files, and another user may
// be refused some of them. ok is false where the program cannot tell which it is.
func mark() (m string, ok bool) {
	info, err := os.Stat("/proc/self/exe") // the one that runs, even if it was replaced since
	if err != nil {
		var exe string
		if exe, err = os.Executable(); err == nil {
			info, err = os.Stat(exe)
		}
	}
	if err != nil {
		return "", false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", false
	}
	return fmt.Sprint(st.Dev, st.Ino, info.Size(), info.ModTime().UnixNano(), changedNano(st), os.Geteuid(), os.Getegid()), true
}

// storedView is what the verbs that look at every run show of one: no facts, no plan, no
// log.
type storedView struct {
	Class, Short           string        `json:",omitempty"`
	Status                 engine.Status `json:",omitempty"`
	Final, Absent, Blocked bool          `json:",omitempty"`
	Since                  time.Time
	Waits                  string             `json:",omitempty"`
	Open                   []engine.Asked     `json:",omitempty"`
	Notes                  []Note             `json:",omitempty"`
	Untrusted              []engine.Untrusted `json:",omitempty"`
	Findings               []engine.Finding   `json:",omitempty"`
	Stray                  []string           `json:",omitempty"`
}

// stored returns the view that an earlier placet made of a run, if it holds.
func (b *Workspace) stored(round *reconcile.Stored, f reconcile.Found) (v View, ok bool) {
	body, ok := round.View(f)
	var s storedView
	if !ok || json.Unmarshal(body, &s) != nil {
		return View{}, false
	}
	v.Class, v.Short, v.Status, v.Final, v.Absent, v.Stands = s.Class, s.Short, s.Status, s.Final, s.Absent, s.Blocked
	v.Since, v.Awaited, v.Open, v.Notes, v.Untrusted, v.Findings, v.stray = s.Since, s.Waits, s.Open, s.Notes, s.Untrusted, s.Findings, s.Stray
	v.Found, v.Key = f, f.Key()
	now := b.Env.Now()
	for i := range v.Open {
		a := &v.Open[i]
		a.Run, a.Overdue = v.Key, !a.Deadline.IsZero() && !now.Before(a.Deadline)
	}
	return v, true
}

// storeView has a later placet take over the view of a run.
func (b *Workspace) storeView(f reconcile.Found, seen reconcile.Seen, v View) {
	body, err := json.Marshal(storedView{
		v.Class, v.Short, v.Status, v.Final, v.Absent, v.Stands, v.Since.UTC(), v.Awaited, v.Open, v.Notes, v.Untrusted, v.Findings, v.stray,
	})
	if err == nil {
		b.Loop.StoreView(f, seen, body)
	}
}
