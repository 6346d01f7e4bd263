package web

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/engine"
	"placet/engine/facade"
	"placet/templates"
)

// mostListed limits the requests that the inbox shows.
const mostListed = 2000

// inboxPage shows the open requests, oldest first.
func (a *App) inboxPage(c *facade.Call) (int, any, error) {
	v := a.reader(c)
	found, err := narrowed(v, c)
	if err != nil {
		return 0, nil, err
	}
	s := lookAt(v, c, found, false)
	open := s.Open()
	query := strings.ToLower(strings.TrimSpace(c.Text("q")))
	if query != "" {
		open = slices.DeleteFunc(open, func(o engine.OpenRequest) bool {
			return !strings.Contains(strings.ToLower(strings.Join([]string{o.Prompt, o.Summary, o.Run.String(), o.Where, o.Type, o.Request}, "\n")), query)
		})
	}
	head := a.head(c, "inbox", templates.Text(a.language(c), "page.inbox"))
	data := struct {
		pageHead
		State         view.Inbox
		Count, More   int
		Query, Family string
		Families      []string
	}{
		pageHead: head, State: view.InboxOf(v, s, open[:min(len(open), mostListed)]), Count: len(open), More: max(0, len(open)-mostListed),
		Query: c.Text("q"), Family: c.Text("family"), Families: slices.DeleteFunc(v.FamilyNames(), func(name string) bool { return !c.Who.Sees(name) }),
	}
	return 0, nil, a.show(c, http.StatusOK, head.Lang, "inbox", data)
}

// utc returns a time for a page, whose reader may be in any zone.
func utc(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// shownQuestion limits how much of a question a list shows, in characters.
const shownQuestion = 240

// question returns a request's question on one line. A heading in brackets asks nothing, so the
// summary replaces it.
func question(o engine.OpenRequest) string {
	first, _, more := strings.Cut(strings.TrimSpace(o.Prompt), "\n")
	if more && o.Summary != "" && strings.HasPrefix(first, "[") && strings.HasSuffix(strings.TrimSpace(first), "]") {
		first = o.Summary
	}
	return console.Cut(console.OneLine(strings.TrimLeft(first, "# ")), shownQuestion)
}
