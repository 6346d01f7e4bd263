package gate

import (
	"fmt"
	"slices"
	"strings"

	"placet/engine"
	"placet/layout"
	"placet/templates"
)

// After returns the text of problem.md for what stands in a request folder
// once its receipt does: "" where that is the same answer again or nothing
// that was sent, else what the other answers say and why they move nothing.
// What cannot be read, or says nothing that could have counted, is no answer: the note
// about it goes with the request.
func After(r Receipt, a Asked) string {
	var others []string
	for _, kind := range []string{layout.KindResponse, layout.KindResponseCopy, layout.KindForm} {
		for _, d := range a.Docs {
			if d.Kind != kind || !r.mayDiffer(d) {
				continue
			}
			if text := a.other(r, d); text != "" {
				others = append(others, text)
			}
		}
	}
	if len(others) == 0 {
		return ""
	}
	return strings.Join(others, "\n") + "\n\n" + r.closed()
}

// Others reports whether a folder holds anything that After has to read. Nearly all
// requests of the past have nothing of the kind.
func Others(r Receipt, docs []engine.Document) bool { return slices.ContainsFunc(docs, r.mayDiffer) }

// mayDiffer reports whether a document may say something else than the receipt.
func (r Receipt) mayDiffer(d engine.Document) bool {
	switch d.Kind {
	case layout.KindForm:
		return d.Present() && !r.decidedOver(d.Sum) && filledIn(d)
	case layout.KindResponse, layout.KindResponseCopy:
		return d.Present() && !r.decidedOver(d.Sum)
	}
	return false
}

// decidedOver reports whether the receipt was made over these very bytes.
func (r Receipt) decidedOver(sum engine.Digest) bool {
	return r.Answer != nil && sum != "" && strings.TrimPrefix(r.Answer.SHA256, "sha256:") == sum.Hex()
}

// sent says whether the last item of a form is ticked, whatever else it says.
type sent bool

func readSent(_ string, body []byte) (sent, error) {
	_, ticked := lastItem(strings.Split(normal(body), "\n"))
	return sent(ticked), nil
}

// filledIn reports whether a form is not as placet wrote it, and was sent.
func filledIn(d engine.Document) bool {
	if d.IssuedHere() {
		return false
	}
	sent, _ := engine.Parse(d, readSent)
	return bool(*sent)
}

// other returns what a file says that differs from the receipt.
func (a Asked) other(r Receipt, d engine.Document) string {
	if d.Kind == layout.KindForm {
		return a.otherForm(r, d)
	}
	response, err := a.parseResponse(d)
	switch {
	case err != nil:
		return ""
	case response.RequestID != r.RequestID:
		return fmt.Sprintf("- %s answers the request %s, this one is %s.", code(d.Path), quoted(response.RequestID), code(r.RequestID))
	}
	return a.differs(r, d.Path, a.meant([]string{response.Response}, response.Selected, response.Comment), response.Selected, response.Comment)
}

func (a Asked) otherForm(r Receipt, d engine.Document) string {
	f, err := ReadForm(d.Path, d.Body, a.Request)
	if err != nil {
		return ""
	}
	words := f.Ticked
	if a.Request.FreeText() {
		words = append(words, f.Comment)
	}
	return a.differs(r, d.Path, a.meant(words, f.Items, f.Comment), f.Items, f.Comment)
}

// meant are the words of an answer; of one that names none, the option that
// stands for none.
func (a Asked) meant(words, selected []string, comment string) []string {
	option := a.standsFor(selected, comment)
	if a.Request.FreeText() || option == "" || len(named(words)) > 0 {
		return words
	}
	return []string{option}
}

// differs compares what a file says with the receipt. Saying nothing is no
// answer, and so no other one.
func (a Asked) differs(r Receipt, path string, words, selected []string, comment string) string {
	word := strings.Join(words, ", ")
	if strings.TrimSpace(word) == "" && len(selected) == 0 {
		return ""
	}
	if a.same(r, words, selected) || !a.couldCount(words, selected, comment) {
		return ""
	}
	return fmt.Sprintf("- %s says %s.", code(path), said(word, selected))
}

// couldCount reports whether what a file says could have been taken for an answer while
// the request was open.
func (a Asked) couldCount(words, selected []string, comment string) bool {
	answer := Answer{Selected: selected, Comment: comment}
	if len(words) > 0 {
		answer.Response, answer.Selected = words[0], slices.Concat(words[1:], selected)
	}
	return len(a.Request.Options) == 0 || a.checkWords(&answer) == ""
}

// same reports whether a file says what the receipt says. Where several
// options may be chosen together, it does not matter which of them is called
// the response.
func (a Asked) same(r Receipt, words, selected []string) bool {
	if len(a.Request.Several) > 0 && !a.Request.FreeText() {
		all := named(slices.Concat(words, selected))
		for i, word := range all {
			all[i] = a.Request.spelled(word)
		}
		return sameSet(all, named(append([]string{r.Response}, r.Selected...)))
	}
	response := len(words) == 1 && sameResponse(a.Request, words[0], r.Response) || len(words) == 0 && r.Response == ""
	return response && sameSet(selected, r.Selected)
}

// named leaves out the words that name nothing.
func named(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return strings.TrimSpace(w) == "" })
}

// sameSet compares selections as options and items match.
func sameSet(a, b []string) bool {
	folded := map[string]int{}
	for _, s := range a {
		folded[Fold(s)] |= 1
	}
	for _, s := range b {
		folded[Fold(s)] |= 2
	}
	for _, in := range folded {
		if in != 3 {
			return false
		}
	}
	return true
}

// closed says what became of the request, and that it is over.
func (r Receipt) closed() string {
	var how string
	switch r.Result {
	case Accepted:
		how = fmt.Sprintf("was answered with %s by %s (%s)", said(r.Response, r.Selected), code(r.ProvidedBy.Shown(r.KnownAs)), code(r.ProvidedBy.Source))
	case Expired:
		how = fmt.Sprintf("passed its deadline, which took %s", quoted(r.Response))
	case Superseded:
		how = "was replaced by another"
		if r.SupersededBy != "" {
			how = "was replaced by " + code(r.SupersededBy)
		}
	default:
		how = "was " + templates.Inline(r.Result)
	}
	if r.DecidedAt != "" {
		how += " at " + templates.Inline(r.DecidedAt)
	}
	return fmt.Sprintf("The request %s %s. It is closed, and another answer moves nothing. Take it back, or answer a request that is open.", code(r.RequestID), how)
}
