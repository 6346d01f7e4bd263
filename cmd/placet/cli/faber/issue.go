package faber

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"time"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/faber"
	"placet/layout"
	"placet/schemas"
)

// fetchedBy is who writes issue.json, in the document.
const fetchedBy = "placet"

// Bounds of issue.json.
const (
	issuePages    = 3
	issueComments = 30
	longestBody   = 64 << 10
	longestShown  = 16 << 10 // of a comment
)

// issueDocument is issue.json.
type issueDocument struct {
	Number    int64                `json:"number"`
	Title     string               `json:"title"`
	Body      string               `json:"body"`
	State     string               `json:"state"`
	Labels    []string             `json:"labels"`
	Comments  []faber.IssueComment `json:"comments"`
	URL       string               `json:"url"`
	Error     string               `json:"error,omitzero"`
	FetchedAt string               `json:"fetched_at"`
	FetchedBy string               `json:"fetched_by"`
}

// issue writes a changed issue into its runs.
func (p *poller) issue(ctx context.Context, st *repoState, repo string, i ghIssue) error {
	var runs []faber.IssueRun
	for _, r := range p.runs {
		if r.Repository == repo && r.Issue == strconv.FormatInt(i.Number, 10) {
			runs = append(runs, r)
		}
	}
	if len(runs) == 0 {
		return nil
	}
	doc := issueDocument{Number: i.Number, Title: i.Title, Body: cut(i.Body, longestBody), State: i.State, Labels: []string{}, Comments: []faber.IssueComment{}, URL: i.URL}
	for _, l := range i.Labels {
		doc.Labels = append(doc.Labels, l.Name)
	}
	last := max(1, (i.Comments+perPage-1)/perPage)
	for n := max(1, last-issuePages+1); n <= last; n++ {
		a, err := p.ask(ctx, st, repo, runs, fmt.Sprintf("repos/%s/issues/%d/comments?per_page=%d&page=%d", repo, i.Number, perPage, n))
		if err != nil {
			return err
		}
		list, err := page[ghComment](a)
		if err != nil {
			return err
		}
		for _, c := range list {
			doc.Comments = append(doc.Comments, faber.IssueComment{Author: c.User.Login, Body: cut(c.Body, longestShown), CreatedAt: c.CreatedAt})
		}
	}
	doc.Comments = doc.Comments[max(0, len(doc.Comments)-issueComments):]
	for _, r := range runs {
		if err := p.writeIssue(r, doc); err != nil {
			return err
		}
	}
	return nil
}

// cut returns the beginning of a text, in bytes.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && s[most]&0xc0 == 0x80 {
		most--
	}
	return s[:most]
}

// writeIssue replaces the issue.json of a run if the issue has changed. It leaves that of another
// writer alone.
func (p *poller) writeIssue(r faber.IssueRun, doc issueDocument) error {
	file := layout.File{Kind: layout.FaberIssue, Writer: layout.Agent, Limit: layout.LimitJSON}
	name := path.Join(r.Dir, "issue.json")
	there := p.b.Store.Read(name, file)
	var have issueDocument
	switch {
	case there.Absent():
	case !there.Present() || schemas.Decode("", name, there.Body, &have) != nil || have.FetchedBy != fetchedBy:
		return nil
	}
	doc.FetchedAt, doc.FetchedBy = have.FetchedAt, fetchedBy
	body, err := encodeIssue(&doc)
	if err != nil || engine.Sum(body) == there.Sum {
		return err
	}
	doc.FetchedAt = p.b.Env.Now().UTC().Format(time.RFC3339)
	if body, err = encodeIssue(&doc); err != nil {
		return err
	}
	if err := p.b.Store.Write(engine.Document{Path: name, Kind: layout.FaberIssue, Body: body, Over: there.Sum}); err != nil {
		return console.Refused("cli.faber.write", "file", name, "error", console.Plain(err))
	}
	return nil
}

// encodeIssue encodes issue.json with as many of the newest comments as fit.
func encodeIssue(doc *issueDocument) (body []byte, err error) {
	for {
		if body, err = schemas.Encode(*doc); err != nil || len(body) <= layout.LimitJSON || len(doc.Comments) == 0 {
			return body, err
		}
		doc.Comments = doc.Comments[1:]
	}
}
