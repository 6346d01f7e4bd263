package nemawashi

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/schemas"
	"placet/templates"
)

// Limits, in bytes, of a text or an object in a request. A longer one goes into a file beside the
// request, which then shows only its head.
const (
	shownText  = 16 << 10
	shownHead  = 4 << 10
	shownTexts = 256 << 10 // of all texts together in the form; above it, each longer than a head goes into a file
)

// heldInFile stands in for a value that a request keeps in a file.
type heldInFile struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
	Bytes  int    `json:"bytes"`
	Head   string `json:"head"`
}

// partFile is such a file with its content.
type partFile struct {
	name string
	body []byte
}

// long returns the texts of a part that may be too long to show, by member of the payload. The name
// "" means the payload as a whole.
func (p Part) long() map[string]string {
	if p.Type == hrRequest {
		return map[string]string{"": string(run.Encoded(p.Payload))}
	}
	texts := map[string]string{}
	for _, name := range []string{"body", "description"} {
		if words := p.Text(name); words != "" {
			texts[name] = words
		}
	}
	return texts
}

// byFile moves what is too long into files and returns the parts and the files.
func byFile(parts []Part) (shown []Part, files []partFile) {
	all := 0
	for _, p := range parts {
		for _, words := range p.long() {
			all += max(len(words), len(templates.Fence(words)))
		}
	}
	most := shownText
	if all > shownTexts {
		most = shownHead
	}
	for _, p := range parts {
		payload := append(schemas.Object{}, p.Payload...)
		for name, words := range p.long() {
			if len(words) <= most {
				continue
			}
			f := partFile{fmt.Sprintf("part-%d-%s.txt", p.Part, name), []byte(words)}
			if name == "" {
				f.name = fmt.Sprintf("part-%d-payload.json", p.Part)
			}
			files = append(files, f)
			held := heldInFile{f.name, string(engine.Sum(f.body)), len(f.body), head(words)}
			if name == "" {
				payload = schemas.Struct(held)
			}
			for i := range payload {
				if payload[i].Name == name {
					payload[i].Value = held
				}
			}
		}
		p.Payload = payload
		shown = append(shown, p)
	}
	return shown, files
}

// head returns the beginning of a text without splitting a character.
func head(s string) string {
	s = s[:min(len(s), shownHead)]
	for len(s) > 0 && !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s
}

// files returns the values of a part that are in files.
func (p Part) files() (list []heldInFile) {
	if f, ok := inFile(p.Payload); ok {
		return []heldInFile{f}
	}
	for _, m := range p.Payload {
		if members, ok := object(m.Value); ok {
			if f, ok := inFile(members); ok {
				list = append(list, f)
			}
		}
	}
	return list
}

// inFile decodes a value that a request keeps in a file.
func inFile(members schemas.Object) (f heldInFile, ok bool) {
	if len(members) != 4 || members[0].Name != "file" || members[1].Name != "sha256" || members[2].Name != "bytes" {
		return f, false
	}
	body, err := schemas.Encode(members)
	return f, err == nil && json.Unmarshal(body, &f) == nil && f.File == path.Base(f.File)
}

// object returns a member's value as an object.
func object(value any) (schemas.Object, bool) {
	switch v := value.(type) {
	case heldInFile:
		return schemas.Struct(v), true
	case schemas.Object:
		return v, true
	case schemas.Raw:
		if v.Kind() != '{' {
			return nil, false
		}
		members, err := schemas.Members(v)
		return members, err == nil
	}
	return nil, false
}

// shown returns the parts as an approval shows them: from its request.json if that is unchanged,
// else computed anew.
func (r *view) shown(q *run.Request) []Part {
	return run.Once(r.run, "shown "+q.ID+string(q.OpenedAt), func() []Part {
		if d := r.run.Folder(q.ID).Doc; q.Digest != "" && string(d.Sum) == string(q.Digest) {
			if parts := issuedParts(d.Body); parts != nil {
				return parts
			}
		}
		parts, _ := byFile(r.whole(q))
		return parts
	})
}

// issuedParts returns the effective parts of a request.json.
func issuedParts(body []byte) []Part {
	var req struct {
		Context struct {
			Effective []Part `json:"effective"`
		} `json:"context"`
	}
	if schemas.Decode("", "request.json", body, &req) != nil {
		return nil
	}
	return req.Context.Effective
}

// whole returns the full parts of an approval, according to the current settings.
func (r *view) whole(q *run.Request) []Part {
	parts, err := Resolve(r.run.State.Type, r.run.State.Payload, r.body(), r.conf(), q.OpenedAt.Time())
	if err != nil {
		return nil // then nobody is asked; see cannotAsk
	}
	return parts
}

// approved returns the parts of the current approval as they were shown, nil if request.json has
// changed.
func (r *view) approved() []Part {
	id := string(r.run.State.ApprovalRequestID)
	d := r.run.Folder(id).Doc
	if id == "" || !d.Present() || string(d.Sum) != string(r.run.State.ApprovalDigest) {
		return nil
	}
	return run.Once(r.run, "approved", func() []Part { return issuedParts(d.Body) })
}

// complete returns a part with the content of its files. The error names a file that differs from
// the approved one.
func (r *view) complete(p Part) (Part, error) {
	payload := append(schemas.Object{}, p.Payload...)
	for _, f := range p.files() {
		d := r.run.Snap.Doc(requestFile(r, string(r.run.State.ApprovalRequestID), f.File))
		if string(d.Sum) != f.SHA256 {
			return p, refuse("shown.changed", "file", f.File)
		}
		if _, whole := inFile(p.Payload); whole {
			members, err := schemas.Members(d.Body)
			p.Payload = members
			return p, err
		}
		for i, m := range payload {
			members, _ := object(m.Value)
			if held, ok := inFile(members); ok && held.File == f.File {
				payload[i].Value = string(d.Body)
			}
		}
	}
	p.Payload = payload
	return p, nil
}

// completed returns the approved parts with the content of their files.
func completed(r *view) (whole []Part, err error) {
	for _, p := range r.approved() {
		if p, err = r.complete(p); err != nil {
			return nil, err
		}
		whole = append(whole, p)
	}
	return whole, nil
}

// approvalForm shows all parts, and only the head of values in files.
func approvalForm(r *view, q *run.Request) gate.Texts {
	return gate.Texts{Lang: r.run.Lang, Title: r.say(templates.Key("title." + q.Type)), Where: r.run.State.ThreadID, Whole: true, Lines: partLines(r, q, r.shown(q))}
}

// steer returns the version of the draft in which somebody asked for changes last, nil if nobody
// did.
func (r *view) steer() *Draft {
	for i, v := range slices.Backward(r.run.State.Drafts) {
		if v.Origin == originSteer {
			return &r.run.State.Drafts[i]
		}
	}
	return nil
}

// largestSince limits what a request says about the one before, in bytes.
const largestSince = 32 << 10

// sinceSteer returns what a person reads about the changes that were asked for last: the words,
// the plan, and how the draft changed since. It is "" if nobody asked for any.
func (r *view) sinceSteer() string {
	v := r.steer()
	if v == nil {
		return ""
	}
	parts := []string{r.say("since.steered", "user", v.Actor, "version", v.Version-1), templates.Quote(v.Feedback)}
	if v.SelectedPlan != "" {
		parts = append(parts, r.say("since.plan", "plan", string(v.SelectedPlan)))
	}
	if lines, more := r.changesSince(v.Version - 1); len(lines) > 0 {
		if more > 0 {
			lines = append(lines, r.run.Say("ask.round.more", "n", more))
		}
		parts = append(parts, r.say("since.draft")+"\n"+strings.Join(lines, "\n"))
	}
	return templates.CutWith(strings.Join(parts, "\n\n"), largestSince, "\n"+r.run.Say("form.cut"))
}

// changesSince returns the changes of the draft since a version of it, as lines, and how many more
// there are.
func (r *view) changesSince(version int) (lines []string, more int) {
	current, _ := r.run.State.current()
	then, known := r.draftText(r.run.State.Drafts[version-1])
	now, ok := r.draftText(current)
	if !known || !ok {
		return nil, 0
	}
	return gate.Difference(then, now)
}

func partLines(r *view, q *run.Request, shown []Part) (lines []string) {
	for _, p := range shown {
		lines = append(lines, "", "### "+partName(r, p), "")
		if f, ok := inFile(p.Payload); ok {
			lines = append(lines, heldLines(r, q, "payload", f)...)
			continue
		}
		if p.Type == hrRequest {
			lines = append(lines, templates.Fence(string(run.Encoded(p.Payload))))
			continue
		}
		for _, m := range p.Payload {
			lines = append(lines, memberLines(r, q, p, m.Name)...)
		}
	}
	return lines
}

// mostShown is the maximum size of the parts in a form, in bytes.
const mostShown = 400 << 10

// tooLong returns the message that the parts do not fit in one form, "" if they do.
func tooLong(r *view, parts []Part) string {
	return run.Once(r.run, "too long", func() string {
		shown, _ := byFile(parts)
		lines := partLines(r, &run.Request{ID: "apr-000000000000"}, shown)
		if n := len(strings.Join(lines, "\n")); n > mostShown {
			return r.say("shown.long", "n", n, "most", mostShown)
		}
		return ""
	})
}

// memberLines returns the lines for one member of a mail or a meeting.
func memberLines(r *view, q *run.Request, p Part, name string) []string {
	value := p.Payload.Get(name)
	members, isObject := object(value)
	f, held := inFile(members)
	switch {
	case isObject && held:
		return heldLines(r, q, name, f)
	case name == "body" || name == "description":
		return []string{"- **" + name + "**:", "", templates.Fence(p.Text(name)), ""}
	}
	if list := p.List(name); list != nil {
		for i, address := range list {
			list[i] = templates.Inline(ShownAddress(address))
		}
		return []string{"- **" + name + "**: " + strings.Join(list, ", ")}
	}
	return []string{"- **" + name + "**: " + templates.Inline(p.Text(name))}
}

// heldLines returns the lines for a value that is in a file.
func heldLines(r *view, q *run.Request, name string, f heldInFile) []string {
	link := fmt.Sprintf("[%s](%s)", templates.Inline(f.File), templates.Target(requestFile(r, q.ID, f.File)))
	return []string{"- **" + name + "**: " + r.say("held", "file", link, "bytes", strconv.Itoa(f.Bytes), "sha256", f.SHA256), "", templates.Fence(f.Head), ""}
}

// partName names a part, its provider and its target.
func partName(r *view, p Part) string {
	by := p.Provider
	if p.Target != "" {
		by += ", " + p.Target
	}
	return r.say("part", "part", strconv.Itoa(p.Part), "type", templates.Inline(p.Type), "provider", templates.Inline(by))
}

// mostRecipients is how many recipients of a part an effect names.
const mostRecipients = 5

// partWords says in a few words what the parts are and whom they reach.
func partWords(parts []Part) string {
	var all []string
	for _, p := range parts {
		words := strconv.Itoa(p.Part) + " " + p.Type
		to := append(p.List("to"), p.List("attendee")...)
		more := len(to) - mostRecipients
		to = to[:min(len(to), mostRecipients)]
		for i := range to {
			to[i] = ShownAddress(to[i])
		}
		if len(to) > 0 {
			words += " → " + strings.Join(to, ", ")
		}
		if more > 0 {
			words += fmt.Sprintf(" +%d", more)
		}
		all = append(all, words)
	}
	return strings.Join(all, "; ")
}
