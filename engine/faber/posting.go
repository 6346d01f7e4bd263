package faber

import (
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/internal/lazyregexp"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// posting is a text that the command posts on the issue of the run, once.
type posting struct {
	view *view
	tries
	text   engine.Document // what is posted
	posted string          // where it is recorded that it was posted, in the run's folder
	about  schemas.Object  // the members of its attempts that say what is posted
	digest engine.Digest   // of the view that it shows, "" for a reply
}

// Limits of the command that posts.
const (
	postLimit = time.Minute
	postEvery = time.Minute // between two texts about one request
)

// postAction and replyAction begin the names of the folders of the commands that post requests and
// replies.
const (
	postAction  = "post-"
	replyAction = "reply-"
)

// posting returns the posting of the request's present view.
func (o *request) posting() posting {
	name, dir := postAction+o.folder.ID, o.view.Snap.Rel(o.folder.Dir)
	return posting{
		view: o.view, tries: o.view.tries(o.beside(name, "")), text: o.view.Snap.Doc(o.path(o.beside("issue-comment", ".md"))),
		posted: dir + "/" + o.beside("posted", ".json"), digest: o.digest,
		about: schemas.Object{{Name: "request_id", Value: o.folder.ID}, {Name: "view", Value: o.digest}},
	}
}

// issueNumber matches the number of an issue.
var issueNumber = lazyregexp.New(`^[1-9][0-9]{0,9}$`)

// originNeed is the fact with the address of the remote origin.
const originNeed = "git:origin"

// repository returns the repository of the run's issue, "" if none is known: that of its project in
// the settings, the general one, or that of origin at GitHub.
func (r *view) repository() string {
	c := r.cfg.Issue
	if repo := c.Repos[path.Dir(r.Snap.Key.ID)]; repo != "" {
		return repo
	}
	if c.Repo != "" {
		return c.Repo
	}
	return GitHubRepository(string(r.Snap.Doc(originNeed).Body))
}

// originAddress matches the addresses of a repository at GitHub.
var originAddress = lazyregexp.New(`^(?:https://(?:[^@/]*@)?github\.com/|ssh://git@github\.com/|git@github\.com:)([\w.-]+/[\w.-]+?)(?:\.git)?/?$`)

// GitHubRepository returns the repository in the address of a remote, "" for one that is not at
// GitHub.
func GitHubRepository(address string) string {
	if m := originAddress.FindStringSubmatch(strings.TrimSpace(address)); m != nil {
		return m[1]
	}
	return ""
}

// channelNeeds returns the facts that the issue channel depends on.
func channelNeeds(r *view) []string {
	if c := r.cfg.Issue; r.isAnnounced() && c.Repo == "" && c.Repos[path.Dir(r.Snap.Key.ID)] == "" {
		return []string{originNeed}
	}
	return nil
}

// why returns why a text is not posted and will not be without somebody: explain, check and
// notification_sent show it. It is the zero Message if the text is posted or is about to be.
func (p posting) why() templates.Message {
	r, c := p.view, p.view.cfg.Issue
	argv := c.PostCommand
	switch {
	case r.foreign() || p.isPosted():
		return templates.Message{}
	case !issueNumber.MatchString(r.workID()):
		return templates.NewMessage("faber.unposted.work")
	case !c.Enabled:
		return templates.NewMessage("faber.unposted.disabled")
	case len(argv) == 0:
		return templates.NewMessage("faber.unposted.command")
	case !r.Snap.Facts.Trusted[PostDigest(argv)]:
		return templates.NewMessage("faber.unposted.untrusted")
	case r.repository() == "":
		return templates.NewMessage("faber.unposted.repository")
	case p.state == tryFailed:
		return templates.NewMessage("faber.unposted.failed", "why", p.tries.why())
	case p.state == tryLost:
		return templates.NewMessage("faber.unposted.lost")
	}
	return templates.Message{}
}

// isPosted reports whether somebody recorded that the text was posted.
func (p posting) isPosted() bool { return !p.view.Snap.In(p.posted).Absent() }

// plan posts the text if that is due, and records that it was posted. Only the text that this
// machine wrote is posted, and a text about a request that this machine asked.
func (p posting) plan(plan *engine.Plan, earliest time.Time) {
	r := p.view
	switch {
	case p.isPosted() || !p.text.Present():
	case p.state == tryDone:
		plan.Writes = append(plan.Writes, engine.Document{Path: r.Path(p.posted), Kind: layout.FaberPosted, Body: p.record()})
	case p.state != tryDue || p.why().Key != "" || !p.text.IssuedHere():
	case r.Snap.Now.Before(earliest):
		r.WakeAt(earliest)
	default:
		argv := r.cfg.Issue.PostCommand
		p.begin(r, plan, slices.Clip(p.about), engine.Command{
			Argv: p.fill(argv), Words: argv, Dir: ".", Stdin: p.text.Body, Timeout: postLimit,
		})
	}
}

// fill puts the issue, its repository and the file in the place of the words that name them.
func (p posting) fill(argv []string) []string {
	values := map[string]string{"{issue}": p.view.workID(), "{repo}": p.view.repository(), "{file}": p.text.Path}
	filled := slices.Clone(argv)
	for i, word := range argv {
		if value, ok := values[word]; ok {
			filled[i] = value
		}
	}
	return filled
}

// record returns the document that records that the text was posted.
func (p posting) record() []byte {
	o := schemas.Object{{Name: "comment_url", Value: orNull(address(p.end.Stdout.Text()))}, {Name: "posted_at", Value: p.end.FinishedAt}}
	if p.digest != "" {
		o = append(o, schemas.Member{Name: "view", Value: p.digest})
	}
	return run.Must(schemas.Encode(o))
}

// orNull returns a text, or nil for "".
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// longestAddress is the longest address that is recorded, in bytes.
const longestAddress = 2048

// address returns the address on the first line of an output that is one, or "".
func address(output string) string {
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		u, err := url.Parse(line)
		if err == nil && u.Scheme == "https" && u.Host != "" && len(line) <= longestAddress && !strings.ContainsAny(line, " \t") {
			return line
		}
	}
	return ""
}

// postOutputs plans the comment about the request's present view. While artifacts change, a new view
// is posted once a minute at most.
func (o *request) postOutputs(p *engine.Plan) {
	if !o.view.isAnnounced() || len(p.Writes) > 0 || o.folder.Receipt != nil || !o.folder.Doc.IssuedHere() {
		return
	}
	o.posting().plan(p, o.lastPosting().Add(postEvery))
}

// lastPosting returns when another view of the request was posted last, the zero time for never.
func (o *request) lastPosting() (last time.Time) {
	all, own := postAction+o.folder.ID, o.beside(postAction+o.folder.ID, "")
	isOf := func(folder, name string) bool { return folder == name || strings.HasPrefix(folder, name+".") }
	for _, d := range o.view.Snap.Under("actions") {
		folder := path.Base(path.Dir(d.Path))
		about := isOf(folder, all) || strings.HasPrefix(folder, all+"-")
		if d.Kind == layout.FaberAttempt && about && !isOf(folder, own) && d.Changed.After(last) {
			last = d.Changed
		}
	}
	return last
}

// newestPosted returns the newest record that the request was posted, nil if it was not.
func (o *request) newestPosted() *Posted {
	var newest *Posted
	for _, p := range o.posts() {
		if newest == nil || p.at().After(newest.at()) {
			newest = p
		}
	}
	return newest
}

// posts returns the records that the request was posted.
func (o *request) posts() (all []*Posted) {
	for _, d := range o.view.Snap.Under(o.view.Snap.Rel(o.folder.Dir)) {
		var p Posted
		if d.Kind == layout.FaberPosted && o.view.Decode(d, "faber/posted", &p) {
			if p.View == "" {
				p.View = o.formDigest("form" + strings.TrimSuffix(strings.TrimPrefix(path.Base(d.Path), "posted"), ".json") + ".md")
			}
			all = append(all, &p)
		}
	}
	return all
}

// at returns when the request was posted.
func (p Posted) at() time.Time { return moment(p.PostedAt) }

// requirePost says what a person must do because a text was not posted.
func (p posting) require(w *run.Waiting) {
	if !p.isOver() || p.why().Key == "" {
		return
	}
	text := p.view.Say("faber.required.posted", "issue", "#"+p.view.workID())
	if p.state == tryFailed {
		text = p.view.Say("faber.required.unposted", "issue", "#"+p.view.workID(), "why", p.tries.why())
	}
	w.Require(engine.RequiredAction{
		ID: p.folder(), Text: text, Command: "faber again " + p.view.short() + " " + p.name, Since: p.began(p.view),
	})
}

// The issue channel shows a request as a comment on the issue of its run. issuetext.go has the text,
// posting.go the command that posts it.

// Limits of the parts of a comment that others write, in characters.
const (
	postedPrompt   = 16_000
	longestSummary = 4_000
)

// isAnnounced reports whether the requests of the run have texts for the issue.
func (r *view) isAnnounced() bool {
	return r.cfg.Issue.Enabled && !r.foreign() && r.workID() != ""
}

// beside returns the name of a file of the request that belongs to the present view, as form.md or
// form-<8>.md does.
func (o *request) beside(stem, ext string) string {
	return stem + strings.TrimSuffix(strings.TrimPrefix(o.form, "form"), ".md") + ext
}

// commentFile returns the text for the issue if it is missing. It belongs to a form and is never
// rewritten.
func (o *request) commentFile() []engine.Document {
	name := o.beside("issue-comment", ".md")
	if !o.view.isAnnounced() || has(o.folder, name) {
		return nil
	}
	body, err := o.commentText()
	if err != nil {
		o.view.run.CannotWrite(err)
		return nil
	}
	return []engine.Document{{Path: o.path(name), Kind: layout.FaberText, Body: body}}
}

// commentText returns the text for the issue. It is English, whatever the language of the workspace
// is: the seed's words and commands are.
func (o *request) commentText() ([]byte, error) {
	q := o.q
	data := templates.IssueCommentData{
		RunID: o.view.Snap.Key.ID, Short: uuidOf(o.view), RequestID: o.folder.ID, Phase: capital(neutral(q.phase)), Step: neutral(q.step),
		Prompt: neutralBlock(q.Prompt, postedPrompt), Summary: neutralBlock(q.shown.Summary, longestSummary),
		Options: q.listed(), Approves: offers(gate.Request{Options: q.describe(templates.English)}, []string{"approve"}),
	}
	if at := moment(q.RequestedAt); !at.IsZero() {
		data.Requested = at.UTC().Format("2006-01-02 15:04 UTC")
	}
	if ids := q.options(); len(ids) > 0 {
		data.First = neutralFence(ids[0])
	}
	for _, a := range o.req.Artifacts {
		data.Artifacts = append(data.Artifacts, templates.IssueArtifact{Shown: linked(a.Path), Missing: layout.Safe(a.Path) && o.view.digestNow(a) == ""})
	}
	if o.form != "form.md" {
		data.Changed = neutral(strings.Join(o.moved, ", "))
	}
	text, err := templates.Render(templates.English, "faber/issue-comment", data)
	return []byte(text), err
}

// uuidOf returns the last part of the run's id.
func uuidOf(r *view) string {
	id := r.Snap.Key.ID
	return id[strings.LastIndexByte(id, '/')+1:]
}

// listed returns the options as numbered lines.
func (q *question) listed() (lines []templates.IssueOption) {
	for i, o := range q.describe(templates.English) {
		lines = append(lines, templates.IssueOption{Number: i + 1, Name: neutral(o.ID), Says: o.Description})
	}
	return lines
}

// capital returns a word with a capital letter.
func capital(word string) string {
	if word == "" {
		return ""
	}
	return strings.ToUpper(word[:1]) + word[1:]
}

// neutral returns a text of others on one line that shows the text and addresses nobody.
func neutral(s string) string { return unaddressed(templates.Inline(s)) }

// unaddressed keeps "@name" from notifying anybody.
func unaddressed(s string) string { return strings.ReplaceAll(s, "@", "@\u200b") }

// neutralFence returns a text that can stand in a fenced block.
func neutralFence(s string) string { return strings.ReplaceAll(templates.OneLine(s), "`", "'") }

// startsBlock are what a line begins with that would end the block of a text, or look like a part of
// the comment.
var startsBlock = []string{"#", "```", "~~~", "---", "_", "<"}

// neutralBlock returns a text of several lines that cannot look like another part of the comment.
func neutralBlock(s string, most int) string {
	lines := strings.Split(strings.Trim(templates.Clean(cutRunes(s, most)), "\n"), "\n")
	for i, line := range lines {
		bare := strings.TrimLeft(line, " \t")
		if slices.ContainsFunc(startsBlock, func(mark string) bool { return strings.HasPrefix(bare, mark) }) {
			line = line[:len(line)-len(bare)] + `\` + bare
		}
		lines[i] = unaddressed(line)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// cutRunes returns at most n characters of a text.
func cutRunes(s string, n int) string {
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	return s
}

// linked returns the link to an artifact, or its path if it is outside the workspace.
func linked(p string) string {
	if !layout.Safe(p) {
		return templates.Code(p)
	}
	return "[" + neutral(p[strings.LastIndexByte(p, '/')+1:]) + "](/" + percentEncoded(p) + ")"
}

// percentEncoded returns a path as it stands in an address: everything but letters, digits, "-",
// ".", "_", "~" and "/" is encoded.
func percentEncoded(p string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(p) {
		switch c := p[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteString(string([]byte{'%', hex[c>>4], hex[c&15]}))
		}
	}
	return b.String()
}
