package faber

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/faber/comment"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// What somebody writes on the issue of a run is a document of the run: comments/<id>.json. Its receipt
// is its state document: each comment is consumed once, whatever happens to it afterwards.

// Comment is comments/<id>.json.
type Comment struct {
	Author    string      `json:"author"`
	Body      string      `json:"body"`
	CreatedAt string      `json:"created_at"`
	UpdatedAt string      `json:"updated_at,omitzero"`
	URL       string      `json:"url,omitzero"`
	Issue     schemas.Raw `json:"issue,omitzero"`
	Repo      string      `json:"repo,omitzero"`
	// Several are the runs among which the comment does not choose.
	Several []string `json:"several,omitzero"`
}

// Statuses of a comment that was consumed.
const (
	commentAccepted  = "accepted"
	commentRefused   = "refused"
	commentIgnored   = "ignored"
	commentReplied   = "replied"
	commentCancelled = "cancelled"
)

// mostComments is how many comments of a run are read, the newest.
const mostComments = 1000

// given is a comment of the run.
type given struct {
	Comment
	view *view
	id   string
	doc  engine.Document
	comment.Command
}

// consumption is what becomes of a comment.
type consumption struct {
	// status is "" for an answer that is given and not carried out yet: somebody else's may come first.
	status string
	// reason says why the comment does not count.
	reason templates.Message
	// options are shown with a refusal.
	options []string
	// request, answer and digest are of an accepted answer.
	request, response, comment string
	digest                     engine.Digest
	writes                     []engine.Document
}

func refused(key templates.Key, pairs ...any) *consumption {
	return &consumption{status: commentRefused, reason: templates.NewMessage(key, pairs...)}
}

func ignored(key templates.Key, pairs ...any) *consumption {
	return &consumption{status: commentIgnored, reason: templates.NewMessage(key, pairs...)}
}

// commentOutputs consumes the oldest comment that was not consumed, and posts replies.
func commentOutputs(r *view, p *engine.Plan) {
	if !r.isAnnounced() || len(p.Writes) > 0 {
		return
	}
	for _, d := range openComments(r) {
		c, ok := readComment(r, d)
		if !ok {
			continue
		}
		if done := c.consume(); done != nil {
			p.Writes = append(p.Writes, c.documents(done)...)
			return // the next one is judged by what this one does
		}
	}
	for _, reply := range replyPostings(r) {
		reply.plan(p, time.Time{})
	}
}

// openComments returns the comments that were not consumed, the oldest first.
func openComments(r *view) (open []engine.Document) {
	docs := slices.DeleteFunc(slices.Clone(r.Snap.Under(layout.FaberComments)), func(d engine.Document) bool { return d.Kind != layout.FaberComment })
	slices.SortStableFunc(docs, func(a, b engine.Document) int { return cmp.Compare(commentTime(a), commentTime(b)) })
	for _, d := range docs[max(0, len(docs)-mostComments):] {
		if d.Present() || d.Err != nil && !d.Absent() && !d.Unsettled() {
			if r.Snap.In(layout.FaberCommentFile(commentID(d), "receipt.json")).Absent() {
				open = append(open, d)
			}
		}
	}
	return open
}

func commentID(d engine.Document) string { return strings.TrimSuffix(path.Base(d.Path), ".json") }

// commentTime returns when a comment was made, in a form that can be compared; "" if it does not say.
func commentTime(d engine.Document) string {
	c := run.Peek[Comment](d, "faber/comment")
	if c == nil {
		return ""
	}
	return string(run.Millis(moment(c.CreatedAt)))
}

// readComment reads a comment. ok is false while the file may still be being written.
func readComment(r *view, d engine.Document) (c *given, ok bool) {
	c = &given{view: r, id: commentID(d), doc: d}
	said, got := run.Load[Comment](r.Input, d, "faber/comment")
	switch got {
	case run.Good:
		c.Comment, c.Command = *said, comment.Read(said.Body)
	case run.Bad:
		c.Command.Problem = templates.NewMessage("faber.comment.bad")
	default:
		return c, false
	}
	return c, true
}

// consume returns what becomes of the comment, nil while that is not known.
func (c *given) consume() *consumption {
	switch {
	case c.Author == "" && c.Problem.Key != "":
		return refused(c.Problem.Key, c.Problem.Pairs...)
	case comment.IsOwn(c.Body):
		return ignored("faber.comment.own")
	case !c.view.cfg.Issue.Counts(c.Author):
		return ignored("faber.comment.stranger", "user", c.Author)
	case c.Verb == "":
		return ignored("faber.comment.nothing")
	}
	if refusal := c.misplaced(); refusal != nil {
		return refusal
	}
	switch c.Verb {
	case "status":
		return &consumption{status: commentReplied}
	case "cancel":
		return c.cancel()
	}
	return c.resume()
}

// misplaced refuses a comment that names another run, or none of several, and one that was edited or
// cannot be read as one command.
func (c *given) misplaced() *consumption {
	r := c.view
	switch issue := text(c.Issue); {
	case issue != "" && issue != r.workID(), c.Repo != "" && r.repository() != "" && !strings.EqualFold(c.Repo, r.repository()):
		return refused("faber.comment.issue", "issue", "#"+r.workID())
	case c.UpdatedAt != "" && c.UpdatedAt != c.CreatedAt:
		return refused("faber.comment.edited")
	case c.Problem.Key != "":
		return refused(c.Problem.Key, c.Problem.Pairs...)
	case len(c.Several) > 0:
		return refused("faber.comment.runs", "runs", shortRuns(c.Several))
	case c.Run != "" && !NamesRun(r.Snap.Key.ID, c.Run):
		return refused("faber.comment.run", "run", c.Run)
	}
	return nil
}

// NamesRun reports whether a word names a run: its id, or the beginning of its uuid, of four letters or
// more.
func NamesRun(id, word string) bool {
	return word == id || len(word) >= 4 && !strings.Contains(word, "/") && strings.HasPrefix(path.Base(id), strings.ToLower(word))
}

// shortRuns returns how to name one of several runs in a command.
func shortRuns(ids []string) templates.Message {
	word := func(id string) string {
		base := path.Base(id)
		return "--run " + base[:min(8, len(base))]
	}
	list := templates.NewMessage("say.text", "text", word(ids[0]))
	for _, id := range ids[1:] {
		list = templates.NewMessage("list.or", "all", list, "last", word(id))
	}
	return list
}

// resume answers the request that the run asks.
func (c *given) resume() *consumption {
	r, o := c.view, c.view.asked()
	switch {
	case o == nil || o.folder.Receipt != nil:
		if done := c.tookPast(commentAccepted); done != nil {
			return done
		}
		return refused("faber.comment.answered")
	case !o.q.isOpen() || !o.stands || r.Held:
		return nil
	case o.altered != "":
		return nil
	}
	shown, early := o.shownAt(moment(c.CreatedAt))
	if early {
		return ignored("faber.comment.early")
	}
	response, words, problem := c.AnswerTo(questionOf(o.req))
	if problem.Key != "" {
		return refusedBy(o, problem)
	}
	return c.answer(o, gate.Response{RequestID: o.folder.ID, Response: response, Comment: words, Digest: shown})
}

// questionOf returns a request as a comment answers it.
func questionOf(req gate.Request) comment.Question {
	refuses := func(option string) bool { return outcomeOf(req, option) == aborts }
	return comment.Question{Request: req, Agrees: func(option string) bool { return agrees(req, option) }, Refuses: refuses}
}

func refusedBy(o *request, problem templates.Message) *consumption {
	return &consumption{status: commentRefused, reason: problem, options: questionOf(o.req).IDs()}
}

// shownAt returns the digest of the view that was on the issue at a time, that of the request as it
// was issued if nothing was posted. early is true if the request was asked or posted later.
func (o *request) shownAt(at time.Time) (view engine.Digest, early bool) {
	posts := o.posts()
	slices.SortFunc(posts, func(a, b *Posted) int { return a.at().Compare(b.at()) })
	if len(posts) == 0 {
		return cmp.Or(o.formDigest("form.md"), o.issued), at.Before(moment(o.req.RequestedAt).Truncate(time.Second))
	}
	for _, p := range posts {
		if !at.Before(p.at().Truncate(time.Second)) { // GitHub's times are in seconds
			view, early = cmp.Or(p.View, o.formDigest("form.md"), o.issued), false
		} else if view == "" {
			early = true
		}
	}
	return view, early
}

// answer judges an answer as any other is judged, before it is written. It returns nil while the
// answer that is written waits to be carried out.
func (c *given) answer(o *request, resp gate.Response) *consumption {
	r := c.view
	if resp.Digest != o.digest {
		changed := cmp.Or(strings.Join(o.moved, ", "), o.form)
		return refusedBy(o, templates.NewMessage("faber.comment.stale", "files", changed))
	}
	resp.ProvidedBy = gate.By{User: c.Author, Source: gate.SourceIssueComment}
	body, err := resp.Encode()
	if err != nil {
		return refusedBy(o, templates.NewMessage("say.text", "text", err))
	}
	d := engine.Document{
		Path: o.path("response.json"), Kind: layout.KindResponse, Body: body, Sum: engine.Sum(body), Known: []string{c.knownAs()},
		Source: gate.SourceIssueComment, Changed: r.Snap.Now, Modified: r.Snap.Now,
	}
	if there := r.Snap.Doc(d.Path); !there.Absent() {
		if there.Sum == d.Sum {
			return nil
		}
		return refused("faber.comment.answered")
	}
	asked := o.evaluation()
	if level := asked.Gate.Level; level != "" && level != "file" {
		return refusedBy(o, templates.NewMessage("faber.comment.level", "level", level))
	}
	asked.Lang = templates.English
	if _, problem := asked.Check(d); problem != "" {
		return refusedBy(o, templates.NewMessage("say.text", "text", oneLine(problem, 400)))
	}
	return &consumption{writes: []engine.Document{d}}
}

// knownAs returns who wrote the comment, and how that is known: this machine received it from GitHub,
// or only the document says so. Both are claims of whoever can write there.
func (c *given) knownAs() string {
	if c.doc.Source == gate.SourceIssueComment {
		for _, known := range c.doc.Known {
			if known == "github:"+login(c.Author) {
				return known
			}
		}
	}
	return "claimed:" + login(c.Author)
}

// tookPast returns the consumption, with that status, of a comment whose answer closed a request; nil
// if it closed none.
func (c *given) tookPast(status string) *consumption {
	for _, f := range c.view.run.Folders {
		there := c.view.Snap.Doc(f.Dir + "/response.json")
		said := run.Peek[gate.Response](there, "kernel/response")
		if f.Request == nil || f.Receipt == nil || f.Receipt.Answer == nil || said == nil || c.view.isTaken(f.ID) || there.Sum.Hex() != strings.TrimPrefix(f.Receipt.Answer.SHA256, "sha256:") {
			continue
		}
		response, words, problem := c.saysTo(questionOf(*f.Request))
		by := gate.By{User: c.Author, Source: gate.SourceIssueComment}
		if problem.Key == "" && said.ProvidedBy == by && said.Response == response && said.Comment == words && !moment(c.CreatedAt).Before(moment(f.Request.RequestedAt).Truncate(time.Second)) {
			return &consumption{status: status, request: f.ID, response: response, comment: words, digest: said.Digest}
		}
	}
	return nil
}

// isTaken reports whether another comment is the answer to a request, by its receipt. Two comments may
// say the same.
func (r *view) isTaken(request string) bool {
	return slices.ContainsFunc(r.Snap.Under(layout.FaberComments), func(d engine.Document) bool {
		if d.Kind != layout.FaberConsumed {
			return false
		}
		rc := run.Peek[struct {
			Status    string `json:"status"`
			RequestID string `json:"request_id"`
		}](d, "")
		return rc != nil && rc.RequestID == request && (rc.Status == commentAccepted || rc.Status == commentCancelled)
	})
}

// saysTo returns what the comment answers to a question: what it says, or for `@faber cancel` the first
// option that refuses; "" if no option does.
func (c *given) saysTo(q comment.Question) (response, words string, problem templates.Message) {
	if c.Verb != "cancel" {
		return c.AnswerTo(q)
	}
	for _, id := range q.IDs() {
		if isWord(id, ownRefusals) {
			return id, "@faber cancel", problem
		}
	}
	return "", "", problem
}

// cancel refuses what the run asks, or cancels the run.
func (c *given) cancel() *consumption {
	r, o := c.view, c.view.asked()
	if done := c.tookPast(commentCancelled); done != nil {
		return done
	}
	if final(r.state.status) {
		return refused("faber.comment.final", "status", r.state.status)
	}
	if o != nil && o.folder.Receipt == nil {
		if !o.q.isOpen() || !o.stands {
			return nil
		}
		shown, early := o.shownAt(moment(c.CreatedAt))
		if early {
			return ignored("faber.comment.early")
		}
		if response, words, _ := c.saysTo(questionOf(o.req)); response != "" {
			return c.answer(o, gate.Response{RequestID: o.folder.ID, Response: response, Comment: words, Digest: shown})
		}
	}
	done := &consumption{status: commentCancelled}
	if d := r.Snap.In("cancel.json"); d.Absent() {
		body := schemas.Object{{Name: "by", Value: c.Author}, {Name: "reason", Value: "@faber cancel by " + c.Author}}
		done.writes = []engine.Document{{Path: d.Path, Kind: layout.FaberCancel, Body: run.Must(schemas.Encode(body))}}
	}
	return done
}

// documents returns what a consumption writes: its effect, its reply, and the receipt last.
func (c *given) documents(done *consumption) []engine.Document {
	docs := done.writes
	if done.status == "" {
		return docs
	}
	if reply := c.reply(done); reply != nil {
		p := c.view.Snap.In(layout.FaberCommentFile(c.id, "reply.md"))
		docs = append(docs, engine.Document{Path: p.Path, Kind: layout.FaberReply, Body: reply, Over: p.Sum})
	}
	receipt := schemas.Object{
		{Name: "status", Value: done.status}, {Name: "command", Value: orNull(c.Verb)}, {Name: "run_id", Value: c.view.Snap.Key.ID},
		{Name: "request_id", Value: orNull(done.request)}, {Name: "response", Value: orNull(done.response)}, {Name: "comment", Value: orNull(done.comment)},
		{Name: "reason", Value: orNull(done.reason.In(c.view.Lang))}, {Name: "digest", Value: orNull(string(done.digest))}, {Name: "revision", Value: 1},
	}
	return append(docs, engine.Document{
		Path: c.view.Path(layout.FaberCommentFile(c.id, "receipt.json")), Kind: layout.FaberConsumed, Body: run.Must(schemas.Encode(receipt)),
	})
}

// reply returns the answer on the issue, nil for a comment that gets none.
func (c *given) reply(done *consumption) []byte {
	r := c.view
	data := templates.IssueReplyData{ID: c.id}
	switch done.status {
	case commentRefused:
		data.Refused, data.Options = neutral(done.reason.In(templates.English)), neutral(strings.Join(done.options, ", "))
	case commentCancelled:
		data.Cancelled = r.Snap.Key.ID
	case commentReplied:
		data.Lines = statusLines(r)
	default:
		return nil
	}
	text, err := templates.Render(templates.English, "faber/reply", data)
	if err != nil {
		panic("faber: cannot render a reply: " + err.Error())
	}
	return []byte(text)
}

// statusLines returns the state of the run for a reply.
func statusLines(r *view) []templates.IssueReplyLine {
	phase, step := r.state.at()
	asked, last := "none", "none"
	if o := r.asked(); o != nil && o.folder.Receipt == nil {
		asked = fmt.Sprintf("%s (%s): %s", o.folder.ID, o.req.Type, oneLine(o.req.Prompt, 200))
	}
	if n := len(r.events.all); n > 0 {
		e := r.events.all[n-1]
		last = fmt.Sprintf("%03d %s %s", e.Number, e.Type, e.Timestamp)
	}
	lines := []templates.IssueReplyLine{
		{Name: "Run", Value: r.Snap.Key.ID}, {Name: "Status", Value: string(r.state.status)}, {Name: "Phase", Value: phase}, {Name: "Step", Value: step},
		{Name: "Pending request", Value: asked}, {Name: "Last event", Value: last},
	}
	for i := range lines {
		lines[i].Value = neutral(cmp.Or(lines[i].Value, "none"))
	}
	return lines
}

// replyPostings returns the postings of the replies to comments.
func replyPostings(r *view) (list []posting) {
	for _, d := range r.Snap.Under(layout.FaberComments) {
		if id, ok := strings.CutSuffix(path.Base(d.Path), ".reply.md"); ok && d.Kind == layout.FaberReply {
			list = append(list, posting{
				view: r, tries: r.tries(replyAction + id), text: d, posted: layout.FaberCommentFile(id, "posted.json"),
				about: schemas.Object{{Name: "comment_id", Value: id}},
			})
		}
	}
	return list
}

// IssueRun is what decides which comments come into a run.
type IssueRun struct {
	ID, Dir string
	// Issue is the number of its issue, and Repository where that is, "" if it is not known.
	Issue, Repository string
	// Waits says that the run asks a person, AskedAt since when.
	Waits   bool
	AskedAt time.Time
	// Known is issue.json as it is, nil if there is none.
	Known *Issue
}

// OnIssue returns what decides which comments come into a run; ok is false if none do: placet does not
// serve it, it has ended, or it has no issue.
func (m Machine) OnIssue(s engine.Snapshot) (on IssueRun, ok bool) {
	if s.Class != layout.FaberRun {
		return on, false
	}
	_, r := m.View(s)
	if !r.isAnnounced() || !issueNumber.MatchString(r.workID()) || r.state.status == "" || final(r.state.status) {
		return on, false
	}
	on = IssueRun{ID: s.Key.ID, Dir: s.Dir, Issue: r.workID(), Repository: r.repository(), Known: run.Peek[Issue](s.In("issue.json"), "faber/issue")}
	if o := r.asked(); o != nil && o.folder.Receipt == nil {
		on.Waits, on.AskedAt = true, moment(o.req.RequestedAt)
	}
	return on, true
}

// Delivery is a comment for a run.
type Delivery struct {
	Run     IssueRun
	Comment Comment
}

// Deliver chooses the runs into which a comment on an issue comes: the one that it names, or else the
// one that waits, and each for a status. A comment that names none of several comes into the first,
// which refuses it and says what to write.
func Deliver(runs []IssueRun, issue string, c Comment) (list []Delivery) {
	candidates := slices.DeleteFunc(slices.Clone(runs), func(r IssueRun) bool {
		return r.Issue != issue || c.Repo != "" && r.Repository != "" && !strings.EqualFold(c.Repo, r.Repository)
	})
	slices.SortFunc(candidates, func(a, b IssueRun) int { return strings.Compare(a.ID, b.ID) })
	if len(candidates) == 0 {
		return nil
	}
	if runes := []rune(c.Body); len(runes) > comment.Longest {
		c.Body = string(runes[:comment.Longest+1]) // the run says that it is too long
	}
	c.Issue = schemas.Raw(issue)
	chosen := choose(candidates, comment.Read(c.Body))
	if len(chosen) == 0 {
		for _, r := range candidates {
			c.Several = append(c.Several, r.ID)
		}
		chosen = candidates[:1]
	}
	for _, r := range chosen {
		list = append(list, Delivery{r, c})
	}
	return list
}

// choose returns the candidates that a command is for, none if it does not say.
func choose(candidates []IssueRun, c comment.Command) []IssueRun {
	only := func(fits func(IssueRun) bool) []IssueRun {
		fit := slices.DeleteFunc(slices.Clone(candidates), func(r IssueRun) bool { return !fits(r) })
		if len(fit) != 1 {
			return nil
		}
		return fit
	}
	switch {
	case c.Run != "":
		return only(func(r IssueRun) bool { return NamesRun(r.ID, c.Run) })
	case c.Verb == "status":
		return candidates
	}
	return only(func(r IssueRun) bool { return r.Waits })
}

// Encode returns the comment as a document: the same comment gives the same bytes.
func (c Comment) Encode() ([]byte, error) { return schemas.Encode(c) }

// Login returns the author as a gate knows somebody whom GitHub names.
func (c Comment) Login() string { return "github:" + login(c.Author) }

// HasCommand reports whether a comment speaks to placet, so that it is worth keeping.
func HasCommand(body string) bool { return strings.Contains(strings.ToLower(body), "@faber") }
