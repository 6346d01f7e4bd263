package cli

import (
	"context"
	"os"
	"runtime"
	"strings"

	"placet/cmd/placet/console"
	"placet/templates"
)

// openBrowser opens a link in the browser of the person at this machine: BROWSER, or else that
// of the system. The link is one argument, never part of a shell's line.
func openBrowser(w *console.Env, link string) error {
	program := strings.TrimSpace(w.Getenv("BROWSER"))
	switch {
	case program != "":
	case runtime.GOOS == "darwin":
		program = "open"
	case w.Getenv("DISPLAY") == "" && w.Getenv("WAYLAND_DISPLAY") == "":
		return templates.Errorf("cli.open.display")
	default:
		program = "xdg-open"
	}
	cmd := w.Command(context.Background(), "", program, link)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = null, null, null
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
