package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"placet/cmd/placet/asks"
	"placet/cmd/placet/cli/ask"
	"placet/cmd/placet/cli/setup"
	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/daemon"
	"placet/cmd/placet/workspace"
	"placet/engine/facade"
	"placet/engine/facade/mcp"
	"placet/templates"
)

func mcpVerb() verb.Verb {
	return verb.Verb{
		Use:   "mcp",
		Group: verb.GroupRun,
		Run:   serveAgent,
	}
}

const (
	// mcpWait is the variable with the time that a call waits for an answer if it does not say;
	// projectVar is the variable in which one host names its project's folder.
	mcpWait, projectVar = "PLACET_MCP_WAIT", "CLAUDE_PROJECT_DIR"
	// usualMCPWait is less than the minute after which some hosts give up, whatever is
	// configured.
	usualMCPWait = 45 * time.Second
	mostMCPWait  = 24 * time.Hour
)

// serveAgent answers the agent that has started this process. Standard output holds nothing but
// its protocol.
func serveAgent(c verb.Call) error {
	wait, err := agentWait(c.Env)
	if err != nil {
		return err
	}
	w, err := agentEnv(c.Env)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(c.Ctx)
	var served sync.WaitGroup
	defer served.Wait() // a notification may be on its way
	defer stop()
	a, err := asks.Open(ctx, w)
	if err != nil {
		return err
	}
	a.Workspace.Env.Lang = templates.English // agents get texts in English only
	all := sync.OnceValue(a.Workspace.Whole)
	served.Go(func() { a.Serve(ctx) })
	if !w.InGitHook() {
		go func() { _, _ = setup.Exclude(a.Workspace.Env, a.Workspace.Root, setup.Ignored) }() // init reports what is wrong
	}
	who := facade.Identity{Roles: facade.Roles, Source: "mcp"}
	server := mcp.New(mcp.Options{
		Workspace: &asks.Agent{
			Asks: a, Who: who, Origin: fmt.Sprint(os.Getpid(), " ", w.Now().UnixNano()),
			Session: w.AgentSession(),
			Look:    func() *workspace.Workspace { return all().Viewer(who) }, Explanation: explanationText,
		},
		Version: thisBuild().Version, Wait: wait, Elicit: func() string { return a.Workspace.Current().Elicit(w.Agent() != "") },
	})
	err = daemon.Orderly(server.Run(ctx, io.NopCloser(c.Env.In), unclosed{c.Env.Out}))
	if err != nil {
		return console.Refused("cli.mcp.host", "error", err)
	}
	return nil
}

// unclosed is a stream that others close.
type unclosed struct{ io.Writer }

// Close implements [io.Closer].
func (unclosed) Close() error { return nil }

// agentWait returns how long a call waits for an answer if it does not say.
func agentWait(w *console.Env) (time.Duration, error) {
	text := w.Getenv(mcpWait)
	if text == "" {
		return usualMCPWait, nil
	}
	d, err := ask.Duration(text)
	if err != nil || d > mostMCPWait {
		return 0, console.Usage("cli.mcp.wait", "variable", mcpWait, "value", strconv.Quote(console.OneLine(text)))
	}
	return d, nil
}

// agentEnv returns the environment of an agent's server. The agent's host may have been started
// outside its project.
func agentEnv(w *console.Env) (*console.Env, error) {
	own := *w
	if dir := w.Getenv(projectVar); w.Flags.Workspace == "" && filepath.IsAbs(dir) {
		own.Cwd = dir
	}
	root, err := config.FindRoot(&own)
	if err != nil {
		return nil, err
	}
	if w.Flags.Config != "" {
		own.Flags.Config = w.Path(w.Flags.Config)
	}
	return asks.AgentEnv(&own, root), nil
}
