package pal

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/internal/enginetest"
	"placet/layout"
	"placet/schemas"
)

func TestLaws(t *testing.T)        { enginetest.Run(t, laws()) }
func TestCrash(t *testing.T)       { enginetest.Crash(t, some()) }
func TestErrors(t *testing.T)      { enginetest.Errors(t, some()) }
func TestMetamorphic(t *testing.T) { enginetest.Metamorphic(t, some()) }
func TestLanguages(t *testing.T)   { enginetest.Languages(t, laws()) }

// some keeps the cases that run with faults at every call: one whole, and of the others what
// differs.
func some() enginetest.Suite {
	s := laws()
	from := map[string]int{"one port": 0, "a person is asked": 3, "cancelled": 1}
	s.Cases = slices.DeleteFunc(s.Cases, func(c enginetest.Case) bool { _, told := from[c.Name]; return !told })
	for i := range s.Cases {
		s.Cases[i].TroubleFrom = from[s.Cases[i].Name]
	}
	return s
}

const dir = ".pal/orchestrations/shop"

var now = time.Date(2026, 11, 22, 13, 51, 40, 0, time.UTC)

// conf are the settings of the cases, in which a second failure exhausts the tries.
func conf(change func(*Config)) Config {
	c := DefaultConfig()
	two := 2
	c.MaxRetries = &two
	if change != nil {
		change(&c)
	}
	return c
}

func laws() enginetest.Suite {
	return enginetest.Suite{
		Machine: New(), Layout: layout.Pal{}, Config: engine.Config{Language: "en", Family: conf(nil)},
		Final: map[string][]engine.Status{
			ofRun: {Complete, Failed, Cancelled}, ofPort: {Complete, Failed, Cancelled}, ofLoop: {Success, Escalated, Failed}, ofEscalation: {Resolved, Dismissed},
		},
		Persons:  []string{"started", "cancelled", "paused", "resumed", "retry", "skipped", "taken_over", "aborted", "accepted", "go_on", "answered", "dismissed"},
		EveryRow: true, Asks: []string{typeEscalation}, Lengths: lengthsAside, After: wellWritten, Cases: cases(),
	}
}

// lengthsAside removes from a tree how long ports took.
func lengthsAside(t enginetest.Tree) enginetest.Tree {
	for p, body := range t {
		if name := path.Base(p); name == "state.json" || name == "events.jsonl" {
			t[p] = portTimes.ReplaceAllString(body, "$1<length>")
		}
	}
	return t
}

var portTimes = regexp.MustCompile(`("duration_secs": ?)\d+`)

// wellWritten checks that placet's documents fit their schemas, that the journal has no gaps, and
// that never more ports run than allowed.
func wellWritten(tree enginetest.Tree, _ map[string][]engine.Row) error {
	names := map[string]string{
		"state.json": "state", "plan.json": "plan", "session.json": "session", "channel.json": "channel",
	}
	for p, body := range tree {
		rel, ok := strings.CutPrefix(p, dir+"/")
		if !ok || layout.IsTemp(path.Base(p)) {
			continue
		}
		name := names[path.Base(rel)]
		switch {
		case strings.HasPrefix(rel, "escalations/"):
			name = "escalation"
		case strings.HasSuffix(rel, "-impl-result.json"), strings.HasSuffix(rel, "-test-feedback.json"):
			name = "message"
		case strings.HasSuffix(rel, ".delivered.json"):
			name = "delivered"
		case strings.HasSuffix(rel, ".processed.json"):
			name = "processed"
		case strings.HasPrefix(path.Base(rel), "attempt-"):
			name = "attempt"
		}
		if name == "" {
			continue
		}
		if err := schemas.Decode("pal/"+name, p, []byte(body), nil); err != nil {
			return err
		}
		if name == "state" {
			if err := withinSlots(body); err != nil {
				return err
			}
		}
	}
	seq := 0
	for line := range strings.Lines(tree[dir+"/events.jsonl"]) {
		var e struct {
			Seq int `json:"seq"`
		}
		if err := schemas.Decode("pal/event", "events.jsonl", []byte(line), &e); err != nil {
			return err
		}
		if seq++; e.Seq != seq {
			return fmt.Errorf("the journal's line %d has the number %d", seq, e.Seq)
		}
	}
	return nil
}

func withinSlots(body string) error {
	st, err := ReadState("state.json", []byte(body))
	if err != nil {
		return err
	}
	running := 0
	for _, p := range st.Ports {
		if p.Status == Running {
			running++
		}
	}
	if running > st.Settings.MaxConcurrency {
		return fmt.Errorf("%d ports run, and %d may", running, st.Settings.MaxConcurrency)
	}
	return nil
}

// orchestrationOf returns an orchestration with some ports: "C: A" is a port C that needs A.
func orchestrationOf(ports ...string) string {
	var list []string
	for _, p := range ports {
		id, after, _ := strings.Cut(p, ":")
		list = append(list, fmt.Sprintf(`{"port_id": %q, "depends_on": %s, "body": "do it"}`, id, quoted(strings.Fields(after))))
	}
	return `{"title": "Shop", "ports": [` + strings.Join(list, ", ") + `]}`
}

func quoted(words []string) string {
	for i, w := range words {
		words[i] = fmt.Sprintf("%q", w)
	}
	return "[" + strings.Join(words, ", ") + "]"
}

func story(name, orchestration string, steps ...enginetest.Step) enginetest.Case {
	return enginetest.Case{Name: name, Now: now, Files: enginetest.Tree{dir + "/orchestration.json": orchestration}, Steps: steps}
}

func set(c enginetest.Case, change func(*Config)) enginetest.Case {
	c.Config = func(all *engine.Config) { all.Family = conf(change) }
	return c
}

func put(rel, body string) enginetest.Step { return enginetest.Write(path.Join(dir, rel), body) }

const (
	resultOf   = `{"status": "ready", "summary": "done", "changed_files": ["api/x.go"]}`
	otherFiles = `{"status": "ready", "summary": "done", "changed_files": []}`
	gaveUp     = `{"status": "failed", "summary": "no way"}`
	good       = `{"success": true, "metrics": {"total": 9, "passed": 9}}`
	bad        = `{"success": false, "failed_tests": [{"name": "TestTotal", "suggested_fix": "count the last line"}], "metrics": {"total": 9, "passed": 8}}`
)

func result(port string, try int, body string) enginetest.Step {
	return put(layout.PalResultFile(port, try), body)
}

func feedback(port string, try int, body string) enginetest.Step {
	return put(layout.PalFeedbackFile(port, try), body)
}

// passed returns the steps in which a port's first try passes.
func passed(port string) []enginetest.Step {
	return []enginetest.Step{result(port, 1, otherFiles), feedback(port, 1, good)}
}

// fails returns the steps in which all tries of a round fail.
func fails(port string, first int) []enginetest.Step {
	return []enginetest.Step{result(port, first, otherFiles), feedback(port, first, bad), result(port, first+1, otherFiles), feedback(port, first+1, bad)}
}

// answer returns the step in which a person answers the open request about a type of escalation of
// a port.
func answer(port, typ, option, comment string) enginetest.Step {
	return enginetest.Step{Name: "answer " + port + " " + typ + " " + option, Do: func(t enginetest.Tree) {
		st, err := ReadState("state.json", []byte(t[dir+"/state.json"]))
		if err != nil {
			panic(err)
		}
		for _, q := range st.Requests {
			if e := st.Escalations[q.ID]; e.Status == Open && e.Type == typ && string(e.PortID) == port {
				t[dir+"/requests/"+q.ID+"/response.json"] = fmt.Sprintf(`{"request_id": %q, "response": %q, "comment": %q, "provided_by": {"user": "kim", "source": "file"}}`, q.ID, option, comment)
				return
			}
		}
		panic("nothing of the type " + typ + " is asked about " + port)
	}}
}

func file(session string, n int, typ string) enginetest.Step {
	return put(layout.PalFiledFile(session, n), fmt.Sprintf(`{"type": %q, "title": "look at this"}`, typ))
}

func wish(want string) enginetest.Step {
	return put("control.json", fmt.Sprintf(`{"want": %q, "by": "kim"}`, want))
}

func steps(parts ...any) (list []enginetest.Step) {
	for _, p := range parts {
		switch p := p.(type) {
		case enginetest.Step:
			list = append(list, p)
		case []enginetest.Step:
			list = append(list, p...)
		}
	}
	return list
}

// endings are cases in which a person ends a port in each status that it may have.
func endings() (list []enginetest.Case) {
	about := func(port string) enginetest.Step {
		return put("sessions/build/escalation-1.json", fmt.Sprintf(`{"type": "general", "title": "think", "port_id": %q}`, port))
	}
	one := func(c *Config) { n := 1; c.MaxConcurrency = &n }
	for option, comment := range map[string]string{optSkip: "", optTakeOver: "done", optAbortPort: ""} {
		list = append(list,
			story(option+" of a pending port", orchestrationOf("A", "B:A"), steps(about("B"), answer("B", typeGeneral, option, comment), passed("A"))...),
			set(story(option+" of a port that is ready", orchestrationOf("A", "B"), steps(about("B"), answer("B", typeGeneral, option, comment), passed("A"))...), one),
			story(option+" of a running port", orchestrationOf("A"), steps(about("A"), answer("A", typeGeneral, option, comment))...))
	}
	slices.SortFunc(list, func(a, b enginetest.Case) int { return strings.Compare(a.Name, b.Name) })
	return append(list,
		story("retry of a running port", orchestrationOf("A"), steps(about("A"), answer("A", typeGeneral, optRetry, "from the start"), result("A", 2, otherFiles), feedback("A", 2, good))...),
		set(story("filed about a port that is ready", orchestrationOf("A", "B"),
			steps(put("sessions/build/escalation-1.json", `{"type": "decision", "title": "which?", "port_id": "B"}`), wish("abort"))...), one),
		set(story("cancelled while a port is ready", orchestrationOf("A", "B"), steps(wish("abort"))...), one),
		story("cancelled while paused", orchestrationOf("A"), steps(wish("pause"), wish("abort"))...),
		story("cancelled before it started", `{"title": "Shop", "autostart": false, "ports": [{"port_id": "A"}]}`, steps(wish("abort"))...))
}

// worked returns a case of a port whose workers placet starts.
func worked() enginetest.Case {
	c := story("a worker ends without its hand-in", `{"title": "Shop", "ports": [{"port_id": "A", "workers": {"impl": ["./impl"]}}]}`,
		steps(ended(1, 1), answer("A", typeBlocked, optRetry, "again"), result("A", 2, otherFiles), ended(2, 2), feedback("A", 2, good))...)
	c.Trusted = []engine.Digest{CommandDigest([]string{"./impl"})}
	return c
}

// ended returns the step in which the command of the impl worker ends.
func ended(try, start int) enginetest.Step {
	return put(layout.PalOutcomeFile("A", roleImpl, try, start), fmt.Sprintf(`{"role": "impl", "try": %d, "start": %d, "started_at": "2026-11-22T13:51:43Z", "finished_at": "2026-11-22T13:51:44Z",
 "duration_ms": 1000, "outcome": "finished", "exit_code": 0, "stdout": {"bytes": 14, "head": "nothing to do\n", "tail": "", "truncated": false}, "stderr": {"bytes": 0, "head": "", "tail": "", "truncated": false}}`, try, start))
}

func cases() []enginetest.Case {
	pass := enginetest.Pass
	return append(append(endings(), worked()), []enginetest.Case{
		story("one port", orchestrationOf("A"), passed("A")...),
		story("a person is asked", orchestrationOf("A"), steps(fails("A", 1), answer("A", typeTestFailure, optRetry, "look at the last line"))...),
		story("the tests pass", orchestrationOf("A", "B:A"), steps(result("A", 1, otherFiles), feedback("A", 1, bad), result("A", 2, otherFiles), feedback("A", 2, good), passed("B"))...),
		story("the tries are used up", orchestrationOf("A", "B:A"), steps(fails("A", 1), answer("A", typeTestFailure, optRetry, "look at the last line"), result("A", 3, otherFiles), feedback("A", 3, good), passed("B"))...),
		story("the implementation fails", orchestrationOf("A"), steps(result("A", 1, gaveUp), result("A", 2, gaveUp), answer("A", typeTestFailure, optTakeOver, "I did it"))...),
		story("skipped", orchestrationOf("A", "B:A"), steps(fails("A", 1), answer("A", typeTestFailure, optSkip, ""), passed("B"))...),
		story("a dependency failed", orchestrationOf("A", "B:A", "C:B"),
			steps(fails("A", 1), answer("A", typeTestFailure, optAbortPort, ""), answer("B", typeDependency, optRetry, ""), passed("B"), passed("C"))...),
		story("a dependency failed later", orchestrationOf("A", "B:A", "C:B"),
			steps(fails("A", 1), answer("A", typeTestFailure, optAbortPort, ""), answer("B", typeDependency, optAbortPort, ""), answer("C", typeDependency, optSkip, ""))...),
		story("timed out", orchestrationOf("A"), steps(pass(31*time.Minute), answer("A", typeTimeout, optDismiss, ""), pass(2*time.Hour), passed("A"))...),
		story("filed", orchestrationOf("A"), steps(file("build/A/impl", 1, "question"), answer("A", typeDecision, optRetry, "the left one"), file("build/A/test", 1, "general"), result("A", 2, otherFiles), feedback("A", 2, good))...),
		story("two filed", orchestrationOf("A"), steps(file("build/A/impl", 1, "decision"), file("build/A/impl", 2, "blocked"), answer("A", typeDecision, optDismiss, ""), answer("A", typeBlocked, optDismiss, ""), passed("A"))...),
		story("a message before the first result", orchestrationOf("A"),
			steps(put("channels/A/messages/0001-test-query.json", `{"from_session": "shop/build/A/test", "to_session": "shop/build/A/impl", "type": "query", "payload": "which?"}`), passed("A"))...),
		story("an agent's own session", orchestrationOf("A"),
			steps(put("sessions/build/A/scout/session.json", `{"type": "worker", "title": "look around"}`), file("build/A/scout", 1, "general"), passed("A"))...),
		story("held", orchestrationOf("A"), steps(file("build/A/test", 1, "quality"), passed("A"), answer("A", typeQuality, optDismiss, ""))...),
		story("a conflict", orchestrationOf("A", "B"),
			steps(result("A", 1, resultOf), result("B", 1, resultOf), feedback("A", 1, good), feedback("B", 1, good), answer("B", typeConflict, optDismiss, ""))...),
		story("about the run", orchestrationOf("A"), steps(file("build", 1, "general"), answer("", typeGeneral, optDismiss, ""), file("build", 2, "general"), answer("", typeGeneral, optAbortRun, ""))...),
		story("retry of what is cut off", orchestrationOf("A", "B:A"),
			steps(put("sessions/build/escalation-1.json", `{"type": "decision", "title": "which?", "port_id": "B"}`), fails("A", 1), answer("A", typeTestFailure, optAbortPort, ""),
				answer("B", typeDecision, optRetry, "later"), answer("B", typeDependency, optSkip, ""))...),
		set(story("nobody is asked", orchestrationOf("A"), steps(file("build/A/impl", 1, "general"), passed("A"))...), func(c *Config) { c.AutoResolve = []string{"general"} }),
		story("paused", orchestrationOf("A", "B:A"), steps(wish("pause"), passed("A"), pass(time.Hour), wish("run"), passed("B"))...),
		story("cancelled", orchestrationOf("A", "B:A"), steps(result("A", 1, otherFiles), wish("abort"))...),
		story("replanned", `{"title": "Shop", "autostart": false, "ports": [{"port_id": "A", "status": "complete"}]}`,
			steps(put("orchestration.json", `{"title": "Shop", "autostart": false, "ports": [{"port_id": "A", "status": "complete"}, {"port_id": "B"}]}`), wish("run"), passed("B"))...),
	}...)
}
