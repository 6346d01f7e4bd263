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

// other returns what a file says that differs from the receipt, "" for what could not
// have been an answer while the request was open.
func (a Asked) other(r Receipt, d engine.Document) string {
	claim, err := a.claim(d)
	if err != nil {
		return ""
	}
	if claim.RequestID != r.RequestID {
		return fmt.Sprintf("- %s answers the request %s, this one is %s.", code(d.Path), quoted(claim.RequestID), code(r.RequestID))
	}
	if a.checkWords(&claim.Answer) != "" || a.same(r, claim.Answer) {
		return ""
	}
	return fmt.Sprintf("- %s says %s.", code(d.Path), said(claim.Response, claim.Selected))
}

// claim returns what an answer file says.
func (a Asked) claim(d engine.Document) (Claim, error) {
	if d.Kind != layout.KindForm {
		return a.responseClaim(d)
	}
	f, err := readForm(d.Body, a.Request)
	return a.formClaim(d, f), err
}

// same reports whether an answer is the one that the receipt records. Which of several
// options is called the response does not matter.
func (a Asked) same(r Receipt, answer Answer) bool {
	if a.Request.FreeText() {
		return plainText(answer.Response) == plainText(r.Response) && sameSet(answer.Selected, r.Selected)
	}
	return sameSet(append(answer.Selected, answer.Response), append([]string{a.Request.spelled(r.Response)}, r.Selected...))
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
