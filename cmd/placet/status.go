package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"placet/engine"
	"placet/engine/reconcile"
)

func statusCommand(w *world) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "status [RUN]", Short: "Where every run stands",
		Long: `Where every run stands: its class, its status, since when, and what it waits
for. Runs that ended are counted; --all lists them too.`,
		Args: takes(0, 1), GroupID: groupRun, ValidArgsFunction: completeRuns(w),
		RunE: func(_ *cobra.Command, args []string) error {
			b, err := w.look()
			if err != nil {
				return err
			}
			return b.status(args, all)
		},
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "list the runs that ended, too")
	return cmd
}

// state is the workspace as status shows it.
type state struct {
	Workspace string                `json:"workspace"`
	Daemon    bool                  `json:"daemon"`
	Held      string                `json:"held"`
	Stale     string                `json:"stale"`
	Blind     blindness             `json:"blind"`
	Runs      []runLine             `json:"runs"`
	Final     map[engine.Status]int `json:"final"`
	Waiting   int                   `json:"waiting"`
	Untrusted []untrustedLine       `json:"untrusted"`
	Misplaced []misplacedLine       `json:"misplaced"`
	views     []view
}

// runLine is one run in status.
type runLine struct {
	Run      string        `json:"run"`
	Family   string        `json:"family"`
	Class    string        `json:"class"`
	Short    string        `json:"short"`
	Status   engine.Status `json:"status"`
	Final    bool          `json:"final"`
	Stands   bool          `json:"stands"`
	Since    string        `json:"since"`
	Requests []string      `json:"requests"`
	// References are the requests with their short digests, as approve takes them.
	References []string   `json:"references"`
	Where      string     `json:"where"`
	WaitsFor   string     `json:"waits_for"`
	Problems   []noteLine `json:"problems"`
}

// noteLine is a problem note, or what else is wrong with a run.
type noteLine struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// status shows the runs and ends with the exit code that they call for.
func (b *bench) status(args []string, all bool) error {
	found, err := b.chosen(args)
	if err != nil {
		return err
	}
	s := b.state(found, all || len(args) > 0)
	if s.Misplaced = []misplacedLine{}; len(args) == 0 {
		s.Misplaced = noRuns(b.misplaced())
	}
	if err := b.w.answer(s, func() { b.printStatus(s) }); err != nil {
		return err
	}
	b.remember(found, len(args) == 0)
	return b.outcome(s)
}

// remember has a later placet recall what was seen. all says that these are all
// runs of the workspace.
func (b *bench) remember(found []reconcile.Found, all bool) {
	if !all || b.unlisted {
		found = nil
	}
	b.loop.SaveRecall(found)
}

// outcome is the exit code that the state calls for.
func (b *bench) outcome(s state) error {
	return outcome(b.unlisted || slices.ContainsFunc(s.views, view.troubled), s.Waiting > 0)
}

// state looks at runs; those that ended only where all are wanted.
func (b *bench) state(found []reconcile.Found, all bool) state {
	s := state{Workspace: b.root, Daemon: daemonRuns(b.root), Runs: []runLine{}}
	s.Held, _ = b.store.Hold()
	s.Stale = b.store.Stale()
	if s.Blind = blindnessOf(nil); s.Daemon {
		s.Blind = b.health().blindness
	}
	b.brief = true
	live, final := b.live(found)
	s.Final = final
	if all {
		live = found
	}
	for _, v := range b.views(live) {
		// A state that was just written is taken as live until it is looked at.
		if v.Final && !all && !v.troubled() {
			s.Final[v.Status]++
			continue
		}
		s.views = append(s.views, v)
		s.Waiting += len(v.Open)
		s.Runs = append(s.Runs, lineOf(v))
	}
	s.Untrusted = b.untrusted(s.views)
	return s
}

func lineOf(v view) runLine {
	l := runLine{
		Run: v.Key.String(), Family: v.Key.Family, Class: v.Class, Short: v.Short, Status: v.Status,
		Final: v.Final, Stands: v.Stands, Since: stamp(v.since), WaitsFor: v.waitsFor(), Requests: []string{}, References: []string{}, Problems: []noteLine{},
	}
	for _, a := range v.Open {
		l.Requests = append(l.Requests, a.Request)
		l.References = append(l.References, reference(a))
		l.Where = a.Where
	}
	if v.err != nil {
		l.Status, l.Problems = cmp.Or(l.Status, "unknown"), append(l.Problems, noteLine{v.found.Run.State, v.err.Error()})
	}
	for _, n := range slices.Concat(v.notes, v.urgent()) {
		l.Problems = append(l.Problems, noteLine(n))
	}
	return l
}

// stamp is a moment in JSON, "" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func (b *bench) printStatus(s state) {
	w := b.w
	if len(s.Runs) > 0 {
		t := &table{}
		t.style([]string{faint, faint, faint, faint, faint}, "RUN", "CLASS", "STATUS", "SINCE", "WAITS AT")
		for i, l := range s.Runs {
			t.style([]string{strong, "", statusStyle(s.views[i]), faint},
				brief(s.views[i].Key), line(l.Class), line(string(l.Status)), age(w.now(), s.views[i].since), waitsAt(s.views[i]))
		}
		t.print(w, w.out)
		b.printProblems(s.views)
	}
	for _, m := range s.Misplaced {
		w.say("%s %s: looks like a run and is none: %s", w.paint(waiting, "!"), line(m.Path), line(m.Why))
	}
	w.say("%s", tally(s))
	b.printState(s)
}

// waitsAt says in a few words what a run waits for.
func waitsAt(v view) string {
	switch {
	case v.late:
		return cut(line(v.err.Error()), 80)
	case v.err != nil:
		return "cannot be read: " + cut(line(v.err.Error()), 80)
	case len(v.Open) > 0:
		return openAt(v)
	case v.Stands || len(v.notes) > 0:
		return "a problem note stands" + suffix(", waits for ", line(v.waits))
	case v.waits != "":
		return "waits for " + line(v.waits)
	}
	return ""
}

// waitsFor is what a run waits for, be it an answer: for who reads JSON.
func (v view) waitsFor() string {
	if len(v.Open) > 0 {
		return "request " + v.Open[0].Request + " (person)" + andMore(len(v.Open)-1)
	}
	return v.waits
}

// awaited is what a run waits for besides answers, in a few words, "" for nothing.
func awaited(waits []string) string {
	if len(waits) == 0 {
		return ""
	}
	return cut(waits[0], shownWait) + andMore(len(waits)-1)
}

// shownWait is how much of one thing that is awaited is shown, in characters.
const shownWait = 120

// andMore says that there are so many more, "" for none.
func andMore(n int) string {
	if n < 1 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

func openAt(v view) string {
	a := v.Open[0]
	text := fmt.Sprintf("%s  %s %s", line(a.Where), line(a.Type), reference(a))
	if a.Overdue {
		text += " (overdue)"
	}
	if a.Problem != "" {
		text += " (its answer cannot be used)"
	}
	return text + andMore(len(v.Open)-1)
}

func statusStyle(v view) string {
	switch {
	case v.troubled():
		return alarm
	case len(v.Open) > 0:
		return waiting
	case v.Final:
		return faint
	}
	return ""
}

// printProblems shows what is wrong, one line for each note, after the table.
func (b *bench) printProblems(views []view) {
	for _, v := range views {
		for _, n := range slices.Concat(v.notes, v.urgent()) {
			b.w.say("%s %s: %s", b.w.paint(alarm, "!"), line(n.Path), cut(line(n.Text), 200))
		}
	}
}

// tally counts the runs in one line.
func tally(s state) string {
	if len(s.Runs) == 0 && len(s.Final) == 0 {
		return "no runs in " + line(s.Workspace)
	}
	var parts []string
	for _, status := range sortedStatuses(s.Final) {
		parts = append(parts, fmt.Sprintf("%d %s", s.Final[status], line(string(status))))
	}
	text := many(len(s.Runs), "run", "runs")
	if len(parts) > 0 {
		text += ", ended: " + strings.Join(parts, ", ")
	}
	if s.Waiting > 0 {
		text += fmt.Sprintf("; %s open: placet inbox", many(s.Waiting, "request", "requests"))
	}
	return text
}

func sortedStatuses(m map[engine.Status]int) []engine.Status {
	var all []engine.Status
	for s := range m {
		all = append(all, s)
	}
	slices.Sort(all)
	return all
}

// printState says on stderr what concerns the workspace as a whole.
func (b *bench) printState(s state) {
	if !s.Daemon {
		b.w.note("no daemon runs here: nothing moves until `placet watch` or `placet once`")
	}
	if name := remoteName(b.root); name != "" {
		b.w.note("%s: %s", name, noEvents)
	}
	b.noteBlind(s.Blind)
	if s.Held != "" {
		b.w.note("nothing is decided at the moment: %s", s.Held)
	}
	if s.Stale != "" {
		b.w.note("%s", s.Stale)
	}
	b.noteUntrusted(s.Untrusted)
}

// fewUntrusted is how many things that wait for trust are named.
const fewUntrusted = 5

// noteUntrusted says that something waits for trust, or that nothing can be trusted.
func (b *bench) noteUntrusted(waiting []untrustedLine) {
	b.noteUntrustable()
	for i, u := range waiting {
		if i == fewUntrusted {
			b.w.note("%d more wait for trust: see `placet trust`", len(waiting)-i)
			break
		}
		switch {
		case u.Name == gatesKey[0]:
			b.w.note("%s", gatesWait)
			continue
		case u.tighter:
			b.w.note("%s", tighterWaits(line(u.Name)))
			continue
		}
		b.w.note("%s waits for trust and does not count: see `placet trust`", line(u.Name))
	}
}
