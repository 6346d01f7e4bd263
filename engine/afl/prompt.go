package afl

import (
	"strconv"
	"strings"
	"time"

	"placet/engine/run"
	"placet/schemas"
	"placet/templates"
)

// promptData is the data of the template afl/prompt, which tells a worker about its attempt.
type promptData struct {
	Lang, Session string
	Def           Definition
	Attempt, Max  int
	// Timeout is the timeout of the validation, 0 if unknown.
	Timeout       time.Duration
	Dependencies  []string // with their statuses
	Prerequisites []Prerequisite
	Contracts     []contract
	// ContractNames holds the names that a V2 checkpoint lists.
	ContractNames []string
	// Architecture is a path in the workspace, or "".
	Architecture string
	// Feedback is the feedback.md of attempt FeedbackOf, or "".
	Feedback   string
	FeedbackOf int
	// Redesigned is true if the design changed after the last attempt, whose feedback is then left
	// out.
	Redesigned bool
	// Note is a person's remark for this attempt if no feedback contains it.
	Note string
	// Worker, Answer and Question are the files in which the worker and people discuss the attempt,
	// relative to the workspace.
	Worker, Answer, Question string
}

// contract is a part of the contract that a checkpoint must keep.
type contract struct{ Title, Path, Text string }

// shownContracts is how many bytes of a checkpoint's contracts a prompt shows altogether.
const shownContracts = 32 << 10

// promptMD returns prompt.md.
func promptMD(d promptData) []byte { return rendered(d.Lang, "prompt", d) }

// First returns the line that identifies the document.
func (d promptData) First() string { return docLine(d.Session, d.Def.ID, "prompt", d.Attempt) }

// TimeLimit returns how long the validation may take.
func (d promptData) TimeLimit() string {
	if d.Timeout > 0 {
		return lengthWords(d.Timeout)
	}
	return templates.Dash
}

// Design returns a link to the architecture.
func (d promptData) Design() string {
	if d.Architecture != "" {
		return fileLink(d.Architecture)
	}
	return templates.Dash
}

// Line returns the prerequisite on one line.
func (p Prerequisite) Line() string {
	line := p.ID
	if p.Type != "" {
		line += " (" + string(p.Type) + ")"
	}
	for _, more := range []text{p.Name, p.Script} {
		if more != "" {
			line += ": " + string(more)
		}
	}
	return line
}

// Parts returns the contracts up to the limit, and links to the rest.
func (d promptData) Parts() (sections []section) {
	room := shownContracts
	for _, c := range d.Contracts {
		shown, whole := headOf(strings.TrimRight(templates.Clean(c.Text), "\n"), room)
		room -= len(shown)
		blocks := []string{fileLink(c.Path)}
		if shown != "" {
			blocks = append(blocks, templates.Fence(shown))
		}
		if !whole {
			blocks = append(blocks, phrase(d.Lang, "prompt.cut", "file", fileLink(c.Path)))
		}
		title := c.Title
		if templates.Blank(title) {
			title = c.Path
		}
		sections = append(sections, section{Title: templates.Line(title, shownName), Body: paragraphs(blocks)})
	}
	return sections
}

// headOf returns the beginning of a text up to a limit, in whole lines if possible. whole is true
// if that is all of it.
func headOf(s string, limit int) (head string, whole bool) {
	if len(s) <= limit {
		return s, true
	}
	head = s[:limit]
	if at := strings.LastIndexByte(head, '\n'); at > 0 {
		return head[:at], false
	}
	return templates.CutWith(s, limit, ""), false
}

// Earlier returns what is known of the previous attempts.
func (d promptData) Earlier() string {
	var blocks []string
	switch {
	case d.Redesigned:
		blocks = append(blocks, phrase(d.Lang, "prompt.redesigned"))
	case d.Feedback != "":
		blocks = append(blocks, phrase(d.Lang, "prompt.feedback_of", "n", strconv.Itoa(d.FeedbackOf)), templates.Fence(d.Feedback))
	}
	if !templates.Blank(d.Note) {
		blocks = append(blocks, phrase(d.Lang, "prompt.note"), templates.Quote(atMost(d.Note, shownNote)))
	}
	return paragraphs(blocks)
}

// HandIn says which file the worker should write.
func (d promptData) HandIn() string {
	return phrase(d.Lang, "prompt.handin.write", "worker", templates.Code(d.Worker))
}

// Example returns an example of a worker's report.
func (d promptData) Example() string {
	return strings.TrimSpace(string(run.Encoded(schemas.Object{
		{Name: "checkpoint", Value: d.Def.ID}, {Name: "iteration", Value: d.Attempt},
		{Name: "status", Value: "completed"}, {Name: "changed_files", Value: []string{"path/of/a/file"}},
	})))
}

// handInTypes are the failure types that a worker can determine.
const handInTypes = "NOT_IMPLEMENTED, LOGIC_ERROR, TYPE_ERROR, DESIGN_MISMATCH, ENV_ISSUE, TIMEOUT"

// Ways returns what a worker's report may say.
func (d promptData) Ways() []string {
	return []string{
		phrase(d.Lang, "prompt.handin.completed"),
		phrase(d.Lang, "prompt.handin.failed", "types", handInTypes),
		phrase(d.Lang, "prompt.handin.question", "answer", templates.Code(d.Answer), "question", templates.Code(d.Question)),
		phrase(d.Lang, "prompt.handin.others"),
	}
}

// answerMD returns answer.md: the answered questions of an attempt, the oldest first.
func answerMD(lang, session, cp string, attempt int, questions []Question) []byte {
	return rendered(lang, "answer", struct {
		First, Checkpoint string
		Attempt           int
		Questions         []Question
	}{docLine(session, cp, "answer", attempt), cp, attempt, questions})
}
