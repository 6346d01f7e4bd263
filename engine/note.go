package engine

import (
	"maps"
	"slices"
	"sort"
	"strings"

	"placet/templates"
)

// kindProblem is layout's word for a problem note.
const kindProblem = "problem"

// Notes collects the problem notes of a run. A machine collects them anew in every step;
// [Notes.Plan] then writes the missing ones, replaces those with another text, and
// removes those without a cause.
type Notes struct {
	// Lang is the language of the text around the problems.
	Lang  string
	texts map[string][]string
}

// Add adds a problem, of one or more lines, to the note at a path relative to the
// workspace. A note lists its problems one below the other.
func (n *Notes) Add(path, text string) {
	if n.texts == nil {
		n.texts = map[string][]string{}
	}
	if text = strings.TrimSpace(short(text)); !slices.Contains(n.texts[path], text) {
		n.texts[path] = append(n.texts[path], text)
	}
}

// longestNote bounds the text of one problem, in bytes: it repeats what others wrote, and
// nobody reads a huge note.
const longestNote = 16 << 10

// short cuts out the middle of a text that is too long: the beginning says where the
// problem is, the end what to do.
func short(text string) string {
	if len(text) <= longestNote {
		return text
	}
	const end = longestNote / 8
	return strings.ToValidUTF8(text[:longestNote-end], "") + " … " + strings.ToValidUTF8(text[len(text)-end:], "")
}

// Beside adds a problem to the note beside a file.
func (n *Notes) Beside(path, text string) { n.Add(path+".problem.md", text) }

// Limit drops the notes at paths for which may returns false.
func (n *Notes) Limit(may func(path string) bool) {
	maps.DeleteFunc(n.texts, func(path string, _ []string) bool { return !may(path) })
}

// Len returns the number of notes.
func (n *Notes) Len() int { return len(n.texts) }

// Text returns the problems of the note at a path, "" for none.
func (n *Notes) Text(path string) string { return strings.Join(n.texts[path], "\n\n") }

// Plan adds to p the writes and removals that turn the snapshot's notes into the
// collected ones. keep, if not nil, returns true for a note to leave as it is, because
// its cause cannot be judged now.
func (n *Notes) Plan(s Snapshot, p *Plan, keep func(path string) bool) {
	for i := range s.Docs {
		if d := &s.Docs[i]; d.Kind == kindProblem && n.texts[d.Path] == nil && !d.Absent() && (keep == nil || !keep(d.Path)) {
			p.Removes = append(p.Removes, d.Path)
		}
	}
	for _, path := range n.paths() {
		body := []byte(NoteText(n.Lang, n.Text(path)))
		have := s.Doc(path)
		if have.Unsettled() || have.Present() && have.Sum == Sum(body) {
			continue
		}
		p.Writes = append(p.Writes, Document{Path: path, Kind: kindProblem, Body: body, Over: have.Sum})
	}
}

func (n *Notes) paths() []string {
	paths := make([]string, 0, len(n.texts))
	for path := range n.texts {
		paths = append(paths, path)
	}
	sort.Strings(paths)
	return paths
}

// NoteText returns the content of a problem note.
func NoteText(lang, text string) string {
	return templates.Text(lang, "note.title") + "\n\n" + strings.TrimSpace(text) + "\n\n" + templates.Text(lang, "note.end") + "\n"
}

// NoteBody returns the problems of a note, without the text that NoteText puts around
// them.
func NoteBody(note string) string {
	note = strings.TrimSpace(note)
	for _, lang := range templates.Languages() {
		if body, ok := strings.CutPrefix(note, templates.Text(lang, "note.title")); ok {
			note, _, _ = strings.Cut(body, "\n\n"+templates.Text(lang, "note.end"))
		}
	}
	return strings.TrimSpace(note)
}
