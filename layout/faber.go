package layout

import (
	"path"
	"regexp"
	"sort"
	"strings"
)

// FaberRoots are the default roots: the primary one, then the older one.
var FaberRoots = []string{".fractary/faber/runs", ".fractary/plugins/faber/runs"}

// faberPlans is where a later upstream keeps runs by plan: never served.
const faberPlans = ".fractary/runs"

// Classes of FABER runs.
const (
	// FaberRun is <root>/<org>/<project>/<uuid>.
	FaberRun = ""
	// FaberShadowed is the same in a later root, where the primary root has
	// a run of this id too.
	FaberShadowed = "shadowed"
	// FaberPlan is a folder of a plan layout that holds a state.json.
	FaberPlan = "plan"
	// FaberSuffix is a plan layout's state-<suffix>.json: listed, no more.
	FaberSuffix = "suffix"
)

// Kinds of FABER files, besides those of a request folder.
const (
	FaberMetadata = "metadata"
	FaberEvent    = "event"
	FaberNextID   = "next-id"
	FaberResume   = "resume"
	FaberContext  = "context"
	FaberCancel   = "cancel"
	FaberIssue    = "issue"
	FaberPosted   = "posted"
	FaberAttempt  = "attempt"
	FaberOutcome  = "outcome"
	FaberWorkflow = "workflow"
	FaberBadEvent = "bad-event"
)

var (
	faberWord = regexp.MustCompile(`^[a-z0-9_-]+$`)
	faberUUID = regexp.MustCompile(`^[a-f0-9-]{36}$`)
	faberPart = regexp.MustCompile(`^state-[A-Za-z0-9._-]+\.json$`)
	// Characters that a plan folder may have: it is shown and looked up,
	// never made.
	faberFolder = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,254}$`)
	faberAction = regexp.MustCompile(`^actions/resume-r\d+/(attempt|outcome)\.json$`)
)

// Names of the primary root and above that look like runs and are none.
var faberNever = map[string]bool{
	"backups": true, "session-summaries": true, "active": true,
	"checkpoints": true, "manifests": true, "batches": true,
}

// Faber is the layout of FABER runs; the zero value has the default roots.
type Faber struct {
	// Folders replaces the default roots, the primary one first.
	Folders []string
}

// Name implements [Family].
func (Faber) Name() string { return "faber" }

// Roots implements [Family].
func (f Faber) Roots() []string {
	roots := f.runRoots()
	return append(append([]string(nil), roots...), faberPlans)
}

func (f Faber) runRoots() []string {
	if len(f.Folders) == 0 {
		return FaberRoots
	}
	return f.Folders
}

// Runs implements [Family].
func (f Faber) Runs(ls Lister) ([]Run, error) {
	var runs []Run
	seen := map[string]bool{}
	for _, root := range f.runRoots() {
		found, err := f.inRoot(root, ls)
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			if r.Class == FaberRun {
				if seen[r.ID] {
					r.Class, r.ID = FaberShadowed, r.Dir
				} else {
					seen[r.ID] = true
				}
			}
			runs = append(runs, r)
		}
	}
	plans, err := f.inPlans(ls)
	if err != nil {
		return nil, err
	}
	runs = append(runs, plans...)
	sort.Slice(runs, func(i, j int) bool { return runs[i].State < runs[j].State })
	return runs, nil
}

// inRoot finds org/project/uuid runs and plan layouts below one root.
func (f Faber) inRoot(root string, ls Lister) ([]Run, error) {
	var runs []Run
	tops, err := ls(root)
	if err != nil {
		return nil, err
	}
	for _, top := range folders(tops) {
		dir := path.Join(root, top)
		entries, err := ls(dir)
		if err != nil {
			return nil, err
		}
		runs = append(runs, planRuns(dir, entries)...)
		for _, second := range folders(entries) {
			below, err := f.inSecond(path.Join(dir, second), faberWord.MatchString(top) && faberWord.MatchString(second), ls)
			if err != nil {
				return nil, err
			}
			runs = append(runs, below...)
		}
	}
	return runs, nil
}

// inSecond finds the runs in a folder two levels below a root: a project's
// runs, or a plan's state.
func (f Faber) inSecond(dir string, project bool, ls Lister) ([]Run, error) {
	entries, err := ls(dir)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, e := range entries {
		if !e.Dir && e.Name == "state.json" {
			runs = append(runs, planRun(dir))
		}
		if project && e.Dir && faberUUID.MatchString(e.Name) {
			runs = append(runs, faberRun(path.Join(dir, e.Name)))
		}
	}
	return runs, nil
}

// inPlans finds the runs of .fractary/runs/<plan>-run-<ts>.
func (f Faber) inPlans(ls Lister) ([]Run, error) {
	tops, err := ls(faberPlans)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, top := range folders(tops) {
		dir := path.Join(faberPlans, top)
		entries, err := ls(dir)
		if err != nil {
			return nil, err
		}
		runs = append(runs, planRuns(dir, entries)...)
	}
	return runs, nil
}

// folders returns the names that may be a part of a run's path.
func folders(entries []Entry) []string {
	var names []string
	for _, e := range entries {
		if e.Dir && faberFolder.MatchString(e.Name) && !faberNever[e.Name] {
			names = append(names, e.Name)
		}
	}
	return names
}

func planRuns(dir string, entries []Entry) []Run {
	var runs []Run
	for _, e := range entries {
		switch {
		case e.Dir || e.Link:
		case e.Name == "state.json":
			runs = append(runs, planRun(dir))
		case faberPart.MatchString(e.Name):
			p := path.Join(dir, e.Name)
			runs = append(runs, Run{Family: "faber", ID: p, Dir: dir, Class: FaberSuffix, State: p})
		}
	}
	return runs
}

func planRun(dir string) Run {
	return Run{
		Family: "faber", ID: dir, Dir: dir, Class: FaberPlan, State: path.Join(dir, "state.json"),
		Locks:      []string{path.Join(dir, "state.json.lock"), path.Join(dir, "events/.next-id.lock")},
		LocksExist: true,
	}
}

// faberRun is the run at a clean path of three parts below a root. There may be a
// hundred thousand: its texts share memory.
func faberRun(dir string) Run {
	lock := dir + "/state.json.lock"
	id := len(dir)
	for range 3 {
		id = strings.LastIndexByte(dir[:id], '/')
	}
	return Run{
		Family: "faber", ID: lock[id+1 : len(dir)], Dir: lock[:len(dir)], State: strings.TrimSuffix(lock, ".lock"),
		Locks: []string{lock, dir + "/events/.next-id.lock"},
	}
}

// At implements [Family]. It knows org/project/uuid runs by their path alone;
// a plan layout is known only from its listing.
func (f Faber) At(p string) (Run, bool) {
	for _, root := range f.runRoots() {
		rel, ok := strings.CutPrefix(p, root+"/")
		if !ok {
			continue
		}
		parts := strings.Split(rel, "/")
		if len(parts) < 3 || !faberWord.MatchString(parts[0]) || !faberWord.MatchString(parts[1]) || !faberUUID.MatchString(parts[2]) {
			return Run{}, false
		}
		run := faberRun(path.Join(root, parts[0], parts[1], parts[2]))
		return run, true
	}
	return Run{}, false
}

// File implements [Family].
func (f Faber) File(run Run, rel string) (File, bool) {
	if run.Class == FaberSuffix {
		ok := path.Join(run.Dir, rel) == run.State
		return File{Kind: KindStateFile, Writer: Upstream, Limit: LimitState}, ok
	}
	if file, ok := requestFile(rel); ok {
		return file, true
	}
	if parts := strings.Split(rel, "/"); len(parts) == 3 && requestDir(path.Dir(rel)) && parts[2] == "posted.json" {
		return File{Kind: FaberPosted, Writer: Anyone, Limit: LimitJSON, Request: parts[1]}, true
	}
	switch rel {
	case "state.json":
		return File{Kind: KindStateFile, Writer: Shared, Limit: LimitState}, true
	case "metadata.json":
		return File{Kind: FaberMetadata, Writer: Upstream, Limit: LimitJSON}, true
	case "cancel.json":
		return File{Kind: FaberCancel, Writer: Reviewer, Limit: LimitJSON}, true
	case "issue.json":
		return File{Kind: FaberIssue, Writer: Agent, Limit: LimitJSON}, true
	case "resume.md":
		return File{Kind: FaberResume, Writer: Placet, Format: Text, Limit: LimitText}, true
	case "context.md":
		return File{Kind: FaberContext, Writer: Placet, Format: Text, Limit: LimitText}, true
	case "events/.next-id":
		return File{Kind: FaberNextID, Writer: Shared, Format: Text, Limit: 64, Locked: true}, true
	}
	if m := faberAction.FindStringSubmatch(rel); m != nil && run.Class == FaberRun {
		return File{Kind: m[1], Writer: Placet, Limit: LimitJSON}, true
	}
	if name, ok := strings.CutPrefix(rel, "events/"); ok && !strings.Contains(name, "/") {
		return faberEventFile(name)
	}
	if strings.HasSuffix(rel, ProblemSuffix) && !strings.HasPrefix(path.Base(rel), ".") && f.Descend(run, path.Dir(rel)) {
		return File{Kind: KindProblem, Writer: Placet, Format: Text, Limit: LimitText}, true
	}
	return File{}, false
}

func faberEventFile(name string) (File, bool) {
	if n, _, ok := FaberEventName(name); ok && n > 0 {
		return File{Kind: FaberEvent, Writer: Shared, Limit: LimitJSON, Once: true}, true
	}
	if strings.HasSuffix(name, ".json") && !Noise(name) {
		return File{Kind: FaberBadEvent, Writer: Shared, Limit: LimitJSON}, true
	}
	return File{}, false
}

// MostFaberEvents is the greatest number that an event can have: that of nine
// digits.
const MostFaberEvents = 999_999_999

// FaberEventName splits the name of an event file into its number and type.
// The number is 0 for a name like 000-x.json, which no event may have.
func FaberEventName(name string) (number int, typ string, ok bool) {
	// By hand: a run may have ten thousand events, and each look asks this of all.
	digits, rest, ok := strings.Cut(name, "-")
	typ, json := strings.CutSuffix(rest, ".json")
	if !ok || !json || len(digits) < 3 || len(digits) > 9 || !allIn(digits, '0', '9', '0') || typ == "" || !allIn(typ, 'a', 'z', '_') {
		return 0, "", false
	}
	for _, c := range digits {
		number = number*10 + int(c-'0')
	}
	return number, typ, true
}

// allIn reports whether a text has only bytes from first to last, and other.
func allIn(text string, first, last, other byte) bool {
	for i := range len(text) {
		if c := text[i]; (c < first || c > last) && c != other {
			return false
		}
	}
	return true
}

// Descend implements [Family].
func (f Faber) Descend(run Run, rel string) bool {
	if run.Class == FaberSuffix {
		return rel == "."
	}
	if rel == "." || rel == "events" || requestDir(rel) {
		return true
	}
	return run.Class == FaberRun && (rel == "actions" || strings.HasPrefix(rel, "actions/resume-r") && strings.Count(rel, "/") == 1)
}
