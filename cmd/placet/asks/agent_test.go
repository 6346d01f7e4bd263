package asks

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine/ask"
	"placet/engine/facade"
	"placet/engine/facade/mcp"
	"placet/internal/await"
)

// agentAt opens a workspace for an agent, and serves its asks until the test ends.
func agentAt(t *testing.T) *Agent {
	t.Helper()
	root, home := t.TempDir(), t.TempDir()
	w := &console.Env{
		Out: io.Discard, Err: t.Output(), Now: time.Now, Cwd: root, Flags: console.Flags{Workspace: root},
		Getenv: func(name string) string {
			return map[string]string{"XDG_STATE_HOME": filepath.Join(home, "state"), "XDG_CONFIG_HOME": home}[name]
		},
	}
	ctx, cancel := context.WithCancel(t.Context())
	asks, err := Open(ctx, w)
	if err != nil {
		t.Fatal(err)
	}
	whole := asks.Workspace.Whole()
	var served sync.WaitGroup
	served.Go(func() { asks.Serve(ctx) })
	t.Cleanup(func() { cancel(); served.Wait() })
	return &Agent{
		Asks: asks, Who: facade.Identity{Roles: facade.Roles}, Origin: "this test",
		Look:        func() *workspace.Workspace { return whole.Viewer(facade.Identity{Source: "mcp"}) },
		Explanation: func(_ *workspace.Workspace, s view.Subject) string { return string(s.View.Status) },
	}
}

// ends waits until an ask ends.
func (g *Agent) ends(ctx context.Context, id string) (mcp.Answer, error) {
	for {
		changed := g.Changed()
		a, err := g.Answer(id)
		if err != nil || a.Status != string(ask.Open) {
			return a, err
		}
		select {
		case <-ctx.Done():
			return a, ctx.Err()
		case <-changed:
		}
	}
}

// A dialogue that could not show all of a question is not shown, and cannot answer it.
func TestADialogueShowsAllOrNothing(t *testing.T) {
	g := agentAt(t)
	ctx := await.Context(t)
	for length, shown := range map[int]bool{longestDetails: true, longestDetails + 1: false} {
		text := strings.Repeat("x", length-4) + " end"
		id, err := g.Ask(ctx, mcp.Question{Question: fmt.Sprintf("Go on with %d?", length), Context: text})
		if err != nil {
			t.Fatal(err)
		}
		d, ok := g.Dialogue(id)
		if ok != shown || strings.Contains(d.Message, text) != shown {
			t.Errorf("%d bytes: %v %+v", length, ok, d)
		}
		if err := g.Respond(ctx, id, mcp.Reply{Choices: []string{"reject"}}); (err == nil) != shown {
			t.Errorf("%d bytes, answered: %v", length, err)
		}
	}
}

// Several concurrent calls ask, look, answer by the host's dialogue and withdraw, in one
// workspace.
func TestAnAgentCallsSeveralToolsAtATime(t *testing.T) {
	g := agentAt(t)
	ctx := await.Context(t)
	var calls sync.WaitGroup
	for i := range 6 {
		calls.Go(func() {
			q := mcp.Question{Question: fmt.Sprintf("Go on with %d?", i), Options: []mcp.Option{{ID: "deploy"}, {ID: "wait", Comment: true}}}
			id, err := g.Ask(ctx, q)
			if err != nil || !g.IsOf(q, id) || g.IsOf(mcp.Question{Question: "Another?"}, id) {
				t.Errorf("ask %d: %q %v", i, id, err)
				return
			}
			d, ok := g.Dialogue(id)
			if !ok || len(d.Options) != 2 || !strings.Contains(d.Message, q.Question) {
				t.Errorf("dialogue %d: %v %+v", i, ok, d)
			}
			status := ask.Answered
			if i%2 == 0 {
				for _, bad := range []mcp.Reply{{}, {Choices: []string{"explode"}}, {Choices: []string{"wait"}}, {Choices: []string{"deploy", "wait"}, Comment: "both"}} {
					if err := g.Respond(ctx, id, bad); err == nil {
						t.Errorf("ask %d is answered by %+v", i, bad)
					}
				}
				err = g.Respond(ctx, id, mcp.Reply{Choices: []string{"wait"}, Comment: "tomorrow"})
			} else {
				status, err = ask.Withdrawn, g.Withdraw(ctx, id, "not needed")
			}
			if err != nil {
				t.Errorf("ask %d: %v", i, err)
			}
			if a, err := g.ends(ctx, id); err != nil || a.Status != string(status) {
				t.Errorf("ask %d: %+v %v", i, a, err)
			}
			if err := g.Respond(ctx, id, mcp.Reply{Choices: []string{"deploy"}}); err == nil {
				t.Errorf("ask %d is answered after its end", i)
			}
			if again, err := g.Ask(ctx, q); err != nil || again == id {
				t.Errorf("ask %d is not asked anew: %s %v", i, again, err)
			}
		})
		calls.Go(func() {
			if _, err := g.Inbox(); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	if list, err := g.Waiting("", "", 4); err != nil || len(list.Waiting) != 4 || list.More != 2 {
		t.Errorf("waiting: %+v %v", list, err)
	}
}
