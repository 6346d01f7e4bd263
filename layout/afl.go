package layout

// aflRoot is the folder that holds the sessions.
const aflRoot = ".afl/sessions"

// Kinds of AFL files, besides the state document, problem notes and those of a
// request folder.
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
)

// Limits that AFL's page states where they are not the usual ones, in bytes.
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
	pattern{"problems/{note}", textBy(KindProblem, Placet)}, // of a file that may begin with a dot
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
