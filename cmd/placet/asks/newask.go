package asks

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/ask"
	"placet/engine/loop"
	"placet/schemas"
	"placet/templates"
)

// Draft is a question before it is asked.
type Draft struct {
	ask.Ask
	// Members are further members of ask.json; those of Ask override them.
	Members schemas.Object
	// FromFile says that the user gave an ask.json: errors in it are bad input.
	FromFile bool
}

// AnsweredAlready is the error of an ask that would replace one that already has its answer.
type AnsweredAlready struct{ State ask.State }

// Error implements error.
func (e AnsweredAlready) Error() string { return e.In(templates.English) }

// In returns the error in a language.
func (e AnsweredAlready) In(lang string) string {
	return templates.Phrase(lang, "workspace.ask.answered", "ask", "ask/"+e.State.AskID)
}

// lang returns the language of asks.
func (a *Asks) lang() string {
	return cmp.Or(a.Workspace.Ask.Language, a.Workspace.Language, templates.English)
}

// document returns the content of ask.json.
func (x *Draft) document() ([]byte, error) {
	for _, m := range schemas.Struct(x.Ask) {
		if !reflect.ValueOf(m.Value).IsZero() {
			x.Members = append(x.Members.Without(m.Name), m)
		}
	}
	return schemas.Encode(x.Members)
}

// Drafted returns the question as far as it can be read: [Draft.Create] refuses what cannot be.
func (x *Draft) Drafted() (drafted ask.Ask) {
	if body, err := x.document(); err == nil {
		_ = json.Unmarshal(body, &drafted)
	}
	return drafted
}

// Question returns the question that an id has, the zero value if it has none.
func (a *Asks) Question(f loop.Found) ask.Ask {
	there, _ := a.previous(f, a.Workspace.Env.Now())
	return there.Ask
}

// Below returns the path of a file relative to the workspace. The file must exist, and no link
// is followed.
func (a *Asks) Below(name string) (string, error) {
	full := a.Workspace.Env.Path(name)
	_, err := os.Lstat(full)
	dir, dirErr := filepath.EvalSymlinks(filepath.Dir(full))
	rel, relErr := filepath.Rel(a.Workspace.Root, filepath.Join(dir, filepath.Base(full)))
	return filepath.ToSlash(rel), cmp.Or(err, dirErr, relErr)
}

// KeyedID returns the id of the ask of a key: equal keys are one ask.
func KeyedID(key string) string { return "k-" + engine.Sum([]byte("ask\n" + key)).Hex()[:16] }

// name returns the name of the folder: a function of the key, or a new one.
func (x *Draft) name(a *Asks, try int) string {
	if x.IdempotencyKey != "" {
		return KeyedID(string(x.IdempotencyKey))
	}
	title, _, _ := strings.Cut(strings.TrimSpace(x.Question), "\n")
	now := a.Workspace.Env.Now().UTC()
	salt := engine.Sum(fmt.Appendf(nil, "%d %d %d %s", now.UnixNano(), os.Getpid(), try, x.Question)).Hex()[:6]
	return fmt.Sprintf("%s-%s-%s", now.Format("20060102"), strings.Trim(Slug(title, 30, "ask"), "-"), salt)
}

// Slug makes a word for a file name from a text: lower case, each run of characters other than
// a-z and 0-9 as one hyphen, none at the ends, cut to longest bytes. A text without any such
// character becomes empty.
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

// Follows makes the ask the next round after the one of an id, and makes it supersede that one
// while that is open. st is the state of that one.
func (x *Draft) Follows(a *Asks, id string) (st ask.State, err error) {
	f, err := a.Named(id)
	if err != nil {
		return st, err
	}
	j := judgeAsk(a.Workspace, f)
	switch {
	case !j.Begun:
		return st, console.Usage("workspace.ask.round.unknown", "ask", console.Brief(f.Key())).Try("workspace.asks.try")
	case !j.State.MayGoOn():
		return st, console.Usage("workspace.ask.invalid", "error", AnsweredAlready{j.State})
	case !j.State.IsFinal():
		x.Supersedes = cmp.Or(x.Supersedes, f.Run.ID)
	}
	x.RoundOf = f.Run.ID
	return j.State, nil
}

// Again copies the question of the ask of an id, about the files as they are now. Members that
// the draft already has stay.
func (x *Draft) Again(a *Asks, id string) error {
	st, err := x.Follows(a, id)
	if err != nil {
		return err
	}
	again := Draft{Ask: st.Again()}
	body, err := again.document()
	if err != nil {
		return err
	}
	x.Members, err = schemas.Members(body)
	return err
}

// Preview returns the ask.json that would be written, if it could be asked.
func (x *Draft) Preview(a *Asks) ([]byte, error) {
	body, err := x.document()
	if err == nil {
		_, err = x.check(a, x.name(a, 0), body, a.Workspace.Env.Now())
	}
	return body, err
}

// check refuses an ask that could not be asked.
func (x *Draft) check(a *Asks, id string, body []byte, now time.Time) (ask.Ask, error) {
	asked, err := ask.ReadAsk(id, a.lang(), body, now, now)
	for _, s := range schemas.Strays("", x.Members, &ask.Ask{}) {
		a.Workspace.Env.Note("workspace.ask.stray", "member", s.Pointer)
	}
	if err != nil {
		p := console.Usage("workspace.ask.invalid", "error", err)
		if x.FromFile {
			p.Code = console.ExitProblem
		}
		return asked, p
	}
	return asked, nil
}

// Create makes the ask, or joins the one of the same key.
func (x *Draft) Create(ctx context.Context, a *Asks) (loop.Found, error) {
	body, err := x.document()
	if err != nil {
		return loop.Found{}, err
	}
	for try := 0; ; try++ {
		f, err := a.Find(x.name(a, try))
		if err != nil {
			return f, err
		}
		now := a.Workspace.Env.Now()
		asked, err := x.check(a, f.Run.ID, body, now)
		if err != nil {
			return f, err
		}
		if x.IdempotencyKey != "" {
			if there, ok := a.previous(f, now); ok {
				return f, a.join(f, asked, there)
			}
		}
		if try == 0 {
			if most := a.Workspace.Current().Ask.MaxOpen; a.CountOpen(most) >= most {
				return f, console.Usage("workspace.ask.most", "open", most, "most", most).Try("workspace.ask.most.try")
			}
			if err := a.supersede(ctx, asked.Supersedes, f.Run.ID); err != nil {
				return f, err
			}
		}
		asked = asked.AsNow(a.Workspace.Artifact) // before anybody can read the question
		created, err := a.Create(f, "ask.json", body)
		if err != nil {
			return f, console.Refused("workspace.ask.invalid", "error", console.Plain(err))
		}
		if created {
			made := ask.NewAsked(asked)
			made.File = engine.Sum(body)
			a.want(f, made)
			return f, nil
		}
	}
}

// previous returns the question that an id already has: the registered one, else that in its
// file.
func (a *Asks) previous(f loop.Found, now time.Time) (there previous, ok bool) {
	if j := judgeAsk(a.Workspace, f); j.Begun {
		return previous{j.State.Ask, engine.Digest(j.State.AskDigest), j.State.Edited()}, true
	}
	d := a.Workspace.ReadDocument(f, "ask.json")
	if d.Absent() {
		return there, false
	}
	asked, _ := ask.ReadAsk(f.Run.ID, a.lang(), d.Body, now, now)
	return previous{asked, d.Sum, nil}, true
}

// OtherQuestion is the error of a key that already has another question.
type OtherQuestion struct{ There ask.Ask }

func (e OtherQuestion) Error() string { return console.Cut(console.OneLine(e.There.Question), 200) }

// quotedKey returns the key of an ask for people.
func quotedKey(a ask.Ask) string { return strconv.Quote(console.OneLine(string(a.IdempotencyKey))) }

// supersede takes another ask back in favour of the one of an id.
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
		if err := a.Withdraw(ctx, f, ask.Withdraw{Reason: templates.Phrase(a.lang(), "workspace.ask.superseded", "ask", "ask/"+id), SupersededBy: schemas.OrNull(id)}); err != nil {
			return console.Usage("workspace.ask.invalid", "error", err)
		}
		st = a.awaitEnd(ctx, f)
	}
	if st.Status == ask.Answered {
		return console.Usage("workspace.ask.invalid", "error", AnsweredAlready{st})
	}
	return nil
}
