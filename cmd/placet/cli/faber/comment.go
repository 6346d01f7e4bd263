package faber

import (
	"io"
	"time"

	"github.com/spf13/pflag"

	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/faber"
	"placet/internal/lazyregexp"
	"placet/layout"
)

// said is a comment on the command line.
type said struct {
	issue, id string
	faber.Comment
}

// CommentVerb returns the verb that hands in a comment from standard input, as an Action does.
func CommentVerb() verb.Verb {
	var s said
	return verb.Verb{
		Use: "comment --issue N --author A",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&s.issue, "issue", "", "")
			f.StringVar(&s.Author, "author", "", "")
			f.StringVar(&s.Repo, "repo", "", "")
			f.StringVar(&s.id, "id", "", "")
			f.StringVar(&s.CreatedAt, "created", "", "")
			f.StringVar(&s.URL, "url", "", "")
		},
		Look: func(c verb.Call, b *workspace.Workspace) error { return s.handIn(b) },
	}
}

var (
	issueNumber = lazyregexp.New(`^[1-9][0-9]{0,9}$`)
	repository  = lazyregexp.New(`^[\w.-]+/[\w.-]+$`)
)

// check returns the first flag that cannot be used.
func (s said) check() error {
	bad := func(flag, value string) error {
		return console.Usage("cli.faber.comment.flag", "flag", "--"+flag, "value", console.OneLine(value))
	}
	switch _, err := time.Parse(time.RFC3339, s.CreatedAt); {
	case !issueNumber.MatchString(s.issue):
		return bad("issue", s.issue)
	case s.Author == "" || console.OneLine(s.Author) != s.Author || len(s.Author) > 100:
		return bad("author", s.Author)
	case s.Repo != "" && !repository.MatchString(s.Repo):
		return bad("repo", s.Repo)
	case s.id != "" && !layout.IsRequestID(s.id):
		return bad("id", s.id)
	case s.CreatedAt != "" && err != nil:
		return bad("created", s.CreatedAt)
	}
	return nil
}

// handIn writes the comment into the runs that it is for.
func (s said) handIn(b *workspace.Workspace) error {
	if err := s.check(); err != nil {
		return err
	}
	body, err := io.ReadAll(io.LimitReader(b.Env.In, config.LimitSmall))
	if err != nil {
		return console.Refused("cli.faber.comment.read", "error", console.Plain(err))
	}
	if s.Body = string(body); s.CreatedAt == "" {
		s.CreatedAt = b.Env.Now().UTC().Format(time.RFC3339)
	}
	if s.id == "" {
		s.id = "c-" + engine.CommandDigest("comment", s.issue, s.Author, s.CreatedAt, s.Body).Hex()[:12]
	}
	list := faber.Deliver(issueRuns(b), s.issue, s.Comment)
	if len(list) == 0 {
		return console.Refused("cli.faber.comment.none", "issue", "#"+s.issue).Try("cli.faber.comment.none.try")
	}
	files := []string{}
	for _, d := range list {
		file, err := deliver(b, s.id, d)
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	data := map[string]any{"id": s.id, "paths": files, "daemon": b.HasDaemon("workspace.nodaemon.carry")}
	return b.Env.Answer(data, func() {
		for _, file := range files {
			b.Env.Say("say.text", "text", file)
		}
	})
}
