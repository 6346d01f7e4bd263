package layout

import (
	"path"
	"regexp"
	"strings"
)

// RequestsDir is the folder of a run that holds its requests.
const RequestsDir = "requests"

// Kinds of files in a request folder, the same for all families.
const (
	KindRequest      = "request"
	KindForm         = "form"
	KindResponse     = "response"
	KindResponseCopy = "response-copy" // a synchroniser's second answer
	KindReceipt      = "receipt"
)

// requestID is what a request id must look like to be a folder's name.
var requestID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// formView matches the form that stands for a later view of the artifacts.
var formView = regexp.MustCompile(`^form-[0-9a-f]{8}\.md$`)

// IsRequestID reports whether a string may name a request: it becomes a
// folder, so it can hold no slash and cannot begin with a dot.
func IsRequestID(s string) bool { return requestID.MatchString(s) }

// RequestPath returns the path of a file in a request's folder.
func RequestPath(runDir, id, name string) string {
	return path.Join(runDir, RequestsDir, id, name)
}

// FormView returns the name of the form for a view of the artifacts, by the
// 64 hex digits of its digest.
func FormView(hex string) string { return "form-" + hex[:8] + ".md" }

// requestFile says what a path relative to the run's folder is, if it lies in
// a request folder and is one of the files that every family has there.
func requestFile(rel string) (File, bool) {
	parts := strings.Split(rel, "/")
	if len(parts) != 3 || parts[0] != RequestsDir || !IsRequestID(parts[1]) {
		return File{}, false
	}
	f := File{Request: parts[1], Limit: LimitJSON}
	switch name := parts[2]; {
	case name == "request.json":
		f.Kind, f.Writer = KindRequest, Placet
	case name == "response.json":
		f.Kind, f.Writer = KindResponse, Anyone
	case name == "receipt.json":
		f.Kind, f.Writer = KindReceipt, Placet
	case name == "form.md" || formView.MatchString(name):
		f.Kind, f.Writer, f.Format, f.Limit = KindForm, Reviewer, Text, LimitText
	case name == "problem.md" || name == "request.json"+ProblemSuffix:
		f.Kind, f.Writer, f.Format, f.Limit = KindProblem, Placet, Text, LimitText
	case strings.HasPrefix(name, "response") && strings.HasSuffix(name, ".json") && ConflictCopy(name):
		f.Kind, f.Writer = KindResponseCopy, Anyone
	default:
		return File{}, false
	}
	return f, true
}

// requestDir reports whether a folder of the run's folder is the requests
// folder or one request's.
func requestDir(rel string) bool {
	parts := strings.Split(rel, "/")
	return parts[0] == RequestsDir && (len(parts) == 1 || len(parts) == 2 && IsRequestID(parts[1]))
}
