package workspace

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"reflect"
	"strings"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/ask"
	"placet/engine/reconcile"
	"placet/schemas"
)

// NewAsk is an ask that is about to be made.
type NewAsk struct {
	ask.Ask
	// Members are those of an ask.json that somebody wrote; what Ask says wins.
	Members schemas.Object
	// FromFile says that it was read from a file: what is wrong with it is no matter of
	// usage.
	FromFile bool
}

// Encode makes the body of ask.json.
func (q *NewAsk) Encode() ([]byte, error) {
	for _, m := range schemas.Struct(q.Ask) {
		if !reflect.ValueOf(m.Value).IsZero() {
			q.Members = append(q.Members.Without(m.Name), m)
		}
	}
	return schemas.Encode(q.Members)
}

// AnsweredAsk is the error of a question that would supersede one with an answer.
type AnsweredAsk struct{ ask.State }

func (e AnsweredAsk) Error() string { return "ask/" + e.AskID + " is answered already" }

// NameOf is the name of a question's folder: a function of the key, or new with each try.
func (a *Asks) NameOf(q NewAsk, try int) string {
	if q.IdempotencyKey != "" {
		return "k-" + engine.Sum([]byte("ask\n" + q.IdempotencyKey)).Hex()[:16]
	}
	title, _, _ := strings.Cut(strings.TrimSpace(q.Question), "\n")
	now := a.Env.Now().UTC()
	salt := engine.Sum(fmt.Appendf(nil, "%d %d %d %s", now.UnixNano(), os.Getpid(), try, q.Question)).Hex()[:6]
	return fmt.Sprintf("%s-%s-%s", now.Format("20060102"), strings.Trim(Slug(title, 30, "ask"), "-"), salt)
}

// Slug makes a slug of a text: lower case, everything but letters and digits one dash, at
// most so long, and the word for empty where nothing is left.
func Slug(s string, longest int, empty string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(s) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			b.WriteRune(c)
		} else if b.Len() > 0 && !strings.HasSuffix(b.String(), "-") {
			b.WriteByte('-')
		}
	}
	slug := strings.Trim(b.String(), "-")
	if slug == "" {
		return empty
	}
	return slug[:min(len(slug), longest)]
}

// Check refuses what could not be asked.
func (a *Asks) Check(q NewAsk, id string, body []byte) (ask.Ask, error) {
	now, err := ask.ReadAsk(id, cmp.Or(a.Ask.Language, a.Language, "en"), body, a.Env.Now(), a.Env.Now())
	for _, s := range schemas.Strays("", q.Members, &ask.Ask{}) {
		a.Env.Note("%s: nobody reads this member", s.Pointer)
	}
	if err != nil {
		p := console.Usage("cannot ask: %v", err)
		if q.FromFile {
			p.Code = console.ExitProblem
		}
		return now, p
	}
	return now, nil
}

// Make makes the ask, or joins the one of the same key. body is the question as Encode
// makes it.
func (a *Asks) Make(ctx context.Context, q NewAsk, body []byte) (reconcile.Found, error) {
	for try := 0; ; try++ {
		f, err := a.Find(a.NameOf(q, try))
		if err != nil {
			return f, err
		}
		asked, err := a.Check(q, f.Run.ID, body)
		if err != nil {
			return f, err
		}
		if there, ok := a.previous(f, asked); q.IdempotencyKey != "" && ok {
			return f, alike(asked, there)
		}
		if try == 0 {
			if most := a.Ask.MaxOpen; a.CountOpen(most) >= most {
				return f, console.Usage("cannot ask: %d asks are open, and [ask] max_open is %d", most, most).Try("answer or withdraw some: placet inbox ask")
			}
			if err := a.supersede(ctx, asked.Supersedes, f.Run.ID); err != nil {
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
func (a *Asks) previous(f reconcile.Found, like ask.Ask) (there ask.Ask, ok bool) {
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
func (a *Asks) supersede(ctx context.Context, other, id string) error {
	if other == "" {
		return nil
	}
	f, err := a.Find(other)
	if err != nil {
		return err
	}
	st, begun := a.State(f)
	if !begun && !a.IsAsked(f) {
		return nil
	}
	if !st.IsFinal() {
		if err := a.Withdraw(ctx, f, ask.Withdraw{Reason: "superseded by ask/" + id, SupersededBy: schemas.OrNull(id)}); err != nil {
			return console.Usage("cannot ask: %v", err)
		}
		st = a.awaitEnd(ctx, f)
	}
	if st.Status == ask.Answered {
		return console.Usage("cannot ask: %v", AnsweredAsk{st})
	}
	return nil
}
