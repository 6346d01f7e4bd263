package pal

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/graph"
	"placet/engine/run"
	"placet/layout"
	"placet/templates"
)

// tell adds the family's own facts to the view for people.
func tell(r *view, a *engine.RunView) {
	if !r.run.Begun {
		return
	}
	st := &r.run.State
	facts := run.NewFacts(r.run.Lang, "pal")
	add := facts.Add
	add("title", st.Title)
	add("progress", fmt.Sprintf("%d %%", st.Percent))
	add("revision", fmt.Sprint(st.Revision))
	add("started", string(st.StartedAt))
	add("paused", string(st.PausedAt))
	add("ended", string(st.CompletedAt))
	for _, id := range r.order {
		add("port", r.ports[id].line())
	}
	for _, line := range sessionLines(r) {
		add("session", line)
	}
	for _, q := range st.Requests {
		if q.Status == run.Open {
			add("escalation", fmt.Sprintf("%s %s: %s", q.ID, st.Escalations[q.ID].Type, r.run.Path("requests/"+q.ID+"/form.md")))
		}
	}
	for _, id := range r.order {
		for _, f := range r.ports[id].untouched() {
			add("untouched", f)
		}
	}
	a.Facts, a.Graph, a.Parts = facts.List, graphOf(r), partsOf(r)
	for _, p := range r.ports {
		if isFinal(p.Status) || !r.run.Usable() {
			continue
		}
		for _, role := range p.untrusted() {
			argv := p.Workers.of(role)
			a.Untrusted = append(a.Untrusted, engine.Untrusted{Name: TrustName + r.run.State.ID + "/" + p.id + "/" + role, Digest: CommandDigest(argv), Text: strings.Join(argv, " "), Argv: argv, Stops: p.waitsForTrust()})
		}
	}
	slices.SortFunc(a.Untrusted, func(a, b engine.Untrusted) int { return strings.Compare(a.Name, b.Name) })
	a.Findings = append(a.Findings, findingsOf(r)...)
}

// TrustName is the prefix of the name under which placet asks for and remembers trust in a worker's
// command.
const TrustName = "pal.worker "

// line describes a port in one line.
func (p *port) line() string {
	words := []string{p.id + ": " + p.words()}
	if p.loop != nil {
		words = append(words, p.r.say("line.try", "n", p.LastTry-p.loop.FirstTry+1, "max", p.loop.MaxRetries))
	}
	if p.Deadline != "" {
		words = append(words, p.r.say("line.until", "at", p.Deadline))
	}
	if p.Reason != "" && (p.Status == Blocked || isFinal(p.Status)) {
		words = append(words, string(p.Reason))
	}
	return strings.Join(words, ", ")
}

// sessionLines lists the sessions of the ports that have not ended, in tree order, each on one line
// with its progress.
func sessionLines(r *view) (list []string) {
	st := &r.run.State
	if isFinal(st.Status) || st.Sessions["build"] == nil {
		return nil
	}
	list = append(list, "build: "+string(st.Sessions["build"].Status))
	for _, id := range r.order {
		p := r.ports[id]
		if isFinal(p.Status) || p.FirstStartedAt == "" {
			continue
		}
		for _, s := range st.sessionsOf(id) {
			if s.role == "" {
				list = append(list, s.path+": "+string(st.Sessions[s.path].Status))
			} else {
				list = append(list, workerLine(r, workerPart(p, s)))
			}
		}
		for _, a := range r.agents {
			if strings.HasPrefix(a.path, portPath(id)+"/") {
				list = append(list, r.say("line.agent", "session", a.path, "type", a.typ))
			}
		}
	}
	return list
}

// workerLine describes a worker's session in one line.
func workerLine(r *view, one engine.Part) string {
	words := []string{one.ID + ": " + string(one.Status)}
	for _, f := range one.Facts {
		words = append(words, f.Value)
	}
	if p := one.Progress; p != nil {
		words = append(words, fmt.Sprintf("%.0f %%", 100*p.Value))
		if p.Task != "" {
			words = append(words, p.Task)
		}
		if p.Of > 0 {
			words = append(words, r.run.Say("page.tokens", "used", p.Used, "of", p.Of))
		} else if p.Used > 0 {
			words = append(words, r.run.Say("page.tokens.free", "used", p.Used))
		}
	}
	return strings.Join(words, ", ")
}

// graphOf returns the ports by level.
func graphOf(r *view) (list []engine.Node) {
	nodes := nodesOf(&r.run.State)
	critical := graph.CriticalPath(nodes)
	for i, level := range graph.Order(nodes) {
		for _, id := range level {
			p := r.ports[id]
			list = append(list, engine.Node{
				ID: id, Group: fmt.Sprint(i + 1), Label: id, Status: p.Status, Current: p.Status == Running, Gate: len(p.openEscalations(isAny)) > 0,
				After: p.DependsOn, Critical: slices.Contains(critical, id),
			})
		}
	}
	return list
}

// partsOf returns the ports, each with its workers, and the further sessions of agents.
func partsOf(r *view) (list []engine.Part) {
	for _, id := range r.order {
		p := r.ports[id]
		list = append(list, partOf(p))
		if p.FirstStartedAt == "" {
			continue
		}
		for _, s := range r.run.State.sessionsOf(id) {
			if s.role != "" {
				list = append(list, workerPart(p, s))
			}
		}
	}
	for _, a := range r.agents {
		facts := run.NewFacts(r.run.Lang, "pal")
		facts.Add("type", a.typ)
		facts.Add("title", a.title)
		list = append(list, engine.Part{ID: a.path, Status: Running, Facts: facts.List, Sections: []engine.Section{}})
	}
	return list
}

func partOf(p *port) engine.Part {
	facts := run.NewFacts(p.r.run.Lang, "pal")
	add := facts.Add
	add("title", p.Title)
	add("depends", joined(p.DependsOn))
	if p.loop != nil {
		add("try", p.r.say("line.of", "n", p.LastTry-p.loop.FirstTry+1, "max", p.loop.MaxRetries))
		add("round", fmt.Sprint(p.Round))
	}
	add("deadline", string(p.Deadline))
	add("blocked", joined(append(slices.Clone(p.BlockedBy.Escalations), p.BlockedBy.Ports...)))
	add("reason", string(p.Reason))
	for round := 1; round <= p.Round; round++ {
		for _, t := range p.r.run.State.Loops[loopID(p.id, round)].History {
			add("history", tryWords(p, t))
		}
	}
	return engine.Part{ID: p.id, Status: p.Status, Facts: facts.List, Sections: []engine.Section{}}
}

// workerPart returns a worker's session as a part.
func workerPart(p *port, s ownSession) engine.Part {
	facts := run.NewFacts(p.r.run.Lang, "pal")
	facts.Add("substatus", string(substatus(&p.r.run.State, p.id, s.role)))
	one := engine.Part{ID: s.path, Status: p.r.run.State.Sessions[s.path].Status, Facts: facts.List, Sections: []engine.Section{}}
	if f := p.r.readProgress(p.progressFile(s.role)); f != nil {
		one.Progress = &engine.Progress{Value: f.Progress, Task: templates.Cut(run.OneLine(f.CurrentTask), 200), Used: f.TokensUsed, Of: p.Limits.TokenBudget}
	}
	return one
}

// findingsOf returns what `check` reports besides the notes: escalations and requests that the
// state does not know.
func findingsOf(r *view) (list []engine.Finding) {
	for _, d := range r.run.Snap.Under("escalations") {
		id := strings.TrimSuffix(path.Base(d.Path), ".json")
		if d.Kind == layout.PalEscalation && r.run.State.Escalations[id] == nil {
			list = append(list, engine.Finding{Severity: "warning", Path: d.Path, Text: r.say("finding.escalation")})
		}
	}
	if !isFinal(r.run.State.Status) && r.sources.got == run.Good {
		list = append(list, engine.Finding{Severity: "info", Path: r.sources.doc.Path, Text: r.say("finding.settings", "settings", settingWords(r))})
	}
	return list
}

// fabrications finds escalations that somebody closed in state.json while a person was still being
// asked.
func fabrications(r *view) (list []run.Fabrication) {
	if !r.run.IsForged() {
		return nil
	}
	for _, q := range r.run.State.Requests {
		if e := r.run.State.Escalations[q.ID]; e != nil && e.Status != Open && q.Status == run.Open && r.run.IsUnanswered(q.ID) {
			list = append(list, run.Fabrication{
				Path: r.run.Doc.Path, Pointer: "/escalations/" + q.ID + "/status", Says: string(e.Status), Request: q.ID, Fact: run.Unanswered(q.ID),
			})
		}
	}
	return list
}
