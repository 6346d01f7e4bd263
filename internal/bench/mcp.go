package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// hello is the first message of a host of agents.
const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}` + "\n"

// agents is M1: how long a host waits for placet mcp, which it starts for each session.
func (b *bench) agents() error {
	w, err := b.fresh("agents")
	if err != nil {
		return err
	}
	if err := w.waiting(0, 5); err != nil {
		return err
	}
	var all times
	for range 4 * b.starts {
		took, err := b.greet(w)
		if err != nil {
			return err
		}
		all = append(all, took)
	}
	b.table.most("M1", "placet mcp: start → first answer, p50", float64(all.median())/float64(time.Millisecond), 50, "ms")
	return os.RemoveAll(w.root)
}

// greet starts placet mcp, and returns the time until it answers.
func (b *bench) greet(w workspace) (time.Duration, error) {
	cmd := exec.Command(b.placet, "mcp")
	cmd.Dir, cmd.Env = w.root, quietEnv(w.root)
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	_, writeErr := io.WriteString(in, hello)
	line, readErr := bufio.NewReader(out).ReadString('\n')
	took := time.Since(began)
	_ = in.Close()
	if err := cmd.Wait(); err != nil || writeErr != nil || readErr != nil || !strings.Contains(line, `"serverInfo"`) {
		return 0, fmt.Errorf("cannot measure: placet mcp says %q: %w", line, err)
	}
	return took, nil
}
