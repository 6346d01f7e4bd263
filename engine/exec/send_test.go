package exec

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/internal/await"
	"placet/schemas"
)

// mail is a send; the name of the test is its ID.
func mail(t *testing.T) engine.Action {
	a := shell(t, "exit 0")
	a.Command, a.Send = engine.Command{}, &engine.Send{Key: "job-1", Mail: &engine.Mail{To: []string{"a@x.example"}}}
	return a
}

// sent is the outcome of a send, read back.
type sent struct {
	Outcome  string
	Code     *int
	Response json.RawMessage
	Reason   string
}

func (b *bench) sent(a engine.Action) (s sent) {
	b.t.Helper()
	if err := json.Unmarshal([]byte(b.read(a.Outcome)), &s); err != nil {
		b.t.Fatal(err)
	}
	return s
}

// always makes every send end in one way.
func always(s engine.Sent) RunnerOptions {
	return RunnerOptions{Send: func(context.Context, engine.Send) engine.Sent { return s }}
}

func TestTheOutcomeOfASendHoldsWhatWasAnswered(t *testing.T) {
	t.Parallel()
	code := 503
	full := engine.Sent{Outcome: engine.SendFailed, Code: &code, Response: schemas.Raw(`{"b":[1],"a":2}`), RetryAfter: 1500 * time.Millisecond, Reason: "later"}
	for name, test := range map[string]struct {
		sent engine.Sent
		want string
	}{
		"all of it": {full, `  "outcome": "failed",
  "code": 503,
  "response": {
    "b": [
      1
    ],
    "a": 2
  },
  "retry_after_seconds": 2,
  "reason": "later"
}
`},
		"as little as there is": {engine.Sent{Outcome: engine.SendDone}, `  "outcome": "done",
  "code": null,
  "response": null
}
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := always(test.sent)
			record := recordOf{}
			o.Now, o.Record = clock(1500*time.Millisecond), record
			b := newBench(t, o)
			a := mail(t)
			a.Fields[0].Value = "it"
			b.do(a)
			want := `{
  "action": "it",
  "started_at": "2026-11-20T10:00:01.620Z",
  "finished_at": "2026-11-20T10:00:03.120Z",
  "duration_ms": 1500,
` + test.want
			if diff := cmp.Diff(want, b.read(a.Outcome)); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
			if left := b.folders(); len(left) != 0 {
				t.Errorf("of a send nothing stands in the state folder, but %q", left)
			}
			if diff := cmp.Diff([]engine.Digest{engine.Sum(nil), engine.Sum([]byte(want))}, record[a.Outcome]); diff != "" {
				t.Errorf("recorded (-want +got):\n%s", diff)
			}
		})
	}
}

// under returns a runner whose sends wait until the test lets them end, or until they
// are interrupted.
func under(t *testing.T) (b *bench, calls <-chan engine.Send, let chan<- engine.Sent) {
	t.Helper()
	begun, end := make(chan engine.Send, 9), make(chan engine.Sent)
	b = newBench(t, RunnerOptions{Send: func(ctx context.Context, what engine.Send) engine.Sent {
		begun <- what
		select {
		case s := <-end:
			return s
		case <-ctx.Done():
			return engine.Sent{Outcome: engine.SendUnknown, Reason: context.Cause(ctx).Error()}
		}
	}})
	return b, begun, end
}

func TestASendIsBegunOnceAndWaitedFor(t *testing.T) {
	t.Parallel()
	b, calls, let := under(t)
	a := mail(t)
	b.Begin(a)
	b.Begin(a)
	b.Begin(recorded(a))
	if got := <-calls; got.Key != "job-1" {
		t.Errorf("sends %+v", got)
	}
	if !b.Alive()[a.ID] || b.has(a.Outcome) {
		t.Error("it counts as over while it is under way")
	}
	b.End(a.ID)
	b.Revoke(func(engine.Action) bool { return true })
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Wait(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait: %v; want to wait for the send", err)
	}
	let <- engine.Sent{Outcome: engine.SendDone}
	if err := b.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.Begin(a)
	if got := b.sent(a); got.Outcome != "done" || got.Reason != "" || len(calls) != 0 {
		t.Errorf("%+v, and %d more sends", got, len(calls))
	}
}

func TestWithoutASenderNothingIsSent(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{})
	a := mail(t)
	b.do(a)
	if got := b.sent(a); got.Outcome != "not_started" || got.Reason == "" {
		t.Errorf("%+v", got)
	}
}

func TestARecordedSendThatNobodyKnowsIsLost(t *testing.T) {
	t.Parallel()
	b := newBench(t, RunnerOptions{Send: func(context.Context, engine.Send) engine.Sent {
		t.Error("it was sent")
		return engine.Sent{}
	}})
	if err := b.Recover(); err != nil {
		t.Fatal(err)
	}
	a := recorded(mail(t))
	b.Begin(a)
	b.Begin(a)
	if got := b.sent(a); b.Alive()[a.ID] || got.Outcome != "lost" || got.Code != nil || string(got.Response) != "null" || got.Reason == "" {
		t.Errorf("%+v", got)
	}
}

func TestTheOutcomeOfASendIsKeptAndTriedAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, always(engine.Sent{Outcome: engine.SendDone}))
	a := mail(t)
	put(t, b.root, a.Outcome, `{"outcome":"unknown"}`)
	b.do(a)
	if got := b.sent(a); got.Outcome != "unknown" {
		t.Errorf("outcome %q, want the one that stood there", got.Outcome)
	}

	a.ID, a.Outcome = "another", "run/another/outcome.json"
	put(t, b.root, filepath.Dir(a.Outcome), "a file in the folder's place")
	b.Begin(a)
	if !b.Alive()[a.ID] {
		t.Error("it counts as over although no outcome is recorded")
	}
	if err := os.Remove(filepath.Join(b.root, filepath.Dir(a.Outcome))); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the outcome is there", func() bool { return b.has(a.Outcome) })
}

func TestAnOrderlyStopWaitsForASendAndThenCutsIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, calls, let := under(t)
		quick, slow := mail(t), mail(t)
		quick.ID, quick.Outcome, slow.ID, slow.Outcome = "quick", "run/quick.json", "slow", "run/slow.json"
		b.Begin(quick)
		b.Begin(slow)
		<-calls
		<-calls
		from := time.Now()
		go func() {
			time.Sleep(sendGrace - time.Second)
			let <- engine.Sent{Outcome: engine.SendDone}
		}()
		if err := b.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(from); took < sendGrace || took > sendGrace+time.Second {
			t.Errorf("it stopped after %s", took)
		}
		ends := map[string]int{}
		for _, a := range []engine.Action{quick, slow} {
			got := b.sent(a)
			ends[got.Outcome+" "+got.Reason]++
		}
		if diff := cmp.Diff(map[string]int{"done ": 1, "unknown placet was stopped": 1}, ends); diff != "" {
			t.Errorf("outcomes (-want +got):\n%s", diff)
		}
	})
}

func TestWhilePlacetStopsNothingIsSent(t *testing.T) {
	t.Parallel()
	b, calls, _ := under(t)
	if err := b.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	a := mail(t)
	b.Begin(a)
	if got := b.sent(a); got.Outcome != "not_started" || len(calls) != 0 {
		t.Errorf("%+v, and %d sends", got, len(calls))
	}
	left := mail(t)
	left.ID, left.Outcome = "left", "run/left.json"
	b.Begin(recorded(left))
	if b.has(left.Outcome) || b.Alive()[left.ID] {
		t.Error("an attempt of an earlier placet is for the next one to conclude")
	}
}

// A send must not leave if placet cannot record that its outcome is placet's own.
func TestWithoutARecordNothingIsSent(t *testing.T) {
	t.Parallel()
	o := always(engine.Sent{Outcome: engine.SendDone})
	o.Record = &fullRecord{recordOf: recordOf{}, fails: 1}
	b := newBench(t, o)
	a := mail(t)
	b.do(a)
	if got := b.sent(a); got.Outcome != "not_started" || got.Reason != errFull.Error() {
		t.Errorf("%+v", got)
	}
}

var errFull = errors.New("no space left")

// fullRecord is a record that fails so many times.
type fullRecord struct {
	recordOf
	fails int
}

func (r *fullRecord) Issue(dir string, docs []engine.Document) error {
	if r.fails--; r.fails >= 0 {
		return errFull
	}
	return r.recordOf.Issue(dir, docs)
}
