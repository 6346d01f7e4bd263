package pal

import (
	"path"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

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
