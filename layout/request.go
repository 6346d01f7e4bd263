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

// isResponseCopy reports whether a name is that of a synchroniser's second answer.
func isResponseCopy(name string) bool {
	return strings.HasPrefix(name, "response") && strings.HasSuffix(name, ".json") && ConflictCopy(name)
}

// requestFiles are the files that every family has in a request's folder.
var requestFiles = newTable(
	pattern{"requests/{request}/request.json", jsonBy(KindRequest, Placet)},
	pattern{"requests/{request}/response.json", jsonBy(KindResponse, Anyone)},
	pattern{"requests/{request}/receipt.json", jsonBy(KindReceipt, Placet)},
	pattern{"requests/{request}/form.md", textBy(KindForm, Reviewer)},
	pattern{"requests/{request}/{form}", textBy(KindForm, Reviewer)},
	pattern{"requests/{request}/problem.md", textBy(KindProblem, Placet)},
	pattern{"requests/{request}/request.json" + ProblemSuffix, textBy(KindProblem, Placet)},
	pattern{"requests/{request}/{copy}", jsonBy(KindResponseCopy, Anyone)},
)
