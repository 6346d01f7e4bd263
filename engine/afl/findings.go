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

// finding is something about the checkpoints that a person ought to know. Those whose id
// begins with E block every approval.
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
	return fmt.Sprintf("%s %s: %s: %s; %s", f.id, f.name, f.file+f.place, f.text, f.suggestion)
}

// words are the finding without its file, which stands before it.
func (f finding) words() string {
	at := ""
	if f.place != "" {
		at = f.place + ": "
	}
	return f.id + " " + f.name + ": " + at + f.text + "; " + f.suggestion
}

// ids are the findings' ids, of one kind, without doubles.
func (s specs) ids(blocks bool) []string {
	found := []string{}
	for _, f := range s.findings {
		if f.blocks() == blocks && !slices.Contains(found, f.id) {
			found = append(found, f.id)
		}
	}
	return found
}

// kinds are the findings of section 3.4 of the page: name and what helps.
var kinds = map[string]struct{ name, suggestion string }{
	"E1":  {"cycle", "take one of these dependencies out"},
	"E2":  {"unknown_dependency", "define it, or take the dependency out"},
	"E3":  {"duplicate_id", "give it an id of its own"},
	"E4":  {"bad_id", "use letters, digits, dots, dashes and underscores, at most 64, beginning with a letter or digit"},
	"E5":  {"missing_command", `add one, or set validation = "result"`},
	"E6":  {"reused_id", "take a new id"},
	"E7":  {"bad_timeout", "write it in ms, without unit"},
	"E8":  {"no_checkpoints", "add at least one"},
	"E9":  {"mismatch", "make them equal, or take the id out"},
	"E10": {"unread_dependencies", ""},
	"W1":  {"empty_criteria", "say when it is good enough"},
	"W2":  {"no_expected", "name a text that only a passing run prints"},
	"W3":  {"vague_expected", "name a text that only a passing run prints"},
	"W4":  {"unknown_type", "it is read as implementation"},
	"W5":  {"prerequisites", "see to them before you approve"},
	"W6":  {"two_layouts", "the YAML file counts; remove the others"},
	"W7":  {"unknown_key", ""},
}

// judged are the findings about a design so far.
type judged struct {
	r *session
	specs
	list []finding
}

// add adds a finding about a checkpoint.
func (j *judged) add(id string, e entry, format string, args ...any) *finding {
	kind := kinds[id]
	j.list = append(j.list, finding{id, kind.name, e.file, e.place, fmt.Sprintf(format, args...), kind.suggestion})
	return &j.list[len(j.list)-1]
}

// judgeSpecs judges a design; E findings first, each in file order.
func judgeSpecs(r *session, s specs) []finding {
	j := &judged{r: r, specs: s}
	whole := entry{file: specsYAML, strays: s.strays}
	if s.layout == layoutV2 {
		whole.file = "checkpoints"
	}
	j.judgeGraph(whole)
	j.judgeIDs()
	defined := map[string]bool{}
	for _, e := range s.entries {
		defined[e.def.ID] = true
	}
	for _, e := range append(slices.Clip(s.entries), whole) {
		j.judgeStrays(e, defined)
	}
	for _, e := range s.entries {
		j.judgeEntry(e)
	}
	if folder := path.Base(r.Snap.Dir); s.session != "" && s.session != folder {
		j.add("E9", whole, "session is %q, the folder is %q", s.session, folder).suggestion = "make them equal, or take the line out"
	}
	if len(s.entries) == 0 {
		j.add("E8", whole, "there is no checkpoint")
	}
	if len(s.pre) > 0 {
		j.add("W5", whole, "prerequisites are shown, not run")
	}
	if s.both {
		j.add("W6", whole, "checkpoints/*.json stand beside specs/checkpoints.yaml")
	}
	slices.SortStableFunc(j.list, func(a, b finding) int { return strings.Compare(a.id, b.id) })
	return j.list
}

// judgeGraph finds circles, and dependencies that are not defined.
func (j *judged) judgeGraph(whole entry) {
	nodes := nodesOf(j.definitions())
	if cycle := graph.Cycle(nodes); cycle != nil {
		if j.layout == layoutV2 { // a folder has no note
			whole = j.entry(cycle[0])
		}
		j.add("E1", whole, "cycle %s", graph.Words(cycle))
	}
	for _, m := range graph.Unknown(nodes) {
		j.add("E2", j.entry(m.Node), "%q depends on %q, which is not defined", m.Node, m.Dependency)
	}
}

// entry is the first checkpoint with an id.
func (s specs) entry(id string) entry {
	i := slices.IndexFunc(s.entries, func(e entry) bool { return e.def.ID == id })
	if i < 0 {
		return entry{}
	}
	return s.entries[i]
}

// nodesOf are the definitions as nodes of a graph.
func nodesOf(defs []Definition) []graph.Node {
	nodes := make([]graph.Node, len(defs))
	for i, d := range defs {
		nodes[i] = graph.Node{ID: d.ID, After: d.Dependencies}
	}
	return nodes
}

// judgeIDs finds ids that cannot be told apart, as the options of a review are, and those
// that another checkpoint of the session had.
func (j *judged) judgeIDs() {
	seen, others := map[string]string{}, map[string]int{}
	for id := range j.r.State.Checkpoints {
		for _, look := range gate.Looks(id) {
			others[look]++
		}
	}
	for _, e := range j.entries {
		id, taken := e.def.ID, ""
		c := j.r.State.Checkpoints[id]
		spent := c != nil && c.Status == Aborted && (c.AbortedBecause == becauseRemoved || c.DefinitionDigest != e.def.digest())
		for _, look := range gate.Looks(id) {
			taken = cmp.Or(taken, seen[look])
			seen[look] = id
			spent = spent || others[look] > 1 || others[look] == 1 && c == nil // an answer could not tell the two apart
		}
		if taken != "" && !e.badID {
			j.add("E3", e, "the id %q is taken by %q (case, - and _ do not count, nor do 1 and l, 0 and O)", id, taken)
		}
		if spent {
			j.add("E6", e, "the id %q belonged to another checkpoint of the session", id)
		}
	}
}

// vague are texts that show up in an output whatever happened.
var vague = []string{"pass", "passed", "passing", "ok", "success", "successful", "done", "true", "works"}

// judgeEntry judges a checkpoint by itself.
func (j *judged) judgeEntry(e entry) {
	id, expected := e.def.ID, strings.ToLower(strings.TrimSpace(string(e.def.Expected)))
	if e.badID || j.layout == layoutV2 && !layout.IsAFLCheckpoint(id) {
		j.add("E4", e, "the id %q cannot be used", id)
	}
	if e.def.Command == "" && j.r.cfg.Validation != validateResult {
		j.add("E5", e, "%q has no validation.command", id)
	}
	if e.badTimeout {
		j.add("E7", e, "the timeout of %q is no whole number from 1 to 86400000", id)
	}
	if e.idInFile != "" && e.idInFile != id {
		j.add("E9", e, "id is %q, the file is %q", e.idInFile, path.Base(e.file))
	}
	if len(e.def.Criteria) == 0 {
		j.add("W1", e, "%q has no criteria", id)
	}
	switch {
	case expected == "" && e.def.Command != "":
		j.add("W2", e, "%q has no expected text: exit code 0 passes", id)
	case slices.Contains(vague, expected) || utf8.RuneCountInString(expected) == 1:
		j.add("W3", e, "%q may be printed by a failing run of %q, too", e.def.Expected, id)
	}
	if e.unknownType != "" {
		j.add("W4", e, "the type %q of %q is not known", e.unknownType, id)
	}
}

// mostStrays is how many keys of one checkpoint, or of a file as a whole, are named.
const mostStrays = 20

// judgeStrays finds the keys that nobody reads.
func (j *judged) judgeStrays(e entry, defined map[string]bool) {
	for _, s := range e.strays[:min(len(e.strays), mostStrays)] {
		id, words := "W7", s.text()
		if s.orders(defined) {
			id, words = "E10", words+", so the order is lost"
		}
		at := entry{file: e.file, place: s.Pointer}
		j.add(id, at, "%s", words).suggestion = s.suggestion()
	}
}
