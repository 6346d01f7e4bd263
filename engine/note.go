package engine

import (
	"maps"
	"slices"
	"sort"
	"strings"
)

// kindProblem is layout's word for a problem note.
const kindProblem = "problem"

// Notes are the problem notes that ought to stand beside a run's files. A
// machine collects them anew in every step; [Notes.Plan] then writes what is
// missing, replaces what reads otherwise, and removes what has lost its cause.
type Notes struct{ texts map[string][]string }

// Add says what is wrong, in one or more lines, in the note at a path relative
// to the workspace. Several causes of one note stand one below the other.
func (n *Notes) Add(path, text string) {
	if n.texts == nil {
		n.texts = map[string][]string{}
	}
	if text = strings.TrimSpace(short(text)); !slices.Contains(n.texts[path], text) {
		n.texts[path] = append(n.texts[path], text)
	}
}

// longestNote is how much one cause may say in a note, in bytes. It repeats what
// others wrote, and a note that is too large is none that anybody reads.
const longestNote = 16 << 10

// short takes out the middle of a text that is too long: its beginning says
// where, its end what to do.
func short(text string) string {
	if len(text) <= longestNote {
		return text
	}
	const end = longestNote / 8
	return strings.ToValidUTF8(text[:longestNote-end], "") + " … " + strings.ToValidUTF8(text[len(text)-end:], "")
}

// Beside says what is wrong with a file, in the note that stands beside it.
func (n *Notes) Beside(path, text string) { n.Add(path+".problem.md", text) }

// Limit forgets the notes that may not stand.
func (n *Notes) Limit(may func(path string) bool) {
	maps.DeleteFunc(n.texts, func(path string, _ []string) bool { return !may(path) })
}

// Len is the number of notes that ought to stand.
func (n *Notes) Len() int { return len(n.texts) }

// Text returns what the note at a path says, "" where none ought to stand.
func (n *Notes) Text(path string) string { return strings.Join(n.texts[path], "\n\n") }

// Plan adds to p what makes the notes in the snapshot those collected. Where
// keep is not nil, a note for which it returns true is left as it stands: its
// cause cannot be judged at this moment.
func (n *Notes) Plan(s Snapshot, p *Plan, keep func(path string) bool) {
	for i := range s.Docs {
		if d := &s.Docs[i]; d.Kind == kindProblem && n.texts[d.Path] == nil && !d.Absent() && (keep == nil || !keep(d.Path)) {
			p.Removes = append(p.Removes, d.Path)
		}
	}
	for _, path := range n.paths() {
		body := []byte(NoteText(n.Text(path)))
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

// NoteText is the whole of a problem note that says text.
func NoteText(text string) string {
	return "# Problem\n\n" + strings.TrimSpace(text) +
		"\n\nplacet wrote this note and removes it when the cause is gone.\n"
}
