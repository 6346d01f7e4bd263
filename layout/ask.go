package layout

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// AskRoot is the default root of asks.
const AskRoot = ".asks"

// Kinds of the files of an ask, besides the state document, problem notes and the
// kernel's files of a request folder.
const (
	AskKindAsk      = "ask"
	AskKindWithdraw = "withdraw"
	AskKindAnswer   = "answer"
	AskKindText     = "answer-text"
)

// askID is lower case alone, so that no file system makes one folder of two.
var askID = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

// IsAskID reports whether a string may name an ask.
func IsAskID(s string) bool { return askID.MatchString(s) }

const limitAsk = 256 << 10

var askFiles = newTable(
	pattern{"ask.json", File{Kind: AskKindAsk, Writer: Anyone, Limit: limitAsk}},
	pattern{"withdraw.json", jsonBy(AskKindWithdraw, Anyone)},
	pattern{"state.json", File{Kind: KindStateFile, Writer: Placet, Limit: LimitState}},
	pattern{"answer.json", jsonBy(AskKindAnswer, Placet)},
	pattern{"answer.md", textBy(AskKindText, Placet)},
)

// Ask is the layout of asks; the zero value has the default root.
type Ask struct {
	// Folder replaces the default root.
	Folder string
}

// Name implements [Family].
func (Ask) Name() string { return "ask" }

func (a Ask) root() string {
	if a.Folder == "" {
		return AskRoot
	}
	return a.Folder
}

// Roots implements [Family].
func (a Ask) Roots() []string { return []string{a.root()} }

// Runs implements [Family].
func (a Ask) Runs(ls Lister) (runs []Run, err error) {
	w := walker{ls: ls}
	for _, name := range w.folders(a.root()) {
		if IsAskID(name) {
			runs = append(runs, a.run(name))
		}
	}
	return runs, w.err
}

func (a Ask) run(id string) Run {
	dir := path.Join(a.root(), id)
	return Run{Family: "ask", ID: id, Dir: dir, State: path.Join(dir, "state.json")}
}

// At implements [Family].
func (a Ask) At(p string) (Run, bool) {
	rel, ok := strings.CutPrefix(p, a.root()+"/")
	id, _, _ := strings.Cut(rel, "/")
	if !ok || !IsAskID(id) {
		return Run{}, false
	}
	return a.run(id), true
}

// File implements [Family].
func (Ask) File(_ Run, rel string) (File, bool) {
	if f, ok := askFiles.lookup(rel); ok {
		return f, true
	}
	if of, ok := strings.CutSuffix(rel, ProblemSuffix); ok {
		if _, own := askFiles.lookup(of); own {
			return textBy(KindProblem, Placet), true
		}
	}
	return requestFiles.lookup(rel)
}

// Descend implements [Family].
func (Ask) Descend(_ Run, rel string) bool { return askFiles.folder(rel) || requestFiles.folder(rel) }

// Misplaced returns the folders below the root whose names no ask can have.
func (a Ask) Misplaced(ls Lister) (all []Misplaced, err error) {
	w := walker{ls: ls}
	for _, name := range w.folders(a.root()) {
		if dir := path.Join(a.root(), name); !IsAskID(name) {
			all = append(all, Misplaced{dir, fmt.Sprintf("the name %q does not match %s", name, askID), w.has(dir, "ask.json")})
		}
	}
	return all, w.err
}
