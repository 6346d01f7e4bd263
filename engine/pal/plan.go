package pal

import (
	"cmp"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/graph"
	"placet/engine/run"
	"placet/layout"
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
