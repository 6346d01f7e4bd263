package gate

import (
	"fmt"

	"placet/engine"
	"placet/templates"
)

// Unanswered is the result of what a state says of a request that it still asks.
const Unanswered = "open"

// Comparison holds what a run's state document says of its requests against the receipts
// beside it. Both are written by one transition: where they differ, a merge took one
// from each side, or somebody changed one of them.
type Comparison struct {
	Snap engine.Snapshot
	// State is the path of the state document, and Revision its revision.
	State    string
	Revision int
	Folders  []*Folder
	// Stated is what the state says of the request of a folder with a receipt, as the
	// receipt that it calls for: with the result [Unanswered] for one that it still asks,
	// nil for one that it does not know.
	Stated func(*Folder) *Receipt
	// Adopted returns the revision of the state that a person adopted last, 0 for none.
	// What that state says counts, whatever the receipts say. Nil where no state can be
	// adopted.
	Adopted func() int
}

// Contradictions are the findings about receipts that tell another history than the
// state. Each says how to mend it. What the next pass carries out is none, nor is a
// receipt that is missing: it is written again.
func (c Comparison) Contradictions() []engine.Finding {
	var list []engine.Finding
	for _, f := range c.Folders {
		if f.Receipt == nil {
			continue
		}
		stated := c.Stated(f)
		words := c.contradiction(*f.Receipt, stated)
		if words == "" || c.adopted(stated) {
			continue
		}
		list = append(list, engine.Finding{
			Severity: "error", Path: c.State, Urgent: true,
			Text: fmt.Sprintf("%s says %s, and state.json %s: a merge may have taken one from each side, or somebody changed one%s",
				c.Snap.Rel(f.ReceiptDoc.Path), f.Receipt.outcome(), words, Restoring(c.Snap)),
		})
	}
	return list
}

// Restoring says how to take a run's files from one side of a merge.
func Restoring(s engine.Snapshot) string {
	dir := templates.ShellWord(s.Dir)
	return fmt.Sprintf(". Take all files of the run from one side: git log -- %s lists the commits, git restore --source=COMMIT -- %s brings one back", dir, dir)
}

// contradiction is what the state says that the receipt does not, "" where they agree.
// It takes an answer or a passed deadline, on either side, to contradict anything.
func (c Comparison) contradiction(r Receipt, stated *Receipt) string {
	switch {
	case stated == nil && r.decides():
		return fmt.Sprintf("of revision %d does not know that answer", c.Revision)
	case stated == nil:
	case stated.Result == Unanswered && r.decides() && r.Revision <= c.Revision:
		return fmt.Sprintf("of revision %d still asks that request", c.Revision)
	case stated.Result == Unanswered:
	case (r.decides() || stated.decides()) && !r.agrees(*stated):
		if words := stated.outcome(); words != r.outcome() {
			return "says " + words
		}
		return "says so with another comment"
	}
	return ""
}

// adopted reports whether what the state says was there when a person adopted it.
func (c Comparison) adopted(stated *Receipt) bool {
	if c.Adopted == nil {
		return false
	}
	at, revision := c.Adopted(), 1
	if stated != nil {
		revision = max(stated.Revision, revision)
	}
	return revision <= at
}

// decides reports whether a request was decided, by an answer or its deadline.
func (r Receipt) decides() bool { return r.Result == Accepted || r.Result == Expired }

// agrees reports whether a receipt and what a state says are about the same decision. A
// state that does not say who answered says nothing else.
func (r Receipt) agrees(stated Receipt) bool {
	by := r.Result != Accepted || stated.ProvidedBy == By{} || r.ProvidedBy == stated.ProvidedBy
	return by && r.Result == stated.Result && Fold(r.Response) == Fold(stated.Response) && sameSet(r.Selected, stated.Selected) &&
		plainText(r.Comment) == plainText(stated.Comment)
}

// outcome says what became of a request.
func (r Receipt) outcome() string {
	switch {
	case r.Result == Expired:
		return "that the deadline took " + said(r.Response, r.Selected)
	case r.Result != Accepted:
		return templates.Inline(r.Result)
	case r.ProvidedBy.User == "":
		return said(r.Response, r.Selected)
	}
	return said(r.Response, r.Selected) + " by " + templates.Inline(r.ProvidedBy.Shown(r.KnownAs))
}
