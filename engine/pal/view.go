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

// tell adds to the view for people what is the family's own.
func tell(r *view, a *engine.RunView) {
	if !r.Begun {
		return
	}
	st := &r.State
	add := func(label, value string) {
		if value != "" {
			a.Facts = append(a.Facts, engine.Fact{Label: label, Value: value})
		}
	}
	add("title", st.Title)
	add("progress", fmt.Sprintf("%d %%", st.Percent))
	add("revision", fmt.Sprint(st.Revision))
	add("started", string(st.StartedAt))
	add("paused", string(st.PausedAt))
	add("ended", string(st.CompletedAt))
	for _, id := range r.order {
		add("port", r.ports[id].line())
	}
	for _, line := range r.sessionLines() {
		add("session", line)
	}
	for _, q := range st.Requests {
		if q.Status == run.Open {
			add("escalation", fmt.Sprintf("%s %s: %s", q.ID, st.Escalations[q.ID].Type, r.Path("requests/"+q.ID+"/form.md")))
		}
	}
	for _, id := range r.order {
		for _, f := range r.ports[id].untouched() {
			add("waits for its turn", f)
		}
	}
	a.Graph, a.Parts = r.graph(), r.parts()
	for _, p := range r.ports {
		if isFinal(p.Status) {
			continue
		}
		for _, role := range p.untrusted() {
			argv := p.Workers.of(role)
			a.Untrusted = append(a.Untrusted, engine.Untrusted{Name: TrustName + r.State.ID + "/" + p.id + "/" + role, Digest: CommandDigest(argv), Text: strings.Join(argv, " "), Argv: argv})
		}
	}
	slices.SortFunc(a.Untrusted, func(a, b engine.Untrusted) int { return strings.Compare(a.Name, b.Name) })
	a.Findings = append(a.Findings, r.findings()...)
}

// TrustName begins the name under which trust in a worker's command is asked for and
// remembered.
const TrustName = "pal.worker "

// line is where a port stands, in one line.
func (p *port) line() string {
	words := []string{p.id + ": " + p.words()}
	if p.loop != nil {
		words = append(words, fmt.Sprintf("try %d of %d", p.LastTry-p.loop.FirstTry+1, p.loop.MaxRetries))
	}
	if p.Deadline != "" {
		words = append(words, "until "+string(p.Deadline))
	}
	if p.Reason != "" && (p.Status == Blocked || isFinal(p.Status)) {
		words = append(words, string(p.Reason))
	}
	return strings.Join(words, ", ")
}

// sessionLines are the sessions of the ports that have not ended, in the order of the
// tree, each in one line with its progress.
func (r *view) sessionLines() (list []string) {
	st := &r.State
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
				list = append(list, workerLine(p.worker(s)))
			}
		}
		for _, a := range r.agents {
			if strings.HasPrefix(a.path, portPath(id)+"/") {
				list = append(list, a.path+": "+a.typ+" of an agent")
			}
		}
	}
	return list
}

// workerLine is a worker's session in one line.
func workerLine(one engine.Part) string {
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
			words = append(words, fmt.Sprintf("%d of %d tokens", p.Used, p.Of))
		} else if p.Used > 0 {
			words = append(words, fmt.Sprintf("%d tokens", p.Used))
		}
	}
	return strings.Join(words, ", ")
}

// graph are the ports by level.
func (r *view) graph() (list []engine.Node) {
	nodes := r.nodes()
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

// parts are the ports, each with its workers, and the further sessions of agents.
func (r *view) parts() (list []engine.Part) {
	for _, id := range r.order {
		p := r.ports[id]
		list = append(list, p.part())
		if p.FirstStartedAt == "" {
			continue
		}
		for _, s := range r.State.sessionsOf(id) {
			if s.role != "" {
				list = append(list, p.worker(s))
			}
		}
	}
	for _, a := range r.agents {
		list = append(list, engine.Part{ID: a.path, Status: Running, Facts: []engine.Fact{{Label: "type", Value: a.typ}, {Label: "title", Value: a.title}}, Sections: []engine.Section{}})
	}
	return list
}

func (p *port) part() engine.Part {
	one := engine.Part{ID: p.id, Status: p.Status, Facts: []engine.Fact{}, Sections: []engine.Section{}}
	add := func(label, value string) {
		if value != "" {
			one.Facts = append(one.Facts, engine.Fact{Label: label, Value: value})
		}
	}
	add("title", p.Title)
	add("depends on", joined(p.DependsOn))
	if p.loop != nil {
		add("try", fmt.Sprintf("%d of %d", p.LastTry-p.loop.FirstTry+1, p.loop.MaxRetries))
		add("round", fmt.Sprint(p.Round))
	}
	add("deadline", string(p.Deadline))
	add("blocked by", joined(append(slices.Clone(p.BlockedBy.Escalations), p.BlockedBy.Ports...)))
	add("reason", string(p.Reason))
	for round := 1; round <= p.Round; round++ {
		for _, t := range p.r.State.Loops[loopID(p.id, round)].History {
			add("history", p.tryWords(t))
		}
	}
	return one
}

// worker is a worker's session as a part.
func (p *port) worker(s ownSession) engine.Part {
	one := engine.Part{ID: s.path, Status: p.r.State.Sessions[s.path].Status, Facts: []engine.Fact{}, Sections: []engine.Section{}}
	if sub := substatus(&p.r.State, p.id, s.role); sub != "" {
		one.Facts = append(one.Facts, engine.Fact{Label: "substatus", Value: string(sub)})
	}
	if f := p.r.readProgress(p.progressFile(s.role)); f != nil {
		one.Progress = &engine.Progress{Value: f.Progress, Task: templates.Cut(run.OneLine(f.CurrentTask), 200), Used: f.TokensUsed, Of: p.Limits.TokenBudget}
	}
	return one
}

// findings are what check reports besides: escalations and requests that the state does
// not know.
func (r *view) findings() (list []engine.Finding) {
	for _, d := range r.Snap.Under("escalations") {
		id := strings.TrimSuffix(path.Base(d.Path), ".json")
		if d.Kind == layout.PalEscalation && r.State.Escalations[id] == nil {
			list = append(list, engine.Finding{Severity: "warning", Path: d.Path, Text: "the state knows no escalation of this id: nothing acts on it; remove it"})
		}
	}
	if !isFinal(r.State.Status) && r.sources.got == run.Good {
		list = append(list, engine.Finding{Severity: "info", Path: r.sources.doc.Path, Text: "settings: " + r.settingWords()})
	}
	return list
}
