package faber

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"placet/engine"
	"placet/engine/faber/comment"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/internal/lazyregexp"
	"placet/layout"
	"placet/templates"
)

// judgement is what the files of a round say.
type judgement struct {
	taken    []taking
	problems []string
	// lost are the responses to recorded answers that a power cut lost.
	lost []engine.Document
}

// taking is an answer to pass on. response is nil if a crash came after it was written.
type taking struct {
	answer   TakenAnswer
	response *engine.Document
	source   engine.Document
}

// reply is a file with answers to a prompt.
type reply struct {
	doc    engine.Document
	prompt Prompt
	text   string
	line   int // the number of the line before the text
	known  string
}

// judged reads the prompts and replies of the round. Good lines count whatever stands beside them.
func (c *coordinator) judged() *judgement {
	return run.Once(c.run, "judged", func() *judgement {
		j := &judgement{}
		if c.state.Status != Asking || c.Unsure || len(c.state.Prompts) == 0 {
			return j
		}
		var all []taking
		lines := map[string][]string{} // the places of the answers to a run
		for _, r := range c.replies(j) {
			for _, l := range parseAnswers(r.text, c.isName) {
				place := c.Say("faber.coordinator.line", "file", c.Snap.Rel(r.doc.Path), "line", r.line+l.line)
				t, problem := c.answer(r, l)
				switch {
				case problem != "":
					j.add(c.Say("faber.coordinator.at", "place", place, "problem", problem))
				case t != nil && !slices.ContainsFunc(all, t.repeats):
					all = append(all, *t)
					fallthrough
				case t != nil:
					lines[t.answer.RunID] = append(lines[t.answer.RunID], place)
				}
			}
		}
		for _, t := range all {
			id := t.answer.RunID
			switch {
			case slices.ContainsFunc(all, func(o taking) bool { return o.answer.RunID == id && !o.repeats(t) }):
				j.add(c.Say("faber.coordinator.at", "place", strings.Join(lines[id], ", "), "problem", c.Say("faber.coordinator.twice", "run", c.member(id).label)))
			case !slices.Contains(c.state.Answers, t.answer):
				j.taken = append(j.taken, t)
			case t.response != nil:
				j.lost = append(j.lost, *t.response)
			}
		}
		c.refusals(j)
		return j
	})
}

func (j *judgement) add(problem string) {
	if !slices.Contains(j.problems, problem) {
		j.problems = append(j.problems, problem)
	}
}

// repeats reports whether two answers say the same, whoever gave them.
func (t taking) repeats(o taking) bool {
	t.answer.User, o.answer.User = "", ""
	return t.answer == o.answer
}

// refusals repeats what the runs themselves say about answers that they do not accept.
func (c *coordinator) refusals(j *judgement) {
	for _, a := range c.state.Answers {
		m := c.member(a.RunID)
		if m.ask == nil || m.ask.folder.ID != a.RequestID {
			continue
		}
		if d := m.view.Snap.Doc(m.ask.path("problem.md")); d.Present() {
			j.add(c.Say("faber.coordinator.at", "place", m.label, "problem", templates.OneLine(engine.NoteBody(string(d.Body)))))
		}
	}
}

// replies returns the texts that count: what stands at the end of a submitted prompt, and the files
// in replies. A reply is about the view that its name names, else about the first.
func (c *coordinator) replies(j *judgement) (all []reply) {
	add := func(r reply) {
		if why := c.author(&r); why != "" {
			j.add(c.Say("faber.coordinator.at", "place", c.Snap.Rel(r.doc.Path), "problem", why))
		} else if r.known != "" {
			all = append(all, r)
		}
	}
	for _, p := range c.state.Prompts {
		r := reply{doc: c.Snap.In(p.File), prompt: p}
		if !r.doc.Present() {
			c.unreadable(j, r.doc)
			continue
		}
		text, from, problem := edited(string(r.doc.Body), string(p.render(c.state)))
		if problem != nil {
			j.add(c.Say("faber.coordinator.at", "place", p.File, "problem", problem.In(c.Lang)))
		} else if r.text, r.line = text, from; text != "" {
			add(r)
		}
	}
	number := fmt.Sprintf("%03d", c.state.Round)
	for _, d := range c.Snap.Under("replies") {
		name := path.Base(d.Path)
		rest, ok := strings.CutPrefix(name, number)
		if !ok || d.Kind != layout.FaberPromptReply || rest[0] >= '0' && rest[0] <= '9' {
			continue
		}
		if !d.Present() {
			c.unreadable(j, d)
			continue
		}
		i := slices.IndexFunc(c.state.Prompts, func(p Prompt) bool {
			return strings.HasPrefix("prompt-"+name, strings.TrimSuffix(p.File, ".md")) && !p.First
		})
		add(reply{doc: d, prompt: c.state.Prompts[max(i, 0)], text: string(d.Body)})
	}
	return all
}

// unreadable notes why a file with answers does not count.
func (c *coordinator) unreadable(j *judgement, d engine.Document) {
	if !d.Absent() && !d.Unsettled() {
		j.add(c.Say("faber.coordinator.at", "place", c.Snap.Rel(d.Path), "problem", templates.In(c.Lang, d.Err)))
	}
}

// author finds out who wrote a reply, or why it does not count. Neither is known while git has not
// been asked.
func (c *coordinator) author(r *reply) (problem string) {
	since := c.Snap.Facts.Config.GatesSince
	known, _, ok := gate.Author(r.doc, "", c.Fact)
	switch {
	case !utf8.Valid(r.doc.Body):
		return c.Say("faber.coordinator.text")
	case r.doc.Changed.Before(since):
		return c.Say("faber.coordinator.old", "at", run.Seconds(since))
	case !ok:
		return ""
	case len(known) == 0:
		return c.Say("faber.coordinator.owner")
	}
	r.known = known[0]
	return ""
}

const (
	answersHead = "### Your answers"
	submitItem  = "submit these answers"
)

// edited returns what a person wrote into a prompt, and the number of the line before it; "" while it
// is not submitted. A line changed elsewhere is a problem.
func edited(body, rendered string) (text string, from int, problem *templates.Message) {
	is, was := plainLines(body), plainLines(rendered)
	from = slices.Index(was, answersHead) + 1
	for i := range from {
		if i >= len(is) || is[i] != was[i] {
			return "", 0, changedLine(i, was[i])
		}
	}
	last := len(is) - 1
	item := regexp.MustCompile(`^- \[([ xX])\] ` + submitItem + `$`).FindStringSubmatch(is[last])
	switch {
	case last < from || item == nil:
		return "", 0, changedLine(last, "- [ ] "+submitItem)
	case item[1] == " ":
		return "", from, nil
	}
	return strings.Join(is[from:last], "\n"), from, nil
}

func changedLine(i int, was string) *templates.Message {
	m := templates.NewMessage("faber.coordinator.edited", "line", i+1, "text", strconv.Quote(was))
	return &m
}

// plainLines returns the lines of a text without carriage returns, blanks at their ends, and empty
// lines at the end.
func plainLines(text string) []string {
	lines := strings.Split(strings.TrimRight(text, " \t\r\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\r")
	}
	return lines
}

// spoken is an answer as it stands in a text.
type spoken struct {
	line     int // its first line, from 1
	id, more string
	text     string
}

var (
	answerLine = lazyregexp.New("(?i)^[ \\t]*(?:(?:[-*+]|[0-9]+\\.)[ \\t]+)?(?:\\*\\*|__|`)?(run[ \\t]+)?(#)?([a-z0-9][a-z0-9._-]*)(?:@([a-z0-9-]+))?(?:\\*\\*|`)?[ \\t]*:(?:\\*\\*|__|`)?(.*)$")
	digit      = lazyregexp.New(`[0-9]`)
)

// parseAnswers returns the answers in a text. A line begins one if it names a run, or looks as if it
// did: a word with a colon in the middle of a comment does not.
func parseAnswers(text string, isName func(id string) bool) (all []spoken) {
	for i, line := range strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n") {
		line = strings.TrimRight(line, "\r")
		m := answerLine.FindStringSubmatch(line)
		if m != nil {
			m[3] = strings.TrimRight(m[3], "_")
		}
		switch {
		case m != nil && (m[1] != "" || m[2] != "" || digit.MatchString(m[3]) || isName(m[3])):
			all = append(all, spoken{line: i + 1, id: m[3], more: m[4], text: m[5]})
		case len(all) > 0:
			all[len(all)-1].text += "\n" + line
		}
	}
	return all
}

// names reports whether a name in an answer may mean a run.
func (m *member) names(id, more string) bool {
	base := path.Base(m.id)
	if more != "" && !strings.HasPrefix(base, strings.ToLower(more)) {
		return false
	}
	return strings.EqualFold(id, m.workID) && id != "" || len(id) >= 8 && strings.HasPrefix(base, strings.ToLower(id))
}

func (c *coordinator) isName(id string) bool {
	return slices.ContainsFunc(c.members, func(m *member) bool { return m.names(id, "") })
}

// answer returns the answer of a line, nil if it has been taken, or why the line does not count.
func (c *coordinator) answer(r reply, l spoken) (t *taking, problem string) {
	var of []*member
	for _, m := range c.members {
		if m.names(l.id, l.more) {
			of = append(of, m)
		}
	}
	switch len(of) {
	case 0:
		return nil, c.Say("faber.coordinator.stranger", "id", strconv.Quote(templates.Line(l.id, 80)), "runs", c.labels(c.members))
	case 1:
	default:
		return nil, c.Say("faber.coordinator.shared", "id", strconv.Quote(templates.Line(l.id, 80)), "runs", c.labels(of))
	}
	m := of[0]
	i := slices.IndexFunc(r.prompt.Asked, func(e Asked) bool { return e.RunID == m.id })
	if i < 0 || m.view == nil {
		return nil, c.Say("faber.coordinator.idle", "run", m.label)
	}
	e := r.prompt.Asked[i]
	if e.Form != "" {
		return nil, c.Say("faber.coordinator.form", "run", m.label, "form", e.Form)
	}
	response, comment := e.choose(l.text)
	switch {
	case response == "" && len(e.Options) == 0:
		return nil, c.Say("faber.coordinator.words", "run", m.label)
	case response == "":
		return nil, c.Say("faber.coordinator.option", "run", m.label, "answer", strconv.Quote(templates.Line(strings.TrimSpace(l.text), 80)), "options", e.Choices())
	}
	_, user, _ := strings.Cut(r.known, ":")
	return c.passOn(m, e, r, TakenAnswer{m.id, e.RequestID, response, comment, user})
}

func (c *coordinator) labels(all []*member) string {
	var labels []string
	for _, m := range all[:min(len(all), 20)] {
		labels = append(labels, m.label)
	}
	return strings.Join(labels, ", ")
}

// passOn turns an answer into the response.json of its run, unless that has an answer already or asks
// something else by now.
func (c *coordinator) passOn(m *member, e Asked, r reply, a TakenAnswer) (*taking, string) {
	body := run.Must(gate.Response{
		RequestID: a.RequestID, Response: a.Response, Comment: a.Comment, Digest: e.View,
		ProvidedBy: gate.By{User: a.User, Source: gate.SourceCoordination},
	}.Encode())
	dir, docs := m.folder(e.RequestID)
	d := engine.Document{Path: dir + "/response.json", Kind: layout.KindResponse, Body: body, Known: []string{r.known}, Source: gate.SourceCoordination}
	said, there := answered(dir, docs)
	switch {
	case there.Present() && string(there.Body) == string(body):
		return &taking{answer: a, source: r.doc}, ""
	case said != nil && gate.Fold(said.Response) == gate.Fold(a.Response):
		return nil, ""
	case said != nil:
		return nil, c.Say("faber.coordinator.answered", "run", m.label, "response", strconv.Quote(templates.Line(said.Response, 80)))
	case there.Unsettled():
		return nil, ""
	case !there.Absent():
		return nil, c.Say("faber.coordinator.occupied", "run", m.label, "file", there.Path)
	case m.ask == nil:
		return nil, c.Say("faber.coordinator.idle", "run", m.label)
	case !m.asked().same(e):
		return nil, c.Say("faber.coordinator.changed", "run", m.label)
	}
	for _, option := range m.ask.req.CommentRequired {
		if gate.Fold(option) == gate.Fold(a.Response) && a.Comment == "" {
			return nil, c.Say("faber.coordinator.comment", "run", m.label, "option", a.Response)
		}
	}
	return &taking{answer: a, response: &d, source: r.doc}, ""
}

// answered returns how a request was answered, nil if it was not, and its response.json.
func answered(dir string, docs []engine.Document) (said *gate.Response, there engine.Document) {
	there = engine.Document{Path: dir + "/response.json", Err: engine.ErrAbsent}
	for _, d := range docs {
		switch d.Kind {
		case layout.KindResponse:
			there = d
			if r, err := engine.Parse(d, gate.ReadResponse); d.Present() && err == nil {
				said = cmp.Or(said, r)
			}
		case layout.KindReceipt:
			if r, err := gate.ReadReceipt(d.Path, d.Body); d.Present() && err == nil && (r.Result == gate.Accepted || r.Result == gate.Expired) {
				said = &gate.Response{Response: r.Response}
			}
		}
	}
	return said, there
}

var (
	optionNumber = lazyregexp.New(`^(?:([0-9]{1,3})|\[([0-9]{1,3})\])$`)
	blanks       = strings.NewReplacer("_", "[-_ ]", "-", "[-_ ]", " ", "[-_ ]")
)

// choose returns the option that a text names as the prompt lists it, and the words after it; or the whole
// text if the request has no options. The response is "" if the text names none.
func (e Asked) choose(text string) (response, words string) {
	if text = strings.TrimSpace(text); len(e.Options) == 0 {
		return text, ""
	}
	bare := withoutMarks(text)
	if m := optionNumber.FindStringSubmatch(bare); m != nil {
		if n, _ := strconv.Atoi(m[1] + m[2]); n >= 1 && n <= len(e.Options) {
			return e.Options[n-1], ""
		}
	}
	longest := slices.Clone(e.Options)
	slices.SortStableFunc(longest, func(a, b string) int { return len(b) - len(a) })
	for _, option := range longest {
		if gate.Fold(bare) == gate.Fold(option) {
			return option, ""
		}
	}
	for _, option := range longest {
		mark := "(?:\\*\\*|__|`)?"
		begins := regexp.MustCompile("(?is)^" + mark + blanks.Replace(regexp.QuoteMeta(strings.TrimSpace(option))) + mark + `([ \t\n,;:–—].*)$`)
		if m := begins.FindStringSubmatch(text); m != nil {
			words = strings.TrimLeft(m[1], " \t")
			if strings.TrimLeft(words, "\n,;:–—") == words && comment.IsReserved(words) {
				return "", ""
			}
			return option, strings.TrimSpace(strings.TrimLeft(words, " \t\n,;:–—"))
		}
	}
	return "", ""
}

// withoutMarks returns a text without the marks around it and its final "." or "!".
func withoutMarks(text string) string {
	text = strings.TrimRight(text, ".!")
	for _, mark := range []string{"**", "__", "`"} {
		if inner, ok := strings.CutPrefix(text, mark); ok {
			text = strings.TrimSuffix(inner, mark)
		}
	}
	return strings.TrimSpace(strings.TrimRight(text, ".!"))
}
