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
	// Texts are the texts of files that an answer is bound to.
	Texts []FormText
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

// FormText is the text of a file, or its first and last lines and how many lie between. One
// that may be changed stands between two marks.
type FormText struct {
	Title, Text, Between, Tail string
	Begin, End                 string
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
	// ItemsAsk stands above the items.
	ItemsAsk string
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

// PalPageData is what the template pal/page shows: a text for workers or about a port.
type PalPageData struct {
	// First names the document.
	First, Title string
	Facts        []FormFact
	Sections     []PalSection
}

// PalSection is a heading with Markdown below it, quoted already.
type PalSection struct{ Title, Body string }
