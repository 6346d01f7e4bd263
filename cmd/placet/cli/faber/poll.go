package faber

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine/faber"
	"placet/engine/store/fs"
	"placet/templates"
)

// Files of the state folder.
const (
	pollState = "faber-poll.json"
	pollLock  = "faber-poll.lock"
)

// Bounds of a round, and of how long it rests after an answer that refuses.
const (
	perPage   = 100
	mostPages = 10
	mostBack  = 30 * 24 * time.Hour
	fewCalls  = 50
	firstRest = time.Minute
	longRest  = time.Hour
)

// PollVerb returns the verb that looks for comments.
func PollVerb() verb.Verb {
	var every string
	return verb.Verb{
		Use:   "poll [--every 2m]",
		Flags: func(f *pflag.FlagSet) { f.StringVar(&every, "every", "", "") },
		Look: func(c verb.Call, b *workspace.Workspace) error {
			pause, err := time.ParseDuration(cmp.Or(every, "0s"))
			if err != nil || every != "" && pause < leastEvery {
				return console.Usage("cli.faber.poll.every", "value", strconv.Quote(console.OneLine(every)), "least", leastEvery)
			}
			return poll(c.Ctx, b, pause)
		},
	}
}

// leastEvery is the shortest pause between two rounds.
const leastEvery = 30 * time.Second

// poll makes one round, or one after each pause until the context ends.
func poll(ctx context.Context, b *workspace.Workspace, pause time.Duration) error {
	p, err := newPoller(b)
	if err != nil {
		return err
	}
	defer p.close()
	for {
		done, err := p.round(ctx)
		if err != nil {
			return err
		}
		if pause == 0 {
			return b.Env.Answer(done, func() { b.Env.Say("cli.faber.poll.said", "n", done.Comments, "repositories", done.Repositories) })
		}
		if !sleep(ctx, pause) {
			return nil
		}
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// Beside makes a round whenever the settings say so, beside a daemon, until the context ends.
func Beside(ctx context.Context, b *workspace.Workspace, log *slog.Logger) {
	said := ""
	var last time.Time
	for sleep(ctx, time.Second) {
		every := b.Current().Faber.Issue.PollEvery()
		if every == 0 || !b.Current().Faber.Issue.Enabled || b.Env.Now().Sub(last) < every {
			continue
		}
		last = b.Env.Now()
		p, err := newPoller(b)
		if err == nil {
			_, err = p.round(ctx)
			p.close()
		}
		if text := fmt.Sprint(err); err != nil && ctx.Err() == nil && text != said {
			log.Warn("cannot look for comments", "error", err)
			said = text
		}
	}
}

// poller looks for comments on the issues of runs. Only one does so in a workspace.
type poller struct {
	b     *workspace.Workspace
	lock  *os.File
	state map[string]*repoState // by repository
	call  func(ctx context.Context, path string) (ghAnswer, error)
	runs  []faber.IssueRun
	done  roundData
}

// repoState is what a poller remembers of a repository.
type repoState struct {
	// Comments and Issues are the newest changes seen; what is asked next begins there.
	Comments string `json:"comments"`
	Issues   string `json:"issues"`
	// Rest is until when GitHub is not asked, and Refusals how often in a row it refused.
	Rest     time.Time `json:"rest"`
	Refusals int       `json:"refusals"`
}

// roundData is the output of poll as JSON.
type roundData struct {
	Repositories int      `json:"repositories"`
	Comments     int      `json:"comments"`
	Problems     []string `json:"problems"`
}

// newPoller takes the lock of the workspace's poller.
func newPoller(b *workspace.Workspace) (*poller, error) {
	c := b.Current().Faber.Issue
	switch {
	case !c.Enabled:
		return nil, console.Refused("cli.faber.poll.disabled")
	case b.StateDir == nil:
		return nil, console.Refused("cli.faber.poll.stateless")
	case !b.Current().Trusted[faber.GHDigest(c.GH)]:
		return nil, console.Refused("cli.faber.poll.untrusted").Try("say.text", "text", "placet trust")
	}
	f, err := b.StateDir.Root().OpenFile(pollLock, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if workspace.WhileBusy(func() error { return tryLock(f) }) != nil {
		f.Close()
		return nil, console.Refused("cli.faber.poll.busy")
	}
	p := &poller{b: b, lock: f, state: map[string]*repoState{}, done: roundData{Problems: []string{}}}
	p.call = func(ctx context.Context, path string) (ghAnswer, error) { return askGitHub(ctx, b, path) }
	if body, err := b.StateDir.Read(pollState, 1<<20); err == nil && json.Unmarshal(body, &p.state) != nil {
		p.state = map[string]*repoState{} // lost: it begins anew
	}
	return p, nil
}

// tryLock takes the lock of a file. The error is fs.ErrBusy if it is held, also for a moment by a
// program that is just being started: it holds the lock of its parent until it runs.
func tryLock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return fs.ErrBusy
	}
	return err
}

func (p *poller) close() { p.lock.Close() }

// round asks for what is new in each repository with a run.
func (p *poller) round(ctx context.Context) (roundData, error) {
	p.runs, p.done = issueRuns(p.b), roundData{Problems: []string{}}
	byRepo := map[string][]faber.IssueRun{}
	for _, r := range p.runs {
		if r.Repository != "" {
			byRepo[r.Repository] = append(byRepo[r.Repository], r)
		}
	}
	for _, repo := range slices.Sorted(keysOf(byRepo)) {
		if err := p.repository(ctx, repo, byRepo[repo]); err != nil {
			if ctx.Err() != nil {
				return p.done, nil
			}
			p.done.Problems = append(p.done.Problems, repo+": "+err.Error())
			p.b.Env.Note("cli.faber.poll.problem", "repository", repo, "error", console.Plain(err))
		}
	}
	body, err := json.Marshal(p.state)
	if err != nil {
		return p.done, err
	}
	return p.done, p.b.StateDir.Write(pollState, append(body, '\n'), false)
}

func keysOf[V any](m map[string]V) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// since returns when a repository that was not asked before is asked from: since the oldest open
// request, 30 days back at most.
func (p *poller) since(runs []faber.IssueRun) string {
	now := p.b.Env.Now().UTC()
	oldest := now
	for _, r := range runs {
		if r.Waits && !r.AskedAt.IsZero() && r.AskedAt.Before(oldest) {
			oldest = r.AskedAt
		}
	}
	if least := now.Add(-mostBack); oldest.Before(least) {
		oldest = least
	}
	return oldest.UTC().Format(time.RFC3339)
}

// errRest says that GitHub is not asked for a while; it is no problem.
type errRest struct{}

func (errRest) Error() string { return "resting" }

// repository asks for the new comments and the changed issues of a repository.
func (p *poller) repository(ctx context.Context, repo string, runs []faber.IssueRun) error {
	st := p.state[repo]
	if st == nil {
		st = &repoState{Comments: p.since(runs), Issues: p.since(runs)}
		p.state[repo] = st
	}
	p.done.Repositories++
	if p.b.Env.Now().Before(st.Rest) {
		return nil
	}
	err := each(ctx, p, st, runs, repo, "repos/"+repo+"/issues/comments?", &st.Comments, func(c ghComment) (string, error) { return c.UpdatedAt, p.deliver(repo, c) })
	if err == nil {
		err = each(ctx, p, st, runs, repo, "repos/"+repo+"/issues?state=all&", &st.Issues, func(i ghIssue) (string, error) { return i.UpdatedAt, p.issue(ctx, st, repo, i) })
	}
	if err == (errRest{}) {
		return nil
	}
	return err
}

// each asks for the pages of a list that have changed, and moves since to the newest change. If an
// answer cannot be used, since stays.
func each[T any](ctx context.Context, p *poller, st *repoState, runs []faber.IssueRun, repo, path string, since *string, take func(T) (changed string, err error)) error {
	from := *since
	newest := from
	for n := 1; n <= mostPages; n++ {
		a, err := p.ask(ctx, st, repo, runs, fmt.Sprintf("%ssince=%s&sort=updated&direction=asc&per_page=%d&page=%d", path, url.QueryEscape(from), perPage, n))
		if err != nil {
			return err
		}
		list, err := page[T](a)
		if err != nil {
			return err
		}
		for _, one := range list {
			changed, err := take(one)
			if err != nil {
				return err
			}
			if _, err := time.Parse(time.RFC3339, changed); err == nil && changed > newest {
				newest = changed
			}
		}
		if len(list) < perPage {
			break
		}
	}
	*since = newest
	return nil
}

// deliver writes a comment into the runs that it is for.
func (p *poller) deliver(repo string, c ghComment) error {
	if !faber.HasCommand(c.Body) {
		return nil
	}
	id, said := c.comment(repo)
	for _, d := range faber.Deliver(p.runs, c.issue(), said) {
		if _, err := deliver(p.b, id, d); err != nil {
			return err
		}
		p.done.Comments++
	}
	return nil
}

// ask carries out a call, and judges how the repository may be asked further.
func (p *poller) ask(ctx context.Context, st *repoState, repo string, runs []faber.IssueRun, path string) (ghAnswer, error) {
	a, err := p.call(ctx, path)
	if err != nil {
		return a, err
	}
	now := p.b.Env.Now()
	switch {
	case a.code == unauthorized:
		st.Rest = now.Add(longRest)
		return a, p.fail(runs, "auth", errRest{})
	case a.code == 404:
		return a, p.fail(runs, "not found", errRest{})
	case a.code == 403 || a.code == 429:
		st.Refusals++
		st.Rest = now.Add(restAfter(a, st.Refusals))
		return a, errRest{}
	case a.code >= 500:
		return a, errRest{}
	case a.code < 200 || a.code > 299:
		return a, templates.Errorf("cli.faber.poll.code", "code", a.code)
	}
	st.Refusals = 0
	if left, err := strconv.Atoi(a.header["x-ratelimit-remaining"]); err == nil && left < fewCalls {
		if reset, err := strconv.ParseInt(a.header["x-ratelimit-reset"], 10, 64); err == nil {
			st.Rest = time.Unix(reset, 0).UTC()
		}
	}
	return a, nil
}

// restAfter returns how long to rest after a refusal: as long as it says, else a minute, twice as long
// each time, an hour at most.
func restAfter(a ghAnswer, refusals int) time.Duration {
	if seconds, err := strconv.Atoi(a.header["retry-after"]); err == nil && seconds > 0 {
		return min(time.Duration(seconds)*time.Second, 24*longRest)
	}
	return min(firstRest<<min(refusals-1, 10), longRest)
}

// fail writes into the issue.json of runs why there is no issue, and returns an error.
func (p *poller) fail(runs []faber.IssueRun, why string, err error) error {
	for _, r := range runs {
		number, _ := strconv.ParseInt(r.Issue, 10, 64)
		doc := issueDocument{Number: number, Title: strings.TrimSpace("#" + r.Issue), Error: why}
		if known := r.Known; known != nil {
			doc.Title = known.Title
		}
		if writeErr := p.writeIssue(r, doc); writeErr != nil {
			return writeErr
		}
	}
	return err
}
