package exec

import (
	"io"
	"os"
	"path"
	"strings"

	"placet/engine"
	"placet/engine/testoutput"
)

// hearing is what of a command's outputs is listened to. The zero hearing
// keeps head and tail of each.
type hearing struct {
	// tail, if positive, is how many of the last bytes are kept of both
	// outputs, which are heard as one: so their order is kept.
	tail int
	// each, if positive, is how many of the last bytes are kept of each output.
	each int
	// judge asks whether the whole holds what is expected; see package testoutput.
	judge    bool
	expected string
}

// hearingOf is what an action wants to hear.
func hearingOf(a engine.Action) hearing {
	if a.Outcome == "" {
		return hearing{each: tailOf(a)}
	}
	return hearing{tail: max(0, a.Tail), judge: a.Judge, expected: a.Expected}
}

// together reports whether both outputs are heard as one.
func (h hearing) together() bool { return h.tail > 0 }

func (h hearing) limits() limits {
	if h.together() {
		return limits{tail: h.tail}
	}
	if h.each > 0 {
		return limits{tail: h.each}
	}
	return limits{head: headMax, tail: tailMax}
}

// window keeps the whole of an output for the judge, nil where there is none.
func (h hearing) window() *testoutput.Window {
	if !h.judge {
		return nil
	}
	return new(testoutput.Window)
}

// sound is what was heard of one output.
type sound struct {
	kept  Output
	whole *testoutput.Window
}

// text is the whole of an output as text.
func (s sound) text() string {
	if s.whole == nil {
		return ""
	}
	return strings.ToValidUTF8(s.whole.String(), "\uFFFD")
}

// tell puts what was heard into an ending: one sound of both outputs together,
// or two. Only the outputs of a command that finished are judged.
func (h hearing) tell(e *ending, sounds []sound) {
	e.stdout = sounds[0].kept
	if !h.together() {
		e.stderr = sounds[1].kept
	}
	if !h.judge || e.word != finished {
		return
	}
	var texts []string
	for _, s := range sounds {
		texts = append(texts, s.text())
	}
	e.matched, e.marker = testoutput.Match(h.expected, texts...)
}

// drains are the pipes to listen through, for standard output and standard
// error: one if they are heard as one.
func (h hearing) drains() ([]*drain, error) {
	drains := make([]*drain, 0, 2)
	for len(drains) < cap(drains) {
		d, err := newDrain(h)
		if err != nil {
			abandon(drains)
			return nil, err
		}
		drains = append(drains, d)
		if h.together() {
			break
		}
	}
	return drains, nil
}

// names are those of the files that an agent's outputs go to, in the same
// order.
func (h hearing) names() []string {
	if h.together() {
		return []string{outputName}
	}
	return []string{stdoutName, stderrName}
}

// files are what an agent's folder holds of its outputs.
func (h hearing) files(root *os.Root, dir string) []sound {
	var sounds []sound
	for _, name := range h.names() {
		sounds = append(sounds, h.file(root, path.Join(dir, name)))
	}
	return sounds
}

// file is what an output file holds. One that cannot be read counts as empty:
// the command ended all the same.
func (h hearing) file(root *os.Root, name string) sound {
	s := sound{whole: h.window()}
	f, size, err := openRegular(root, name)
	if err != nil {
		return s
	}
	defer f.Close()
	s.kept = captured(f, size, h.limits())
	if s.whole != nil {
		_, _ = io.Copy(s.whole, io.NewSectionReader(f, 0, size)) // what was read counts
	}
	return s
}
