package web

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"

	"placet/cmd/placet/view"
	"placet/engine"
	"placet/engine/facade"
)

// section is a part of a list. Its items are sorted by keys with that many words.
type section struct {
	name    string
	words   int
	compare func(a, b []string) int
}

// These are the sections of lists. Open requests are listed oldest first, closed ones newest
// first.
var (
	openSection   = section{"open", 3, slices.Compare[[]string]}
	closedSection = section{"closed", 3, func(a, b []string) int {
		if a[0] != b[0] {
			return slices.Compare(b[:1], a[:1])
		}
		return slices.Compare(a, b)
	}}
	runSection = section{"runs", 2, slices.Compare[[]string]}
)

// sortableTime is the format of a time in UTC whose text sorts as the time does.
const sortableTime = "2006-01-02T15:04:05.000000000Z"

// openKey returns a key that sorts as [view.OldestFirst] does.
func openKey(o engine.OpenRequest) []string {
	return []string{o.RequestedAt.UTC().Format(sortableTime), o.Run.String(), o.Request}
}

// closedKey returns a key that sorts as [view.ClosedRequests] does.
func closedKey(l view.Closed) []string { return []string{l.DecidedAt, l.Run.String(), l.RequestID} }

// cursor says after which item of a list its next page begins. The item may be gone by then:
// its place in the order is enough.
type cursor struct {
	Section string   `json:"s"`
	Key     []string `json:"k"`
}

func (c cursor) String() string {
	text, _ := json.Marshal(c) // it has only strings
	return base64.RawURLEncoding.EncodeToString(text)
}

// readCursor reads a cursor of a list with some sections.
func readCursor(text string, sections []section) (c cursor, err error) {
	body, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(body, &c)
	}
	i := slices.IndexFunc(sections, func(s section) bool { return s.name == c.Section })
	if err != nil || i < 0 || len(c.Key) != sections[i].words {
		return c, errors.New("after takes what an earlier page of this list has as next")
	}
	return c, nil
}

// pager cuts one page out of a list of sections.
type pager struct {
	sections []section
	after    cursor // zero for the beginning of the list
	left     int    // items that the page still takes
	// next is the cursor of the next page, "" while no further item is known.
	next string
	last cursor // of the last item of the page
}

// newPager reads from a call which page of a list it requests.
func newPager(c *facade.Call, sections ...section) (*pager, error) {
	p := &pager{sections: sections, left: c.Number("limit")}
	if text := c.Text("after"); text != "" {
		after, err := readCursor(text, sections)
		if err != nil {
			return nil, facade.Invalid(facade.FieldError{Loc: []string{"query", "after"}, Msg: err.Error(), Type: "value_error"})
		}
		p.after = after
	}
	return p, nil
}

// lists reports whether the page can have items of a section.
func (p *pager) lists(s section) bool {
	at := func(name string) int {
		return slices.IndexFunc(p.sections, func(one section) bool { return one.name == name })
	}
	return at(s.name) >= 0 && at(s.name) >= at(p.after.Section) && p.next == ""
}

// take returns the items of a section that belong on the page. It must be called for the
// sections in their order, with sorted lists.
func take[T any](p *pager, s section, list []T, key func(T) []string) []T {
	if !p.lists(s) {
		return nil
	}
	if s.name == p.after.Section {
		list = slices.DeleteFunc(slices.Clone(list), func(x T) bool { return s.compare(key(x), p.after.Key) <= 0 })
	}
	more := len(list) > p.left
	if more {
		list = list[:p.left]
	}
	p.left -= len(list)
	if len(list) > 0 {
		p.last = cursor{s.name, key(list[len(list)-1])}
	}
	if more {
		p.next = p.last.String()
	}
	return list
}
