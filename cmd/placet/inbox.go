package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"placet/engine"
)

func inboxCommand(w *world) *cobra.Command {
	return &cobra.Command{
		Use: "inbox", Short: "What is asked of you, oldest first",
		Long: `What is asked of you, oldest first: of which run and step, in one line, with the
form to edit and the commands that answer. Also what else needs a person:
problem notes, and commands that wait for trust.`,
		Args: takes(0, 0), GroupID: groupDecide,
		RunE: func(*cobra.Command, []string) error {
			b, err := w.look()
			if err != nil {
				return err
			}
			return b.inbox()
		},
	}
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
	RequestID       string        `json:"request_id"`
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
	Level           string        `json:"level"`
	Approvers       []string      `json:"approvers"`
	Artifacts       []string      `json:"artifacts"`
	Form            string        `json:"form"`
	Response        string        `json:"response"`
	Digest          engine.Digest `json:"digest"`
	RequestedAt     string        `json:"requested_at"`
	Deadline        string        `json:"deadline"`
	Overdue         bool          `json:"overdue"`
	Problem         string        `json:"problem"`
}

type optionLine struct {
	ID          string `json:"id"`
	Description string `json:"description"`
}

// runProblem is a problem note with the run that it stands in.
type runProblem struct {
	Run string `json:"run"`
	noteLine
}

func (b *bench) requestData(a engine.Asked) requestLine {
	gate := b.facts(a.Run.Family).Config.GateFor(a.Run.Family, a.Type)
	l := requestLine{
		Level: gate.Level, Approvers: append([]string{}, gate.Approvers...),
		RequestID: a.Request, Run: a.Run.String(), Family: a.Run.Family, Type: a.Type, Where: a.Where,
		Prompt: a.Prompt, Summary: a.Summary, Options: []optionLine{}, FreeText: a.FreeText, Multiple: a.Multiple,
		CommentRequired: append([]string{}, a.CommentRequired...), Several: append([]string{}, a.Several...), Artifacts: append([]string{}, a.Artifacts...),
		Form: a.Form, Response: a.Response, Digest: a.Digest, RequestedAt: stamp(a.RequestedAt),
		Deadline: stamp(a.Deadline), Overdue: a.Overdue, Problem: a.Problem,
	}
	for _, o := range a.Options {
		l.Options = append(l.Options, optionLine(o))
	}
	return l
}

func (b *bench) inbox() error {
	found := b.runs()
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
	if err := b.w.answer(data, func() { b.printInbox(open, data, s) }); err != nil {
		return err
	}
	b.remember(found, true)
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

func (b *bench) printInbox(open []engine.Asked, data inboxData, s state) {
	w := b.w
	uses := map[string]int{} // how many runs use a request id
	for _, a := range open {
		uses[a.Request]++
	}
	for i, a := range open {
		if i > 0 {
			w.say("")
		}
		b.printAsked(a, uses[a.Request] > 1)
	}
	if len(open) == 0 {
		w.say("nothing is asked")
	}
	for _, p := range data.Problems {
		w.say("%s %s  %s", w.paint(alarm, "problem"), line(p.Path), cut(line(p.Text), 200))
	}
	for _, u := range data.Untrusted {
		w.say("%s %s  %s: placet trust", w.paint(alarm, "untrusted"), line(u.Name), cut(line(u.Text), 120))
	}
	s.Untrusted = nil // said above
	b.printState(s)
}

// printAsked shows one request: run, step and question in its first line, then
// where the form is and how to answer.
func (b *bench) printAsked(a engine.Asked, full bool) {
	w := b.w
	head := line(a.Type)
	if at := age(w.now(), a.RequestedAt); at != "" {
		head += ", " + at
	}
	if a.Overdue {
		head += w.paint(alarm, ", overdue since "+moment(a.Deadline))
	} else if !a.Deadline.IsZero() {
		head += ", until " + moment(a.Deadline)
	}
	w.say("%s  %s  %s (%s): %s", w.paint(strong, brief(a.Run)), w.paint(waiting, line(a.Where)), line(a.Request), head, cut(line(a.Prompt), 200))
	if a.Summary != "" {
		w.say("    %s", cut(line(a.Summary), 160))
	}
	for _, artifact := range a.Artifacts {
		w.say("    look at  %s", line(artifact))
	}
	w.say("    form     %s", line(a.Form))
	for i, how := range howToAnswer(a, full) {
		w.say("    %-8s %s", []string{"answer", "or"}[min(i, 1)], how)
	}
	if a.Problem != "" {
		w.say("    %s %s", w.paint(alarm, "problem"), cut(line(a.Problem), 300))
	}
}

// howToAnswer lists the commands that answer a request.
func howToAnswer(a engine.Asked, full bool) []string {
	name := line(a.Request)
	if full {
		name = line(a.Run.String()) + ":" + name
	}
	if a.FreeText {
		return []string{fmt.Sprintf("placet respond %s \"…\"", name)}
	}
	var how []string
	together := false
	for _, o := range a.Options {
		if len(a.Several) > 1 && slices.Contains(a.Several, o.ID) {
			together = true
			continue
		}
		how = append(how, optionCommand(a, o.ID, name))
	}
	if together {
		how = append(how, severalCommand(a, name))
	}
	return how
}

// severalCommand chooses several options; one alone is chosen the same way.
func severalCommand(a engine.Asked, name string) string {
	command := "placet respond " + name
	for _, id := range a.Several {
		command += " " + quoteArg(line(id))
	}
	if slices.ContainsFunc(a.Several, func(id string) bool { return slices.Contains(a.CommentRequired, id) }) {
		command += " -m \"…\""
	}
	return command + "  (one or more of them)"
}

// optionCommand is the shortest command that chooses an option.
func optionCommand(a engine.Asked, option, name string) string {
	command := fmt.Sprintf("placet respond %s %s", name, quoteArg(line(option)))
	switch option {
	case firstOf(options(a), approvals):
		command = "placet approve " + name
	case firstOf(options(a), refusals):
		command = "placet reject " + name
	}
	switch {
	case option == retryMore && a.Run.Family == "afl":
		command += " --attempts 3 -m \"…\""
	case slices.Contains(a.CommentRequired, option):
		command += " -m \"…\""
	}
	return command
}

// quoteArg quotes an argument for a shell where it needs it.
func quoteArg(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:@%+=,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
