package view

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/loop"
	"placet/engine/run"
	"placet/layout"
	"placet/templates"
)

// FindingLine is one finding as JSON.
type FindingLine struct {
	Run      string `json:"run"`
	Severity string `json:"severity"`
	Path     string `json:"path"`
	Text     string `json:"text"`
	// Code, Pointer and Request are those of [engine.Finding].
	Code    string `json:"code,omitempty"`
	Pointer string `json:"pointer,omitempty"`
	Request string `json:"request_id,omitempty"`
}

// severities are in the order in which they are shown.
var severities = []string{"error", "warning", "info"}

// shownNote limits how much of a problem note check prints, in characters.
const shownNote = 300

// FindingLines returns a run's findings: files that may still be half written, those of its
// machine, the problem notes that exist or are due and repeat no other finding, and an error if
// the run cannot be read at all.
func FindingLines(v Run) []FindingLine {
	run := v.Key.String()
	var lines []FindingLine
	if v.Err != nil {
		lines = append(lines, FindingLine{Run: run, Severity: "error", Path: v.Found.Run.State, Text: templates.In(v.lang, v.Err)})
	}
	for _, h := range v.held {
		lines = append(lines, FindingLine{Run: run, Severity: h.severity(), Path: h.Path, Text: h.finding(v.lang)})
	}
	for _, f := range v.Findings {
		lines = append(lines, FindingLine{run, f.Severity, f.Path, f.Text, f.Code, f.Pointer, f.Request})
	}
	for _, n := range slices.Concat(v.Notes, v.due) {
		said := slices.ContainsFunc(lines, func(l FindingLine) bool {
			return l.Text == n.Text || l.Path == n.Path || l.Severity == "error" && l.Path+layout.ProblemSuffix == n.Path
		})
		if !said && !v.repeats(n, lines) {
			lines = append(lines, FindingLine{Run: run, Severity: "error", Path: n.Path, Text: console.Cut(console.OneLine(n.Text), shownNote)})
		}
	}
	slices.SortStableFunc(lines, func(a, b FindingLine) int {
		return cmp.Or(slices.Index(severities, a.Severity)-slices.Index(severities, b.Severity), cmp.Compare(a.Path, b.Path))
	})
	return lines
}

// Strays returns findings about names in a run's request folders that nobody reads: an answer
// under a mistyped name waits for ever.
func Strays(v Run) []FindingLine {
	var lines []FindingLine
	for _, p := range v.stray {
		if layout.Under(p, path.Join(v.Found.Run.Dir, layout.RequestsDir)) {
			lines = append(lines, FindingLine{Run: v.Key.String(), Severity: "warning", Path: p, Text: templates.Phrase(v.lang, "workspace.check.stray")})
		}
	}
	return lines
}

// severity returns how much of a problem the file is for check.
func (h heldFile) severity() string {
	if h.Counts {
		return "info"
	}
	return "error"
}

// finding returns the text of check about the file.
func (h heldFile) finding(lang string) string {
	if h.Counts {
		return templates.Phrase(lang, "workspace.check.counts")
	}
	waits := templates.Phrase(lang, "workspace.check.torn")
	if h.why == "" {
		return waits
	}
	return h.why + "; " + waits
}

// Unread returns findings about files of dialects that exist and that placet does not read.
func Unread(b *workspace.Workspace) (lines []FindingLine) {
	for _, f := range b.Families {
		has, ok := f.Layout.(interface{ Unread() []string })
		if !ok {
			continue
		}
		for _, p := range has.Unread() {
			if b.Store.Exists(p) {
				lines = append(lines, FindingLine{Run: f.Layout.Name(), Severity: "warning", Path: p, Text: b.Env.Text("workspace.check.unread")})
			}
		}
	}
	return lines
}

// heldFile is a file that may still be half written. why is the error in its present content,
// as far as that is known.
type heldFile struct {
	engine.PendingFile
	why string
}

// addUnreadable adds to a view the files that may still be half written and, as findings, the
// settled ones that cannot be read.
func (v *Run) addUnreadable(seen loop.Seen) {
	add := func(h engine.PendingFile, why string) {
		if !slices.ContainsFunc(v.held, func(x heldFile) bool { return x.Path == h.Path }) {
			v.held = append(v.held, heldFile{h, why})
		}
	}
	for _, u := range run.FindUnreadable(seen.Snap, func(rel string) (layout.File, bool) {
		return v.Found.Family.Layout.File(v.Found.Run, rel)
	}) {
		if u.Until.IsZero() {
			v.findUnreadable(u)
		} else {
			add(engine.PendingFile{Path: u.Path, Until: u.Until}, u.Why.String())
		}
	}
	for _, h := range slices.Concat(v.Pending, seen.Holding) {
		add(h, "")
	}
	for _, d := range seen.Snap.Docs {
		if d.Unsettled() && d.Path != engine.NeedPeers {
			add(engine.PendingFile{Path: d.Path}, "")
		}
	}
	slices.SortFunc(v.held, func(a, b heldFile) int { return cmp.Compare(a.Path, b.Path) })
}

// findUnreadable adds the error that a file cannot be read. A milder finding of the family
// about it takes precedence, but an unfinished merge is an error in any file.
func (v *Run) findUnreadable(u run.Unreadable) {
	same := func(f engine.Finding) bool {
		return f.Path == u.Path || strings.TrimSuffix(f.Path, layout.ProblemSuffix) == u.Path
	}
	if u.Conflict {
		v.Findings = slices.DeleteFunc(v.Findings, func(f engine.Finding) bool { return f.Severity != "error" && same(f) })
	}
	if !slices.ContainsFunc(v.Findings, same) {
		v.Findings = append(v.Findings, engine.Finding{Severity: "error", Path: u.Path, Text: u.Why.String()})
	}
}
