package layout

import (
	"fmt"
	"net/url"
	"path"
	"sort"
	"strings"

	"placet/internal/lazyregexp"
)

// FaberRoots are the default roots: the primary one, then the older one.
var FaberRoots = []string{".fractary/faber/runs", ".fractary/plugins/faber/runs"}

// faberPlans is the folder in which a later upstream keeps runs by plan; placet
// never serves them.
const faberPlans = ".fractary/runs"

// Classes of FABER runs.
const (
	// FaberRun is <root>/<org>/<project>/<uuid>.
	FaberRun = ""
	// FaberShadowed is the same in a later root, if the primary root also has a
	// run with this id.
	FaberShadowed = "shadowed"
	// FaberPlan is a folder of a plan layout that holds a state.json.
	FaberPlan = "plan"
	// FaberSuffix is a plan layout's state-<suffix>.json, which is only listed.
	FaberSuffix = "suffix"
	// FaberCoordinator is a folder in [FaberCoordinators].
	FaberCoordinator = "coordinator"
)

// Kinds of FABER files, besides the files of a request folder.
const (
	FaberEvent    = "event"
	FaberNextID   = "next-id"
	FaberResume   = "resume"
	FaberContext  = "context"
	FaberPosted   = "posted"
	FaberIssue    = "issue"
	FaberText     = "issue-comment" // the text of a request for its issue
	FaberComment  = "comment"       // what somebody wrote on the issue
	FaberConsumed = "comment-receipt"
	FaberReply    = "comment-reply"
	FaberAgain    = "again"
	FaberCancel   = "cancel"
	FaberAttempt  = "attempt"
	FaberOutcome  = "outcome"
	FaberBadEvent = "bad-event"
	FaberGate     = "gate"      // an agent asks whether it may go on
	FaberPass     = "gate-pass" // placet's reply
)

var (
	faberWord = lazyregexp.New(`^[a-z0-9_-]+$`)
	faberUUID = lazyregexp.New(`^[a-f0-9-]{36}$`)
	faberPart = lazyregexp.New(`^state-[A-Za-z0-9._-]+\.json$`)
	// faberFolder matches the names of plan folders, which placet shows and looks
	// up, but never makes.
	faberFolder = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,254}$`)
	// faberAction matches the folders of commands: the first attempt, and those that a
	// person permitted after it.
	faberAction = lazyregexp.New(`^(resume-r\d+(\.[0-9]{1,2})?|(post|reply)-[A-Za-z0-9][A-Za-z0-9._-]*)$`)
	faberAgain  = lazyregexp.New(`^again-[0-9]{1,2}\.json$`)
	faberText   = lazyregexp.New(`^issue-comment(-[0-9a-f]{8})?\.md$`)
	faberPosted = lazyregexp.New(`^posted(-[0-9a-f]{8})?\.json$`)
)

// FaberComments is the folder of a run with what was written on its issue.
const FaberComments = "comments"

// The ends of the names of the files about a comment.
const (
	faberReceiptEnd = ".receipt.json"
	faberPostedEnd  = ".posted.json"
	faberReplyEnd   = ".reply.md"
)

// FaberCommentFile returns the path of a file about a comment in a run's folder: end is
// "json", "receipt.json", "reply.md" or "posted.json".
func FaberCommentFile(id, end string) string { return FaberComments + "/" + id + "." + end }

// isComment reports whether a name is that of a comment.
func isComment(name string) bool {
	id, ok := strings.CutSuffix(name, ".json")
	return ok && IsRequestID(id) && !strings.HasSuffix(name, faberReceiptEnd) && !strings.HasSuffix(name, faberPostedEnd)
}

// endsAs returns a placeholder for the names of a comment's id and an end.
func endsAs(end string) func(string) bool {
	return func(name string) bool {
		id, ok := strings.CutSuffix(name, end)
		return ok && IsRequestID(id)
	}
}

// limitComment bounds the file of a comment, in bytes.
const limitComment = 256 << 10

// faberFiles are the files of a run, besides requests and notes; faberPlanFiles
// are the files of a plan layout, in which placet runs nothing.
var (
	faberFiles = newTable(append(faberPatterns,
		pattern{"actions/{action}/attempt.json", jsonBy(FaberAttempt, Placet)},
		pattern{"actions/{action}/outcome.json", jsonBy(FaberOutcome, Placet)},
		pattern{"actions/{action}/{again}", once(jsonBy(FaberAgain, Reviewer))},
		pattern{"gates/{gate}", jsonBy(FaberGate, Agent)},
		pattern{"gates/{gate-pass}", jsonBy(FaberPass, Placet)},
		pattern{"comments/{comment}", once(File{Kind: FaberComment, Writer: Anyone, Limit: limitComment})},
		pattern{"comments/{comment-receipt}", once(jsonBy(FaberConsumed, Placet))},
		pattern{"comments/{comment-reply}", textBy(FaberReply, Placet)},
		pattern{"comments/{comment-posted}", once(jsonBy(FaberPosted, Either))},
	)...)
	faberPlanFiles = newTable(faberPatterns...)
	faberPatterns  = []pattern{
		{"state.json", File{Kind: KindStateFile, Writer: Shared, Limit: LimitState}},
		{"metadata.json", jsonBy("metadata", Upstream)},
		{"cancel.json", jsonBy(FaberCancel, Reviewer)},
		{"issue.json", jsonBy(FaberIssue, Agent)},
		{"resume.md", textBy(FaberResume, Placet)},
		{"context.md", textBy(FaberContext, Placet)},
		{"events/.next-id", File{Kind: FaberNextID, Writer: Shared, Format: Text, Limit: 64, Locked: true}},
		{"events/{event}", counted(once(jsonBy(FaberEvent, Shared)))},
		{"events/{json}", jsonBy(FaberBadEvent, Shared)},
		{"requests/{request}/{posted}", jsonBy(FaberPosted, Either)},
		{"requests/{request}/{issue-comment}", textBy(FaberText, Placet)},
	}
)

// files returns the table of a run.
func (f Faber) files(run Run) *table {
	if run.Class == FaberRun {
		return faberFiles
	}
	return faberPlanFiles
}

// faberNever are names below the primary root that look like runs but never are
// runs.
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
	return append(append([]string(nil), roots...), faberPlans, FaberCoordinators)
}

func (f Faber) runRoots() []string {
	if len(f.Folders) == 0 {
		return FaberRoots
	}
	return f.Folders
}

// Runs implements [Family].
func (f Faber) Runs(ls Lister) ([]Run, error) {
	w := walker{ls: ls}
	var runs []Run
	seen := map[string]bool{}
	for _, root := range f.runRoots() {
		for _, r := range faberIn(&w, root) {
			if r.Class == FaberRun && seen[r.ID] {
				r.Class, r.ID = FaberShadowed, r.Dir
			}
			seen[r.ID] = true
			runs = append(runs, r)
		}
	}
	for _, top := range faberFolders(w.entries(faberPlans)) {
		dir := path.Join(faberPlans, top)
		runs = append(runs, planRuns(dir, w.entries(dir))...)
	}
	runs = append(runs, coordinatorRuns(&w)...)
	sort.Slice(runs, func(i, j int) bool { return runs[i].State < runs[j].State })
	return runs, w.err
}

// faberIn finds the runs below a root: the runs of projects, and plan layouts one
// or two levels below the root.
func faberIn(w *walker, root string) (runs []Run) {
	for _, top := range faberFolders(w.entries(root)) {
		dir := path.Join(root, top)
		entries := w.entries(dir)
		runs = append(runs, planRuns(dir, entries)...)
		for _, second := range faberFolders(entries) {
			project := faberWord.MatchString(top) && faberWord.MatchString(second)
			below := path.Join(dir, second)
			for _, e := range w.entries(below) {
				switch {
				case !e.Dir && e.Name == "state.json":
					runs = append(runs, planRun(below))
				case project && e.Dir && faberUUID.MatchString(e.Name):
					runs = append(runs, faberRun(path.Join(below, e.Name)))
				}
			}
		}
	}
	return runs
}

// faberFolders returns the names that may be part of a run's path.
func faberFolders(entries []Entry) (names []string) {
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

// faberRun returns the run at a clean path of three parts below a root. Its
// strings share memory, because there may be a hundred thousand runs.
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

// At implements [Family]. It recognizes org/project/uuid runs and coordinators by
// their path alone; a plan layout is known only from its listing.
func (f Faber) At(p string) (Run, bool) {
	if rel, ok := strings.CutPrefix(p, FaberCoordinators+"/"); ok {
		id, _, _ := strings.Cut(rel, "/")
		return coordinatorRun(id), faberCoordinator.MatchString(id)
	}
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
	if run.Class == FaberCoordinator {
		return faberCoordinatorFiles.lookup(rel)
	}
	if run.Class == FaberSuffix {
		ok := path.Join(run.Dir, rel) == run.State
		return File{Kind: KindStateFile, Writer: Upstream, Limit: LimitState}, ok
	}
	if file, ok := f.files(run).document(rel); ok {
		return file, true
	}
	if name := path.Base(rel); strings.HasSuffix(name, ProblemSuffix) && name[0] != '.' && path.Dir(rel) != "events" && f.Descend(run, path.Dir(rel)) {
		return textBy(KindProblem, Placet), true
	}
	return File{}, false
}

// MostFaberEvents is the greatest number of an event: nine digits.
const MostFaberEvents = 999_999_999

// FaberEventName splits the name of an event file into its number and type.
// The number is 0 for a name like 000-x.json, which no event may have.
func FaberEventName(name string) (number int, typ string, ok bool) {
	// No regexp: a run may have ten thousand events, and each look calls this for
	// all.
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

// FaberGates is the folder of a run in which agents ask whether they may go on.
const FaberGates = "gates"

// faberPass ends the names of placet's replies. No call ends like that.
const faberPass = ".pass.json"

// FaberGateFiles returns the paths, in a run's folder, of an agent's call about a phase or, if
// step is not empty, about a step of it, and of placet's reply.
func FaberGateFiles(phase, step string) (call, reply string) {
	name := FaberGates + "/" + phase
	if step != "" {
		name += "." + escapeStep(step)
	}
	return name + ".json", name + faberPass
}

// FaberGateName splits the name of a call into the phase and the step that it is about. step is
// empty for a call about a whole phase.
func FaberGateName(name string) (phase, step string, ok bool) {
	base, json := strings.CutSuffix(name, ".json")
	if !json || strings.HasSuffix(name, faberPass) || name[0] == '.' {
		return "", "", false
	}
	phase, code, has := strings.Cut(base, ".")
	step, err := url.PathUnescape(code)
	return phase, step, err == nil && faberWord.MatchString(phase) && has == (step != "")
}

// isFaberCall and isFaberReply report whether a name is that of a call or of a reply.
func isFaberCall(name string) bool { _, _, ok := FaberGateName(name); return ok }

func isFaberReply(name string) bool {
	base, ok := strings.CutSuffix(name, faberPass)
	return ok && isFaberCall(base+".json")
}

// escapeStep writes a step's id as part of a file's name: bytes other than letters, digits, '.', '_'
// and '-' as % and two hex digits, and also the end of an id that looks like that of a reply.
func escapeStep(id string) string {
	var b strings.Builder
	reply := strings.HasSuffix("."+id, strings.TrimSuffix(faberPass, ".json"))
	for i := range len(id) {
		c := id[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-'
		if !letter || reply && i == len(id)-1 {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// allIn reports whether a text consists of bytes from first to last, and of other.
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
	switch run.Class {
	case FaberSuffix:
		return rel == "."
	case FaberCoordinator:
		return faberCoordinatorFiles.folder(rel)
	}
	return f.files(run).descends(rel)
}
