package pal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/graph"
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
	// Cycle are ports each of which needs the next; the first stands at the end again.
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

// CheckPorts plans ports, which may stand in any order, and names all that is wrong with
// their ids and dependencies.
func CheckPorts(ports []PortDesign) PlanDocument { return newPlan(ports) }

// newPlan is CheckPorts of ports with which something else may be wrong, too.
func newPlan(ports []PortDesign, others ...PlanError) PlanDocument {
	ports = slices.SortedStableFunc(slices.Values(ports), byPlace)
	p := PlanDocument{SchemaVersion: 1}
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
	return p
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
func (p *PlanDocument) addError(code, port, format string, args ...any) {
	p.Errors = append(p.Errors, PlanError{code, orNil(port), fmt.Sprintf(format, args...)})
}

// checkIDs finds ids that cannot be used, and those that cannot be told apart.
func (p *PlanDocument) checkIDs(ports []PortDesign) {
	earlier := map[string]string{} // the first id that looks so
	for _, port := range ports {
		id, taken := port.ID, ""
		if !layout.IsPalID(id) {
			p.addError(codeBadID, id, "the id %s cannot be used: use letters, digits, dots, dashes and underscores, at most 64, beginning with a letter or digit and ending like no file", shownID(id))
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
func (p *PlanDocument) addPair(a, b string) {
	p.Duplicates = append(p.Duplicates, []string{a, b})
	switch {
	case a == b:
		p.addError(codeDuplicate, b, "port %s is listed twice", shownID(b))
	case strings.EqualFold(a, b):
		p.addError(codeDuplicate, b, "ports %s and %s differ only in case", shownID(a), shownID(b))
	default:
		p.addError(codeLookAlike, b, "ports %s and %s look alike", shownID(a), shownID(b))
	}
}

// longestShown bounds what a message repeats of a bad id, in bytes.
const longestShown = 80

// shownID is an id as messages show it: one that cannot be used is quoted.
func shownID(id string) string {
	if layout.IsPalID(id) {
		return id
	}
	return fmt.Sprintf("%q", templates.Cut(id, longestShown))
}

// checkGraph finds dependencies that are no ports, and ports that wait for each other.
func (p *PlanDocument) checkGraph(nodes []graph.Node) {
	unknown := graph.Unknown(nodes)
	for _, m := range unknown[:min(len(unknown), mostErrors)] {
		p.UnknownDeps = append(p.UnknownDeps, UnknownDep{m.Node, m.Dependency})
		p.addError(codeUnknown, m.Node, "port %s depends on %s, which is not in this orchestration", shownID(m.Node), shownID(m.Dependency))
	}
	if more := len(unknown) - mostErrors; more > 0 {
		p.addError(codeUnknown, "", "%d more dependencies are not in this orchestration", more)
	}
	if cycle := graph.Cycle(nodes); cycle != nil {
		p.Cycle = append(slices.Clone(cycle), cycle[0])
		for i, id := range cycle {
			cycle[i] = shownID(id)
		}
		p.addError(codeCycle, "", "ports wait for each other: %s", graph.Words(cycle))
	}
}
