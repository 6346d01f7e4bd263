package announce

import (
	"slices"
	"strings"

	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine/facade"
	"placet/engine/facade/notify"
	"placet/engine/loop"
	"placet/templates"
)

// A run that waits for trust in a command waits for a person like one that asks, although there is
// no request: placet trust answers.

// typeTrust is the type of what waits for trust, by which [notify] on chooses.
const typeTrust = "trust"

// stops returns the commands for which runs wait.
func (a *Announcer) stops(v *workspace.Workspace, runs []view.Run) (all []notify.Request) {
	for _, r := range runs {
		for _, l := range stopsOf(v, r) {
			all = append(all, a.stop(r.Found, l))
		}
	}
	return all
}

func stopsOf(v *workspace.Workspace, r view.Run) []view.Stop {
	return view.Stopping(view.Untrusted(v, []view.Run{r}))
}

// stop returns a command for which a run waits. Its name ends with what would be agreed to, so that
// people are notified anew once that is another thing.
func (a *Announcer) stop(f loop.Found, l view.Stop) notify.Request {
	find := func() (*workspace.Workspace, view.Run, bool) {
		v := a.b.Viewer(facade.Identity{})
		r := view.Of(v, f)
		return v, r, slices.ContainsFunc(stopsOf(v, r), func(now view.Stop) bool { return now.Digest == l.Digest && now.Name == l.Name })
	}
	return notify.Request{
		ID: f.Key().String() + ":" + typeTrust + "-" + l.Digest.Hex()[:12],
		Look: func() (notify.Facts, bool) {
			v, r, waits := find()
			at := r.Since
			if at.IsZero() {
				at = v.Env.Now()
			}
			return notify.Facts{Family: f.Run.Family, Type: typeTrust, At: at}, waits
		},
		Say: func(rung string) (notify.Message, bool) {
			v, r, waits := find()
			run := r.Key.String()
			title := templates.Phrase(v.Language, "notify.trust", "run", run, "name", l.Name)
			lines := []string{
				console.Cut(console.OneLine(l.Text), partLength),
				console.Cut(templates.Phrase(v.Language, "notify.trust.answer", "command", "placet trust"), partLength),
			}
			return notify.Message{
				Title: console.Cut(console.OneLine(title), titleLength), Text: strings.Join(lines, "\n"), Request: run + ":" + typeTrust, Run: run, Rung: rung,
			}, waits
		},
	}
}
