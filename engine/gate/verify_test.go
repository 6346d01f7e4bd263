package gate

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/templates"
)

// taken returns a receipt of the next revision that fits, and its evaluation.
func taken() (Receipt, Evaluation) {
	rc := Receipt{
		RequestID: review().RequestID, Result: Accepted, Response: "approve", ProvidedBy: By{User: "jm", Source: "cli"},
		KnownAs: []string{"owner:jm", "signed:jm"}, Digest: view, DecidedAt: now.Format(time.RFC3339), Revision: 5,
	}
	a := asking()
	a.Revision = 4
	return rc, a
}

func claimOf(rc Receipt) Claim {
	at, _ := time.Parse(time.RFC3339, rc.DecidedAt)
	return Claim{Source: FromReceipt, RequestID: rc.RequestID, Answer: rc.Given(), Place: dir + "/receipt.json", At: at, Receipt: &rc}
}

// A receipt that this machine did not write counts if it fits in every respect, as a claim,
// and if the gate demands no more.
func TestAReceiptOfOthersMustFit(t *testing.T) {
	for name, c := range map[string]struct {
		change func(rc *Receipt, a *Evaluation)
		ok     bool
		says   string
	}{
		"it fits":              {change: func(*Receipt, *Evaluation) {}, ok: true},
		"another request":      {change: func(rc *Receipt, _ *Evaluation) { rc.RequestID = "fr-2" }, says: "answers the request `fr-2`"},
		"no digest":            {change: func(rc *Receipt, _ *Evaluation) { rc.Digest = "" }, says: "of nothing that was shown"},
		"a digest of zeros":    {change: func(rc *Receipt, _ *Evaluation) { rc.Digest = engine.Digest("sha256:" + strings.Repeat("0", 64)) }, says: "of nothing that was shown"},
		"the revision after":   {change: func(rc *Receipt, _ *Evaluation) { rc.Revision++ }, says: "it is of revision 6, and the next is 5"},
		"superseded":           {change: func(rc *Receipt, _ *Evaluation) { rc.Result = Superseded }, says: "none that moves a run"},
		"no such option":       {change: func(rc *Receipt, _ *Evaluation) { rc.Response = "maybe" }, says: "none of the options"},
		"no comment":           {change: func(rc *Receipt, _ *Evaluation) { rc.Response = "request_changes" }, says: "needs a comment"},
		"no time":              {change: func(rc *Receipt, _ *Evaluation) { rc.DecidedAt = "soon" }, says: "decided_at is `soon`"},
		"a deadline's answer":  {change: func(rc *Receipt, _ *Evaluation) { rc.ProvidedBy.Source = SourceDeadline }, says: "the deadline gave an answer"},
		"an altered request":   {change: func(_ *Receipt, a *Evaluation) { a.Altered = "it changed" }, says: "not as it was issued (it changed)"},
		"expired, no deadline": {change: func(rc *Receipt, _ *Evaluation) { rc.Result = Expired }, says: "neither settings nor state say so"},
		"expired too early": {change: func(rc *Receipt, a *Evaluation) {
			rc.Result, a.Request.Deadline, a.Request.Default = Expired, now.Add(time.Second).Format(time.RFC3339), "approve"
		}, says: "neither settings nor state say so"},
		"expired to another": {change: func(rc *Receipt, a *Evaluation) {
			rc.Result, a.Request.Deadline, a.Request.Default = Expired, now.Add(-time.Second).Format(time.RFC3339), "reject"
		}, says: "neither settings nor state say so"},
		"expired": {change: func(rc *Receipt, a *Evaluation) {
			rc.Result, a.Request.Deadline, a.Request.Default = Expired, now.Add(-time.Second).Format(time.RFC3339), "approve"
		}, ok: true},
		"approvers": {change: func(_ *Receipt, a *Evaluation) { a.Gate.Approvers = []string{"jm"} }, says: "*not verified*"},
		"a level":   {change: func(_ *Receipt, a *Evaluation) { a.Gate.Level = "signed" }, says: "*not verified*"},
	} {
		rc, a := taken()
		c.change(&rc, &a)
		d, problem := Verify(claimOf(rc), a)
		if d.Counts() != c.ok || (problem == "") != c.ok || !strings.Contains(problem, c.says) {
			t.Errorf("%s: counts %v, %q", name, d.Counts(), problem)
		}
		if c.ok && (!d.Unproven() || d.Reason() != unissued("en") || strings.Contains(strings.Join(d.Known, " "), "owner:") || d.Expired() != (rc.Result == Expired)) {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// A receipt that this machine wrote is a fact under every gate, except for another request.
func TestOurReceiptIsFact(t *testing.T) {
	rc, a := taken()
	a.Gate.Approvers, rc.Digest = []string{"kim"}, ""
	c := claimOf(rc)
	c.Issued = true
	if d, problem := Verify(c, a); !d.Counts() || d.Unproven() || strings.Join(d.Known, " ") != "owner:jm signed:jm" {
		t.Errorf("%+v %q", d, problem)
	}
	a.Altered = "it changed" // so the receipt may be of another question
	if d, _ := Verify(c, a); d.Counts() {
		t.Errorf("%+v", d)
	}
	a.Altered, c.RequestID = "", "fr-2"
	if d, _ := Verify(c, a); d.Counts() {
		t.Errorf("%+v", d)
	}
}

// Records that anybody can write prove nothing: they count only at the level file, and not
// if approvers are listed.
func TestARecordIsAClaim(t *testing.T) {
	for _, source := range []Source{FromHistory, FromEvent, FromStamp} {
		a := asking()
		c := Claim{Source: source, RequestID: a.Request.RequestID, Place: "there"}
		c.Response, c.By.User = "Approve", "jm"
		d, problem := Verify(c, a)
		if !d.Counts() || strings.Join(d.Known, " ") != "claimed:jm" {
			t.Errorf("%d: %+v %q", source, d, problem)
		}
		a.Gate.Approvers = []string{"jm"}
		if d, problem := Verify(c, a); d.Counts() || !strings.Contains(problem, "`there` is *not verified*") || !strings.Contains(problem, "only `jm` may answer") {
			t.Errorf("%d: %+v %q", source, d, problem)
		}
		a.Gate.Approvers, c.RequestID = nil, "fr-2"
		if d, _ := Verify(c, a); d.Counts() {
			t.Errorf("%d counts for another request", source)
		}
	}
}

// A request that a crash left keeps its times only if this machine wrote it.
func TestOnlyOursIsReissued(t *testing.T) {
	body, err := review().Encode()
	if err != nil {
		t.Fatal(err)
	}
	f := EmptyFolder("run", review().RequestID)
	d := file("request.json", string(body))
	f.read([]engine.Document{d})
	same := func(string, string) []byte { return body }
	if _, ok := f.Reissued(same); ok {
		t.Error("a request that somebody planted keeps its times")
	}
	d.Issued = []engine.Digest{d.Sum}
	f.read([]engine.Document{d})
	if _, ok := f.Reissued(same); !ok {
		t.Error("placet's own request loses its times")
	}
}

// Unverified says why a receipt is not to be believed.
func TestUnverified(t *testing.T) {
	request := file("request.json", `{}`)
	c := engine.Config{Gates: map[string]engine.Gate{"faber/review": {Level: "file", Approvers: []string{"jm"}}}}
	rc, _ := taken()
	receipt := file("receipt.json", "{}")
	over := rc
	over.Answer = &Answered{Path: "x"}
	claim := over
	claim.Reason = unissued("ko")
	ours := receipt
	ours.Issued = []engine.Digest{receipt.Sum}
	other := receipt
	other.Issued = []engine.Digest{engine.Sum([]byte("another"))}
	for name, x := range map[string]struct {
		c    engine.Config
		d    engine.Document
		rc   Receipt
		want string
	}{
		"anybody's, no gate":           {engine.Config{}, receipt, rc, ""},
		"replaced, no gate":            {engine.Config{}, other, rc, "not verified: it was changed since placet wrote it"},
		"anybody's":                    {c, receipt, over, "not verified"},
		"ours over an answer":          {c, ours, over, ""},
		"ours over nobody's file":      {c, ours, rc, "not verified"},
		"ours over another's receipt":  {c, ours, claim, "not verified"},
		"one that decides nothing":     {c, receipt, Receipt{Result: Superseded}, ""},
		"anybody's, of another family": {engine.Config{Gates: map[string]engine.Gate{"afl": {Approvers: []string{"x"}}}}, receipt, rc, ""},
	} {
		if got := templates.In("en", Unverified(x.c, "faber", request, x.d, x.rc)); got != x.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Only Verify makes a decision. Other packages can only make the zero Decision, which does
// not count.
func TestVerifyAloneMakesDecisions(t *testing.T) {
	if (Decision{}).Counts() {
		t.Fatal("the zero Decision counts")
	}
	made := 0
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		for _, d := range f.Decls {
			ast.Inspect(d, func(n ast.Node) bool {
				lit, ok := n.(*ast.CompositeLit)
				if !ok || len(lit.Elts) == 0 {
					return true
				}
				if name, ok := lit.Type.(*ast.Ident); ok && name.Name == "Decision" {
					if fn, ok := d.(*ast.FuncDecl); !ok || fn.Name.Name != "Verify" {
						t.Errorf("%s: a decision is made outside of Verify", path)
					}
					made++
				}
				return true
			})
		}
		return nil
	})
	if err != nil || made != 1 {
		t.Errorf("%d decisions are made, %v", made, err)
	}
}
