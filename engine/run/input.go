package run

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// PartialWriteGrace is how long content that does not parse is taken for half of a write,
// counted from when the file last changed.
const PartialWriteGrace = 10 * time.Second

// Input reads the documents of one snapshot and collects what is to be said
// about them.
type Input struct {
	Snap engine.Snapshot
	// Lang is the language of the run's texts for people: what its state says, before it
	// begins what the settings say.
	Lang  string
	Notes engine.Notes
	// Held is true while a file that could decide is still being written, or
	// cannot be read: no default and no deadline passes over it.
	Held bool
	// Unsure is true while something cannot be told that comes before every rule, such as what
	// a stop.json says that is still being written.
	Unsure bool
	// Wake is when a file that may be half of a write cannot be one any more;
	// zero for never.
	Wake time.Time
	// Pending are the files that may be half of a write.
	Pending []engine.PendingFile
	// NotePath says where the note about a file stands that has none beside it, "" for
	// other files. nil: there are no such files.
	NotePath func(p string) string

	held map[string]bool // the paths in Holding
	// facts are the needs that were met while the documents were judged, in one step, of
	// the run as it is and as it will be.
	facts *[]string
}

// NewInput returns the input of a snapshot in the language of the settings.
func NewInput(s engine.Snapshot) Input {
	in := Input{Snap: s, facts: new([]string)}
	in.speak(s.Facts.Config.Language)
	return in
}

// speak sets the language, unless lang is empty.
func (r *Input) speak(lang string) {
	if lang != "" {
		r.Lang, r.Notes.Lang = lang, lang
	}
}

// Say returns a sentence in the language of the run.
func (r *Input) Say(key templates.Key, pairs ...any) string {
	return templates.Phrase(r.Lang, string(key), pairs...)
}

// Fact is what local git says to a need; ok is false where it was not asked yet. Then nothing
// that this step plans is carried out: git is asked, and the step is repeated.
func (r *Input) Fact(need string) (fact engine.Document, ok bool) {
	if r.facts == nil {
		r.facts = new([]string)
	}
	if !slices.Contains(*r.facts, need) {
		*r.facts = append(*r.facts, need)
	}
	return r.Snap.Doc(need), r.Snap.Has(need)
}

// WakeAt has the run looked at no later than t.
func (r *Input) WakeAt(t time.Time) {
	if !t.IsZero() && (r.Wake.IsZero() || t.Before(r.Wake)) {
		r.Wake = t
	}
}

// Due reports whether a moment has come. If not, the run is looked at when it does.
func (r *Input) Due(at Text) bool {
	t := at.Time()
	if t.IsZero() || !r.Snap.Now.Before(t) {
		return true
	}
	r.WakeAt(t)
	return false
}

// MaybePartial reports whether content that does not parse may still be being
// written, and has the run looked at when it cannot be any more.
func (r *Input) MaybePartial(d engine.Document, err error) bool {
	var bad *schemas.Error
	if !errors.As(err, &bad) || !bad.Torn {
		return false
	}
	h := engine.PendingFile{Path: d.Path, Until: d.Changed.Add(PartialWriteGrace)}
	if !r.Snap.Now.Before(h.Until) {
		return false
	}
	r.waitFor(h)
	return true
}

// IsUnreadable reports whether reading a file met an error of the system, such as a
// missing permission: what the file says may decide once it can be read, so it
// must not be taken for absent.
func IsUnreadable(d engine.Document) bool {
	var system *fs.PathError
	return !d.Absent() && errors.As(d.Err, &system)
}

// Undecidable reports whether what a file says cannot be told now: it is still being
// written, or the system does not let it be read. Nothing is decided on its absence
// then, and no deadline passes.
func (r *Input) Undecidable(d engine.Document) bool {
	if !d.Unsettled() && !IsUnreadable(d) {
		return false
	}
	r.Held = true
	return true
}

// Decode reads a JSON document that gives a sign when it is valid. Where it is
// not, it counts as absent and earns a note beside it. ok is false also while
// it is absent.
func (r *Input) Decode(d engine.Document, schema string, into any) (ok bool) {
	return r.Read(d, func() error { return schemas.Decode(schema, path.Base(d.Path), d.Body, into) })
}

// Read is Decode with another way of decoding, whose error says what is wrong.
func (r *Input) Read(d engine.Document, decode func() error) (ok bool) {
	return r.Judge(d, decode) == Good
}

// Reading is what reading a document gave.
type Reading int

// What reading a document may give.
const (
	// Absent: there is no such file.
	Absent Reading = iota
	// Pending: the file may still be being written, or the system does not let it be
	// read. What it says may decide later.
	Pending
	// Bad: it cannot be used, and a note says why.
	Bad
	// Good: it was decoded.
	Good
)

// Judge decodes a document where it can, and says what it is.
func (r *Input) Judge(d engine.Document, decode func() error) Reading {
	switch {
	case d.Absent():
		return Absent
	case d.Unsettled():
		r.Held = true
		return Pending
	case d.Err != nil:
		r.Bad(d, r.Say("run.unreadable", "file", path.Base(d.Path), "error", d.Err))
		if IsUnreadable(d) {
			r.Held = true
			return Pending
		}
		return Bad
	}
	err := decode()
	if err == nil {
		return Good
	}
	if r.MaybePartial(d, err) {
		r.Held = true
		return Pending
	}
	r.Bad(d, r.Say("run.invalid", "error", err))
	return Bad
}

// Load decodes a JSON document of a schema, nil where it cannot be used. Each type has one
// schema. The value is shared with later steps over the same content: nobody changes it.
func Load[T any](r *Input, d engine.Document, schema string) (v *T, got Reading) {
	return Parse(r, d, decoder[T](schema))
}

// Parse is Load with another way of decoding.
func Parse[T any](r *Input, d engine.Document, decode func(p string, body []byte) (T, error)) (v *T, got Reading) {
	got = r.Judge(d, func() (err error) {
		v, err = engine.Parse(d, decode)
		return err
	})
	if got != Good {
		return nil, got
	}
	return v, got
}

// Bad says in a note what is wrong with a document.
func (r *Input) Bad(d engine.Document, text string) { r.Notes.Add(r.Note(d.Path), text) }

// ProblemsDir is the folder of a run with its notes on files of others.
const ProblemsDir = "problems"

// Note is where the note about a file stands: beside it where the file is the
// run's own; else in the run's folder, since each run that reads a file has
// its own note on it.
func (r *Input) Note(p string) string {
	if r.NotePath != nil {
		if note := r.NotePath(p); note != "" {
			return note
		}
	}
	if layout.Under(p, r.Snap.Dir) {
		return p + layout.ProblemSuffix
	}
	return path.Join(r.Snap.Dir, ProblemsDir, strings.ReplaceAll(p, "/", "--")+layout.ProblemSuffix)
}

// Path of a file in the run's folder, relative to the workspace.
func (r *Input) Path(rel string) string { return path.Join(r.Snap.Dir, rel) }
