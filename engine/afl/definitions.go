package afl

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
)

// Layouts of the definitions.
const (
	layoutV1 = "v1" // specs/checkpoints.yaml
	layoutV2 = "v2" // checkpoints/{cp}.json
)

// specsYAML is the path of V1's file, relative to the session's folder.
const specsYAML = "specs/checkpoints.yaml"

// specsYML is a name that people give V1's file by mistake. Nobody reads it.
const specsYML = "specs/checkpoints.yml"

// sourceText returns a YAML or JSON scalar as its source text: 200 is "200", null is "".
func sourceText(raw schemas.Raw) string {
	if t, ok := raw.Text(); ok || raw.Null() {
		return t
	}
	return string(raw)
}

// asTexts returns a value with each scalar as its source text, and without nulls.
func asTexts(raw schemas.Raw) any {
	if o, err := schemas.Members(raw); err == nil {
		kept := o[:0]
		for _, m := range o {
			if v, _ := m.Value.(schemas.Raw); !v.Null() {
				kept = append(kept, schemas.Member{Name: m.Name, Value: asTexts(v)})
			}
		}
		return kept
	}
	list, err := schemas.Elements(raw)
	if err != nil {
		return sourceText(raw)
	}
	texts := make([]any, len(list))
	for i, item := range list {
		texts[i] = asTexts(item)
	}
	return texts
}

// textList returns one text or a list of texts, without the empty ones.
func textList(raw schemas.Raw) (texts []string) {
	list, err := schemas.Elements(raw)
	if err != nil {
		list = []schemas.Raw{raw}
	}
	for _, item := range list {
		if t := sourceText(item); t != "" {
			texts = append(texts, t)
		}
	}
	return texts
}

// specsFile is specs/checkpoints.yaml. Its scalars, and those of the types below, are decoded as
// text.
type specsFile struct {
	Session       string           `json:"session"`
	ApprovedAt    string           `json:"approved_at"`
	ApprovedBy    string           `json:"approved_by"`
	Prerequisites []Prerequisite   `json:"prerequisites"`
	Checkpoints   []checkpointFile `json:"checkpoints"`
}

// checkpointFile holds the members of a checkpoint in both layouts.
type checkpointFile struct {
	ID           string         `json:"id"`
	Name         string         `json:"name"`
	Type         string         `json:"type"`
	Description  text           `json:"description"`
	Dependencies []string       `json:"dependencies"`
	Criteria     []string       `json:"criteria"`
	Validation   validationFile `json:"validation"`
}

type validationFile struct {
	Command        string `json:"command"`
	Expected       text   `json:"expected"`
	ExpectedOutput text   `json:"expectedOutput"`
	Timeout        string `json:"timeout"`
}

// checkpointV2 is checkpoints/{cp}.json.
type checkpointV2 struct {
	checkpointFile
	Contract struct {
		Interface schemas.Raw `json:"interface"`
		Tests     schemas.Raw `json:"tests"`
	} `json:"contract"`
	Prerequisites prerequisitesV2 `json:"prerequisites"`
}

type prerequisitesV2 struct {
	Environment []string `json:"environment"`
	Tasks       []string `json:"tasks"`
}

// entry is one checkpoint of the files, with everything that the findings check.
type entry struct {
	def Definition
	// file and place locate it in findings; place is the pointer in V1's file.
	file, place string
	badID       bool // the id is missing or malformed
	badTimeout  bool
	idInFile    string // V2: the id that the file claims
	unknownType string
	needs       []string // V2: the environment that it needs
	contracts   []string // V2: the names of its contracts
	strays      []stray
}

// specs holds the checkpoints of the files, in either layout.
type specs struct {
	// readable is true if the files are settled and readable and contain a design.
	readable bool
	layout   string
	both     bool // both V1 and V2 exist
	session  string
	entries  []entry
	pre      []Prerequisite
	digest   text
	// approvedAt and approvedBy are the stamp in V1's file.
	approvedAt, approvedBy string
	// causes holds the files that the specs come from.
	causes   []engine.Document
	strays   []stray           // of V1's file as a whole
	cuts     []schemas.CutText // of V1's file
	findings []finding
}

// definitions returns the definitions in file order.
func (s specs) definitions() []Definition {
	defs := make([]Definition, len(s.entries))
	for i, e := range s.entries {
		defs[i] = e.def
	}
	return defs
}

// readSpecs reads the definitions from V1, or from V2 if V1 is absent.
func readSpecs(r *session) (s specs) {
	d, v2 := r.run.Snap.In(specsYAML), v2Files(r)
	switch {
	case !d.Absent():
		read, got := run.Parse(&r.run.Input, d, decodeV1)
		if got == run.Good {
			s = *read
		}
		s.readable, s.layout, s.both, s.causes = got == run.Good, layoutV1, len(v2) > 0, []engine.Document{d}
	case len(v2) > 0:
		s = readV2(r, v2)
	}
	if s.readable {
		s.findings = judgeSpecs(r, s)
	}
	return s
}

// mostCheckpoints is how many checkpoints a session may have.
const mostCheckpoints = 500

// v2Files returns the files of V2's layout.
func v2Files(r *session) []engine.Document {
	return slices.DeleteFunc(slices.Clone(r.run.Snap.Under("checkpoints")), func(d engine.Document) bool {
		return d.Kind != layout.AFLCheckpoint || d.Absent()
	})
}

// decodeV1 reads V1's file.
func decodeV1(_ string, body []byte) (s specs, err error) {
	var whole schemas.Raw
	var f specsFile
	if err = schemas.DecodeYAML("afl/checkpoints", specsYAML, body, &whole, schemas.CheckpointsYAML); err != nil {
		return s, err
	}
	if err = schemas.Decode("", specsYAML, run.Encoded(asTexts(whole)), &f); err != nil {
		return s, err
	}
	members, _ := schemas.Members(whole)
	list, _ := schemas.Elements(members.Raw("checkpoints"))
	s.session, s.approvedBy, s.pre, s.strays = f.Session, f.ApprovedBy, f.Prerequisites, findStrays("", members, &specsFile{}, "")
	if f.ApprovedAt != "false" {
		s.approvedAt = f.ApprovedAt
	}
	for i, c := range f.Checkpoints {
		e := c.entry()
		e.file, e.place = specsYAML, "/checkpoints/"+strconv.Itoa(i)
		if o, err := schemas.Members(list[i]); err == nil {
			e.strays = checkpointStrays(e.place, layoutV1, o)
		}
		if c.ID == "" {
			e.def.ID = c.Name
		}
		e.badID = !layout.IsAFLCheckpoint(e.def.ID)
		s.entries = append(s.entries, e)
	}
	s.cuts = schemas.CutTexts(body, schemas.CheckpointsYAML)
	s.digest = specsDigest(s)
	return s, nil
}

// readV2 reads the files of V2's layout.
func readV2(r *session, files []engine.Document) specs {
	s := specs{layout: layoutV2, readable: len(files) <= mostCheckpoints}
	if !s.readable {
		r.run.Bad(files[mostCheckpoints], r.say("bad.checkpoints", "count", len(files), "most", mostCheckpoints))
		return s
	}
	seen := map[string]bool{}
	for _, d := range files {
		e, got := run.Parse(&r.run.Input, d, decodeV2)
		if got != run.Good {
			s.readable = false
			continue
		}
		s.entries = append(s.entries, *e)
		for _, id := range e.needs {
			if !seen[id] {
				seen[id] = true
				s.pre = append(s.pre, Prerequisite{ID: id, Type: "environment"})
			}
		}
	}
	if s.readable {
		s.digest = specsDigest(s)
		s.causes = []engine.Document{{Path: r.run.Path("") + "/checkpoints/", Sum: engine.Digest(s.digest)}}
	}
	return s
}

// decodeV2 reads a checkpoint of V2's layout.
func decodeV2(p string, body []byte) (e entry, err error) {
	var whole schemas.Raw
	var f checkpointV2
	name := path.Base(p)
	if err = schemas.Decode("afl/checkpoint", name, body, &whole); err != nil {
		return e, err
	}
	if err = schemas.Decode("", name, run.Encoded(asTexts(whole)), &f); err != nil {
		return e, err
	}
	o, err := schemas.Members(body)
	e = f.entry()
	e.file, e.def.ID, e.needs, e.strays = "checkpoints/"+name, strings.TrimSuffix(name, ".json"), f.Prerequisites.Environment, checkpointStrays("", layoutV2, o)
	e.idInFile, e.contracts = f.ID, append(textList(f.Contract.Interface), textList(f.Contract.Tests)...)
	if f.Name == "" {
		e.def.Name = e.def.ID
	}
	e.def.Dependencies = distinct(append(f.Dependencies, f.Prerequisites.Tasks...))
	return e, err
}

// types are the types of a checkpoint. Any other type counts as the first.
var types = []string{"implementation", "api", "integration", "performance"}

// entry converts the members that both layouts share into a definition.
func (c checkpointFile) entry() (e entry) {
	d, v := &e.def, c.Validation
	d.ID, d.Name, d.Type, d.Description = c.ID, cmp.Or(c.Name, c.ID), c.Type, c.Description
	if !slices.Contains(types, d.Type) {
		e.unknownType, d.Type = d.Type, types[0]
	}
	d.Dependencies, d.Criteria = distinct(c.Dependencies), append([]string{}, c.Criteria...)
	d.Command, d.Expected = text(strings.TrimRight(v.Command, "\n")), cmp.Or(v.Expected, v.ExpectedOutput)
	if v.Timeout != "" {
		ms, err := strconv.ParseInt(v.Timeout, 10, 64)
		if e.badTimeout = err != nil || ms < 1 || ms > 86_400_000; !e.badTimeout {
			d.TimeoutMS = &ms
		}
	}
	return e
}

// distinct returns texts in their order, each once.
func distinct(list []string) []string {
	once := make([]string, 0, len(list))
	seen := make(map[string]bool, len(list))
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			once = append(once, s)
		}
	}
	return once
}

// canonical returns a value as JSON with sorted keys and without blanks.
func canonical(v any) []byte {
	var sorted any // a map is encoded with sorted keys
	if err := json.Unmarshal(run.Encoded(v), &sorted); err != nil {
		panic(err) // it was encoded just now
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(sorted); err != nil {
		panic(err) // it holds texts, numbers and lists of them
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

// digest returns the digest of the definition.
func (d Definition) digest() text { return text(engine.Sum(canonical(d))) }

// specsDigest returns the digest of a whole design. Comments, layout and stamps do not affect it.
func specsDigest(s specs) text {
	return text(engine.Sum(canonical(schemas.Object{{Name: "definitions", Value: s.definitions()}, {Name: "prerequisites", Value: s.pre}})))
}
