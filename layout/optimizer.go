package layout

import (
	"path"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// OptimizerRoots are the default roots. Both may exist; they are never mixed.
var OptimizerRoots = []string{".mso-context", "workspace/.mso-context"}

// Classes of optimizer runs.
const (
	// OptimizerRun is <root>/active/<run_id>/optimizer. The folder need not be
	// there: a manifest alone may begin the next cycle.
	OptimizerRun = ""
	// OptimizerArchived is <root>/archive/<YYYY-MM>/<run_id>/optimizer: read for
	// the sake of others, never driven and never written.
	OptimizerArchived = "archived"
	// OptimizerMisnamed is a folder of active whose name is no run id and that
	// holds optimizer/trigger.json: it gets a note, and nothing else is known of it.
	OptimizerMisnamed = "misnamed"
)

// Kinds of optimizer files, besides the state document, problem notes and the
// kernel's files of a request folder.
const (
	OptimizerKindTrigger  = "trigger"
	OptimizerKindContext  = "context"
	OptimizerKindDecision = "decision"
	OptimizerKindAttempt  = "attempt"
	OptimizerKindOutcome  = "outcome"
	OptimizerKindAudit    = "audit"
	OptimizerKindLate     = "late" // requests/<request_id>/late.json
	OptimizerKindGoal     = "goal"
	OptimizerKindResult   = "result"
	OptimizerKindTickets  = "tickets" // which directive became which ticket
)

// endOptimizerEvents is how much of the journal is read, in bytes.
const endOptimizerEvents = 64 << 10

// optimizerFiles are the files of a run, besides requests and notes, and
// optimizerMisnamedFiles those of a folder that is misnamed.
var (
	optimizerFiles = newTable(append(optimizerAlways,
		pattern{"inputs/assets.json", jsonBy("assets", Agent)},
		pattern{"inputs/kpi.json", jsonBy("kpi", Agent)},
		pattern{"inputs/level-error.json", jsonBy("level-error", Anyone)},
		pattern{"stop.json", jsonBy("stop", Anyone)},
		pattern{"retrieved.jsonl", textBy("retrieved", Either)},
		pattern{"suggestions.json", jsonBy("suggestions", Agent)},
		pattern{"context.json", jsonBy(OptimizerKindContext, Placet)},
		pattern{"decision.json", jsonBy(OptimizerKindDecision, Placet)},
		pattern{"attempts/{attempt}", once(jsonBy(OptimizerKindAttempt, Placet))},
		pattern{"attempts/{outcome}", once(jsonBy(OptimizerKindOutcome, Placet))},
		pattern{"level10_report.md", textBy("report", Placet)},
		pattern{"level20_report.md", textBy("report", Placet)},
		pattern{"level30_report.md", textBy("report", Placet)},
		pattern{"audit.json", jsonBy(OptimizerKindAudit, Placet)},
		pattern{"audit-pending.jsonl", textBy("audit-pending", Placet)},
		pattern{"requests/{request}/late.json", jsonBy(OptimizerKindLate, Placet)},
		pattern{"goal.json", jsonBy(OptimizerKindGoal, Placet)},
		pattern{"optimizer_result.json", jsonBy(OptimizerKindResult, Placet)},
		pattern{"events.jsonl", File{Kind: "events", Writer: Placet, Format: Text, Limit: LimitText, End: endOptimizerEvents}},
		pattern{"tickets.json", jsonBy(OptimizerKindTickets, Placet)},
		pattern{"usage" + ProblemSuffix, textBy(KindProblem, Placet)}, // of a document that lies in no run
	)...)
	optimizerMisnamedFiles = newTable(optimizerAlways...)
	optimizerAlways        = []pattern{
		{"trigger.json", jsonBy(OptimizerKindTrigger, Either)},
		{"state.json", File{Kind: KindStateFile, Writer: Placet, Limit: LimitState}},
	}
)

// Optimizer is the layout of optimisation cycles; the zero value has the default
// roots. No root may lie in another.
type Optimizer struct {
	// Folders replaces the default roots.
	Folders []string
}

// Name implements [Family].
func (Optimizer) Name() string { return "optimizer" }

func (o Optimizer) runRoots() []string {
	if len(o.Folders) == 0 {
		return OptimizerRoots
	}
	return o.Folders
}

// Roots implements [Family]. What else lies beside active and archive, such as
// the audit database and its temporary files, means nothing for runs.
func (o Optimizer) Roots() []string {
	var active, archive []string
	for _, root := range o.runRoots() {
		active = append(active, path.Join(root, optimizerActive))
		archive = append(archive, path.Join(root, optimizerArchive))
	}
	return append(active, archive...)
}

// Runs implements [Family].
func (o Optimizer) Runs(ls Lister) ([]Run, error) {
	w := walker{ls: ls}
	var runs []Run
	for i := range o.runRoots() {
		runs = append(append(runs, o.inActive(i, &w)...), o.inArchive(i, &w)...)
	}
	sort.Slice(runs, func(i, j int) bool { return runs[i].Dir < runs[j].Dir })
	return runs, w.err
}

// inActive finds the runs of one root that may move. Every folder named by a run
// id is one; of the others, those with a trigger.json are reported as misnamed.
func (o Optimizer) inActive(i int, w *walker) (runs []Run) {
	active := path.Join(o.runRoots()[i], optimizerActive)
	for _, name := range w.folders(active) {
		dir := path.Join(active, name, optimizerDir)
		switch {
		case IsOptimizerRunID(name):
			runs = append(runs, optimizerRun(OptimizerRun, path.Join(o.prefix(i), name), dir))
		case isPrintableName(name) && slices.Contains(w.entries(dir), Entry{Name: "trigger.json"}):
			runs = append(runs, optimizerRun(OptimizerMisnamed, path.Dir(dir), dir))
		}
	}
	return runs
}

// isPrintableName reports whether a folder's name can be shown to a person as it is.
func isPrintableName(name string) bool {
	return name != "" && utf8.ValidString(name) && len(name) <= longestName && !Noise(name) &&
		strings.IndexFunc(name, func(r rune) bool { return r == '/' || !unicode.IsPrint(r) }) < 0
}

// inArchive finds the runs of one root that were put away and hold a cycle.
func (o Optimizer) inArchive(i int, w *walker) (runs []Run) {
	root := o.runRoots()[i]
	archive := path.Join(root, optimizerArchive)
	for _, month := range w.folders(archive) {
		if !optimizerMonth.MatchString(month) {
			continue
		}
		for _, name := range w.folders(path.Join(archive, month)) {
			run := o.archived(i, root, month, name)
			if IsOptimizerRunID(name) && slices.Contains(w.entries(path.Dir(run.Dir)), Entry{Name: optimizerDir, Dir: true}) {
				runs = append(runs, run)
			}
		}
	}
	return runs
}

func (o Optimizer) archived(i int, root, month, name string) Run {
	id := path.Join(o.prefix(i), name) + "@" + month
	return optimizerRun(OptimizerArchived, id, path.Join(root, optimizerArchive, month, name, optimizerDir))
}

// prefix is what the ids of a root's runs begin with: the folder that the root
// lies in, or the root itself where an earlier one lies there too.
func (o Optimizer) prefix(i int) string {
	roots := o.runRoots()
	for _, earlier := range roots[:i] {
		if path.Dir(earlier) == path.Dir(roots[i]) {
			return roots[i]
		}
	}
	return path.Dir(roots[i])
}

func optimizerRun(class, id, dir string) Run {
	return Run{Family: "optimizer", ID: id, Dir: dir, Class: class, State: path.Join(dir, "state.json")}
}

// At implements [Family]. It knows runs with good names by their path alone;
// the others are known only from their listing.
func (o Optimizer) At(p string) (Run, bool) {
	for i, root := range o.runRoots() {
		rel, ok := strings.CutPrefix(p, root+"/")
		if !ok {
			continue
		}
		parts := strings.Split(rel, "/")
		switch {
		case len(parts) > 2 && parts[0] == optimizerActive && IsOptimizerRunID(parts[1]) && parts[2] == optimizerDir:
			return optimizerRun(OptimizerRun, path.Join(o.prefix(i), parts[1]), path.Join(root, optimizerActive, parts[1], optimizerDir)), true
		case len(parts) > 3 && parts[0] == optimizerArchive && optimizerMonth.MatchString(parts[1]) && IsOptimizerRunID(parts[2]) && parts[3] == optimizerDir:
			return o.archived(i, root, parts[1], parts[2]), true
		}
	}
	return Run{}, false
}

// File implements [Family].
func (Optimizer) File(run Run, rel string) (File, bool) {
	if run.Class != OptimizerMisnamed {
		return optimizerFiles.documentOrNote(rel)
	}
	f, ok := optimizerMisnamedFiles.documentOrNote(rel)
	return f, ok && f.Request == ""
}

// Descend implements [Family].
func (Optimizer) Descend(run Run, rel string) bool {
	return rel == "." || run.Class != OptimizerMisnamed && optimizerFiles.descends(rel)
}
