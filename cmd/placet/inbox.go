package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"placet/engine"
	"placet/engine/reconcile"
	"placet/templates"
)

func inboxCommand(w *world) *cobra.Command {
	var short bool
	cmd := &cobra.Command{
		Use: "inbox [RUN|FAMILY]", Short: "What is asked of you, oldest first",
		Long: `What is asked of you, oldest first: of which run and step, in one line, with the
form to edit and the commands that answer. Also what else needs a person:
problem notes, and commands that wait for trust. With the name of a run, or of a
family, what is asked there alone. --short shows each request in one line.`,
		Args: takes(0, 1), GroupID: groupDecide, ValidArgsFunction: completeRuns(w),
		RunE: func(_ *cobra.Command, args []string) error {
			b, err := w.look()
			if err != nil {
				return err
			}
			return b.inbox(args, short)
		},
	}
	cmd.Flags().BoolVar(&short, "short", false, "one line for each request")
	return cmd
}

// inboxData is the inbox as JSON: every request with all that it asks.
type inboxData struct {
	Workspace string          `json:"workspace"`
	Daemon    bool            `json:"daemon"`
	Held      string          `json:"held"`
	Requests  []requestLine   `json:"requests"`
	Problems  []runProblem    `json:"problems"`
	Untrusted []untrustedLine `json:"untrusted"`
}

// requestLine is an open request with all that it asks.
type requestLine struct {
	RequestID string `json:"request_id"`
	// Reference is what approve, reject and respond take: id and short digest.
	Reference       string        `json:"reference"`
	Run             string        `json:"run"`
	Family          string        `json:"family"`
	Type            string        `json:"type"`
	Where           string        `json:"where"`
	Prompt          string        `json:"prompt"`
	Summary         string        `json:"summary"`
	Options         []optionLine  `json:"options"`
	FreeText        bool          `json:"free_text"`
	Multiple        bool          `json:"multiple"`
	CommentRequired []string      `json:"comment_required"`
	Several         []string      `json:"several"`
	Items           []itemLine    `json:"items"`
	DefaultOption   string        `json:"default_option"`
	Level           string        `json:"level"`
	Approvers       []string      `json:"approvers"`
	GatesWait       bool          `json:"gates_wait"`
	Artifacts       []string      `json:"artifacts"`
	Form            string        `json:"form"`
	Response        string        `json:"response"`
	Digest          engine.Digest `json:"digest"`
	RequestedAt     string        `json:"requested_at"`
	Deadline        string        `json:"deadline"`
	Overdue         bool          `json:"overdue"`
	Problem         string        `json:"problem"`
	Answer          *answerLine   `json:"answer"`
}

type optionLine struct {
	ID          string `json:"id"`
	Description string `json:"description"`
	Effect      string `json:"effect"`
}

type itemLine struct {
	ID    string `json:"id"`
	Label string `json:"label"`
}

// runProblem is a problem note with the run that it stands in.
type runProblem struct {
	Run string `json:"run"`
	noteLine
}

// gateOf is the gate of an open request.
func (b *bench) gateOf(a engine.Asked) engine.Gate {
	return b.facts(a.Run.Family).Config.GateFor(a.Run.Family, a.Type)
}

func (b *bench) requestData(a engine.Asked) requestLine {
	gate := b.gateOf(a)
	l := requestLine{
		Level: gate.Level, Approvers: append([]string{}, gate.Approvers...), GatesWait: gate.Waits,
		RequestID: a.Request, Reference: reference(a), Run: a.Run.String(), Family: a.Run.Family, Type: a.Type, Where: a.Where,
		Prompt: a.Prompt, Summary: a.Summary, Options: []optionLine{}, Items: []itemLine{}, DefaultOption: a.Default, FreeText: a.FreeText, Multiple: a.Multiple,
		CommentRequired: append([]string{}, a.CommentRequired...), Several: append([]string{}, a.Several...), Artifacts: append([]string{}, a.Artifacts...),
		Form: a.Form, Response: a.Response, Digest: a.Digest, RequestedAt: stamp(a.RequestedAt),
		Deadline: stamp(a.Deadline), Overdue: a.Overdue, Problem: a.Problem, Answer: b.inPlace(a),
	}
	for _, o := range a.Options {
		l.Options = append(l.Options, optionLine{o.ID, o.Description, o.Effect})
	}
	for _, it := range a.Items {
		l.Items = append(l.Items, itemLine(it))
	}
	return l
}

func (b *bench) inbox(args []string, short bool) error {
	found, rest, err := b.narrowed(args)
	if err != nil {
		return err
	}
	s := b.state(found, false)
	var open []engine.Asked
	for _, v := range s.views {
		open = append(open, v.Open...)
	}
	slices.SortFunc(open, oldestFirst)
	data := inboxData{
		Workspace: b.root, Daemon: s.Daemon, Held: s.Held,
		Requests: []requestLine{}, Problems: inboxProblems(s.views), Untrusted: s.Untrusted,
	}
	for _, a := range open {
		data.Requests = append(data.Requests, b.requestData(a))
	}
	show := func(open []engine.Asked) { b.printWhole(open, rest) }
	if short {
		show = b.printShort
	}
	if err := b.w.answer(data, func() {
		show(open)
		if len(open) == 0 {
			b.w.say("nothing is asked%s", suffix(" of ", line(first(args))))
		}
		b.printInbox(data, s)
	}); err != nil {
		return err
	}
	b.remember(found, len(args) == 0)
	return b.outcome(s)
}

// inboxProblems are the problem notes, and the runs that cannot be read.
func inboxProblems(views []view) []runProblem {
	problems := []runProblem{}
	for _, v := range views {
		for _, n := range lineOf(v).Problems {
			problems = append(problems, runProblem{v.Key.String(), n})
		}
	}
	return problems
}

// printWhole shows requests with all that it takes to answer them. rest are the
// runs that are left out.
func (b *bench) printWhole(open []engine.Asked, rest []reconcile.Found) {
	uses := b.uses(open, rest)
	for i, a := range open {
		if i > 0 {
			b.w.say("")
		}
		b.printAsked(a, uses[a.Request] > 1)
	}
}

// printInbox shows what needs a person besides requests.
func (b *bench) printInbox(data inboxData, s state) {
	w := b.w
	for _, p := range data.Problems {
		w.say("%s %s  %s", w.paint(alarm, "problem"), line(p.Path), cut(line(p.Text), 200))
	}
	for _, u := range data.Untrusted {
		w.say("%s %s  %s: placet trust", w.paint(alarm, "untrusted"), line(u.Name), cut(line(u.Text), 120))
	}
	s.Untrusted = nil // said above
	b.printState(s)
}

// shownItems is how many of a request's items the inbox shows.
const shownItems = 5

// printAsked shows one request: run, step and question in its first line, then
// where the form is and how to answer.
func (b *bench) printAsked(a engine.Asked, full bool) {
	w := b.w
	w.say("%s %s", w.head(a, ""), question(a))
	if a.Summary != "" {
		w.say("    %s", cut(line(a.Summary), 160))
	}
	for _, artifact := range a.Artifacts {
		w.say("    look at  %s", line(artifact))
	}
	for _, it := range a.Items[:min(len(a.Items), shownItems)] {
		w.say("    select   %s  %s", w.paint(strong, line(it.ID)), cut(line(it.Label), 120))
	}
	if more := len(a.Items) - shownItems; more > 0 {
		w.say("    select   and %d more: %s", more, typed("show", a.Request))
	}
	w.say("    form     %s", line(a.Form))
	g := b.gateOf(a)
	if len(g.Approvers) > 0 {
		w.say("    from     %s  (a name in an answer is a claim: whoever can write the file can write it)", line(strings.Join(g.Approvers, ", ")))
	}
	if g.Waits {
		w.say("    %s     %s", w.paint(alarm, "gate"), gatesWait)
	}
	for i, how := range howToAnswer(a, full) {
		w.say("    %-8s %s", []string{"answer", "or"}[min(i, 1)], strings.TrimSpace(indent(how, "             ")))
	}
	if there := b.inPlace(a); there != nil {
		w.say("    answered %s", there.shown)
	}
	if a.Problem != "" {
		w.say("    %s %s", w.paint(alarm, "problem"), cut(line(a.Problem), 300))
	}
}

// answerLine is an answer that stands in place and is not carried out yet, as JSON.
type answerLine struct {
	Response string `json:"response"`
	User     string `json:"user"`
	Source   string `json:"source"`
	// Claimed says that nothing but the answer itself gives the name.
	Claimed bool `json:"claimed"`
	shown   string
}

// inPlace is the answer that stands in place of an open request, nil where there is
// none that can be used.
func (b *bench) inPlace(a engine.Asked) *answerLine {
	t := target{Asked: a}
	d := b.settled(a.Response, responseFile(a.Request))
	if !d.Present() {
		return nil
	}
	r, err := t.read(d)
	if err != nil || !t.usable(d) {
		return nil
	}
	said, with := t.said(r)
	author := shownAuthor(r, d.Known)
	return &answerLine{
		r.Response, r.ProvidedBy.User, r.ProvidedBy.Source, author != r.ProvidedBy.User,
		fmt.Sprintf("%s%s by %s (%s), not carried out yet", said, with, line(author), line(r.ProvidedBy.Source)),
	}
}

// fewLines is how many lines of a prompt are shown as one.
const fewLines = 4

// question is what a request asks, on one line: of a text of many lines that a summary
// follows, the first.
func question(a engine.Asked) string {
	asked := strings.TrimSpace(a.Prompt)
	if lines := strings.Split(asked, "\n"); len(lines) > fewLines && a.Summary != "" {
		asked = lines[0] + " …"
	}
	return cut(line(asked), 200)
}

// effectMark begins the line below a command that says what it does. It is a line of its
// own: an effect may name what documents say, and a command is copied with its line.
const effectMark = "\n→ "

// howToAnswer lists the commands that answer a request, each with what it does on a
// second line.
func howToAnswer(a engine.Asked, full bool) []string {
	name := reference(a)
	if full {
		name = line(a.Run.String()) + ":" + name
	}
	if a.FreeText {
		return []string{inWords(name)}
	}
	var how []string
	together := false
	for _, o := range a.Options {
		if len(a.Several) > 1 && slices.Contains(a.Several, o.ID) {
			together = true
			continue
		}
		how = append(how, optionCommand(a, o.ID, name)+suffix(effectMark, cut(line(o.Effect), shownAnswer)))
	}
	if together {
		how = append(how, severalCommand(a, name))
	}
	if len(a.Items) > 0 {
		how = append(how, selectCommand(a, name))
	}
	return how
}

// inWords is the command that answers a request in words.
func inWords(name string) string {
	return templates.CommandLine("placet respond", []string{name}, `"…"`)
}

// withComment is the flag that gives a comment.
const withComment = `-m "…"`

// selectCommand picks items, with an option where one must be named.
func selectCommand(a engine.Asked, name string) string {
	ids := make([]string, len(a.Items))
	for i, it := range a.Items {
		ids[i] = line(it.ID)
	}
	args := []string{name}
	if a.Default == "" {
		args = append(args, "OPTION")
	}
	picks := "--select " + templates.ShellWord(strings.Join(ids[:min(len(ids), shownItems)], ","))
	return templates.CommandLine("placet respond", args, picks) + "  (any of them)"
}

// severalCommand chooses several options; one alone is chosen the same way.
func severalCommand(a engine.Asked, name string) string {
	args, flags := []string{name}, []string{}
	for _, id := range a.Several {
		args = append(args, line(id))
	}
	if slices.ContainsFunc(a.Several, func(id string) bool { return slices.Contains(a.CommentRequired, id) }) {
		flags = append(flags, withComment)
	}
	return templates.CommandLine("placet respond", args, flags...) + "  (one or more of them)"
}

// optionCommand is the shortest command that chooses an option.
func optionCommand(a engine.Asked, option, name string) string {
	verb, args, flags := "placet respond", []string{name, line(option)}, []string{}
	switch option {
	case approving.option(a):
		verb, args = "placet approve", args[:1]
	case rejecting.option(a):
		verb, args = "placet reject", args[:1]
	}
	switch {
	case option == retryMore && a.Run.Family == "afl":
		flags = append(flags, "--attempts 3", withComment)
	case slices.Contains(a.CommentRequired, option):
		flags = append(flags, withComment)
	}
	return templates.CommandLine(verb, args, flags...)
}
