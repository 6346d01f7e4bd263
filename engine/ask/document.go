package ask

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// These are the types of questions.
const (
	approval = "approval"
	review   = "review"
	choice   = "choice"
	multi    = "multi"
	freeText = "text"
)

var types = []string{approval, review, choice, multi, freeText}

// none is the option of a multi that can only be chosen alone.
const none = "none"

// own lists the options that a type defines itself; ask.json may only describe these.
var own = map[string][]string{approval: {"approve", "reject"}, review: {"approve", "request_changes", "reject"}}

// approving lists the words that approve something. Silence never counts as one of them.
var approving = strings.Fields("accept agree allow apply approve confirm consent continue delete deploy execute go merge ok okay permit proceed publish push release run send ship yes")

// ReadAsk reads ask.json and fills in what was left out. written is when the file was written,
// and now is when it is registered. The error says why it cannot be asked.
func ReadAsk(id, lang string, body []byte, now, written time.Time) (a Ask, err error) {
	if err = schemas.Decode("ask/ask", "ask.json", body, &a); err == nil {
		err = a.fill(id, lang, now, written)
	}
	return a, err
}

// fill fills in what was left out of an ask, or returns why it cannot be asked.
func (a *Ask) fill(id, lang string, now, written time.Time) error {
	if a.Type == "" {
		a.Type = approval
		if len(a.Options) > 0 {
			a.Type = choice
		}
	}
	if a.Supersedes == id {
		return refuse("/supersedes", "ask.refuse.supersedes")
	}
	if a.RoundOf == id {
		return refuse("/round_of", "ask.refuse.round.itself")
	}
	if templates.Blank(a.Question) {
		return refuse("/question", "ask.refuse.question")
	}
	for _, check := range []func() error{func() error { return a.fillOptions(lang) }, func() error { return a.fillDeadline(now, written) }, a.checkDefault, a.checkArtifacts, a.checkMayAnswer} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// refuse returns the error of a member of ask.json that its schema accepts and that nobody could
// be asked with.
func refuse(pointer string, key templates.Key, pairs ...any) error {
	return &schemas.Error{Pointer: pointer, Problem: templates.NewMessage(key, pairs...)}
}

// refuseOptions is refuse with an example of options.
func refuseOptions(pointer string, key templates.Key, pairs ...any) error {
	const example = `"options": [{"id": "deploy"}, {"id": "wait"}]`
	return &schemas.Error{Pointer: pointer, Problem: templates.NewMessage(key, pairs...), Expected: templates.NewMessage("ask.refuse.options.such", "example", example)}
}

// at returns the JSON pointer of an element of a list.
func at(list string, i int) string { return list + "/" + strconv.Itoa(i) }

func (a *Ask) fillOptions(lang string) error {
	n := len(a.Options)
	switch {
	case a.Type == choice && n < 2:
		return refuseOptions("/options", "ask.refuse.options.choice")
	case a.Type == multi && n == 0:
		return refuseOptions("/options", "ask.refuse.options.multi")
	case a.Type == freeText && n > 0:
		return refuse("/options", "ask.refuse.options.text")
	}
	for i := range a.Options {
		if err := gate.CheckOptions(a.ids()[:i+1]); err != nil {
			return refuseOptions(at("/options", i)+"/id", "say.text", "text", err)
		}
	}
	if words := own[a.Type]; words != nil {
		return a.fillOwn(words, lang)
	}
	if _, ok := a.option(none); a.Type == multi && !ok {
		a.Options = append(slices.Clip(a.Options), Option{ID: none, Description: templates.Text(lang, "ask.option."+none)})
	}
	return nil
}

// fillOwn replaces the given options by those of the type, with the given descriptions.
func (a *Ask) fillOwn(words []string, lang string) error {
	given := *a
	for i, o := range a.Options {
		if !slices.ContainsFunc(words, func(id string) bool { return gate.Fold(id) == gate.Fold(o.ID) }) {
			return refuse(at("/options", i)+"/id", "ask.refuse.option.type", "option", strconv.Quote(o.ID), "type", a.Type, "options", strings.Join(words, ", "))
		}
	}
	a.Options = nil
	for _, id := range words {
		o, ok := given.option(id)
		if !ok || o.Description == "" {
			o.Description = templates.Text(lang, "ask.option."+id)
		}
		o.ID, o.Comment = id, o.Comment || id == "request_changes"
		a.Options = append(a.Options, o)
	}
	return nil
}

func (a *Ask) ids() (ids []string) {
	for _, o := range a.Options {
		ids = append(ids, o.ID)
	}
	return ids
}

// option returns the option that a word names.
func (a *Ask) option(word string) (Option, bool) {
	i := slices.IndexFunc(a.Options, func(o Option) bool { return gate.Fold(o.ID) == gate.Fold(word) })
	if i < 0 {
		return Option{}, false
	}
	return a.Options[i], true
}

// units are the units of a duration, by their letters.
var units = map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}

const longestDeadline = 365 * 24 * time.Hour

// fillDeadline turns a deadline that is a duration into a point in time.
func (a *Ask) fillDeadline(now, written time.Time) error {
	if a.Deadline == "" {
		return nil
	}
	at, err := time.Parse(time.RFC3339, a.Deadline)
	if err != nil {
		n, bad := strconv.Atoi(a.Deadline[:len(a.Deadline)-1])
		unit := units[a.Deadline[len(a.Deadline)-1]]
		if bad != nil || unit == 0 || n > int(longestDeadline/unit) {
			return refuse("/deadline", "ask.refuse.deadline", "deadline", strconv.Quote(a.Deadline))
		}
		at = now.Add(time.Duration(n) * unit)
	}
	if err == nil && at.After(written.Add(longestDeadline)) {
		return refuse("/deadline", "ask.refuse.deadline.far", "deadline", a.Deadline)
	}
	a.Deadline = string(run.Seconds(at))
	return nil
}

// checkMayAnswer refuses groups.
func (a *Ask) checkMayAnswer() error {
	for i, name := range a.MayAnswer {
		if gate.IsGroup(name) {
			return refuse(at("/may_answer", i), "ask.refuse.group", "name", strconv.Quote(name))
		}
	}
	return nil
}

// checkDefault refuses a default that approves, or that is not a whole answer.
func (a *Ask) checkDefault() error {
	if a.Default == "" {
		return nil
	}
	o, ok := a.option(a.Default)
	switch {
	case a.Deadline == "":
		return refuse("/default", "ask.refuse.default.deadline")
	case !ok:
		return refuse("/default", "ask.refuse.default.none", "option", strconv.Quote(a.Default))
	case approves(o):
		return refuse("/default", "ask.refuse.default.approves", "option", strconv.Quote(o.ID))
	case o.Comment:
		return refuse("/default", "ask.refuse.default.comment", "option", strconv.Quote(o.ID))
	}
	a.Default = o.ID
	return nil
}

// approves reports whether an option approves something, or looks like a word that does.
func approves(o Option) bool {
	looks := gate.Looks(o.ID)
	return o.Approves || slices.ContainsFunc(approving, func(word string) bool {
		return slices.ContainsFunc(gate.Looks(word), func(look string) bool { return slices.Contains(looks, look) })
	})
}

// checkArtifacts refuses a review without files, paths that cannot be looked up, and files that
// cannot be editable.
func (a *Ask) checkArtifacts() error {
	if a.Type == review && len(a.Artifacts) == 0 {
		return refuse("/artifacts", "ask.refuse.artifacts")
	}
	for i, f := range a.Artifacts {
		switch {
		case !layout.IsArtifact(f.Path):
			return refuse(at("/artifacts", i)+"/path", "ask.refuse.artifact.path", "path", strconv.Quote(f.Path))
		case f.Editable && slices.ContainsFunc(a.Artifacts[:i], func(other Artifact) bool { return other.Path == f.Path }),
			slices.ContainsFunc(a.Artifacts[:i], func(other Artifact) bool { return other.Path == f.Path && other.Editable }):
			return refuse(at("/artifacts", i)+"/path", "ask.refuse.artifact.twice", "path", f.Path)
		case f.Editable && (own[a.Type] == nil || !f.IsBinding()):
			return refuse(at("/artifacts", i)+"/editable", "ask.refuse.artifact.editable")
		}
	}
	return nil
}

// IsBinding reports whether an answer loses its worth when the file changes.
func (f Artifact) IsBinding() bool { return f.Binding == nil || *f.Binding }

// readAsk reads ask.json until the ask is registered. After that it only notes a change of the
// file.
func (r *view) readAsk() {
	r.doc = r.run.Snap.In("ask.json")
	if r.run.Begun {
		if r.isChanged() {
			r.run.Notes.Beside(r.doc.Path, r.run.Say("ask.changed"))
		}
		return
	}
	r.isWellFormed = r.run.Read(r.doc, func() (err error) {
		r.ask, err = ReadAsk(r.run.Snap.Key.ID, r.run.Lang, r.doc.Body, r.run.Snap.Now, r.doc.Changed)
		return err
	})
	if !r.isWellFormed || len(r.run.Snap.Lacks(r.needs())) > 0 {
		return
	}
	err := r.resolve()
	if err != nil {
		r.run.Bad(r.doc, r.run.Say("ask.notyet", "error", err))
	}
	r.canBeAsked = err == nil && !r.awaitsOther()
}

// isChanged reports whether ask.json differs from what was registered.
func (r *view) isChanged() bool {
	return !r.doc.Unsettled() && string(r.doc.Sum) != string(r.run.State.AskDigest)
}

// CheckApprovers returns an error if names of people who may answer are not valid: they become
// members of the state.
func CheckApprovers(names []string) error {
	return schemas.CheckValue("ask/ask#/properties/may_answer", names)
}

// resolve records the digests of the files and who may answer, or returns why nobody can be
// asked yet.
func (r *view) resolve() error {
	approvers := gate.Narrow(r.run.Snap.Facts.Config.GateFor("ask", r.ask.Type).Approvers, r.ask.MayAnswer)
	if slices.Contains(approvers, gate.Nobody) {
		return refuse("/may_answer", "ask.refuse.gates")
	}
	if err := CheckApprovers(approvers); err != nil { // they would make the state unreadable
		return refuse("/may_answer", "ask.refuse.approvers", "problem", err)
	}
	r.ask.MayAnswer = approvers
	for i := range r.ask.Artifacts {
		f := &r.ask.Artifacts[i]
		d := r.run.Snap.Doc(f.Path)
		switch {
		case layout.Under(f.Path, path.Dir(r.run.Snap.Dir)):
			return refuse(at("/artifacts", i), "ask.refuse.artifact.asks", "path", f.Path)
		case d.Unsettled():
		case d.Absent():
			return refuse(at("/artifacts", i), "ask.refuse.artifact.missing", "path", f.Path)
		case d.Err != nil:
			return refuse(at("/artifacts", i), "ask.refuse.artifact.unreadable", "path", f.Path, "error", d.Err)
		case f.SHA256 != "" && f.SHA256 != d.Sum.Hex():
			return refuse(at("/artifacts", i), "ask.refuse.artifact.digest", "path", f.Path)
		}
		if err := checkEditable(r, d); f.Editable && !d.Unsettled() && err != nil {
			return refuse(at("/artifacts", i)+"/editable", "ask.refuse.artifact.edit", "path", f.Path, "problem", err)
		}
		f.SHA256 = d.Sum.Hex()
		binding := f.IsBinding()
		f.Binding = &binding
	}
	return r.readRound()
}

// checkEditable returns why a person cannot change a file, nil if they can.
func checkEditable(r *view, d engine.Document) error {
	if ignored, known := r.run.Fact(engine.IgnoredNeed + d.Path); known && len(ignored.Body) > 0 {
		return templates.Errorf("ask.refuse.artifact.ignored")
	}
	return gate.CheckEditable(string(d.Body))
}

// awaitsOther reports whether the ask that this one supersedes is still open.
func (r *view) awaitsOther() bool {
	if r.ask.Supersedes == "" {
		return false
	}
	d := r.run.Snap.Doc(r.stateOf(r.ask.Supersedes))
	var st struct {
		Status engine.Status `json:"status"`
	}
	return !d.Absent() && (d.Err != nil || schemas.Decode("", d.Path, d.Body, &st) != nil || st.Status == Open)
}

// needs returns the paths of the artifacts and, before the ask opens, of the asks that it
// follows.
func (r *view) needs() (paths []string) {
	a := r.run.State.Ask
	switch {
	case !r.run.Begun && r.isWellFormed:
		a = r.ask
		if a.Supersedes != "" {
			paths = append(paths, r.stateOf(a.Supersedes))
		}
		if a.RoundOf != "" {
			paths = append(paths, r.stateOf(a.RoundOf), r.requestOf(a.RoundOf))
		}
	case !r.run.Begun || r.run.State.IsFinal():
		return nil
	}
	for _, f := range a.Artifacts {
		paths = append(paths, f.Path)
	}
	return paths
}
