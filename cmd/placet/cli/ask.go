package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/ask"
	"placet/engine/gate"
	"placet/engine/reconcile"
	"placet/layout"
	"placet/schemas"
)

// newAsk is the ask that the command line makes.
type newAsk struct {
	ask.Ask
	file, contextFile  string
	comments, approves []string
	dryRun             bool
	members            schemas.Object // of ask.json
	wait               waitFlags
}

func askVerb() verb {
	var x newAsk
	return verb{
		use: "ask [QUESTION|-]", short: "Ask a person a question", about: "waiting",
		most: 1, group: groupAsk, flags: x.flags, run: x.ask,
	}
}

func (x *newAsk) flags(f *pflag.FlagSet) {
	text := func(name, usage string, set func(string)) {
		f.Func(name, usage, func(s string) error { set(s); return nil })
	}
	word := func(name, usage string, set func()) {
		f.BoolFunc(name, usage, func(string) error { set(); return nil })
	}
	no := false
	f.StringVar(&x.Type, "type", "", "the `TYPE`: approval, review, choice, multi or text")
	word("text", "have the answer given in words", func() { x.Type = "text" })
	word("review", "have the artifacts reviewed", func() { x.Type = "review" })
	word("multi", "let several options be chosen", func() { x.Type = "multi" })
	text("option", "an option, `ID[=DESCRIPTION]`", func(s string) {
		id, description, _ := strings.Cut(s, "=")
		x.Options = append(x.Options, ask.Option{ID: id, Description: description})
	})
	f.StringSliceVar(&x.comments, "comment-on", nil, "the option `ID` needs a comment")
	f.StringSliceVar(&x.approves, "approves", nil, "the option `ID` approves something, so it cannot be the default")
	f.StringVar(&x.Context, "context", "", "`TEXT` that the person should know")
	f.StringVar(&x.contextFile, "context-file", "", "the same in a `FILE`, or - for standard input")
	text("artifact", "a `FILE` that the question is about: once it has changed, no answer counts", func(s string) { x.Artifacts = append(x.Artifacts, ask.Artifact{Path: s}) })
	text("info", "a `FILE` to look at, which may change", func(s string) { x.Artifacts = append(x.Artifacts, ask.Artifact{Path: s, Binding: &no}) })
	f.StringVar(&x.Deadline, "deadline", "", "how long to wait for an answer: a `TIME`, or a length such as 90m")
	f.StringVar(&x.Default, "default", "", "the option `ID` that is reported at the deadline; it never approves")
	f.StringArrayVar(&x.MayAnswer, "may-answer", nil, "the `NAME` of somebody who may answer; may be repeated")
	text("as", "the `NAME` of the asker, shown to the person", func(s string) { x.AskedBy = &ask.AskedBy{Name: s} })
	f.StringSliceVar(&x.Tags, "tag", nil, "a `WORD` for placet inbox --tag")
	f.StringVar(&x.Parent, "parent", "", "the `RUN` that the question belongs to")
	f.StringVar((*string)(&x.Correlation), "correlation", "", "a `NAME` of your own, repeated in the answer")
	word("private", "keep the question out of notifications", func() { x.Sensitivity = "private" })
	f.StringVar((*string)(&x.IdempotencyKey), "key", "", "questions with the same `KEY` are one question")
	f.StringVar(&x.Supersedes, "supersedes", "", "an open question, its `ID`, that this one replaces")
	f.StringVar(&x.file, "file", "", "an ask.json `FILE`, or - for standard input")
	f.BoolVar(&x.dryRun, "dry-run", false, "print ask.json, and ask nobody")
	f.StringVar(&x.wait.timeout, "wait", "", "wait for the answer; --wait=2h waits two hours at most")
	f.Lookup("wait").NoOptDefVal = waitForEver
	x.wait.flags(f)
}

// ask asks, and waits for the answer where that is wanted.
func (x *newAsk) ask(c call) error {
	a, err := openAsks(c)
	if err != nil {
		return err
	}
	body, err := x.document(a, console.First(c.args))
	if err != nil {
		return err
	}
	if x.dryRun {
		_, err := x.check(a, x.name(a, 0), body)
		return cmp.Or(err, a.Env.Answer(schemas.Raw(body), func() { a.Env.Say("%s", strings.TrimSuffix(string(body), "\n")) }))
	}
	f, err := x.create(c.ctx, a, body)
	if err != nil {
		return err
	}
	if c.flags.Changed("wait") {
		noteWait(a, f)
		return x.wait.wait(c.ctx, a, f)
	}
	if err := cmp.Or(a.Pass(c.ctx), refusedAsk(a, f)); err != nil {
		return err
	}
	return sayAsked(a, f)
}

// noteWait says, while an ask is open, what is waited for and where a person answers.
func noteWait(a *workspace.Asks, f reconcile.Found) {
	if st, _ := a.State(f); !st.IsFinal() {
		request := ask.RequestID(f.Run.ID)
		a.Env.Note("waiting for an answer to %s: see placet inbox, or edit %s", request, layout.RequestPath(f.Run.Dir, request, "form.md"))
	}
}

// sayAsked prints the id of an ask, and beside it how it is answered.
func sayAsked(a *workspace.Asks, f reconcile.Found) error {
	request := ask.RequestID(f.Run.ID)
	form := layout.RequestPath(f.Run.Dir, request, "form.md")
	return a.Env.Answer(map[string]any{"ask_id": f.Run.ID, "request_id": request, "form": form}, func() {
		a.Env.Say("%s", f.Run.ID)
		a.Env.Note("form     %s", form)
		answers := []string{console.Typed("respond", request)} // until the daemon has opened it
		for _, open := range a.ViewOf(f).Open {
			answers = workspace.HowToAnswer(open, false)
		}
		for _, how := range answers {
			a.Env.Note("answer   %s", strings.ReplaceAll(how, "\n", "  "))
		}
	})
}

// document is ask.json as the file and the flags say it.
func (x *newAsk) document(a *workspace.Asks, question string) ([]byte, error) {
	if s := []string{question, x.contextFile, x.file}; len(slices.DeleteFunc(s, func(name string) bool { return name != "-" })) > 1 {
		return nil, console.Usage("cannot ask: standard input can be one thing only")
	}
	x.Question = question
	inputs := map[string]func(text string) error{
		x.contextFile: func(text string) error { x.Context = text; return nil },
		x.file:        func(text string) (err error) { x.members, err = schemas.Members([]byte(text)); return err },
	}
	if question == "-" {
		inputs["-"] = func(text string) error { x.Question = text; return nil }
	}
	for name, take := range inputs {
		if name == "" {
			continue
		}
		text, err := readInput(a.Env, name)
		if err = cmp.Or(err, take(text)); err != nil {
			return nil, console.Usage("cannot ask by %s: %v", console.OneLine(name), console.Plain(err))
		}
	}
	if err := cmp.Or(x.setOptions(), x.setArtifacts(a)); err != nil {
		return nil, err
	}
	for _, m := range schemas.Struct(x.Ask) {
		if !reflect.ValueOf(m.Value).IsZero() {
			x.members = append(x.members.Without(m.Name), m)
		}
	}
	return schemas.Encode(x.members)
}

// readInput reads a file, or standard input, without its last line end.
func readInput(w *console.Env, name string) (string, error) {
	in, err := openInput(w, name)
	if err != nil {
		return "", err
	}
	defer in.Close()
	body, err := io.ReadAll(io.LimitReader(in, config.LimitSmall))
	return strings.TrimSuffix(string(body), "\n"), err
}

// openInput opens a file that is named on the command line, or standard input for "-".
func openInput(w *console.Env, name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(w.In), nil
	}
	return os.Open(w.Path(name))
}

// setOptions adds to the options which of them need a comment, and which approve.
func (x *newAsk) setOptions() error {
	offers := len(x.Options) > 0
	for _, id := range slices.Concat(x.comments, x.approves) {
		i := slices.IndexFunc(x.Options, func(o ask.Option) bool { return gate.Fold(o.ID) == gate.Fold(id) })
		if i < 0 && offers {
			return console.Usage("cannot ask: %q is none of the options", console.OneLine(id)).Try("name it with --option")
		}
		if i < 0 {
			i, x.Options = len(x.Options), append(x.Options, ask.Option{ID: id})
			x.Type = cmp.Or(x.Type, "approval")
		}
		x.Options[i].Comment, x.Options[i].Approves = slices.Contains(x.comments, id), slices.Contains(x.approves, id)
	}
	return nil
}

// setArtifacts names the files as they lie below the workspace.
func (x *newAsk) setArtifacts(a *workspace.Asks) error {
	for i, f := range x.Artifacts {
		full := a.Env.Path(f.Path)
		_, err := os.Lstat(full)
		dir, dirErr := filepath.EvalSymlinks(filepath.Dir(full))
		rel, relErr := filepath.Rel(a.Root, filepath.Join(dir, filepath.Base(full)))
		if err := cmp.Or(err, dirErr, relErr); err != nil {
			return console.Usage("cannot ask about %s: %v", console.OneLine(f.Path), console.Plain(err))
		}
		x.Artifacts[i].Path = filepath.ToSlash(rel)
	}
	return nil
}

// name is the folder's name: a function of the key, or new.
func (x *newAsk) name(a *workspace.Asks, try int) string {
	if x.IdempotencyKey != "" {
		return "k-" + engine.Sum([]byte("ask\n" + x.IdempotencyKey)).Hex()[:16]
	}
	title, _, _ := strings.Cut(strings.TrimSpace(x.Question), "\n")
	now := a.Env.Now().UTC()
	salt := engine.Sum(fmt.Appendf(nil, "%d %d %d %s", now.UnixNano(), os.Getpid(), try, x.Question)).Hex()[:6]
	return fmt.Sprintf("%s-%s-%s", now.Format("20060102"), strings.Trim(slugOf(title, 30, "ask"), "-"), salt)
}

// check refuses what could not be asked.
func (x *newAsk) check(a *workspace.Asks, id string, body []byte) (ask.Ask, error) {
	now, err := ask.ReadAsk(id, cmp.Or(a.Ask.Language, a.Language, "en"), body, a.Env.Now(), a.Env.Now())
	for _, s := range schemas.Strays("", x.members, &ask.Ask{}) {
		a.Env.Note("%s: nobody reads this member", s.Pointer)
	}
	if err != nil {
		p := console.Usage("cannot ask: %v", err)
		if x.file != "" {
			p.Code = console.ExitProblem
		}
		return now, p
	}
	return now, nil
}

// create makes the ask, or joins the one of the same key.
func (x *newAsk) create(ctx context.Context, a *workspace.Asks, body []byte) (reconcile.Found, error) {
	for try := 0; ; try++ {
		f, err := a.Find(x.name(a, try))
		if err != nil {
			return f, err
		}
		asked, err := x.check(a, f.Run.ID, body)
		if err != nil {
			return f, err
		}
		if there, ok := previous(a, f, asked); x.IdempotencyKey != "" && ok {
			return f, alike(asked, there)
		}
		if try == 0 {
			if most := a.Ask.MaxOpen; a.CountOpen(most) >= most {
				return f, console.Usage("cannot ask: %d asks are open, and [ask] max_open is %d", most, most).Try("answer or withdraw some: placet inbox ask")
			}
			if err := x.supersede(ctx, a, asked.Supersedes, f.Run.ID); err != nil {
				return f, err
			}
		}
		created, err := a.Create(f, "ask.json", body)
		if err != nil {
			return f, console.Refused("cannot ask: %v", console.Plain(err))
		}
		if created {
			return f, nil
		}
	}
}

// previous is what was asked under an id, as its file says, or else its state.
func previous(a *workspace.Asks, f reconcile.Found, like ask.Ask) (there ask.Ask, ok bool) {
	if d := a.ReadDocument(f, "ask.json"); !d.Absent() {
		there, _ := ask.ReadAsk(f.Run.ID, cmp.Or(a.Ask.Language, a.Language, "en"), d.Body, a.Env.Now(), a.Env.Now())
		return there, true
	}
	st, ok := a.State(f)
	there = st.Ask
	there.MayAnswer = like.MayAnswer // the state's is narrowed by the gates
	return there, ok
}

// alike refuses another question under the same key.
func alike(asked, there ask.Ask) error {
	words := func(a ask.Ask) string {
		same := ask.Ask{Question: a.Question, Type: a.Type, Options: a.Options, Context: a.Context, Default: a.Default, MayAnswer: a.MayAnswer}
		for _, f := range a.Artifacts {
			same.Artifacts = append(same.Artifacts, ask.Artifact{Path: f.Path})
		}
		body, _ := schemas.Encode(same)
		return string(body)
	}
	if words(asked) == words(there) {
		return nil
	}
	return console.Usage("cannot ask: the key %q has another question: %s", console.OneLine(string(asked.IdempotencyKey)), console.Cut(console.OneLine(there.Question), 200)).Try("use another key")
}

// supersede takes another ask back for this one.
func (x *newAsk) supersede(ctx context.Context, a *workspace.Asks, other, id string) error {
	if other == "" {
		return nil
	}
	f, err := a.Find(other)
	if err != nil {
		return err
	}
	st, begun := a.State(f)
	if d := a.ReadDocument(f, "ask.json"); !begun && d.Absent() {
		return nil
	}
	if !st.IsFinal() {
		if err := a.Withdraw(ctx, f, ask.Withdraw{Reason: "superseded by ask/" + id, SupersededBy: schemas.OrNull(id)}); err != nil {
			return console.Usage("cannot ask: %v", err)
		}
		st = awaitEnd(ctx, a, f)
	}
	if st.Status == ask.Answered {
		sayAnswer(a.Env, st)
		return console.Usage("cannot ask: ask/%s is answered already", f.Run.ID)
	}
	return nil
}
