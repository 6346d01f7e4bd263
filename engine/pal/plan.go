package pal

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/graph"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// PlanDocument is plan.json: in which order the ports can run, or why they cannot.
type PlanDocument struct {
	SchemaVersion       int           `json:"schema_version"`
	OrchestrationDigest engine.Digest `json:"orchestration_digest"`
	Valid               bool          `json:"valid"`
	Ports               []PlanPort    `json:"ports"`
	Levels              [][]string    `json:"levels"`
	CriticalPath        []string      `json:"critical_path"`
	MaxParallelism      int           `json:"max_parallelism"`
	// Cycle is a list of ports in which each needs the next. The first stands at the end
	// again.
	Cycle []string `json:"cycle"`
	// UnknownDeps are dependencies that are no ports.
	UnknownDeps []UnknownDep `json:"unknown_deps"`
	// Duplicates are pairs of ids that cannot be told apart.
	Duplicates [][]string  `json:"duplicates"`
	Errors     []PlanError `json:"errors"`
}

// PlanPort is a port of a plan.
type PlanPort struct {
	ID        string   `json:"port_id"`
	Order     int      `json:"order"`
	DependsOn []string `json:"depends_on"`
	// Spec is the path of its text, null where it has none.
	Spec *string `json:"spec"`
}

// spec is the path of the port's text, "" where it has none.
func (p PlanPort) spec() string {
	if p.Spec == nil {
		return ""
	}
	return *p.Spec
}

// UnknownDep is a dependency that is no port.
type UnknownDep struct {
	Port       string `json:"port"`
	Dependency string `json:"dependency"`
}

// PlanError is one reason why a plan cannot be carried out.
type PlanError struct {
	Code string `json:"code"`
	// Port is the port that it is about, null where it is about all.
	Port    *string `json:"port"`
	Message string  `json:"message"`
}

// Codes of the errors of a plan.
const (
	codeOrchestration = "orchestration"
	codeConfig        = "config"
	codeSpec          = "spec"
	codeBadID         = "bad_id"
	codeDuplicate     = "duplicate"
	codeLookAlike     = "look_alike"
	codeUnknown       = "unknown_dependency"
	codeCycle         = "cycle"
)

// CheckPorts plans ports, which may stand in any order, and names in a language all that
// is wrong with their ids and dependencies.
func CheckPorts(lang string, ports []PortDesign) PlanDocument { return newPlan(lang, ports) }

// newPlan is CheckPorts of ports with which something else may be wrong, too.
func newPlan(lang string, ports []PortDesign, others ...PlanError) PlanDocument {
	ports = slices.SortedStableFunc(slices.Values(ports), byPlace)
	p := planner{lang: lang, PlanDocument: PlanDocument{SchemaVersion: 1}}
	nodes := make([]graph.Node, len(ports))
	for i, port := range ports {
		nodes[i] = graph.Node{ID: port.ID, After: port.DependsOn}
		p.Ports = append(p.Ports, PlanPort{port.ID, port.Order, port.DependsOn, orNil(port.SpecPath)})
	}
	p.checkIDs(ports)
	p.checkGraph(nodes)
	p.Errors = append(p.Errors, others...)
	if p.Valid = len(p.Errors) == 0; p.Valid {
		p.Levels, p.CriticalPath = graph.Order(nodes), graph.CriticalPath(nodes)
	}
	for _, level := range p.Levels {
		p.MaxParallelism = max(p.MaxParallelism, len(level))
	}
	return p.PlanDocument
}

// planner makes a plan, whose errors are in a language.
type planner struct {
	PlanDocument
	lang string
}

// byPlace compares ports by order and id.
func byPlace(a, b PortDesign) int {
	return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.ID, b.ID))
}

// orNil returns nil for "".
func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// mostErrors is how many errors of one kind a plan lists.
const mostErrors = 500

// addError adds what is wrong with a port, or with all of them, which are "".
func (p *planner) addError(code, port, key string, pairs ...any) {
	p.Errors = append(p.Errors, PlanError{code, orNil(port), templates.Phrase(p.lang, "pal.plan."+key, pairs...)})
}

// checkIDs finds ids that cannot be used, and those that cannot be told apart.
func (p *planner) checkIDs(ports []PortDesign) {
	earlier := map[string]string{} // the first id that looks so
	for _, port := range ports {
		id, taken := port.ID, ""
		if !layout.IsPalID(id) {
			p.addError(codeBadID, id, "bad_id", "id", shownID(id))
		}
		looks := []string{strings.ToLower(id), gate.Skeleton(id), gate.Skeleton(strings.ToLower(id))}
		for _, look := range looks {
			taken = cmp.Or(taken, earlier[look])
		}
		for _, look := range looks {
			earlier[look] = cmp.Or(earlier[look], id)
		}
		if taken != "" {
			p.addPair(taken, id)
		}
	}
}

// addPair adds an error about two ids that cannot be told apart.
func (p *planner) addPair(a, b string) {
	p.Duplicates = append(p.Duplicates, []string{a, b})
	switch {
	case a == b:
		p.addError(codeDuplicate, b, "twice", "port", shownID(b))
	case strings.EqualFold(a, b):
		p.addError(codeDuplicate, b, "case", "a", shownID(a), "b", shownID(b))
	default:
		p.addError(codeLookAlike, b, "alike", "a", shownID(a), "b", shownID(b))
	}
}

// shownID is an id as messages show it: one that cannot be used is quoted.
func shownID(id string) string {
	if layout.IsPalID(id) {
		return id
	}
	return run.QuoteID(id)
}

// checkGraph finds dependencies that are no ports, and ports that wait for each other.
func (p *planner) checkGraph(nodes []graph.Node) {
	unknown := graph.Unknown(nodes)
	for _, m := range unknown[:min(len(unknown), mostErrors)] {
		p.UnknownDeps = append(p.UnknownDeps, UnknownDep{m.Node, m.Dependency})
		p.addError(codeUnknown, m.Node, "unknown", "port", shownID(m.Node), "dependency", shownID(m.Dependency))
	}
	if more := len(unknown) - mostErrors; more > 0 {
		p.addError(codeUnknown, "", "more", "n", more)
	}
	if cycle := graph.Cycle(nodes); cycle != nil {
		p.Cycle = append(slices.Clone(cycle), cycle[0])
		for i, id := range cycle {
			cycle[i] = shownID(id)
		}
		p.addError(codeCycle, "", "cycle", "cycle", graph.Words(cycle))
	}
}

// PlanSpecs plans the specs of a folder without an orchestration: each is a port, by the
// id that it declares or else by its name, in the order of the documents. Its errors are in
// a language.
func PlanSpecs(lang string, docs []engine.Document) PlanDocument {
	var ports []PortDesign
	var errors []PlanError
	fail := func(port string, err error) {
		errors = append(errors, PlanError{codeSpec, orNil(port), run.OneLine(templates.In(lang, err))})
	}
	if len(docs) > mostPorts {
		fail("", templates.Errorf("pal.plan.specs", "n", len(docs), "most", mostPorts))
		docs = docs[:mostPorts]
	}
	for i, d := range docs {
		p := PortDesign{ID: strings.TrimSuffix(path.Base(d.Path), ".md"), Order: i + 1, DependsOn: []string{}, SpecPath: d.Path}
		s, err := Spec{}, d.Err
		if err == nil {
			s, err = decodeSpec(d.Path, d.Body)
		}
		if err != nil {
			fail(p.ID, err)
		} else {
			p.ID, p.DependsOn = first(p.ID, orNil(s.ID)), distinctIDs(s.DependsOn)
		}
		ports = append(ports, p)
	}
	return newPlan(lang, ports, errors...)
}

// PlanOrchestration plans an orchestration.json that need not stand in the folder of an
// orchestration. read reads a file of the workspace. The errors are in a language.
func PlanOrchestration(lang string, file engine.Document, conf Config, read func(path string) engine.Document) PlanDocument {
	file.Path = placeOf(file)
	// The documents have no times. At this one, none of them counts as half of a write.
	snap := engine.Snapshot{Dir: path.Dir(file.Path), Docs: []engine.Document{file}, Now: time.Time{}.Add(2 * run.PartialWriteGrace)}
	for {
		in := &run.Input{Snap: snap, Lang: lang}
		s := readSources(in, conf, false)
		missing := snap.Lacks(s.needs)
		if len(missing) == 0 || s.got == run.Bad {
			return planOf(in, s)
		}
		for _, p := range missing {
			d := read(p)
			d.Path = p
			snap.Docs, snap.Needs = append(snap.Docs, d), append(snap.Needs, p)
		}
		slices.Sort(snap.Needs)
		slices.SortFunc(snap.Docs, func(a, b engine.Document) int { return strings.Compare(a.Path, b.Path) })
	}
}

// placeOf is where an orchestration.json stands, or, of one that stands elsewhere, where
// it would stand by its id.
func placeOf(file engine.Document) string {
	if r, ok := (layout.Pal{}).At(file.Path); ok && path.Join(r.Dir, orchestrationFile) == file.Path {
		return file.Path
	}
	id := "unnamed"
	if o, err := decodeOrchestration(file.Path, file.Body); err == nil && o.ID != nil && layout.IsPalID(*o.ID) {
		id = *o.ID
	}
	return path.Join(layout.PalRoot, id, orchestrationFile)
}

// planOf is the plan that sources come to. What cannot be used at all has none: then the
// notes say why.
func planOf(in *run.Input, s sources) PlanDocument {
	var plan PlanDocument
	if s.plan != nil && schemas.Decode("pal/plan", "plan.json", s.plan, &plan) == nil {
		for i, e := range plan.Errors {
			for _, p := range s.needs {
				if e.Message == unusable(in, p) { // nobody writes that note
					plan.Errors[i].Message = p + ": " + in.Notes.Text(in.Note(p))
				}
			}
		}
		return plan
	}
	why := in.Notes.Text(in.Note(s.doc.Path))
	if why == "" {
		why = in.Say("pal.plan.torn", "file", orchestrationFile)
	}
	return newPlan(in.Lang, nil, PlanError{codeOrchestration, nil, why})
}
