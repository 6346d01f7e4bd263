package view

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/facade/notify"
	"placet/engine/loop"
	"placet/layout"
	"placet/templates"
)

// RunProblem is a problem note, with its run.
type RunProblem struct {
	Run string `json:"run"`
	Note
}

// Required is something besides an answer that a person must do, with its run.
type Required struct {
	Run string `json:"run"`
	engine.RequiredAction
}

// RequiredIn returns what a person must do in runs besides answering.
func RequiredIn(views []Run) (all []Required) {
	for _, v := range views {
		for _, a := range v.Required {
			all = append(all, Required{v.Key.String(), a})
		}
	}
	return all
}

// InboxProblems returns the problem notes, and the runs that cannot be read.
func InboxProblems(views []Run) []RunProblem {
	var problems []RunProblem
	for _, v := range views {
		for _, n := range LineOf(v).Problems {
			problems = append(problems, RunProblem{v.Key.String(), n})
		}
	}
	return problems
}

// Summary is the workspace as status shows it.
type Summary struct {
	Workspace string                  `json:"workspace"`
	Daemon    bool                    `json:"daemon"`
	Held      string                  `json:"held"`
	Stale     string                  `json:"stale"`
	Blind     workspace.WithoutEvents `json:"blind"`
	Runs      []RunLine               `json:"runs"`
	Final     map[engine.Status]int   `json:"final"`
	Waiting   int                     `json:"waiting"`
	Untrusted []config.UntrustedLine  `json:"untrusted"`
	Misplaced []MisplacedLine         `json:"misplaced"`
	Agents    []AgentProgress         `json:"agents"`
	// Undelivered are notifications of open requests that may not have arrived, if
	// [Undelivered] was called.
	Undelivered []notify.Doubt `json:"undelivered"`
	Views       []Run          `json:"-"`
}

// RunLine is one run in status.
type RunLine struct {
	Run      string        `json:"run"`
	Family   string        `json:"family"`
	Class    string        `json:"class"`
	Short    string        `json:"short"`
	Status   engine.Status `json:"status"`
	Final    bool          `json:"final"`
	Stands   bool          `json:"stands"`
	Since    string        `json:"since"`
	Requests []string      `json:"requests"`
	// References are the names of the requests together with what they show, as approve takes
	// them.
	References []string `json:"references"`
	// Required are the things besides answers that a person must do.
	Required []engine.RequiredAction `json:"required"`
	Where    string                  `json:"where"`
	WaitsFor string                  `json:"waits_for"`
	Problems []Note                  `json:"problems"`
}

// Remember stores what was read for a later placet. all says that found is all runs of the
// workspace.
func Remember(b *workspace.Workspace, found []loop.Found, all bool) {
	if !all || b.Unlisted {
		found = nil
	}
	b.Loop.SaveCache(found)
}

// LookAtRuns views runs; with all also those that have ended.
func LookAtRuns(b *workspace.Workspace, found []loop.Found, all bool) Summary {
	s := Summary{Workspace: b.Root, Daemon: workspace.DaemonRuns(b.Root), Runs: []RunLine{}}
	s.Held, _ = b.Store.Paused()
	s.Stale = b.Store.Stale()
	if s.Blind = workspace.SummarizeFolders(nil); s.Daemon {
		s.Blind = workspace.ReadHealth(b).WithoutEvents
	}
	b.Brief = true
	live, final := Live(b, found)
	s.Final = final
	if all {
		live = found
	}
	for _, v := range Runs(b, live) {
		// Live counts a state that was just written as live until it is read.
		if v.Final && !all && !v.Troubled() {
			s.Final[v.Status]++
			continue
		}
		s.Views = append(s.Views, v)
		s.Waiting += len(v.Open) + len(v.Required)
		s.Runs = append(s.Runs, LineOf(v))
	}
	s.Untrusted = Untrusted(b, s.Views)
	return s
}

// NeedsDaemon reports whether anything waits that nobody moves: no daemon runs, and no process
// waits for the answer.
func (s Summary) NeedsDaemon() bool {
	return !s.Daemon && slices.ContainsFunc(s.Views, func(v Run) bool { return !v.Final && !v.isWaitedFor() })
}

// isWaitedFor reports whether a process waits for the answers to all requests of the run.
func (v Run) isWaitedFor() bool {
	return len(v.Open) > 0 && !slices.ContainsFunc(v.Open, func(a engine.OpenRequest) bool { return !a.Waited })
}

// WaitsForPerson reports whether anything waits for a person: a request, or a command for which a
// run waits.
func (s Summary) WaitsForPerson() bool { return s.Waiting > 0 || len(Stopping(s.Untrusted)) > 0 }

// Open returns all open requests of the runs, oldest first.
func (s Summary) Open() (open []engine.OpenRequest) {
	for _, v := range s.Views {
		open = append(open, v.Open...)
	}
	slices.SortFunc(open, OldestFirst)
	return open
}

// KeepTagged removes all requests but those of asks with one of some tags.
func (s *Summary) KeepTagged(b *workspace.Workspace, tags []string) {
	if len(tags) == 0 {
		return
	}
	s.Waiting = 0
	for i := range s.Views {
		s.Views[i].Open = slices.DeleteFunc(slices.Clone(s.Views[i].Open), func(a engine.OpenRequest) bool {
			x, _, _, _ := ReadExtras(b, s.Views[i].Found, a.Request)
			return !slices.ContainsFunc(x.Tags, func(tag string) bool { return slices.Contains(tags, tag) })
		})
		s.Waiting += len(s.Views[i].Open) + len(s.Views[i].Required)
	}
}

// KeepFamilies removes what concerns families for which keep is false: their settings that wait
// for trust, and their folders without events. It removes nothing if every family is kept.
func (s *Summary) KeepFamilies(b *workspace.Workspace, keep func(family string) bool) {
	if !slices.ContainsFunc(b.FamilyNames(), func(name string) bool { return !keep(name) }) {
		return
	}
	s.Untrusted = slices.DeleteFunc(s.Untrusted, func(l config.UntrustedLine) bool {
		return !keep(l.Family)
	})
	s.Blind.Folders = slices.DeleteFunc(slices.Clone(s.Blind.Folders), func(dir string) bool {
		return !slices.ContainsFunc(b.Families, func(f loop.Family) bool {
			return keep(f.Layout.Name()) && slices.ContainsFunc(f.Layout.Roots(), func(root string) bool { return layout.Under(dir, root) })
		})
	})
}

// LineOf returns a run as lists show it.
func LineOf(v Run) RunLine {
	l := RunLine{
		Run: v.Key.String(), Family: v.Key.Family, Class: v.Class, Short: v.ShortID, Status: v.Status,
		Final: v.Final, Stands: v.Blocked, Since: console.Stamp(v.Since), WaitsFor: v.waitsFor(), Required: v.Required,
	}
	for _, a := range v.Open {
		l.Requests = append(l.Requests, a.Request)
		l.References = append(l.References, Reference(a))
		l.Where = a.Where
	}
	if v.Err != nil {
		l.Status, l.Problems = cmp.Or(l.Status, "unknown"), append(l.Problems, Note{v.Found.Run.State, templates.In(v.lang, v.Err)})
	}
	l.Problems = append(l.Problems, v.Troubles()...)
	return l
}

// WaitsAt says in a few words what a run waits for.
func WaitsAt(v Run) string {
	awaited := console.OneLine(v.waitsBesides())
	switch {
	case v.late:
		return console.Cut(console.OneLine(templates.In(v.lang, v.Err)), 80)
	case v.Err != nil:
		return templates.Phrase(v.lang, "workspace.waits.unreadable", "error", console.Cut(console.OneLine(templates.In(v.lang, v.Err)), 80))
	case len(v.Open) > 0:
		return openAt(v)
	case len(v.Required) > 0:
		return v.andMore(console.Cut(console.OneLine(v.Required[0].Text), shownWait), len(v.Required)-1)
	case (v.Blocked || len(v.Notes) > 0) && awaited == "":
		return templates.Phrase(v.lang, "workspace.waits.note")
	case v.Blocked || len(v.Notes) > 0:
		return templates.Phrase(v.lang, "workspace.waits.note.for", "for", awaited)
	case awaited != "":
		return templates.Phrase(v.lang, "workspace.waits.for", "for", awaited)
	}
	return ""
}

// waitsFor returns what a run waits for, answers included, for readers of JSON.
func (v Run) waitsFor() string {
	if len(v.Open) > 0 {
		return v.andMore(templates.Phrase(v.lang, "workspace.waits.request", "request", v.Open[0].Request), len(v.Open)-1)
	}
	return v.waitsBesides()
}

// waitsBesides returns what a run waits for besides answers, in a few words, "" for nothing.
func (v Run) waitsBesides() string { return v.andMore(v.awaited, v.awaitedToo) }

// shownWait limits the text of one awaited thing, in characters.
const shownWait = 120

// andMore returns a text, with the number of others.
func (v Run) andMore(text string, n int) string {
	if n < 1 {
		return text
	}
	return templates.Phrase(v.lang, "list.more", "all", text, "n", n)
}

// SinceNobodyWaits says since when nobody waits any more for the answer to a request, "" if
// somebody does, or nobody ever did.
func SinceNobodyWaits(lang string, now time.Time, a engine.OpenRequest) string {
	if a.NobodyWaits.IsZero() {
		return ""
	}
	return templates.Phrase(lang, "workspace.waits.nobody", "age", console.Age(lang, now, a.NobodyWaits))
}

func openAt(v Run) string {
	a := v.Open[0]
	text := fmt.Sprintf("%s  %s %s", console.OneLine(a.Where), console.OneLine(a.Type), Reference(a))
	if a.Overdue {
		text += " (" + templates.Phrase(v.lang, "workspace.waits.overdue") + ")"
	}
	if since := SinceNobodyWaits(v.lang, v.now, a); since != "" {
		text += " (" + since + ")"
	}
	if a.Problem != "" {
		text += " (" + templates.Phrase(v.lang, "workspace.waits.unusable") + ")"
	}
	return v.andMore(text, len(v.Open)-1)
}
