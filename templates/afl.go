package templates

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
// lies with an attempt that another one follows.
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
