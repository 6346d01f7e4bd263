package run

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"placet/engine"
	"placet/engine/gate"
	"placet/layout"
	"placet/schemas"
)

const runDir = "runs/one"

// body is what placet would write, theirs what somebody else wrote.
const (
	body   = "placet's\n"
	older  = "placet's, of another transition\n"
	theirs = "theirs\n"
)

// docs are documents of the run by their paths.
type docs map[string]engine.Document

func (all docs) writing(fresh bool) (*Outputs, *engine.Notes) {
	notes := &engine.Notes{}
	s := engine.Snapshot{Dir: runDir}
	for rel, d := range all {
		d.Path = runDir + "/" + rel
		if d.Err == nil {
			d.Sum = engine.Sum(d.Body)
		}
		s.Docs = append(s.Docs, d)
	}
	slices.SortFunc(s.Docs, func(a, b engine.Document) int { return strings.Compare(a.Path, b.Path) })
	return &Outputs{
		snap: s, notes: notes, Fresh: fresh,
		document: func(rel string, body []byte) engine.Document {
			return engine.Document{Path: runDir + "/" + rel, Body: body}
		},
		foreign: func(d engine.Document) bool { return string(d.Body) == theirs },
	}, notes
}

func of(text string) engine.Document { return engine.Document{Body: []byte(text)} }

func refused() engine.Document {
	return engine.Document{Err: &fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission}}
}

func TestWhatStandsIsKept(t *testing.T) {
	for _, c := range []struct {
		name       string
		stands     docs
		fresh, now bool
		once       bool // whether Once writes
		always     bool // whether Always writes
		note       string
	}{
		{name: "nothing stands", once: true, always: true},
		{name: "the same stands", stands: docs{"report.md": of(body)}, fresh: true, now: true},
		{name: "a left-over of this transition", stands: docs{"report.md": of(older)}, fresh: true, now: true, once: true, always: true},
		{name: "of an earlier transition", stands: docs{"report.md": of(older)}, fresh: true, always: true},
		{name: "the transition is fact", stands: docs{"report.md": of(older)}, now: true, always: true},
		{name: "somebody else's", stands: docs{"report.md": of(theirs)}, fresh: true, now: true, note: "did not write"},
		{name: "no permission", stands: docs{"report.md": refused()}, fresh: true, now: true, note: "cannot be read"},
		{name: "still being written", stands: docs{"report.md": {Err: engine.ErrUnsettled}}, fresh: true, now: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, notes := c.stands.writing(c.fresh)
			w.Once("report.md", c.now, func() []byte { return []byte(body) })
			written(t, w, c.once)
			if got := notes.Text(runDir + "/report.md.problem.md"); !strings.Contains(got, c.note) || (got == "") != (c.note == "") {
				t.Errorf("note %q, want one with %q", got, c.note)
			}
			w, _ = c.stands.writing(c.fresh)
			w.Always("report.md", []byte(body))
			written(t, w, c.always)
		})
	}
}

// written checks whether report.md is planned, over the present file.
func written(t *testing.T, w *Outputs, want bool) {
	t.Helper()
	if got := len(w.Plan.Writes) == 1; got != want {
		t.Fatalf("planned %v, want %v", got, want)
	}
	if want && (string(w.Plan.Writes[0].Body) != body || w.Plan.Writes[0].Over != w.snap.In("report.md").Sum) {
		t.Errorf("planned %+v", w.Plan.Writes[0])
	}
}

// toyRun is a run that opens the request r.
type toyRun = Run[toyState, struct{}]

type toyState struct {
	Revision int
	Requests []*Request
}

type toyLayout struct{ layout.Ask }

func (toyLayout) Name() string { return "toy" }

var toyFamily = &Family[toyState, struct{}]{
	Layout: toyLayout{}, Posts: func(struct{}, *Outputs) {},
	Questions: map[string]Question[struct{}]{"approval": {
		Fill: func(_ struct{}, q *Request, req *gate.Request) schemas.Object {
			req.Prompt, req.Options = "Go on?", []gate.Option{{ID: "approve", Effect: "goes on"}, {ID: "reject", Effect: "stops"}}
			if q.Subject != "" {
				req.Options[1].ID = string(q.Subject)
			}
			return nil
		},
		Title: func(struct{}, *Request) gate.Texts { return gate.Texts{} },
	}},
}

// asking returns the request r of a run, the only one, as its state stores it.
func asking(w *Outputs, change func(*Request)) *issue[toyState, struct{}] {
	q := &Request{ID: "r", Type: "approval", Revision: 1, OpenedAt: "2026-03-02T09:12:03Z", Status: Open}
	change(q)
	r := &toyRun{Input: Input{Snap: w.snap}, f: toyFamily, Folders: gate.Folders(w.snap), State: toyState{1, []*Request{q}}, issues: map[*Request]*issue[toyState, struct{}]{}}
	r.head = Head{Revision: &r.State.Revision, Requests: &r.State.Requests}
	if q.Digest == "" {
		q.Digest = Text(engine.Sum(r.newIssue(q).body()))
	}
	return r.issue(q)
}

func TestTheFilesOfARequest(t *testing.T) {
	w, _ := docs{}.writing(true)
	made := asking(w, func(*Request) {})
	made.outputs(w)
	asked, form := string(w.Plan.Writes[0].Body), string(w.Plan.Writes[1].Body)
	empty, answered := strings.Replace(form, "Go on", "Goes on", 1), strings.ReplaceAll(form, "- [ ]", "- [x]")
	leftOver := strings.Replace(asked, "Go on", "Go", 1)
	for _, c := range []struct {
		name    string
		stands  docs
		fresh   bool
		lost    bool // request.json cannot be made again
		written string
	}{
		{name: "none stands", fresh: true, written: "request.json form.md"},
		{name: "both stand", stands: docs{"request.json": of(asked), "form.md": of(empty)}},
		{name: "the form is gone", stands: docs{"request.json": of(asked)}, written: "form.md"},
		{name: "the request is gone", stands: docs{"form.md": of(empty)}, written: "request.json"},
		{name: "the request is gone for good", stands: docs{"form.md": of(empty)}, lost: true},
		{name: "a left-over nobody touched", stands: docs{"request.json": of(leftOver), "form.md": of(empty)}, fresh: true, written: "request.json form.md"},
		{name: "a left-over that was answered", stands: docs{"request.json": of(leftOver), "form.md": of(answered)}, fresh: true, written: "request.json"},
		{name: "an altered request", stands: docs{"request.json": of(leftOver), "form.md": of(empty)}},
		{name: "an unreadable request", stands: docs{"request.json": refused()}, fresh: true},
		{name: "an unreadable form", stands: docs{"request.json": of(leftOver), "form.md": refused()}, fresh: true, written: "request.json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := docs{}
			for name, d := range c.stands {
				d.Kind = map[string]string{"request.json": layout.KindRequest, "form.md": layout.KindForm}[name]
				all[layout.RequestsDir+"/r/"+name] = d
			}
			w, _ := all.writing(c.fresh)
			asking(w, func(q *Request) {
				if c.lost {
					q.Digest = Text(engine.Sum([]byte("another")))
				}
			}).outputs(w)
			if got := names(w.Plan.Writes); got != c.written {
				t.Errorf("planned %q, want %q", got, c.written)
			}
			for _, d := range w.Plan.Writes {
				if got := string(d.Body); got != asked && got != form {
					t.Errorf("planned %s", got)
				}
			}
		})
	}
}

func names(all []engine.Document) string {
	var list []string
	for _, d := range all {
		list = append(list, d.Path[strings.LastIndexByte(d.Path, '/')+1:])
	}
	return strings.Join(list, " ")
}

func TestAFormThatCannotBeMadeIsNoted(t *testing.T) {
	w, notes := docs{}.writing(true)
	asking(w, func(q *Request) { q.Subject = "Approve" }).outputs(w)
	if got := notes.Text(runDir + "/state.json.problem.md"); !strings.Contains(got, "cannot ask r: ") {
		t.Errorf("note %q", got)
	}
}

func TestAReceiptIsWrittenOnce(t *testing.T) {
	closed := func(q *Request) { q.Status, q.ClosedRevision = gate.Cancelled, 2 }
	w, _ := docs{}.writing(false)
	asking(w, closed).outputs(w)
	if len(w.Plan.Writes) != 1 {
		t.Fatalf("planned %s", names(w.Plan.Writes))
	}
	if got, err := gate.ReadReceipt("receipt.json", w.Plan.Writes[0].Body); err != nil || got.Result != gate.Cancelled || got.Revision != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	unread := refused()
	unread.Kind = layout.KindReceipt
	w, notes := docs{layout.RequestsDir + "/r/receipt.json": unread}.writing(false)
	asking(w, closed).outputs(w)
	if got := notes.Text(runDir + "/requests/r/problem.md"); len(w.Plan.Writes) > 0 || !strings.Contains(got, "receipt.json cannot be read") {
		t.Errorf("planned %s, note %q", names(w.Plan.Writes), got)
	}
}
