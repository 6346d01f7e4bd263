package layout

import (
	"path"
	"strings"
	"sync"

	"placet/internal/lazyregexp"
)

// pattern names the files of one kind: a path relative to the run's folder, with parts
// that may be placeholders; see placeholders.
type pattern struct {
	path string
	file File
}

// placeholders are the parts of a pattern that match several names, each with the test
// for these names.
var placeholders = map[string]func(name string) bool{
	"{request}":    IsRequestID,
	"{form}":       formView.MatchString,
	"{edit}":       askEdit.MatchString,
	"{copy}":       isResponseCopy,
	"{checkpoint}": IsAFLCheckpoint,
	"{n}":          func(name string) bool { _, ok := parseCount(name); return ok },
	"{note}": func(name string) bool {
		return len(name) > len(ProblemSuffix) && strings.HasSuffix(name, ProblemSuffix)
	},
	"{file}":            isOrdinary,
	"{json}":            func(name string) bool { return isOrdinary(name) && strings.HasSuffix(name, ".json") },
	"{review}":          isNumbered("review"),
	"{worker-run}":      isNumbered("worker-run"),
	"{oracle-run}":      isNumbered("oracle-run"),
	"{review-run}":      isNumbered("review-run"),
	"{validation}":      isNumbered("validation"),
	"{verdict}":         isNumbered("verdict"),
	"{event}":           func(name string) bool { n, _, ok := FaberEventName(name); return ok && n > 0 },
	"{action}":          faberAction.MatchString,
	"{again}":           faberAgain.MatchString,
	"{gate}":            isFaberCall,
	"{gate-pass}":       isFaberReply,
	"{posted}":          faberPosted.MatchString,
	"{issue-comment}":   faberText.MatchString,
	"{comment}":         isComment,
	"{comment-receipt}": endsAs(faberReceiptEnd),
	"{comment-reply}":   endsAs(faberReplyEnd),
	"{comment-posted}":  endsAs(faberPostedEnd),
	"{aggregation}":     faberAggregation.MatchString,
	"{prompt}":          faberPrompt.MatchString,
	"{prompt-reply}":    func(name string) bool { return isOrdinary(name) && faberPromptReply.MatchString(name) },
	"{round}":           faberRound.MatchString,
	"{round-note}":      faberRoundNote.MatchString,
	"{draft}":           numbered("v", ".md"),
	"{intake}":          isNemawashiIntake,
	"{part-file}":       nemawashiPart.MatchString,
	"{job}":             nemawashiJob.MatchString,
	"{send-attempt}":    numbered("attempt-", ".json"),
	"{send-outcome}":    numbered("outcome-", ".json"),
	"{post}":            slackPost.MatchString,
	"{row}":             numbered("", ".json"),
	"{attempt}": func(name string) bool {
		_, _, outcome, ok := OptimizerAttempt(optimizerAttempts + name)
		return ok && !outcome
	},
	"{outcome}": func(name string) bool {
		_, _, outcome, ok := OptimizerAttempt(optimizerAttempts + name)
		return ok && outcome
	},
	"{port}":      IsPalID,
	"{sent}":      isPalSent,
	"{delivered}": isPalReceipt(palDelivered),
	"{processed}": isPalReceipt(palProcessed),
	"{result}":    numbered("result-", ".json"),
	"{feedback}":  numbered("feedback-", ".json"),
	"{filed}":     numbered("escalation-", ".json"),
	"{started}":   isPalStarted("attempt"),
	"{ended}":     isPalStarted("outcome"),
	"{inbox}":     palInbox.MatchString,
	"{esc}":       palEscalation.MatchString,
	"{misnamed}":  func(name string) bool { return isOrdinary(name) && palMisnamed.MatchString(name) },
}

// isOrdinary reports whether a name is neither noise nor the name of a problem note.
func isOrdinary(name string) bool {
	return name != "" && !Noise(name) && !strings.HasSuffix(name, ProblemSuffix)
}

// isNumbered returns a placeholder for the names of a stem; see [AFLNumber].
func isNumbered(stem string) func(string) bool {
	return func(name string) bool {
		of, _, ok := AFLNumber(name)
		return ok && of == stem
	}
}

// table says what the files of a run's folder are. It is a tree that is made when it is
// first used.
type table struct{ root func() *node }

// node is a part of the patterns.
type node struct {
	file  File
	leaf  bool             // a pattern ends here
	names map[string]*node // by the name of the next part
	rest  []branch         // if no name matches, in the order of the patterns
}

// branch is the subtree below a placeholder.
type branch struct {
	placeholder string
	node        *node
}

func newTable(patterns ...pattern) *table {
	return &table{sync.OnceValue(func() *node {
		root := &node{}
		for _, p := range patterns {
			n := root
			for part := range strings.SplitSeq(p.path, "/") {
				n = n.child(part)
			}
			n.file, n.leaf = p.file, true
		}
		return root
	})}
}

// child returns the node for a part of a pattern, and makes it if it is missing.
func (n *node) child(part string) *node {
	if c := n.names[part]; c != nil {
		return c
	}
	for _, b := range n.rest {
		if b.placeholder == part {
			return b.node
		}
	}
	c := &node{}
	if placeholders[part] != nil {
		n.rest = append(n.rest, branch{part, c})
		return c
	}
	if n.names == nil {
		n.names = map[string]*node{}
	}
	n.names[part] = c
	return c
}

// find returns the node of a path, nil if no pattern begins like it, and the request
// that the path names.
func (n *node) find(rel string) (found *node, request string) {
	name, rest, more := strings.Cut(rel, "/")
	if found = n.names[name]; found == nil {
		for _, b := range n.rest {
			if !placeholders[b.placeholder](name) {
				continue
			}
			if found = b.node; b.placeholder == "{request}" {
				request = name
			}
			break
		}
	}
	if found == nil || !more {
		return found, request
	}
	found, below := found.find(rest)
	return found, request + below
}

// lookup returns what the file at a path is.
func (t *table) lookup(rel string) (File, bool) {
	node, request := t.root().find(rel)
	if node == nil || !node.leaf {
		return File{}, false
	}
	f := node.file
	f.Request = request
	return f, true
}

// folder reports whether a path is a folder that can contain files of the table.
func (t *table) folder(rel string) bool {
	if rel == "." {
		return true
	}
	node, _ := t.root().find(rel)
	return node != nil && !node.leaf
}

// document returns what a file of a run is: one of the family's own files, or a file of
// a request's folder.
func (t *table) document(rel string) (File, bool) {
	if f, ok := t.lookup(rel); ok {
		return f, true
	}
	return requestFiles.lookup(rel)
}

// documentOrNote is document, and also knows the problem notes beside the family's own
// files.
func (t *table) documentOrNote(rel string) (File, bool) {
	if f, ok := t.document(rel); ok {
		return f, true
	}
	of, isNote := strings.CutSuffix(rel, ProblemSuffix)
	if f, own := t.lookup(of); !isNote || !own || f.Kind == KindProblem {
		return File{}, false
	}
	return textBy(KindProblem, Placet), true
}

// descends reports whether a path is a folder that can contain documents of a run.
func (t *table) descends(rel string) bool { return t.folder(rel) || requestFiles.folder(rel) }

func jsonBy(kind string, writer Writer) File {
	return File{Kind: kind, Writer: writer, Limit: LimitJSON}
}

func textBy(kind string, writer Writer) File {
	return File{Kind: kind, Writer: writer, Format: Text, Limit: LimitText}
}

// once marks a file as written once.
func once(f File) File {
	f.Once = true
	return f
}

// counted marks a file as having the next number of its folder in its name.
func counted(f File) File {
	f.Numbered = true
	return f
}

// walker lists folders and keeps the first error; afterwards every folder is empty.
type walker struct {
	ls  Lister
	err error
}

func (w *walker) entries(dir string) []Entry {
	if w.err != nil {
		return nil
	}
	entries, err := w.ls(dir)
	w.err = err
	return entries
}

// folders returns the names of the folders in a folder that are not hidden.
func (w *walker) folders(dir string) (names []string) {
	for _, e := range w.entries(dir) {
		if e.Dir && !strings.HasPrefix(e.Name, ".") {
			names = append(names, e.Name)
		}
	}
	return names
}

// has reports whether a folder has an entry with one of some names.
func (w *walker) has(dir string, names ...string) bool {
	for _, e := range w.entries(dir) {
		for _, name := range names {
			if e.Name == name {
				return true
			}
		}
	}
	return false
}

// RequestsDir is the folder in a run's folder that holds its requests.
const RequestsDir = "requests"

// VoidFile is the name of the file in a request's folder that lists the answers that
// never count.
const VoidFile = "void.json"

// Kinds of files in a request folder, the same for all families.
const (
	KindRequest      = "request"
	KindForm         = "form"
	KindResponse     = "response"
	KindResponseCopy = "response-copy" // a synchroniser's second answer
	KindReceipt      = "receipt"
	KindVoid         = "void" // the answers that never count
)

// requestID matches the request ids that can be names of folders.
var requestID = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// formView matches the name of a form that shows a later view of the artifacts.
var formView = lazyregexp.New(`^form-[0-9a-f]{8}\.md$`)

// IsRequestID reports whether a string may name a request. The string becomes a folder,
// so it cannot contain a slash or begin with a dot.
func IsRequestID(s string) bool { return requestID.MatchString(s) }

// IsRequestDir reports, by its path, whether a folder is that of one request.
func IsRequestDir(dir string) bool { return path.Base(path.Dir(dir)) == RequestsDir }

// RequestPath returns the path of a file in a request's folder.
func RequestPath(runDir, id, name string) string {
	return path.Join(runDir, RequestsDir, id, name)
}

// FormView returns the name of the form for a view of the artifacts, by the
// 64 hex digits of its digest.
func FormView(hex string) string { return "form-" + hex[:8] + ".md" }

// isResponseCopy reports whether a name is that of a synchroniser's second answer.
func isResponseCopy(name string) bool {
	return strings.HasPrefix(name, "response") && strings.HasSuffix(name, ".json") && ConflictCopy(name)
}

// SlackDir is the subfolder of a request's folder for what was sent to Slack about it.
// SlackOutcome is the kind of the documents that say how that ended, and SlackNote of
// those with text for a thread.
const (
	SlackDir     = "slack"
	SlackOutcome = "slack-outcome"
	SlackNote    = "slack-note"
)

// slackPost matches the names of the subfolders of SlackDir, one for each thing that is
// sent once.
var slackPost = lazyregexp.New(`^(ask|close|result-[a-z0-9-]{1,40}|note-[0-9a-f]{12})$`)

// requestFiles are the files that every family has in a request's folder.
var requestFiles = newTable(
	pattern{"requests/{request}/request.json", jsonBy(KindRequest, Placet)},
	pattern{"requests/{request}/response.json", jsonBy(KindResponse, Anyone)},
	pattern{"requests/{request}/receipt.json", jsonBy(KindReceipt, Placet)},
	pattern{"requests/{request}/" + VoidFile, jsonBy(KindVoid, Placet)},
	pattern{"requests/{request}/form.md", textBy(KindForm, Reviewer)},
	pattern{"requests/{request}/{form}", textBy(KindForm, Reviewer)},
	pattern{"requests/{request}/problem.md", textBy(KindProblem, Placet)},
	pattern{"requests/{request}/request.json" + ProblemSuffix, textBy(KindProblem, Placet)},
	pattern{"requests/{request}/slack/{post}/{send-attempt}", once(jsonBy("slack-attempt", Placet))},
	pattern{"requests/{request}/slack/{post}/{send-outcome}", once(jsonBy(SlackOutcome, Placet))},
	pattern{"requests/{request}/slack/{post}/note.json", jsonBy(SlackNote, Anyone)},
	pattern{"requests/{request}/{copy}", jsonBy(KindResponseCopy, Anyone)},
)

// folders describes a family whose runs are the folders in one root.
type folders struct {
	family, root string
	isID         func(string) bool
}

// find returns the runs. It lists only the root, so every folder with the name of a run
// is one; its documents tell whether anything runs there.
func (f folders) find(ls Lister) (runs []Run, err error) {
	w := walker{ls: ls}
	for _, name := range w.folders(f.root) {
		if f.isID(name) {
			runs = append(runs, f.run(name))
		}
	}
	return runs, w.err
}

func (f folders) run(id string) Run {
	dir := path.Join(f.root, id)
	return Run{Family: f.family, ID: id, Dir: dir, State: path.Join(dir, "state.json")}
}

// misplaced returns the folders in the root whose names no run can have; first is the
// file that somebody writes to begin a run.
func (f folders) misplaced(ls Lister, id *lazyregexp.Regexp, first string) (all []Misplaced, err error) {
	w := walker{ls: ls}
	for _, name := range w.folders(f.root) {
		if dir := path.Join(f.root, name); !f.isID(name) {
			why := misses("layout.name", name, id)
			if id.MatchString(name) {
				why = misses("layout.name.looks", name, nil)
			}
			all = append(all, Misplaced{dir, why, w.has(dir, first)})
		}
	}
	return all, w.err
}

// at returns the run to which a path belongs.
func (f folders) at(p string) (Run, bool) {
	rel, ok := strings.CutPrefix(p, f.root+"/")
	id, _, _ := strings.Cut(rel, "/")
	if !ok || !f.isID(id) {
		return Run{}, false
	}
	return f.run(id), true
}
