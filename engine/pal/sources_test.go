package pal

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/engine/run"
	"placet/schemas"
)

const shop = ".pal/orchestrations/shop"

// snapshotOf returns a snapshot of files long after they were written; needs are the needs besides
// the run's folder.
func snapshotOf(files map[string]string, needs []string) engine.Snapshot {
	snap := engine.Snapshot{Key: engine.Key{Family: "pal", ID: "shop"}, Dir: shop, Now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), Needs: slices.Sorted(slices.Values(needs))}
	for p, body := range files {
		if strings.HasPrefix(p, shop+"/") || slices.Contains(needs, p) {
			snap.Docs = append(snap.Docs, engine.Document{Path: p, Body: []byte(body), Sum: engine.Sum([]byte(body))})
		}
	}
	slices.SortFunc(snap.Docs, func(a, b engine.Document) int { return strings.Compare(a.Path, b.Path) })
	return snap
}

// looked holds the sources after all needs are met, and the notes about them by path.
type looked struct {
	sources
	*run.Input
}

// lookAt reads an orchestration and the files beside it until nothing more is needed.
func lookAt(t *testing.T, conf Config, orchestration string, others ...string) looked {
	t.Helper()
	files := map[string]string{}
	if orchestration != "" {
		files[shop+"/orchestration.json"] = orchestration
	}
	for i := 0; i < len(others); i += 2 {
		files[others[i]] = others[i+1]
	}
	var needs []string
	for range 3 {
		in := &run.Input{Snap: snapshotOf(files, needs)}
		s := readSources(in, conf, false)
		if len(in.Snap.Lacks(s.needs)) == 0 {
			checkLooked(t, looked{s, in})
			return looked{s, in}
		}
		if s.design != nil || s.plan != nil || in.Notes.Len() > 0 && s.got != run.Bad {
			t.Fatalf("decided before all was looked up: %+v", s)
		}
		needs = s.needs
	}
	t.Fatal("it never has all that it needs")
	return looked{}
}

// checkLooked asserts what is true whatever the sources are.
func checkLooked(t *testing.T, l looked) {
	t.Helper()
	plan := l.planOf(t)
	isValid := plan != nil && plan.Valid
	if isValid != (l.design != nil) || isValid != (l.got == run.Good) || (l.Notes.Len() > 0) != (l.got == run.Bad) {
		t.Errorf("got %d, design %v, notes %d, plan %s", l.got, l.design, l.Notes.Len(), l.plan)
	}
	if again := readSources(&run.Input{Snap: l.Snap}, DefaultConfig(), false); plan != nil && !slices.Equal(again.plan, l.plan) {
		t.Errorf("another look gives another plan")
	}
}

// planOf returns plan.json, or nil.
func (l looked) planOf(t *testing.T) *PlanDocument {
	t.Helper()
	if l.plan == nil {
		return nil
	}
	var plan PlanDocument
	if err := schemas.Decode("pal/plan", "plan.json", l.plan, &plan); err != nil {
		t.Fatal(err)
	}
	return &plan
}

// beside returns the note beside orchestration.json, or about another file.
func (l looked) beside() string { return l.Notes.Text(shop + "/orchestration.json.problem.md") }
func (l looked) about(p string) string {
	return l.Notes.Text(shop + "/problems/" + strings.ReplaceAll(p, "/", "--") + ".problem.md")
}

func ids(ports []PortDesign) (ids []string) {
	for _, p := range ports {
		ids = append(ids, p.ID)
	}
	return ids
}

// objects returns the ports of an orchestration, each an id with its dependencies.
func objects(ports ...string) string {
	var list []string
	for _, port := range ports {
		words := strings.Fields(port)
		on := []string{}
		for _, id := range words[1:] {
			on = append(on, fmt.Sprintf("%q", id))
		}
		list = append(list, fmt.Sprintf(`{"port_id":%q,"depends_on":[%s]}`, words[0], strings.Join(on, ",")))
	}
	return `{"title":"Shop","ports":[` + strings.Join(list, ",") + `]}`
}

// Scenario 1: the seed's graph.
func TestTheSeedsGraphIsPlanned(t *testing.T) {
	body := `{"title":"Shop","atomic_ports":["A","B",{"id":"C"},{"port_id":"D","depends_on":["A","B","C","A"]}]}`
	l := lookAt(t, DefaultConfig(), body, "ports/A.md", "# Port: Login\n> Agent: go\n", "ports/B.md", "", "ports/C.md", "> Depends on: A\n")
	plan := l.planOf(t)
	if plan == nil || l.design == nil {
		t.Fatalf("got %d, %s", l.got, l.beside())
	}
	if diff := cmp.Diff([][]string{{"A", "B"}, {"C"}, {"D"}}, plan.Levels); diff != "" || plan.MaxParallelism != 2 {
		t.Errorf("%d at the same time, levels (-want +got):\n%s", plan.MaxParallelism, diff)
	}
	if diff := cmp.Diff([]string{"A", "C", "D"}, plan.CriticalPath); diff != "" {
		t.Errorf("critical path (-want +got):\n%s", diff)
	}
	a, none := "ports/A.md", []string{}
	if diff := cmp.Diff(PlanPort{"A", 1, none, &a}, plan.Ports[0]); diff != "" || plan.OrchestrationDigest != engine.Sum([]byte(body)) {
		t.Errorf("port (-want +got):\n%s", diff)
	}
	limits := Limits{3, "30m0s", 15000}
	want := &Design{
		Title: "Shop", Autostart: true, Digest: engine.Sum([]byte(body)), MaxConcurrency: 3, Parallel: true,
		Specs: map[string]engine.Digest{"A": engine.Sum([]byte("# Port: Login\n> Agent: go\n")), "B": engine.Sum(nil), "C": engine.Sum([]byte("> Depends on: A\n"))},
		Ports: []PortDesign{
			{ID: "A", Title: "Login", Order: 1, DependsOn: none, SpecPath: "ports/A.md", Agent: "go", Limits: limits}, {ID: "B", Title: "B", Order: 2, DependsOn: none, SpecPath: "ports/B.md", Limits: limits},
			{ID: "C", Title: "C", Order: 3, DependsOn: []string{"A"}, SpecPath: "ports/C.md", Limits: limits}, {ID: "D", Title: "D", Order: 4, DependsOn: []string{"A", "B", "C"}, Limits: limits},
		},
	}
	if diff := cmp.Diff(want, l.design); diff != "" {
		t.Errorf("design (-want +got):\n%s", diff)
	}
}

// Scenario 9: errors in ids and dependencies are named, singly and together.
func TestWhatIsWrongWithPortsIsNamed(t *testing.T) {
	type want struct {
		codes    []string
		messages []string
	}
	cycle, self := "ports wait for each other: A → C → B → A", "ports wait for each other: A → A"
	unknown := "port C depends on Z, which is not in this orchestration"
	for name, c := range map[string]struct {
		body string
		want want
	}{
		"cycle":      {objects("B A", "C B", "A C"), want{[]string{codeCycle}, []string{"ports wait for each other: B → A → C → B"}}},
		"cycle of A": {objects("A C", "B A", "C B"), want{[]string{codeCycle}, []string{cycle}}},
		"self":       {objects("A A"), want{[]string{codeCycle}, []string{self}}},
		"unknown":    {objects("C Z"), want{[]string{codeUnknown}, []string{unknown}}},
		"twice":      {objects("A", "A"), want{[]string{codeDuplicate}, []string{"port A is listed twice"}}},
		"case":       {objects("a", "A"), want{[]string{codeDuplicate}, []string{"ports a and A differ only in case"}}},
		"look-alike": {objects("api-1", "api-l"), want{[]string{codeLookAlike}, []string{"ports api-1 and api-l look alike"}}},
		"bad":        {objects("x.json"), want{[]string{codeBadID}, []string{`the id "x.json" cannot be used`}}},
		"a path":     {objects("../../etc"), want{[]string{codeBadID}, []string{`the id "../../etc" cannot be used`}}},
		"together": {objects("A C", "B A", "C B Z", "a", "api-1", "api-l", "A", "x.md"), want{
			[]string{codeDuplicate, codeDuplicate, codeLookAlike, codeBadID, codeUnknown, codeCycle},
			[]string{cycle, unknown, "ports A and a differ only in case", "ports api-1 and api-l look alike", "port A is listed twice", `the id "x.md" cannot be used`}}},
	} {
		l := lookAt(t, DefaultConfig(), c.body)
		plan := l.planOf(t)
		if plan == nil || plan.Valid || len(plan.Levels)+len(plan.CriticalPath)+plan.MaxParallelism > 0 {
			t.Errorf("%s: %s", name, l.plan)
			continue
		}
		var codes []string
		for _, e := range plan.Errors {
			codes = append(codes, e.Code)
		}
		if diff := cmp.Diff(slices.Sorted(slices.Values(c.want.codes)), slices.Sorted(slices.Values(codes))); diff != "" {
			t.Errorf("%s: codes (-want +got):\n%s", name, diff)
		}
		for _, m := range c.want.messages {
			if !strings.Contains(l.beside(), m) || !slices.ContainsFunc(plan.Errors, func(e PlanError) bool { return strings.HasPrefix(e.Message, m) }) {
				t.Errorf("%s: %q is missing in\n%s\n%s", name, m, l.beside(), l.plan)
			}
		}
	}
	plan := CheckPorts("en", []PortDesign{{ID: "A", DependsOn: []string{"C", "Z"}}, {ID: "B", DependsOn: []string{"A"}}, {ID: "C", DependsOn: []string{"B"}}, {ID: "a"}})
	if diff := cmp.Diff([]string{"A", "C", "B", "A"}, plan.Cycle); diff != "" {
		t.Errorf("cycle (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]UnknownDep{{"A", "Z"}}, plan.UnknownDeps); diff != "" {
		t.Errorf("unknown (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([][]string{{"A", "a"}}, plan.Duplicates); diff != "" {
		t.Errorf("duplicates (-want +got):\n%s", diff)
	}
	if l := lookAt(t, DefaultConfig(), objects("A", "C A")); l.design == nil || l.Notes.Len() > 0 { // repaired
		t.Errorf("got %d: %s", l.got, l.beside())
	}
	if l := lookAt(t, DefaultConfig(), strings.Replace(objects("A"), `"ports"`, `"autostart":false,"ports"`, 1)); l.design == nil || l.design.Autostart {
		t.Errorf("it starts by itself: %+v", l.design)
	}
}

func TestManyUnknownDependencies(t *testing.T) {
	const n = 65
	ports := make([]PortDesign, n)
	for i := range ports {
		ports[i].ID = fmt.Sprint("p", i*7)
		for k := range n {
			ports[i].DependsOn = append(ports[i].DependsOn, fmt.Sprint("q", i*n+k))
		}
	}
	plan := CheckPorts("en", ports)
	last := plan.Errors[len(plan.Errors)-1]
	if len(plan.Errors) != mostErrors+1 || last.Message != fmt.Sprintf("%d more dependencies are not in this orchestration", n*n-mostErrors) || last.Port != nil {
		t.Errorf("%d errors, the last %+v", len(plan.Errors), last)
	}
}

func TestOrchestrationsThatCannotBeRead(t *testing.T) {
	for body, want := range map[string]string{
		`[]`:            "cannot read orchestration.json: line 1, column 1: the document is an array",
		`{"title":"t"}`: "/ports: is missing",
		`{"title":"t","ports":["A"],"atomic_ports":["B"]}`:                   "orchestration.json: /atomic_ports: stands beside ports, of which it is another name: expected one of them",
		`{"title":"t","ports":["A"],"timeout_per_port":"soon"}`:              `orchestration.json: /timeout_per_port: "soon" is no length of time: write it like 30m or 2h, or 0s for any time`,
		`{"title":"t","atomic_ports":["A",{"id":"B","timeout":"-1s"}]}`:      `/atomic_ports/1/timeout: "-1s" is no length of time`,
		`{"title":"t","ports":[{"id":"B","port_id":"A"}]}`:                   "/ports/0/id: stands beside port_id, of which it is another name: expected one of them",
		`{"title":"t","ports":[{"id":"B","spec":"../x.md"}]}`:                `/ports/0/spec: "../x.md" is no file that can be read as a spec: expected a clean path below the workspace`,
		`{"title":"t","ports":[{"id":"B","spec":".git/config"}]}`:            `/ports/0/spec: ".git/config" is no file`,
		`{"title":"t","ports":[{"id":"B","spec":"ports/*.md"}]}`:             `/ports/0/spec: "ports/*.md" is no file`,
		`{"title":"t","ports":[{"id":"B","spec":"` + shop + `/report.md"}]}`: `is no file that can be read as a spec`,
		`{"title":"t","ports":[{"id":"B","max_retries":0}]}`:                 "/ports/0/max_retries: is the number 0: expected a whole number from 1 to 100",
	} {
		l := lookAt(t, DefaultConfig(), body)
		if l.got != run.Bad || l.plan != nil || !strings.Contains(l.beside(), want) {
			t.Errorf("got %d, plan %s\n got  %s\n want %s", l.got, l.plan, l.beside(), want)
		}
	}
	if l := lookAt(t, DefaultConfig(), `{"title":"t","id":"store","ports":[{"id":"A"}]}`); l.got != run.Bad || l.plan == nil ||
		l.beside() != "cannot use orchestration.json: /id: is store, and the folder is shop: make them equal, or take the id out" {
		t.Errorf("got %d: %s", l.got, l.beside())
	}
	if l := lookAt(t, DefaultConfig(), `{"title":"t","id":"shop","ports":[{"id":"A"}]}`); l.design == nil {
		t.Errorf("got %d: %s", l.got, l.beside())
	}
	if l := lookAt(t, DefaultConfig(), ""); l.got != run.Absent || l.Notes.Len() > 0 || l.Held {
		t.Errorf("got %d", l.got)
	}
}

// Scenario 19: the dialects of specs have the same meaning, and the spec of another port is
// refused.
func TestSpecsSayWhatPortsDependOn(t *testing.T) {
	const body = `{"title":"t","ports":["A","LM-mcp-tools","api","L1-auto-checklist"]}`
	others := []string{"ports/A.md", "", "ports/LM-mcp-tools.md", "", "ports/api.md", ""}
	for name, spec := range map[string]string{
		"table": koreanTable, "Korean block": "> 의존성: LM-mcp-tools, api\n", "English block": "> ID: L1-auto-checklist\n> Depends on: `LM-mcp-tools`,api\n",
	} {
		l := lookAt(t, DefaultConfig(), body, append(slices.Clone(others), "ports/L1-auto-checklist.md", spec)...)
		if l.design == nil {
			t.Fatalf("%s: %s", name, l.plan)
		}
		if diff := cmp.Diff([]string{"LM-mcp-tools", "api"}, l.design.Ports[3].DependsOn); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	l := lookAt(t, DefaultConfig(), `{"title":"t","ports":[{"id":"B","depends_on":[],"spec":"docs/b.md","title":"T","agent":"x","priority":"P"},{"id":"api"}]}`, "docs/b.md", "# Port: B\n> ID: B\n> 의존성: Z\n> Agent: y\n")
	if l.design == nil || l.design.Ports[0].Title != "T" || l.design.Ports[0].Agent != "x" || l.design.Ports[0].Priority != "P" || len(l.design.Ports[0].DependsOn) > 0 || l.design.Ports[0].SpecPath != "docs/b.md" {
		t.Errorf("the object comes first: %+v, %s", l.design, l.plan)
	}
	for want, c := range map[string][]string{
		"ports/A.md declares the id port-1, and the port is A. Make them equal, or name the file by spec at the port with that id": {`"A"`, "> ID: port-1\n"},
		"cannot read ports/A.md: the file is not valid UTF-8":                                                                      {`"A"`, "\xff"},
		"cannot plan port A: ports/A.md is missing. Write it, or give the port as an object":                                       {`"A"`},
	} {
		files := append([]string{"ports/A.md"}, c[1:]...)
		if len(files) == 1 {
			files = nil
		}
		l := lookAt(t, DefaultConfig(), `{"title":"t","ports":[`+c[0]+`,{"id":"B","depends_on":["Z"]}]}`, files...)
		plan := l.planOf(t)
		if l.got != run.Bad || !strings.HasPrefix(l.about("ports/A.md"), want) || plan == nil || len(plan.Errors) != 2 || plan.Errors[1].Code != codeSpec || *plan.Errors[1].Port != "A" {
			t.Errorf("%s\n got  %s\n want %s", l.plan, l.about("ports/A.md"), want)
		}
		if !strings.Contains(l.beside(), "port B depends on Z") || strings.Contains(l.beside(), "ports/A.md") {
			t.Errorf("beside: %s", l.beside())
		}
	}
}

// Scenario 20: which setting counts.
func TestWhereSettingsComeFrom(t *testing.T) {
	yaml := func(n string) []string {
		return []string{configYAML, "version: 0.4.0\ncontext:\n  token_budget: many\norchestration:\n  max_concurrency: " + n + "\n  parallel_enabled: false\n  timeout_per_port: 1h\n"}
	}
	conf := DefaultConfig()
	conf.MaxConcurrency, conf.MaxRetries, conf.TimeoutPerPort = of(4), of(7), of("2h")
	one := strings.Replace(objects("A"), `"ports"`, `"max_concurrency":1,"ports"`, 1)
	for name, c := range map[string]struct {
		conf   Config
		body   string
		others []string
		want   int
	}{
		"all":              {conf, one, yaml("2"), 1},
		"placet.toml":      {conf, objects("A"), yaml("2"), 4},
		"config.yaml":      {DefaultConfig(), objects("A"), yaml("2"), 2},
		"an empty block":   {DefaultConfig(), objects("A"), []string{configYAML, "orchestration:\n"}, 3},
		"an unrelated one": {DefaultConfig(), objects("A"), []string{configYAML, "version: 0.4.0\n"}, 3},
		"nothing":          {DefaultConfig(), objects("A"), nil, 3},
	} {
		in := lookAt(t, DefaultConfig(), c.body, c.others...)
		s := readSources(&run.Input{Snap: in.Snap}, c.conf, false)
		if s.design == nil || s.design.MaxConcurrency != c.want {
			t.Errorf("%s: %+v, expected %d", name, s.design, c.want)
		}
	}
	s := readSources(&run.Input{Snap: lookAt(t, DefaultConfig(), objects("A"), yaml("2")...).Snap}, conf, false)
	if diff := cmp.Diff(Limits{7, "2h0m0s", 15000}, s.design.Ports[0].Limits); diff != "" || s.design.Parallel {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	const whole = `{"title":"t","max_retries":4,"token_budget":0,"timeout_per_port":"0s","workers":{"impl":["i"],"test":["t"]},
		"ports":[{"id":"A"},{"id":"B","max_retries":5,"token_budget":9,"timeout":"90s","workers":{"impl":["j"]},"status":"complete","order":0}]}`
	l := lookAt(t, DefaultConfig(), whole, yaml("2")...)
	want := []PortDesign{
		{ID: "B", Title: "B", DependsOn: []string{}, Complete: true, Limits: Limits{5, "1m30s", 9}, Workers: Workers{Impl: []string{"j"}}},
		{ID: "A", Title: "A", Order: 1, DependsOn: []string{}, Limits: Limits{4, "0s", 0}, Workers: Workers{[]string{"i"}, []string{"t"}}},
	}
	if diff := cmp.Diff(want, l.design.Ports); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	for bad, note := range map[string]string{
		"orchestration:\n  max_concurrency: 0\n":                     "cannot read .pal/config.yaml: line 2, column 20: /orchestration/max_concurrency: is the number 0: expected a whole number from 1 to 64",
		"orchestration:\n  timeout_per_port: 30\n":                   "/orchestration/timeout_per_port: is the number 30: expected a length of time such as 30m, or 0s for none",
		"orchestration:\n  timeout_per_port: soon\n":                 `cannot read .pal/config.yaml: /orchestration/timeout_per_port: "soon" is no length of time`,
		"orchestration: &a\n  max_concurrency: 2\nother: *a\n":       "the anchor &a: expected a value without anchor",
		"orchestration: !x\n  max_concurrency: 2\n":                  "the tag !x: expected a value without tag",
		"a: 1\n---\nb: 2\n":                                          "a second document follows",
		"orchestration: 1\n":                                         "/orchestration: is the number 1: expected an object with max_concurrency, parallel_enabled and timeout_per_port",
		"# " + strings.Repeat("x", 64<<10) + "\norchestration: {}\n": "the file is larger than 65536 bytes",
	} {
		l := lookAt(t, DefaultConfig(), one, configYAML, bad)
		if l.got != run.Bad || l.beside() != "" || !strings.Contains(l.about(configYAML), note) || l.planOf(t).Errors[0].Code != codeConfig {
			t.Errorf("got %d, %s\n got  %s\n want %s", l.got, l.plan, l.about(configYAML), note)
		}
	}
}

// A file that may still be being written decides nothing and gets no note.
func TestSourcesThatAreBeingWritten(t *testing.T) {
	whole := lookAt(t, DefaultConfig(), `{"title":"t","ports":["A",{"id":"B","depends_on":["Z"]}]}`, "ports/A.md", "> ID: other\n", configYAML, "orchestration: 1\n")
	for i := range whole.Snap.Docs {
		in := &run.Input{Snap: whole.Snap}
		in.Snap.Docs = slices.Clone(whole.Snap.Docs)
		in.Snap.Docs[i] = engine.Document{Path: in.Snap.Docs[i].Path, Err: engine.ErrUnsettled}
		if s := readSources(in, DefaultConfig(), false); s.got != run.Pending || s.design != nil || s.plan != nil || in.Notes.Len() > 0 || !in.Held {
			t.Errorf("%s is being written: %+v, %d notes", in.Snap.Docs[i].Path, s, in.Notes.Len())
		}
		in = &run.Input{Snap: whole.Snap}
		in.Snap.Docs = slices.Clone(whole.Snap.Docs)
		in.Snap.Docs[i].Body, in.Snap.Docs[i].Err = nil, &fs.PathError{Op: "open", Path: "x", Err: errors.New("permission denied")}
		if s := readSources(in, DefaultConfig(), false); s.got != run.Pending || s.design != nil || s.plan != nil || !strings.Contains(in.Notes.Text(in.Note(in.Snap.Docs[i].Path)), "permission denied") {
			t.Errorf("%s cannot be read: %+v", in.Snap.Docs[i].Path, s)
		}
	}
}

func TestManyPortsThatAllDependOnEachOther(t *testing.T) {
	const n = 65
	files := map[string]string{}
	var list []string
	var before []string
	for i := range n {
		id := fmt.Sprintf("port-%03d-x%s", i, strings.Repeat("z", 20))
		files["ports/"+id+".md"] = "# Port: " + id + "\n\n| 항목 | 값 |\n|---|---|\n| ID | " + id + " |\n| 의존성 | " + strings.Join(before, ", ") + " |\n"
		list, before = append(list, fmt.Sprintf("%q", id)), append(before, id)
	}
	var others []string
	for _, p := range slices.Sorted(maps.Keys(files)) {
		others = append(others, p, files[p])
	}
	l := lookAt(t, DefaultConfig(), `{"title":"t","ports":[`+strings.Join(list, ",")+`]}`, others...)
	plan := l.planOf(t)
	if l.design == nil || len(plan.Levels) != n || len(plan.CriticalPath) != n || !slices.Equal(ids(l.design.Ports), before) {
		t.Errorf("got %d: %s", l.got, l.beside())
	}
}
