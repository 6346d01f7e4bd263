package layout

import (
	"path"
	"strings"
)

// aflRoot is the folder that holds the sessions.
const aflRoot = ".afl/sessions"

// Kinds of AFL files, besides the state document, problem notes and those of a
// request folder.
const (
	AFLMeta            = "meta"
	AFLCheckpointsYAML = "checkpoints-yaml" // V1: all checkpoints in one file
	AFLCheckpoint      = "checkpoint"       // V2: one checkpoint
	AFLContracts       = "contracts"        // V1: all contracts in one file
	AFLContractFile    = "contract-file"    // V2: a file of one checkpoint's contracts
	AFLArchitecture    = "architecture"
	AFLControl         = "control"
	AFLReview          = "review"
	AFLEvents          = "events"
	AFLChanges         = "changes"
	AFLReport          = "report"
	AFLStatus          = "status" // the session's rendering, and each checkpoint's
	AFLRouting         = "routing"
	AFLEscalationMD    = "escalation-md"
	AFLEscalationJSON  = "escalation-json"
	AFLPendingQuestion = "pending-question"
	AFLPrompt          = "prompt"
	AFLWorker          = "worker"
	AFLWorkerRun       = "worker-run"
	AFLAnswer          = "answer"
	AFLResult          = "result"
	AFLValidation      = "validation"
	AFLAnalysis        = "analysis"
	AFLVerdict         = "verdict"
	AFLFeedback        = "feedback"
)

// Limits that AFL's page states where they are not the usual ones, in bytes.
const (
	limitAFLYAML       = 1 << 20
	endAFLEvents       = 64 << 10
	limitAFLResult     = 16 << 20
	limitAFLValidation = 2 << 20
)

func jsonBy(kind string, writer Writer) File {
	return File{Kind: kind, Writer: writer, Limit: LimitJSON}
}

func textBy(kind string, writer Writer) File {
	return File{Kind: kind, Writer: writer, Format: Text, Limit: LimitText}
}

// once says of a file that it is written once.
func once(f File) File {
	f.Once = true
	return f
}

// aflSession are the files with a fixed place in a session.
var aflSession = map[string]File{
	"meta.json":               jsonBy(AFLMeta, Upstream),
	"specs/checkpoints.yaml":  {Kind: AFLCheckpointsYAML, Writer: Person, Format: Text, Limit: limitAFLYAML},
	"specs/contracts.md":      textBy(AFLContracts, Person),
	"specs/architecture.md":   textBy(AFLArchitecture, Person),
	"architecture.md":         textBy(AFLArchitecture, Person),
	"control.json":            jsonBy(AFLControl, Person),
	"state.json":              {Kind: KindStateFile, Writer: Placet, Limit: LimitState},
	"events.jsonl":            {Kind: AFLEvents, Writer: Placet, Format: Text, Limit: LimitText, End: endAFLEvents},
	"changes.md":              textBy(AFLChanges, Placet),
	"report.md":               textBy(AFLReport, Placet),
	"delegations/status.json": jsonBy(AFLStatus, Placet),
}

// aflDelegation are the files of a checkpoint's delegation.
var aflDelegation = map[string]File{
	"status.json":           jsonBy(AFLStatus, Placet),
	"routing.json":          jsonBy(AFLRouting, Placet),
	"escalation.md":         textBy(AFLEscalationMD, Placet),
	"escalation.json":       jsonBy(AFLEscalationJSON, Placet),
	"pending-question.json": jsonBy(AFLPendingQuestion, Upstream),
}

// aflIteration are the files of one attempt with a name of their own.
var aflIteration = map[string]File{
	"prompt.md":     once(textBy(AFLPrompt, Placet)),
	"worker.json":   jsonBy(AFLWorker, Agent),
	"answer.md":     once(textBy(AFLAnswer, Placet)),
	"result.json":   {Kind: AFLResult, Writer: Anyone, Limit: limitAFLResult},
	"analysis.json": jsonBy(AFLAnalysis, Agent),
	"feedback.md":   once(textBy(AFLFeedback, Placet)),
}

// aflNumbered are the files with numbered names, by their stems: those of an
// attempt, and the session's reviews.
var aflNumbered = map[string]File{
	"worker-run": once(jsonBy(AFLWorkerRun, Placet)),
	"validation": {Kind: AFLValidation, Writer: Placet, Limit: limitAFLValidation, Once: true},
	"verdict":    once(jsonBy(AFLVerdict, Placet)),
	"review":     jsonBy(AFLReview, Agent),
}

// AFL is the layout of AFL sessions.
type AFL struct{}

// Name implements [Family].
func (AFL) Name() string { return "afl" }

// Roots implements [Family].
func (AFL) Roots() []string { return []string{aflRoot} }

// Runs implements [Family]. Whether a folder is a session at all, its documents
// tell: only the root is listed, so every folder with a session's name is a run.
func (AFL) Runs(ls Lister) ([]Run, error) {
	entries, err := ls(aflRoot)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, e := range entries {
		if e.Dir && IsAFLSession(e.Name) {
			runs = append(runs, aflRun(e.Name))
		}
	}
	return runs, nil
}

func aflRun(id string) Run {
	dir := path.Join(aflRoot, id)
	return Run{Family: "afl", ID: id, Dir: dir, State: path.Join(dir, "state.json")}
}

// At implements [Family].
func (AFL) At(p string) (Run, bool) {
	rel, ok := strings.CutPrefix(p, aflRoot+"/")
	id, _, _ := strings.Cut(rel, "/")
	if !ok || !IsAFLSession(id) {
		return Run{}, false
	}
	return aflRun(id), true
}

// File implements [Family].
func (AFL) File(_ Run, rel string) (File, bool) {
	if f, ok := aflFile(rel); ok {
		return f, true
	}
	if f, ok := requestFile(rel); ok {
		return f, true
	}
	if aflNote(rel) {
		return textBy(KindProblem, Placet), true
	}
	return File{}, false
}

// aflFile knows the documents that AFL has besides requests and notes.
func aflFile(rel string) (File, bool) {
	if f, ok := aflSession[rel]; ok {
		return f, true
	}
	if _, n, name, ok := AFLPlace(rel); ok {
		return aflDelegated(n, name)
	}
	if stem, _, ok := AFLNumber(rel); ok && stem == "review" {
		return aflNumbered[stem], true
	}
	parts := strings.Split(rel, "/")
	name := parts[len(parts)-1]
	switch {
	case name == "" || Noise(name) || strings.HasSuffix(name, ProblemSuffix):
		return File{}, false
	case len(parts) == 2 && parts[0] == "checkpoints" && strings.HasSuffix(name, ".json"):
		return jsonBy(AFLCheckpoint, Person), true
	case len(parts) == 3 && parts[0] == "contracts" && IsAFLCheckpoint(parts[1]):
		return textBy(AFLContractFile, Person), true
	}
	return File{}, false
}

// aflDelegated knows the files of a checkpoint's delegation, and of attempt n
// where n is not 0.
func aflDelegated(n int, name string) (File, bool) {
	if n == 0 {
		f, ok := aflDelegation[name]
		return f, ok
	}
	if f, ok := aflIteration[name]; ok {
		return f, true
	}
	stem, _, ok := AFLNumber(name)
	return aflNumbered[stem], ok && stem != "review"
}

// aflNote reports whether a path is that of a problem note: beside a document,
// or below problems/.
func aflNote(rel string) bool {
	of, ok := strings.CutSuffix(rel, ProblemSuffix)
	if !ok {
		return false
	}
	// The name there is another file's path, which may begin with a dot.
	if name, below := strings.CutPrefix(of, "problems/"); below {
		return name != "" && !strings.Contains(name, "/")
	}
	_, own := aflFile(of)
	return own
}

// aflFolders are the folders of a session with a fixed place.
var aflFolders = map[string]bool{
	".": true, "specs": true, "checkpoints": true, "contracts": true, "delegations": true, "problems": true,
}

// Descend implements [Family].
func (AFL) Descend(_ Run, rel string) bool {
	if aflFolders[rel] || requestDir(rel) {
		return true
	}
	parts := strings.Split(rel, "/")
	if len(parts) < 2 || !IsAFLCheckpoint(parts[1]) {
		return false
	}
	switch {
	case len(parts) == 2:
		return parts[0] == "contracts" || parts[0] == "delegations"
	case parts[0] != "delegations" || parts[2] != "iterations":
		return false
	case len(parts) == 3:
		return true
	}
	_, ok := aflCount(parts[3])
	return ok && len(parts) == 4
}
