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
	OptimizerKindTrigger      = "trigger"
	OptimizerKindAssets       = "assets"
	OptimizerKindKPI          = "kpi"
	OptimizerKindRetrieved    = "retrieved"
	OptimizerKindSuggestions  = "suggestions"
	OptimizerKindLevelError   = "level-error"
	OptimizerKindStop         = "stop"
	OptimizerKindContext      = "context"
	OptimizerKindDecision     = "decision"
	OptimizerKindAttempt      = "attempt"
	OptimizerKindOutcome      = "outcome"
	OptimizerKindReport       = "report"
	OptimizerKindAudit        = "audit"
	OptimizerKindAuditPending = "audit-pending"
	OptimizerKindLate         = "late" // requests/<request_id>/late.json
	OptimizerKindGoal         = "goal"
	OptimizerKindResult       = "result"
	OptimizerKindEvents       = "events"
	OptimizerKindTickets      = "tickets" // which directive became which ticket
)

// endOptimizerEvents is how much of the journal is read, in bytes.
const endOptimizerEvents = 64 << 10

// optimizerUsage is what the note on the usage document is of, which lies in no run.
const optimizerUsage = "usage"

// optimizerFiles are the files with a fixed place in a run.
var optimizerFiles = map[string]File{
	"trigger.json":            jsonBy(OptimizerKindTrigger, Either),
	"inputs/assets.json":      jsonBy(OptimizerKindAssets, Agent),
	"inputs/kpi.json":         jsonBy(OptimizerKindKPI, Agent),
	"inputs/level-error.json": jsonBy(OptimizerKindLevelError, Anyone),
	"stop.json":               jsonBy(OptimizerKindStop, Anyone),
	"retrieved.jsonl":         textBy(OptimizerKindRetrieved, Either),
	"suggestions.json":        jsonBy(OptimizerKindSuggestions, Agent),
	"state.json":              {Kind: KindStateFile, Writer: Placet, Limit: LimitState},
	"context.json":            jsonBy(OptimizerKindContext, Placet),
	"decision.json":           jsonBy(OptimizerKindDecision, Placet),
	"level10_report.md":       textBy(OptimizerKindReport, Placet),
	"level20_report.md":       textBy(OptimizerKindReport, Placet),
	"level30_report.md":       textBy(OptimizerKindReport, Placet),
	"audit.json":              jsonBy(OptimizerKindAudit, Placet),
	"audit-pending.jsonl":     textBy(OptimizerKindAuditPending, Placet),
	"goal.json":               jsonBy(OptimizerKindGoal, Placet),
	"optimizer_result.json":   jsonBy(OptimizerKindResult, Placet),
	"events.jsonl":            {Kind: OptimizerKindEvents, Writer: Placet, Format: Text, Limit: LimitText, End: endOptimizerEvents},
	"tickets.json":            jsonBy(OptimizerKindTickets, Placet),
}

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
	var runs []Run
	for i, root := range o.runRoots() {
		live, err := o.inActive(i, root, ls)
		if err != nil {
			return nil, err
		}
		old, err := o.inArchive(i, root, ls)
		if err != nil {
			return nil, err
		}
		runs = append(append(runs, live...), old...)
	}
	sort.Slice(runs, func(i, j int) bool { return runs[i].Dir < runs[j].Dir })
	return runs, nil
}

// inActive finds the runs of one root that may move. Every folder named by a run
// id is one; of the others those with a trigger.json are told.
func (o Optimizer) inActive(i int, root string, ls Lister) ([]Run, error) {
	active := path.Join(root, optimizerActive)
	names, err := foldersOf(ls, active)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, name := range names {
		dir := path.Join(active, name, optimizerDir)
		if IsOptimizerRunID(name) {
			runs = append(runs, optimizerRun(OptimizerRun, path.Join(o.prefix(i), name), dir))
			continue
		}
		if !nameable(name) {
			continue
		}
		entries, err := ls(dir)
		if err != nil {
			return nil, err
		}
		if slices.Contains(entries, Entry{Name: "trigger.json"}) {
			runs = append(runs, optimizerRun(OptimizerMisnamed, path.Dir(dir), dir))
		}
	}
	return runs, nil
}

// nameable reports whether a folder's name can be told to a person as it is.
func nameable(name string) bool {
	return name != "" && utf8.ValidString(name) && len(name) <= longestName && !Noise(name) &&
		strings.IndexFunc(name, func(r rune) bool { return r == '/' || !unicode.IsPrint(r) }) < 0
}

// inArchive finds the runs of one root that were put away and hold a cycle.
func (o Optimizer) inArchive(i int, root string, ls Lister) ([]Run, error) {
	var runs []Run
	archive := path.Join(root, optimizerArchive)
	months, err := foldersOf(ls, archive)
	if err != nil {
		return nil, err
	}
	for _, month := range months {
		if !optimizerMonth.MatchString(month) {
			continue
		}
		names, err := foldersOf(ls, path.Join(archive, month))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if !IsOptimizerRunID(name) {
				continue
			}
			run := o.archived(i, root, month, name)
			entries, err := ls(path.Dir(run.Dir))
			if err != nil {
				return nil, err
			}
			if slices.Contains(entries, Entry{Name: optimizerDir, Dir: true}) {
				runs = append(runs, run)
			}
		}
	}
	return runs, nil
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
	if f, ok := optimizerFile(run, rel); ok {
		return f, true
	}
	if f, ok := requestFile(rel); ok {
		return f, run.Class != OptimizerMisnamed
	}
	if of, ok := strings.CutSuffix(rel, ProblemSuffix); ok {
		_, own := optimizerFile(run, of)
		return textBy(KindProblem, Placet), own || of == optimizerUsage && run.Class != OptimizerMisnamed
	}
	return File{}, false
}

// optimizerFile knows the documents that the family has besides notes and the
// kernel's.
func optimizerFile(run Run, rel string) (File, bool) {
	if f, ok := optimizerFiles[rel]; ok {
		return f, run.Class != OptimizerMisnamed || rel == "trigger.json" || rel == "state.json"
	}
	if run.Class == OptimizerMisnamed {
		return File{}, false
	}
	if _, _, outcome, ok := OptimizerAttempt(rel); ok {
		kind := OptimizerKindAttempt
		if outcome {
			kind = OptimizerKindOutcome
		}
		return once(jsonBy(kind, Placet)), true
	}
	if dir, name := path.Split(rel); name == "late.json" && strings.Count(dir, "/") == 2 && requestDir(path.Clean(dir)) {
		f := jsonBy(OptimizerKindLate, Placet)
		f.Request = path.Base(dir)
		return f, true
	}
	return File{}, false
}

// Descend implements [Family].
func (Optimizer) Descend(run Run, rel string) bool {
	switch {
	case rel == ".":
		return true
	case run.Class == OptimizerMisnamed:
		return false
	}
	return rel == "inputs" || rel == "attempts" || requestDir(rel)
}
