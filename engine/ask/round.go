package ask

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/layout"
	"placet/templates"
)

// Round says which of a chain of asks about the same work an ask is, and how the one before
// ended. The first ask of a chain has none.
type Round struct {
	N        int           `json:"n"`
	Of       string        `json:"of"` // the ask before
	Status   engine.Status `json:"status"`
	Response text          `json:"response"`
	Comment  text          `json:"comment"`
	By       text          `json:"by"`
	At       text          `json:"at"`
	// Since is what a person reads about the round before: the answer, and the changes of the
	// files since.
	Since string `json:"since"`
}

// mostRounds limits a chain of rounds. largestSince limits the text about the round before in a
// request, and largestComment a comment in that text, both in bytes.
const (
	mostRounds     = 50
	largestSince   = 32 << 10
	largestComment = 4 << 10
)

// MayGoOn reports whether another round may follow an ask. None may after a person has approved
// or chosen: nothing is asked again under the name of that answer.
func (st State) MayGoOn() bool {
	return st.Status != Answered || st.Answer != nil && slices.Contains([]string{"reject", "request_changes"}, st.Answer.Response)
}

// Again returns the same ask, to be asked once more: about the files as they are, and for as
// long.
func (st State) Again() Ask {
	a := st.Ask
	a.IdempotencyKey, a.Supersedes, a.RoundOf = "", "", ""
	if since := cmp.Or(st.AskedAt, st.Last.At); a.Deadline != "" {
		a.Deadline = fmt.Sprintf("%.0fs", max(1, text(a.Deadline).Time().Sub(since.Time()).Seconds()))
	}
	a.Artifacts = slices.Clone(a.Artifacts)
	for i := range a.Artifacts {
		a.Artifacts[i].SHA256, a.Artifacts[i].Now = "", nil
	}
	return a
}

// stateOf returns the path of another ask's state.
func (r *view) stateOf(id string) string {
	return path.Join(path.Dir(r.run.Snap.Dir), id, "state.json")
}

// requestOf returns the path of another ask's request.
func (r *view) requestOf(id string) string {
	return layout.RequestPath(path.Join(path.Dir(r.run.Snap.Dir), id), RequestID(id), "request.json")
}

// readRound reads how the round before ended, or returns why there can be no round after it.
func (r *view) readRound() error {
	of := r.ask.RoundOf
	if of == "" {
		return nil
	}
	d := r.run.Snap.Doc(r.stateOf(of))
	if d.Absent() {
		return refuse("/round_of", "ask.refuse.round.unknown", "ask", strconv.Quote(of))
	}
	st, err := State{}, d.Err
	if err == nil {
		st, err = ReadState(d.Path, d.Body)
	}
	n := 2
	if st.Round != nil {
		n = st.Round.N + 1
	}
	switch {
	case err != nil:
		return refuse("/round_of", "ask.refuse.round.unreadable", "ask", of, "error", err)
	case !st.IsFinal() && r.ask.Supersedes != of:
		return refuse("/round_of", "ask.refuse.round.open", "ask", of)
	case !st.MayGoOn():
		return refuse("/round_of", "ask.refuse.round.answered", "ask", of)
	case n > mostRounds:
		return refuse("/round_of", "ask.refuse.round.most", "most", mostRounds)
	}
	r.round = &Round{N: n, Of: of, Status: st.Status}
	if st.Last != nil {
		r.round.At = st.Last.At
	}
	if a := st.Answer; a != nil {
		r.round.Response, r.round.Comment, r.round.By = text(a.Response), text(a.Comment), text(a.By.User)
	}
	r.round.Since = r.since(st, d.IssuedHere())
	return nil
}

// since returns what a person reads about the round before: how it ended, and how the files
// changed since. issued says that this machine wrote its state.
func (r *view) since(st State, issued bool) string {
	at := strings.NewReplacer("T", " ", "Z", " UTC").Replace(string(r.round.At))
	ended := r.run.Say("ask.round.ended", "n", r.round.N-1, "ask", r.round.Of, "status", st.Status, "at", at)
	if st.Answer != nil {
		ended = r.run.Say("ask.round.answered", "n", r.round.N-1, "ask", r.round.Of, "by", st.Answer.By.User, "answer", st.Answer.Response, "at", at)
	}
	parts := []string{ended}
	if !issued {
		parts = append(parts, r.run.Say("ask.round.claimed"))
	}
	if comment := templates.Cut(string(r.round.Comment), largestComment); !templates.Blank(comment) {
		parts = append(parts, templates.Quote(comment))
	}
	shown := shownIn(r, st)
	if a := st.Answer; a != nil {
		for _, e := range a.Edits {
			lines, more := gate.Difference(shown[e.Path], e.Text)
			parts = append(parts, difference(r, "ask.round.edited", e.Path, lines, more))
		}
	}
	parts = append(parts, r.changes(st, shown)...)
	return templates.CutWith(strings.Join(parts, "\n\n"), largestSince, "\n"+r.run.Say("form.cut"))
}

// difference returns a text with the changes of a file.
func difference(r *view, key templates.Key, file string, lines []string, more int) string {
	if more > 0 {
		lines = append(lines, r.run.Say("ask.round.more", "n", more))
	}
	return r.run.Say(key, "file", file) + "\n" + strings.Join(lines, "\n")
}

// shownIn returns the texts of the files that another ask showed.
func shownIn(r *view, before State) map[string]string {
	shown := map[string]string{}
	if d := r.run.Snap.Doc(r.requestOf(before.AskID)); d.Present() && d.Sum == engine.Digest(before.RequestDigest) {
		if req, err := gate.ReadRequest(d.Path, d.Body); err == nil {
			for _, a := range req.Artifacts {
				if text, ok := a.Carried(); ok {
					shown[a.Path] = text
				}
			}
		}
	}
	return shown
}

// changes returns, for each file, a text about its changes since the round before, which showed
// these texts.
func (r *view) changes(before State, shown map[string]string) (parts []string) {
	for _, f := range r.ask.Artifacts {
		i := slices.IndexFunc(before.Ask.Artifacts, func(other Artifact) bool { return other.Path == f.Path })
		d := r.run.Snap.Doc(f.Path)
		switch {
		case i < 0:
			parts = append(parts, r.run.Say("ask.round.new", "file", f.Path))
			continue
		case d.Matches(before.Ask.Artifacts[i].SHA256):
			parts = append(parts, r.run.Say("ask.round.same", "file", f.Path))
			continue
		}
		then, known := shown[f.Path]
		lines, more := []string(nil), 0
		if known && run.MayShow(&r.run.Input, f.Path) {
			lines, more = gate.Difference(then, string(d.Body))
		}
		if lines == nil {
			parts = append(parts, r.run.Say("ask.round.other", "file", f.Path))
			continue
		}
		parts = append(parts, difference(r, "ask.round.changed", f.Path, lines, more))
	}
	for _, f := range before.Ask.Artifacts {
		if !slices.ContainsFunc(r.ask.Artifacts, func(other Artifact) bool { return other.Path == f.Path }) {
			parts = append(parts, r.run.Say("ask.round.dropped", "file", f.Path))
		}
	}
	return parts
}
