package faber

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/internal/lazyregexp"
	"placet/templates"
)

// Config is the [faber] block of placet.toml.
type Config struct {
	Enabled bool `toml:"enabled"`
	// Roots are the folders of runs, the primary one first.
	Roots []string `toml:"roots"`
	// AskFailed says which failed runs a person is asked about: "none" or "all". "driven", of an
	// older version, is read as "none".
	AskFailed string `toml:"ask_failed"`
	// WorkflowPaths are further folders with <id>.json definitions.
	WorkflowPaths []string `toml:"workflow_paths"`
	// DestructiveSteps are path.Match patterns on step ids. Approving such a step permits it and
	// does not complete it.
	DestructiveSteps []string `toml:"destructive_steps"`
	// Autonomy is a level that no run exceeds, "" for none. RequireApprovalFor are phases that begin
	// only after an approval, and AllowDestructiveAuto lets autonomous runs take irreversible steps
	// unasked if their workflow says so too.
	Autonomy             string   `toml:"autonomy"`
	RequireApprovalFor   []string `toml:"require_approval_for"`
	AllowDestructiveAuto bool     `toml:"allow_destructive_auto"`
	// OnDeadline is "escalate" or the option that an expired deadline chooses.
	OnDeadline string `toml:"on_deadline"`
	// Deadline maps a request type to how long placet waits for an answer.
	Deadline map[string]Duration `toml:"deadline"`
	Resume   Resume              `toml:"resume"`
	Context  Context             `toml:"context"`
	Issue    IssueChannel        `toml:"issue"`
	// Language overrides the workspace's language for this family.
	Language string `toml:"language"`
}

// Resume configures the command that makes an agent continue after an answer.
type Resume struct {
	// Command is an argument vector; it runs only after placet trust.
	Command []string `toml:"command"`
}

// IssueChannel configures the comments on the issue that a run works on.
type IssueChannel struct {
	Enabled bool `toml:"enabled"`
	// Authors are the people whose comments count; none: nobody's.
	Authors []string `toml:"authors"`
	// Repo is the repository of the issues, Repos that of a project "org/project".
	Repo  string            `toml:"repo"`
	Repos map[string]string `toml:"repos"`
	// Poll is how often comments are looked for, "0s" for never.
	Poll string `toml:"poll"`
	// GH is the program that asks GitHub, and PostCommand the one that posts a text. Both run
	// only after placet trust.
	GH          []string `toml:"gh"`
	PostCommand []string `toml:"post_command"`
}

// leastPoll is the shortest interval between two looks at the issues.
const leastPoll = 30 * time.Second

// PollEvery returns how often comments are looked for, 0 for never.
func (c IssueChannel) PollEvery() time.Duration {
	d, _ := time.ParseDuration(c.Poll)
	return d
}

// Counts reports whether comments of an author count. The case of a login and an "@" before it
// do not matter.
func (c IssueChannel) Counts(author string) bool {
	return slices.ContainsFunc(c.Authors, func(a string) bool { return login(a) != "" && login(a) == login(author) })
}

// login returns the login in a name, in small letters.
func login(name string) string {
	return strings.ToLower(strings.TrimPrefix(strings.TrimSpace(name), "@"))
}

// repository matches "owner/name".
var repository = lazyregexp.New(`^[\w.-]+/[\w.-]+$`)

// check returns the first setting that cannot be used.
func (c IssueChannel) check() error {
	for _, repo := range append([]string{c.Repo}, slices.Sorted(maps.Values(c.Repos))...) {
		if repo != "" && !repository.MatchString(repo) {
			return templates.Errorf("faber.config.repo", "repo", strconv.Quote(repo))
		}
	}
	if d := c.PollEvery(); d > 0 && d < leastPoll {
		return templates.Errorf("faber.config.poll", "value", strconv.Quote(c.Poll), "least", leastPoll)
	}
	return nil
}

// Context says how much context.md quotes.
type Context struct {
	Events  int `toml:"events"`
	Commits int `toml:"commits"`
}

// Duration is a time.Duration that TOML writes like "72h".
type Duration time.Duration

// UnmarshalText reads a duration in Go's syntax.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err == nil && v <= 0 {
		err = templates.Errorf("faber.config.duration", "value", strconv.Quote(string(text)))
	}
	*d = Duration(v)
	return err
}

// MarshalText writes the duration in Go's syntax.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// DefaultConfig returns the settings that apply where the configuration says nothing.
func DefaultConfig() Config {
	return Config{
		Enabled:   true,
		Roots:     []string{".fractary/faber/runs", ".fractary/plugins/faber/runs"},
		AskFailed: askAll,
		DestructiveSteps: []string{
			"*merge-pr", "*pr-merge", "*delete-branch", "*branch-delete", "*close-issue", "*issue-close",
		},
		RequireApprovalFor: []string{},
		OnDeadline:         escalate,
		Context:            Context{Events: 20, Commits: 10},
		Issue:              IssueChannel{Poll: "0s", GH: []string{"gh"}},
	}
}

// askAll is the value of ask_failed with which a person is asked about every failed run.
const askAll = "all"

// escalate is the value of on_deadline that moves nothing: the inbox marks the request as overdue.
const escalate = "escalate"

// Check returns an error that names the first unusable setting which the schema of settings
// accepts.
func (c Config) Check() error {
	for _, pattern := range c.DestructiveSteps {
		if _, err := path.Match(pattern, ""); err != nil {
			return templates.Errorf("faber.config.pattern", "pattern", strconv.Quote(pattern), "error", err)
		}
	}
	switch {
	case gate.Approves(c.OnDeadline):
		return templates.Errorf("faber.config.on_deadline", "value", strconv.Quote(c.OnDeadline))
	case gate.Fold(c.OnDeadline) == "":
		return templates.Errorf("faber.config.on_deadline.empty")
	}
	return c.Issue.check()
}

// isDestructive reports whether the settings name a step as irreversible.
func (c Config) isDestructive(step string) bool {
	return slices.ContainsFunc(c.DestructiveSteps, func(pattern string) bool {
		ok, err := path.Match(pattern, step)
		return ok && err == nil
	})
}

// gitLog returns the need for the commits that context.md quotes.
func (c Config) gitLog() string { return fmt.Sprintf("git:log/%d", c.Context.Commits) }

// CommandDigest returns the digest that `placet trust` records for a resume command.
func CommandDigest(argv []string) engine.Digest { return engine.CommandDigest("faber.resume", argv...) }

// PostDigest returns the digest that `placet trust` records for the command that posts, and
// GHDigest that for the program that asks GitHub.
func PostDigest(argv []string) engine.Digest {
	return engine.CommandDigest("faber.issue.post", argv...)
}

// GHDigest is [PostDigest] for the program that asks GitHub; its arguments are placet's own.
func GHDigest(argv []string) engine.Digest { return engine.CommandDigest("faber.issue.gh", argv...) }

// PollAction is the last part of the id of the action that asks GitHub.
const PollAction = "poll"

// ActionDigest returns the digest under which trust in the command of an action is recorded.
func ActionDigest(a engine.Action) engine.Digest {
	switch name := path.Base(a.ID); {
	case strings.HasPrefix(name, resumeAction):
		return CommandDigest(a.Command.Argv)
	case name == PollAction:
		return GHDigest(a.Command.Agreed())
	}
	return PostDigest(a.Command.Agreed())
}

// config returns the settings of a snapshot.
func config(s engine.Snapshot) Config {
	if c, ok := s.Facts.Config.Family.(Config); ok {
		return c
	}
	return DefaultConfig()
}
