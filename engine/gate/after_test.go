package gate

import (
	"errors"
	"strings"
	"testing"

	"placet/engine"
	"placet/layout"
)

// decided returns the receipt of the review's approval.
func decided(over engine.Document) Receipt {
	return Receipt{
		RequestID: review().RequestID, Result: Accepted, Response: "approve", Comment: "Looks good",
		ProvidedBy: By{User: "jm", Source: "cli"}, Answer: &Answered{Path: "requests/x/response.json", SHA256: over.Sum.Hex()},
		DecidedAt: "2025-12-06T18:15:01Z",
	}
}

func TestTheSameAnswerAgainIsNothingNew(t *testing.T) {
	over := file("response.json", response("approve", `,"comment":"Looks good"`))
	withDigest := decided(over)
	withDigest.Answer.SHA256 = "sha256:" + withDigest.Answer.SHA256
	for name, c := range map[string]struct {
		r    Receipt
		docs []engine.Document
	}{
		"nothing left":               {decided(over), nil},
		"the file decided over":      {decided(over), []engine.Document{over}},
		"written with its prefix":    {withDigest, []engine.Document{over}},
		"spelled otherwise":          {decided(over), []engine.Document{file("response.json", response(" APPROVE ", ""))}},
		"another comment":            {decided(over), []engine.Document{file("response.json", response("approve", `,"comment":"again"`))}},
		"the form says so too":       {decided(over), []engine.Document{over, file("form.md", form(t, "approve", submitID))}},
		"an older form says so":      {decided(over), []engine.Document{over, file("form.md", olderForm(t, "approve", submitID))}},
		"an unsent form":             {decided(over), []engine.Document{over, file("form.md", form(t, "reject"))}},
		"a form sent with no option": {decided(over), []engine.Document{over, file("form.md", form(t, submitID))}},
		"what cannot be read":        {decided(over), []engine.Document{file("response.json", "{"), file(copyName, ""), file("form.md", "")}},
		"an unknown word":            {decided(over), []engine.Document{file("response.json", response("perhaps", ""))}},
		"two options":                {decided(over), []engine.Document{file("form.md", form(t, "approve", "reject", submitID))}},
		"no comment where it needs":  {decided(over), []engine.Document{file("response.json", response("request_changes", ""))}},
		"what cannot be opened": {decided(over), []engine.Document{
			{Path: dir + "/response.json", Kind: layout.KindResponse, Err: errors.New("is a FIFO")},
			{Path: present, Kind: layout.KindForm, Err: engine.ErrUnsettled},
		}},
		"other files": {decided(over), []engine.Document{file("request.json", response("reject", "")), file("problem.md", form(t, "reject", submitID))}},
	} {
		a := asking(c.docs...)
		if text := After(c.r, a); text != "" {
			t.Errorf("%s: %s", name, text)
		}
	}
}

func TestADifferentAnswerAfterTheReceiptIsExplained(t *testing.T) {
	over := file("response.json", response("approve", ""))
	closed := "was answered with `approve` by `jm` (`cli`) at 2025-12-06T18:15:01Z. It is closed, and another answer moves nothing."
	for _, c := range []struct {
		name string
		docs []engine.Document
		want []string
	}{
		{"in the response", []engine.Document{file("response.json", response("reject", ""))}, []string{"- `" + dir + "/response.json` says `reject`."}},
		{"in the form", []engine.Document{over, file("form.md", form(t, "reject", submitID))}, []string{"- `" + present + "` says `reject`."}},
		{"in an older form", []engine.Document{over, file("form.md", olderForm(t, "reject", submitID))}, []string{"- `" + present + "` says `reject`."}},
		{"in a copy", []engine.Document{over, file(copyName, response("reject", ""))}, []string{copyName + "` says `reject`."}},
		{"in several", []engine.Document{file("form.md", form(t, "reject", submitID)), file("response.json", response("request_changes", `,"comment":"x"`))},
			[]string{"says `reject`.", "says `request_changes`."}},
		{"an item more", []engine.Document{file("response.json", response("approve", `,"selected":["s1"]`))}, []string{"says `approve` with `s1`."}},
		{"for another request", []engine.Document{file("response.json", responseTo("fr-2", "approve", ""))}, []string{"answers the request `fr-2`, this one is `fr-20251206-a1b2c3`."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := asking(c.docs...)
			a.Request.Items = []Item{{ID: "s1"}}
			text := After(decided(over), a)
			for _, want := range append(c.want, closed) {
				if !strings.Contains(text, want) {
					t.Errorf("the text lacks %q:\n%s", want, text)
				}
			}
		})
	}
}

func TestAnAnswerToAClosedRequestIsToldHowItWasClosed(t *testing.T) {
	for _, c := range []struct {
		name string
		r    Receipt
		want string
	}{
		{"by its deadline", Receipt{RequestID: review().RequestID, Result: Expired, Response: "reject", DecidedAt: "2025-12-09T18:00:00Z"},
			"passed its deadline, which took `reject` at 2025-12-09T18:00:00Z."},
		{"by another request", Receipt{RequestID: review().RequestID, Result: Superseded, SupersededBy: "fr-2"}, "was replaced by `fr-2`."},
		{"by something newer", Receipt{RequestID: review().RequestID, Result: Superseded}, "was replaced by another."},
		{"by a person", Receipt{RequestID: review().RequestID, Result: Cancelled}, "was cancelled."},
	} {
		text := After(c.r, asking(file("response.json", response("approve", ""))))
		if !strings.Contains(text, c.want) {
			t.Errorf("%s: the text lacks %q:\n%s", c.name, c.want, text)
		}
	}
}

func TestAfterFreeTextTheTextsAreCompared(t *testing.T) {
	r := decided(engine.Document{})
	r.Response = "Use UTF-8\nplease"
	unsent := mustForm(t, clarification())
	for _, c := range []struct {
		name  string
		doc   engine.Document
		other bool
	}{
		{"the same", file("response.json", response(`Use UTF-8\nplease`, "")), false},
		{"the same in a form, with CRLF", file("form.md", strings.ReplaceAll(comment(tick(unsent, submitID), "Use UTF-8\nplease"), "\n", "\r\n")), false},
		{"another", file("form.md", comment(tick(unsent, submitID), "Use UTF-16")), true},
		{"none", file("form.md", tick(unsent, submitID)), false},
	} {
		a := asking(c.doc)
		a.Request = clarification()
		if text := After(r, a); (text != "") != c.other {
			t.Errorf("%s: %q", c.name, text)
		}
	}
}

func TestAfterASelectionTheItemsAreCompared(t *testing.T) {
	r := decided(engine.Document{})
	r.Selected = []string{"s1", "s2"}
	for selected, other := range map[string]bool{`["s2","S1"]`: false, `["s1"]`: true, `["s1","s2","s3"]`: true, `[]`: true} {
		a := asking(file("response.json", response("approve", `,"selected":`+selected)))
		a.Request.Items = []Item{{ID: "s1"}, {ID: "s2"}, {ID: "s3"}}
		if text := After(r, a); (text != "") != other {
			t.Errorf("%s: %q", selected, text)
		}
	}
	r.Response = ""
	a := asking(file("response.json", response("", `,"selected":["s1","s2"]`)))
	if text := After(r, a); text != "" {
		t.Errorf("items alone: %q", text)
	}
}
