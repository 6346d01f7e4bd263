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

// PlanDocument is plan.json: the order in which the ports can run, or why they cannot.
type PlanDocument struct {
	SchemaVersion       int           `json:"schema_version"`
	OrchestrationDigest engine.Digest `json:"orchestration_digest"`
	Valid               bool          `json:"valid"`
	Ports               []PlanPort    `json:"ports"`
	Levels              [][]string    `json:"levels"`
	CriticalPath        []string      `json:"critical_path"`
	MaxParallelism      int           `json:"max_parallelism"`
	// Cycle is a list of ports in which each needs the next. The first one is repeated at the end.
	Cycle []string `json:"cycle"`
	// UnknownDeps lists dependencies that are not ports.
	UnknownDeps []UnknownDep `json:"unknown_deps"`
	// Duplicates lists pairs of ids that look alike.
	Duplicates [][]string  `json:"duplicates"`
	Errors     []PlanError `json:"errors"`
}

// PlanPort is a port of a plan.
type PlanPort struct {
	ID        string   `json:"port_id"`
	Order     int      `json:"order"`
	DependsOn []string `json:"depends_on"`
	// Spec is the path of the port's text, null if it has none.
	Spec *string `json:"spec"`
}

// spec returns the path of the port's text, or "".
func (p PlanPort) spec() string {
	if p.Spec == nil {
		return ""
	}
	return *p.Spec
}

// UnknownDep is a dependency that is not a port.
type UnknownDep struct {
	Port       string `json:"port"`
	Dependency string `json:"dependency"`
}

// PlanError is one reason why a plan cannot be carried out.
type PlanError struct {
	Code string `json:"code"`
	// Port is the port with the error, null if the error is about all ports.
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

// CheckPorts plans ports, which may be in any order. It names all errors in their ids and
// dependencies, in a language.
func CheckPorts(lang string, ports []PortDesign) PlanDocument { return newPlan(lang, ports) }

// newPlan is CheckPorts for ports with further errors.
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

// planner makes a plan with errors in a language.
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

// addError adds an error about a port, or about all ports if port is "".
func (p *planner) addError(code, port, key string, pairs ...any) {
	p.Errors = append(p.Errors, PlanError{code, orNil(port), templates.Phrase(p.lang, "pal.plan."+key, pairs...)})
}

// checkIDs finds unusable ids, and ids that look alike.
func (p *planner) checkIDs(ports []PortDesign) {
	earlier := map[string]string{} // the first id with that look
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

// addPair adds an error about two ids that look alike.
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

// shownID returns an id for messages. It quotes an unusable one.
func shownID(id string) string {
	if layout.IsPalID(id) {
		return id
	}
	return run.QuoteID(id)
}

// checkGraph finds dependencies that are not ports, and ports that wait for each other.
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

// PlanSpecs plans the specs of a folder without an orchestration. Each spec is a port, with the id
// that it declares or else its name, in the order of the documents. The errors are in a language.
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

// PlanOrchestration plans an orchestration.json, even outside the folder of an orchestration. read
// reads a file of the workspace. The errors are in a language.
func PlanOrchestration(lang string, file engine.Document, conf Config, read func(path string) engine.Document) PlanDocument {
	file.Path = placeOf(file)
	// The documents have no times. With this time, none of them counts as incomplete.
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

// placeOf returns the path of an orchestration.json, or the path that its id determines if it is
// outside such a folder.
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

// planOf returns the plan of the sources. Unusable sources have none; the notes say why.
func planOf(in *run.Input, s sources) PlanDocument {
	var plan PlanDocument
	if s.plan != nil && schemas.Decode("pal/plan", "plan.json", s.plan, &plan) == nil {
		for i, e := range plan.Errors {
			for _, p := range s.needs {
				if e.Message == unusable(in, p) { // this note is never written
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
