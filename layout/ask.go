package layout

import (
	"cmp"
	"fmt"
	"path"

	"placet/internal/lazyregexp"
)

// AskRoot is the default root of asks.
const AskRoot = ".asks"

// AskEdit returns the name, in the folder of the ask, of the text that was
// approved instead of its n-th artifact.
func AskEdit(n int, artifact string) string {
	name := fmt.Sprintf("answer-%d", n)
	if ext := path.Ext(artifact); askEdit.MatchString(name + ext) {
		name += ext
	}
	return name
}

// askEdit matches the names that AskEdit returns.
var askEdit = lazyregexp.New(`^answer-[1-9]\d?(\.[A-Za-z0-9]{1,16})?$`)

// askID allows only lower case, so that no file system makes one folder of
// two ids.
var askID = lazyregexp.New(`^[a-z0-9][a-z0-9-]{0,63}$`)

// IsAskID reports whether a string may name an ask.
func IsAskID(s string) bool { return askID.MatchString(s) }

const limitAsk = 256 << 10

// KindReuse is the kind of the file that counts how often an answer was used.
const KindReuse = "reuse"

// KindAnswerEdit is the kind of a text that was approved instead of an artifact. A text does not say
// whose it is: only the record tells that placet wrote it.
const KindAnswerEdit = "answer-edit"

var askFiles = newTable(
	pattern{"ask.json", File{Kind: "ask", Writer: Anyone, Limit: limitAsk}},
	pattern{"withdraw.json", jsonBy("withdraw", Anyone)},
	pattern{"state.json", File{Kind: KindStateFile, Writer: Placet, Limit: LimitState}},
	pattern{"answer.json", jsonBy("answer", Placet)},
	pattern{"answer.md", textBy("answer-text", Placet)},
	pattern{"{edit}", textBy(KindAnswerEdit, Placet)},
	pattern{"reuse.json", jsonBy(KindReuse, Placet)},
)

// Ask is the layout of asks; the zero value has the default root.
type Ask struct {
	// Folder replaces the default root.
	Folder string
}

// Name implements [Family].
func (Ask) Name() string { return "ask" }

func (a Ask) folders() folders { return folders{"ask", cmp.Or(a.Folder, AskRoot), IsAskID} }

// Roots implements [Family].
func (a Ask) Roots() []string { return []string{a.folders().root} }

// Runs implements [Family].
func (a Ask) Runs(ls Lister) ([]Run, error) { return a.folders().find(ls) }

// At implements [Family].
func (a Ask) At(p string) (Run, bool) { return a.folders().at(p) }

// File implements [Family].
func (Ask) File(_ Run, rel string) (File, bool) { return askFiles.documentOrNote(rel) }

// Descend implements [Family].
func (Ask) Descend(_ Run, rel string) bool { return askFiles.descends(rel) }

// Misplaced returns the folders below the root whose names no ask can have.
func (a Ask) Misplaced(ls Lister) ([]Misplaced, error) {
	return a.folders().misplaced(ls, askID, "ask.json")
}
