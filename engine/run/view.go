package run

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"placet/engine"
	"placet/engine/gate"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// StatusUnreadable is the status of a run whose state document cannot be used.
const StatusUnreadable engine.Status = "unreadable"

// Account implements [engine.Machine].
func (f *Family[S, V]) Account(s engine.Snapshot) engine.RunView {
	a, _ := f.View(s)
	return a
}

// View returns the account of a run and the family's view that it was made from.
func (f *Family[S, V]) View(s engine.Snapshot) (engine.RunView, V) {
	a := engine.RunView{Key: s.Key, Class: "served", ShortID: s.Key.ID, Status: engine.StatusAbsent}
	r := f.open(s)
	next := r.foresee()
	if !r.Begun && r.Usable() && next == nil && f.Absent(r.v, &a) {
		a.Absent = true
		return a, r.v
	}
	a.Status = r.word()
	a.Final = f.Final(a.Status)
	a.Blocked = r.Problem != "" && !r.Torn
	a.Unaccounted = r.Unaccounted
	a.Contradict(contradictions(r), r.Say("run.wait.merge"))
	explain(r, &a, next)
	if r.Begun && r.Usable() && !a.Final {
		for _, q := range r.open() { // oldest first
			a.Open = append(a.Open, r.issue(q).tell())
		}
	}
	if f.Shared == nil {
		a.Findings, a.Log = append(a.Findings, findings(r)...), f.log(r)
	}
	f.Tell(r.v, &a)
	a.Findings = slices.Concat(a.Findings, copies(&r.Input), fabrications(r))
	a.Pending = r.BeingWritten()
	return a, r.v
}

// word returns the status that people see.
func (r *Run[S, V]) word() engine.Status {
	switch {
	case r.Begun:
		return r.status()
	case !r.Usable():
		return StatusUnreadable
	}
	return r.f.New
}

// foreseen describes what the next pass does.
type foreseen struct {
	// move is the transition that the pass makes, nil for none.
	move *engine.Transition
	// writes are the other files that the pass writes.
	writes []string
}

// foresee makes all the judgements of a pass, so that it produces the notes of a pass, and
// returns what the next pass does, or nil for nothing.
func (r *Run[S, V]) foresee() *foreseen {
	p, moved := r.next()
	if r.Begun && r.Usable() {
		r.judgeAll()
	}
	var next foreseen
	for _, d := range p.Writes {
		next.writes = append(next.writes, d.Path)
	}
	if moved {
		next.move = &p.Transitions[0]
	}
	if !moved && len(p.Writes) == 0 {
		return nil
	}
	return &next
}

// Waiting collects why a run does not move, what it waits for, and which file would move it.
type Waiting struct {
	// Writes are the files that the next pass writes without a transition.
	Writes []string
	// Subject is the part of the run whose rules are being explained, "" for the run. Moving is
	// the part that the next pass moves.
	Subject, Moving string
	// Next is the event of the transition that the next pass makes, "" for none.
	Next string
	a    *engine.RunView
	r    *Input
	tell func(*Request) engine.OpenRequest
}

// Why adds a sentence that says which rule holds the run.
func (w *Waiting) Why(key templates.Key, pairs ...any) {
	w.a.Why = append(w.a.Why, w.r.Say(key, pairs...))
}

// For adds a short phrase for what the run waits for and who provides it, such as
// "inputs/assets.json (agent)".
func (w *Waiting) For(key templates.Key, pairs ...any) { w.a.Await(w.r.Say(key, pairs...)) }

// Pass says that the run waits only for the next pass.
func (w *Waiting) Pass(key templates.Key, pairs ...any) {
	w.Why(key, pairs...)
	w.For("run.wait.pass")
}

// Require says that a person must do something that is no answer.
func (w *Waiting) Require(must engine.RequiredAction) {
	w.a.Required = append(w.a.Required, must)
	w.Why("say.text", "text", must.Text)
	if must.Command != "" {
		w.For("run.wait.required", "command", must.Command)
	}
}

// Written says that the run waits until a file is completely written. The argument what is used
// if no file is known.
func (w *Waiting) Written(what string) { w.r.Await(w.a, what) }

// Unblock names a file of the run that would move it, and the content that the file must have.
func (w *Waiting) Unblock(rel, content string) { w.UnblockAt(w.r.Path(rel), content) }

// UnblockAt is [Waiting.Unblock] for a path relative to the workspace.
func (w *Waiting) UnblockAt(path, content string) {
	w.a.Unblock = append(w.a.Unblock, engine.UnblockingFile{Path: path, Content: content})
}

// Lacks says why the run waits for a file of its own, what is wanted of it and from whom, such
// as "that can be read (agent)", and the content that the file must have.
func (w *Waiting) Lacks(rel, wanted, content string, why templates.Key, pairs ...any) {
	w.Why(why, pairs...)
	w.For("run.wait.file", "file", rel, "wanted", wanted)
	w.Unblock(rel, content)
}

// Bad repeats the note beside a file, and says that the run waits for a usable file. It returns
// false if there is no note.
func (w *Waiting) Bad(rel, why, who, content string) bool {
	if !w.Noted(rel, why) {
		return false
	}
	w.For("run.wait.usable", "file", rel, "who", who)
	w.Unblock(rel, content)
	return true
}

// Noted repeats the note beside a file. It returns false if there is no note.
func (w *Waiting) Noted(rel, why string) bool {
	words := w.r.Notes.Text(w.r.Note(w.r.Path(rel)))
	if words != "" {
		w.Why("run.why.note", "what", why, "note", words)
	}
	return words != ""
}

// Waits reports whether the run waits for anything that was named.
func (w *Waiting) Waits() bool { return len(w.a.WaitsFor) > 0 }

// Answer says that the run waits for an answer, and what each option would do. If the request
// has a deadline, and a sentence with the key + ".until" exists, that sentence is used to name
// the deadline.
func (w *Waiting) Answer(q *Request, key templates.Key, pairs ...any) {
	asked := w.tell(q)
	if until := key + ".until"; q.Deadline != "" && templates.Text(templates.English, string(until)) != string(until) {
		key, pairs = until, append(pairs, "deadline", q.Deadline)
	}
	w.Why("run.why.asked", "what", w.r.Say(key, pairs...), "request", q.ID, "type", q.Type)
	if asked.Problem != "" {
		w.Why("run.why.held", "note", asked.Problem)
	}
	form := layout.RequestsDir + "/" + q.ID + "/form.md"
	option := ""
	for _, o := range asked.Options {
		effect := cmp.Or(o.Effect, o.Description)
		if slices.Contains(asked.AtCommandLine, o.ID) {
			w.Unblock(form, w.r.Say("run.unblock.commandline", "request", q.ID, "option", o.ID, "effect", effect))
			continue
		}
		w.Unblock(form, w.r.Say("run.unblock.option", "option", o.ID, "effect", effect))
		option = cmp.Or(option, o.ID)
	}
	if len(asked.Items) > 0 {
		w.Unblock(form, w.r.Say("run.unblock.items"))
	}
	if len(asked.Options) == 0 {
		option = w.r.Say("run.unblock.text")
	}
	w.Unblock(layout.RequestsDir+"/"+q.ID+"/response.json", fmt.Sprintf(`{"request_id": "%s", "response": "%s", "provided_by": {"user": "%s", "source": "%s"}}`,
		q.ID, option, w.r.Say("run.unblock.you"), gate.SourceFile))
}

// explain says why a run does not move.
func explain[S, V any](r *Run[S, V], a *engine.RunView, next *foreseen) {
	w := &Waiting{a: a, r: &r.Input, tell: func(q *Request) engine.OpenRequest { return r.issue(q).tell() }}
	switch {
	case r.Torn:
		w.Why("run.why.torn", "files", r.f.recordFiles(r.Lang))
		w.Written(r.f.recordFiles(r.Lang))
		return
	case r.Problem != "":
		w.Why("say.text", "text", r.Problem)
		w.For("run.wait.usable", "file", stateFile, "who", w.r.Say("run.who.person"))
		w.Unblock(stateFile, w.r.Say("run.unblock.state"))
		return
	}
	if next != nil {
		w.Writes = next.writes
	}
	if next != nil && next.move != nil {
		w.Next = next.move.Event
		w.Pass("say.text", "text", moves(&r.Input, r.f.noun(r.Lang), *next.move))
		w.Moving = next.move.Subject
	}
	if w.Moving != "" || next == nil || next.move == nil {
		awaits(r, w)
	}
	a.Blocked = a.Blocked || !r.Begun && next == nil && r.Notes.Len() > 0
	r.f.Explain(r.v, w)
}

// moves returns the sentence about the transition that the next pass makes.
func moves(r *Input, noun string, t engine.Transition) string {
	what := t.Subject
	if what == "" {
		what = r.Say("run.noun", "noun", noun)
	}
	key := templates.Key("run.why.moves")
	switch {
	case t.From == "" && t.Subject == "":
		key = "run.why.begins"
	case t.From == "":
		key = "run.why.enters"
	}
	return r.Say(key, "what", what, "from", t.From, "to", t.To, "event", t.Event, "reason", t.Reason)
}

// noun returns the family's word for a run.
func (f *Family[S, V]) noun(lang string) string { return templates.Phrase(lang, f.Family()+".noun") }

// awaits lets the rules that leave the present statuses say what they wait for.
func awaits[S, V any](r *Run[S, V], w *Waiting) {
	all := slices.Concat(r.f.Rules...)
	ask := func(of string, status engine.Status) {
		for _, rule := range all {
			if rule.Awaits != nil && rule.Of == of && slices.Contains(rule.From, status) {
				rule.Awaits(r.v, w)
			}
		}
	}
	ask(all[0].Of, r.status())
	if !r.Begun || r.f.Final(r.status()) {
		return
	}
	for _, parts := range r.f.Parts {
		for _, subject := range parts.All(r.v) {
			if subject != w.Moving {
				w.Subject = subject
				ask(parts.Of, parts.Status(r.v, On{Subject: subject}))
			}
		}
	}
	w.Subject = ""
}

// tell returns an open request in the form that people are shown.
func (i *issue[S, V]) tell() engine.OpenRequest {
	r := i.r
	a := i.evaluation().OpenRequest()
	a.Run, a.Where = r.Snap.Key, string(r.status())
	a.Changed, a.Voids, a.Void = changedArtifacts(r.Snap, i.request()), i.dir.Voids.Count(), i.dir.Voids.Notice(r.Lang)
	a.Problem = cmp.Or(r.Notes.Text(i.dir.Dir+"/problem.md"), r.Notes.Text(r.Note(i.dir.Doc.Path)))
	a.Counts = i.answer() != nil
	if i.question.Tell != nil {
		i.question.Tell(r.v, i.Request, &a)
	}
	return a
}

// findings returns what check reports for every run: the problem that blocks it, and its notes.
func findings[S, V any](r *Run[S, V]) []engine.Finding {
	var list []engine.Finding
	if r.Problem != "" && !r.Torn {
		list = append(list, engine.Finding{Severity: "error", Path: r.Doc.Path, Text: r.Problem})
	}
	for _, note := range noteFindings(&r.Input) {
		if len(list) == 0 || note.Path != r.Note(r.Doc.Path) { // the finding above says the same
			list = append(list, note)
		}
	}
	return list
}

// copies returns findings about the second answers that synchronisers left.
func copies(r *Input) []engine.Finding {
	var list []engine.Finding
	for _, d := range r.Snap.Docs {
		if d.Kind == layout.KindResponseCopy {
			list = append(list, engine.Finding{Severity: "warning", Path: d.Path, Text: r.Say("run.finding.copy")})
		}
	}
	return list
}

// contradictions returns where the state document and the receipts disagree, including for a
// state that the journal does not account for.
func contradictions[S, V any](r *Run[S, V]) []engine.Finding {
	if r.f.Shared != nil {
		return r.f.Shared.Contradictions(r.v)
	}
	if r.Torn || r.Problem != "" && r.Unaccounted == "" {
		return nil
	}
	// A state that cannot be used does not say what the request documents ask, so only the
	// receipt counts.
	stated := func(f *gate.Folder) *gate.Receipt {
		q := r.Request(f.ID)
		switch {
		case q != nil:
			rc := r.Receipt(q)
			return &rc
		case r.Problem != "":
			return f.Receipt
		}
		return nil
	}
	return gate.Comparison{
		Lang: r.Lang, Snap: r.Snap, State: r.Doc.Path, Revision: r.revision(), Folders: r.Folders, Stated: stated,
		Adopted: func() int { return adopted(r.Snap) },
	}.Contradictions()
}

// log returns the transitions of the run from its journal or its state, oldest first.
func (f *Family[S, V]) log(r *Run[S, V]) []engine.Entry {
	var list []engine.Entry
	if !f.hasJournal() {
		for i, p := range r.past() {
			list = append(list, JournalEntry{Seq: i + 1, At: p.At, Edge: p.Edge, Actor: p.Actor, Reason: p.Reason}.Account(""))
		}
		return list
	}
	for raw := range bytes.Lines(r.Snap.In(journalFile).Body) {
		if f.Entry != nil {
			if e, ok := f.Entry(raw); ok {
				list = append(list, e)
				continue
			}
		}
		var e JournalEntry
		if schemas.Decode("", journalFile, raw, &e) != nil {
			continue
		}
		where := string(e.To)
		if f.Parts != nil {
			where = e.Subject
		}
		if where == r.Snap.Key.ID {
			where = "" // the run itself
		}
		list = append(list, e.Account(where))
	}
	return list
}

// past returns the transitions that the state keeps, oldest first.
func (r *Run[S, V]) past() []Past {
	if !r.Begun {
		return nil
	}
	return append(slices.Clip(*r.head.History), (*r.head.Last).past())
}
