package daemon

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/layout"
)

var opened = engine.Transition{
	Edge:  engine.Edge{Of: "run", From: "awaiting_feedback", Event: "answered_continue", To: "in_progress"},
	Actor: "placet", Reason: "approve by kim (form)", Cause: map[string]engine.Digest{"form.md": engine.Sum(nil)},
}

func TestATransitionIsOneLine(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 3, 4, 0, time.Local)
	key := engine.Key{Family: "faber", ID: "acme/web/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34"}
	step, begin := opened, opened
	step.Of, step.Subject, step.Reason = "step", "build:implement", "a\nb\u202e"
	begin.From, begin.Reason = "", ""
	for _, test := range []struct {
		t    engine.Transition
		want string
	}{
		{opened, "12:03:04 faber/acme/web/3f2b8c1e  awaiting_feedback → in_progress  answered_continue  approve by kim (form)"},
		{step, "12:03:04 faber/acme/web/3f2b8c1e  build:implement awaiting_feedback → in_progress  answered_continue  a b\\u{202e}"},
		{begin, "12:03:04 faber/acme/web/3f2b8c1e  → in_progress  answered_continue"},
	} {
		if got := transitionText(&console.Env{}, at, key, test.t); got != test.want {
			t.Errorf("got  %q\nwant %q", got, test.want)
		}
	}
}

func TestTransitionsOfSeveralRunsAreWholeLines(t *testing.T) {
	var out bytes.Buffer
	m := &MoveLog{w: &console.Env{Out: &out, Now: time.Now}, json: slog.New(slog.NewJSONHandler(&out, nil))}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { m.Moved(layout.Run{Family: "faber", ID: "x"}, opened) })
	}
	wg.Wait()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 20 {
		t.Fatalf("%d lines", len(lines))
	}
	for _, l := range lines {
		var got TransitionLine
		if err := json.Unmarshal([]byte(l), &got); err != nil || got.Run != "faber/x" || got.Event != "answered_continue" || len(got.Cause) != 1 {
			t.Errorf("%s: %v", l, err)
		}
	}
}

func TestWithJSONTransitionsAreKeptForTheAnswer(t *testing.T) {
	var out bytes.Buffer
	m := &MoveLog{w: &console.Env{Out: &out, Now: time.Now, Flags: console.Flags{JSON: true}}}
	bare := opened
	bare.Cause = nil
	m.Moved(layout.Run{Family: "faber", ID: "x"}, bare)
	if out.Len() > 0 || len(m.made) != 1 {
		t.Errorf("printed %q, kept %+v", out.String(), m.made)
	}
	if err := m.w.Answer(m.made, nil); err != nil || !strings.Contains(out.String(), `"cause":{}`) {
		t.Errorf("%v: printed %s", err, out.String())
	}
}
