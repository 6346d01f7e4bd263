package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"placet/cmd/placet/actions"
	"placet/cmd/placet/answer"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/facade"
	"placet/engine/gate"
	"placet/engine/loop"
)

// requestList is one page of the inbox.
type requestList struct {
	view.Inbox
	// Closed are requests that have their receipt, if the call asks for them.
	Closed []view.Closed `json:"closed"`
	// Next is the value of after for the next page, "" for none.
	Next string `json:"next"`
}

// listRequests answers with the open requests, oldest first, with the closed ones, newest first,
// or with both.
func (a *App) listRequests(c *facade.Call) (int, any, error) {
	v := a.viewer(c)
	found, err := narrowed(v, c)
	if err != nil {
		return 0, nil, err
	}
	sections := []section{openSection, closedSection}
	switch c.Text("status") {
	case "open":
		sections = sections[:1]
	case "closed":
		sections = sections[1:]
	}
	p, err := newPager(c, sections...)
	if err != nil {
		return 0, nil, err
	}
	s := lookAt(v, c, found, false)
	list := requestList{Inbox: view.InboxOf(v, s, take(p, openSection, ofType(s.Open(), c.Text("type")), openKey)), Closed: []view.Closed{}}
	if p.lists(closedSection) {
		closed := slices.DeleteFunc(view.ClosedRequests(v, found), func(l view.Closed) bool { return c.Text("type") != "" && l.Type != c.Text("type") })
		list.Closed = append(list.Closed, take(p, closedSection, closed, closedKey)...)
	}
	list.Next = p.next
	return 0, list, nil
}

// ofType returns only the requests of a type; "" returns all.
func ofType(open []engine.OpenRequest, typ string) []engine.OpenRequest {
	return slices.DeleteFunc(open, func(o engine.OpenRequest) bool { return typ != "" && o.Type != typ })
}

// lookAt views runs for a call, and leaves out what its caller may not see.
func lookAt(v *workspace.Workspace, c *facade.Call, found []loop.Found, all bool) view.Summary {
	s := view.LookAtRuns(v, found, all)
	s.KeepFamilies(v, c.Who.Sees)
	return s
}

// narrowed returns the runs that a call is about, of those that its caller may see.
func narrowed(v *workspace.Workspace, c *facade.Call) ([]loop.Found, error) {
	found := v.Runs()
	if name := c.Text("run"); name != "" {
		found = slices.DeleteFunc(found, func(f loop.Found) bool { return f.Key().String() != name })
	}
	family := c.Text("family")
	if err := knownFamily(v, family); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(f loop.Found) bool {
		return !c.Who.Sees(f.Run.Family) || family != "" && f.Run.Family != family
	}), nil
}

// knownFamily refuses a filter by a family that is not enabled; "" is no filter.
func knownFamily(v *workspace.Workspace, family string) error {
	if family == "" || v.Serves(family) {
		return nil
	}
	return facade.Invalid(facade.UnknownWord("family", family, v.FamilyNames()))
}

// requestNamed returns the request that a call names: by its id, or "<run>:<id>". It guesses
// nothing, and does not find a request that the caller may not see.
func requestNamed(v *workspace.Workspace, c *facade.Call) (view.RequestAt, error) {
	return requestAmong(v, c.Values["id"], c.Who.Sees)
}

// requestAmong returns the request of a name, among those of the families that sees accepts.
func requestAmong(v *workspace.Workspace, name string, sees func(family string) bool) (view.RequestAt, error) {
	at, err := view.ExactRequest(v, name)
	if p := (*console.Problem)(nil); errors.As(err, &p) {
		fits := slices.DeleteFunc(p.Fits, func(fit string) bool {
			family, _, _ := strings.Cut(fit, "/")
			return !sees(family)
		})
		switch len(fits) {
		case 0:
			return at, noRequest(name)
		case 1:
			return view.ExactRequest(v, fits[0])
		}
		return at, facade.Deny(http.StatusConflict, "ambiguous", "page.no.several", "name", strconv.Quote(console.OneLine(name)), "n", len(fits)).With("fits", fits)
	}
	if err == nil && !sees(at.Found.Run.Family) {
		return at, noRequest(name)
	}
	return at, err
}

func noRequest(name string) error {
	return facade.Deny(http.StatusNotFound, "not_found", "page.no.request", "name", strconv.Quote(console.OneLine(name)))
}

// getRequest answers with all that is known of a request.
func (a *App) getRequest(c *facade.Call) (int, any, error) {
	v := a.viewer(c)
	at, err := requestNamed(v, c)
	if err != nil {
		return 0, nil, err
	}
	if t, ok := view.OpenRequestAt(v, at); ok {
		return 0, view.OpenDataOf(v, t), nil
	}
	return 0, view.ClosedDataOf(v, at), nil
}

// longestArtifact limits the files that are sent, in bytes.
const longestArtifact = 1 << 20

// getArtifact answers with a file that a request shows: as it was asked about, as it is now, or
// the difference.
func (a *App) getArtifact(c *facade.Call) (int, any, error) {
	v := a.viewer(c)
	at, err := requestNamed(v, c)
	if err != nil {
		return 0, nil, err
	}
	files := view.ClosedDataOf(v, at).Artifacts
	n, err := strconv.Atoi(c.Values["n"])
	if err != nil || n < 1 || n > len(files) {
		return 0, nil, facade.Refuse(http.StatusNotFound, "not_found", fmt.Sprintf("the request shows %d files: they are counted from 1", len(files)))
	}
	f := files[n-1]
	now := v.Artifact(f.Path)
	h := c.Writer.Header()
	h.Set("Placet-Now", became(f, now))
	body, err := versionOf(v, f, now, c.Text("version"))
	if err != nil {
		return 0, nil, err
	}
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", attachmentName(f.Path)))
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	_, _ = c.Writer.Write(body)
	return 0, nil, nil
}

// became says how a file has changed since it was asked about.
func became(f view.ArtifactLine, now engine.Document) string {
	switch {
	case !now.Present():
		return "missing"
	case f.Changed():
		return "changed"
	}
	return "same"
}

// versionOf returns a version of a file: asked, now or diff.
func versionOf(v *workspace.Workspace, f view.ArtifactLine, now engine.Document, version string) ([]byte, error) {
	switch version {
	case "diff":
		lines, more := view.Difference(v, f, now)
		if lines == nil && f.Changed() {
			return nil, facade.Refuse(http.StatusNotFound, "not_found", "what changed cannot be shown: the request does not hold the file as it was, or it is no text")
		}
		return []byte(strings.Join(differences(lines, more), "\n")), nil
	case "asked":
		if text, ok := view.ShownVersion(v, f); ok {
			return []byte(text), nil
		}
		if f.Changed() {
			return nil, facade.Refuse(http.StatusNotFound, "not_found", "the request does not hold the file as it was: version=now gives it as it is")
		}
	}
	switch {
	case !now.Present():
		return nil, facade.Refuse(http.StatusNotFound, "not_found", "the file is gone, or cannot be read")
	case len(now.Body) > longestArtifact:
		return nil, facade.Refuse(http.StatusRequestEntityTooLarge, "too_large", "the file is larger than 1 MiB: read it in the workspace")
	}
	return now.Body, nil
}

// differences returns the lines of a diff, with a line that counts the others.
func differences(lines []string, more int) []string {
	if more > 0 {
		lines = append(lines, fmt.Sprintf("… %d more lines", more))
	}
	return lines
}

// changesOf returns the binding files that have changed since they were asked about, with the
// changes of each.
func changesOf(v *workspace.Workspace, t view.Request) map[string][]string {
	changes := map[string][]string{}
	for _, f := range view.ChangedLines(v, t) {
		changes[console.OneLine(f.Path)] = differences(view.Difference(v, f, v.Artifact(f.Path)))
	}
	return changes
}

// attachmentName returns the name of a file in letters that no header misreads.
func attachmentName(file string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r) {
			return r
		}
		return '_'
	}, path.Base(file))
}

// answerBody is the body of an answer's call.
type answerBody struct {
	Response string   `json:"response"`
	Selected []string `json:"selected"`
	Comment  string   `json:"comment"`
	// Edits are the changed texts of editable files.
	Edits []gate.Edit `json:"edits"`
	// Digest is the digest of what was shown. It is required.
	Digest string `json:"digest"`
}

// answered is the outcome of an answer.
type answered struct {
	answer.Written
	Receipt *gate.Receipt `json:"receipt"`
}

// postAnswer writes an answer, and waits a while for its outcome.
func (a *App) postAnswer(c *facade.Call) (int, any, error) {
	var body answerBody
	if err := c.Decode(&body, false); err != nil {
		return 0, nil, err
	}
	v := a.viewer(c)
	at, err := requestNamed(v, c)
	if err != nil {
		return 0, nil, err
	}
	if body.Digest == "" {
		return 0, nil, facade.Invalid(facade.FieldError{Loc: []string{"body", "digest"}, Msg: "digest is missing: that of what was shown", Type: "missing"})
	}
	return a.answer(c.Context(), v, c.Who, at, body.Digest, answer.Reply{
		Option: body.Response, Selected: body.Selected, Comment: body.Comment, Edits: body.Edits, By: c.Who.User,
	})
}

// answer gives an answer for a person who was shown what the digest says. The API, the pages and
// Nemawashi's dialect come here.
func (a *App) answer(ctx context.Context, v *workspace.Workspace, who facade.Identity, at view.RequestAt, shown string, r answer.Reply) (int, any, error) {
	t, open := view.OpenRequestAt(v, at)
	if !open {
		return a.answerClosed(v, at, r)
	}
	if err := checkShown(v, t, shown); err != nil {
		return 0, nil, err
	}
	if t.FreeText {
		r = inWords(r)
	}
	wait := a.waiters.add(at.Found.Run, func(d engine.Document) bool {
		return path.Dir(d.Path) == path.Dir(t.Response) && slices.Contains([]string{"receipt.json", "problem.md"}, path.Base(d.Path))
	})
	defer a.waiters.remove(wait)
	ctx, stop := context.WithTimeout(ctx, a.o.Wait)
	defer stop()
	done, err := answer.Submit(ctx, v, t, r)
	if err != nil {
		return 0, nil, a.refusal(v, who, t, r, err)
	}
	return awaitReceipt(ctx, v, at, done, wait)
}

// awaitReceipt waits for the outcome of a written answer. Another answer, or the end of the
// request, may come first.
func awaitReceipt(ctx context.Context, v *workspace.Workspace, at view.RequestAt, done answer.Written, wait *waiter) (int, any, error) {
	var closed view.Closed
	ok := false
	if len(wait.come) == 0 { // otherwise this process has written the outcome
		closed, ok = view.ClosedRequest(v, at)
	}
	for {
		if ok && !closed.IsDoubtful() {
			if !answer.Took(closed, done.Reply()) {
				return 0, nil, closedOtherwise(view.ClosedOf(v, at))
			}
			return 0, answered{done, &closed.Receipt}, nil
		}
		select {
		case d := <-wait.come:
			if path.Base(d.Path) == "receipt.json" {
				closed, ok = view.ClosedBy(v, at, d) // the loop of this process wrote it, so nobody reads it again
			} else if problem := problemOf(v, at, done); problem != "" {
				return 0, nil, facade.Refuse(http.StatusConflict, "unusable", problem)
			} else {
				closed, ok = view.ClosedRequest(v, at)
			}
		case <-ctx.Done():
			return http.StatusAccepted, answered{Written: done}, nil
		}
	}
}

// problemOf returns why a written answer does not count, "" without a note about it: a note may
// be about an earlier answer there, or about one beside it.
func problemOf(v *workspace.Workspace, at view.RequestAt, done answer.Written) string {
	t, open := view.OpenRequestAt(v, at)
	if !open || t.Counts || !answer.IsInPlace(v, t, done.Response) {
		return ""
	}
	return engine.NoteBody(t.Problem)
}

// inWords returns a reply to a request that takes free text, which may come as a comment.
func inWords(r answer.Reply) answer.Reply {
	if r.Option == "" && len(r.Selected) == 0 {
		r.Option, r.Comment = r.Comment, ""
	}
	return r
}

// checkShown refuses an answer to a request that was shown differently, or whose files have
// changed.
func checkShown(v *workspace.Workspace, t view.Request, shown string) error {
	if !view.IsShown(v, t.OpenRequest, shown) {
		return facade.Deny(http.StatusConflict, "stale", "page.no.shown").With("digest", t.Digest)
	}
	if t.Problem == "" {
		return nil // nothing stops an answer
	}
	if file := actions.ChangedFile(v, t.Found); file != "" {
		return facade.Deny(http.StatusConflict, "draft_changed", "page.no.draft", "file", file)
	}
	if files := view.ChangedLines(v, t); len(files) > 0 {
		return facade.Deny(http.StatusConflict, "stale", "page.no.artifact", "file", console.OneLine(files[0].Path)).With("digest", t.Digest).With("diff", changesOf(v, t))
	}
	return nil
}

// answerClosed answers a reply to a closed request: repeating its answer is fine.
func (a *App) answerClosed(v *workspace.Workspace, at view.RequestAt, r answer.Reply) (int, any, error) {
	closed, ok := view.ClosedRequest(v, at)
	if !ok {
		return 0, nil, facade.Deny(http.StatusConflict, "closed", "page.no.asked").With("state", "closed")
	}
	if answer.Took(closed, r) || answer.Took(closed, inWords(r)) {
		return 0, answered{answer.AnsweredBefore(v, closed), &closed.Receipt}, nil
	}
	return 0, nil, closedOtherwise(closed)
}

// closedOtherwise refuses an answer to a request that was closed by something else.
func closedOtherwise(closed view.Closed) error {
	p := facade.Deny(http.StatusConflict, "closed", "page.no.closed", "answer", closed).With("state", closed.Receipt.Result)
	if next := closed.Receipt.SupersededBy; next != "" {
		p = p.With("superseded_by", next)
	}
	return p
}

// refusal returns why an answer was not accepted, and counts one whose author may not answer.
func (a *App) refusal(v *workspace.Workspace, who facade.Identity, t view.Request, r answer.Reply, err error) error {
	var p *console.Problem
	if !errors.As(err, &p) {
		return err
	}
	switch p.Kind {
	case console.KindNotApprover:
		a.refused.add(a.b, view.Refusal{At: time.Now().UTC(), Run: t.Run.String(), Request: t.Request, Who: who.Known, Answer: r.Option}, a.o.Log)
		return facade.Deny(http.StatusForbidden, "not_an_approver", "page.no.approver").With("approvers", t.Approvers)
	case console.KindChanged:
		return facade.Deny(http.StatusConflict, "stale", "say.text", "text", p).With("diff", changesOf(v, t))
	case console.KindUnusable:
		return facade.Deny(http.StatusConflict, console.KindUnusable, "say.text", "text", p)
	case console.KindInPlace:
		return facade.Deny(http.StatusConflict, "answer_in_place", "say.text", "text", p)
	case console.KindInTheWay:
		return facade.Deny(http.StatusConflict, console.KindInTheWay, "say.text", "text", p)
	case console.KindBusy:
		return facade.Deny(http.StatusServiceUnavailable, console.KindBusy, "page.no.again", "problem", p)
	case console.KindUnwritable:
		a.o.Log.Warn("an answer cannot be written", "request", t.Request, "err", err)
		return facade.Deny(http.StatusServiceUnavailable, "unavailable", "page.no.written")
	}
	return facade.InvalidFor(p)
}
