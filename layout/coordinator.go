package layout

import (
	"path"

	"placet/internal/lazyregexp"
)

// FaberCoordinators is the folder of the coordinators: each asks a person about several
// runs of FABER at once.
const FaberCoordinators = ".fractary/faber/coordinators"

// Kinds of a coordinator's files. A reply is an answer as text, and a prompt is one that
// placet begins.
const (
	FaberMembers     = "coordinator"
	FaberAggregation = "aggregation"
	FaberPrompt      = "prompt"
	FaberPromptReply = "reply"
	FaberRound       = "round-receipt"
)

var (
	faberCoordinator = lazyregexp.New(`^coord-\d{8}-[0-9a-f]{6}$`)
	faberPrompt      = lazyregexp.New(`^prompt-\d{3,9}(-[0-9a-f]{8})?\.md$`)
	faberPromptReply = lazyregexp.New(`^\d{3,9}(|[^0-9].*)\.(md|txt)$`)
	faberRound       = lazyregexp.New(`^receipt-\d{3,9}\.json$`)
	faberRoundNote   = lazyregexp.New(`^problem-\d{3,9}\.md$`)
	faberAggregation = lazyregexp.New(`^\d{3,9}\.json$`)
)

// faberCoordinatorFiles are the files of a coordinator.
var faberCoordinatorFiles = newTable(
	pattern{"state.json", File{Kind: KindStateFile, Writer: Placet, Limit: LimitState}},
	pattern{"coordinator.json", jsonBy(FaberMembers, Agent)},
	pattern{"aggregations/{aggregation}", once(jsonBy(FaberAggregation, Placet))},
	pattern{"{prompt}", textBy(FaberPrompt, Reviewer)},
	pattern{"replies/{prompt-reply}", textBy(FaberPromptReply, Reviewer)},
	pattern{"{round}", once(jsonBy(FaberRound, Placet))},
	pattern{"{round-note}", textBy(KindProblem, Placet)},
	pattern{"state.json" + ProblemSuffix, textBy(KindProblem, Placet)},
)

// coordinatorRuns finds the coordinators.
func coordinatorRuns(w *walker) (runs []Run) {
	for _, id := range w.folders(FaberCoordinators) {
		if faberCoordinator.MatchString(id) {
			runs = append(runs, coordinatorRun(id))
		}
	}
	return runs
}

func coordinatorRun(id string) Run {
	dir := path.Join(FaberCoordinators, id)
	return Run{Family: "faber", ID: id, Dir: dir, Class: FaberCoordinator, State: path.Join(dir, "state.json")}
}

// Places returns the folders in which the run with an id may be, the primary one first;
// none if no run has such an id.
func (f Faber) Places(id string) (dirs []string) {
	for _, root := range f.runRoots() {
		if run, ok := f.At(path.Join(root, id, "state.json")); ok && run.ID == id {
			dirs = append(dirs, run.Dir)
		}
	}
	return dirs
}

// Coordinators is the layout of FABER's coordinators alone: a file that names no run is
// one of a coordinator.
type Coordinators struct{ Faber }

// File implements [Family].
func (c Coordinators) File(_ Run, rel string) (File, bool) {
	return c.Faber.File(Run{Class: FaberCoordinator}, rel)
}
