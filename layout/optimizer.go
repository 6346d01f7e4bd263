package layout

import (
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"placet/internal/lazyregexp"
)

// OptimizerRoots are the default roots. Both may exist; their runs are never mixed.
var OptimizerRoots = []string{".mso-context", "workspace/.mso-context"}

// Classes of optimizer runs.
const (
	// OptimizerRun is <root>/active/<run_id>/optimizer. The folder need not exist:
	// a manifest alone may begin the next cycle.
	OptimizerRun = ""
	// OptimizerArchived is <root>/archive/<YYYY-MM>/<run_id>/optimizer: it is read
	// because other runs need it, and never driven or written.
	OptimizerArchived = "archived"
	// OptimizerMisnamed is a folder in active whose name is not a run id and that
	// holds optimizer/trigger.json: it gets a note, and placet reads nothing else
	// in it.
	OptimizerMisnamed = "misnamed"
)

// Kinds of optimizer files, besides the state document, problem notes and the
// kernel's files of a request folder.
const (
	OptimizerKindTrigger  = "trigger"
	OptimizerKindDecision = "decision"
	OptimizerKindTickets  = "tickets" // which directive became which ticket
)

// endOptimizerEvents is how much of the journal is read, in bytes.
const endOptimizerEvents = 64 << 10

// optimizerFiles are the files of a run, besides requests and notes, and
// optimizerMisnamedFiles those of a misnamed folder.
var (
	optimizerFiles = newTable(append(optimizerAlways,
		pattern{"inputs/assets.json", jsonBy("assets", Agent)},
		pattern{"inputs/kpi.json", jsonBy("kpi", Agent)},
		pattern{"inputs/level-error.json", jsonBy("level-error", Anyone)},
		pattern{"stop.json", jsonBy("stop", Anyone)},
		pattern{"retrieved.jsonl", textBy("retrieved", Either)},
		pattern{"suggestions.json", jsonBy("suggestions", Agent)},
		pattern{"context.json", jsonBy("context", Placet)},
		pattern{"decision.json", jsonBy(OptimizerKindDecision, Placet)},
		pattern{"attempts/{attempt}", once(jsonBy("attempt", Placet))},
		pattern{"attempts/{outcome}", once(jsonBy("outcome", Placet))},
		pattern{"level10_report.md", textBy("report", Placet)},
		pattern{"level20_report.md", textBy("report", Placet)},
		pattern{"level30_report.md", textBy("report", Placet)},
		pattern{"audit.json", jsonBy("audit", Placet)},
		pattern{"audit-pending.jsonl", textBy("audit-pending", Placet)},
		pattern{"requests/{request}/late.json", jsonBy("late", Placet)},
		pattern{"goal.json", jsonBy("goal", Placet)},
		pattern{"optimizer_result.json", jsonBy("result", Placet)},
		pattern{"events.jsonl", File{Kind: "events", Writer: Placet, Format: Text, Limit: LimitText, End: endOptimizerEvents}},
		pattern{"tickets.json", jsonBy(OptimizerKindTickets, Placet)},
		pattern{"usage" + ProblemSuffix, textBy(KindProblem, Placet)}, // for a document that belongs to no run
	)...)
	optimizerMisnamedFiles = newTable(optimizerAlways...)
	optimizerAlways        = []pattern{
		{"trigger.json", jsonBy(OptimizerKindTrigger, Either)},
		{"state.json", File{Kind: KindStateFile, Writer: Placet, Limit: LimitState}},
	}
)

// Optimizer is the layout of optimisation cycles; the zero value has the default
// roots. No root may be inside another.
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

// Roots implements [Family]. Other files beside active and archive, such as the
// audit database and its temporary files, mean nothing for runs.
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
	for _, root := range o.runRoots() {
		runs = append(append(runs, o.inActive(root, &w)...), o.inArchive(root, &w)...)
	}
	sort.Slice(runs, func(i, j int) bool { return runs[i].Dir < runs[j].Dir })
	return runs, w.err
}

// inActive finds the runs of one root that may move. Every folder whose name is a
// run id is one; other folders with a trigger.json are reported as misnamed.
func (o Optimizer) inActive(root string, w *walker) (runs []Run) {
	active := path.Join(root, optimizerActive)
	for _, name := range w.folders(active) {
		dir := path.Join(active, name, optimizerDir)
		if run, ok := o.At(dir); ok {
			runs = append(runs, run)
		} else if isPrintableName(name) && slices.Contains(w.entries(dir), Entry{Name: "trigger.json"}) {
			runs = append(runs, optimizerRun(OptimizerMisnamed, path.Dir(dir), dir))
		}
	}
	return runs
}

// isPrintableName reports whether a folder's name can be shown to a person
// unchanged.
func isPrintableName(name string) bool {
	return name != "" && utf8.ValidString(name) && len(name) <= longestName && !Noise(name) &&
		strings.IndexFunc(name, func(r rune) bool { return r == '/' || !unicode.IsPrint(r) }) < 0
}

// inArchive finds the runs of one root that were archived and hold a cycle.
func (o Optimizer) inArchive(root string, w *walker) (runs []Run) {
	archive := path.Join(root, optimizerArchive)
	for _, month := range w.folders(archive) {
		if !optimizerMonth.MatchString(month) {
			continue
		}
		for _, name := range w.folders(path.Join(archive, month)) {
			above := path.Join(archive, month, name)
			if run, ok := o.At(path.Join(above, optimizerDir)); ok && slices.Contains(w.entries(above), Entry{Name: optimizerDir, Dir: true}) {
				runs = append(runs, run)
			}
		}
	}
	return runs
}

// prefix returns the beginning of the ids of a root's runs: the folder that
// contains the root, or the root itself if an earlier root is in the same folder.
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

// At implements [Family]. It recognizes runs with good names by their path alone;
// other runs are known only from their listing.
func (o Optimizer) At(p string) (Run, bool) {
	for i, root := range o.runRoots() {
		rel, ok := strings.CutPrefix(p, root+"/")
		if !ok {
			continue
		}
		parts := strings.Split(rel, "/")
		switch {
		case len(parts) > 2 && parts[0] == optimizerActive && IsOptimizerRunID(parts[1]) && parts[2] == optimizerDir:
			return optimizerRun(OptimizerRun, path.Join(o.prefix(i), parts[1]), path.Join(root, path.Join(parts[:3]...))), true
		case len(parts) > 3 && parts[0] == optimizerArchive && optimizerMonth.MatchString(parts[1]) && IsOptimizerRunID(parts[2]) && parts[3] == optimizerDir:
			return optimizerRun(OptimizerArchived, path.Join(o.prefix(i), parts[2])+"@"+parts[1], path.Join(root, path.Join(parts[:4]...))), true
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

// Names of folders in a root and in a run's place.
const (
	optimizerActive  = "active"
	optimizerArchive = "archive"
	optimizerDir     = "optimizer"
	// optimizerAttempts begins the paths of attempts.
	optimizerAttempts = "attempts/"
)

// OptimizerRunIDPattern shows people what run ids look like.
const OptimizerRunIDPattern = `^\d{8}-[a-z]+-[a-z0-9-]{1,40}$`

var (
	optimizerID    = lazyregexp.New(OptimizerRunIDPattern)
	optimizerMonth = lazyregexp.New(`^\d{4}-\d\d$`)
)

// longestName is the greatest length of a file's name, in bytes.
const longestName = 255

// IsOptimizerRunID reports whether a string may be a run id.
func IsOptimizerRunID(id string) bool { return len(id) <= longestName && optimizerID.MatchString(id) }

// optimizerKeys are upstream's words for the skills that a run may be of.
var optimizerKeys = []string{"msogov", "msowd", "msomm", "msoed", "msotcm", "msoac", "msoal", "msoobs", "msopt"}

// OptimizerKeys returns the known key words of run ids. Runs with others are
// driven, too.
func OptimizerKeys() []string { return slices.Clone(optimizerKeys) }

// OptimizerParts splits a run id into its eight digits, its key word and its slug.
// It returns false for a string that is not a run id.
func OptimizerParts(id string) (date, key, slug string, ok bool) {
	if !IsOptimizerRunID(id) {
		return "", "", "", false
	}
	date, rest, _ := strings.Cut(id, "-")
	key, slug, _ = strings.Cut(rest, "-")
	return date, key, slug, true
}

// OptimizerName makes a run id from a day (in UTC), a key word and a slug.
func OptimizerName(day time.Time, key, slug string) string {
	return day.UTC().Format("20060102") + "-" + key + "-" + slug
}

// OptimizerRoot returns the root of a run's folder.
func OptimizerRoot(dir string) string {
	above := path.Dir(path.Dir(dir))
	if path.Base(above) == optimizerActive {
		return path.Dir(above)
	}
	return path.Dir(path.Dir(above)) // archive/<YYYY-MM>
}

// OptimizerRunID returns the run id, which is the name of the folder above the
// run's folder.
func OptimizerRunID(dir string) string { return path.Base(path.Dir(dir)) }

// OptimizerInActive returns the path of a file of a run in the same root, by its run
// id; dir is the folder of any run of the root. The name is relative to the run's
// folder and may begin with "../"; name and run id may be patterns.
func OptimizerInActive(dir, runID, name string) string {
	return path.Join(OptimizerRoot(dir), optimizerActive, runID, optimizerDir, name)
}

// OptimizerInArchive is [OptimizerInActive] for an archived run. It returns a
// pattern, because the month is not known.
func OptimizerInArchive(dir, runID, name string) string {
	const month = "[0-9][0-9][0-9][0-9]-[0-9][0-9]"
	return path.Join(OptimizerRoot(dir), optimizerArchive, month, runID, optimizerDir, name)
}

// optimizerShown are the files of a run that other runs read.
var optimizerShown = []string{"../manifest.json", "trigger.json", "state.json", "goal.json", "requests/*/late.json"}

// OptimizerOther returns the needs for knowing another run of the same root, in
// active or in the archive. dir is the folder of any run of the root.
func OptimizerOther(dir, runID string) []string {
	var needs []string
	for _, name := range optimizerShown {
		needs = append(needs, OptimizerInActive(dir, runID, name), OptimizerInArchive(dir, runID, name))
	}
	return needs
}

// OptimizerIsOther reports whether a path is in the place of a run of the same
// root: in active, or, if archived is set, in a month of the archive.
func OptimizerIsOther(dir, runID string, archived bool, p string) bool {
	place := path.Join(OptimizerRoot(dir), optimizerActive)
	if archived {
		rel, ok := strings.CutPrefix(p, path.Join(OptimizerRoot(dir), optimizerArchive)+"/")
		month, _, _ := strings.Cut(rel, "/")
		if !ok || !optimizerMonth.MatchString(month) {
			return false
		}
		place = path.Join(OptimizerRoot(dir), optimizerArchive, month)
	}
	return Under(p, path.Join(place, runID))
}

// OptimizerManifest returns the path of upstream's manifest of a run.
func OptimizerManifest(dir string) string { return path.Join(path.Dir(dir), "manifest.json") }

// OptimizerCallbacks returns the pattern of upstream's callbacks of a run.
// [IsOptimizerCallback] decides which of the matching files are callbacks.
func OptimizerCallbacks(dir string) string {
	return path.Join(path.Dir(dir), "60_observability/callback-*.json")
}

// IsOptimizerCallback reports whether a file's path is that of a callback.
func IsOptimizerCallback(p string) bool {
	name := path.Base(p)
	return path.Base(path.Dir(p)) == "60_observability" && strings.HasPrefix(name, "callback-") && strings.HasSuffix(name, ".json") &&
		!strings.HasSuffix(name, ".agent-collaboration.json") && !Noise(name)
}

// OptimizerTickets returns the folder of a run's tickets.
func OptimizerTickets(dir string) string {
	return path.Join(path.Dir(dir), "40_collaboration/task-context/tickets")
}

// OptimizerDatabase returns the path of a run's audit database. If the setting is
// empty, it is that of the root; {root} and {run_id} in the setting are replaced.
func OptimizerDatabase(dir, setting string) string {
	if setting == "" {
		return path.Join(OptimizerRoot(dir), "audit_global.db")
	}
	return strings.NewReplacer("{root}", OptimizerRoot(dir), "{run_id}", OptimizerRunID(dir)).Replace(setting)
}

// OptimizerUsage returns the path of a workflow's usage document.
func OptimizerUsage(folder, workflow string) string { return path.Join(folder, workflow+".md") }

// OptimizerReportName returns the name of a level's report.
func OptimizerReportName(level int) string { return "level" + strconv.Itoa(level) + "_report.md" }

// OptimizerAttemptFile returns the path of attempt n, from 1, of a level's command,
// relative to the run's folder.
func OptimizerAttemptFile(level, n int) string {
	return optimizerAttempts + strconv.Itoa(level) + "-" + strconv.Itoa(n) + ".json"
}

// OptimizerOutcomeFile returns the path of the outcome of an attempt.
func OptimizerOutcomeFile(level, n int) string {
	return strings.TrimSuffix(OptimizerAttemptFile(level, n), ".json") + ".outcome.json"
}

// OptimizerAttempt splits the path of an attempt, or of its outcome, relative to the
// run's folder.
func OptimizerAttempt(rel string) (level, n int, outcome, ok bool) {
	stem, ok := strings.CutSuffix(strings.TrimPrefix(rel, optimizerAttempts), ".json")
	stem, outcome = strings.CutSuffix(stem, ".outcome")
	first, second, _ := strings.Cut(stem, "-")
	level, known := optimizerLevel(first)
	n, counted := parseCount(second)
	if !ok || !known || !counted || !strings.HasPrefix(rel, optimizerAttempts) {
		return 0, 0, false, false
	}
	return level, n, outcome, true
}

// optimizerLevel reads an automation level in a name.
func optimizerLevel(s string) (level int, ok bool) {
	switch s {
	case "10", "20", "30":
		level, _ = strconv.Atoi(s)
	}
	return level, level != 0
}
