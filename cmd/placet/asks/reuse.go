package asks

import (
	"cmp"
	"errors"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/ask"
	"placet/engine/loop"
	"placet/engine/statedir"
	"placet/engine/store"
	"placet/layout"
	"placet/templates"
)

// CountUse counts that one more caller gets the answer of an ask, and returns the count before
// that, nil the first time. It only notes an error of the count and stops nobody, because the
// count decides nothing.
func (a *Asks) CountUse(f loop.Found) (before *ask.Reuse) {
	a.passing.Lock()
	defer a.passing.Unlock()
	if unlock, err := a.Workspace.LockWorkspace(); err == nil { // a daemon holds it all its life
		defer unlock()
	}
	for range 3 {
		var err error
		if before, err = a.addUse(f); errors.Is(err, store.ErrConflict) {
			continue // another process counted
		}
		if err != nil {
			a.Workspace.Env.Note("workspace.use.uncounted", "ask", console.Brief(f.Key()), "error", console.Plain(err))
		}
		break
	}
	return before
}

// addUse adds one use to the count in the file. It leaves a count that cannot be used alone.
func (a *Asks) addUse(f loop.Found) (before *ask.Reuse, err error) {
	d := a.Workspace.ReadDocument(f, "reuse.json")
	before, err = ask.ReadReuse(d)
	if err != nil || a.Workspace.Env.InGitHook() {
		return nil, err
	}
	body, err := before.Again(a.Workspace.Env.Now()).Encode()
	if err != nil {
		return before, err
	}
	return before, a.Workspace.Store.Write(engine.Document{Path: path.Join(f.Run.Dir, "reuse.json"), Kind: layout.KindReuse, Body: body, Over: d.Sum})
}

// TakeUse takes the one use of the answer of an ask, durably, and returns the state with the
// answer. It refuses if the use was taken before, or if this machine does not know for certain
// that the answer was given to its question.
func (a *Asks) TakeUse(f loop.Found, tool string) (st ask.State, err error) {
	name := console.Brief(f.Key())
	st, err = a.ownAnswer(f)
	if err != nil {
		return st, console.Changed("workspace.use.refused", "ask", name, "error", err).Try("workspace.use.try")
	}
	now := a.Workspace.Env.Now()
	before, err := a.Workspace.StateDir.TakeUse(f.Run.ID, statedir.Use{
		Request: engine.Digest(st.RequestDigest), By: statedir.Taker{Tool: tool, PID: os.Getpid()}, TakenAt: now.UTC().Truncate(time.Second),
	})
	switch {
	case err != nil:
		return st, console.Changed("workspace.use.refused", "ask", name, "error", err).Try("say.text", "text", console.Typed("doctor"))
	case before != nil:
		return st, console.Changed("workspace.use.spent", "ask", name, "at", clockTime(now, before.TakenAt), "tool", before.By.Tool, "pid", strconv.Itoa(before.By.PID)).
			Try("workspace.use.try")
	}
	return st, nil
}

// ownAnswer returns the state of an answered ask, if this machine wrote all files that show the
// answer.
func (a *Asks) ownAnswer(f loop.Found) (st ask.State, err error) {
	if a.Workspace.StateDir == nil {
		return st, cmp.Or(a.Workspace.Stateless, templates.Errorf("workspace.use.other"))
	}
	snap, err := a.Workspace.SettledRun(f, true)
	if err != nil {
		return st, err
	}
	j := ask.Judge(snap)
	switch {
	case !j.Begun || j.Changed || !a.differs(j.State).IsNone() || j.State.Status != ask.Answered:
		return st, templates.Errorf("workspace.use.other")
	case j.Foreign != "":
		return st, templates.Errorf("workspace.use.foreign", "file", j.Foreign)
	}
	return j.State, nil
}

// clockTime returns the time of a moment, with the day if it is not today.
func clockTime(now, at time.Time) string {
	text := console.Moment(at)
	if day, clock, _ := strings.Cut(text, " "); strings.HasPrefix(console.Moment(now), day+" ") {
		return clock
	}
	return text
}
