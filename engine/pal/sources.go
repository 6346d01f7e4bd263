package pal

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Design holds the contents of an orchestration's sources once they have no errors.
type Design struct {
	Title     string
	Autostart bool
	// Digest is the digest of orchestration.json. Specs holds those of the specs, by port.
	Digest         engine.Digest
	Specs          map[string]engine.Digest
	MaxConcurrency int
	Parallel       bool
	Ports          []PortDesign // sorted by order and id
}

// PortDesign is a port of a design.
type PortDesign struct {
	ID, Title      string
	Order          int
	DependsOn      []string
	SpecPath, Body string // the spec, and the text in orchestration.json
	// Agent and Priority are shown and have no effect.
	Agent, Priority string
	// Complete is true for a port that is already done.
	Complete bool
	Limits   Limits
	Workers  Workers
}

// Limits are the limits of a port. A budget of 0 tokens means no limit, and so does a timeout of 0.
type Limits struct {
	MaxRetries  int    `json:"max_retries"`
	Timeout     string `json:"timeout"`
	TokenBudget int    `json:"token_budget"`
}

// Workers holds the commands that start the workers of a port.
type Workers struct {
	Impl []string `json:"impl,omitzero"`
	Test []string `json:"test,omitzero"`
}

// orchestration is orchestration.json.
type orchestration struct {
	Title           string        `json:"title"`
	ID              *string       `json:"id"`
	Ports           []schemas.Raw `json:"ports"`
	AtomicPorts     []schemas.Raw `json:"atomic_ports"`
	Autostart       *bool         `json:"autostart"`
	MaxConcurrency  *int          `json:"max_concurrency"`
	ParallelEnabled *bool         `json:"parallel_enabled"`
	TimeoutPerPort  *string       `json:"timeout_per_port"`
	MaxRetries      *int          `json:"max_retries"`
	TokenBudget     *int          `json:"token_budget"`
	Workers         *Workers      `json:"workers"`
	// entries are the decoded ports.
	entries []portEntry
}

// portEntry is a port in orchestration.json.
type portEntry struct {
	ID          string    `json:"port_id"`
	Alias       string    `json:"id"`
	Order       *int      `json:"order"`
	DependsOn   *[]string `json:"depends_on"`
	Title       *string   `json:"title"`
	Body        string    `json:"body"`
	Spec        *string   `json:"spec"`
	Agent       *string   `json:"agent"`
	Priority    *string   `json:"priority"`
	MaxRetries  *int      `json:"max_retries"`
	Timeout     *string   `json:"timeout"`
	TokenBudget *int      `json:"token_budget"`
	Workers     *Workers  `json:"workers"`
	Status      string    `json:"status"`
	// isNamed is true if the file gives nothing but the port's id.
	isNamed bool
}

// specPath returns the path of the port's spec, "" if it cannot have one.
func (e portEntry) specPath() string {
	switch {
	case e.Spec != nil:
		return *e.Spec
	case layout.IsPalID(e.ID):
		return path.Join("ports", e.ID+".md")
	}
	return ""
}

// unfit returns an error about a member that the document's schema accepts.
func unfit(p, pointer string, problem, expected templates.Message) error {
	return &schemas.Error{Path: p, Pointer: pointer, Problem: problem, Expected: expected}
}

// unfitAlias returns the error for a member that appears together with its alias.
func unfitAlias(p, pointer, name string) error {
	return unfit(p, pointer, templates.NewMessage("pal.unfit.alias", "name", name), templates.NewMessage("pal.unfit.single"))
}

// checkTimeout returns what is wrong with the timeout in a member, or nil.
func checkTimeout(p, pointer string, s *string) error {
	_, err := readTimeout(s)
	if err != nil {
		err = unfit(p, pointer, templates.NewMessage("say.text", "text", err), templates.Message{})
	}
	return err
}

// decodeOrchestration decodes orchestration.json.
func decodeOrchestration(p string, body []byte) (o orchestration, err error) {
	p = path.Base(p)
	if err = schemas.Decode("pal/orchestration", p, body, &o); err != nil {
		return o, err
	}
	list, at := o.Ports, "/ports"
	switch {
	case o.Ports != nil && o.AtomicPorts != nil:
		return o, unfitAlias(p, "/atomic_ports", "ports")
	case o.AtomicPorts != nil:
		list, at = o.AtomicPorts, "/atomic_ports"
	}
	if err := checkTimeout(p, "/timeout_per_port", o.TimeoutPerPort); err != nil {
		return o, err
	}
	for i, raw := range list {
		e, err := decodeEntry(raw, i+1)
		if err == nil {
			err = e.check(p, fmt.Sprintf("%s/%d", at, i))
		}
		if err != nil {
			return o, err
		}
		o.entries = append(o.entries, e)
	}
	return o, nil
}

// decodeEntry decodes a port that conforms to the schema.
func decodeEntry(raw schemas.Raw, place int) (e portEntry, err error) {
	e.Order = &place
	if id, isText := raw.Text(); isText {
		e.ID, e.isNamed = id, true
		return e, nil
	}
	if err = schemas.DecodeValue(raw, &e); err == nil && e.ID == "" {
		e.ID = e.Alias
	}
	return e, err
}

// check returns what is wrong with a port besides its id and its dependencies, or nil.
func (e portEntry) check(p, at string) error {
	if e.Alias != "" && e.Alias != e.ID {
		return unfitAlias(p, at+"/id", "port_id")
	}
	if err := checkTimeout(p, at+"/timeout", e.Timeout); err != nil {
		return err
	}
	if e.Spec != nil && (!layout.IsArtifact(*e.Spec) || layout.Under(*e.Spec, layout.PalRoot)) {
		return unfit(p, at+"/spec", templates.NewMessage("pal.unfit.spec", "spec", strconv.Quote(*e.Spec)), templates.NewMessage("pal.unfit.spec.wanted", "folder", layout.PalRoot))
	}
	return nil
}

// decodeSpec decodes the spec of a port.
func decodeSpec(p string, body []byte) (Spec, error) {
	s, err := ReadSpec(body)
	if e, ok := err.(*schemas.Error); ok {
		e.Path = p
	}
	return s, err
}

// sources holds the source files of an orchestration, as far as they are readable.
type sources struct {
	// doc is orchestration.json, and got is the result of reading the sources.
	doc engine.Document
	got run.Reading
	// design is nil if the sources have errors or are not all readable yet.
	design *Design
	// plan is the content for plan.json, nil while orchestration.json is unusable.
	plan []byte
	// needs are the source files outside the run's folder.
	needs []string
}

// readSources reads the sources and notes their errors. It plans nothing once the run has started,
// and only notes changes in the sources.
func readSources(in *run.Input, conf Config, isStarted bool) sources {
	s := sources{doc: in.Snap.In("orchestration.json"), needs: []string{configYAML}}
	var o *orchestration
	if o, s.got = run.Parse(in, s.doc, decodeOrchestration); s.got != run.Good {
		return s
	}
	for _, e := range o.entries {
		if p := e.specPath(); p != "" {
			s.needs = append(s.needs, p)
		}
	}
	if len(in.Snap.Lacks(s.needs)) > 0 || isAnyUnsettled(in, s.needs) {
		s.got = run.Pending
		return s
	}
	r := designer{in: in, o: o, conf: conf, sum: s.doc.Sum, specs: map[string]engine.Digest{}}
	if r.readAll(); r.isPending {
		s.got = run.Pending
		return s
	}
	if !isStarted {
		s.plan, s.design = r.result(s.doc)
	} else if len(r.errors) == 0 {
		s.design = r.design()
	}
	if s.design == nil {
		s.got = run.Bad
	}
	return s
}

// isAnyUnsettled reports whether one of the files may still be being written.
func isAnyUnsettled(in *run.Input, paths []string) bool {
	for _, p := range paths {
		if in.Snap.Doc(p).Unsettled() {
			in.Held = true
			return true
		}
	}
	return false
}

// designer makes a design from the sources.
type designer struct {
	in    *run.Input
	o     *orchestration
	conf  Config
	below projectConfig // upstream's configuration
	sum   engine.Digest
	ports []PortDesign
	specs map[string]engine.Digest
	// errors are the errors other than those in ids and dependencies.
	errors    []PlanError
	isPending bool
}

// readSource reads a source and returns nil if it is unusable.
func readSource[T any](r *designer, d engine.Document, code, port string, decode func(p string, body []byte) (T, error)) *T {
	v, got := run.Parse(r.in, d, decode)
	r.isPending = r.isPending || got == run.Pending
	if got == run.Bad {
		r.fail(code, port, unusable(r.in, d.Path))
	}
	return v
}

// unusable returns the message that a source is unusable. The note has the details, so that
// plan.json does not change with each further mistake.
func unusable(in *run.Input, p string) string {
	return in.Say("pal.plan.unusable", "file", p, "folder", run.ProblemsDir)
}

func (r *designer) fail(code, port, message string) {
	r.errors = append(r.errors, PlanError{code, orNil(port), message})
}

// readAll reads the files that orchestration.json refers to.
func (r *designer) readAll() {
	if c := readSource(r, r.in.Snap.Doc(configYAML), codeConfig, "", decodeConfig); c != nil {
		r.below = *c
	}
	if folder := path.Base(r.in.Snap.Dir); r.o.ID != nil && *r.o.ID != folder {
		r.fail(codeOrchestration, "", r.in.Say("pal.plan.id", "id", shownID(*r.o.ID), "folder", folder))
	}
	for _, e := range r.o.entries {
		r.ports = append(r.ports, r.port(e, r.spec(e)))
	}
}

// spec reads the spec of a port and returns nil if it has none.
func (r *designer) spec(e portEntry) *Spec {
	p := e.specPath()
	if p == "" {
		return nil
	}
	d := r.in.Snap.Doc(p)
	if d.Absent() {
		if e.isNamed || e.Spec != nil {
			r.in.Bad(d, r.in.Say("pal.note.spec", "port", shownID(e.ID), "file", p))
			r.fail(codeSpec, e.ID, r.in.Say("pal.plan.missing", "file", p))
		}
		return nil
	}
	s := readSource(r, d, codeSpec, e.ID, decodeSpec)
	if s == nil {
		return nil
	}
	r.specs[e.ID] = d.Sum
	if s.ID != "" && s.ID != e.ID {
		message := r.in.Say("pal.plan.declares", "file", p, "id", shownID(s.ID), "port", shownID(e.ID))
		r.in.Bad(d, r.in.Say("pal.note.id", "problem", message))
		r.fail(codeSpec, e.ID, message)
	}
	return s
}

// port merges everything about a port; s is nil if it has no spec.
func (r *designer) port(e portEntry, s *Spec) PortDesign {
	p := PortDesign{ID: e.ID, Order: *e.Order, Body: e.Body, Complete: e.Status == "complete"}
	if s != nil {
		p.SpecPath = e.specPath()
	} else {
		s = &Spec{}
	}
	p.Title = cmp.Or(first(s.Title, e.Title), e.ID)
	p.Agent, p.Priority = first(s.Agent, e.Agent), first(s.Priority, e.Priority)
	p.DependsOn = distinctIDs(first(s.DependsOn, e.DependsOn))
	p.Limits, p.Workers = r.limits(e), first(Workers{}, e.Workers, r.o.Workers)
	return p
}

// limits returns the limits of a port.
func (r *designer) limits(e portEntry) Limits {
	timeout := first(builtInTimeout, e.Timeout, r.o.TimeoutPerPort, r.conf.TimeoutPerPort, r.below.TimeoutPerPort)
	d, _ := readTimeout(&timeout) // each was checked in its file
	return Limits{
		MaxRetries: first(builtInRetries, e.MaxRetries, r.o.MaxRetries, r.conf.MaxRetries), Timeout: d.String(),
		TokenBudget: first(builtInBudget, e.TokenBudget, r.o.TokenBudget, r.conf.TokenBudget),
	}
}

// result returns plan.json, and the design if it has no errors. It notes errors in
// orchestration.json beside that file.
func (r *designer) result(doc engine.Document) ([]byte, *Design) {
	plan := newPlan(r.in.Lang, r.ports, r.errors...)
	plan.OrchestrationDigest = r.sum
	for _, e := range plan.Errors {
		switch e.Code {
		case codeSpec, codeConfig:
		case codeOrchestration:
			r.in.Bad(doc, r.in.Say("pal.note.unusable", "file", orchestrationFile, "problem", e.Message))
		default:
			r.in.Bad(doc, e.Message)
		}
	}
	body := run.Encoded(plan)
	if !plan.Valid {
		return body, nil
	}
	return body, r.design()
}

// design returns the design of sources without errors.
func (r *designer) design() *Design {
	slices.SortFunc(r.ports, byPlace)
	return &Design{
		Title: r.o.Title, Autostart: first(true, r.o.Autostart), Digest: r.sum, Specs: r.specs, Ports: r.ports,
		MaxConcurrency: first(builtInConcurrency, r.o.MaxConcurrency, r.conf.MaxConcurrency, r.below.MaxConcurrency),
		Parallel:       first(true, r.o.ParallelEnabled, r.conf.ParallelEnabled, r.below.ParallelEnabled),
	}
}
