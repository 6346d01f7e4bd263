package layout

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Folders of a root and of a run's place.
const (
	optimizerActive  = "active"
	optimizerArchive = "archive"
	optimizerDir     = "optimizer"
	// optimizerAttempts begins the paths of attempts.
	optimizerAttempts = "attempts/"
)

// OptimizerRunIDPattern says what run ids look like, for people.
const OptimizerRunIDPattern = `^\d{8}-[a-z]+-[a-z0-9-]{1,40}$`

var (
	optimizerID    = regexp.MustCompile(OptimizerRunIDPattern)
	optimizerMonth = regexp.MustCompile(`^\d{4}-\d\d$`)
)

// longestName is the greatest length of a file's name, in bytes.
const longestName = 255

// IsOptimizerRunID reports whether a string may be a run id.
func IsOptimizerRunID(id string) bool { return len(id) <= longestName && optimizerID.MatchString(id) }

// optimizerKeys are upstream's words for the skills that a run may be of.
var optimizerKeys = []string{"msogov", "msowd", "msomm", "msoed", "msotcm", "msoac", "msoal", "msoobs", "msopt"}

// OptimizerKeys returns the known key words of run ids. Others are driven all the
// same.
func OptimizerKeys() []string { return slices.Clone(optimizerKeys) }

// OptimizerParts splits a run id into its eight digits, its key word and its slug.
// It is false for what is no run id.
func OptimizerParts(id string) (date, key, slug string, ok bool) {
	if !IsOptimizerRunID(id) {
		return "", "", "", false
	}
	date, rest, _ := strings.Cut(id, "-")
	key, slug, _ = strings.Cut(rest, "-")
	return date, key, slug, true
}

// OptimizerName makes a run id of a day (in UTC), a key word and a slug.
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

// OptimizerRunID returns the run id, which is the name of the folder that a run's
// folder lies in.
func OptimizerRunID(dir string) string { return path.Base(path.Dir(dir)) }

// OptimizerInActive returns the path of a file of a run in the same root, by its run
// id; dir is the folder of any run of the root. The name is relative to the run's
// folder and may begin with "../"; name and run id may be patterns.
func OptimizerInActive(dir, runID, name string) string {
	return path.Join(OptimizerRoot(dir), optimizerActive, runID, optimizerDir, name)
}

// OptimizerInArchive is [OptimizerInActive] for a run that was put away: a pattern,
// since the month is not known.
func OptimizerInArchive(dir, runID, name string) string {
	const month = "[0-9][0-9][0-9][0-9]-[0-9][0-9]"
	return path.Join(OptimizerRoot(dir), optimizerArchive, month, runID, optimizerDir, name)
}

// optimizerShown are the files of a run that other runs look at.
var optimizerShown = []string{"../manifest.json", "trigger.json", "state.json", "goal.json", "requests/*/late.json"}

// OptimizerOther returns what is to be looked up to know another run of the same
// root, wherever it lies by now. Dir is the folder of any run of the root.
func OptimizerOther(dir, runID string) []string {
	var needs []string
	for _, name := range optimizerShown {
		needs = append(needs, OptimizerInActive(dir, runID, name), OptimizerInArchive(dir, runID, name))
	}
	return needs
}

// OptimizerIsOther reports whether a path lies in the place of a run of the same
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

// OptimizerCallbacks returns the pattern of upstream's callbacks of a run. What it
// matches is one where [IsOptimizerCallback] says so.
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

// OptimizerDatabase returns the path of a run's audit database. Where the setting
// is empty it is the root's; {root} and {run_id} in it are replaced.
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

// OptimizerOutcomeFile returns the path of what became of an attempt.
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

// optimizerLevel reads an automation level as it stands in a name.
func optimizerLevel(s string) (level int, ok bool) {
	switch s {
	case "10", "20", "30":
		level, _ = strconv.Atoi(s)
	}
	return level, level != 0
}
