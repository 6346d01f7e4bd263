package hook

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"placet/cmd/placet/asks"
	"placet/cmd/placet/config"
	"placet/cmd/placet/hook"
	"placet/engine/ask"
	"placet/engine/gate"
	"placet/engine/loop"
	"placet/templates"
)

// A client may show its own prompt while placet asks the same. If placet is answered first, the client
// closes its prompt. If the client is, nobody says so: Claude Code ends the hook when its user
// refuses, and not when they agree. So each later call of the hook by the session takes back the
// questions that the client has left behind.

// promptRules returns the rules of one workspace for the client's own prompts. Beside such a prompt, a
// person is asked about every call that no rule denies.
func (h *hookCall) promptRules(c config.Hook) (rules []config.HookRule) {
	switch {
	case c.First == config.FirstAny && h.client.PromptsBeside(h.Env.Getenv) && !h.in.IsForClient():
		rules = slices.Clone(c.Rule)
	case c.Permission != config.HookAsk:
		return nil
	}
	for i, r := range rules {
		if r.Do != config.HookAsk && r.Do != config.HookDeny {
			rules[i].Do, rules[i].Reason = config.HookAsk, ""
		}
	}
	return append(rules, config.HookRule{Do: config.HookAsk})
}

// promptingModes are the modes of Claude Code in which a hook's "ask" always brings its prompt. In the
// others some versions run the call unasked (github.com/anthropics/claude-code, issues 51255, 77212 and
// 89561), so placet asks alone there.
var promptingModes = []string{"default", "acceptEdits", "plan"}

// isBeside reports whether the client's own prompt may be answered, too. All workspaces that ask must
// say so, and none of their gates may name who answers: the client does not know who sits there.
func (h *hookCall) isBeside(asking []int) bool {
	if h.in.IsForClient() || !h.client.PromptsBeside(h.Env.Getenv) {
		return false
	}
	if h.in.Moment == hook.BeforeTool && !slices.Contains(promptingModes, h.in.Mode) {
		return false
	}
	return !slices.ContainsFunc(asking, func(i int) bool {
		w := h.workspaces[i]
		return w.conf.Hook.First != config.FirstAny || h.in.Moment == hook.BeforeTool && gate.Demands(w.gate())
	})
}

// parentPause is the pause between two looks whether the client still runs.
const parentPause = time.Second

// whileAsked returns the context of the wait for an answer. At a prompt it ends with the client, too:
// nobody would take the answer.
func (h *hookCall) whileAsked() (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(h.Ctx)
	if h.in.Moment == hook.Permission {
		go stopWithParent(ctx, stop)
	}
	return ctx, stop
}

func stopWithParent(ctx context.Context, stop context.CancelFunc) {
	look := time.NewTicker(parentPause)
	defer look.Stop()
	for parent := os.Getppid(); os.Getppid() == parent; {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
	stop()
}

// givenUp is why a question is taken back when the client ends the hook.
func (h *hookCall) givenUp() templates.Key {
	if h.in.Moment == hook.Permission {
		return "cli.hook.left"
	}
	return "cli.hook.givenup"
}

// leave takes back the open questions of the session about calls for which the client waits no longer.
func (h *hookCall) leave() (err error) {
	if h.in.Session == "" {
		return nil
	}
	for i := range h.workspaces {
		h.work(i)
		err = cmp.Or(err, h.leaveHere())
	}
	return err
}

// leaveHere does so in one workspace. A call that was made answers one prompt, the oldest: equal calls
// are made one after the other.
func (h *hookCall) leaveHere() error {
	waited := h.waited()
	if len(waited) == 0 {
		return nil
	}
	a, err := asks.Open(h.Ctx, h.Env)
	if err != nil {
		return err
	}
	left, why := h.open(a, waited, h.in.HasLeft), templates.Key("cli.hook.left")
	if h.in.Moment == hook.AfterTool {
		left, why = left[:min(len(left), 1)], "cli.hook.elsewhere"
	}
	for _, f := range left {
		err = cmp.Or(err, h.takeBack(a, f, why))
	}
	return err
}

// waited returns the ids of the asks for which a process waits, or was killed while it did.
func (h *hookCall) waited() []string {
	dir := config.PathDir(h.Env, h.root)
	if dir == nil {
		return nil
	}
	defer dir.Close()
	return dir.Waited()
}

// open returns those of some asks that are open questions of this session about certain calls, the oldest
// first.
func (h *hookCall) open(a *asks.Asks, ids []string, about func(call string) bool) (open []loop.Found) {
	keys := map[string]string{}
	for _, id := range ids {
		f, err := a.Find(id)
		st, begun := a.State(f)
		if err == nil && begun && !st.IsFinal() && h.isAbout(st, about) {
			open, keys[id] = append(open, f), string(st.Ask.IdempotencyKey)
		}
	}
	slices.SortFunc(open, func(x, y loop.Found) int { return strings.Compare(keys[x.Run.ID], keys[y.Run.ID]) })
	return open
}

// isAbout reports whether an ask is placet's own about certain calls of this session.
func (h *hookCall) isAbout(st ask.State, about func(call string) bool) bool {
	call, ours := strings.CutPrefix(string(st.Ask.IdempotencyKey), h.keys())
	by := st.Ask.AskedBy
	return ours && by != nil && by.Name == h.client.Name && by.Session == h.in.Session && slices.Contains(st.Ask.Tags, hookTag) && about(call)
}

// isAsked reports whether a notice is about a prompt beside which placet asks: people are notified of the
// question.
func (h *hookCall) isAsked() bool {
	if !h.in.IsAtPrompt() {
		return false
	}
	defer h.work(0)
	for i := range h.workspaces {
		h.work(i)
		waited := h.waited()
		if len(waited) == 0 {
			continue
		}
		if a, err := asks.Open(h.Ctx, h.Env); err == nil && len(h.open(a, waited, hook.IsPrompt)) > 0 {
			return true
		}
	}
	return false
}
