package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
)

// speech is a slog.Handler for people: one line on stderr for each record.
type speech struct {
	out   io.Writer
	mu    *sync.Mutex
	level slog.Level
	attrs string
	group string
}

func newSpeech(out io.Writer, level slog.Level) *speech {
	return &speech{out: out, mu: &sync.Mutex{}, level: level}
}

// Enabled implements slog.Handler.
func (s *speech) Enabled(_ context.Context, level slog.Level) bool { return level >= s.level }

// Handle implements slog.Handler.
func (s *speech) Handle(_ context.Context, r slog.Record) error {
	text := s.attrs
	r.Attrs(func(a slog.Attr) bool {
		text += s.attr(a)
		return true
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := fmt.Fprintf(s.out, "placet: %s%s\n", line(r.Message), text)
	return err
}

func (s *speech) attr(a slog.Attr) string {
	a.Value = a.Value.Resolve()
	if a.Equal(slog.Attr{}) {
		return ""
	}
	name := a.Key
	if s.group != "" {
		name = s.group + "." + name
	}
	return fmt.Sprintf("  %s: %s", name, cut(line(a.Value.String()), 300))
}

// WithAttrs implements slog.Handler.
func (s *speech) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := *s
	var b strings.Builder
	for _, a := range attrs {
		b.WriteString(s.attr(a))
	}
	next.attrs += b.String()
	return &next
}

// WithGroup implements slog.Handler.
func (s *speech) WithGroup(name string) slog.Handler {
	next := *s
	next.group = strings.TrimPrefix(s.group+"."+name, ".")
	return &next
}
