package optimizer

import (
	"slices"
	"strings"
	"testing"

	"placet/internal/enginetest"
	"placet/layout"
	"placet/schemas"
)

// schemaOf are the schemas of what placet writes, by layout's word for it.
var schemaOf = map[string]string{
	layout.KindStateFile: "optimizer/state", "context": "optimizer/context", layout.OptimizerKindDecision: "optimizer/decision",
	"attempt": "optimizer/attempt", "outcome": "optimizer/outcome", "audit": "optimizer/audit",
	"goal": "optimizer/goal", "result": "optimizer/result", "late": "optimizer/late",
	layout.KindRequest: "kernel/request", layout.KindReceipt: "kernel/receipt",
}

// writtenWell asserts that what placet wrote fits the schemas, with the members in
// the order of the format page, two spaces deep and with a last newline. It returns
// how many documents of each kind there are. What lies beside a note of its own may
// be somebody else's.
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

// inOrder asserts that the members of a value stand in the order in which a schema
// names them, within it too.
func inOrder(t testing.TB, where string, schema, value []byte) {
	t.Helper()
	about, err := schemas.Members(schema)
	if err != nil {
		return // true: anything
	}
	switch schemas.Raw(value).Kind() {
	case '{':
		properties, err := schemas.Members(about.Raw("properties"))
		if err != nil {
			return // whatever names there are
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

// Every story is held against the schemas when it has been told; here the documents
// are there that a cycle can have.
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
