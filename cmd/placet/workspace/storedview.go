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

// stored returns the view that an earlier placet made of a run, if it holds.
func (b *Workspace) stored(round *reconcile.Stored, f reconcile.Found) (v View, ok bool) {
	packed, ok := round.View(f)
	if !ok {
		return View{}, false
	}
	if v, ok = unpackView(packed); !ok {
		return View{}, false
	}
	v.Found, v.Key = f, f.Key()
	now := b.Env.Now()
	for i := range v.Open {
		a := &v.Open[i]
		a.Run, a.Overdue = v.Key, !a.Deadline.IsZero() && !now.Before(a.Deadline)
	}
	return v, true
}

// packedView is what the verbs that look at every run show of one: no facts, no plan, no
// log.
type packedView struct {
	Class, Short          string
	Status                engine.Status
	Final, Absent, Stands bool
	Since                 time.Time
	Awaited               string
	Open                  []packedRequest
	Notes                 []Note
	Untrusted             []engine.Untrusted
	Findings              []engine.Finding
	Stray                 []string
}

// packedRequest is a request with what nobody is shown of it.
type packedRequest struct {
	engine.Asked
	Members  []string
	NoReject string
	Words    [][]string
}

// packView packs a view for a later placet.
func packView(v View) []byte {
	p := packedView{
		Class: v.Class, Short: v.Short, Status: v.Status, Final: v.Final, Absent: v.Absent, Stands: v.Stands, Since: v.Since.UTC(),
		Awaited: v.Awaited, Notes: v.Notes, Untrusted: v.Untrusted, Findings: v.Findings, Stray: v.stray,
	}
	for _, a := range v.Open {
		r := packedRequest{Asked: a, Members: a.Members, NoReject: a.NoReject}
		for _, o := range a.Options {
			r.Words = append(r.Words, o.Words)
		}
		p.Open = append(p.Open, r)
	}
	body, err := json.Marshal(p)
	if err != nil {
		return nil // nothing is stored of it
	}
	return body
}

// unpackView is a view as it was packed.
func unpackView(packed []byte) (v View, ok bool) {
	var p packedView
	if json.Unmarshal(packed, &p) != nil {
		return View{}, false
	}
	v.Class, v.Short, v.Status, v.Final, v.Absent, v.Stands = p.Class, p.Short, p.Status, p.Final, p.Absent, p.Stands
	v.Since, v.Awaited, v.Notes, v.Untrusted, v.Findings, v.stray = p.Since, p.Awaited, p.Notes, p.Untrusted, p.Findings, p.Stray
	for _, r := range p.Open {
		a := r.Asked
		a.Members, a.NoReject = r.Members, r.NoReject
		if len(r.Words) != len(a.Options) {
			return View{}, false
		}
		for i, words := range r.Words {
			a.Options[i].Words = words
		}
		v.Open = append(v.Open, a)
	}
	return v, true
}
