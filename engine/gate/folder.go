package gate

import (
	"path"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/layout"
	"placet/templates"
)

// Folder is the folder of one request, read from a snapshot.
type Folder struct {
	// ID is the folder's name, Dir its path relative to the workspace.
	ID, Dir string
	Docs    []engine.Document
	// Doc is request.json, absent if it does not exist, and Request its content, nil if it
	// cannot be used.
	Doc     engine.Document
	Request *Request
	// Receipt is nil if it is missing or bad; ReceiptDoc is its document.
	Receipt    *Receipt
	ReceiptDoc engine.Document
	BadReceipt bool
	// Voids are the answers that never count, nil for none. BadVoids is true if void.json
	// is not what this machine wrote, or cannot be used: then no answer counts.
	Voids    *Voids
	VoidsDoc engine.Document
	BadVoids bool
}

// Folders returns a run's request folders, sorted by id.
func Folders(s engine.Snapshot) []*Folder {
	var all []*Folder
	docs := s.Under(layout.RequestsDir)
	deeper := func(d engine.Document) bool { // is no answer
		return strings.Count(strings.TrimPrefix(d.Path, s.Dir+"/"+layout.RequestsDir+"/"), "/") != 1
	}
	if slices.ContainsFunc(docs, deeper) {
		docs = slices.DeleteFunc(slices.Clone(docs), deeper)
	}
	for len(docs) > 0 {
		dir := path.Dir(docs[0].Path)
		n := slices.IndexFunc(docs, func(d engine.Document) bool {
			return !strings.HasPrefix(d.Path, dir) || strings.LastIndexByte(d.Path, '/') != len(dir)
		})
		if n < 0 {
			n = len(docs)
		}
		f := EmptyFolder(s.Dir, path.Base(dir))
		f.read(docs[:n:n])
		all, docs = append(all, f), docs[n:]
	}
	slices.SortStableFunc(all, func(a, b *Folder) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// Find returns the folder of a request among those of a run, or an empty one if it is not
// written yet.
func Find(all []*Folder, runDir, id string) *Folder {
	if i, ok := slices.BinarySearchFunc(all, id, func(f *Folder, id string) int { return strings.Compare(f.ID, id) }); ok {
		return all[i]
	}
	return EmptyFolder(runDir, id)
}

// EmptyFolder returns the folder of a request that is not written yet.
func EmptyFolder(runDir, id string) *Folder {
	dir := path.Join(runDir, layout.RequestsDir, id)
	return &Folder{ID: id, Dir: dir, Doc: engine.Document{Path: dir + "/request.json", Err: engine.ErrAbsent}}
}

func (f *Folder) read(docs []engine.Document) {
	f.Docs = docs
	for _, d := range docs {
		switch d.Kind {
		case layout.KindRequest:
			f.Doc = d
			if d.Present() {
				if q, err := engine.ParseIssued(d, "kernel/request", readRequest); err == nil {
					f.Request = q
				}
			}
		case layout.KindReceipt:
			f.readReceipt(d)
		case layout.KindVoid:
			f.readVoids(d)
		}
	}
}

func (f *Folder) readReceipt(d engine.Document) {
	if !d.Present() {
		f.BadReceipt = !d.Absent()
		return
	}
	rc, err := engine.ParseIssued(d, "kernel/receipt", readReceipt)
	if err != nil {
		f.BadReceipt = true
		return
	}
	f.Receipt, f.ReceiptDoc = rc, d
}

// Reissued returns request.json made with the times of the present one; ok is true if that
// gives the same bytes. A request that a crash left without its transition keeps its times,
// because its form may already have been answered. Only a request that this machine wrote
// keeps them: otherwise the times of others would become deadlines.
func (f *Folder) Reissued(make func(requestedAt, deadline string) []byte) (body []byte, ok bool) {
	if f.Request == nil || !f.Doc.IssuedHere() {
		return nil, false
	}
	body = make(f.Request.RequestedAt, f.Request.Deadline)
	return body, engine.Sum(body) == f.Doc.Sum
}

// Altered returns why request.json is not what was issued, or nil if it is, or is gone. The
// records of this machine must agree with the state.
func (f *Folder) Altered(issued engine.Digest) error {
	switch {
	case f.Doc.Absent():
		return nil
	case f.Doc.Err != nil:
		return f.Doc.Err
	case f.Doc.Sum == issued && (f.Doc.Issued == nil || slices.Contains(f.Doc.Issued, f.Doc.Sum) && !f.Doc.IsOlder()):
		return nil
	}
	return templates.Errorf("gate.altered")
}

// Ahead returns the decision of a receipt whose transition the state has not made. Such a
// decision is already a fact. ok is false if no receipt counts; problem says why the
// present one does not. A receipt that closes a request without an answer decides nothing.
func (f *Folder) Ahead(a Evaluation) (d Decision, problem string, ok bool) {
	rc := f.Receipt
	if rc == nil || rc.Revision <= a.Revision || f.ReceiptDoc.IssuedHere() && rc.Result != Accepted && rc.Result != Expired {
		return Decision{}, "", false
	}
	at, _ := time.Parse(time.RFC3339, rc.DecidedAt)
	d, problem = Verify(Claim{
		Source: FromReceipt, RequestID: rc.RequestID, Answer: rc.Given(), Place: f.ReceiptDoc.Path, At: at, Receipt: rc,
		Issued: f.ReceiptDoc.IssuedHere(),
	}, a)
	return d, problem, d.Counts()
}

// Unsettled reports whether a file of the folder may still be being written.
func (f *Folder) Unsettled() bool {
	return slices.ContainsFunc(f.Docs, engine.Document.Unsettled)
}

// Unanswered is the result of a request that the state still asks.
const Unanswered = "open"

// Comparison compares what a run's state document says about its requests with the receipts
// beside it. One transition writes both: if they differ, a merge took one from each side,
// or somebody changed one of them.
type Comparison struct {
	// Lang is the language of the findings.
	Lang string
	Snap engine.Snapshot
	// State is the path of the state document, and Revision its revision.
	State    string
	Revision int
	Folders  []*Folder
	// Stated returns what the state says about the request of a folder with a receipt, in
	// the form of the receipt that the state calls for: with the result [Unanswered] if the
	// state still asks it, nil if the state does not know it.
	Stated func(*Folder) *Receipt
	// Adopted returns the revision of the state that a person adopted last, 0 for none.
	// What that state says counts, whatever the receipts say. Nil if no state can be
	// adopted.
	Adopted func() int
}

// Contradictions returns the findings about receipts that disagree with the state. Each
// says how to repair it. A receipt that the next pass carries out does not contradict the
// state, and a missing receipt is written again.
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
			Text: templates.Phrase(c.Lang, "gate.contradiction", "file", c.Snap.Rel(f.ReceiptDoc.Path), "said", f.Receipt.outcome(c.Lang),
				"state", words, "restoring", Restoring(c.Snap)),
		})
	}
	return list
}

// Restoring returns how to restore a run's files from one side of a merge.
func Restoring(s engine.Snapshot) templates.Message {
	return templates.NewMessage("gate.restoring", "dir", templates.ShellWord(s.Dir))
}

// contradiction returns what the state says that contradicts the receipt, "" if they agree.
// Only an answer or a passed deadline, on either side, can contradict anything.
func (c Comparison) contradiction(r Receipt, stated *Receipt) string {
	switch {
	case stated == nil && r.decides():
		return templates.Phrase(c.Lang, "gate.contradiction.unknown", "revision", c.Revision)
	case stated == nil:
	case stated.Result == Unanswered && r.decides() && r.Revision <= c.Revision:
		return templates.Phrase(c.Lang, "gate.contradiction.asks", "revision", c.Revision)
	case stated.Result == Unanswered:
	case (r.decides() || stated.decides()) && !r.agrees(*stated):
		if words := stated.outcome(c.Lang); words != r.outcome(c.Lang) {
			return templates.Phrase(c.Lang, "gate.contradiction.says", "said", words)
		}
		return templates.Phrase(c.Lang, "gate.contradiction.comment")
	}
	return ""
}

// adopted reports whether the state already said this when a person adopted it.
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

// decides reports whether an answer or the deadline decided the request.
func (r Receipt) decides() bool { return r.Result == Accepted || r.Result == Expired }

// agrees reports whether a receipt and the state's version of it are about the same
// decision. A state that does not say who answered agrees with every author.
func (r Receipt) agrees(stated Receipt) bool {
	by := r.Result != Accepted || stated.ProvidedBy == By{} || r.ProvidedBy == stated.ProvidedBy
	return by && r.Result == stated.Result && Fold(r.Response) == Fold(stated.Response) && sameSet(r.Selected, stated.Selected) &&
		plainText(r.Comment) == plainText(stated.Comment) && slices.Equal(r.Edits, stated.Edits)
}

// Repeats reports whether a receipt records the decision in the state, about the view that
// the state names.
func (r Receipt) Repeats(stated Receipt) bool {
	return r.RequestID == stated.RequestID && r.Digest == stated.Digest && r.agrees(stated)
}

// outcome returns the result of a request in words.
func (r Receipt) outcome(lang string) string {
	words := said(lang, r.Response, r.Selected, r.Edits)
	switch {
	case r.Result == Expired:
		return templates.Phrase(lang, "gate.outcome.expired", "said", words)
	case r.Result != Accepted:
		return templates.Inline(r.Result)
	case r.ProvidedBy.User == "":
		return words
	}
	return templates.Phrase(lang, "gate.outcome.by", "said", words, "user", templates.Inline(r.ProvidedBy.Shown(lang, r.KnownAs)))
}
