package afl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"placet/engine"
	"placet/layout"
	"placet/schemas"
)

// Layouts of checkpoints.
const (
	layoutV1 = "v1" // specs/checkpoints.yaml
	layoutV2 = "v2" // checkpoints/{cp}.json
)

// specsYAML is V1's file, relative to the session's folder.
const specsYAML = "specs/checkpoints.yaml"

// scalar is a YAML or JSON scalar as its source text: 200 is "200".
type scalar string

// UnmarshalJSON implements json.Unmarshaler.
func (s *scalar) UnmarshalJSON(raw []byte) error {
	value := schemas.Raw(raw)
	if t, ok := value.Text(); ok {
		*s = scalar(t)
	} else if value.Null() {
		*s = ""
	} else {
		*s = scalar(raw)
	}
	return nil
}

// texts are one text or a list of them.
type texts []string

// UnmarshalJSON implements json.Unmarshaler.
func (w *texts) UnmarshalJSON(raw []byte) error {
	list, err := schemas.Elements(raw)
	if err != nil {
		list = []schemas.Raw{raw}
	}
	for _, item := range list {
		var s scalar
		if err := s.UnmarshalJSON(item); err != nil {
			return err
		}
		if s != "" {
			*w = append(*w, string(s))
		}
	}
	return nil
}

// specsFile is what V1's file and one of V2's files may hold.
type specsFile struct {
	Session       scalar             `json:"session"`
	ApprovedAt    scalar             `json:"approved_at"`
	ApprovedBy    scalar             `json:"approved_by"`
	Prerequisites []prerequisiteFile `json:"prerequisites"`
	Checkpoints   []checkpointFile   `json:"checkpoints"`
	// strays are the keys that nobody reads: of the file, and of each checkpoint.
	strays []stray
}

type prerequisiteFile struct {
	ID     scalar `json:"id"`
	Name   scalar `json:"name"`
	Type   scalar `json:"type"`
	Script scalar `json:"script"`
}

// common are the members of a checkpoint in both layouts.
type commonFile struct {
	ID           *scalar        `json:"id"`
	Name         scalar         `json:"name"`
	Type         scalar         `json:"type"`
	Description  scalar         `json:"description"`
	Dependencies []scalar       `json:"dependencies"`
	Criteria     []scalar       `json:"criteria"`
	Validation   validationFile `json:"validation"`
}

type checkpointFile struct {
	commonFile
	strays []stray
}

type validationFile struct {
	Command        scalar `json:"command"`
	Expected       scalar `json:"expected"`
	ExpectedOutput scalar `json:"expectedOutput"`
	Timeout        scalar `json:"timeout"`
}

// checkpointV2 is checkpoints/{cp}.json.
type checkpointV2 struct {
	commonFile
	Contract struct {
		Interface texts `json:"interface"`
		Tests     texts `json:"tests"`
	} `json:"contract"`
	Prerequisites prerequisitesV2 `json:"prerequisites"`
}

type prerequisitesV2 struct {
	Environment []scalar `json:"environment"`
	Tasks       []scalar `json:"tasks"`
}

// entry is one checkpoint as it was read, with what the findings look at.
type entry struct {
	def Definition
	// place names it in findings: a file, and in V1 the pointer in it.
	file, place string
	badID       bool // the id is missing or does not fit
	badTimeout  bool
	idInFile    string // V2: the id that the file claims
	unknownType string
	strays      []stray
}

// specs are the checkpoints as the files have them.
type specs struct {
	// readable is true where the files stand still, can be read and hold a
	// design at all.
	readable bool
	layout   string
	both     bool // V1 and V2 stand side by side
	session  string
	entries  []entry
	pre      []Prerequisite
	digest   engine.Digest
	// approvedAt and approvedBy are V1's stamp.
	approvedAt, approvedBy string
	// causes are the files that the specs come from.
	causes   []engine.Document
	strays   []stray // of V1's file as a whole
	findings []finding
}

// definitions are the checkpoints in file order.
func (s specs) definitions() []Definition {
	defs := make([]Definition, len(s.entries))
	for i, e := range s.entries {
		defs[i] = e.def
	}
	return defs
}

// readSpecs reads the checkpoints: V1, or V2 where V1 is absent.
func (r *session) readSpecs() specs {
	v2 := r.v2Files()
	d := r.Snap.In(specsYAML)
	var s specs
	if !d.Absent() {
		s = r.readV1(d)
		s.both = len(v2) > 0
	} else if len(v2) > 0 {
		s = r.readV2(v2)
	}
	if s.readable {
		s.digest = specsDigest(s.definitions(), s.pre)
		if s.layout == layoutV2 {
			s.causes = []engine.Document{{Path: r.Path("") + "/checkpoints/", Sum: s.digest}}
		}
		s.findings = r.findings(s)
	}
	return s
}

// mostCheckpoints is how many a session may have.
const mostCheckpoints = 500

// v2Files are the files of V2's layout.
func (r *session) v2Files() []engine.Document {
	var files []engine.Document
	for _, d := range r.Snap.Under("checkpoints") {
		if d.Kind == layout.AFLCheckpoint && !d.Absent() {
			files = append(files, d)
		}
	}
	return files
}

func (r *session) readV1(d engine.Document) specs {
	s := specs{layout: layoutV1, causes: []engine.Document{d}}
	f := &specsFile{}
	s.readable = r.Read(d, func() (err error) {
		f, err = engine.Parse(d, decodeSpecs)
		return err
	})
	s.session, s.approvedBy, s.strays = string(f.Session), string(f.ApprovedBy), f.strays
	if f.ApprovedAt != "false" {
		s.approvedAt = string(f.ApprovedAt)
	}
	for _, p := range f.Prerequisites {
		s.pre = append(s.pre, Prerequisite{ID: string(p.ID), Name: text(p.Name), Type: text(p.Type), Script: text(p.Script)})
	}
	for i, c := range f.Checkpoints {
		e := c.entry()
		e.file, e.place, e.strays = specsYAML, "/checkpoints/"+strconv.Itoa(i), c.strays
		if c.ID == nil || *c.ID == "" {
			e.def.ID = string(c.Name)
		}
		e.badID = !layout.IsAFLCheckpoint(e.def.ID)
		s.entries = append(s.entries, e)
	}
	return s
}

// decodeSpecs reads V1's file.
func decodeSpecs(_ string, body []byte) (f specsFile, err error) {
	var whole schemas.Raw
	if err = schemas.DecodeYAML("afl/checkpoints", specsYAML, body, &whole, schemas.CheckpointsYAML); err != nil {
		return f, err
	}
	if err = schemas.Decode("", specsYAML, whole, &f); err == nil {
		f.findStrays(whole)
	}
	return f, err
}

// findStrays notes the keys of V1's file that nobody reads.
func (f *specsFile) findStrays(whole schemas.Raw) {
	members, err := schemas.Members(whole)
	if err != nil {
		return
	}
	f.strays = straysOf("", members, &specsFile{}, "")
	list, _ := schemas.Elements(members.Raw("checkpoints"))
	for i, raw := range list {
		if o, err := schemas.Members(raw); err == nil {
			f.Checkpoints[i].strays = checkpointStrays("/checkpoints/"+strconv.Itoa(i), layoutV1, o)
		}
	}
}

func (r *session) readV2(files []engine.Document) specs {
	s := specs{layout: layoutV2, readable: true}
	if len(files) > mostCheckpoints {
		r.Bad(files[mostCheckpoints], fmt.Sprintf("cannot read the checkpoints: there are %d: expected at most %d", len(files), mostCheckpoints))
		return specs{layout: layoutV2}
	}
	seen := map[string]bool{}
	for _, d := range files {
		var f checkpointV2
		if !r.Decode(d, "afl/checkpoint", &f) {
			s.readable = false
			continue
		}
		rel := r.Snap.Rel(d.Path)
		e := f.entry()
		e.file, e.def.ID = rel, strings.TrimSuffix(path.Base(rel), ".json")
		if o, err := schemas.Members(d.Body); err == nil {
			e.strays = checkpointStrays("", layoutV2, o)
		}
		if f.ID != nil {
			e.idInFile = string(*f.ID)
		}
		if f.Name == "" {
			e.def.Name = e.def.ID
		}
		e.def.Dependencies = distinct(append(f.Dependencies, f.Prerequisites.Tasks...))
		for _, env := range f.Prerequisites.Environment {
			if !seen[string(env)] {
				seen[string(env)] = true
				s.pre = append(s.pre, Prerequisite{ID: string(env), Type: "environment"})
			}
		}
		s.entries = append(s.entries, e)
	}
	return s
}

// Types of a checkpoint; another is read as the first.
var types = []string{"implementation", "api", "integration", "performance"}

// entry makes a definition of what both layouts have.
func (c commonFile) entry() entry {
	var e entry
	d := &e.def
	if c.ID != nil {
		d.ID = string(*c.ID)
	}
	d.Name, d.Type, d.Description = string(c.Name), string(c.Type), text(c.Description)
	if d.Name == "" {
		d.Name = d.ID
	}
	if !slices.Contains(types, d.Type) {
		e.unknownType = d.Type
		d.Type = types[0]
	}
	d.Dependencies, d.Criteria = distinct(c.Dependencies), []string{}
	for _, line := range c.Criteria {
		d.Criteria = append(d.Criteria, string(line))
	}
	v := c.Validation
	d.Command, d.Expected = text(strings.TrimRight(string(v.Command), "\n")), text(v.Expected)
	if d.Expected == "" {
		d.Expected = text(v.ExpectedOutput)
	}
	if v.Timeout != "" {
		ms, err := strconv.ParseInt(string(v.Timeout), 10, 64)
		e.badTimeout = err != nil || ms < 1 || ms > 86_400_000
		if !e.badTimeout {
			d.TimeoutMS = &ms
		}
	}
	return e
}

// distinct are texts in their order, each once.
func distinct(list []scalar) []string {
	once := make([]string, 0, len(list))
	seen := make(map[scalar]bool, len(list))
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			once = append(once, string(s))
		}
	}
	return once
}

// canonical is a value as JSON with sorted keys and without blanks.
func canonical(v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // texts, numbers and lists of them
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

// object is a definition with its keys as canonical sorts them.
func (d Definition) object() map[string]any {
	return map[string]any{
		"id": d.ID, "name": d.Name, "type": d.Type, "description": orNil(d.Description), "dependencies": orEmpty(d.Dependencies),
		"criteria": orEmpty(d.Criteria), "command": orNil(d.Command), "expected": orNil(d.Expected), "timeout_ms": d.TimeoutMS,
	}
}

func orNil(t text) any {
	if t == "" {
		return nil
	}
	return string(t)
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// digest is the definition digest.
func (d Definition) digest() text { return text(engine.Sum(canonical(d.object()))) }

// specsDigest is the digest of a whole design: comments, layout and stamps do
// not count.
func specsDigest(defs []Definition, pre []Prerequisite) engine.Digest {
	list := make([]any, len(defs))
	for i, d := range defs {
		list[i] = d.object()
	}
	needed := make([]any, len(pre))
	for i, p := range pre {
		needed[i] = map[string]any{"id": p.ID, "name": orNil(p.Name), "type": orNil(p.Type), "script": orNil(p.Script)}
	}
	return engine.Sum(canonical(map[string]any{"definitions": list, "prerequisites": needed}))
}
