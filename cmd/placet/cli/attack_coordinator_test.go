package cli_test

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"placet/cmd/placet/console"
)

// coordinatorAttacks are on a prompt that asks about several runs. Each row ends with the honest
// answer, which counts.
var coordinatorAttacks = []attack{
	{"a prompt whose question was changed", "an agent rewrites what a prompt asks and shows, and a person answers it", promptRewritten},
	{"a reply about another run", "a reply answers a run that the coordinator does not have, by its work id and by its folder's name", replyAboutAnother},
	{"a number from an older prompt", "a run asks again with its options in another order, and the number of the older prompt is used", numberOfOlderPrompt},
	{"a prompt that shows another view", "a file changes after the prompt was written, and the prompt is answered", promptOfOlderView},
	{"a coordinator's state of somebody else's", "an agent writes a state.json and a prompt in which a run asks something harmless", coordinatorStateForged},
	{"a run's answer in the coordinator's name", "an agent writes a response.json that says it came from a coordinator, where the owner must answer", answerInCoordinatorsName},
}

// coordinated has a coordinator ask about the first runs of a place, and returns its folder.
func (p *place) coordinated(n int) (dir string) {
	p.t.Helper()
	p.runs = newPlace(p.t, p.root, n+1).runs
	args := []string{"faber", "coordinate", "--json"}
	for _, run := range p.runs[:n] {
		args = append(args, path.Base(run))
	}
	p.must(3, "once")
	var made struct{ Data struct{ Path string } }
	out := p.must(0, args...)
	if err := json.Unmarshal([]byte(out[strings.Index(out, "{"):]), &made); err != nil {
		p.t.Fatalf("%v\n%s", err, out)
	}
	p.must(3, "once")
	if dir = path.Dir(made.Data.Path); p.read(dir+"/prompt-001.md") == "" {
		p.t.Fatalf("no prompt in %s", dir)
	}
	return dir
}

// submits writes answers into a prompt and ticks its box.
func (p *place) submits(prompt, answers string) {
	p.t.Helper()
	p.replace(prompt, strings.Replace(p.read(prompt), "- [ ] submit", answers+"\n\n- [x] submit", 1))
}

// historyOf returns what the history of a run says, "" while it has no answer.
func (p *place) historyOf(i int) string {
	p.t.Helper()
	var st struct {
		History []struct {
			Response string
			By       by `json:"provided_by"`
		} `json:"feedback_history"`
	}
	if err := json.Unmarshal([]byte(p.read(p.runs[i]+"/state.json")), &st); err != nil {
		p.t.Fatal(err)
	}
	if len(st.History) == 0 {
		return ""
	}
	return st.History[0].Response + " by " + st.History[0].By.User + " (" + st.History[0].By.Source + ")"
}

// unanswered fails the test if a run has an answer.
func (p *place) unanswered(i int) {
	p.t.Helper()
	if got := p.historyOf(i); got != "" {
		p.t.Fatalf("run %d: %s", i, got)
	}
}

// isAnsweredAs fails the test unless the owner answered a run in a prompt.
func (p *place) isAnsweredAs(i int, option string) {
	p.t.Helper()
	if got, want := p.historyOf(i), option+" by "+console.Login()+" (parallel_coordination)"; got != want {
		p.t.Errorf("run %d: %q, want %q", i, got, want)
	}
}

func promptRewritten(_ *testing.T, p *place) {
	dir := p.coordinated(1)
	prompt := dir + "/prompt-001.md"
	issued := p.read(prompt)
	p.submits(prompt, "#1: approve")
	p.replace(prompt, strings.Replace(p.read(prompt), "- Question: ", "- Question: Nothing much. ", 1))
	p.placet("once")
	p.unanswered(0)
	p.says(p.read(dir+"/problem-001.md"), "was changed: restore it: ")
	p.replace(prompt, issued)
	p.submits(prompt, "#1: approve")
	p.placet("once")
	p.placet("once")
	p.isAnsweredAs(0, "approve")
}

func replyAboutAnother(_ *testing.T, p *place) {
	dir := p.coordinated(1)
	p.write(dir+"/replies/001.md", fmt.Sprintf("#2: approve\n%s: approve\n", path.Base(p.runs[1])[:8]))
	p.placet("once")
	p.placet("once")
	p.unanswered(0)
	p.unanswered(1)
	p.says(p.read(dir+"/problem-001.md"), `"2" is no run of this coordinator`, path.Base(p.runs[1])[:8])
	p.write(dir+"/replies/001-b.md", "#1: approve\n")
	p.placet("once")
	p.placet("once")
	p.isAnsweredAs(0, "approve")
	p.unanswered(1)
}

func numberOfOlderPrompt(_ *testing.T, p *place) {
	dir := p.coordinated(2)
	p.sets(p.runs[0]+"/state.json", map[string]any{"feedback_request": map[string]any{
		"request_id": "fr-again", "type": "review", "prompt": "And now?", "options": []string{"reject", "approve", "request_changes"}, "requested_at": "2026-11-20T11:00:00Z",
	}})
	p.placet("once")
	p.placet("once")
	newer := p.newerPrompt(dir)
	p.write(dir+"/replies/001.md", "#1: 1\n#2: 1\n")
	p.placet("once")
	p.placet("once")
	p.unanswered(0)
	p.isAnsweredAs(1, "approve")
	p.says(p.read(dir+"/problem-001.md"), "#1 changed since this prompt was written")
	p.removeAny(dir + "/replies/001.md")
	p.submits(newer, "#1: 2")
	p.placet("once")
	p.placet("once")
	p.isAnsweredAs(0, "approve")
}

func promptOfOlderView(t *testing.T, p *place) {
	p.write("plan.md", "delete the old files\n")
	p.runs = newPlace(t, p.root, 1).runs
	p.sets(p.runs[0]+"/state.json", map[string]any{"feedback_request": map[string]any{
		"request_id": p.requestID(0), "type": "review", "prompt": "Go?", "context": map[string]any{"artifact_path": "plan.md"}, "requested_at": "2026-11-20T10:00:00Z",
	}})
	dir := ".fractary/faber/coordinators/coord-20261120-000001"
	p.write(dir+"/coordinator.json", fmt.Sprintf(`{"runs": ["acme/web/%s"]}`, path.Base(p.runs[0])))
	p.until("the prompt is written", func() bool { p.placet("once"); return p.read(dir+"/prompt-001.md") != "" })
	p.write("plan.md", "delete everything\n")
	p.submits(dir+"/prompt-001.md", "#1: approve")
	p.until("the new view has a prompt", func() bool { p.placet("once"); return len(p.newerPrompts(dir)) == 1 })
	p.placet("once")
	p.unanswered(0)
	p.says(p.read(dir+"/problem-001.md"), "#1 changed since this prompt was written")
	p.submits(p.newerPrompt(dir), "#1: approve")
	p.until("the answer to the new view counts", func() bool { p.placet("once"); return p.historyOf(0) != "" })
	p.isAnsweredAs(0, "approve")
}

// newerPrompts lists the prompts of later views, relative to the workspace.
func (p *place) newerPrompts(dir string) (all []string) {
	found, _ := filepath.Glob(filepath.Join(p.root, dir, "prompt-001-*.md"))
	for _, name := range found {
		all = append(all, dir+"/"+filepath.Base(name))
	}
	return all
}

// newerPrompt is the only prompt of a later view.
func (p *place) newerPrompt(dir string) string {
	p.t.Helper()
	all := p.newerPrompts(dir)
	if len(all) != 1 {
		p.t.Fatalf("newer prompts: %q", all)
	}
	return all[0]
}

func coordinatorStateForged(_ *testing.T, p *place) {
	dir := p.coordinated(1)
	prompt, state := dir+"/prompt-001.md", dir+"/state.json"
	was, before := p.read(prompt), p.read(state)
	var st struct {
		Prompts []struct{ Asked []struct{ Text string } }
	}
	if err := json.Unmarshal([]byte(before), &st); err != nil {
		p.t.Fatal(err)
	}
	text := st.Prompts[0].Asked[0].Text
	p.replace(state, strings.ReplaceAll(before, text, "Fix a typo?"))
	p.replace(prompt, strings.ReplaceAll(was, text, "Fix a typo?"))
	p.submits(prompt, "#1: approve")
	p.placet("once")
	p.placet("once")
	p.unanswered(0)
	p.submits(p.newerPrompt(dir), "#1: approve")
	p.placet("once")
	p.placet("once")
	p.isAnsweredAs(0, "approve")
}

func answerInCoordinatorsName(_ *testing.T, p *place) {
	dir := p.coordinated(1)
	p.write(p.request(0)+"/response.json", strings.Replace(p.response(0, "approve", ""), `"file"`, `"parallel_coordination"`, 1))
	p.placet("once")
	p.unanswered(0)
	p.says(p.problem(), "parallel_coordination")
	p.removeAny(p.request(0) + "/response.json")
	p.submits(dir+"/prompt-001.md", "#1: approve")
	p.placet("once")
	p.placet("once")
	p.isAnsweredAs(0, "approve")
}
