package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"placet/cmd/placet/answer"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/facade"
	"placet/engine/gate"
	"placet/engine/loop"
	"placet/templates"
)

// mostListed limits the open requests that the inbox shows, mostAnswered those that are closed.
const mostListed, mostAnswered = 2000, 200

// These are the tabs of the inbox.
const tabOpen, tabMine, tabAnswered = "open", "mine", "answered"

// listView is the inbox.
type listView struct {
	pageHead
	State         view.Inbox
	Tab           string
	Count, More   int
	Query, Family string
	Families      []string
	Groups        []group
	Answered      []answeredRow
}

// group is the open requests of one run, which the list shows together.
type group struct {
	Run  engine.Key
	Rows []engine.OpenRequest
	// Together says that some of them have the same options, so that one answer can be given to
	// several.
	Together bool
}

// answeredRow is a closed request in the list.
type answeredRow struct {
	Name, Question, RunName string
	ending
}

// inboxPage shows the requests of a tab.
func (a *App) inboxPage(c *facade.Call) (int, any, error) {
	v := a.reader(c)
	found, err := narrowed(v, c)
	if err != nil {
		return 0, nil, err
	}
	head := a.head(c, "inbox", templates.Text(a.language(c), "page.inbox"))
	s := lookAt(v, c, found, false)
	open := s.Open()
	list := listView{
		pageHead: head, Tab: cmp.Or(c.Text("tab"), tabOpen), Count: len(open), Query: c.Text("q"), Family: c.Text("family"),
		Families: slices.DeleteFunc(v.FamilyNames(), func(name string) bool { return !c.Who.Sees(name) }),
	}
	fits := fitsQuery(list.Query)
	switch list.Tab {
	case tabAnswered:
		list.State = view.InboxOf(v, s, nil)
		list.fillAnswered(v, found, fits)
	case tabOpen, tabMine:
		open = slices.DeleteFunc(open, func(o engine.OpenRequest) bool {
			return !fits(o.Prompt, o.Summary, o.Run.String(), o.Where, o.Type, o.Request) || list.Tab == tabMine && !names(view.GateOf(v, o), c.Who)
		})
		slices.SortStableFunc(open, mostUrgentFirst)
		list.More = max(0, len(open)-mostListed)
		list.State = view.InboxOf(v, s, open[:len(open)-list.More])
		list.Groups = groupsOf(list.State.Requests)
	default:
		return 0, nil, facade.Invalid(facade.UnknownWord("tab", list.Tab, []string{tabOpen, tabMine, tabAnswered}))
	}
	return 0, nil, a.show(c, http.StatusOK, head.Lang, "inbox", list)
}

// fitsQuery returns whether one of some texts has the words of a query.
func fitsQuery(query string) func(texts ...string) bool {
	query = strings.ToLower(strings.TrimSpace(query))
	return func(texts ...string) bool {
		return query == "" || strings.Contains(strings.ToLower(strings.Join(texts, "\n")), query)
	}
}

// names reports whether a gate names a caller as approver.
func names(g engine.Gate, who facade.Identity) bool {
	return len(g.Approvers) > 0 && gate.Knows(g.Approvers, []string{who.Known})
}

// mostUrgentFirst compares open requests: those with a deadline come first, then the oldest.
func mostUrgentFirst(a, b engine.OpenRequest) int {
	switch {
	case a.Deadline.IsZero() != b.Deadline.IsZero():
		if a.Deadline.IsZero() {
			return 1
		}
		return -1
	default:
		return cmp.Or(a.Deadline.Compare(b.Deadline), view.OldestFirst(a, b))
	}
}

// groupsOf returns sorted requests by their runs, each run where its first request is.
func groupsOf(open []engine.OpenRequest) (groups []group) {
	at := map[engine.Key]int{}
	for _, o := range open {
		i, known := at[o.Run]
		if !known {
			i = len(groups)
			at[o.Run], groups = i, append(groups, group{Run: o.Run})
		}
		groups[i].Rows = append(groups[i].Rows, o)
	}
	for i, g := range groups {
		groups[i].Together = len(together(g.Rows)) > 0
	}
	return groups
}

// together returns the first of some requests that have the same options, if these are at least
// two.
func together(open []engine.OpenRequest) (same []engine.OpenRequest) {
	for i, first := range open {
		same = nil
		for _, o := range open[i:] {
			if isPlain(o) && o.Type == first.Type && slices.EqualFunc(o.Options, first.Options, sameOption) && slices.Equal(o.CommentRequired, first.CommentRequired) {
				same = append(same, o)
			}
		}
		if len(same) > 1 {
			return same
		}
	}
	return nil
}

// isPlain reports whether an option, and perhaps a comment, is all that answers a request.
func isPlain(o engine.OpenRequest) bool {
	option, _ := answer.TakesAttempts(o)
	return len(o.Options) > 0 && !o.FreeText && len(o.Several)+len(o.Items)+len(o.Editable)+len(o.Changed) == 0 && option == ""
}

// sameOption reports whether two options have the same name and mean the same to people.
func sameOption(a, b engine.RequestOption) bool {
	return a.ID == b.ID && a.Description == b.Description
}

// fillAnswered fills in the closed requests that fit, the newest first.
func (l *listView) fillAnswered(v *workspace.Workspace, found []loop.Found, fits func(...string) bool) {
	var only func(view.Closed) bool
	if l.Query != "" {
		only = func(c view.Closed) bool {
			return fits(c.Prompt, c.Run.String(), c.Type, c.RequestID, c.User, c.Response)
		}
	}
	closed, more := view.NewestClosed(v, found, mostAnswered, only)
	l.More = more
	for _, c := range closed {
		l.Answered = append(l.Answered, answeredRow{
			Name: c.Run.String() + ":" + c.RequestID, Question: cmp.Or(firstLine(c.Prompt, ""), c.RequestID), RunName: console.Brief(c.Run),
			ending: endingOf(l.Lang, c),
		})
	}
}

// Link returns the address of a tab of the list, filtered as this one.
func (l listView) Link(tab string) string {
	q := url.Values{}
	for name, value := range map[string]string{"tab": tab, "q": l.Query, "family": l.Family} {
		if value != "" && value != tabOpen {
			q.Set(name, value)
		}
	}
	return "/" + strings.TrimSuffix("?"+q.Encode(), "?")
}

// IsEmpty reports whether the list shows nothing.
func (l listView) IsEmpty() bool { return len(l.Groups)+len(l.Answered) == 0 }

// IsNarrowed reports whether the list leaves something out.
func (l listView) IsNarrowed() bool { return l.Query != "" || l.Family != "" }

// nextOf returns the request that the list shows after another, which may be gone by now: the next
// one of the same run, else of any, else the first. ok is false if nothing else is open.
func nextOf(c *facade.Call, v *workspace.Workspace, last engine.OpenRequest) (next engine.OpenRequest, ok bool) {
	found := slices.DeleteFunc(v.Runs(), func(f loop.Found) bool { return !c.Who.Sees(f.Run.Family) })
	open := slices.DeleteFunc(lookAt(v, c, found, false).Open(), func(o engine.OpenRequest) bool { return view.NameOf(o) == view.NameOf(last) })
	if len(open) == 0 {
		return next, false
	}
	slices.SortStableFunc(open, mostUrgentFirst)
	i := slices.IndexFunc(open, func(o engine.OpenRequest) bool { return o.Run == last.Run })
	if i < 0 {
		i = slices.IndexFunc(open, func(o engine.OpenRequest) bool { return mostUrgentFirst(o, last) > 0 })
	}
	return open[max(0, i)], true
}

// utc returns a time for a page, whose reader may be in any zone.
func utc(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// dueShort says in a few words how long a request can be answered, and what happens then.
func dueShort(lang string, now time.Time, o engine.OpenRequest) string {
	said := ""
	switch {
	case o.Overdue:
		said = phrase(lang, "page.late", "ago", console.Ago(lang, now, o.Deadline))
	case !o.Deadline.IsZero():
		said = phrase(lang, "page.left", "left", console.Left(lang, now, o.Deadline)) + console.Suffix(", ", console.OneLine(o.AtDeadline))
	default:
		said = templates.Text(lang, "page.unlimited")
	}
	return said + console.Suffix(", ", view.SinceNobodyWaits(lang, now, o))
}

// shownQuestion limits how much of a question a list shows, in characters.
const shownQuestion = 240

// question returns a request's question on one line.
func question(o engine.OpenRequest) string { return firstLine(o.Prompt, o.Summary) }

// firstLine returns a question on one line. A heading in brackets asks nothing, so the summary
// replaces it.
func firstLine(prompt, summary string) string {
	first, _, more := strings.Cut(strings.TrimSpace(prompt), "\n")
	if more && summary != "" && strings.HasPrefix(first, "[") && strings.HasSuffix(strings.TrimSpace(first), "]") {
		first = summary
	}
	return console.Cut(console.OneLine(strings.TrimLeft(first, "# ")), shownQuestion)
}
