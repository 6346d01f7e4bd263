package ask

import (
	"path"
	"slices"
	"strconv"

	"placet/engine"
	"placet/engine/run"
	"placet/engine/run/post"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Config is the block [ask] of the configuration.
type Config struct {
	Enabled  bool   `toml:"enabled"`
	Root     string `toml:"root"`
	Language string `toml:"language"`
	MaxOpen  int    `toml:"max_open"`
}

// DefaultConfig returns the settings that apply if nothing is configured.
func DefaultConfig() Config { return Config{Enabled: true, Root: layout.AskRoot, MaxOpen: 100} }

// Check returns an error in settings that the schema allows.
func (c Config) Check() error {
	if !layout.Safe(c.Root) || path.Clean(c.Root) != c.Root {
		return templates.Errorf("ask.config.root", "root", strconv.Quote(c.Root))
	}
	return nil
}

// view is an ask, with the documents that it reads besides its state.
type view struct {
	run *run.Run[State, *view]
	doc engine.Document
	// ask is the content of ask.json before it is registered. isWellFormed says that the file
	// itself is valid, canBeAsked that nothing around it prevents the question either.
	ask                      Ask
	isWellFormed, canBeAsked bool
	round                    *Round // of the ask that is about to be asked
	withdrawal               *Withdraw
	// reuse says how often the answer was used, nil if nobody counted. It decides nothing.
	reuse *Reuse
}

// New returns the machine of asks.
func New() engine.Machine { return &family }

var family = run.Family[State, *view]{
	Layout: layout.Ask{},
	Format: format,
	Stamp:  run.Seconds, Anew: "ask.anew",
	Read: read, Rules: rules, Final: isFinal, Summary: summary, New: "new", Questions: questions, Outputs: (*view).outputs,
	Posts: func(r *view, w *run.Outputs) { post.Plan(r.run, w, post.Said{}) },
	Notes: (*view).notes, Needs: (*view).needs,
	Absent: (*view).absent, Explain: (*view).explain, Tell: (*view).tell,
}

func read(k *run.Run[State, *view]) *view {
	r := &view{run: k}
	if r.run.Usable() {
		r.readAsk()
		r.readWithdrawal()
		r.readReuse()
	}
	return r
}

// Judged is an ask as a pass over it would judge it: what a waiting caller may see.
type Judged struct {
	State State
	// Begun is true if the question is open or has ended, as the state says it, and if more
	// than the state shows who answered where a gate requires that.
	Begun bool
	// Changed is true if ask.json differs from what was asked.
	Changed bool
	// Foreign is a file of an answered ask that differs from what this machine wrote, "" if
	// none does.
	Foreign string
}

// Judge judges an ask by a snapshot of it.
func Judge(s engine.Snapshot) Judged {
	v, ok := family.Judge(s)
	if !ok {
		return Judged{}
	}
	return Judged{v.run.State, true, v.isChanged(), v.foreign()}
}

// foreign returns the first of the files showing the answer that differs from what this machine
// wrote. A file that cannot be read counts as different.
func (r *view) foreign() string {
	if r.run.State.Status != Answered {
		return ""
	}
	q, answer := r.run.Requests()[0], r.run.Snap.In("answer.json")
	folder := r.run.Folder(q.ID)
	switch {
	case !r.run.Doc.IssuedHere():
		return "state.json"
	case !folder.Doc.IssuedHere() || string(folder.Doc.Sum) != string(q.Digest):
		return "request.json"
	case !r.run.HasReceipt(q):
		return "receipt.json"
	case !answer.Absent() && (answer.Err != nil || answer.Sum != engine.Sum(run.Encoded(r.run.State.AnswerFile()))):
		return "answer.json"
	}
	for _, f := range r.run.State.Edited() {
		if d := r.run.Snap.In(f.File); !d.Absent() && (d.Err != nil || d.Sum != engine.Sum([]byte(f.Text))) {
			return f.File
		}
	}
	return ""
}

// notes looks for files in the way of an answer, and for a receipt that differs.
func (r *view) notes() {
	if r.run.State.Status == Open {
		r.isAnswerFree()
		return
	}
	for _, q := range r.run.Requests() {
		f, want := r.run.Folder(q.ID), run.Must(r.run.Receipt(q).Encode())
		if d := f.ReceiptDoc; d.Present() && d.Sum != engine.Sum(want) {
			r.run.Notes.Add(f.Dir+"/problem.md", r.run.Say("ask.receipt"))
		}
	}
}

func (r *view) absent(a *engine.RunView) bool {
	if !r.doc.Absent() {
		return false
	}
	a.Why = []string{r.run.Say("ask.absent")}
	a.Unblock = []engine.UnblockingFile{{Path: r.doc.Path, Content: r.run.Say("ask.unblock.ask")}}
	return true
}

func (r *view) awaitsAsk(w *run.Waiting) {
	asker := r.run.Say("ask.asker")
	switch {
	case w.Bad("ask.json", r.run.Say("ask.why.nobody"), asker, r.run.Say("ask.unblock.like")):
	case w.Bad("withdraw.json", r.run.Say("ask.why.withdraw"), asker, r.run.Say("ask.unblock.withdraw.bad")):
	case r.isWellFormed && !r.isBeingWritten() && r.awaitsOther():
		w.Why("ask.why.other", "ask", r.ask.Supersedes)
		w.For("ask.for.other", "ask", r.ask.Supersedes)
		w.UnblockAt(path.Join(path.Dir(r.stateOf(r.ask.Supersedes)), "withdraw.json"), r.run.Say("ask.unblock.superseded", "ask", strconv.Quote(r.run.Snap.Key.ID)))
	default:
		w.Why("ask.why.writing")
		w.Written("ask.json")
	}
}

// explain adds what no rule says: the question for a person, and how an ask ended.
func (r *view) explain(w *run.Waiting) {
	if !r.run.Begun {
		return
	}
	if r.run.State.IsFinal() {
		w.Why("ask.why.final", "status", r.run.State.Status, "reason", r.run.State.Last.Reason)
		return
	}
	w.Answer(r.run.Requests()[0], "ask.why.asked", "default", strconv.Quote(r.run.State.Ask.Default))
	w.Noted("withdraw.json", r.run.Say("ask.why.kept"))
	for _, name := range []string{"answer.json", "answer.md"} {
		if w.Noted(name, r.run.Say("ask.why.blocked")) {
			w.Unblock(name, r.run.Say("ask.unblock.answer"))
		}
	}
	w.Unblock("withdraw.json", r.run.Say("ask.unblock.withdraw"))
}

// tell adds facts and findings to the view of an ask.
func (r *view) tell(a *engine.RunView) {
	if !r.run.Begun {
		return
	}
	st, lines := r.run.State, []engine.Fact{{Label: r.run.Say("ask.fact.question"), Value: r.run.State.Ask.Question}, {Label: r.run.Say("ask.fact.by"), Value: r.who()}}
	for _, f := range st.Ask.Artifacts {
		now := f.atEnd()
		if d := r.run.Snap.Doc(f.Path); st.Status == Open && !d.Matches(f.SHA256) {
			now = text(d.Sum.Hex())
		}
		lines = append(lines, engine.Fact{Label: r.run.Say("form.artifact"), Value: r.run.Say("ask.fact.artifact",
			"file", f.Path, "then", digestWord(text(f.SHA256), r.run.Lang), "now", digestWord(now, r.run.Lang))})
	}
	if st.Round != nil {
		lines = append(lines, engine.Fact{Label: r.run.Say("ask.fact.round"), Value: r.run.Say("ask.round.of", "n", st.Round.N, "ask", st.Round.Of)})
	}
	lines = append(lines, engine.Fact{Label: r.run.Say("page.request"), Value: string(st.RequestID)}, engine.Fact{Label: r.run.Say("form.deadline"), Value: st.Ask.Deadline},
		engine.Fact{Label: r.run.Say("ask.fact.parent"), Value: st.Ask.Parent})
	if st.Answer != nil {
		lines = append(lines, engine.Fact{Label: r.run.Say("page.given"), Value: r.run.Say("run.reason.answer",
			"answer", st.Answer.Response, "user", st.Answer.By.User, "source", st.Answer.By.Source)})
	}
	for _, e := range st.Edited() {
		lines = append(lines, engine.Fact{Label: r.run.Say("ask.edited", "file", e.Path), Value: e.File})
	}
	if u := r.reuse; u != nil {
		lines = append(lines, engine.Fact{Label: r.run.Say("ask.fact.used"), Value: r.run.Say("ask.used", "n", u.Times, "first", u.FirstAt, "last", u.LastAt)})
	}
	a.Facts = slices.DeleteFunc(lines, func(f engine.Fact) bool { return f.Value == "" })
	members, err := schemas.Members(r.doc.Body)
	if err != nil {
		return // its note says more
	}
	for _, s := range schemas.Strays("", members, &Ask{}) {
		a.Findings = append(a.Findings, engine.Finding{Severity: "warning", Path: r.doc.Path, Text: r.run.Say("ask.finding.stray", "member", s.Pointer)})
	}
}

// summary implements [run.Family.Summary].
func summary(body []byte) engine.Summary {
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
