package console

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"

	"placet/templates"
)

// logHandler is a slog.Handler for people: it writes one line to stderr for each record.
type logHandler struct {
	out   io.Writer
	mu    *sync.Mutex
	level slog.Level
	attrs string
	group string
}

func NewLogHandler(out io.Writer, level slog.Level) *logHandler {
	return &logHandler{out: out, mu: &sync.Mutex{}, level: level}
}

// NewJSONLogHandler returns a slog.Handler for programs: it writes one line of JSON for each
// record, in which nothing moves the cursor of a terminal.
func NewJSONLogHandler(out io.Writer) slog.Handler {
	return slog.NewJSONHandler(escapingWriter{out}, nil)
}

// escapingWriter writes JSON with invisible characters escaped. Each write is a whole record.
type escapingWriter struct{ out io.Writer }

// Write implements io.Writer.
func (w escapingWriter) Write(record []byte) (int, error) {
	if _, err := w.out.Write(templates.EscapeJSON(record)); err != nil {
		return 0, err
	}
	return len(record), nil
}

// Enabled implements slog.Handler.
func (s *logHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= s.level }

// Handle implements slog.Handler.
func (s *logHandler) Handle(_ context.Context, r slog.Record) error {
	text := s.attrs
	r.Attrs(func(a slog.Attr) bool {
		text += s.attr(a)
		return true
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := fmt.Fprintf(s.out, "placet: %s%s\n", OneLine(r.Message), text)
	return err
}

func (s *logHandler) attr(a slog.Attr) string {
	a.Value = a.Value.Resolve()
	if a.Equal(slog.Attr{}) {
		return ""
	}
	name := a.Key
	if s.group != "" {
		name = s.group + "." + name
	}
	return fmt.Sprintf("  %s: %s", name, Cut(OneLine(a.Value.String()), 300))
}

// WithAttrs implements slog.Handler.
func (s *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := *s
	var b strings.Builder
	for _, a := range attrs {
		b.WriteString(s.attr(a))
	}
	next.attrs += b.String()
	return &next
}

// WithGroup implements slog.Handler.
func (s *logHandler) WithGroup(name string) slog.Handler {
	next := *s
	next.group = strings.TrimPrefix(s.group+"."+name, ".")
	return &next
}
