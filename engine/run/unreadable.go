package run

import (
	"bytes"
	"errors"
	"path"
	"time"

	"placet/engine"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Unreadable is a document that cannot be read, whatever its content should be: it is
// empty, half written, or holds both sides of a merge.
type Unreadable struct {
	Path string
	// Until is when the document cannot be half written any more; zero if that time has
	// passed.
	Until time.Time
	// Why says what is wrong with it.
	Why templates.Message
	// Conflict is true if git left both sides of a merge.
	Conflict bool
}

// FindUnreadable returns the unreadable documents in a run's folder. The machine's notes
// say which of them matter to the run; a person who asks what is wrong sees all of them,
// including those in closed requests. file is layout's classification of a path in the
// folder.
func FindUnreadable(s engine.Snapshot, file func(rel string) (layout.File, bool)) []Unreadable {
	var list []Unreadable
	for _, d := range s.Docs {
		if !d.Present() || !layout.Under(d.Path, s.Dir) {
			continue
		}
		f, ok := file(s.Rel(d.Path))
		if !ok || f.Format != layout.JSON && f.Kind != layout.KindForm {
			continue
		}
		if u := unreadable(d, f); u != nil {
			if u.Until = d.Changed.Add(PartialWriteGrace); !s.Now.Before(u.Until) {
				u.Until = time.Time{}
			}
			list = append(list, *u)
		}
	}
	return list
}

// unreadable returns why a document cannot be read, or nil if it can.
func unreadable(d engine.Document, f layout.File) *Unreadable {
	if f.Format != layout.JSON {
		if len(bytes.TrimSpace(d.Body)) == 0 {
			return &Unreadable{Path: d.Path, Why: templates.NewMessage("run.unreadable.empty", "file", path.Base(d.Path))}
		}
		if schemas.Conflict(d.Body) >= 0 {
			return &Unreadable{Path: d.Path, Why: templates.NewMessage("run.unreadable.conflict", "file", path.Base(d.Path)), Conflict: true}
		}
		return nil
	}
	var bad *schemas.Error
	if err := schemas.Decode("", path.Base(d.Path), d.Body, nil); !errors.As(err, &bad) || !bad.Torn {
		return nil
	}
	return &Unreadable{Path: d.Path, Why: templates.NewMessage("run.invalid", "error", bad), Conflict: schemas.Conflict(d.Body) >= 0}
}
