package layout

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"placet/internal/lazyregexp"
)

// PalRoot is the folder of the orchestrations.
const PalRoot = ".pal/orchestrations"

// Kinds of PAL files, besides the state document, problem notes and the files of a
// request folder.
const (
	PalOrchestration = "pal-orchestration"
	PalControl       = "pal-control"
	PalPlan          = "pal-plan"
	PalSession       = "pal-session"
	PalResult        = "pal-result"
	PalFeedback      = "pal-feedback"
	PalMisnamed      = "pal-misnamed" // looks like a hand-in or a filed escalation, but is not
	PalAttempt       = "pal-attempt"
	PalOutcome       = "pal-outcome"
	PalChannel       = "pal-channel"
	PalMessage       = "pal-message"
	PalDelivered     = "pal-delivered"
	PalProcessed     = "pal-processed"
	PalFiled         = "pal-filed"      // an escalation that a session files
	PalEscalation    = "pal-escalation" // the record of an escalation
	PalInbox         = "pal-inbox"
	PalReport        = "pal-report"
)

// Roles of the workers of a port. They are also names of folders.
const (
	PalImpl = "impl"
	PalTest = "test"
)

// Words of receipts.
const (
	palDelivered = "delivered"
	palProcessed = "processed"
)

const endPalEvents = 64 << 10

// palID matches the ids of orchestrations, ports and sessions.
var palID = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// IsPalID reports whether a string may name an orchestration, a port or a session. The
// name is used for a folder beside documents, so it cannot look like that of a
// document, a note or an editor's backup.
func IsPalID(s string) bool {
	return palID.MatchString(s) && !Noise(s) && !strings.HasSuffix(s, ".json") && !strings.HasSuffix(s, ".md")
}

var (
	palMessage    = lazyregexp.New(`^(\d{4})-(impl|test)-([a-z][a-z0-9_]{0,31})$`)
	palInbox      = lazyregexp.New(`^(try-[1-9][0-9]{0,8}|message-\d{4}-(impl|test)-[a-z]+|answer-esc-[0-9a-f]{12})\.md$`)
	palEscalation = lazyregexp.New(`^esc-[0-9a-f]{12}\.json$`)
	palStarted    = lazyregexp.New(`^[1-9][0-9]{0,8}-[1-9][0-9]{0,8}$`)
	palMisnamed   = lazyregexp.New(`^(result|feedback|escalation).*\.json$`)
)

// PalMessageName splits the name of a message, which is that of its file without
// ".json". The machine decides whether the type exists and whether the role may write
// it.
func PalMessageName(name string) (seq int, role, typ string, ok bool) {
	m := palMessage.FindStringSubmatch(name)
	if m == nil || m[1] == "0000" {
		return 0, "", "", false
	}
	seq, err := strconv.Atoi(m[1])
	return seq, m[2], m[3], err == nil
}

// isPalSent reports whether a name is that of a message that only placet writes.
func isPalSent(name string) bool {
	stem, isJSON := strings.CutSuffix(name, ".json")
	_, role, typ, ok := PalMessageName(stem)
	return isJSON && ok && (role == PalImpl && typ == "result" || role == PalTest && typ == "feedback")
}

// isPalReceipt returns a placeholder for the receipts of messages whose names end in a
// word.
func isPalReceipt(word string) func(string) bool {
	return func(name string) bool {
		message, ok := strings.CutSuffix(name, "."+word+".json")
		_, _, _, known := PalMessageName(message)
		return ok && known
	}
}

// isPalStarted returns a placeholder for the files that are written once for a start of
// a command.
func isPalStarted(stem string) func(string) bool {
	return func(name string) bool {
		numbers, ok := strings.CutPrefix(strings.TrimSuffix(name, ".json"), stem+"-")
		return ok && strings.HasSuffix(name, ".json") && palStarted.MatchString(numbers)
	}
}

// palFiles are the documents of an orchestration, besides requests and notes. The
// progress of a session is not among them: see [Pal.Volatile].
var palFiles = newTable(
	pattern{"orchestration.json", jsonBy(PalOrchestration, Person)},
	pattern{"control.json", jsonBy(PalControl, Person)},
	pattern{"plan.json", File{Kind: PalPlan, Writer: Placet, Limit: LimitState}},
	pattern{"state.json", File{Kind: KindStateFile, Writer: Placet, Limit: LimitState}},
	pattern{"events.jsonl", File{Kind: "events", Writer: Placet, Format: Text, Limit: LimitText, End: endPalEvents}},
	pattern{"report.md", once(textBy(PalReport, Placet))},
	pattern{"problems/{note}", textBy(KindProblem, Placet)}, // for a file whose name may begin with a dot
	pattern{"escalations/{esc}", jsonBy(PalEscalation, Placet)},
	pattern{"channels/{port}/channel.json", jsonBy(PalChannel, Placet)},
	pattern{"channels/{port}/messages/{sent}", once(jsonBy(PalMessage, Placet))},
	pattern{"channels/{port}/messages/{json}", jsonBy(PalMessage, Anyone)},
	pattern{"channels/{port}/receipts/{delivered}", once(jsonBy(PalDelivered, Placet))},
	pattern{"channels/{port}/receipts/{processed}", once(jsonBy(PalProcessed, Placet))},
	pattern{"sessions/build/session.json", jsonBy(PalSession, Placet)},
	pattern{"sessions/build/{filed}", jsonBy(PalFiled, Agent)},
	pattern{"sessions/build/{port}/session.json", jsonBy(PalSession, Placet)},
	pattern{"sessions/build/{port}/report.md", once(textBy(PalReport, Placet))},
	pattern{"sessions/build/{port}/{filed}", jsonBy(PalFiled, Agent)},
	pattern{"sessions/build/{port}/impl/session.json", jsonBy(PalSession, Placet)},
	pattern{"sessions/build/{port}/impl/inbox/{inbox}", once(textBy(PalInbox, Placet))},
	pattern{"sessions/build/{port}/impl/{result}", jsonBy(PalResult, Agent)},
	pattern{"sessions/build/{port}/impl/{started}", once(jsonBy(PalAttempt, Placet))},
	pattern{"sessions/build/{port}/impl/{ended}", once(jsonBy(PalOutcome, Placet))},
	pattern{"sessions/build/{port}/impl/{filed}", jsonBy(PalFiled, Agent)},
	pattern{"sessions/build/{port}/impl/{misnamed}", jsonBy(PalMisnamed, Agent)},
	pattern{"sessions/build/{port}/impl/{port}/session.json", jsonBy(PalSession, Agent)}, // too deep: it gets a note
	pattern{"sessions/build/{port}/test/session.json", jsonBy(PalSession, Placet)},
	pattern{"sessions/build/{port}/test/inbox/{inbox}", once(textBy(PalInbox, Placet))},
	pattern{"sessions/build/{port}/test/{feedback}", jsonBy(PalFeedback, Agent)},
	pattern{"sessions/build/{port}/test/{started}", once(jsonBy(PalAttempt, Placet))},
	pattern{"sessions/build/{port}/test/{ended}", once(jsonBy(PalOutcome, Placet))},
	pattern{"sessions/build/{port}/test/{filed}", jsonBy(PalFiled, Agent)},
	pattern{"sessions/build/{port}/test/{misnamed}", jsonBy(PalMisnamed, Agent)},
	pattern{"sessions/build/{port}/test/{port}/session.json", jsonBy(PalSession, Agent)},
	pattern{"sessions/build/{port}/{port}/session.json", jsonBy(PalSession, Agent)},
	pattern{"sessions/build/{port}/{port}/{filed}", jsonBy(PalFiled, Agent)},
	pattern{"sessions/build/{port}/{port}/{port}/session.json", jsonBy(PalSession, Agent)},
	pattern{"sessions/build/" + palProgressNote, textBy(KindProblem, Placet)},
	pattern{"sessions/build/{port}/" + palProgressNote, textBy(KindProblem, Placet)},
	pattern{"sessions/build/{port}/impl/" + palProgressNote, textBy(KindProblem, Placet)},
	pattern{"sessions/build/{port}/test/" + palProgressNote, textBy(KindProblem, Placet)},
	pattern{"sessions/build/{port}/{port}/" + palProgressNote, textBy(KindProblem, Placet)},
)

const (
	palProgress     = "progress.json"
	palProgressNote = palProgress + ProblemSuffix
)

// palVolatile are the files that change often and are not documents.
var palVolatile = newTable(
	pattern{"sessions/build/" + palProgress, File{}},
	pattern{"sessions/build/{port}/" + palProgress, File{}},
	pattern{"sessions/build/{port}/{port}/" + palProgress, File{}},
)

var palFolders = folders{"pal", PalRoot, IsPalID}

// Pal is the layout of PAL orchestrations.
type Pal struct{}

// Name implements [Family].
func (Pal) Name() string { return "pal" }

// Roots implements [Family].
func (Pal) Roots() []string { return []string{PalRoot} }

// Runs implements [Family].
func (Pal) Runs(ls Lister) ([]Run, error) { return palFolders.find(ls) }

// At implements [Family].
func (Pal) At(p string) (Run, bool) { return palFolders.at(p) }

// File implements [Family].
func (Pal) File(_ Run, rel string) (File, bool) { return palFiles.documentOrNote(rel) }

// Descend implements [Family].
func (Pal) Descend(_ Run, rel string) bool { return palFiles.descends(rel) }

// Misplaced returns the folders below the root whose names no orchestration can have.
func (Pal) Misplaced(ls Lister) ([]Misplaced, error) {
	return palFolders.misplaced(ls, palID, "orchestration.json")
}

// Volatile reports whether a path in a run's folder is that of a session's progress:
// its owner replaces it often, and only its latest content matters. It is not a
// document.
func (Pal) Volatile(_ Run, rel string) bool {
	_, ok := palVolatile.lookup(rel)
	return ok
}

// Sparse implements [Sparse]: each port of an orchestration has some ten folders.
func (Pal) Sparse() {}

// PalSessionFile returns the path of a file of a session, given the session's path
// below "sessions", such as "build/coupon/impl". This path and those that the functions
// below return are relative to the run's folder.
func PalSessionFile(session, name string) string { return path.Join("sessions", session, name) }

// PalPortDir returns the folder of a port's operator.
func PalPortDir(port string) string { return PalSessionFile("build", port) }

// PalMember returns the folder of a worker of a port.
func PalMember(port, role string) string { return path.Join(PalPortDir(port), role) }

// PalResultFile returns the path of an impl worker's hand-in.
func PalResultFile(port string, try int) string {
	return path.Join(PalMember(port, PalImpl), fmt.Sprintf("result-%d.json", try))
}

// PalFeedbackFile returns the path of a test worker's hand-in.
func PalFeedbackFile(port string, try int) string {
	return path.Join(PalMember(port, PalTest), fmt.Sprintf("feedback-%d.json", try))
}

// PalTry splits the path of a hand-in.
func PalTry(rel string) (port, role string, try int, ok bool) {
	f, _ := palFiles.lookup(rel)
	if f.Kind != PalResult && f.Kind != PalFeedback {
		return "", "", 0, false
	}
	parts := strings.Split(rel, "/")
	_, number, _ := strings.Cut(strings.TrimSuffix(parts[4], ".json"), "-")
	try, ok = parseCount(number)
	return parts[2], parts[3], try, ok
}

// PalAttemptFile returns the path of the record of a command's start.
func PalAttemptFile(port, role string, try, start int) string {
	return path.Join(PalMember(port, role), fmt.Sprintf("attempt-%d-%d.json", try, start))
}

// PalOutcomeFile returns the path of the record of a command's end.
func PalOutcomeFile(port, role string, try, start int) string {
	return path.Join(PalMember(port, role), fmt.Sprintf("outcome-%d-%d.json", try, start))
}

// PalChannelFile returns the path of a port's channel.
func PalChannelFile(port string) string { return path.Join("channels", port, "channel.json") }

// PalMessageFile returns the path of a message; see [PalMessageName].
func PalMessageFile(port, name string) string {
	return path.Join("channels", port, "messages", name+".json")
}

// PalReceiptFile returns the path of a message's receipt. The word is "delivered" or
// "processed".
func PalReceiptFile(port, message, word string) string {
	return path.Join("channels", port, "receipts", message+"."+word+".json")
}

// PalInboxFile returns the path of a text for a worker.
func PalInboxFile(port, role, name string) string {
	return path.Join(PalMember(port, role), "inbox", name)
}

// PalFiledFile returns the path of an escalation that a session files; see
// [PalSessionFile].
func PalFiledFile(session string, n int) string {
	return PalSessionFile(session, fmt.Sprintf("escalation-%d.json", n))
}

// PalEscalationFile returns the path of the record of an escalation.
func PalEscalationFile(id string) string { return path.Join("escalations", id+".json") }
