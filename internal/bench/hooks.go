package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// hooks is H1: how long an agent waits for the hook before each call that passes.
func (b *bench) hooks() error {
	w, err := b.fresh("hooks")
	if err != nil {
		return err
	}
	if err := os.WriteFile(w.root+"/placet.toml", []byte("[[hook.rule]]\nmatch = ['\\bgit\\s+push\\b']\ndo = \"ask\"\n"), 0o644); err != nil {
		return err
	}
	call := fmt.Sprintf(`{"session_id": "s", "cwd": %q, "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "make test"}, "tool_use_id": "t"}`, w.root)
	var all times
	for range 4 * b.starts {
		cmd := exec.Command(b.placet, "hook", "claude-code")
		cmd.Dir, cmd.Env, cmd.Stdin = w.root, quietEnv(w.root), strings.NewReader(call)
		began := time.Now()
		out, err := cmd.CombinedOutput()
		all = append(all, time.Since(began))
		if err != nil || len(out) > 0 {
			return fmt.Errorf("cannot measure: placet hook says %q: %w", out, err)
		}
	}
	b.table.most("H1", "placet hook: a call that passes, p50", float64(all.median())/float64(time.Millisecond), 30, "ms")
	return os.RemoveAll(w.root)
}
