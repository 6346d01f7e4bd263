package templates

// AskAnswerData is what the template ask/answer shows: what became of a question.
type AskAnswerData struct {
	// Title is the question's first line, Line the answer and who gave it.
	Title, Line string
	Comment     string
	// Artifacts are paths with their digests.
	Artifacts []FormFact
}
