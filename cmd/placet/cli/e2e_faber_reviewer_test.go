package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"placet/engine/faber"
	"placet/engine/gate"
)

// This is the reviewer of the runs that are soaked.

// soakedAnswer is an answer of the reviewer: which way it goes, as the history names the ways, and
// which option it chooses.
type soakedAnswer struct {
	way, word string
	// done says that the answer was handed in, late that another one was there before.
	done, late bool
}

// soakedComment is a comment on the issue of a run, and the answer that it gives; nil if it gives none.
type soakedComment struct {
	run        int
	id, author string
	request    string
	answer     *soakedAnswer
}

// soakedCoordinator is a coordinator of some runs. They have one as soon as all of them wait.
type soakedCoordinator struct {
	runs []int
	held map[int]bool
	dir  string
}

// coordinate has every other four runs coordinated.
func (s *soakedRuns) coordinate() {
	for i := range s.runs {
		if i%8 == 0 {
			s.coordinators[i] = &soakedCoordinator{held: map[int]bool{}}
		} else if i%8 < 4 {
			s.coordinators[i] = s.coordinators[i-1]
		}
		if c := s.coordinators[i]; c != nil {
			c.runs = append(c.runs, i)
		}
	}
}

// review answers a request once its form is there. Sometimes it gives two answers, of which the first
// to arrive counts.
func (s *soakedRuns) review(i int, dir string) {
	s.t.Helper()
	if s.there(dir+"/receipt.json") || s.read(dir+"/form.md") == "" {
		return
	}
	if s.given[dir] == nil {
		var request struct{ Options []struct{ ID string } }
		if json.Unmarshal([]byte(s.read(dir+"/request.json")), &request) != nil || len(request.Options) == 0 {
			return
		}
		for _, way := range s.ways(i) {
			a := &soakedAnswer{way: way, word: request.Options[0].ID}
			if s.rng.IntN(6) == 0 {
				a.word = request.Options[s.rng.IntN(len(request.Options))].ID
			}
			if a.way == gate.SourceForm && a.word == "request_changes" {
				a.way = gate.SourceFile // it has a comment
			}
			s.given[dir] = append(s.given[dir], a)
		}
	}
	for _, a := range s.given[dir] {
		if !a.done && !a.late {
			s.gives(i, dir, a)
		}
	}
}

// ways returns the ways of the answers to the next request of a run. A form is the only answer: its
// answer and another one would hold each other up. So is what the first prompt of a coordinator gets.
func (s *soakedRuns) ways(i int) []string {
	c := s.coordinators[i]
	if c != nil && !c.held[i] {
		return []string{gate.SourceCoordination}
	}
	ways := []string{gate.SourceFile, gate.SourceIssueComment}
	if c != nil {
		ways = append(ways, gate.SourceCoordination)
	}
	s.rng.Shuffle(len(ways), func(i, j int) { ways[i], ways[j] = ways[j], ways[i] })
	switch s.rng.IntN(4) {
	case 0:
		return []string{gate.SourceForm}
	case 1:
		return ways[:2]
	}
	return ways[:1]
}

// gives hands in an answer, if it can be handed in already.
func (s *soakedRuns) gives(i int, dir string, a *soakedAnswer) {
	s.t.Helper()
	switch a.way {
	case gate.SourceForm:
		s.saved(dir+"/form.md", strings.Replace(strings.Replace(s.read(dir+"/form.md"), "- [ ] "+a.word, "- [x] "+a.word, 1), "- [ ] submit", "- [x] submit", 1))
		a.done = true
	case gate.SourceFile:
		s.answersIn(dir, a)
	case gate.SourceIssueComment:
		s.noise(i)
		s.comments = append(s.comments, soakedComment{i, fmt.Sprintf("c-%d", len(s.comments)), "kim", dir, a})
		a.done = s.said(s.comments[len(s.comments)-1], s.words(dir, a))
		a.late = !a.done
	case gate.SourceCoordination:
		s.answersLine(i, dir, a)
	}
}

// answersIn writes response.json, unless an answer is there.
func (s *soakedRuns) answersIn(dir string, a *soakedAnswer) {
	s.t.Helper()
	body := fmt.Sprintf(`{"request_id": %q, "response": %q, "comment": "c", "provided_by": {"user": "tester", "source": "file"}}`+"\n", path.Base(dir), a.word)
	target := filepath.Join(s.root, dir, "response.json")
	if err := os.WriteFile(target+".tmp", []byte(body), 0o644); err != nil {
		s.t.Fatal(err)
	}
	switch err := renameNew(target+".tmp", target); {
	case err == nil:
		a.done = true
	case errors.Is(err, fs.ErrExist):
		a.late = true
		s.drop(dir + "/response.json.tmp")
	default:
		s.t.Fatal(err)
	}
}

// words returns a comment with an answer. One that is given in no other way may be a command alone.
func (s *soakedRuns) words(dir string, a *soakedAnswer) string {
	if slices.Contains([]string{"reject", "cancel", "abort"}, a.word) && len(s.given[dir]) == 1 && s.rng.IntN(2) == 0 {
		return "@faber cancel"
	}
	return fmt.Sprintf("%s: so it is, %d\n\n@faber resume", a.word, len(s.comments))
}

// noise writes a comment that answers nothing now and then: a stranger's, or a question.
func (s *soakedRuns) noise(i int) {
	s.t.Helper()
	c := soakedComment{run: i, id: fmt.Sprintf("c-%d", len(s.comments)), author: "mallory"}
	text := "reject\n@faber resume"
	switch s.rng.IntN(6) {
	case 0:
	case 1:
		c.author, text = "kim", "@faber status"
	default:
		return
	}
	s.comments = append(s.comments, c)
	s.said(c, text)
}

// said brings a comment, by the verb or as a file, and reports whether a run took it.
func (s *soakedRuns) said(c soakedComment, text string) bool {
	s.t.Helper()
	if s.rng.IntN(2) == 0 {
		file := s.runs[c.run] + "/comments/" + c.id + ".json"
		if err := os.MkdirAll(filepath.Dir(filepath.Join(s.root, file)), 0o755); err != nil {
			s.t.Fatal(err)
		}
		s.saved(file, fmt.Sprintf(`{"author": %q, "body": %q, "created_at": %q}`+"\n", c.author, text, time.Now().UTC().Format(time.RFC3339)))
		return true
	}
	out, code := s.typed(text, "faber", "comment", "--issue", fmt.Sprint(c.run+1), "--author", c.author, "--id", c.id)
	if code != 0 && !strings.Contains(out, "no run works on issue") {
		s.t.Fatalf("comment %s: %d\n%s", c.id, code, out)
	}
	return code == 0
}

// soakedPrompts is what the reviewer reads of a coordinator.
func (s *soakedRuns) soakedPrompts(c *soakedCoordinator) (st faber.CoordinatorState) {
	_ = json.Unmarshal([]byte(s.read(c.dir+"/state.json")), &st)
	return st
}

// answersLine writes an answer into the newest prompt that asks for it, or into a reply to that.
func (s *soakedRuns) answersLine(i int, dir string, a *soakedAnswer) {
	s.t.Helper()
	c := s.coordinators[i]
	if c.held[i] = true; c.dir == "" {
		s.begins(c)
		return
	}
	st := s.soakedPrompts(c)
	if st.Status != faber.Asking {
		return
	}
	for _, p := range slices.Backward(st.Prompts) {
		for _, e := range p.Asked {
			prompt := c.dir + "/" + p.File
			if e.RequestID != path.Base(dir) || s.read(prompt) == "" {
				continue
			}
			line := e.Label + ": " + a.word + ": so it is"
			if a.word != "request_changes" && s.rng.IntN(2) == 0 {
				line = fmt.Sprintf("- **%s**: %d", e.Label, 1+slices.Index(e.Options, a.word))
			}
			if a.done = true; s.rng.IntN(2) == 0 {
				s.replace(prompt, strings.Replace(s.read(prompt), "- [x] submit", "- [ ] submit", 1)) // other lines may be there
				s.submits(prompt, line)
			} else {
				s.replies(c, p.File, path.Base(dir), line)
			}
			return
		}
	}
}

// replies writes a reply to a prompt.
func (s *soakedRuns) replies(c *soakedCoordinator, prompt, name, line string) {
	s.t.Helper()
	file := c.dir + "/replies/" + strings.TrimSuffix(strings.TrimPrefix(prompt, "prompt-"), ".md") + "-" + name + ".md"
	if err := os.MkdirAll(filepath.Dir(filepath.Join(s.root, file)), 0o755); err != nil {
		s.t.Fatal(err)
	}
	s.saved(file, line+"\n")
}

// begins makes a coordinator once all of its runs wait.
func (s *soakedRuns) begins(c *soakedCoordinator) {
	s.t.Helper()
	if len(c.held) < len(c.runs) {
		return
	}
	args := []string{"faber", "coordinate", "--json"}
	for _, i := range c.runs {
		args = append(args, path.Base(s.runs[i]))
	}
	var made struct{ Data struct{ Path string } }
	out := s.must(0, args...)
	if err := json.Unmarshal([]byte(out[strings.Index(out, "{"):]), &made); err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	c.dir = path.Dir(made.Data.Path)
}

// all returns the coordinators, each once.
func (s *soakedRuns) all() (list []*soakedCoordinator) {
	for _, c := range s.coordinators {
		if c != nil && !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}
