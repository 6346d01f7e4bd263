package gate

import (
	"strings"
	"testing"

	"placet/engine"
)

// A receipt contradicts a state only if the state says something else about the same
// answer.
func TestWhatContradictsAState(t *testing.T) {
	by := func(user string) By { return By{User: user, Source: SourceFile} }
	approved := Receipt{Result: Accepted, Response: "approve", Selected: []string{"one", "two"}, Comment: "a word", ProvidedBy: by("kim"), Revision: 5}
	with := func(change func(*Receipt)) *Receipt {
		r := approved
		change(&r)
		return &r
	}
	expired := &Receipt{Result: Expired, Response: "later", Revision: 5}
	closed := func(result string) *Receipt { return &Receipt{Result: result, Revision: 5} }
	still := &Receipt{Result: Unanswered}
	for name, c := range map[string]struct {
		receipt, stated *Receipt
		adopted         int
		says            string // "" for no contradiction
	}{
		"the same":                     {receipt: &approved, stated: &approved},
		"other letters and order":      {receipt: with(func(r *Receipt) { r.Response, r.Selected = "Approve", []string{"Two", "one"} }), stated: &approved},
		"another time and proof":       {receipt: with(func(r *Receipt) { r.DecidedAt, r.Reason, r.KnownAs = "later", "so", nil }), stated: &approved},
		"taken again later":            {receipt: with(func(r *Receipt) { r.Revision = 9 }), stated: &approved},
		"a state that names nobody":    {receipt: &approved, stated: with(func(r *Receipt) { r.ProvidedBy = By{} })},
		"no receipt":                   {stated: &approved},
		"ahead of its state":           {receipt: &approved, stated: still},
		"closed ahead of its state":    {receipt: closed(Cancelled), stated: still},
		"a left-over, closed":          {receipt: &Receipt{Result: Cancelled, Revision: 4}, stated: still},
		"closed twice":                 {receipt: closed(Cancelled), stated: closed(Superseded)},
		"closed, and not known":        {receipt: closed(Superseded)},
		"the same deadline":            {receipt: expired, stated: expired},
		"adopted":                      {receipt: &approved, stated: closed(Cancelled), adopted: 5},
		"adopted while it was asked":   {receipt: with(func(r *Receipt) { r.Revision = 4 }), stated: still, adopted: 4},
		"adopted without it":           {receipt: &approved, adopted: 4},
		"answered, and given up":       {receipt: &approved, stated: closed(Cancelled), says: "says `approve` with `one`, `two` by kim, and state.json says cancelled: "},
		"given up, and answered":       {receipt: closed(Cancelled), stated: &approved, says: "says cancelled, and state.json says `approve`"},
		"another option":               {receipt: with(func(r *Receipt) { r.Response = "reject" }), stated: &approved, says: "says `reject` with `one`, `two` by kim, and state.json says `approve`"},
		"another selection":            {receipt: with(func(r *Receipt) { r.Selected = []string{"one"} }), stated: &approved, says: "says `approve` with `one` by kim, and state.json says `approve` with `one`, `two` by kim"},
		"another person":               {receipt: with(func(r *Receipt) { r.ProvidedBy = by("lee") }), stated: &approved, says: "by lee, and state.json says `approve` with `one`, `two` by kim"},
		"another comment":              {receipt: with(func(r *Receipt) { r.Comment = "no" }), stated: &approved, says: "by kim, and state.json says so with another comment"},
		"answered, and expired":        {receipt: &approved, stated: expired, says: "and state.json says that the deadline took `later`"},
		"expired, and answered":        {receipt: expired, stated: &approved, says: "says that the deadline took `later`, and state.json says `approve`"},
		"answered, and asked":          {receipt: with(func(r *Receipt) { r.Revision = 4 }), stated: still, says: "and state.json of revision 4 still asks that request"},
		"answered, and not known":      {receipt: &approved, says: "and state.json of revision 4 does not know that answer"},
		"answered after the adoption":  {receipt: &approved, stated: closed(Cancelled), adopted: 4, says: "and state.json says cancelled"},
		"a claimed name, in two lines": {receipt: with(func(r *Receipt) { r.ProvidedBy, r.KnownAs = by("lee\nx"), []string{"claimed:lee\nx"} }), stated: closed(Cancelled), says: "by lee x (claimed), and"},
	} {
		f := &Folder{ID: "q", Dir: "a run/requests/q", Receipt: c.receipt, ReceiptDoc: engine.Document{Path: "a run/requests/q/receipt.json"}}
		got := Comparison{
			Snap: engine.Snapshot{Dir: "a run"}, State: "a run/state.json", Revision: 4, Folders: []*Folder{f},
			Stated: func(*Folder) *Receipt { return c.stated }, Adopted: func() int { return c.adopted },
		}.Contradictions()
		if c.says == "" {
			if len(got) > 0 {
				t.Errorf("%s: %+v", name, got)
			}
			continue
		}
		mend := "git log -- 'a run' lists the commits, git restore --source=COMMIT -- 'a run' brings one back"
		if len(got) != 1 || !got[0].Urgent || got[0].Severity != "error" || got[0].Path != "a run/state.json" ||
			!strings.HasPrefix(got[0].Text, "requests/q/receipt.json says ") || !strings.Contains(got[0].Text, c.says) || !strings.HasSuffix(got[0].Text, mend) {
			t.Errorf("%s: %+v, want %q", name, got, c.says)
		}
	}
}
