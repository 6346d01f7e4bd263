package faber

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"placet/cmd/placet/cli/ask"
	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/daemon"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/faber"
	"placet/engine/loop"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/layout"
	"placet/schemas"
)

// exitRefused is the exit code of a call that is refused.
const exitRefused = 6

// waitForEver is the length of a wait without an end.
const waitForEver = "forever"

// GateVerb returns the verb with which an agent asks whether a phase or a step may go on.
func GateVerb() verb.Verb {
	var wait string
	return verb.Verb{
		Use: "gate RUN PHASE[:STEP]", Least: 2, Most: 2, Complete: verb.CompleteRuns,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&wait, "wait", "", "")
			f.Lookup("wait").NoOptDefVal = waitForEver
		},
		Look: func(c verb.Call, b *workspace.Workspace) error {
			limit, err := waitOf(wait)
			if err != nil {
				return err
			}
			g, err := newGate(b, c.Args[0], c.Args[1])
			if err != nil {
				return err
			}
			return g.call(c.Ctx, limit)
		},
	}
}

// waitOf reads how long to wait: not at all, for a time, or for ever.
func waitOf(text string) (time.Duration, error) {
	switch text {
	case "":
		return 0, nil
	case waitForEver:
		return 1<<63 - 1, nil
	}
	return ask.Duration(text)
}

// gateCall is one call of a program.
type gateCall struct {
	// b makes passes over the run alone.
	b           *workspace.Workspace
	f           loop.Found
	phase, step string
}

// newGate finds the run and opens the workspace for it alone. Commands stay with the daemon, or with
// once: whoever calls is an agent that goes on by itself.
func newGate(b *workspace.Workspace, run, place string) (gateCall, error) {
	f, err := view.OneRun(b, run)
	if err != nil {
		return gateCall{}, err
	}
	g := gateCall{f: f}
	g.phase, g.step, _ = strings.Cut(place, ":")
	switch {
	case f.Run.Family != "faber":
		return g, console.Usage("cli.control.other", "verb", "gate", "run", console.Brief(f.Key()), "noun", b.Env.Text("family.noun.faber"))
	case f.Run.Class != layout.FaberRun:
		return g, console.Refused("family.unserved", "verb", "gate", "run", console.Brief(f.Key())).Try("say.text", "text", console.Typed("show --why", f.Run.ID))
	case !slices.Contains(faber.Phases(), g.phase) || strings.HasSuffix(place, ":"):
		return g, console.Usage("cli.gate.place", "place", strconv.Quote(console.OneLine(place)), "phases", strings.Join(faber.Phases(), ", "))
	}
	g.b, err = workspace.Open(b.Env, workspace.Setup{Family: "faber", NoCommands: true, Acts: true, TryNow: true, Attach: []func(*loop.Options){func(o *loop.Options) {
		for i := range o.Families {
			o.Families[i].Layout = oneRun{o.Families[i].Layout, f.Run}
		}
	}}})
	return g, err
}

// oneRun is the layout of a family that lists only one of its runs.
type oneRun struct {
	layout.Family
	run layout.Run
}

// Runs implements [layout.Family].
func (l oneRun) Runs(layout.Lister) ([]layout.Run, error) { return []layout.Run{l.run}, nil }

// call writes the call, and reports the reply. It waits for up to limit until the reply is that the
// agent may or may not go on.
func (g gateCall) call(ctx context.Context, limit time.Duration) error {
	if err := g.usable(); err != nil {
		return err
	}
	if err := g.write(); err != nil {
		return err
	}
	reply, err := g.replied(ctx, limit)
	if err := errors.Join(err, daemon.StopRunner(g.b.Runner)); err != nil {
		return err
	}
	if reply.Unnamed {
		return console.Refused("cli.gate.unnamed", "phase", g.phase, "run", console.Brief(g.f.Key())).Try("cli.gate.unnamed.try", "phase", g.phase)
	}
	data := append(schemas.Object{{Name: "run", Value: g.f.Key().String()}}, reply.Members()...)
	err = g.b.Env.Answer(data, func() { g.b.Env.Say("say.text", "text", reply.Result+": "+console.OneLine(reply.Why)) })
	switch {
	case err != nil || reply.Result == faber.GatePass:
		return err
	case reply.Result == faber.GateRefused:
		return console.Exit(exitRefused)
	}
	return console.Exit(console.ExitOpen)
}

// usable returns why nobody can ask about the run, or nil.
func (g gateCall) usable() error {
	v := view.Of(g.b, g.f)
	if v.Err == nil && !v.Absent && !v.Blocked && v.Status != faber.Completed && v.Status != faber.Failed {
		return nil
	}
	return console.Refused("cli.gate.unusable", "run", console.Brief(g.f.Key()), "status", v.Status).Try("say.text", "text", console.Typed("show --why", console.Brief(g.f.Key())))
}

// write writes the call. A repeated call replaces it, because it may be for another attempt.
func (g gateCall) write() error {
	rel, _ := layout.FaberGateFiles(g.phase, g.step)
	o := schemas.Object{{Name: "phase", Value: g.phase}}
	if g.step != "" {
		o = append(o, schemas.Member{Name: "step", Value: g.step})
	}
	at := g.b.Env.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	body, err := schemas.Encode(append(o, schemas.Object{{Name: "by", Value: console.Login()}, {Name: "at", Value: at}}...))
	if err != nil {
		return err
	}
	d := engine.Document{Path: path.Join(g.f.Run.Dir, rel), Kind: layout.FaberGate, Body: body}
	for range 3 {
		there := g.b.ReadDocument(g.f, rel)
		d.Over = there.Sum
		if err = g.b.Store.Write(d); !errors.Is(err, store.ErrConflict) {
			break
		}
	}
	if err != nil {
		return console.Refused("cli.gate.write", "file", d.Path, "error", console.Plain(err))
	}
	return nil
}

// These say how long a reply may take, and how often it is read again: while the gate is opened, by
// a daemon or because a file must stand still first, and while a person decides.
const (
	openTime = 5 * time.Second
	openPoll = 100 * time.Millisecond
	waitPoll = time.Second
)

// replied makes passes until there is a reply that stands, and then until the wait is over.
func (g gateCall) replied(ctx context.Context, limit time.Duration) (reply faber.GateReply, err error) {
	began := time.Now()
	for {
		if err := g.pass(ctx); err != nil {
			return reply, err
		}
		if reply, err = g.read(); err != nil || reply.Result != faber.GateWaits {
			return reply, err
		}
		waited, poll, longest := time.Since(began), openPoll, max(openTime, limit)
		if reply.RequestID != "" {
			poll, longest = waitPoll, limit
		}
		if waited >= longest {
			return reply, nil
		}
		select {
		case <-ctx.Done():
			return reply, console.Exit(console.ExitInterrupted)
		case <-time.After(min(poll, longest-waited)):
		}
	}
}

// pass makes one pass over the run, unless a daemon makes it or git rewrites the tree.
func (g gateCall) pass(ctx context.Context) error {
	if g.b.Env.InGitHook() {
		return nil
	}
	unlock, err := g.b.LockWorkspace()
	if errors.Is(err, fs.ErrBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unlock()
	if _, held := g.b.Store.Paused(); held {
		return nil
	}
	if err := g.b.Runner.Recover(); err != nil {
		return err
	}
	_, err = daemon.Settle(ctx, g.b)
	return err
}

// read judges the call as a pass would: a reply that somebody wrote says nothing.
func (g gateCall) read() (faber.GateReply, error) {
	snap, err := g.b.SettledRun(g.f, true)
	if err != nil {
		return faber.GateReply{}, console.Refused("say.text", "text", console.Plain(err))
	}
	reply, ok := faber.New().Gate(snap, g.phase, g.step)
	if !ok {
		return reply, cmp.Or(g.usable(), error(console.Refused("cli.gate.unusable", "run", console.Brief(g.f.Key()), "status", "?")))
	}
	return reply, nil
}
