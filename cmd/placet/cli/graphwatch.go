package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine/facade"
	"placet/engine/loop"
)

// pauseAfter returns the pause after a look at what a person watches that took so long.
func pauseAfter(look time.Duration) time.Duration { return max(500*time.Millisecond, 4*look) }

// watchPlan draws a run, and again whenever the drawing changes, until the context ends. On a
// terminal the new drawing replaces the old one.
func watchPlan(ctx context.Context, b *workspace.Workspace, f loop.Found, mermaid bool) error {
	screen := newScreen(b.Env)
	defer screen.leave()
	for {
		began := time.Now()
		drawing, err := drawOnce(b, f, mermaid)
		if err != nil {
			return err
		}
		screen.show(drawing)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pauseAfter(time.Since(began))):
		}
	}
}

// drawOnce returns the drawing of a run in its present state.
func drawOnce(b *workspace.Workspace, f loop.Found, mermaid bool) (string, error) {
	v := view.Of(b, f)
	if err := view.FillPlan(b, &v); err != nil {
		return "", err
	}
	var out bytes.Buffer
	quiet := *b.Env
	quiet.Out, quiet.Err = &out, &out
	look := b.Viewer(facade.Identity{})
	look.Env = &quiet
	err := showPlan(look, v, mermaid)
	return out.String(), err
}

// screen shows one text after another.
type screen struct {
	env   *console.Env
	whole bool // it is a terminal, which is cleared first
	last  string
	shown bool
}

func newScreen(w *console.Env) *screen { return &screen{env: w, whole: console.IsTerminal(w.Out)} }

// show shows a text, unless it is shown already.
func (s *screen) show(text string) {
	if s.shown && text == s.last {
		return
	}
	var out strings.Builder
	switch {
	case s.whole && s.shown:
		out.WriteString("\x1b[H") // the text is written over the old one, so that nothing flickers
	case s.whole:
		out.WriteString("\x1b[2J\x1b[H")
	case s.shown:
		out.WriteString("\n")
	}
	if s.whole {
		out.WriteString(strings.ReplaceAll(s.fit(text), "\n", "\x1b[K\n") + "\x1b[J")
	} else {
		out.WriteString(text)
	}
	_, _ = s.env.Out.Write([]byte(out.String()))
	s.last, s.shown = text, true
}

// fit returns as much of a text as the terminal has lines for.
func (s *screen) fit(text string) string {
	f, ok := s.env.Out.(*os.File)
	if !ok {
		return text
	}
	_, rows, err := term.GetSize(int(f.Fd()))
	lines := strings.SplitAfter(text, "\n")
	if err != nil || rows < 3 || len(lines) < rows {
		return text
	}
	return strings.Join(lines[:rows-2], "") + s.env.Text("cli.graph.more", "n", len(lines)-rows+1) + "\n"
}

// leave ends the last line, because the key that ended the watch may be on it.
func (s *screen) leave() {
	if s.whole {
		fmt.Fprintln(s.env.Out)
	}
}
