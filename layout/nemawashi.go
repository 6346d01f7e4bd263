package layout

import (
	"strings"

	"placet/internal/lazyregexp"
)

// NemawashiRoot is the folder of the actions.
const NemawashiRoot = ".nemawashi/actions"

// NemawashiOutcome is the kind of the documents that record how an attempt ended.
const NemawashiOutcome = "nemawashi-outcome"

const endNemawashiEvents = 64 << 10

// nemawashiID matches the number of an action.
var nemawashiID = lazyregexp.New(`^[1-9][0-9]{0,8}$`)

// IsNemawashiID reports whether a string may name an action.
func IsNemawashiID(s string) bool { return nemawashiID.MatchString(s) }

var (
	nemawashiIntake = lazyregexp.New(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	nemawashiJob    = lazyregexp.New(`^job-[0-9a-f]{12}$`)
	nemawashiPart   = lazyregexp.New(`^part-([1-9]|1[0-9]|20)-[a-z_]{1,32}\.(txt|json)$`)
)

// isNemawashiIntake reports whether a string may name a command's folder.
func isNemawashiIntake(s string) bool {
	return nemawashiIntake.MatchString(s) && isOrdinary(s)
}

// numbered returns a placeholder for names with a number, without leading zeros, between
// two texts.
func numbered(before, after string) func(string) bool {
	return func(name string) bool {
		n, ok := strings.CutPrefix(name, before)
		if !ok {
			return false
		}
		n, ok = strings.CutSuffix(n, after)
		return ok && IsNemawashiID(n)
	}
}

var nemawashiFiles = newTable(
	pattern{"action.json", jsonBy("nemawashi-action", Anyone)},
	pattern{"drafts/{draft}", textBy("nemawashi-draft", Either)},
	pattern{"intake/{intake}/command.json", jsonBy("nemawashi-command", Anyone)},
	pattern{"intake/{intake}/receipt.json", jsonBy(KindReceipt, Placet)},
	pattern{"intake/{intake}/problem.md", textBy(KindProblem, Placet)},
	pattern{"state.json", File{Kind: KindStateFile, Writer: Placet, Limit: LimitState}},
	pattern{"events.jsonl", File{Kind: "events", Writer: Placet, Format: Text, Limit: LimitText, End: endNemawashiEvents}},
	pattern{"requests/{request}/{part-file}", once(textBy("nemawashi-part", Placet))},
	pattern{"jobs/{job}/job.json", once(jsonBy("nemawashi-job", Placet))},
	pattern{"jobs/{job}/{n}/event.ics", once(textBy("nemawashi-event", Placet))},
	pattern{"jobs/{job}/{n}/{send-attempt}", once(jsonBy("nemawashi-attempt", Placet))},
	pattern{"jobs/{job}/{n}/{send-outcome}", once(jsonBy(NemawashiOutcome, Placet))},
	pattern{"runs/{row}", once(jsonBy("nemawashi-row", Placet))},
)

var nemawashiFolders = folders{"nemawashi", NemawashiRoot, IsNemawashiID}

// Nemawashi is the layout of nemawashi actions.
type Nemawashi struct{}

// Name implements [Family].
func (Nemawashi) Name() string { return "nemawashi" }

// Roots implements [Family].
func (Nemawashi) Roots() []string { return []string{NemawashiRoot} }

// Runs implements [Family].
func (Nemawashi) Runs(ls Lister) ([]Run, error) { return nemawashiFolders.find(ls) }

// At implements [Family].
func (Nemawashi) At(p string) (Run, bool) { return nemawashiFolders.at(p) }

// File implements [Family].
func (Nemawashi) File(_ Run, rel string) (File, bool) { return nemawashiFiles.documentOrNote(rel) }

// Descend implements [Family].
func (Nemawashi) Descend(_ Run, rel string) bool { return nemawashiFiles.descends(rel) }

// Misplaced returns the folders below the root whose names no action can have.
func (Nemawashi) Misplaced(ls Lister) ([]Misplaced, error) {
	return nemawashiFolders.misplaced(ls, nemawashiID, "action.json")
}
