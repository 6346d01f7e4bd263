package enginetest

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"placet/internal/badinput"
)

// Input is a kind of document that others write, with how a run treats it.
type Input struct {
	// Name is the document's name for the reader; Path is its path.
	Name, Path string
	badinput.Good
	// Begin is the workspace in which the document counts, without the document or with an
	// earlier one. Run is the folder of the run that reads it.
	Begin Tree
	Run   string
	// Note is the path of a note on the document; "" means beside it.
	Note string
	// Late are files that arrive together with the good document.
	Late Tree
	// Calm says that the good document alone moves nothing.
	Calm bool
	// Alone says that every run reads the document, so that no run beside moves either.
	Alone bool
	// Deviates names the kinds that are treated otherwise than by moving nothing and
	// writing a note.
	Deviates map[string]Deviation
	// All, if not nil, holds for every kind that Deviates does not name.
	All *Deviation
}

// Deviation is how a kind of bad file is treated instead, and why.
type Deviation struct {
	Outcome Outcome
	Reason  string
}

// Outcome is the result of a document.
type Outcome int

// These are the outcomes.
const (
	// Noted means that nothing moves, and a note says why.
	Noted Outcome = iota
	// Silent means that nothing moves, and no note is due.
	Silent
	// Taken means that the document counts like the good one.
	Taken
	// Passed means that the document decides nothing, and the run may continue without it.
	Passed
	// Mended means that placet writes the document again, because it is placet's.
	Mended
	// Found means that a note says why, and the state says what was found; nothing begins.
	Found
)

// everywhere holds the deviations of every document, unless it has its own.
var everywhere = map[string]Deviation{
	"missing":              {Silent, "what is not there says nothing"},
	"CRLF":                 {Taken, "line ends are as the editor writes them"},
	"doubly encoded UTF-8": {Taken, "it is valid, and reads as it was written"},
	"sync-conflict copy":   {Taken, "only exact names are documents; of answers alone a second one counts"},
}

// Beside is another run in the workspace, which must continue whatever is beside it: its
// first files, the files that then arrive, and whether these were taken.
type Beside struct {
	Begin, Comes Tree
	Taken        func(Tree) bool
}

// shownNote is the longest note on any file in bytes.
const shownNote = 18 << 10

// BadFiles replaces every input by bad files, and shows the result with the real store and the
// real loop. An input gets the kinds from which it deviates and a fifth of the others,
// different from its neighbours', because all documents are read by the same code. If
// PLACET_LAWS asks for more, it gets every kind.
func BadFiles(t *testing.T, s Suite, beside Beside, inputs []Input) {
	all := os.Getenv("PLACET_LAWS") != ""
	for i, in := range inputs {
		t.Run(in.Name, func(t *testing.T) {
			t.Parallel()
			for name := range in.Deviates {
				if !slices.ContainsFunc(badinput.Kinds, func(k badinput.Kind) bool { return k.Name == name }) {
					t.Errorf("there is no kind %q", name)
				}
			}
			for j, k := range badinput.Kinds {
				if _, deviates := in.Deviates[k.Name]; !all && !deviates && (i+j)%5 != 0 {
					continue
				}
				t.Run(k.Name, func(t *testing.T) { badFile(t, s, beside, in, k) })
			}
		})
	}
}

// badFile runs one scenario: a bad file arrives, its cause is removed, the run continues.
func badFile(t *testing.T, s Suite, beside Beside, in Input, k badinput.Kind) {
	bad, applies := "", true
	if k.Spoil != nil {
		if bad, applies = k.Spoil(in.Good); !applies {
			return
		}
	}
	w := plainScramble(t, s)
	for _, tree := range []Tree{in.Begin, beside.Begin} {
		for p, body := range tree {
			w.Put(p, body)
		}
	}
	w.Look()
	before := w.runTree(in)
	want := in.expected(k)
	w.spoil(in, k, bad)
	if want.Outcome == Taken {
		w.late(in)
	}
	w.look(in, beside, want)
	w.judgeBad(in, k, bad, want, before)
	if want.Outcome == Taken || want.Outcome == Mended || k.Copy || t.Failed() {
		return
	}
	w.mend(in, k)
	w.Look()
	tree := Tree(w.Disk.Tree())
	if note, stands := tree[in.note()]; stands {
		t.Errorf("the cause is gone and the note still stands:\n%s", note)
	}
	if !in.Calm && want.Outcome != Passed && !w.moved(in, before) {
		t.Errorf("the cause is gone and the run does not go on; its notes: %q", w.notesOf(in))
	}
}

// expected returns how the input treats the kind.
func (in Input) expected(k badinput.Kind) Deviation {
	if d, ok := in.Deviates[k.Name]; ok {
		return d
	}
	if d, ok := everywhere[k.Name]; ok && (in.All == nil || d.Outcome != Taken) {
		return d
	}
	if in.All != nil {
		return *in.All
	}
	return Deviation{Noted, "bad input"}
}

func (in Input) note() string {
	if in.Note != "" {
		return in.Note
	}
	return in.Path + ".problem.md"
}

// look delivers good input for another run, and lets placet settle.
func (s *Scramble) look(in Input, beside Beside, want Deviation) {
	s.T.Helper()
	for p, body := range beside.Comes {
		s.Put(p, body)
	}
	s.Look()
	if taken := beside.Taken(s.Disk.Tree()); taken == (in.Alone && want.Outcome == Noted) {
		s.T.Errorf("of the run beside it the good input was taken: %t", taken)
	}
}

// spoil replaces the input by a kind of bad file.
func (s *Scramble) spoil(in Input, k badinput.Kind, bad string) {
	if _, there := s.Disk.Get(in.Path); there && !k.Copy {
		s.Disk.Delete(in.Path)
	}
	switch {
	case k.Missing:
	case k.Closed:
		s.odd = true
		s.Put(in.Path, in.Body)
		s.Disk.Chmod(in.Path, 0, 0, 0)
	case k.Copy:
		s.Put(in.Path, in.Body)
		ext := path.Ext(in.Path)
		s.Put(strings.TrimSuffix(in.Path, ext)+".sync-conflict-20260301-120000-ABCDEFG"+ext, in.Body)
	case k.Odd != 0:
		s.Odd(in.Path, k.Odd)
	default:
		s.Put(in.Path, bad)
	}
}

// mend removes the cause and puts the good document in place.
func (s *Scramble) mend(in Input, k badinput.Kind) {
	s.Pass(time.Minute)
	switch {
	case k.Closed:
		s.Disk.Chmod(in.Path, 0o644, 0, 0)
	case k.Odd != 0:
		s.Disk.Delete(in.Path)
	}
	s.odd = false
	s.Put(in.Path, in.Body)
	s.late(in)
}

func (s *Scramble) late(in Input) {
	for p, body := range in.Late {
		s.Put(p, body)
	}
}

// runTree returns the run's folder without notes and without the files that the test writes.
func (s *Scramble) runTree(in Input) Tree {
	tree := Tree{}
	for p, body := range s.Disk.Tree() {
		if _, late := in.Late[p]; late {
			continue
		}
		if strings.HasPrefix(p, in.Run+"/") && p != in.Path && !strings.HasSuffix(p, "problem.md") && !strings.HasSuffix(p, ".lock") && !strings.Contains(p, "sync-conflict") {
			tree[p] = body
		}
	}
	return tree
}

// moved reports whether the run has changed.
func (s *Scramble) moved(in Input, before Tree) bool { return compare(before, s.runTree(in)) != "" }

func (s *Scramble) notesOf(in Input) (notes []string) {
	for _, p := range Tree(s.Disk.Tree()).Paths() {
		if strings.HasPrefix(p, in.Run+"/") && strings.HasSuffix(p, "problem.md") {
			notes = append(notes, p)
		}
	}
	return notes
}

// judgeBad checks the result of a bad file.
func (s *Scramble) judgeBad(in Input, k badinput.Kind, bad string, want Deviation, before Tree) {
	t := s.T
	t.Helper()
	why := fmt.Sprintf("(%s)", want.Reason)
	if now, there := s.Disk.Get(in.Path); k.Spoil != nil && want.Outcome != Mended && want.Outcome != Taken && (!there || now != bad) {
		t.Errorf("the bad file was %.200q and is %.200q", bad, now)
	}
	if moved := s.moved(in, before); want.Outcome == Taken && !in.Calm && !moved {
		t.Errorf("it is not taken %s; notes: %q", why, s.notesOf(in))
	} else if moved && (want.Outcome == Noted || want.Outcome == Silent) {
		t.Errorf("the run moved %s (-before +after):\n%s", why, compare(before, s.runTree(in)))
	}
	note, stands := s.Disk.Get(in.note())
	if stands != (want.Outcome == Noted || want.Outcome == Found) {
		t.Errorf("a note stands: %t %s; notes: %q\n%s", stands, why, s.notesOf(in), note)
	}
	if !stands {
		return
	}
	if !strings.Contains(note, path.Base(in.Path)) || len(note) > shownNote || !says(note) {
		t.Errorf("the note (%d bytes) does not say which file, or what was expected:\n%.2000s", len(note), note)
	}
	if i := strings.IndexFunc(note, badinput.Unseen); i >= 0 {
		t.Errorf("the note holds %+q", note[i:min(i+4, len(note))])
	}
}

// says reports whether a note says what would be right.
func says(note string) bool {
	for _, word := range []string{"expected", "not JSON", "restore", "options are", "answer is text", "Remove", "needs ", "the folder is", "has no ", "is no ", "set mode", "make them equal", "cannot name", "Write it"} {
		if strings.Contains(note, word) {
			return true
		}
	}
	return false
}
