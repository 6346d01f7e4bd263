package asks

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"placet/cmd/placet/announce"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/engine/ask"
	"placet/engine/loop"
	"placet/templates"
)

// Wait waits until all asks, or the first of them, have ended, and returns those that have. It
// makes passes and notifies people itself if no daemon does, and notes once what keeps an ask
// from an answer. limit is how long it waits at most, 0 for ever. The error says why a question
// is not asked, or is that of a context: the given one, or the one of the limit.
func (a *Asks) Wait(ctx context.Context, limit time.Duration, found []loop.Found, first bool) (ended []ask.State, err error) {
	until, cancel := context.WithCancel(ctx)
	if limit > 0 {
		until, cancel = context.WithTimeout(ctx, limit)
	}
	defer cancel()
	telling, stop := context.WithCancel(ctx)
	announcer := announce.Asks(telling, a.Workspace)
	defer func() { stop(); announcer.Wait() }()
	said := map[string]bool{}
	waiting := a.newWaiters(a.Ephemeral)
	defer waiting.end()
	for {
		waiting.serve(found)
		a.noteOnce(said, cmp.Or(a.Pass(ctx), a.paused()))
		states, err := a.readStates(found, said)
		announcer.Asked(found, states)
		ended = slices.DeleteFunc(slices.Clone(states), func(st ask.State) bool { return !st.IsFinal() })
		switch {
		case len(ended) == len(found) || first && len(ended) > 0:
			return ended, nil
		case err != nil:
			return ended, err
		case until.Err() != nil:
			return ended, until.Err()
		}
		a.Await(until, states)
	}
}

// paused returns why no pass is made at this moment: git rewrites the tree. nil if one is.
func (a *Asks) paused() error {
	if reason, held := a.Workspace.Store.Paused(); held {
		return templates.Errorf("cli.status.held", "reason", reason)
	}
	return nil
}

// readStates reads the states of asks, and notes once what keeps them from an answer.
func (a *Asks) readStates(found []loop.Found, said map[string]bool) (states []ask.State, err error) {
	for _, f := range found {
		st, begun := a.State(f)
		if begun {
			states = append(states, st)
		} else {
			err = cmp.Or(err, a.Refused(f))
		}
		if !st.IsFinal() {
			v := view.Of(a.Workspace, f)
			for _, n := range v.Notes {
				a.noteOnce(said, errors.New(n.Path+": "+n.Text))
			}
			switch changed := a.outdated(v); {
			case changed != nil && a.KeepsWaiting:
				a.noteOnce(said, changed)
			case changed != nil:
				err = cmp.Or(err, changed)
			}
		}
	}
	return states, err
}

// changedFor is how long a file must differ from what was asked about before a wait ends.
const changedFor = 10 * time.Second

// outdated returns an error if nobody can answer what an open ask is about: its answers were
// void, or a file has differed for a while. Otherwise it returns nil.
func (a *Asks) outdated(v view.Run) error {
	for _, r := range v.Open {
		if r.Void != "" {
			return console.Changed("workspace.wait.void", "ask", console.Brief(v.Key), "why", r.Void).Try("workspace.ask.again")
		}
		for _, f := range r.Changed {
			if f.Now == "" || a.Workspace.Env.Now().Sub(f.Since) >= changedFor {
				return console.Changed("workspace.wait.changed", "ask", console.Brief(v.Key), "file", f.Path).Try("workspace.ask.again")
			}
		}
	}
	return nil
}

// noteOnce prints an error on standard error, unless it has done so before.
func (a *Asks) noteOnce(said map[string]bool, err error) {
	if err != nil && !errors.Is(err, context.Canceled) && !said[err.Error()] {
		said[err.Error()] = true
		a.Workspace.Env.Note("say.text", "text", console.OneLine(templates.In(a.Workspace.Env.Lang, err)))
	}
}
