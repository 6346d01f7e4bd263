package web

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/engine"
	"placet/engine/facade"
	"placet/engine/loop"
	"placet/layout"
	"placet/schemas"
)

// Attach makes a loop report its commits and the progress of workers to the app, and keep what
// calls have read of runs.
func (a *App) Attach(o *loop.Options) {
	o.Viewed = true
	o.Observers = append(o.Observers, loop.Observer{
		Committed: func(run layout.Run, plan engine.Plan, _ time.Duration) { a.committed(run, plan) },
		Progressed: func(run layout.Run, path string, p engine.Progress) {
			a.events.Publish(progressEvent(run, path, p, time.Now()))
		},
	})
}

// progressEnvelope is the progress of a worker on the stream, in the envelope of the family's
// other events.
type progressEnvelope struct {
	Type      string       `json:"type"`
	Upstream  string       `json:"upstream"`
	Timestamp string       `json:"timestamp"`
	SessionID string       `json:"session_id"`
	PortID    string       `json:"port_id"`
	Data      progressData `json:"data"`
	Family    string       `json:"family"`
	Run       string       `json:"run"`
}

type progressData struct {
	SessionID string  `json:"session_id"`
	PortID    string  `json:"port_id"`
	Progress  float64 `json:"progress"`
	Task      string  `json:"current_task"`
	Used      int     `json:"tokens_used"`
}

// progressName is the name of a worker's progress on the stream, and progressAlias its name on
// upstream's stream.
const progressName, progressAlias = "worker.progress", "worker:progress"

// progressEvent returns the event of a worker's progress. It has no id, because it is not
// repeated: the view of the run has the last one.
func progressEvent(run layout.Run, path string, p engine.Progress, now time.Time) facade.Event {
	key := engine.Key{Family: run.Family, ID: run.ID}.String()
	session, port := view.SessionOf(run, path)
	return facade.Event{
		Name: progressName, Aliases: []string{progressAlias, progressName + "." + session, progressAlias + "." + session},
		Family: run.Family, Run: key, Session: session,
		Data: progressEnvelope{
			progressName, progressAlias, now.UTC().Format(time.RFC3339Nano), session, port,
			progressData{session, port, p.Value, console.Cut(console.OneLine(p.Task), shownTask), p.Used}, run.Family, key,
		},
	}
}

// shownTask limits the text about a worker's task, in characters.
const shownTask = 200

// committed passes what a commit has written to its waiters, and publishes its events.
func (a *App) committed(run layout.Run, plan engine.Plan) {
	a.waiters.notify(run, plan.Writes)
	a.events.Publish(eventsOf(run, plan, time.Now(), func(rel string) engine.Document { return a.document(run, rel) })...)
}

// transitionData is a transition on the stream.
type transitionData struct {
	Type      string        `json:"type"`
	Timestamp string        `json:"timestamp"`
	Family    string        `json:"family"`
	Run       string        `json:"run"`
	Revision  int           `json:"revision"`
	Edge      string        `json:"edge"`
	Of        string        `json:"of"`
	Subject   string        `json:"subject"`
	From      engine.Status `json:"from"`
	To        engine.Status `json:"to"`
	Actor     string        `json:"actor"`
	Reason    string        `json:"reason"`
}

// requestData is the change of a request on the stream.
type requestData struct {
	Type      string `json:"type"`
	Timestamp string `json:"timestamp"`
	Run       string `json:"run"`
	RequestID string `json:"request_id"`
	State     string `json:"state"` // opened, closed, problem, resolved or void
}

// eventsOf returns the events of a commit: its transitions, its events in the family's journal,
// and the changes of requests. Those of a commit with a transition are numbered. A note without
// a transition has no id: it is not written again, so nobody can ask for the events after it.
func eventsOf(run layout.Run, plan engine.Plan, now time.Time, read func(rel string) engine.Document) (events []facade.Event) {
	key := engine.Key{Family: run.Family, ID: run.ID}.String()
	at, revision, mark := now.UTC().Format(time.RFC3339Nano), revisionOf(run, plan), markOf(run, plan)
	add := func(name, mark string, data any) {
		e := facade.Event{Name: name, Family: run.Family, Run: key, Data: data}
		if mark != "" {
			e.ID = fmt.Sprintf("%s@%s.%d", key, mark, len(events)+1)
		}
		events = append(events, e)
	}
	for _, t := range plan.Transitions {
		add("transition", mark, transitionData{
			"transition", at, run.Family, key, revision, t.Event, t.Of, console.OneLine(t.Subject), t.From, t.To, console.OneLine(t.Actor), console.OneLine(t.Reason),
		})
	}
	for _, own := range view.EventsOf(run, plan, read) {
		add(own.Name, mark, own.Data)
		one := &events[len(events)-1]
		if one.Session = own.Session; own.Alias != "" {
			one.Aliases = []string{own.Alias}
		}
		if own.ID != "" {
			one.ID = key + "@" + own.ID
		}
	}
	for _, d := range plan.Writes {
		switch id, state := becameOf(run, d.Path); {
		case (state == "problem" || state == "void") && len(plan.Transitions) == 0:
			add("request", "", requestData{"request", at, key, id, state})
		case state != "":
			add("request", mark, requestData{"request", at, key, id, state})
		}
	}
	for _, removed := range plan.Removes {
		if id, state := becameOf(run, removed); state == "problem" && len(plan.Transitions) == 0 {
			add("request", "", requestData{"request", at, key, id, "resolved"})
		}
	}
	return events
}

// document returns a document of a run as it is now, by its path in the run's folder.
func (a *App) document(run layout.Run, rel string) engine.Document {
	if a.b == nil {
		return engine.Document{Path: rel, Err: engine.ErrAbsent}
	}
	for _, f := range a.b.Families {
		if f.Layout.Name() == run.Family {
			return a.b.ReadDocument(loop.Found{Run: run, Family: f}, rel)
		}
	}
	return engine.Document{Path: rel, Err: engine.ErrAbsent}
}

// becameOf returns what a written file says of a request: that it was opened or closed, that it
// has an answer that cannot be used, or answers that are void.
func becameOf(run layout.Run, file string) (id, state string) {
	dir, name := path.Split(file)
	id = path.Base(dir)
	if file != layout.RequestPath(run.Dir, id, name) {
		return "", ""
	}
	return id, map[string]string{"request.json": "opened", "receipt.json": "closed", "problem.md": "problem", layout.VoidFile: "void"}[name]
}

// revisionOf returns the revision that a commit made, 0 if the family counts none.
func revisionOf(run layout.Run, plan engine.Plan) (revision int) {
	for _, l := range plan.Lines {
		revision = max(revision, l.Revision)
	}
	if d := stateWritten(run, plan); d != nil && revision == 0 {
		var state struct {
			Revision int `json:"revision"`
		}
		_ = schemas.Decode("", d.Path, d.Body, &state) // the dialects of others count none
		revision = state.Revision
	}
	return revision
}

// markOf returns a mark that distinguishes a commit from every other one of its run: its
// revision, "" for a commit without a transition. For FABER it may be the digest of what the
// commit writes, because FABER's documents need not count revisions, and its requests open
// without a transition.
func markOf(run layout.Run, plan engine.Plan) string {
	if r := revisionOf(run, plan); r > 0 && len(plan.Transitions) > 0 {
		return fmt.Sprint(r)
	}
	if run.Family != "faber" {
		return ""
	}
	var sums strings.Builder
	for _, d := range plan.Writes {
		fmt.Fprintf(&sums, "%s %s\n", d.Path, engine.Sum(d.Body))
	}
	return engine.Sum([]byte(sums.String())).Hex()[:12]
}

// stateWritten returns the state document of a plan, nil if it writes none.
func stateWritten(run layout.Run, plan engine.Plan) *engine.Document {
	i := slices.IndexFunc(plan.Writes, func(d engine.Document) bool { return d.Path == run.State })
	if i < 0 {
		return nil
	}
	return &plan.Writes[i]
}

// waiters wait for documents that the commits of runs will write.
type waiters struct {
	mu  sync.Mutex
	all map[string][]*waiter // by the run's folder
}

// waiter waits for those documents of a run that wants accepts.
type waiter struct {
	dir   string
	wants func(engine.Document) bool
	come  chan engine.Document
}

// add starts to wait. It must be called before the awaited document can be written.
func (w *waiters) add(run layout.Run, wants func(engine.Document) bool) *waiter {
	one := &waiter{run.Dir, wants, make(chan engine.Document, 8)}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = map[string][]*waiter{}
	}
	w.all[one.dir] = append(w.all[one.dir], one)
	return one
}

func (w *waiters) remove(one *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	left := slices.DeleteFunc(w.all[one.dir], func(o *waiter) bool { return o == one })
	if w.all[one.dir] = left; len(left) == 0 {
		delete(w.all, one.dir)
	}
}

// notify sends the documents of a run to its waiters. A waiter with eight unread documents gets
// no more.
func (w *waiters) notify(run layout.Run, docs []engine.Document) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.all[run.Dir] {
		for _, d := range docs {
			if !one.wants(d) {
				continue
			}
			select {
			case one.come <- d:
			default:
			}
		}
	}
}
