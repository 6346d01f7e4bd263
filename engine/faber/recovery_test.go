package faber

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
)

// An answer of which a crash left only the event is carried out unchanged: same response, author
// and answer file, no second event.
func TestAnswerIsRememberedFromItsEvent(t *testing.T) {
	for name, give := range map[string]func(w *world){
		"response": func(w *world) { w.Respond("fr-1", map[string]any{"response": "approve", "comment": "yes"}) },
		"form":     func(w *world) { w.Tick(w.In("requests/fr-1/form.md"), "approve", "submit") },
	} {
		w := waitingRun(t)
		give(w)
		before := w.Files[w.Run.State]
		w.settle()
		after := maps.Clone(w.Files)
		delete(w.Files, w.In("requests/fr-1/receipt.json"))
		w.Put(w.Run.State, before)
		w.Now = w.Now.Add(time.Hour)
		w.settle()
		if diff := cmp.Diff(after, w.Files); diff != "" {
			t.Errorf("%s (-at first +again):\n%s", name, diff)
		}
	}
}

// A receipt that a crash lost after the state was durable is written again from the answer's own
// file, even if a later form gave the answer.
func TestLostReceiptIsRecalled(t *testing.T) {
	w := example(t)
	w.Put("specs/WORK-00258-design.md", "# Another design\n")
	w.settle()
	for p := range w.Files {
		if strings.HasPrefix(p, w.In("requests/"+exampleID+"/form-")) {
			w.Tick(p, "approve", "submit")
		}
	}
	w.settle()
	p := w.In("requests/" + exampleID + "/receipt.json")
	want := w.Files[p]
	delete(w.Files, p)
	w.settle()
	if diff := cmp.Diff(want, w.Files[p]); want == "" || diff != "" {
		t.Errorf("receipt (-lost +again):\n%s", diff)
	}
}

// A form of a request whose transition was never completed is replaced, but not one that somebody
// has ticked.
func TestAFormOfATransitionThatWasNeverCompletedIsReplaced(t *testing.T) {
	asked := waitingRun(t)
	form := asked.In("requests/fr-1/form.md")
	for _, ticked := range []string{"", "approve"} {
		kept := ticked != ""
		w := waitingRun(t)
		delete(w.Files, w.In("requests/fr-1/request.json"))
		w.Put(w.Run.State, waitingState)
		digest := strings.Fields(w.Files[form])[4]
		w.Put(form, strings.Replace(w.Files[form], digest, "sha256:"+strings.Repeat("a", 64), 1))
		if kept {
			w.Tick(form, ticked)
		}
		left := w.Files[form]
		w.settle()
		others := 0
		for p := range w.Files {
			if strings.HasPrefix(p, w.In("requests/fr-1/form-")) {
				others++
			}
		}
		if same := w.Files[form] == left; same != kept || (others == 1) != kept || !kept && w.Files[form] != asked.Files[form] {
			t.Errorf("ticked %q: form.md kept: %v, %d other forms\n%s", ticked, same, others, w.Files[form])
		}
	}
}

// The places of the words outside the comment section are recovered, too.
func TestALostReceiptSaysAgainWhereItsWordsStood(t *testing.T) {
	w := waitingRun(t)
	form, p := w.In("requests/fr-1/form.md"), w.In("requests/fr-1/receipt.json")
	w.Put(form, strings.Replace(w.Files[form], "\n## Comment", "\nAs we said.\n\n## Comment", 1))
	w.Tick(form, "approve", "submit")
	w.settle()
	want := w.Files[p]
	delete(w.Files, p)
	w.settle()
	if diff := cmp.Diff(want, w.Files[p]); !strings.Contains(want, "the comment holds words from") || diff != "" {
		t.Errorf("receipt (-lost +again):\n%s\nof\n%s", diff, want)
	}
}

// A machine without records takes a receipt that a crash left as a claim: it carries the answer
// out, and the receipt says so.
func TestReceiptOfAnUnrecordedMachine(t *testing.T) {
	w := waitingRun(t)
	w.Unrecorded = true
	w.Respond("fr-1", map[string]any{"response": "approve", "comment": "yes"})
	before, receipt := w.Files[w.Run.State], w.In("requests/fr-1/receipt.json")
	w.settle()
	w.Put(w.Run.State, before)
	if taken := w.settle(); !cmp.Equal(taken, []string{"answered_continue"}) {
		t.Fatalf("took %v", taken)
	}
	if rc := w.Files[receipt]; !strings.Contains(rc, "claimed:jmcwilliam") {
		t.Errorf("receipt %s", rc)
	}
	// Once more: the receipt still says so.
	again := w.Files[receipt]
	w.Put(w.Run.State, before)
	if w.settle(); w.Files[receipt] != again {
		t.Errorf("receipt:\n%s", cmp.Diff(again, w.Files[receipt]))
	}
}

// An answer in a feedback_received event of upstream's counts; one that names
// no option does not.
func TestAnswerInAnEvent(t *testing.T) {
	for response, want := range map[string][]string{"approve": {"answered_continue"}, "maybe": nil} {
		w := waitingRun(t)
		w.Put(w.In("events/002-feedback_received.json"), fmt.Sprintf(
			`{"event_id": 2, "type": "feedback_received", "timestamp": "2025-12-06T18:10:00.000Z", "run_id": "x", "metadata": {"request_id": "fr-1", "response": %q, "provided_by": {"user": "keiko", "source": "cli"}}}`, response))
		if taken := w.stand(); !cmp.Equal(taken, want) {
			t.Errorf("%s: took %v", response, taken)
		}
	}
}

// Without revisions in state.json, placet's own events determine the revision. Those of a
// transition that was never completed do not count.
func TestRevisionWithoutRevision(t *testing.T) {
	mark := func(typ, request string, revision int) string {
		return fmt.Sprintf(`{"event_id": 1, "type": %q, "timestamp": "2025-12-06T18:00:00.000Z", "run_id": "x", "metadata": {"request_id": %q, "placet": {"revision": %d, "key": "k"}}}`, typ, request, revision)
	}
	for _, c := range []struct {
		name, state, event string
		want               int
	}{
		{"nothing yet", `{"status": "in_progress"}`, "", 0},
		{"answered before", `{"status": "in_progress"}`, mark("feedback_received", "fr-0", 4), 4},
		{"opened, not fact", `{"status": "awaiting_feedback", "feedback_request": {"request_id": "fr-1", "type": "approval", "prompt": "?"}}`, mark("feedback_request", "fr-1", 3), 2},
		{"cancelled, not fact", `{"status": "in_progress"}`, mark("workflow_cancelled", "", 2), 1},
		{"cancelled", `{"status": "cancelled"}`, mark("workflow_cancelled", "", 2), 2},
		{"upstream's events", `{"status": "in_progress"}`, upstreamEvent(1, "step_start", "build", "x"), 0},
		{"its own word", `{"status": "in_progress", "revision": 9}`, mark("feedback_received", "fr-0", 4), 9},
	} {
		w := newWorld(t, plainDir)
		w.Put(w.Run.State, c.state)
		if c.event != "" {
			w.Put(w.In("events/001-x.json"), c.event)
		}
		if _, r := family.View(w.Snapshot(nil)); r.state.rev != c.want {
			t.Errorf("%s: revision %d, expected %d", c.name, r.state.rev, c.want)
		}
	}
}

// A failed run is asked about if the configuration says so; the state stays unchanged until the
// answer.
func TestFailedRunIsAskedAbout(t *testing.T) {
	failed := `{"status": "failed", "current_phase": "build", "current_step": "make", "updated_at": "2025-12-06T18:00:00Z",
 "phases": {"build": {"steps": [{"id": "make", "status": "completed"}, {"id": "check", "status": "failed", "failed_at": "2025-12-06T17:59:00Z"}]}}}`
	w := newWorld(t, plainDir)
	w.config(func(c *Config) { c.AskFailed = "none" })
	w.Put(w.Run.State, failed)
	if w.settle(); len(w.Files) != 1 {
		t.Fatalf("asked without being told to: %d files", len(w.Files))
	}
	w.config(func(c *Config) { c.AskFailed = "all" })
	if taken := w.settle(); len(taken) != 0 || w.Files[w.Run.State] != failed {
		t.Fatalf("took %v", taken)
	}
	s, _ := w.Full()
	a := New().Account(s)
	if len(a.Open) != 1 || a.Open[0].Where != "build:check" || !strings.HasPrefix(a.Open[0].Request, "fr-20251206-") {
		t.Fatalf("open %+v", a.Open)
	}
	w.Respond(a.Open[0].Request, map[string]any{"response": "retry"})
	if taken := w.settle(); !cmp.Equal(taken, []string{"answered_retry"}) {
		t.Fatalf("took %v", taken)
	}
}

// With a gate kind the answer does what the kind says.
func TestGateKinds(t *testing.T) {
	for kind, want := range map[string]struct{ step, position, status string }{
		"phase_entry": {"make", "at", "pending"}, "destructive": {"make", "at", "pending"},
		"step": {"make", "at", "pending"}, "success": {"make", "after", "completed"}, "warning": {"make", "after", "completed"},
		"input": {"make", "at", "in_progress"},
		"":      {"make", "at", "pending"}, // before a pending step that never started
	} {
		w, context := newWorld(t, plainDir), ""
		if kind != "" {
			context = fmt.Sprintf(`, "context": {"gate": {"kind": %q, "phase": "build", "step": "make", "attempt": 1}}`, kind)
		}
		w.Put(w.Run.State, fmt.Sprintf(`{"status": "awaiting_feedback", "current_phase": "build", "current_step": "make", "phases": {"build": {"steps": [{"id": "make", "status": "pending"}]}},
 "feedback_request": {"request_id": "fr-1", "type": "approval", "prompt": "?"%s}}`, context))
		w.settle()
		w.Respond("fr-1", map[string]any{"response": "approve"})
		w.settle()
		st := w.state()
		if st.ResumePoint.Step != want.step || st.ResumePoint.Position != want.position || !strings.Contains(w.Files[w.Run.State], `"id": "make", "status": "`+want.status+`"`) {
			t.Errorf("%s: %s", kind, w.Files[w.Run.State])
		}
	}
}

// An event that the disk refuses for now may be placet's own, so nothing is decided. A folder or
// link never was an event.
func TestRefusedEventsHoldAndOthersDoNot(t *testing.T) {
	for _, c := range []struct {
		err  error
		hold bool
	}{
		{&fs.PathError{Op: "read", Err: syscall.EIO}, true}, {&fs.PathError{Op: "open", Err: syscall.EMFILE}, true},
		{engine.ErrUnsettled, true}, {errors.New("is a folder"), false}, {&fs.PathError{Op: "open", Err: syscall.ELOOP}, false},
	} {
		w := waitingRun(t)
		s := w.Snapshot(nil)
		for i := range s.Docs {
			if strings.Contains(s.Docs[i].Path, "/events/001-") {
				s.Docs[i].Err, s.Docs[i].Body = c.err, nil
			}
		}
		if _, r := family.View(s); r.events.open != c.hold {
			t.Errorf("%v: held %v", c.err, r.events.open)
		}
	}
}

// An artifact that the disk refuses for now is not missing: nobody is asked about it, and no answer
// becomes stale. A folder or link counts as missing.
func TestARefusedArtifactHolds(t *testing.T) {
	for _, c := range []struct {
		err  error
		hold bool
	}{
		{&fs.PathError{Op: "stat", Err: syscall.ENOSPC}, true}, {&fs.PathError{Op: "read", Err: syscall.EIO}, true},
		{&fs.PathError{Op: "open", Err: syscall.EACCES}, true}, {engine.ErrUnsettled, true},
		{engine.ErrAbsent, false}, {errors.New("is a folder"), false},
	} {
		w := example(t)
		w.Respond(exampleID, map[string]any{"response": "approve"})
		s, _ := w.Full()
		for i := range s.Docs {
			if s.Docs[i].Path == "specs/WORK-00258-design.md" {
				s.Docs[i].Err, s.Docs[i].Body, s.Docs[i].Sum = c.err, nil, ""
			}
		}
		p, err := w.Machine.Step(s)
		if err != nil {
			t.Fatal(err)
		}
		moved, noted := 0, 0
		for _, d := range p.Writes {
			switch {
			case d.Path == w.Run.State+".problem.md":
				noted++
			default:
				moved++
			}
		}
		denied := errors.Is(c.err, fs.ErrPermission)
		if (moved == 0) != c.hold || (noted == 1) != denied || c.hold && !errors.Is(c.err, engine.ErrUnsettled) && p.Wake.IsZero() {
			t.Errorf("%v: writes %d, notes %d, wakes at %v", c.err, moved, noted, p.Wake)
		}
	}
}

// A void.json that is still being written blocks every answer without a note; a foreign one gets a
// note.
func TestAVoidFileThatIsBeingWrittenHoldsSilently(t *testing.T) {
	w := example(t)
	w.settle()
	w.Respond(exampleID, map[string]any{"response": "approve"})
	name := w.In("requests/" + exampleID + "/void.json")
	w.Put(name, "{}")
	for _, c := range []struct {
		err   error
		notes int
	}{{engine.ErrUnsettled, 0}, {nil, 1}} {
		s, _ := w.Full()
		for i := range s.Docs {
			if d := &s.Docs[i]; d.Path == name && c.err != nil {
				d.Err, d.Body, d.Sum = c.err, nil, ""
			}
		}
		p, err := w.Machine.Step(s)
		if err != nil || len(p.Transitions) > 0 || len(p.Writes) != c.notes {
			t.Errorf("%v: %v, takes %v, writes %v", c.err, err, p.Transitions, p.Writes)
		}
		for _, d := range p.Writes {
			if !strings.Contains(string(d.Body), "void.json is not what placet wrote") {
				t.Errorf("it writes %s: %s", d.Path, d.Body)
			}
		}
	}
}

// The settings refuse values that would approve by time alone, and impossible ones.
func TestConfigCheck(t *testing.T) {
	if err := DefaultConfig().Check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Config){
		"destructive_steps": func(c *Config) { c.DestructiveSteps = []string{"["} },
		"on_deadline":       func(c *Config) { c.OnDeadline = "Approve" },
		"time alone":        func(c *Config) { c.OnDeadline = "confirm" },
		"empty":             func(c *Config) { c.OnDeadline = " " },
	} {
		c := DefaultConfig()
		change(&c)
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	var d Duration
	if err := d.UnmarshalText([]byte("72h")); err != nil || time.Duration(d) != 72*time.Hour {
		t.Errorf("72h: %v, %v", d, err)
	}
	if text, err := d.MarshalText(); err != nil || string(text) != "72h0m0s" {
		t.Errorf("%s, %v", text, err)
	}
	for _, bad := range []string{"", "3 days", "-1h", "0s"} {
		if d.UnmarshalText([]byte(bad)) == nil {
			t.Errorf("%q is a duration", bad)
		}
	}
}

// Summarize distinguishes final from live runs, and runs that placet has moved from others.
func TestSummarize(t *testing.T) {
	for body, want := range map[string]engine.Summary{
		`{"status": "completed"}`:                                  {Status: Completed, Final: true},
		`{"status": "aborted", "last_transition": {"edge": "x"}}`:  {Status: Cancelled, Final: true, Touched: true},
		`{"status": "awaiting_feedback", "last_transition": null}`: {Status: Awaiting, Waiting: true},
		`{"status": "thinking"}`:                                   {},
		`{"status": "awaiting_feedback", "updated_at": "2026-11-20T10:00:00Z", "feedback_request": {"requested_at": "2026-11-20T11:00:00+02:00"}}`: {
			Status: Awaiting, Waiting: true, Open: 1, Asked: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC),
		},
		`{"status": "awaiting_feedback", "updated_at": "2026-11-20T10:00:00Z", "feedback_request": {}}`: {
			Status: Awaiting, Waiting: true, Open: 1, Asked: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC),
		},
		`{"status": "awaiting_feedback", "updated_at": 5, "feedback_request": [1]}`:                              {Status: Awaiting, Waiting: true, Open: 1},
		`{"status": "completed", "updated_at": 5, "feedback_request": {"requested_at": "2026-11-20T11:00:00Z"}}`: {Status: Completed, Final: true},
		`{`: {},
	} {
		if got := New().Summarize([]byte(body)); got != want {
			t.Errorf("%s: %+v", body, got)
		}
	}
	if New().Family() != "faber" {
		t.Error(New().Family())
	}
}

// A request that names no phase is opened and answered. Once the state says where the run is, the
// answer is carried out, and no event is written twice.
func TestAPhaseThatComesLateDoublesNoEvent(t *testing.T) {
	const asks = `{"status": "awaiting_feedback", "updated_at": "2025-12-06T18:00:00Z", "phases": {"build": {"steps": [{"id": "make", "status": "in_progress"}]}},
 "feedback_request": {"request_id": "fr-1", "type": "review", "prompt": "?", "requested_at": "2025-12-06T18:00:00Z"}}`
	for _, response := range []string{"approve", "request_changes", "reject"} {
		w := newWorld(t, plainDir)
		w.Put(w.Run.State, asks)
		w.settle()
		w.Respond("fr-1", map[string]any{"response": response, "comment": "as said"})
		w.settle()
		placed := strings.Replace(w.Files[w.Run.State], `"status"`, `"current_phase": "build", "current_step": "make", "status"`, 1)
		w.Put(w.Run.State, placed)
		w.settle()
		answered := w.events()
		for _, state := range []string{
			strings.Replace(placed, `"make"`, `"test"`, 1), // an older copy that names another step
			strings.Replace(placed, `"status"`, `"resume_point": {"phase": "evaluate", "step": "test"}, "status"`, 1),
		} {
			w.Put(w.Run.State, state)
			w.settle()
		}
		kinds := map[string]int{}
		for _, name := range w.events() {
			_, kind, _ := strings.Cut(name, "-")
			if kinds[kind]++; kinds[kind] > 1 {
				t.Errorf("%s: %v, at first %v", response, w.events(), answered)
			}
		}
	}
}

// A new entry of a step gets the members that identify the other entries: upstream's readers look
// for name.
func TestNewEntriesAreFoundByUpstreamsReaders(t *testing.T) {
	for others, want := range map[string]string{
		`{"name": "setup", "status": "completed"}`:                `{"name": "make", "status": "completed",`,
		`{"id": "setup", "status": "completed"}`:                  `{"id": "make", "status": "completed",`,
		`{"id": "setup", "name": "setup", "status": "completed"}`: `{"id": "make", "name": "make", "status": "completed",`,
		`{"name": "a"}, {"id": "b"}`:                              `{"id": "make", "name": "make", "status": "completed",`,
		``:                                                        `{"id": "make", "name": "make", "status": "completed",`,
	} {
		w := newWorld(t, plainDir)
		w.Put(w.Run.State, `{"status": "awaiting_feedback", "current_phase": "build", "current_step": "make", "phases": {"frame": {"steps": [`+others+`]}, "build": {"steps": []}},
 "feedback_request": {"request_id": "fr-1", "type": "approval", "prompt": "?"}}`)
		w.Put(w.In("events/001-step_start.json"), upstreamEvent(1, "step_start", "build", "make"))
		w.settle()
		w.Respond("fr-1", map[string]any{"response": "approve"})
		w.settle()
		if got := w.Files[w.Run.State]; !strings.Contains(got, `"build": {"steps": [`+want) {
			t.Errorf("beside %s:\n%s\nwant %s", others, got, want)
		}
	}
}

// While events/ is missing, the past is unknown. The run waits with a note, and continues when the
// folder is back or somebody writes the number to begin with.
func TestARunWhoseEventsAreAwayWaits(t *testing.T) {
	for back, by := range map[string]func(w *world, away map[string]string){
		"the folder": func(w *world, away map[string]string) {
			for p, body := range away {
				w.Put(p, body)
			}
		},
		"the next number": func(w *world, _ map[string]string) { w.Put(w.In("events/.next-id"), "16\n") },
	} {
		w := example(t)
		w.Respond(exampleID, map[string]any{"response": "approve"})
		away := map[string]string{}
		for p, body := range w.Files {
			if strings.HasPrefix(p, w.In("events/")) {
				away[p] = body
				delete(w.Files, p)
			}
		}
		if taken := w.settle(); len(taken) > 0 {
			t.Errorf("taken %v while events/ is away", taken)
		}
		by(w, away)
		taken := w.settle()
		if events := w.events(); len(taken) != 1 || events[len(events)-1] != "017-approval_granted" {
			t.Errorf("%s is back: taken %v, events %v", back, taken, events)
		}
	}
}

// A final run waits for nothing: its events may be removed for good.
func TestAFinalRunIsGivenNoEventsAnewWhereAllAreGone(t *testing.T) {
	w := example(t)
	w.Respond(exampleID, map[string]any{"response": "reject"})
	w.settle()
	for p := range w.Files {
		if strings.HasPrefix(p, w.In("events/")) {
			delete(w.Files, p)
		}
	}
	if w.settle(); len(w.events()) > 0 || w.Files[w.Run.State+".problem.md"] != "" || w.state().Status != "cancelled" {
		t.Errorf("%s: events %v, note %q", w.state().Status, w.events(), w.Files[w.Run.State+".problem.md"])
	}
}
