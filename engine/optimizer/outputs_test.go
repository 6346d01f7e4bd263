package optimizer

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/internal/enginetest"
	"placet/layout"
	"placet/schemas"
)

// A decision that a crash left without a commit makes room for the committed one. A file of
// somebody else stays and gets a note.
func TestALeftOverDecisionIsReplaced(t *testing.T) {
	tell(t, func(d *desk) {
		d.trigger()
		d.goes(triggered, collected)
		state, events := d.read("state.json"), d.read("events.jsonl")
		d.assets(30)
		d.goes(decided)
		old := d.read("decision.json")
		d.backTo(state, events)
		d.assets(20)
		d.Restart()
		d.goes(decided)
		if got := d.read("decision.json"); got == old || !strings.Contains(got, `"automation_level": 20`) {
			t.Errorf("decision.json says\n%s", got)
		}
	})
	tell(t, func(d *desk) {
		const foreign = `{"automation_level": 30}`
		d.write("decision.json", foreign)
		d.assets(20)
		d.trigger()
		d.goes(triggered, collected, decided)
		if d.read("decision.json") != foreign {
			t.Error("somebody's decision.json was replaced")
		}
		d.noted("decision.json.problem.md", "did not write")
	})
}

// restsAt returns settled cycles at several points, by name.
var restsAt = map[string]func(d *desk){
	"asked": func(d *desk) { d.level20() },
	"goal": func(d *desk) {
		d.level20()
		d.tick("raise", "s1", "submit")
		d.goes(answered)
	},
	"silence": func(d *desk) {
		d.level20()
		d.pass(49 * time.Hour)
		d.goes(timedOut)
	},
	"failed": func(d *desk) {
		d.level20()
		d.write("stop.json", `{"reason": "enough"}`)
		d.goes(stopped)
	},
	"late": func(d *desk) {
		d.level20()
		d.pass(49 * time.Hour)
		d.goes(timedOut)
		d.tick("raise", "submit")
		d.goes()
	},
}

// owned returns placet's documents that a state calls for.
func owned(d *desk) []string {
	var all []string
	for _, p := range d.Tree().Paths() {
		rel, in := strings.CutPrefix(p, dirOf(runA)+"/")
		name := rel[strings.LastIndex(rel, "/")+1:]
		switch {
		case !in, strings.HasPrefix(rel, "inputs/"), strings.HasSuffix(name, "problem.md"):
		case name == "trigger.json" || name == "state.json" || name == "retrieved.jsonl" || name == "suggestions.json" || name == "stop.json":
		case name == "form.md" || name == "late.json" || name == "events.jsonl" || name == "context.json": // a reviewer's; a document of one moment; see elsewhere
		default:
			all = append(all, rel)
		}
	}
	return all
}

// A document of placet's that somebody removes is written again unchanged, each one by itself, and
// nothing else happens.
func TestWhatIsRemovedIsMadeAgain(t *testing.T) {
	each(t, restsAt, func(d *desk, reach func(d *desk)) {
		reach(d)
		rows := len(d.Rows(theDB))
		for _, rel := range owned(d) {
			if strings.HasSuffix(rel, "/request.json") && d.T.Name() != "TestWhatIsRemovedIsMadeAgain/asked" {
				continue // nobody needs it once its request is closed
			}
			before := d.Tree()
			d.unlink(rel)
			d.goes()
			d.pass(11 * time.Minute)
			d.goes()
			got, want := clocksAside(d.Tree()), clocksAside(before)
			delete(got, ".placet/now")
			delete(want, ".placet/now")
			if rel == "audit.json" { // it is collected anew
				got, want = got.Normal(), want.Normal()
				for _, tree := range []enginetest.Tree{got, want} {
					tree[d.in(rel)] = strings.ReplaceAll(tree[d.in(rel)], `"outcome": "present"`, `"outcome": "inserted"`)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				d.T.Errorf("%s was removed (-before +after):\n%s", rel, diff)
			}
			if len(d.Rows(theDB)) != rows {
				d.T.Errorf("%s was removed: there are %d rows, %d before", rel, len(d.Rows(theDB)), rows)
			}
		}
	})
}

// A document of placet's that somebody changes stays changed and moves nothing.
func TestWhatIsChangedIsLeft(t *testing.T) {
	each(t, restsAt, func(d *desk, reach func(d *desk)) {
		reach(d)
		state := d.read("state.json")
		for _, rel := range owned(d) {
			if rel == "audit.json" || strings.HasSuffix(rel, "_report.md") {
				continue
			}
			good := d.read(rel)
			bad := strings.Replace(good, "20", "21", 1)
			d.write(rel, bad)
			d.goes()
			if d.read(rel) != bad || d.read("state.json") != state {
				d.T.Errorf("%s was written over, or moved something", rel)
			}
			d.write(rel, good)
			d.goes()
		}
	})
}

// The receipt and the state are durable before the goal, which a later commit writes: a power cut
// between them would otherwise leave a goal that does not name its run.
func TestTheReceiptComesBeforeTheGoal(t *testing.T) {
	for name, late := range map[string]bool{"answered": false, "silence": true} {
		s := newStage(t)
		s.Write("inputs/assets.json", assetsOf(10))
		s.Write("trigger.json", triggerOf(flow))
		s.rest()
		if late {
			s.Now = s.Now.Add(49 * time.Hour)
		} else {
			s.Tick(s.find("form.md"), "raise", "submit")
		}
		for range 8 {
			s.Step()
			if s.find("receipt.json") != "" {
				break
			}
		}
		if s.find("receipt.json") == "" || s.Has("goal.json") {
			t.Errorf("%s: receipt %q, goal %v", name, s.find("receipt.json"), s.Has("goal.json"))
		}
		s.rest()
		if !s.Has("goal.json") {
			t.Errorf("%s: there is no goal", name)
		}
	}
}

// schemaOf maps the kinds of documents that placet writes, in the words of layout, to their
// schemas.
var schemaOf = map[string]string{
	layout.KindStateFile: "optimizer/state", "context": "optimizer/context", layout.OptimizerKindDecision: "optimizer/decision",
	"attempt": "optimizer/attempt", "outcome": "optimizer/outcome", "audit": "optimizer/audit",
	"goal": "optimizer/goal", "result": "optimizer/result", "late": "optimizer/late",
	layout.KindRequest: "kernel/request", layout.KindReceipt: "kernel/receipt",
}

// writtenWell asserts that placet's documents fit their schemas, have their members in the order of
// the format page, are indented by two spaces and end with a newline. It returns how many documents
// of each kind exist. A file with a note beside it may be somebody else's.
func writtenWell(t testing.TB, tree enginetest.Tree) map[string]int {
	t.Helper()
	seen := map[string]int{}
	for p, body := range tree {
		run, ok := layout.Optimizer{}.At(p)
		if _, noted := tree[p+layout.ProblemSuffix]; !ok || noted || run.Class != layout.OptimizerRun {
			continue
		}
		f, _ := layout.Optimizer{}.File(run, strings.TrimPrefix(p, run.Dir+"/"))
		name, ours := schemaOf[f.Kind]
		if f.Kind == layout.OptimizerKindTrigger && strings.Contains(body, `"created_by": "placet"`) {
			name, ours = "optimizer/trigger", true
		}
		if !ours {
			continue
		}
		seen[f.Kind]++
		var members schemas.Object
		if err := schemas.Decode(name, p, []byte(body), &members); err != nil {
			t.Errorf("%v", err)
			continue
		}
		if again, err := schemas.Encode(members); err != nil || string(again) != body {
			t.Errorf("%s is not written as placet writes: %v\n%s", p, err, body)
		}
		source, err := schemas.Source(name)
		if err != nil {
			t.Fatal(err)
		}
		inOrder(t, p, source, []byte(body))
	}
	return seen
}

// inOrder asserts that the members of a value have the order of its schema, recursively.
func inOrder(t testing.TB, where string, schema, value []byte) {
	t.Helper()
	about, err := schemas.Members(schema)
	if err != nil {
		return // the schema true allows anything
	}
	switch schemas.Raw(value).Kind() {
	case '{':
		properties, err := schemas.Members(about.Raw("properties"))
		if err != nil {
			return // any names are allowed
		}
		members, err := schemas.Members(value)
		if err != nil {
			t.Fatal(err)
		}
		var is, want []string
		for _, m := range members {
			if properties.Raw(m.Name) != nil {
				is = append(is, m.Name)
				inOrder(t, where+"/"+m.Name, properties.Raw(m.Name), m.Value.(schemas.Raw))
			}
		}
		for _, m := range properties {
			if slices.Contains(is, m.Name) {
				want = append(want, m.Name)
			}
		}
		if !slices.Equal(is, want) {
			t.Errorf("%s: the members stand as %q, expected %q", where, is, want)
		}
	case '[':
		elements, err := schemas.Elements(value)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range elements {
			inOrder(t, where, about.Raw("items"), e)
		}
	}
}

// The suite checks every case against the schemas at its end. This test has all documents that a
// cycle can have.
func TestWhatPlacetWritesIsAsThePageHasIt(t *testing.T) {
	open, dir := openCycle(t)
	over := settled(t, open, enginetest.Tree{dir + "/response.json": goodAnswer(dir)}, enginetest.Tree{
		activeRuns + "20260303-msowd-sop-masking/manifest.json": `{"status": "completed", "completed_at": "2026-03-05T00:00:00Z"}`,
	})
	seen := writtenWell(t, over)
	for kind, least := range map[string]int{"state": 2, "context": 2, "decision": 2, "audit": 1, "goal": 1, "result": 1, "request": 1, "receipt": 1, "trigger": 1} {
		if seen[kind] < least {
			t.Errorf("%d documents of the kind %s", seen[kind], kind)
		}
	}
	goal, err := schemas.Members([]byte(over[badRun+"/goal.json"]))
	if err != nil || len(goal) != 4 {
		t.Errorf("goal.json has the members %v, %v", goal, err)
	}
}
