package cli

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/nemawashi"
	"placet/engine/reconcile"
	"placet/layout"
	"placet/schemas"
)

// thread is an action in the history.
type thread struct {
	ThreadID  string            `json:"thread_id"`
	ActionID  int               `json:"action_id"`
	Status    engine.Status     `json:"status"`
	Summary   string            `json:"summary"`
	ProjectID schemas.OrNull    `json:"project_id"`
	Severity  schemas.OrNull    `json:"severity"`
	UpdatedAt schemas.OrNull    `json:"updated_at"`
	Events    []nemawashi.Event `json:"events"`
}

// How much of an action the history shows.
const (
	shownDraft  = 160 // characters
	shownEvents = 100
)

func historyVerb() verb {
	var status, project string
	limit := 50
	return verb{
		use: "history", short: "List actions, the one that moved last first",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&status, "status", "", "those of a status")
			f.StringVar(&project, "project", "", "those of a project")
			f.IntVar(&limit, "limit", limit, "how many at most, 1 to 500")
		},
		look: func(c call, b *workspace.Workspace) error {
			if limit < 1 || limit > 500 {
				return console.Usage("--limit takes 1 to 500, not %d", limit)
			}
			list := threads(b, func(st nemawashi.State) bool {
				return (status == "" || string(st.Status) == status) && (project == "" || string(st.ProjectID) == project)
			})
			list = list[:min(len(list), limit)]
			return b.Env.Answer(list, func() {
				t := &console.Table{}
				for _, a := range list {
					t.Add(console.OneLine(a.ThreadID), string(a.Status), console.OneLine(string(a.UpdatedAt)), console.OneLine(string(a.ProjectID)), console.Cut(console.OneLine(a.Summary), shownDraft))
				}
				t.Print(b.Env, b.Env.Out)
			})
		},
	}
}

// threads are the actions that fit, the one that moved last first.
func threads(b *workspace.Workspace, fits func(nemawashi.State) bool) []thread {
	list := []thread{}
	for _, f := range actions(b) {
		st, ok := actionState(b, f)
		if !ok || !fits(st) {
			continue
		}
		events := actionEvents(b, f)
		list = append(list, thread{
			st.ThreadID, st.ActionID, st.Status, actionDraft(b, f, st), st.ProjectID, st.Severity, st.UpdatedAt, events[max(0, len(events)-shownEvents):],
		})
	}
	slices.SortFunc(list, func(x, y thread) int {
		return cmp.Or(-strings.Compare(string(x.UpdatedAt), string(y.UpdatedAt)), -cmp.Compare(x.ActionID, y.ActionID))
	})
	return list
}

func actions(b *workspace.Workspace) []reconcile.Found {
	return slices.DeleteFunc(b.Runs(), func(f reconcile.Found) bool { return f.Run.Family != "nemawashi" })
}

func actionState(b *workspace.Workspace, f reconcile.Found) (nemawashi.State, bool) {
	d := b.ReadDocument(f, "state.json")
	if !d.Present() {
		return nemawashi.State{}, false
	}
	st, err := nemawashi.ReadState("state.json", d.Body)
	return st, err == nil
}

// actionDraft is the beginning of the draft in force.
func actionDraft(b *workspace.Workspace, f reconcile.Found, st nemawashi.State) string {
	text := st.Summary
	if n := len(st.Drafts); n > 0 {
		text = string(b.ReadDocument(f, fmt.Sprintf("drafts/v%d.md", n)).Body)
	}
	if runes := []rune(text); len(runes) > shownDraft {
		text = string(runes[:shownDraft]) + "..."
	}
	return text
}

// actionEvents are the events of an action's audit, oldest first.
func actionEvents(b *workspace.Workspace, f reconcile.Found) []nemawashi.Event {
	list := []nemawashi.Event{}
	journal, _ := f.Family.Layout.File(f.Run, "events.jsonl")
	journal.End, journal.Limit = 0, layout.LimitState // all of it
	for line := range strings.Lines(string(b.Settled(path.Join(f.Run.Dir, "events.jsonl"), journal).Body)) {
		var e nemawashi.Event
		if schemas.Decode("nemawashi/event", "events.jsonl", []byte(line), &e) == nil && !e.JournalOnly() {
			list = append(list, e)
		}
	}
	return list
}

func auditVerb() verb {
	return verb{
		use: "audit ACTION", short: "List the events of an action", least: 1, most: 1, complete: completeRuns,
		look: func(c call, b *workspace.Workspace) error {
			f, err := oneAction(b, c.args[0])
			if err != nil {
				return err
			}
			list := actionEvents(b, f)
			return b.Env.Answer(list, func() {
				t := &console.Table{}
				for _, e := range list {
					t.Add(console.OneLine(string(e.CreatedAt)), console.OneLine(e.Type), console.OneLine(e.Actor), console.OneLine(e.CorrelationID), console.Cut(console.OneLine(e.Words()), shownDraft))
				}
				t.Print(b.Env, b.Env.Out)
			})
		},
	}
}

func rowsVerb() verb {
	return verb{
		use: "runs [ACTION]", short: "List what was carried out", most: 1, complete: completeRuns,
		look: func(c call, b *workspace.Workspace) error {
			all := actions(b)
			if len(c.args) > 0 {
				f, err := oneAction(b, c.args[0])
				if err != nil {
					return err
				}
				all = []reconcile.Found{f}
			}
			list := []schemas.Object{}
			for _, f := range all {
				for n := 1; ; n++ {
					d := b.ReadDocument(f, fmt.Sprintf("runs/%d.json", n))
					var row schemas.Object
					if !d.Present() || schemas.Decode("nemawashi/run", d.Path, d.Body, &row) != nil {
						break
					}
					list = append(list, row)
				}
			}
			return b.Env.Answer(list, func() {
				t := &console.Table{}
				for _, row := range list {
					var cells []string
					for _, name := range []string{"run_id", "executed_at", "action_type", "provider", "status", "error"} {
						text, _ := row.Raw(name).Text()
						cells = append(cells, console.Cut(console.OneLine(text), shownDraft))
					}
					t.Add(cells...)
				}
				t.Print(b.Env, b.Env.Out)
			})
		},
	}
}
