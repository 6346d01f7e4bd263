package faber

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"placet/engine"
	"placet/engine/run"
	"placet/internal/lazyregexp"
	"placet/schemas"
	"placet/templates"
)

// Prompt is a prompt of a coordinator: prompt-NNN.md, or prompt-NNN-<8>.md for a later view. The
// file is a function of it, so that a line changed by others can be told.
type Prompt struct {
	File string `json:"file"`
	// Digest is that of the views of all runs that it asks about.
	Digest engine.Digest `json:"digest"`
	First  bool          `json:"first"` // it shows every run, not only what is still asked
	Asked  []Asked       `json:"asked"`
	Later  int           `json:"later"` // runs that follow in the next round

	Total      int       `json:"total"`
	Completed  int       `json:"completed"`
	Waiting    int       `json:"waiting"`
	Failed     int       `json:"failed"`
	Cancelled  []string  `json:"cancelled"`
	Paused     []string  `json:"paused"`
	Unreadable []Problem `json:"unreadable"`
}

// Problem is a run that could not be read, and why.
type Problem struct {
	Run   string `json:"run"`
	Error string `json:"error"`
}

// Asked is a run as a prompt shows it.
type Asked struct {
	RunID     string        `json:"run_id"`
	Label     string        `json:"label"` // what people call the run in an answer
	Branch    string        `json:"branch"`
	RequestID string        `json:"request_id"`
	View      engine.Digest `json:"view"`
	Type      string        `json:"type"`
	// Text is the question, or the error if Error is true.
	Text    string   `json:"text"`
	Error   bool     `json:"error"`
	Options []string `json:"options"` // empty for free text
	LookAt  []string `json:"look_at"`
	// Form is where to answer if the gate wants more than a file, else "".
	Form string `json:"form"`
}

// longestQuestion bounds the text of a question, in characters.
const longestQuestion = 500

var workID = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// asked returns what a prompt shows of a run that asks.
func (m *member) asked() Asked {
	o := m.ask
	e := Asked{RunID: m.id, Label: m.label, Branch: m.branch(), RequestID: o.folder.ID, View: o.digest, Type: o.req.Type, Text: o.req.Prompt, Error: o.req.Type == "error_resolution", Options: []string{}, LookAt: []string{}}
	if o.q.forStatus == Failed {
		e.Text = cmp.Or(failure(o.req.Context), e.Text)
	}
	e.Text = shownLine(e.Text, longestQuestion)
	for _, option := range o.req.Options {
		e.Options = append(e.Options, option.ID)
	}
	for _, a := range o.req.Artifacts {
		e.LookAt = append(e.LookAt, a.Path)
	}
	if level := m.view.Snap.Facts.Config.GateFor("faber", o.req.Type).Level; level != "" && level != "file" {
		e.Form = o.path(o.form)
	}
	return e
}

// failure returns the error in the context of a failed run's request, "" if there is none.
func failure(context schemas.Raw) string {
	var shown struct {
		Error string `json:"error"`
	}
	_ = schemas.DecodeValue(context, &shown)
	return shown.Error
}

// branch returns the run's branch, or its short id if it names none that can be shown.
func (m *member) branch() string {
	if name := m.view.branch(); engine.IsBranch(name) {
		return name
	}
	return m.short()
}

// shownLine returns a text on one line that a reader of Markdown sees whole.
func shownLine(s string, n int) string {
	return tag.ReplaceAllString(oneLine(templates.Clean(s), n), `\<$1`)
}

var tag = lazyregexp.New(`<([!/?A-Za-z])`)

// live returns what is asked now in the runs that fit.
func (c *coordinator) live(fits func(*member) bool) (all []Asked) {
	for _, m := range c.members {
		if m.ask != nil && fits(m) {
			all = append(all, m.asked())
		}
	}
	return all
}

// prompt returns the prompt of a round about runs that ask.
func (c *coordinator) prompt(round int, all []Asked, first bool) Prompt {
	p := Prompt{First: first, Asked: all[:min(len(all), mostAsked)], Total: len(c.members), Cancelled: []string{}, Paused: []string{}, Unreadable: []Problem{}}
	p.Later = len(all) - len(p.Asked)
	for _, m := range c.members {
		switch m.status() {
		case Completed:
			p.Completed++
		case Awaiting:
			p.Waiting++
		case Failed:
			p.Failed++
		case Cancelled:
			p.Cancelled = append(p.Cancelled, m.label)
		case Paused:
			p.Paused = append(p.Paused, m.label)
		case run.StatusUnreadable:
			p.Unreadable = append(p.Unreadable, Problem{m.short(), shownLine(templates.In(templates.English, m.view.state.unfit), longestQuestion)})
		case UnknownRun:
			p.Unreadable = append(p.Unreadable, Problem{m.short(), templates.Text(templates.English, "faber.coordinator.unknown")})
		}
	}
	var views strings.Builder
	for _, e := range p.Asked {
		fmt.Fprintf(&views, "%s\n%s\n%s\n", e.RunID, e.RequestID, e.View)
	}
	p.Digest = engine.Sum([]byte(views.String()))
	if p.File = fmt.Sprintf("prompt-%03d.md", round); !first {
		p.File = fmt.Sprintf("prompt-%03d-%s.md", round, p.Digest.Hex()[:8])
	}
	return p
}

// shownPrompt is the data of the template faber/prompt.
type shownPrompt struct {
	Prompt
	ID       string
	Round    int
	Examples []Asked
}

// render returns the file of a prompt, in English whatever the language of the settings.
func (p Prompt) render(st *CoordinatorState) []byte {
	data := shownPrompt{Prompt: p, ID: st.CoordinatorID, Round: st.Round}
	for _, e := range p.Asked {
		if e.Form == "" && len(data.Examples) < 2 {
			data.Examples = append(data.Examples, e)
		}
	}
	text, err := templates.Render(templates.English, "faber/prompt", data)
	return run.Must([]byte(text), err)
}

// List joins names for the template.
func (Prompt) List(names []string) string { return strings.Join(names, ", ") }

// Title returns the type of a request as the prompt writes it.
func (e Asked) Title() string {
	words := strings.Fields(strings.ReplaceAll(shownLine(e.Type, 100), "_", " "))
	for i, w := range words {
		first, size := utf8.DecodeRuneInString(w)
		words[i] = string(unicode.ToUpper(first)) + w[size:]
	}
	return strings.Join(words, " ")
}

// Choices returns the options with their numbers.
func (e Asked) Choices() string {
	var list []string
	for i, option := range e.Options {
		list = append(list, fmt.Sprintf("[%d] %s", i+1, shownLine(option, 100)))
	}
	return strings.Join(list, " ")
}

// Paths returns the artifacts to look at.
func (e Asked) Paths() string {
	var list []string
	for _, p := range e.LookAt {
		list = append(list, templates.Code(p))
	}
	return strings.Join(list, ", ")
}

// Example returns the option that an example chooses, "" for free text.
func (e Asked) Example() string {
	if len(e.Options) == 0 {
		return ""
	}
	return shownLine(e.Options[0], 100)
}

// same reports whether two prompts show the same question; branches come and go.
func (e Asked) same(other Asked) bool {
	e.Branch, other.Branch = "", ""
	return reflect.DeepEqual(e, other)
}
