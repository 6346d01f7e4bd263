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

// PartialWriteGrace is how long content that does not parse is assumed to be half written,
// counted from the last change of the file.
const PartialWriteGrace = 10 * time.Second

// Input reads the documents of one snapshot and collects the notes about them.
type Input struct {
	Snap engine.Snapshot
	// Lang is the language of the run's texts for people: the one in its state, or before the
	// run begins the one in the settings.
	Lang  string
	Notes engine.Notes
	// Held is true while a file that could decide is still being written or cannot be read:
	// then no default and no deadline takes effect.
	Held bool
	// Unsure is true while something cannot be determined that comes before every rule, such
	// as the content of a stop.json that is still being written.
	Unsure bool
	// Wake is when a file that may be half written cannot be any more; zero for never.
	Wake time.Time
	// Pending are the files that may be half written.
	Pending []engine.PendingFile
	// NotePath returns where the note about a file is if it is not beside the file, "" for
	// other files. nil: there are no such files.
	NotePath func(p string) string

	held map[string]bool // the paths in Pending
	// facts are the needs of local git that came up while the documents were judged, in one
	// step, for the run before and after the transition.
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

// Fact returns what local git answers to a need; ok is false if git was not asked yet. Then
// nothing that this step plans is carried out: git is asked, and the step is repeated.
func (r *Input) Fact(need string) (fact engine.Document, ok bool) {
	if r.facts == nil {
		r.facts = new([]string)
	}
	if !slices.Contains(*r.facts, need) {
		*r.facts = append(*r.facts, need)
	}
	return r.Snap.Doc(need), r.Snap.Has(need)
}

// WakeAt schedules the next step for t at the latest.
func (r *Input) WakeAt(t time.Time) {
	if !t.IsZero() && (r.Wake.IsZero() || t.Before(r.Wake)) {
		r.Wake = t
	}
}

// Due reports whether a time has come. If not, it schedules a step for that time.
func (r *Input) Due(at Text) bool {
	t := at.Time()
	if t.IsZero() || !r.Snap.Now.Before(t) {
		return true
	}
	r.WakeAt(t)
	return false
}

// MaybePartial reports whether content that does not parse may still be being written, and
// schedules a step for when it cannot be any more.
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

// IsUnreadable reports whether reading a file failed with an error of the system, such as a
// missing permission. The content of the file may decide once it can be read, so the file must
// not be treated as absent.
func IsUnreadable(d engine.Document) bool {
	var system *fs.PathError
	return !d.Absent() && errors.As(d.Err, &system)
}

// Undecidable reports whether the content of a file cannot be determined now: it is still
// being written, or the system does not allow reading it. Then nothing is decided on its
// absence, and no deadline passes.
func (r *Input) Undecidable(d engine.Document) bool {
	if !d.Unsettled() && !IsUnreadable(d) {
		return false
	}
	r.Held = true
	return true
}

// Decode reads a JSON document that has an effect if it is valid. An invalid document counts
// as absent, with a note beside it. ok is also false while the document is absent.
func (r *Input) Decode(d engine.Document, schema string, into any) (ok bool) {
	return r.Read(d, func() error { return schemas.Decode(schema, path.Base(d.Path), d.Body, into) })
}

// Read is Decode with another decoder, whose error says what is wrong.
func (r *Input) Read(d engine.Document, decode func() error) (ok bool) {
	return r.Judge(d, decode) == Good
}

// Reading is the result of reading a document.
type Reading int

// The results of reading a document.
const (
	// Absent means that there is no such file.
	Absent Reading = iota
	// Pending means that the file may still be being written, or that the system does not
	// allow reading it. Its content may decide later.
	Pending
	// Bad means that the document cannot be used, and a note says why.
	Bad
	// Good means that the document was decoded.
	Good
)

// Judge decodes a document if possible, and returns the result.
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

// Load decodes a JSON document by a schema, and returns nil if it cannot be used. Each type
// has one schema. Later steps over the same content share the value, so nobody may change it.
func Load[T any](r *Input, d engine.Document, schema string) (v *T, got Reading) {
	return Parse(r, d, decoder[T](schema))
}

// Parse is Load with another decoder.
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

// Bad adds a note about what is wrong with a document.
func (r *Input) Bad(d engine.Document, text string) { r.Notes.Add(r.Note(d.Path), text) }

// ProblemsDir is the folder of a run that holds its notes on files of others.
const ProblemsDir = "problems"

// Note returns the path of the note about a file: beside the file if it belongs to the run,
// otherwise in the run's folder, because each run that reads a file has its own note on it.
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

// Path returns the path of a file in the run's folder, relative to the workspace.
func (r *Input) Path(rel string) string { return path.Join(r.Snap.Dir, rel) }
