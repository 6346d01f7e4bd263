package web

import (
	"cmp"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/engine"
	"placet/engine/facade"
	"placet/templates"
)

// runRow is a run in the list.
type runRow struct {
	Name, Path, Class, Status, Waits string
	Since                            time.Time
}

// runsPage shows where every run stands.
func (a *App) runsPage(c *facade.Call) (int, any, error) {
	v := a.reader(c)
	found, err := narrowed(v, c)
	if err != nil {
		return 0, nil, err
	}
	all := c.Text("status") != ""
	s := lookAt(v, c, found, all)
	data := struct {
		pageHead
		stateOf
		All  bool
		Runs []runRow
	}{pageHead: a.head(c, "runs", templates.Text(a.language(c), "page.runs")), stateOf: stateIn(v, s), All: all}
	for i, l := range s.Runs {
		if i == mostListed {
			break
		}
		seen := s.Views[i]
		data.Runs = append(data.Runs, runRow{
			Name: console.Brief(seen.Key), Path: runPath(l.Run), Status: console.OneLine(string(l.Status)), Since: seen.Since,
			Class: statusClass(seen.Status, seen.Final, seen.Troubled(), len(seen.Open) > 0), Waits: view.WaitsAt(seen),
		})
	}
	return 0, nil, a.show(c, http.StatusOK, data.Lang, "runs", data)
}

// runView is a run's page.
type runView struct {
	pageHead
	stateOf
	Family, Status, Class, Heading string
	Drawing                        *drawing
	Bars                           []progressBar
	Parts                          []partView
	MoreParts                      int
	Asks                           []askView
	MoreAsks                       []inboxCard
	Why                            []string
	Moves, Facts                   []engine.Fact
	Log                            []engine.Entry
}

// progressBar is how far a part has got. Session is what the stream calls it.
type progressBar struct {
	Session, Label, Status, Look, Task, Tokens, Pattern string
	Percent, Of                                         int
	Near                                                bool // the tokens are used up, or will be soon
}

// partView is a part of the run.
type partView struct {
	Anchor, Label, Status, Look string
	// Brief are the facts that stand beside the name, Facts all others.
	Brief, Facts []engine.Fact
	Sections     []engine.Section
	Open         bool
}

// askView is an open request with its form.
type askView struct {
	inboxCard
	answerForm
	shownView
	Anchor, Heading, InPlace, Problem string
}

const (
	// shownLog is how many events of a run its page shows, the newest.
	shownLog = 200
	// mostParts is how many parts a run's page shows, and mostAsks how many requests with
	// their forms.
	mostParts, mostAsks = 300, 20
	// shownSection is how much of a text about a part its page shows, in characters.
	shownSection = 8000
	// nearBudget is the share of its tokens from which a part is near its budget, in percent.
	nearBudget = 90
)

// runPage shows a run: its plan, how far its parts have got, what is asked, and why it stands
// where it stands.
func (a *App) runPage(c *facade.Call) (int, any, error) {
	v := a.reader(c)
	f, err := runNamed(v, c)
	if err != nil {
		return 0, nil, err
	}
	seen := view.Of(v, f)
	_ = view.FillPlan(v, &seen) // without what other runs say the page shows all the rest
	head := a.head(c, "run", console.Brief(seen.Key))
	page := runViewOf(head, view.Explain(v, view.Subject{View: seen}), seen)
	for i, o := range seen.Open {
		card := cardOf(v, page.Lang, o)
		if i >= mostAsks {
			page.MoreAsks = append(page.MoreAsks, card)
			continue
		}
		ask := askOf(page.pageHead, view.Describe(v, o), card, c.Who.May(facade.Decide))
		d := view.OpenDataOf(v, view.RequestOf(v, o, f))
		ask.fillShown(v, page.Lang, card.Path, d.Context, d.Artifacts)
		page.Asks = append(page.Asks, ask)
	}
	return 0, nil, a.show(c, http.StatusOK, page.Lang, "run", page)
}

// runViewOf is a run as its page shows it, without what is asked.
func runViewOf(head pageHead, e view.Explanation, seen view.Run) runView {
	page := runView{
		pageHead: head, stateOf: stateOf{Held: e.Held}, Family: seen.Key.Family, Status: console.OneLine(string(seen.Status)),
		Class: statusClass(seen.Status, seen.Final, seen.Troubled(), len(seen.Open) > 0), Heading: console.Brief(seen.Key),
	}
	page.Run = seen.Key.String()
	for _, n := range e.Problems {
		page.Problems = append(page.Problems, view.RunProblem{Run: page.Run, Note: n})
	}
	for _, why := range e.Why {
		page.Why = append(page.Why, console.OneLine(why))
	}
	for _, m := range e.Moves {
		page.Moves = append(page.Moves, engine.Fact{Label: console.OneLine(m.Path), Value: console.Lines(m.Content)})
	}
	page.Facts = factsOf(slices.DeleteFunc(slices.Clone(seen.Facts), func(fact engine.Fact) bool {
		// What is said of the parts themselves is not said twice.
		id, _, ok := strings.Cut(fact.Value, ": ")
		return ok && slices.ContainsFunc(seen.Parts, func(p engine.Part) bool { return p.ID == id })
	}))
	page.fillParts(seen)
	for _, l := range seen.Log[max(0, len(seen.Log)-shownLog):] {
		l.Message, l.Who, l.Where, l.Event = console.Cut(console.OneLine(l.Message), 300), console.OneLine(l.Who), console.OneLine(l.Where), console.OneLine(l.Event)
		page.Log = append([]engine.Entry{l}, page.Log...)
	}
	return page
}

// fillParts fills in the drawing, the parts, and how far they have got.
func (p *runView) fillParts(seen view.Run) {
	anchors := map[string]string{}
	for i, part := range seen.Parts {
		status, look := console.OneLine(string(part.Status)), lookOf(part.Status, false, false)
		if part.Progress != nil {
			p.Bars = append(p.Bars, barOf(p.Lang, seen.Key, part, look))
		}
		if i >= mostParts {
			p.MoreParts++
			continue
		}
		one := partView{Anchor: fmt.Sprintf("part-%d", i+1), Label: console.OneLine(part.ID), Status: status, Look: look}
		anchors[part.ID] = "#" + one.Anchor
		for _, fact := range factsOf(part.Facts) {
			if slices.Contains(briefFacts, cmp.Or(fact.Name, fact.Label)) && len(fact.Value) <= shownBrief {
				one.Brief = append(one.Brief, fact)
			} else {
				one.Facts = append(one.Facts, fact)
			}
		}
		for _, s := range part.Sections {
			if text := strings.TrimSpace(s.Text); text != "" {
				one.Sections = append(one.Sections, engine.Section{Title: console.OneLine(s.Title), Text: console.Cut(console.Lines(text), shownSection)})
			}
		}
		one.Open = look == "alarm" && !seen.Final
		p.Parts = append(p.Parts, one)
	}
	shorten(p.Bars)
	p.Drawing = drawPlan(p.Lang, seen.Graph, func(id string) string { return anchors[id] })
}

// shorten leaves out of the labels of bars the folder that all of them are in.
func shorten(bars []progressBar) {
	if len(bars) < 2 {
		return
	}
	folder := path.Dir(bars[0].Label)
	for _, bar := range bars {
		for folder != "." && !strings.HasPrefix(bar.Label, folder+"/") {
			folder = path.Dir(folder)
		}
	}
	if folder == "." || folder == "/" {
		return
	}
	for i := range bars {
		bars[i].Label = strings.TrimPrefix(bars[i].Label, folder+"/")
	}
}

// briefFacts are the facts about a part that are looked for first.
var briefFacts = []string{"try", "attempt", "round", "deadline", "reason", "blocked by", "substatus", "next attempt", "aborted because", "time"}

// shownBrief is how long a fact beside a name may be, in bytes.
const shownBrief = 80

// barOf is how far a part has got.
func barOf(lang string, run engine.Key, part engine.Part, look string) progressBar {
	g := part.Progress
	session := part.ID
	if !strings.HasPrefix(session, run.ID+"/") {
		session = run.ID + "/" + session
	}
	pattern := phrase(lang, "page.tokens.free", "used", "{used}")
	if g.Of > 0 {
		pattern = phrase(lang, "page.tokens", "used", "{used}", "of", g.Of)
	}
	return progressBar{
		Session: session, Label: console.OneLine(part.ID), Status: console.OneLine(string(part.Status)), Look: look,
		Task: console.Cut(console.OneLine(g.Task), shownTask), Percent: int(min(max(g.Value, 0), 1) * 100), Of: g.Of,
		Pattern: pattern, Tokens: strings.ReplaceAll(pattern, "{used}", fmt.Sprint(g.Used)), Near: g.Of > 0 && g.Used*100 >= g.Of*nearBudget,
	}
}

// factsOf are facts as a page shows them.
func factsOf(facts []engine.Fact) (list []engine.Fact) {
	for _, fact := range facts {
		list = append(list, engine.Fact{Name: fact.Name, Label: console.OneLine(fact.Label), Value: console.OneLine(fact.Value)})
	}
	return list
}

// askOf is an open request of the run with its form.
func askOf(head pageHead, o engine.OpenRequest, card inboxCard, may bool) askView {
	ask := askView{inboxCard: card, answerForm: answerFormOf(o, "answer-"+o.Request, RequestPath(card.Name), head.CSRF, may), Anchor: "ask-" + o.Request}
	ask.Heading, ask.Body, ask.Summary, ask.Written = questionOf(head.Lang, o.Prompt, o.Summary, o.Reference)
	ask.Problem = console.Lines(o.Problem)
	if o.Answer != nil {
		ask.InPlace = o.Answer.Text
	}
	return ask
}
