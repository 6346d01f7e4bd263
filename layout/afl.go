package layout

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"placet/internal/lazyregexp"
)

// aflRoot is the folder of the sessions.
const aflRoot = ".afl/sessions"

// Kinds of AFL files, besides the state document, problem notes and the files
// of a request folder.
const (
	AFLCheckpoint     = "checkpoint"    // V2: one checkpoint
	AFLContractFile   = "contract-file" // V2: a file of one checkpoint's contracts
	AFLStatus         = "status"        // the session's rendering, and each checkpoint's
	AFLRouting        = "routing"
	AFLEscalationJSON = "escalation-json"
	AFLPrompt         = "prompt"
	AFLWorker         = "worker"
	AFLWorkerRun      = "worker-run"
	AFLResult         = "result"
	AFLValidation     = "validation"
	AFLVerdict        = "verdict"
	AFLOracleRun      = "oracle-run"
	AFLReviewRun      = "review-run"
)

// Limits that AFL's page states because they differ from the usual ones, in
// bytes.
const (
	limitAFLYAML       = 1 << 20
	endAFLEvents       = 64 << 10
	limitAFLResult     = 16 << 20
	limitAFLValidation = 2 << 20
)

// aflFiles are the documents of a session, besides requests and notes.
var aflFiles = newTable(
	pattern{"meta.json", jsonBy("meta", Upstream)},
	pattern{"specs/checkpoints.yaml", File{Kind: "checkpoints-yaml", Writer: Person, Format: Text, Limit: limitAFLYAML}},
	pattern{"specs/checkpoints.yml", textBy("checkpoints-yml", Person)}, // a wrong name, of which a finding tells
	pattern{"specs/contracts.md", textBy("contracts", Person)},
	pattern{"specs/architecture.md", textBy("architecture", Person)},
	pattern{"architecture.md", textBy("architecture", Person)},
	pattern{"checkpoints/{json}", jsonBy(AFLCheckpoint, Person)},
	pattern{"contracts/{checkpoint}/{file}", textBy(AFLContractFile, Person)},
	pattern{"control.json", jsonBy("control", Person)},
	pattern{"state.json", File{Kind: KindStateFile, Writer: Placet, Limit: LimitState}},
	pattern{"events.jsonl", File{Kind: "events", Writer: Placet, Format: Text, Limit: LimitText, End: endAFLEvents}},
	pattern{"changes.md", textBy("changes", Placet)},
	pattern{"report.md", textBy("report", Placet)},
	pattern{"{review}", jsonBy("review", Agent)},
	pattern{"problems/{note}", textBy(KindProblem, Placet)}, // for a file whose name may begin with a dot
	pattern{"delegations/status.json", jsonBy(AFLStatus, Placet)},
	pattern{"delegations/{checkpoint}/status.json", jsonBy(AFLStatus, Placet)},
	pattern{"delegations/{checkpoint}/routing.json", jsonBy(AFLRouting, Placet)},
	pattern{"delegations/{checkpoint}/escalation.md", textBy("escalation-md", Placet)},
	pattern{"delegations/{checkpoint}/escalation.json", jsonBy(AFLEscalationJSON, Placet)},
	pattern{"delegations/{checkpoint}/pending-question.json", jsonBy("pending-question", Upstream)},
	pattern{"delegations/{checkpoint}/iterations/{n}/prompt.md", once(textBy(AFLPrompt, Placet))},
	pattern{"delegations/{checkpoint}/iterations/{n}/worker.json", jsonBy(AFLWorker, Agent)},
	pattern{"delegations/{checkpoint}/iterations/{n}/answer.md", once(textBy("answer", Placet))},
	pattern{"delegations/{checkpoint}/iterations/{n}/result.json", File{Kind: AFLResult, Writer: Anyone, Limit: limitAFLResult}},
	pattern{"delegations/{checkpoint}/iterations/{n}/analysis.json", jsonBy("analysis", Agent)},
	pattern{"delegations/{checkpoint}/iterations/{n}/feedback.md", once(textBy("feedback", Placet))},
	pattern{"delegations/{checkpoint}/iterations/{n}/{worker-run}", once(jsonBy(AFLWorkerRun, Placet))},
	pattern{"delegations/{checkpoint}/iterations/{n}/{oracle-run}", once(jsonBy(AFLOracleRun, Placet))},
	pattern{"delegations/{checkpoint}/iterations/{n}/{review-run}", once(jsonBy(AFLReviewRun, Placet))},
	pattern{"delegations/{checkpoint}/iterations/{n}/checkpoint-review.json", jsonBy("checkpoint-review", Agent)},
	pattern{"delegations/{checkpoint}/iterations/{n}/{validation}", once(File{Kind: AFLValidation, Writer: Placet, Limit: limitAFLValidation})},
	pattern{"delegations/{checkpoint}/iterations/{n}/{verdict}", once(jsonBy(AFLVerdict, Placet))},
)

var aflFolders = folders{"afl", aflRoot, IsAFLSession}

// AFL is the layout of AFL sessions.
type AFL struct{}

// Name implements [Family].
func (AFL) Name() string { return "afl" }

// Roots implements [Family].
func (AFL) Roots() []string { return []string{aflRoot} }

// Runs implements [Family].
func (AFL) Runs(ls Lister) ([]Run, error) { return aflFolders.find(ls) }

// At implements [Family].
func (AFL) At(p string) (Run, bool) { return aflFolders.at(p) }

// File implements [Family].
func (AFL) File(_ Run, rel string) (File, bool) { return aflFiles.documentOrNote(rel) }

// Descend implements [Family].
func (AFL) Descend(_ Run, rel string) bool { return aflFiles.descends(rel) }

// aflID matches the ids of sessions and checkpoints.
var aflID = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// aflNumbered are the stems of file names that may have a number.
var aflNumbered = map[string]bool{"worker-run": true, "validation": true, "verdict": true, "review": true, "oracle-run": true, "review-run": true}

// aflIgnored are names that upstream's hooks give to sessions that they do not
// know, and the name of upstream's index.
var aflIgnored = map[string]bool{"index.json": true, "delegations": true, "unknown": true}

// aflName reports whether an id can name a folder. An id that looks like an
// editor's backup or a problem note cannot, because the watcher ignores such
// names.
func aflName(id string) bool {
	return aflID.MatchString(id) && !Noise(id) && !strings.HasSuffix(id, ProblemSuffix)
}

// IsAFLSession reports whether a string may name a session.
func IsAFLSession(id string) bool { return aflName(id) && !aflIgnored[id] }

// IsAFLCheckpoint reports whether a string may name a checkpoint. The id
// "status.json" may not, because a rendering has that name.
func IsAFLCheckpoint(id string) bool { return aflName(id) && id != "status.json" }

// AFLIteration returns the path of a file of attempt n of a checkpoint,
// relative to the session's folder.
func AFLIteration(cp string, n int, name string) string {
	return path.Join("delegations", cp, "iterations", strconv.Itoa(n), name)
}

// AFLPlace splits the path of a file of a checkpoint's delegation, relative to
// the session's folder. n is the attempt, from 1; 0 for a file that is not of
// one attempt. [AFL.File] knows the kind of the file.
func AFLPlace(rel string) (cp string, n int, name string, ok bool) {
	parts := strings.Split(rel, "/")
	if len(parts) < 3 || parts[0] != "delegations" || !IsAFLCheckpoint(parts[1]) || parts[len(parts)-1] == "" {
		return "", 0, "", false
	}
	switch {
	case len(parts) == 3 && parts[2] != "iterations":
		return parts[1], 0, parts[2], true
	case len(parts) == 5 && parts[2] == "iterations":
		n, ok = parseCount(parts[3])
	}
	if !ok {
		return "", 0, "", false
	}
	return parts[1], n, parts[4], true
}

// parseCount reads a number in a name: decimal, from 1, without leading zero,
// at most nine digits.
func parseCount(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n > 0 && len(s) <= 9 && strconv.Itoa(n) == s
}

// AFLNumbered returns the k-th name of a stem: the first, "validation.json",
// has no number, the second is "validation-2.json". ext begins with its dot.
func AFLNumbered(stem string, k int, ext string) string {
	if k == 1 {
		return stem + ext
	}
	return fmt.Sprintf("%s-%d%s", stem, k, ext)
}

// AFLNumber splits the name of a file that may exist several times:
// worker-run, validation, verdict, review, oracle-run or review-run. k is its number, from 1.
func AFLNumber(name string) (stem string, k int, ok bool) {
	stem, ok = strings.CutSuffix(name, ".json")
	if !ok {
		return "", 0, false
	}
	if aflNumbered[stem] {
		return stem, 1, true
	}
	at := strings.LastIndexByte(stem, '-')
	if at < 0 || !aflNumbered[stem[:at]] {
		return "", 0, false
	}
	if k, ok = parseCount(stem[at+1:]); !ok || k == 1 {
		return "", 0, false
	}
	return stem[:at], k, true
}
