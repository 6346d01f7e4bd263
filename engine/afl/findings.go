package afl

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/graph"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// finding is a remark about the checkpoints for a person. A finding whose id begins with E blocks
// every approval.
type finding struct {
	id, name   string
	file       string
	place      string
	text       string
	suggestion string
}

func (f finding) blocks() bool { return strings.HasPrefix(f.id, "E") }

// line returns the finding for notes and forms.
func (f finding) line() string {
	return fmt.Sprintf("%s %s: %s: %s; %s", f.id, f.name, f.file+f.place, f.text, f.suggestion)
}

// words returns the finding without its file, which the caller shows before it.
func (f finding) words() string {
	at := ""
	if f.place != "" {
		at = f.place + ": "
	}
	return f.id + " " + f.name + ": " + at + f.text + "; " + f.suggestion
}

// ids returns the ids of the findings that block, or of those that do not, each once.
func (s specs) ids(blocks bool) []string {
	found := []string{}
	for _, f := range s.findings {
		if f.blocks() == blocks && !slices.Contains(found, f.id) {
			found = append(found, f.id)
		}
	}
	return found
}

// kinds maps the ids of findings (section 3.4 of the page) to names. The sentences about the
// problem and its remedy have keys with that name.
var kinds = map[string]string{
	"E1": "cycle", "E2": "unknown_dependency", "E3": "duplicate_id", "E4": "bad_id", "E5": "missing_command",
	"E6": "reused_id", "E7": "bad_timeout", "E8": "no_checkpoints", "E9": "mismatch", "E10": "unread_dependencies",
	"W1": "empty_criteria", "W2": "no_expected", "W3": "vague_expected", "W4": "unknown_type", "W5": "prerequisites",
	"W6": "two_layouts", "W7": "unknown_key", "W8": "cut_text",
}

// judged collects the findings about a design.
type judged struct {
	r *session
	specs
	list []finding
}

// add adds a finding about a checkpoint, worded by the key of its kind.
func (j *judged) add(id string, e entry, pairs ...any) *finding {
	name := kinds[id]
	j.list = append(j.list, finding{id, name, e.file, e.place, j.r.say("finding."+name, pairs...), j.r.say("mend."+name, pairs...)})
	return &j.list[len(j.list)-1]
}

// judgeSpecs returns the findings about a design, E findings first, each kind in file order.
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
	j.judgeCuts(whole)
	if folder := path.Base(r.run.Snap.Dir); s.session != "" && s.session != folder {
		pairs := []any{"is", strconv.Quote(s.session), "name", strconv.Quote(folder)}
		f := j.add("E9", whole, pairs...)
		f.text, f.suggestion = r.say("finding.mismatch.session", pairs...), r.say("mend.mismatch.session")
	}
	if len(s.entries) == 0 {
		j.add("E8", whole)
	}
	if len(s.pre) > 0 {
		j.add("W5", whole)
	}
	if s.both {
		j.add("W6", whole, "files", "checkpoints/*.json", "file", specsYAML)
	}
	slices.SortStableFunc(j.list, func(a, b finding) int { return strings.Compare(a.id, b.id) })
	return j.list
}

// judgeCuts finds texts that YAML ends at a "#".
func (j *judged) judgeCuts(whole entry) {
	for _, c := range j.cuts[:min(len(j.cuts), mostStrays)] {
		shown := func(text string) string { return strconv.Quote(templates.Line(text, shownText)) }
		j.add("W8", whole, "line", c.Line, "text", shown(c.Text), "lost", shown(c.Lost), "whole", shown(c.Text+" "+c.Lost))
	}
}

// judgeGraph finds cycles, and dependencies that are not defined.
func (j *judged) judgeGraph(whole entry) {
	nodes := nodesOf(j.definitions())
	if cycle := graph.Cycle(nodes); cycle != nil {
		if j.layout == layoutV2 { // a folder cannot have a note
			whole = j.entry(cycle[0])
		}
		j.add("E1", whole, "checkpoints", graph.Words(cycle))
	}
	for _, m := range graph.Unknown(nodes) {
		j.add("E2", j.entry(m.Node), "checkpoint", strconv.Quote(m.Node), "dependency", strconv.Quote(m.Dependency))
	}
}

// entry returns the first checkpoint with an id.
func (s specs) entry(id string) entry {
	i := slices.IndexFunc(s.entries, func(e entry) bool { return e.def.ID == id })
	if i < 0 {
		return entry{}
	}
	return s.entries[i]
}

// nodesOf returns the definitions as nodes of a graph.
func nodesOf(defs []Definition) []graph.Node {
	nodes := make([]graph.Node, len(defs))
	for i, d := range defs {
		nodes[i] = graph.Node{ID: d.ID, After: d.Dependencies}
	}
	return nodes
}

// judgeIDs finds ids that look alike, since they become options of a review, and ids that another
// checkpoint of the session had.
func (j *judged) judgeIDs() {
	seen, others := map[string]string{}, map[string]int{}
	for id := range j.r.run.State.Checkpoints {
		for _, look := range gate.Looks(id) {
			others[look]++
		}
	}
	for _, e := range j.entries {
		id, taken := e.def.ID, ""
		c := j.r.run.State.Checkpoints[id]
		spent := c != nil && c.Status == Aborted && (c.AbortedBecause == becauseRemoved || c.DefinitionDigest != e.def.digest())
		for _, look := range gate.Looks(id) {
			taken = cmp.Or(taken, seen[look])
			seen[look] = id
			spent = spent || others[look] > 1 || others[look] == 1 && c == nil // an answer could not tell the two apart
		}
		if taken != "" && !e.badID {
			j.add("E3", e, "id", strconv.Quote(id), "by", strconv.Quote(taken))
		}
		if spent {
			j.add("E6", e, "id", strconv.Quote(id))
		}
	}
}

// vague are texts that appear in an output whatever happened.
var vague = []string{"pass", "passed", "passing", "ok", "success", "successful", "done", "true", "works"}

// judgeEntry judges a checkpoint by itself.
func (j *judged) judgeEntry(e entry) {
	id, expected := e.def.ID, strings.ToLower(strings.TrimSpace(string(e.def.Expected)))
	quoted := strconv.Quote(id)
	if e.badID || j.layout == layoutV2 && !layout.IsAFLCheckpoint(id) {
		j.add("E4", e, "id", quoted)
	}
	if e.def.Command == "" && j.r.cfg.Validation != validateResult {
		j.add("E5", e, "checkpoint", quoted, "line", `validation = "result"`)
	}
	if e.badTimeout {
		j.add("E7", e, "checkpoint", quoted, "most", 86_400_000)
	}
	if e.idInFile != "" && e.idInFile != id {
		j.add("E9", e, "is", strconv.Quote(e.idInFile), "name", strconv.Quote(path.Base(e.file)))
	}
	if len(e.def.Criteria) == 0 {
		j.add("W1", e, "checkpoint", quoted)
	}
	switch {
	case expected == "" && e.def.Command != "":
		j.add("W2", e, "checkpoint", quoted)
	case slices.Contains(vague, expected) || utf8.RuneCountInString(expected) == 1:
		j.add("W3", e, "text", strconv.Quote(string(e.def.Expected)), "checkpoint", quoted)
	}
	if e.unknownType != "" {
		j.add("W4", e, "type", strconv.Quote(e.unknownType), "checkpoint", quoted)
	}
}

// shownText is how much of a text a finding quotes, in bytes.
const shownText = 200

// mostStrays is how many unknown keys of one checkpoint, or of a file as a whole, get findings.
const mostStrays = 20

// judgeStrays finds the keys that nobody reads.
func (j *judged) judgeStrays(e entry, defined map[string]bool) {
	for _, s := range e.strays[:min(len(e.strays), mostStrays)] {
		id := "W7"
		if s.orders(defined) {
			id = "E10"
		}
		j.add(id, entry{file: e.file, place: s.Pointer}, s.pairs()...)
	}
}

// synonyms maps words that people write for the members of a checkpoint and of its validation to
// the members that they mean. The words are in lower case and without dashes and underscores.
var synonyms = map[string]map[string]string{
	"checkpoint": {
		"dependson": "dependencies", "depends": "dependencies", "dependency": "dependencies", "deps": "dependencies",
		"needs": "dependencies", "requires": "dependencies", "after": "dependencies", "blockedby": "dependencies",
		"cmd": "validation.command", "command": "validation.command", "run": "validation.command", "test": "validation.command",
		"expected": "validation.expected", "expectedoutput": "validation.expected", "expect": "validation.expected", "timeout": "validation.timeout",
		"validate": "validation", "prerequisite": "prerequisites", "acceptance": "criteria", "acceptancecriteria": "criteria", "criterion": "criteria",
	},
	"validation": {
		"cmd": "command", "run": "command", "script": "command", "test": "command", "exec": "command",
		"expect": "expected", "expects": "expected", "output": "expected", "timeoutms": "timeout",
	},
	"prerequisites": {"task": "tasks", "dependencies": "tasks", "dependson": "tasks", "env": "environment"},
}

// stray is a member that nobody reads although it resembles one that counts.
type stray struct {
	schemas.Stray
	// value is the value of the member.
	value schemas.Raw
}

// findStrays returns the stray members of an object at a place in its document. into is a pointer
// to the struct for the object, and kind selects the synonyms. An unknown member that resembles no
// known one is allowed.
func findStrays(at string, o schemas.Object, into any, kind string) (list []stray) {
	for _, s := range schemas.Strays(at, o, into) {
		if word := synonyms[kind][strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(s.Name))]; word != "" {
			s.Meant = word
		}
		if s.Meant != "" {
			list = append(list, stray{s, o.Raw(s.Name)})
		}
	}
	return list
}

// checkpointStrays returns the stray members of one checkpoint. Only V2 reads prerequisites, so
// tasks among them are strays in V1.
func checkpointStrays(at, layout string, o schemas.Object) []stray {
	list := findStrays(at, o.Without("contract", "prerequisites"), &checkpointFile{}, "checkpoint")
	if v, err := schemas.Members(o.Raw("validation")); err == nil {
		list = append(list, findStrays(at+"/validation", v, &validationFile{}, "validation")...)
	}
	p, err := schemas.Members(o.Raw("prerequisites"))
	switch tasks := p.Raw("tasks"); {
	case err != nil:
	case layout == layoutV2:
		list = append(list, findStrays(at+"/prerequisites", p, &prerequisitesV2{}, "prerequisites")...)
	case tasks != nil:
		list = append(list, stray{schemas.Stray{Pointer: at + "/prerequisites/tasks", Name: "tasks", Meant: "dependencies"}, tasks})
	}
	return list
}

// orders reports whether a stray states an order of checkpoints: it means the dependencies and
// names checkpoints of the design. The order would be lost without any other sign.
func (s stray) orders(defined map[string]bool) bool {
	means := s.Meant == "dependencies" || s.Meant == "tasks"
	return means && slices.ContainsFunc(textList(s.value), func(id string) bool { return defined[id] })
}

// pairs returns the values for the sentences about a stray: its key, and the key that it probably
// means.
func (s stray) pairs() []any {
	return []any{"key", strconv.Quote(templates.Line(s.Name, shownName)), "meant", s.Meant}
}

// handInFiles maps the documents that others submit to their types. ofAttempt has those in the
// folder of an attempt.
var (
	handInFiles = map[string]any{"meta.json": &Meta{}, "control.json": &run.Control{}}
	ofAttempt   = map[string]any{"worker.json": &WorkerReport{}, "result.json": &Result{}, "analysis.json": &Analysis{}}
)

// misnamed returns a warning about definitions in a file whose name nobody reads.
func misnamed(r *session) []engine.Finding {
	d := r.run.Snap.In(specsYML)
	if d.Absent() {
		return nil
	}
	return []engine.Finding{{Severity: "warning", Path: d.Path, Text: r.say("finding.misnamed") + "; " + r.say("mend.misnamed", "file", specsYAML)}}
}

// misread returns warnings about definitions that nobody reads, and about the unknown keys of submitted
// documents: of the session as a whole, of the review, and of the last attempt of every checkpoint.
func misread(r *session) (list []engine.Finding) {
	list = misnamed(r)
	look := func(rel string, into any) {
		d := r.run.Snap.In(rel)
		if !d.Present() {
			return
		}
		o, err := schemas.Members(d.Body)
		if err != nil {
			return // the note about the file says what is wrong
		}
		for _, s := range findStrays("", o, into, "") {
			list = append(list, engine.Finding{Severity: "warning", Path: d.Path, Text: s.Pointer + ": " + r.say("finding.unknown_key", s.pairs()...) + "; " + r.say("mend.unknown_key", s.pairs()...)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(handInFiles)) {
		look(name, handInFiles[name])
	}
	if v := r.run.State.Review; v != nil {
		look(numbered("review", v.Round), &ReviewReport{})
	}
	for _, id := range r.order {
		if cp := r.checkpoint(id); cp.Iteration > 0 {
			for _, name := range slices.Sorted(maps.Keys(ofAttempt)) {
				look(cp.file(name), ofAttempt[name])
			}
		}
	}
	return list
}
