package view

import (
	"slices"
	"strconv"
	"strings"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/loop"
	"placet/templates"
)

// Subject is the subject of show and explain: a run, a part of it, or a request.
type Subject struct {
	View Run
	Part engine.Part // zero for none
	// Request is the id of a request of the run, "" for none. open is the request, nil if it is
	// closed.
	Request string
	Open    *engine.OpenRequest
}

// FindSubject finds the subject that an argument names: a run, else a part of a run, else a
// request, open or closed.
func FindSubject(b *workspace.Workspace, arg string) (Subject, error) {
	if name, shown, err := CutDigest(arg); err == nil && shown != "" {
		arg = name
	}
	f, runErr := oneRunOf(b, b.Runs(), arg)
	if runErr == nil {
		return Subject{View: Of(b, f)}, nil
	}
	v, p, partErr := findPart(b, arg)
	if p.ID != "" {
		return Subject{View: v, Part: p}, nil
	}
	at, requestErr := findRequest(b, arg)
	switch several := (*console.Problem)(nil); {
	case requestErr == nil && isAmbiguous(runErr, &several) && !strings.HasPrefix(arg, at.ID):
		several.Fits = append(several.Fits, at.Name())
		return Subject{}, several
	case requestErr == nil:
		s := Subject{View: Of(b, at.Found), Request: at.ID}
		if i := slices.IndexFunc(s.View.Open, func(a engine.OpenRequest) bool { return a.Request == at.ID }); i >= 0 {
			s.Open = &s.View.Open[i]
		}
		return s, nil
	case isAmbiguous(requestErr, &several):
		return Subject{}, requestErr
	case partErr != nil:
		return Subject{}, partErr
	}
	if strings.HasPrefix(runErr.Error(), "cannot find a run") {
		return Subject{}, requestErr // it says more about what the argument might name
	}
	return Subject{}, runErr
}

// OneRequest resolves an argument to a request, open or closed: by its name or, if it is the only
// one of its run, by that of the run.
func OneRequest(b *workspace.Workspace, arg string) (RequestAt, error) {
	s, err := FindSubject(b, arg)
	if err != nil {
		return RequestAt{}, err
	}
	ids := requestFolders(b, s.View.Found)
	switch {
	case s.Request != "":
		return RequestAt{s.View.Found, s.Request}, nil
	case len(s.View.Open) == 1:
		return RequestAt{s.View.Found, s.View.Open[0].Request}, nil
	case len(ids) == 1:
		return RequestAt{s.View.Found, ids[0]}, nil
	}
	return ExactRequest(b, arg)
}

// isAmbiguous reports whether an error says that several things fit.
func isAmbiguous(err error, p **console.Problem) (several bool) {
	*p, several = err.(*console.Problem)
	return several && len((*p).Fits) > 0
}

// findPart finds the part of a run that "<run>/<part>" names. The error lists the parts of the
// run if only the run was found; it is nil if not even that was.
func findPart(b *workspace.Workspace, arg string) (v Run, p engine.Part, err error) {
	found := b.Runs()
	for at := strings.LastIndexByte(arg, '/'); at > 0; at = strings.LastIndexByte(arg[:at], '/') {
		fit := Fits(b, found, arg[:at])
		if len(fit) != 1 {
			continue
		}
		v, parts := partsOf(b, fit[0])
		named := partsNamed(parts, arg[at+1:])
		switch {
		case len(named) == 1:
			return v, named[0], nil
		case len(named) > 1:
			name := func(p engine.Part) string { return v.Key.String() + "/" + p.ID }
			return Run{}, engine.Part{}, FitsSeveral(arg[at+1:], "workspace.parts", named, name, "run", console.Brief(v.Key)).Try("workspace.fits.unique")
		case err == nil && len(parts) > 0:
			var there []string
			for _, p := range parts {
				there = append(there, console.OneLine(p.ID))
			}
			err = console.Usage("workspace.part.none", "run", console.Brief(v.Key), "part", strconv.Quote(console.OneLine(arg[at+1:])), "parts", console.Cut(strings.Join(there, ", "), shownParts))
		}
	}
	return Run{}, engine.Part{}, err
}

// shownParts limits the names of a run's parts in an error, in characters.
const shownParts = 2000

// partsOf views a run and lists its parts: those of its family's view, else the phases and
// steps of its plan.
func partsOf(b *workspace.Workspace, f loop.Found) (Run, []engine.Part) {
	v := Of(b, f)
	if len(v.Parts) > 0 {
		return v, v.Parts
	}
	var parts []engine.Part
	for _, n := range v.Graph {
		if n.Group != "" && !slices.ContainsFunc(parts, func(p engine.Part) bool { return p.ID == n.Group }) {
			parts = append(parts, phasePart(v, n.Group))
		}
		parts = append(parts, stepPart(v, n))
	}
	return v, parts
}

// phasePart returns a phase of a plan, with the status that its steps give it.
func phasePart(v Run, phase string) engine.Part {
	p := engine.Part{ID: phase, Status: "pending"}
	var done int
	for _, n := range v.Graph {
		if n.Group != phase {
			continue
		}
		p.Facts = append(p.Facts, engine.Fact{Label: templates.Phrase(v.lang, "workspace.part.step"), Value: n.Label + "  " + string(n.Status)})
		switch {
		case n.Status == "completed" || n.Status == "skipped":
			done++
		case n.Current || n.Status != "pending":
			p.Status = n.Status
		}
	}
	if done == len(p.Facts) {
		p.Status = "completed"
	} else if done > 0 && p.Status == "pending" {
		p.Status = "in_progress"
	}
	p.Sections = logSection(v, func(where string) bool { return where == phase || strings.HasPrefix(where, phase+":") })
	return p
}

// stepPart returns a step of a plan.
func stepPart(v Run, n engine.Node) engine.Part {
	p := engine.Part{ID: n.ID, Status: n.Status}
	add := func(label, value string) {
		if value != "" {
			p.Facts = append(p.Facts, engine.Fact{Label: templates.Phrase(v.lang, "workspace.part."+label), Value: value})
		}
	}
	add("phase", n.Group)
	add("after", strings.Join(n.After, ", "))
	if n.Current {
		add("current", templates.Phrase(v.lang, "workspace.part.current.value"))
	}
	if n.Gate {
		add("gate", templates.Phrase(v.lang, "workspace.part.gate.value"))
	}
	p.Sections = logSection(v, func(where string) bool { return where == n.ID })
	return p
}

// logSection returns the events of a run at a place of its plan, newest last.
func logSection(v Run, at func(where string) bool) []engine.Section {
	var lines []string
	for _, e := range v.Log {
		if at(e.Where) {
			lines = append(lines, strings.Join(strings.Fields(console.Moment(e.At)+" "+e.Event+" "+e.Who+" "+e.Message), " "))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return []engine.Section{{Title: templates.Phrase(v.lang, "workspace.part.events"), Text: strings.Join(lines[max(0, len(lines)-LastEvents):], "\n")}}
}

// partsNamed returns the parts with a word as their name, or else as the last word of their
// name, or else as its beginning. A slash may stand for the colon between phase and step.
func partsNamed(parts []engine.Part, word string) []engine.Part {
	path := word
	word = strings.ReplaceAll(word, "/", ":")
	for _, fits := range []func(id string) bool{
		func(id string) bool { return id == path || id == word },
		func(id string) bool { return strings.HasSuffix(id, ":"+word) || id == "level"+word },
		func(id string) bool {
			rest, begins := strings.CutPrefix(id, word)
			return len(word) >= leastID && begins && !strings.Contains(rest, ":")
		},
	} {
		named := slices.DeleteFunc(slices.Clone(parts), func(p engine.Part) bool { return !fits(p.ID) })
		if len(named) > 0 {
			return named
		}
	}
	return nil
}

// LastEvents is the number of events that show prints.
const LastEvents = 5
