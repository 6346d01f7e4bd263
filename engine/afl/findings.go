package afl

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"placet/engine/gate"
	"placet/engine/graph"
	"placet/layout"
)

// finding is something about the checkpoints that a person ought to know.
// Those whose id begins with E block every approval.
type finding struct {
	id, name   string
	file       string
	place      string
	text       string
	suggestion string
}

func (f finding) blocks() bool { return strings.HasPrefix(f.id, "E") }

// line is the finding as notes and forms show it.
func (f finding) line() string {
	at := f.file
	if f.place != "" {
		at += f.place
	}
	return fmt.Sprintf("%s %s: %s: %s; %s", f.id, f.name, at, f.text, f.suggestion)
}

// findings judges a design; E findings first, each in file order.
func (r *session) findings(s specs) []finding {
	var list []finding
	add := func(id, name string, e entry, text, suggestion string) {
		list = append(list, finding{id, name, e.file, e.place, text, suggestion})
	}
	whole := entry{file: specsYAML}
	if s.layout == layoutV2 {
		whole.file = "checkpoints"
	}
	r.graphFindings(s, whole, add)
	seen, defined := map[string]string{}, map[string]bool{}
	for _, e := range s.entries {
		defined[e.def.ID] = true
	}
	for _, e := range s.entries {
		taken := ""
		for _, look := range gate.Looks(e.def.ID) { // as the options of a review are told apart
			taken = cmp.Or(taken, seen[look])
			seen[look] = e.def.ID
		}
		if taken != "" && !e.badID {
			add("E3", "duplicate_id", e, fmt.Sprintf("the id %q is taken by %q (case, - and _ do not count, nor do 1 and l, 0 and O)", e.def.ID, taken), "give it an id of its own")
		}
		r.entryErrors(s, e, add)
		strayFindings(defined, e, e.strays, add)
	}
	strayFindings(defined, whole, s.strays, add)
	if len(s.entries) == 0 {
		add("E8", "no_checkpoints", whole, "there is no checkpoint", "add at least one")
	}
	if s.session != "" && s.session != path.Base(r.Snap.Dir) {
		add("E9", "mismatch", whole, fmt.Sprintf("session is %q, the folder is %q", s.session, path.Base(r.Snap.Dir)), "make them equal, or take the line out")
	}
	for _, e := range s.entries {
		entryWarnings(e, add)
	}
	if len(s.pre) > 0 {
		add("W5", "prerequisites", whole, "prerequisites are shown, not run", "see to them before you approve")
	}
	if s.both {
		add("W6", "two_layouts", whole, "checkpoints/*.json stand beside specs/checkpoints.yaml", "the YAML file counts; remove the others")
	}
	slices.SortStableFunc(list, func(a, b finding) int { return strings.Compare(a.id, b.id) })
	return list
}

type adder func(id, name string, e entry, text, suggestion string)

func (r *session) graphFindings(s specs, whole entry, add adder) {
	nodes := nodesOf(s.definitions())
	if cycle := graph.Cycle(nodes); cycle != nil {
		if s.layout == layoutV2 { // a folder has no note
			whole = s.entry(cycle[0])
		}
		add("E1", "cycle", whole, "cycle "+graph.Words(cycle), "take one of these dependencies out")
	}
	for _, m := range graph.Unknown(nodes) {
		e := s.entry(m.Node)
		add("E2", "unknown_dependency", e, fmt.Sprintf("%q depends on %q, which is not defined", m.Node, m.Dependency), "define it, or take the dependency out")
	}
}

// entry is the first checkpoint with an id.
func (s specs) entry(id string) entry {
	for _, e := range s.entries {
		if e.def.ID == id {
			return e
		}
	}
	return entry{}
}

// nodesOf are the definitions as nodes of a graph.
func nodesOf(defs []Definition) []graph.Node {
	nodes := make([]graph.Node, len(defs))
	for i, d := range defs {
		nodes[i] = graph.Node{ID: d.ID, After: d.Dependencies}
	}
	return nodes
}

func (r *session) entryErrors(s specs, e entry, add adder) {
	id := e.def.ID
	if e.badID || s.layout == layoutV2 && !layout.IsAFLCheckpoint(id) {
		add("E4", "bad_id", e, fmt.Sprintf("the id %q cannot be used", id), "use letters, digits, dots, dashes and underscores, at most 64, beginning with a letter or digit")
	}
	if e.def.Command == "" && r.cfg.Validation != validateResult {
		add("E5", "missing_command", e, fmt.Sprintf("%q has no validation.command", id), `add one, or set validation = "result"`)
	}
	if r.spent(e.def) {
		add("E6", "reused_id", e, fmt.Sprintf("the id %q belonged to another checkpoint of the session", id), "take a new id")
	}
	if e.badTimeout {
		add("E7", "bad_timeout", e, fmt.Sprintf("the timeout of %q is no whole number from 1 to 86400000", id), "write it in ms, without unit")
	}
	if e.idInFile != "" && e.idInFile != id {
		add("E9", "mismatch", e, fmt.Sprintf("id is %q, the file is %q", e.idInFile, path.Base(e.file)), "make them equal, or take the id out")
	}
}

// spent reports whether a definition takes an id that a checkpoint was aborted
// with.
func (r *session) spent(d Definition) bool {
	c := r.State.Checkpoints[d.ID]
	for _, look := range gate.Looks(d.ID) {
		if others := r.foldedIDs()[look]; others > 1 || others == 1 && c == nil {
			return true // an answer could not tell the two apart
		}
	}
	return c != nil && c.Status == Aborted && (c.AbortedBecause == becauseRemoved || c.DefinitionDigest != d.digest())
}

// foldedIDs counts the checkpoints of the state by what an answer can tell of
// their ids.
func (r *session) foldedIDs() map[string]int {
	if r.folded == nil {
		r.folded = map[string]int{}
		for id := range r.State.Checkpoints {
			for _, look := range gate.Looks(id) {
				r.folded[look]++
			}
		}
	}
	return r.folded
}

// vague are texts that show up in an output whatever happened.
var vague = []string{"pass", "passed", "passing", "ok", "success", "successful", "done", "true", "works"}

func entryWarnings(e entry, add adder) {
	id := e.def.ID
	if len(e.def.Criteria) == 0 {
		add("W1", "empty_criteria", e, fmt.Sprintf("%q has no criteria", id), "say when it is good enough")
	}
	expected := strings.ToLower(strings.TrimSpace(string(e.def.Expected)))
	switch {
	case expected == "" && e.def.Command != "":
		add("W2", "no_expected", e, fmt.Sprintf("%q has no expected text: exit code 0 passes", id), "name a text that only a passing run prints")
	case slices.Contains(vague, expected) || utf8.RuneCountInString(expected) == 1:
		add("W3", "vague_expected", e, fmt.Sprintf("%q may be printed by a failing run of %q, too", e.def.Expected, id), "name a text that only a passing run prints")
	}
	if e.unknownType != "" {
		add("W4", "unknown_type", e, fmt.Sprintf("the type %q of %q is not known", e.unknownType, id), "it is read as implementation")
	}
}

// findingNotes says beside the files why their checkpoints cannot be approved.
func (r *session) findingNotes() {
	for _, f := range r.specs.findings {
		if !f.blocks() {
			continue
		}
		r.Notes.Beside(r.Path(f.file), "cannot begin: "+f.text+" ("+f.id+" "+f.name+" "+f.file+f.place+"): "+f.suggestion)
	}
}

// ids are the findings' ids, of one kind, without doubles.
func ids(list []finding, blocks bool) []string {
	found := []string{}
	for _, f := range list {
		if f.blocks() == blocks && !slices.Contains(found, f.id) {
			found = append(found, f.id)
		}
	}
	return found
}
