package templates

// FormParts are the parts that every form shows, whichever its template.
type FormParts struct {
	// First is the first line: the comment that names request and digest.
	First string
	// Title is above the form, or above the questions of a block.
	Title string
	Facts []FormFact
	// Lines are further lines of Markdown, already quoted.
	Lines     []string
	Artifacts []FormArtifact
	// Texts are the texts of files that an answer is bound to.
	Texts []FormText
	// Context is a JSON text, "" for none.
	Context string
	// AnswerMark and CommentMark are the comments by which the reader finds the two
	// parts of an answer.
	AnswerMark, CommentMark string
	// Options and Items are whole task-list items, already escaped, and Submit is the
	// item that sends the answer.
	Options, Items []string
	Submit         string
}

// FormText is the text of a file, or its first and last lines and how many lines are
// between them. A text that may be changed is between two marks.
type FormText struct {
	Title, Text, Between, Tail string
	Begin, End                 string
}

// FormData is the data of the template kernel/form: a request as a person reads and
// answers it.
type FormData struct {
	FormParts
	// Prompt is the question, unchanged.
	Prompt string
	// FreeText says that the comment is the answer, Several that some options may be
	// ticked together.
	FreeText, Several bool
	// ItemsAsk is the line above the items.
	ItemsAsk string
}

// BlockData is the data of the template kernel/block: a request whose form has a text
// of its own, with three questions, instead of the prompt and the headings. Its
// options and items are indented.
type BlockData struct {
	FormParts
	// Head is the line above the facts of the text, Shown.
	Head                             string
	Shown                            []FormFact
	OptionsAsk, ItemsAsk, CommentAsk string
}

// FormFact is one labelled line of a form.
type FormFact struct{ Label, Value string }

// FormArtifact is a file that the reviewer is asked to look at.
type FormArtifact struct {
	Path string
	// Link is a link's target, percent-encoded.
	Link string
	// State says which bytes were shown: a digest or the word for missing.
	State string
}

// ResumeData is the data of the template faber/resume: resume.md, the instruction
// with which an agent continues.
type ResumeData struct {
	RunID    string
	Revision int
	Phase    string
	Step     string
	// Feedback is the response on one line, "none" if there is none.
	Feedback string
	// Action is start, continue, revise, retry or skip.
	Action string
	// Position is "at" or "after" the step.
	Position string
	// Refused is the sentence that says that the reviewer did not agree, as Markdown,
	// "" if they did.
	Refused string
	// Stop is the sentence that says to stop and ask, "" if there is no reason to.
	Stop string
	// Comment is the reviewer's comment, unchanged.
	Comment string
}

// IssueCommentData is the data of the template faber/issue-comment: the text that shows a
// request on the issue of its run. Its texts cannot look like other parts of the comment.
type IssueCommentData struct {
	RunID string
	// Short is the last part of the run's id.
	Short     string
	RequestID string
	// Phase, Step, Requested, Changed and Summary are "" if there is nothing to show. Changed
	// names the files that have changed since an earlier comment.
	Phase     string
	Step      string
	Requested string
	Changed   string
	Prompt    string
	Summary   string
	Artifacts []IssueArtifact
	Options   []IssueOption
	// Approves is true if the word approve is an option; First is the first option, "" for an
	// answer in words.
	Approves bool
	First    string
}

// IssueArtifact is a file that the comment names.
type IssueArtifact struct {
	Shown   string
	Missing bool
}

// IssueOption is a choice with its number.
type IssueOption struct {
	Number int
	Name   string
	Says   string
}

// IssueReplyData is the data of the template faber/reply: what placet answers to a comment
// on an issue. Exactly one of Refused, Cancelled and Lines is set.
type IssueReplyData struct {
	ID string // of the comment
	// Refused says why the comment does not count, and Options what may be answered, "" for
	// nothing.
	Refused string
	Options string
	// Cancelled is the run that the comment cancels.
	Cancelled string
	Lines     []IssueReplyLine
}

// IssueReplyLine is a fact about the run.
type IssueReplyLine struct {
	Name  string
	Value string
}

// ContextData is the data of the template faber/context: context.md.
type ContextData struct {
	RunID string
	// Head is the first line: a comment that says what the file was made of.
	Head     string
	Sections []ContextSection
}

// ContextSection is one part of a run's context.
type ContextSection struct {
	Title string
	// Severity is info, warning, error or critical if the part is missing or bad, ""
	// if it is good.
	Severity string
	// Body is Markdown; texts from files are already quoted in it.
	Body string
}

// OptimizerLevel10Data is the data of the template optimizer/level10: the report of a
// cycle of level 10. All texts are Markdown on one line, already quoted; a section
// without lines says that there are none.
type OptimizerLevel10Data struct {
	Summary   []OptimizerLine
	Metrics   []OptimizerRow
	Anomalies []string
	// Last is the comment that ends the report.
	Last string
}

// OptimizerLevel20Data is the data of the template optimizer/level20: the report of a
// cycle of level 20.
type OptimizerLevel20Data struct {
	Summary                                 []OptimizerLine
	Trends, Patterns, Outliers, Suggestions []string
	Last                                    string
}

// OptimizerLevel30Data is the data of the template optimizer/level30: the report of a
// cycle of level 30.
type OptimizerLevel30Data struct {
	Summary []OptimizerLine
	KPI     []OptimizerRow
	// Short lists what needs improvement, High and Normal the suggestions by
	// priority, Next the recommendation for the next cycle.
	Short, High, Normal, Next []string
	Last                      string
}

// OptimizerLine is a line of a report's summary, with the lines below it.
type OptimizerLine struct {
	Line  string
	Below []string
}

// OptimizerRow is a metric: its value, the value that it is compared with, and the
// result.
type OptimizerRow struct{ Name, Current, Against, Status string }

// AskAnswerData is the data of the template ask/answer: the outcome of a question.
type AskAnswerData struct {
	// Title is the question's first line, Line the answer and who gave it.
	Title, Line string
	Comment     string
	// Artifacts are paths with their digests.
	Artifacts []FormFact
}

// PalPageData is the data of the template pal/page: a text for workers or about a
// port.
type PalPageData struct {
	// First names the document.
	First, Title string
	Facts        []FormFact
	Sections     []PalSection
}

// PalSection is a heading with Markdown below it, already quoted.
type PalSection struct{ Title, Body string }
