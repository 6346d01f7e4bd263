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

// Unreadable is a document that cannot be read, whatever it ought to say: it is empty,
// half of a write, or holds both sides of a merge.
type Unreadable struct {
	Path string
	// Until is when it cannot be half of a write any more; zero where it cannot now.
	Until time.Time
	// Why says what is wrong with it.
	Why templates.Message
	// Conflict is true where git left both sides of a merge.
	Conflict bool
}

// FindUnreadable finds the unreadable documents in a run's folder. Which of them matter
// to the run, its machine says by its notes; a person who asks what is wrong is told of
// all of them, also of those in requests that are closed. file is layout's word for a
// path in the folder.
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

// unreadable says why a document cannot be read, nil where it can.
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
