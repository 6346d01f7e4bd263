package web

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"placet/cmd/placet/answer"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/facade"
	"placet/templates"
)

// runsPage shows the state of every run.
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
		State view.Inbox
		All   bool
		Runs  []runRow
	}{pageHead: a.head(c, "runs", templates.Text(a.language(c), "page.runs")), State: view.InboxOf(v, s, nil), All: all}
	for i, l := range s.Runs[:min(len(s.Runs), mostListed)] {
		data.Runs = append(data.Runs, runRow{l, s.Views[i]})
	}
	return 0, nil, a.show(c, http.StatusOK, data.Lang, "runs", data)
}

// runRow is a run in the list.
type runRow struct {
	Line view.RunLine
	Seen view.Run
}

// Asks returns the questions of the run, at most three of them.
func (r runRow) Asks() []engine.OpenRequest { return r.Seen.Open[:min(len(r.Seen.Open), shownAsks)] }

// shownAsks limits the questions of a run in the list.
const shownAsks = 3

// runView is a run's page.
type runView struct {
	pageHead
	State     view.Inbox
	Seen      view.Run
	Why       []string
	Moves     []engine.UnblockingFile
	Drawing   *drawing
	Bars      []progressBar
	Parts     []partView
	MoreParts int
	// OpenParts says that the parts are few, or that one needs a look: they are not folded.
	OpenParts bool
	Asks      []askView
	MoreAsks  []engine.OpenRequest
	Together  *togetherView
	Facts     []engine.Fact
	Log       []engine.Entry // newest first
	// Tab is the tab that is shown, and Outcomes are those of answers that were just sent together.
	Tab      string
	Outcomes []outcome
}

// togetherView is the form that answers several requests of the run at once.
type togetherView struct {
	asked
	Asks []askView
}

// Digests are those of the requests, so that a page knows whether the form is still the same.
func (t togetherView) Digests() string {
	all := ""
	for _, a := range t.Asks {
		all += string(a.Digest) + " "
	}
	return all
}

// outcome is what became of one of several answers.
type outcome struct {
	Name, Heading, Text string
	Taken               bool
}

// progressBar is the progress of a part. Session is its name on the stream.
type progressBar struct {
	*engine.Progress
	Session, Label, Look, Pattern string
	Status                        engine.Status
}

// Percent returns the share of the work that is done.
func (b progressBar) Percent() int { return int(min(max(b.Value, 0), 1) * 100) }

// Tokens says how many tokens are used.
func (b progressBar) Tokens() string {
	return strings.ReplaceAll(b.Pattern, "{used}", fmt.Sprint(b.Used))
}

// Near reports whether the tokens are used up, or will be soon.
func (b progressBar) Near() bool { return b.Of > 0 && b.Used*100 >= b.Of*nearBudget }

// partView is a part of the run.
type partView struct {
	engine.Part
	Anchor, Look string
	// Brief are the facts beside the name, More all others.
	Brief, More []engine.Fact
	Open        bool
}

// askView is an open request of the run with its form.
type askView struct {
	asked
	worded
	shown
	Folded bool // several requests are open
}

// IsShort reports whether a page shows at once what the request is about.
func (a askView) IsShort() bool {
	return !a.Folded && len(a.Body)+len(a.Summary) <= shortMatter && len(a.Artifacts)+len(a.Since) == 0 && len(a.Fields) <= shortContext
}

// These limit what a run's page shows at once of a request: bytes of its question, and fields.
const shortMatter, shortContext = 600, 6

const (
	// shownLog limits the events of a run that its page shows; it shows the newest.
	shownLog = 200
	// mostParts limits the parts that a run's page shows, and mostAsks the requests with their
	// forms.
	mostParts, mostAsks = 300, 20
	// mostOpenParts limits the parts that are listed without being asked for.
	mostOpenParts = 8
	// nearBudget is the share of its tokens from which a part is near its budget, in percent.
	nearBudget = 90
)

// These are the tabs of a run's page.
const tabRun, tabFacts, tabLog = "run", "facts", "log"

// runPage shows a run: its plan, the progress of its parts, its open requests, and the reason
// for its state.
func (a *App) runPage(c *facade.Call) (int, any, error) {
	v := a.reader(c)
	page, err := seeRun(a, c, v)
	if err != nil {
		return 0, nil, err
	}
	return 0, nil, a.show(c, http.StatusOK, page.Lang, "run", page)
}

// seeRun returns the view of a run for its page.
func seeRun(a *App, c *facade.Call, v *workspace.Workspace) (runView, error) {
	f, err := runNamed(v, c)
	if err != nil {
		return runView{}, err
	}
	tabs := []string{tabRun, tabFacts, tabLog}
	tab := cmp.Or(c.Text("tab"), tabRun)
	if !slices.Contains(tabs, tab) {
		return runView{}, facade.Invalid(facade.UnknownWord("tab", tab, tabs))
	}
	seen := view.Of(v, f)
	_ = view.FillPlan(v, &seen) // without the other runs the page still shows all the rest
	head := a.head(c, "run", console.Brief(seen.Key))
	page := runViewOf(head, view.Explain(v, view.Subject{View: seen}), seen)
	page.Tab = tab
	r := newRoom()
	r.folded = true
	for i, o := range seen.Open {
		if i >= mostAsks {
			page.MoreAsks = append(page.MoreAsks, o)
			continue
		}
		d := view.OpenDataOf(v, view.RequestOf(v, o, f))
		ask := askOf(page.pageHead, view.RequestOf(v, d.OpenRequest, f), c.Who.May(facade.Decide))
		ask.Folded = len(seen.Open) > 1
		ask.close(v, page.Lang, c.Who.User)
		ask.shown = shownOf(v, page.Lang, view.NameOf(o), d.Context, d.Artifacts, d.Since, r)
		page.Asks = append(page.Asks, ask)
	}
	page.fillTogether()
	return page, nil
}

// fillTogether fills in the form for several requests, if some have the same options and can be
// answered.
func (p *runView) fillTogether() {
	var open []engine.OpenRequest
	for _, ask := range p.Asks {
		if ask.MayAnswer() && !slices.ContainsFunc(ask.Options, func(o engine.RequestOption) bool { return ask.IsElsewhere(o.ID) }) {
			open = append(open, ask.OpenRequest)
		}
	}
	same := together(open)
	for _, ask := range p.Asks {
		if slices.ContainsFunc(same, func(o engine.OpenRequest) bool { return o.Request == ask.OpenRequest.Request }) {
			if p.Together == nil {
				p.Together = &togetherView{asked: ask.asked}
				p.Together.FormID = "answer-together"
			}
			p.Together.Asks = append(p.Together.Asks, ask)
		}
	}
}

// longestTogether is how long one form's answers may take until the rest is not sent: the server's
// answer must still reach the browser.
const longestTogether = 60 * time.Second

// postRun takes the answer of a form to several requests of the run. Each counts for itself, for
// what was shown of its request. The page then shows what became of each.
func (a *App) postRun(c *facade.Call) (int, any, error) {
	if !c.Who.May(facade.Read) { // the page shows the requests
		return 0, nil, facade.Deny(http.StatusForbidden, "role", "page.no.role", "role", facade.Read)
	}
	form, err := url.ParseQuery(string(c.Raw))
	if err != nil {
		return 0, nil, facade.Deny(http.StatusUnprocessableEntity, "invalid", "page.no.form")
	}
	v := a.reader(c)
	f, err := runNamed(v, c)
	if err != nil {
		return 0, nil, err
	}
	lang, chosen, begun := a.language(c), form["request"], time.Now()
	var outcomes []outcome
	for _, id := range chosen[:min(len(chosen), mostAsks)] {
		o := outcome{Name: f.Key().String() + ":" + id, Heading: id}
		status, err := http.StatusOK, error(nil)
		at, missing := requestAmong(v, o.Name, c.Who.Sees)
		if missing == nil {
			if t, open := view.OpenRequestAt(v, at); open {
				o.Heading = question(t.OpenRequest)
			}
		}
		switch {
		case missing != nil:
			err = missing
		case time.Since(begun) > longestTogether:
			err = facade.Deny(http.StatusServiceUnavailable, "busy", "page.together.late")
		default:
			status, _, err = a.answer(c.Context(), v, c.Who, at, form.Get("digest-"+id), answer.Reply{Option: form.Get("option"), Comment: form.Get("comment"), By: c.Who.User})
		}
		var p *facade.Problem
		switch {
		case errors.As(err, &p):
			o.Text = p.In(lang)
		case err != nil: // the others are told all the same
			a.o.Log.Warn("an answer failed", "request", id, "err", err)
			o.Text = templates.Text(lang, "page.no.now")
		case status == http.StatusAccepted:
			o.Taken, o.Text = true, templates.Text(lang, "page.written")
		default:
			o.Taken, o.Text = true, templates.Text(lang, "page.sent")
		}
		outcomes = append(outcomes, o)
	}
	page, err := seeRun(a, c, v)
	if err != nil {
		return 0, nil, err
	}
	if page.Outcomes = outcomes; len(outcomes) == 0 {
		page.Refused = templates.Text(lang, "page.together.none")
	}
	return 0, nil, a.show(c, http.StatusOK, page.Lang, "run", page)
}

// runViewOf returns the view of a run for its page, without its requests.
func runViewOf(head pageHead, e view.Explanation, seen view.Run) runView {
	page := runView{pageHead: head, State: view.Inbox{Held: e.Held, Required: view.RequiredIn([]view.Run{seen})}, Seen: seen, Why: e.Why, Moves: eachOnce(e.Moves), Tab: tabRun}
	page.Run = seen.Key.String()
	for _, n := range e.Problems {
		page.State.Problems = append(page.State.Problems, view.RunProblem{Run: page.Run, Note: n})
	}
	page.Facts = slices.DeleteFunc(slices.Clone(seen.Facts), func(fact engine.Fact) bool {
		// A fact about a part is shown at that part only.
		id, _, ok := strings.Cut(fact.Value, ": ")
		return ok && slices.ContainsFunc(seen.Parts, func(p engine.Part) bool { return p.ID == id })
	})
	page.fillParts(seen)
	page.Log = slices.Clone(seen.Log[max(0, len(seen.Log)-shownLog):])
	slices.Reverse(page.Log)
	return page
}

// eachOnce returns files that would move a run with each path once, and all contents that it may
// have.
func eachOnce(moves []engine.UnblockingFile) (once []engine.UnblockingFile) {
	for _, m := range moves {
		i := slices.IndexFunc(once, func(o engine.UnblockingFile) bool { return o.Path == m.Path })
		if i < 0 {
			once = append(once, m)
		} else if once[i].Content != m.Content {
			once[i].Content += "\n\n" + m.Content
		}
	}
	return once
}

// fillParts fills in the drawing, the parts, and their progress.
func (p *runView) fillParts(seen view.Run) {
	anchors := map[string]string{}
	for i, part := range seen.Parts {
		look := lookOf(part.Status, false, false)
		if part.Progress != nil {
			p.Bars = append(p.Bars, barOf(p.Lang, seen.Key, part, look))
		}
		if i >= mostParts {
			p.MoreParts++
			continue
		}
		one := partView{Part: part, Anchor: fmt.Sprintf("part-%d", i+1), Look: look}
		anchors[part.ID] = "#" + one.Anchor
		for _, fact := range part.Facts {
			if slices.Contains(briefFacts, cmp.Or(fact.Name, fact.Label)) && len(console.OneLine(fact.Value)) <= shownBrief {
				one.Brief = append(one.Brief, fact)
			} else {
				one.More = append(one.More, fact)
			}
		}
		one.Sections = slices.DeleteFunc(slices.Clone(part.Sections), func(s engine.Section) bool { return strings.TrimSpace(s.Text) == "" })
		one.Open = look == "alarm" && !seen.Final && len(seen.Open) == 0
		p.Parts = append(p.Parts, one)
	}
	shorten(p.Bars)
	p.OpenParts = len(p.Parts) <= mostOpenParts || slices.ContainsFunc(p.Parts, func(one partView) bool { return one.Open })
	p.Drawing = drawPlan(p.Lang, seen.Graph, func(id string) string { return anchors[id] })
}

// shorten removes from the labels of bars the folder that all of them share.
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

// briefFacts are the facts about a part that people look for first.
var briefFacts = []string{"try", "attempt", "round", "deadline", "reason", "blocked by", "substatus", "next attempt", "aborted because", "time"}

// shownBrief limits a fact beside a name, in bytes.
const shownBrief = 80

// barOf returns the progress of a part.
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
	return progressBar{g, session, console.OneLine(part.ID), look, pattern, part.Status}
}

// askOf returns an open request of the run with its form.
func askOf(head pageHead, t view.Request, may bool) askView {
	return askView{
		asked:  asked{Request: t, FormID: "answer-" + t.OpenRequest.Request, Secret: head.CSRF, may: may},
		worded: wordedOf(head.Lang, t.Prompt, t.Summary, t.Reference),
	}
}
