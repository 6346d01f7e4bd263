package ask

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
)

// Config is the block [ask] of the configuration.
type Config struct {
	Enabled  bool   `toml:"enabled"`
	Root     string `toml:"root"`
	Language string `toml:"language"`
	MaxOpen  int    `toml:"max_open"`
}

// DefaultConfig are the settings where nothing is configured.
func DefaultConfig() Config { return Config{Enabled: true, Root: layout.AskRoot, MaxOpen: 100} }

// Check says what is wrong with the settings.
func (c Config) Check() error {
	switch {
	case !layout.Safe(c.Root) || path.Clean(c.Root) != c.Root:
		return fmt.Errorf("root: %q is no folder below the workspace", c.Root)
	case c.MaxOpen < 1:
		return fmt.Errorf("max_open: %d is less than 1", c.MaxOpen)
	}
	return nil
}

// view is an ask, with what it reads besides its state.
type view struct {
	*run.Run[State]
	doc engine.Document
	// ask is what ask.json says before it is registered. isWellFormed is true where the
	// file alone is valid, canBeAsked where nothing around it is in the way either.
	ask                      Ask
	isWellFormed, canBeAsked bool
	withdrawal               *Withdraw
	// isWithdrawalPending is true while withdraw.json may still be being written.
	isWithdrawalPending bool
}

// Machine is the family of asks. The zero value is ready for use.
type Machine struct{ *kernel }

type kernel = run.Family[State, *view]

// New returns the machine.
func New() Machine { return Machine{&family} }

var family = kernel{
	Name: "ask",
	File: func(rel string) (layout.File, bool) { return layout.Ask{}.File(layout.Run{}, rel) },
	Format: run.Format[State]{
		Decode: ReadState, Encode: State.encode, Head: (*State).head, Unfit: unfit,
	},
	Stamp: seconds, Cause: func(rel string) string { return rel }, Anew: "restore it from git, or remove the folder and ask anew",
	Read: read, Rules: rules, Final: isFinal, New: "new", Questions: questions(), Outputs: (*view).outputs,
	Undecidable: func(r *view) bool { return r.isWithdrawalPending }, Notes: (*view).notes, Needs: (*view).needs,
	Absent: (*view).absent, Explain: (*view).explain, Tell: (*view).tell,
}

func read(k *run.Run[State]) *view {
	r := &view{Run: k}
	if r.Usable() {
		r.readAsk()
		r.readWithdrawal()
	}
	return r
}

// lang is the language of the texts for people.
func (r *view) lang() string { return cmp.Or(r.State.Lang, r.Snap.Facts.Config.Language, "en") }

// notes looks at what may stand in the way of an answer, and at a receipt that differs.
func (r *view) notes() {
	if r.State.Status == Open {
		r.isAnswerFree()
		return
	}
	for _, q := range r.Requests() {
		f, want := r.Folder(q.ID), run.Must(r.Receipt(q).Encode())
		if d := f.ReceiptDoc; d.Present() && d.Sum != engine.Sum(want) {
			r.Notes.Add(f.Dir+"/problem.md", "receipt.json says something else than state.json: it is left alone; remove it to have placet write it again")
		}
	}
}

func (r *view) absent(a *engine.RunView) bool {
	if !r.doc.Absent() {
		return false
	}
	a.Why = []string{"nothing is asked here: there is no ask.json"}
	a.Unblock = []engine.UnblockingFile{{Path: r.doc.Path, Content: `{"question": "<what is asked>"} asks`}}
	return true
}

func (r *view) awaitsAsk(w *run.Waiting) {
	const like = `a question that can be asked: {"question": "<what is asked>"}`
	switch {
	case w.Bad("ask.json", "nobody is asked", "asker", like):
	case w.Bad("withdraw.json", "it cannot be told whether the question is taken back", "asker", `{"reason": "<why>"}, or nothing: remove it`):
	case r.isWellFormed && !r.isBeingWritten() && r.awaitsOther():
		w.Why("ask/%s is still open, which this one supersedes", r.ask.Supersedes)
		w.For("the end of ask/%s (asker)", r.ask.Supersedes)
		w.UnblockAt(path.Join(path.Dir(r.other()), "withdraw.json"), fmt.Sprintf(`{"reason": "<why>", "superseded_by": %q} takes it back`, r.Snap.Key.ID))
	default:
		w.Why("ask.json, or a file that it names, is still being written: it is looked at again")
		w.Written("ask.json")
	}
}

// explain adds what no rule says: what a person is asked, and how an ask ended.
func (r *view) explain(w *run.Waiting) {
	if !r.Begun {
		return
	}
	if r.State.IsFinal() {
		w.Why("status %s is final: %s", r.State.Status, r.State.Last.Reason)
		return
	}
	until := ""
	if d := r.State.Ask.Deadline; d != "" {
		until = fmt.Sprintf(" until %s, then %q is reported", d, r.State.Ask.Default)
	}
	w.Answer(r.Requests()[0], "a person is asked%s", until)
	w.Noted("withdraw.json", "the question is not taken back")
	for _, name := range []string{"answer.json", "answer.md"} {
		if w.Noted(name, "the ask cannot end") {
			w.Unblock(name, "moving it away lets the ask end")
		}
	}
	w.Unblock("withdraw.json", `{"reason": "<why>", "by": "<you>"} takes the question back`)
}

// tell adds facts and findings to the view of an ask.
func (r *view) tell(a *engine.RunView) {
	if !r.Begun {
		return
	}
	st, lines := r.State, []engine.Fact{{Label: "Question", Value: r.State.Ask.Question}, {Label: "Asked by", Value: r.who()}}
	for _, f := range st.Ask.Artifacts {
		now := f.atEnd()
		if st.Status == Open {
			now = text(r.Snap.Doc(f.Path).Sum.Hex())
		}
		lines = append(lines, engine.Fact{Label: "Artifact", Value: fmt.Sprintf("%s, asked with %s, now %s", f.Path, digestWord(text(f.SHA256), "en"), digestWord(now, "en"))})
	}
	lines = append(lines, engine.Fact{Label: "Request", Value: string(st.RequestID)}, engine.Fact{Label: "Deadline", Value: st.Ask.Deadline}, engine.Fact{Label: "Parent", Value: st.Ask.Parent})
	if st.Answer != nil {
		lines = append(lines, engine.Fact{Label: "Answer", Value: fmt.Sprintf("%s by %s (%s)", st.Answer.Response, st.Answer.By.User, st.Answer.By.Source)})
	}
	a.Facts = slices.DeleteFunc(lines, func(f engine.Fact) bool { return f.Value == "" })
	members, err := schemas.Members(r.doc.Body)
	if err != nil {
		return // its note says more
	}
	for _, s := range schemas.Strays("", members, &Ask{}) {
		a.Findings = append(a.Findings, engine.Finding{Severity: "warning", Path: r.doc.Path, Text: s.Pointer + ": nobody reads this member"})
	}
}

// Summarize implements [engine.Machine].
func (Machine) Summarize(body []byte) engine.Summary {
	var st struct {
		Status  engine.Status `json:"status"`
		AskedAt text          `json:"asked_at"`
	}
	if schemas.Decode("", "state.json", body, &st) != nil {
		return engine.Summary{}
	}
	p := engine.Summary{Status: st.Status, Final: isFinal(st.Status), Touched: true}
	if st.Status == Open {
		p.Ask(st.AskedAt.Time())
	}
	return p
}
