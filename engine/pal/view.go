package pal

import (
	"cmp"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/graph"
	"placet/engine/run"
	"placet/engine/run/post"
	"placet/layout"
)

// view is an orchestration, with everything it reads besides its state.
type view struct {
	run     *run.Run[State, *view]
	sources sources
	control run.Control

	order  []string // the ports ordered by order and id
	ports  map[string]*port
	slot   []*port // the running ports
	filed  []filed
	cutOff map[string]bool
	agents []agentSession
}

// Machine is the family of orchestrations.
type Machine struct{ *kernel }

type kernel = run.Family[State, *view]

// New returns the machine.
func New() Machine { return Machine{&family} }

var family = kernel{
	Layout: layout.Pal{},
	Format: format,
	Stamp:  run.Seconds,
	Anew:   "pal.anew",
	Parts:  parts, Read: read, Rules: rules, Final: isFinal, New: "new", Questions: questions,
	Outputs: outputs, Entry: entry, Notes: notes, Needs: needs, Watch: watch, Thresholds: thresholds, Progress: progressOf,
	Posts:  func(r *view, w *run.Outputs) { post.Plan(r.run, w, post.Said{}) },
	Keeps:  func(*view, string) bool { return false },
	Absent: absent, Explain: explain, Tell: tell, Fabrications: fabrications,
}

// Parts of an orchestration.
const (
	ofRun        = "run"
	ofPort       = "port"
	ofLoop       = "loop"
	ofEscalation = "escalation"
)

// parts are what moves besides the run. Rules of ports and loops apply to each port; those of
// escalations apply to each port and, with the subject "", to the run.
var parts = []run.Parts[State, *view]{
	{
		Of: ofPort, All: func(r *view) []string { return r.order }, Enter: enterPort,
		Status: func(r *view, on run.On) engine.Status {
			if p := r.run.State.Ports[on.Subject]; p != nil {
				return p.Status
			}
			return ""
		},
	},
	{
		Of: ofLoop, All: func(r *view) []string { return r.order },
		Status: func(r *view, on run.On) engine.Status {
			if l := r.run.State.loop(on.Subject); l != nil {
				return l.Status
			}
			return ""
		},
	},
	{
		Of: ofEscalation, All: func(r *view) []string { return append([]string{""}, r.order...) },
		Status: func(r *view, on run.On) engine.Status {
			if on.Answer == nil {
				return "" // an escalation that is being opened
			}
			if e := r.run.State.Escalations[on.Answer.Request.ID]; e != nil {
				return e.Status
			}
			return ""
		},
	},
}

func enterPort(c *change, id string, to engine.Status) {
	if p := c.State.Ports[id]; p != nil {
		p.Status = to
	}
}

// port is a port, with the documents submitted for it.
type port struct {
	*Port
	r    *view
	id   string
	loop *Loop
	try  *handIns
}

const (
	controlFile       = "control.json"
	orchestrationFile = "orchestration.json"
)

func read(k *run.Run[State, *view]) *view {
	r := &view{run: k, ports: map[string]*port{}}
	if r.run.Begun || r.run.Usable() {
		indexPorts(r) // people see the ports even if the journal does not account for the state
	}
	if !r.run.Usable() {
		return r
	}
	if r.run.Begun && isFinal(r.run.State.Status) {
		return r
	}
	r.sources = readSources(&r.run.Input, r.conf(), r.run.Begun && r.run.State.Status != Pending)
	r.control = *cmp.Or(run.ReadWish[run.Control](&r.run.Input, r.run.Snap.In(controlFile), "pal/control"), &run.Control{})
	if r.run.Begun {
		readAgents(r)
		readFiled(r)
	}
	return r
}

// indexPorts fills in the ports and their order.
func indexPorts(r *view) {
	r.order = r.run.State.order()
	for _, id := range r.order {
		p := &port{Port: r.run.State.Ports[id], r: r, id: id, loop: r.run.State.loop(id)}
		if r.ports[id] = p; p.Status == Running {
			r.slot = append(r.slot, p)
		}
	}
	r.cutOff = cutOffIn(&r.run.State)
}

// nodesOf returns the ports of a state as a graph.
func nodesOf(st *State) (list []graph.Node) {
	for _, id := range st.order() {
		list = append(list, graph.Node{ID: id, After: st.Ports[id].DependsOn})
	}
	return list
}

// conf returns the settings.
func (r *view) conf() Config { return run.Config(r.run.Snap, DefaultConfig) }

// running returns the ports that have a slot.
func (r *view) running() []*port { return r.slot }

// slots returns how many ports may run at once.
func (r *view) slots() int {
	if !r.run.State.Settings.Parallel {
		return 1
	}
	return r.run.State.Settings.MaxConcurrency
}

// needs returns the files outside the run's folder that it reads: its sources, and the progress of
// sessions whose port runs or may run again.
func needs(r *view) []string {
	if r.run.Begun && isFinal(r.run.State.Status) {
		return nil
	}
	list := slices.Clone(r.sources.needs)
	if !r.run.Begun || !r.isMoving() {
		return list
	}
	for _, file := range progressFiles(r) {
		list = append(list, engine.VolatileNeed+r.run.Path(file))
	}
	return list
}

// thresholds returns the numbers of tokens at which placet tells a person about the workers that
// the run waits for.
func thresholds(r *view) (list []engine.Threshold) {
	if !r.run.Begun || !r.isMoving() {
		return nil
	}
	for _, p := range r.running() {
		if role := p.loop.role(); role != "" && p.Limits.TokenBudget > 0 && r.mayOpen(aboutTokens(p, role)) {
			list = append(list, engine.Threshold{Path: r.run.Path(p.progressFile(role)), AtLeast: p.tokenThreshold(role)})
		}
	}
	return list
}

// mostAgents is how many sessions of agents are followed, so that they do not use up the watches.
const mostAgents = 16

// watch returns the folders in which others write files that move the run.
func watch(r *view) []string {
	if r.run.Begun && isFinal(r.run.State.Status) {
		return nil
	}
	dirs := []string{r.run.Snap.Dir}
	if !r.run.Begun {
		return dirs
	}
	dirs = append(dirs, r.run.Path("sessions/build"))
	for _, p := range r.running() {
		dir := layout.PalPortDir(p.id)
		dirs = append(dirs, r.run.Path(dir), r.run.Path(layout.PalMember(p.id, roleImpl)), r.run.Path(layout.PalMember(p.id, roleTest)), r.run.Path("channels/"+p.id+"/messages"))
	}
	return append(dirs, agentDirs(r)...)
}

// agentDirs returns the folders of the first further sessions of agents whose ports run.
func agentDirs(r *view) (dirs []string) {
	for _, a := range r.agents {
		if r.ports[strings.Split(a.path, "/")[1]].Status == Running && len(dirs) < mostAgents {
			dirs = append(dirs, r.run.Path("sessions/"+a.path))
		}
	}
	return dirs
}

// absent reports whether the folder is no orchestration, and says so in the view.
func absent(r *view, a *engine.RunView) bool {
	if !r.run.Snap.In(orchestrationFile).Absent() {
		return false
	}
	a.Why = []string{r.say("why.absent", "file", orchestrationFile)}
	a.Unblock = []engine.UnblockingFile{{Path: r.run.Path(orchestrationFile), Content: r.say("unblock.orchestration")}}
	return true
}

// joined lists ids on one line.
func joined(ids []string) string { return strings.Join(ids, ", ") }
