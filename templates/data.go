package templates

// FormParts are what every form shows, whichever its template.
type FormParts struct {
	// First is the first line: the comment that names request and digest.
	First string
	// Title stands above the form, or above the questions of a block.
	Title string
	Facts []FormFact
	// Lines are further lines of Markdown, quoted already.
	Lines     []string
	Artifacts []FormArtifact
	// Context is a JSON text, "" for none.
	Context string
	// AnswerMark and CommentMark are the comments by which the reader finds
	// the two parts of an answer again.
	AnswerMark, CommentMark string
	// Options and Items are whole task-list items, escaped already, and Submit is the
	// one that sends the answer.
	Options, Items []string
	Submit         string
}

// FormData is what the template kernel/form shows: a request as a person
// reads and answers it.
type FormData struct {
	FormParts
	// Prompt is what is asked, as it was found.
	Prompt string
	// FreeText says that the comment is the answer, Several that some options may be
	// ticked together.
	FreeText, Several bool
}

// BlockData is what the template kernel/block shows: a request whose form has a
// text of its own, with three questions, in place of the prompt and the headings. Its
// options and items are indented.
type BlockData struct {
	FormParts
	// Head stands above the facts of the text, Shown.
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

// ResumeData is what the template faber/resume shows: resume.md, the
// instruction by which an agent goes on.
type ResumeData struct {
	RunID    string
	Revision int
	Phase    string
	Step     string
	// Feedback is the response on one line, "none" where there is none.
	Feedback string
	// Action is start, continue, revise, retry or skip.
	Action string
	// Position is "at" or "after" the step.
	Position string
	// Attempt is the number of the attempt, 0 where attempts are not counted.
	Attempt int
	// Result is where the agent writes its result, "" where it writes none.
	Result string
	// Refused is the sentence that says that the reviewer did not agree, as Markdown,
	// "" where they did.
	Refused string
	// Stop is the sentence that says to stop and ask, "" where nothing does.
	Stop string
	// Comment is the reviewer's comment as it was found.
	Comment string
}

// ContextData is what the template faber/context shows: context.md.
type ContextData struct {
	RunID    string
	Revision int
	Sections []ContextSection
}

// ContextSection is one part of a run's context.
type ContextSection struct {
	Title string
	// Severity is info, warning, error or critical where the part is missing
	// or bad, "" where it is there.
	Severity string
	// Body is Markdown; what it takes from files is quoted already.
	Body string
}

// AFLPromptData is what the template afl/prompt shows: prompt.md, by which a
// worker makes an attempt.
type AFLPromptData struct {
	// First is the first line: the comment that names the document.
	First        string
	Checkpoint   string
	Attempt, Max int
	Name, Type   string
	Description  string
	// Dependencies and Prerequisites are lines, as they were found.
	Dependencies, Prerequisites []string
	Criteria                    []string
	Command, Expected, Timeout  string
	// Contracts are sections of Markdown.
	Contracts     []AFLSection
	ContractNames []string
	// Architecture is a link, Feedback Markdown; "—" for none.
	Architecture, Feedback string
	// HandIn says where the hand-in is written, in Markdown; Example is one.
	HandIn, Example string
	// Ways are what a hand-in may say, in Markdown.
	Ways []string
}

// AFLSection is a part of a document below a heading of its own.
type AFLSection struct {
	Title string
	// Body is Markdown; what it takes from files is quoted already.
	Body string
}

// AFLFeedbackData is what the template afl/feedback shows: feedback.md, which
// is written for an attempt that is followed by another one.
type AFLFeedbackData struct {
	First        string
	Checkpoint   string
	Attempt, Max int
	// Facts are the rows of the summary.
	Facts []FormFact
	// Fixes, Examples and Note are Markdown; "—" for none.
	Fixes, Examples string
	// Output are the parts of what the validation wrote.
	Output []AFLSection
	Note   string
}

// AFLAnswersData is what the template afl/answer shows: answer.md, what people
// answered to the worker of an attempt.
type AFLAnswersData struct {
	First      string
	Checkpoint string
	Attempt    int
	Answers    []AFLAnswer
}

// AFLAnswer is a worker's question with a person's answer.
type AFLAnswer struct {
	Number           int
	Question, Answer string
	By, At           string
}

// AFLEscalationData is what the template afl/escalation shows: escalation.md.
type AFLEscalationData struct {
	First string
	// Facts are the rows of the first table.
	Facts   []FormFact
	History []AFLFailure
	// Pattern and Causes are Markdown, and so are the three ways on.
	Pattern, Causes             string
	Design, Environment, Manual string
}

// AFLFailure is a row of an escalation's history.
type AFLFailure struct{ Attempt, Criteria, Cause string }

// AFLReportData is what the template afl/report shows: report.md, what became
// of a session.
type AFLReportData struct {
	First, Session, Status string
	Dates                  []FormFact
	Checkpoints            []AFLCheckpointRow
	Requests               []AFLRequestRow
	// Skipped and Notes are lines of Markdown.
	Skipped []string
	// Review says how the last review stands, "—" where there was none.
	Review string
	Notes  []string
}

// AFLCheckpointRow is what a report says of a checkpoint.
type AFLCheckpointRow struct{ ID, Status, Attempts, Time, Feedback string }

// AFLRequestRow is what a report says of a request.
type AFLRequestRow struct{ At, Type, Checkpoint, Asked, Answer, Comment, By string }

// AFLChangesData is what the template afl/changes shows: changes.md, what a
// person asked to change in the checkpoints.
type AFLChangesData struct {
	First, Session string
	By, At, Digest string
	Comment        string
	Findings       []string
}

// OptimizerLevel10Data is what the template optimizer/level10 shows: the report
// of a cycle of level 10. All texts are Markdown on one line, quoted already;
// a section without lines says that there are none.
type OptimizerLevel10Data struct {
	Summary   []OptimizerLine
	Metrics   []OptimizerRow
	Anomalies []string
	// Last is the comment that ends the report.
	Last string
}

// OptimizerLevel20Data is what the template optimizer/level20 shows: the report
// of a cycle of level 20.
type OptimizerLevel20Data struct {
	Summary                                 []OptimizerLine
	Trends, Patterns, Outliers, Suggestions []string
	Last                                    string
}

// OptimizerLevel30Data is what the template optimizer/level30 shows: the report
// of a cycle of level 30.
type OptimizerLevel30Data struct {
	Summary []OptimizerLine
	KPI     []OptimizerRow
	// Short is what needs improvement, High and Normal are the suggestions by
	// priority, Next is the recommendation for the next cycle.
	Short, High, Normal, Next []string
	Last                      string
}

// OptimizerLine is a line of a report's summary, with those that belong to it.
type OptimizerLine struct {
	Line  string
	Below []string
}

// OptimizerRow is a metric: its value, what it is held against, and how it
// stands.
type OptimizerRow struct{ Name, Current, Against, Status string }

// AskAnswerData is what the template ask/answer shows: what became of a question.
type AskAnswerData struct {
	// Title is the question's first line, Line the answer and who gave it.
	Title, Line string
	Comment     string
	// Artifacts are paths with their digests.
	Artifacts []FormFact
}
