package afl

import (
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/gate"
)

// stoppedWorld returns a session whose worker changed the file that its trusted command names.
func stoppedWorld(t testing.TB, change func(*Config)) *world {
	w := approvedWorld(t, cp{id: "a"})
	w.config(func(c *Config) { c.AutoRetryDelay, c.ApprovalQuiet = ptr("0s"), ptr("10s") })
	if change != nil {
		w.config(change)
	}
	w.untilBegun()
	w.changes("echo old\n", "echo new\n")
	w.done("a")
	return w
}

// changes makes a file differ from the one that was agreed to.
func (w *world) changes(then, now string) {
	w.Put(testFile, now)
	f := engine.ChangedFile{Path: testFile, Was: engine.Sum([]byte(then)), Now: engine.Sum([]byte(now)), Then: &then}
	clear(w.Facts.Trusted)
	w.Facts.Changed = map[engine.Digest][]engine.ChangedFile{commandDigest("validation", []string{"bash", "-c"}, "run a"): {f}}
}

// A worker that changes a file that the trusted command names stops the loop. A person is asked, with
// the difference, and sees what each answer does.
func TestAStoppedCheckpointIsARequest(t *testing.T) {
	w := stoppedWorld(t, nil)
	took(t, w.settle(), "a:worker_done", "a:command_changed")
	id := w.open(typeChanged)
	form := w.Read("requests/" + id + "/form.md")
	for _, want := range []string{"-echo old\n+echo new\n", "run a", "- [ ] run: ", "- [ ] escalate: ", "placet respond " + id} {
		if !strings.Contains(form, want) {
			t.Errorf("the form has no %q:\n%s", want, form)
		}
	}
	if strings.Contains(form, engine.TrustChanges) {
		t.Errorf("the form offers later changes:\n%s", form)
	}
	a := w.account()
	if len(a.Open) != 1 || a.Open[0].Command == nil || a.Open[0].Command.Name != TrustName+"abc12345/a" || len(a.Untrusted) != 1 || a.Untrusted[0].Stops {
		t.Errorf("%+v, %+v", a.Open, a.Untrusted)
	}
	took(t, w.settle())
	w.trust()
	w.Facts.Changed = nil
	w.Respond(id, map[string]any{"response": "run"})
	took(t, w.settle(), "a:trusted")
	if q := w.request(id); q.Status != gate.Accepted || len(w.Begun) != 1 {
		t.Errorf("%+v, began %v", q, w.Begun)
	}
}

// An answer that lets a command run is not enough: without the record of its agreement nothing runs.
// An answer that this machine's command line did not give does not count at all.
func TestNoFileLetsACommandRun(t *testing.T) {
	w := stoppedWorld(t, nil)
	w.settle()
	id := w.open(typeChanged)
	w.Respond(id, map[string]any{"response": "run"})
	took(t, w.settle())
	w.status(Delegating, "a=validating")
	for _, source := range []string{"http", "web", "slack", "mcp", "file"} {
		w.Respond(id, map[string]any{"response": "run", "provided_by": map[string]any{"user": "kim", "source": source}})
		took(t, w.settle())
		if note := w.Read("requests/" + id + "/problem.md"); !strings.Contains(note, "at the command line of this machine") {
			t.Errorf("%s: %s", source, note)
		}
	}
	delete(w.Files, w.In("requests/"+id+"/response.json"))
	w.Tick(w.In("requests/"+id+"/form.md"), "run", "submit")
	w.trust() // even then the form has decided nothing
	took(t, w.settle(), "a:trusted")
	if q := w.request(id); q.Status != gate.Superseded {
		t.Errorf("%+v", q)
	}
}

// A request.json that this machine did not write lets nothing run.
func TestAForeignRequestLetsNothingRun(t *testing.T) {
	w := stoppedWorld(t, nil)
	w.settle()
	id := w.open(typeChanged)
	w.Respond(id, map[string]any{"response": "run"})
	w.Unrecorded = true
	took(t, w.settle())
	if note := w.Read("requests/" + id + "/problem.md"); !strings.Contains(note, "is not what placet wrote on this machine") {
		t.Error(note)
	}
	w.Respond(id, map[string]any{"response": "escalate"})
	took(t, w.settle(), "a:unanswerable", "escalate")
}

// A file that changes again is asked about anew, not at every save; an answer to what was shown before
// does not count.
func TestAFileThatChangesAgainIsAskedAboutAnew(t *testing.T) {
	w := stoppedWorld(t, nil)
	w.settle()
	first := w.open(typeChanged)
	w.changes("echo old\n", "echo evil\n")
	took(t, w.settle())
	w.Respond(first, map[string]any{"response": "run"})
	w.pass(11 * time.Second)
	took(t, w.settle(), "a:command_changed")
	second := w.open(typeChanged)
	if second == first || w.request(first).Status != gate.Superseded {
		t.Fatalf("%s, then %s: %+v", first, second, w.request(first))
	}
	if form := w.Read("requests/" + second + "/form.md"); !strings.Contains(form, "+echo evil") {
		t.Errorf("the form does not show the present file:\n%s", form)
	}
	w.changes("echo old\n", "echo old\n")
	w.trust()
	w.Facts.Changed = nil
	took(t, w.settle(), "a:trusted")
}

// Later changes are offered only where the settings allow it, and the wish counts for one session.
func TestLaterChangesAreOfferedWhereTheSettingsAllowIt(t *testing.T) {
	w := stoppedWorld(t, func(c *Config) { c.ChangingTests = ptr(changingTrust) })
	w.settle()
	if form := w.Read("requests/" + w.open(typeChanged) + "/form.md"); !strings.Contains(form, "- [ ] run_and_trust: ") {
		t.Errorf("later changes are not offered:\n%s", form)
	}
	digest := commandDigest("validation", []string{"bash", "-c"}, "run a")
	w.Facts.Trusted[digest.For(engine.Key{Family: "afl", ID: "other"})] = true
	took(t, w.settle())
	w.Facts.Trusted[digest.For(engine.Key{Family: "afl", ID: "abc12345"})] = true
	took(t, w.settle(), "a:trusted")
}

// A command that was never agreed to is no question: the view says that the session waits for trust.
func TestACommandThatWasNeverAgreedToStopsTheSession(t *testing.T) {
	w := approvedWorld(t, cp{id: "a"}, cp{id: "b", after: []string{"a"}})
	w.untilBegun()
	if all := w.account().Untrusted; len(all) != 2 || all[0].Stops || all[1].Stops {
		t.Errorf("%+v", all)
	}
	w.done("a")
	took(t, w.settle(), "a:worker_done")
	if all := w.account().Untrusted; len(all) != 2 || !all[0].Stops || all[1].Stops {
		t.Errorf("%+v", all)
	}
}

// What is not to run goes to a person like every other escalation, and can be validated later.
func TestWhatIsNotToRunIsEscalated(t *testing.T) {
	w := stoppedWorld(t, nil)
	w.settle()
	w.answer(typeChanged, "escalate", nil)
	took(t, w.settle(), "a:unanswerable", "escalate")
	if md := w.Read("delegations/a/escalation.md"); !strings.Contains(md, "not allowed to run after these files changed: tests/a.sh") {
		t.Error(md)
	}
	w.answer(typeEscalation, "env_fixed", nil)
	taken := strings.Join(w.settle(), " ")
	if !strings.Contains(taken, "a:command_changed") {
		t.Errorf("took %s", taken)
	}
}
