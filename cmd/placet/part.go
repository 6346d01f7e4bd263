package main

import (
	"strings"

	"placet/engine"
)

// partData is one part of a run as JSON.
type partData struct {
	Run      string        `json:"run"`
	Part     string        `json:"part"`
	Status   engine.Status `json:"status"`
	Facts    []factLine    `json:"facts"`
	Sections []sectionLine `json:"sections"`
}

type sectionLine struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

// part finds the part of a run that "<run>/<part>" names. The error says which
// parts there are, where the run alone was found; it is nil where not even that
// was.
func (b *bench) part(arg string) (v view, p engine.Part, err error) {
	found := b.runs()
	for at := strings.LastIndexByte(arg, '/'); at > 0; at = strings.LastIndexByte(arg[:at], '/') {
		fit := b.fits(found, arg[:at])
		if len(fit) != 1 {
			continue
		}
		v = b.viewOf(fit[0])
		var there []string
		for _, p := range v.Parts {
			if p.ID == arg[at+1:] {
				return v, p, nil
			}
			there = append(there, line(p.ID))
		}
		if err == nil && len(there) > 0 {
			err = usage("%s has no part %q: it has %s", brief(v.Key), line(arg[at+1:]), strings.Join(there, ", "))
		}
	}
	return view{}, engine.Part{}, err
}

func partLines(v view, p engine.Part) partData {
	d := partData{Run: v.Key.String(), Part: p.ID, Status: p.Status, Facts: []factLine{}, Sections: []sectionLine{}}
	for _, f := range p.Facts {
		d.Facts = append(d.Facts, factLine(f))
	}
	for _, s := range p.Sections {
		d.Sections = append(d.Sections, sectionLine(s))
	}
	return d
}

func (b *bench) printPart(v view, p engine.Part) {
	w := b.w
	w.say("%s  %s", w.paint(strong, line(v.Key.String()+"/"+p.ID)), line(string(p.Status)))
	b.printFacts(p.Facts)
	for _, a := range v.Open {
		if a.Where == p.ID {
			w.say("\n%s", w.paint(strong, "Asked"))
			b.printFull(a)
		}
	}
	for _, s := range p.Sections {
		w.say("\n%s\n%s", w.paint(strong, line(s.Title)), indent(paragraph(s.Text), "  "))
	}
}

// printFacts shows labelled lines; a command may have several.
func (b *bench) printFacts(list []engine.Fact) {
	facts := &table{}
	for _, f := range list {
		facts.style([]string{faint}, "  "+line(f.Label), line(f.Value))
	}
	facts.print(b.w, b.w.out)
}
