package cli

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"placet/cmd/placet/cli/demo"

	"placet/engine"
	"placet/engine/afl"
	"placet/engine/faber"
	"placet/internal/enginetest"
	"placet/layout"
)

// bothFamilies are the facts about the families served here that the laws need.
func bothFamilies() []enginetest.Suite {
	ask := faber.DefaultConfig()
	ask.AskFailed = "all"
	return []enginetest.Suite{
		{Machine: faber.New(), Layout: layout.Faber{}, Config: engine.Config{Language: "en", Family: ask}},
		{Machine: afl.New(), Layout: layout.AFL{}, Config: engine.Config{Language: "ko", Family: afl.DefaultConfig()}},
	}
}

// demoTree are the files of the demo, by path: a session, and one of the six
// runs.
func demoTree(t testing.TB, which int) map[string]string {
	tree := map[string]string{}
	var runs []string
	for _, root := range []string{"stories/faber", "stories/afl"} {
		err := fs.WalkDir(demo.Files, root, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			body, err := demo.Files.ReadFile(p)
			rel := strings.TrimPrefix(p, root+"/")
			tree[rel] = string(body)
			if path.Base(rel) == "state.json" {
				runs = append(runs, path.Dir(rel))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(runs)
	for p := range tree {
		for i, run := range runs {
			if i != which%len(runs) && layout.Under(p, run) {
				delete(tree, p)
			}
		}
	}
	return tree
}

// knownNames are names that a run of one of the families knows, and some that
// none does.
var knownNames = []string{
	"state.json", "metadata.json", "cancel.json", "issue.json", "resume.md", "context.md", "workflow.json", "events/.next-id", "events/002-step_start.json",
	"events/999999999-step_start.json", "events/000-x.json", "actions/resume-r2/attempt.json", "requests/fr-1/request.json", "requests/fr-1/response.json",
	"requests/fr-1/receipt.json", "requests/fr-1/form.md", "requests/fr-1/problem.md", "requests/fr-1/form-01234567.md", "requests/fr-1/posted.json",
	"state.json.problem.md", "meta.json", "specs/checkpoints.yaml", "checkpoints/total.json", "checkpoints/x.json", "control.json", "review.json", "review-2.json",
	"events.jsonl", "changes.md", "report.md", "delegations/status.json", "delegations/total/status.json", "delegations/total/routing.json",
	"delegations/total/pending-question.json", "delegations/total/iterations/1/worker.json", "delegations/total/iterations/1/result.json",
	"delegations/total/iterations/1/prompt.md", "delegations/total/iterations/1/analysis.json", "delegations/total/iterations/1/verdict.json",
	"delegations/total/iterations/1/validation.json", "delegations/total/iterations/7/result.json", "problems/x.problem.md", "notes.txt", "a/b/c.json",
	"\u202etxt.json", "state.json.tmp", ".hidden", "requests/.x/response.json", "state-a.json",
}

// folders are places below which runs may lie, and others.
var folders = []string{
	"", ".afl/state/current-delegation.json", ".claude/afl.yaml", ".afl/config.json", ".fractary/faber/workflows/default.json", "specs/WORK-00124-upload-design.md",
	".fractary/runs/plan-run-1", ".fractary/faber/runs/plan", ".fractary/plugins/faber/runs/acme-corp/proja/00f4dda7-41cb-4e5e-b0f6-310cf530cbf5", ".afl/sessions/other",
}

// words replace each other in a document.
var words = []string{
	`"awaiting_feedback"`, `"in_progress"`, `"pending"`, `"paused"`, `"failed"`, `"completed"`, `"cancelled"`, `"escalated"`, `"delegating"`, `"validating"`,
	`"retrying"`, `"aborted"`, `"designing"`, `"open"`, `"accepted"`, `"approve"`, `"reject"`, `null`, `0`, `-1`, `1e400`, `[]`, `{}`, `true`, `"../../x"`, `"\u202e"`, `2147483647`,
}

// hand changes a workspace.
type hand struct {
	*enginetest.Scramble
	text string
}

// act makes the change that four bytes say.
func (h hand) act(op, where, what, how byte) {
	paths := enginetest.Tree(h.Disk.Tree()).Paths()
	paths = slices.DeleteFunc(paths, func(p string) bool { return layout.Under(p, ".placet") })
	if len(paths) == 0 {
		return
	}
	p := paths[int(where)%len(paths)]
	body, _ := h.Disk.Get(p)
	at := int(what)<<8 | int(how)
	switch op % 16 {
	case 0:
		h.Disk.Delete(p)
	case 1:
		h.Put(p, h.text)
	case 2:
		h.Put(p, body[:at%(len(body)+1)])
	case 3:
		h.Put(p, flip(body, at))
	case 4: // mixed up
		other, _ := h.Disk.Get(paths[int(what)%len(paths)])
		h.Put(p, other)
	case 5:
		h.Put(h.place(paths, where, what), h.text)
	case 6:
		h.Put(h.place(paths, where, what), body)
	case 7:
		h.Odd(p, []fs.FileMode{fs.ModeDir, fs.ModeNamedPipe, fs.ModeSymlink, fs.ModeSocket}[how%4])
	case 8:
		h.Put(p, exchange(body, at))
	case 9:
		h.Put(p, body+h.text)
	case 10:
		h.Look()
	case 11:
		h.Pass(time.Duration(at) * time.Minute)
	case 12, 13:
		h.answer(paths, int(where), int(what))
	case 14:
		h.handIn(paths, int(where), how)
	case 15:
		h.Put(h.place(paths, where, how), strings.Repeat(h.text, 1+int(what)))
	}
}

// place returns a name below one of the folders, or in the folder of one of the files.
func (h hand) place(paths []string, where, what byte) string {
	name := knownNames[int(what)%len(knownNames)]
	if int(where)%2 == 0 {
		return strings.Trim(folders[int(where)/2%len(folders)]+"/"+name, "/")
	}
	for _, p := range paths[int(where)%len(paths):] {
		if path.Base(p) == "state.json" || path.Base(p) == "meta.json" {
			return path.Dir(p) + "/" + name
		}
	}
	return ".afl/sessions/receipts/" + name
}

func flip(body string, at int) string {
	if body == "" {
		return "\x00"
	}
	b := []byte(body)
	b[at%len(b)] ^= byte(1 + at%255)
	return string(b)
}

var value = regexp.MustCompile(`"[^"\n]{0,40}"|\b\d+\b|null|true|false`)

// exchange replaces a word by another, or by a value.
func exchange(body string, at int) string {
	found := value.FindAllStringIndex(body, -1)
	if len(found) == 0 {
		return body
	}
	f := found[at/len(words)%len(found)]
	return body[:f[0]] + words[at%len(words)] + body[f[1]:]
}

var optionID = regexp.MustCompile(`"id": "([^"]+)"`)

// answer answers a request as a tool does, or in its form.
func (h hand) answer(paths []string, where, what int) {
	paths = slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return path.Base(p) != "request.json" })
	if len(paths) == 0 {
		return
	}
	dir := path.Dir(paths[where%len(paths)])
	request, _ := h.Disk.Get(dir + "/request.json")
	options := optionID.FindAllStringSubmatch(request, -1)
	word := "so be it"
	if len(options) > 0 {
		word = options[what/2%len(options)][1]
	}
	if form, ok := h.Disk.Get(dir + "/form.md"); ok && what%2 == 0 {
		form = strings.Replace(form, "- [ ] "+word, "- [x] "+word, 1)
		h.Put(dir+"/form.md", strings.Replace(form, "- [ ] submit", "- [x] submit", 1))
		return
	}
	h.Put(dir+"/response.json", fmt.Sprintf(`{"request_id": %q, "response": %q, "comment": "because", "provided_by": {"user": "kim", "source": "file"}}`, path.Base(dir), word))
}

// handIn does something that a worker can do with its attempt.
func (h hand) handIn(paths []string, where int, how byte) {
	paths = slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return path.Base(p) != "prompt.md" })
	if len(paths) == 0 {
		return
	}
	dir := path.Dir(paths[where%len(paths)])
	h.Put(dir+"/worker.json", []string{
		`{"status": "completed"}`, `{"status": "failed", "message": "no such host"}`, `{"status": "question", "question": "Which?"}`,
	}[how%3])
	if how%2 == 0 {
		h.Put(dir+"/result.json", fmt.Sprintf(`{"iteration": %s, "exitCode": %d, "output": "3 of 3 right"}`, path.Base(dir), how%4))
	}
}

// FuzzReconcile lets anything happen in a workspace of both families, at known and unknown
// paths. The loop becomes idle within its bound and never panics, writes no file of others, and
// a second look finds nothing to do: no note comes and goes.
func FuzzReconcile(f *testing.F) {
	f.Add(uint8(0), []byte{10, 0, 0, 0, 12, 0, 0, 0, 10, 0, 0, 0, 14, 0, 0, 0, 10, 0, 0, 0}, "{")
	f.Add(uint8(1), []byte{10, 0, 0, 0, 13, 1, 1, 0, 10, 0, 0, 0, 0, 3, 0, 0, 4, 5, 6, 7}, `{"status": "pending"}`)
	f.Add(uint8(2), []byte{10, 0, 0, 0, 8, 1, 2, 3, 10, 0, 0, 0, 8, 3, 20, 77, 7, 4, 0, 0, 10, 0, 0, 0}, "")
	f.Add(uint8(3), []byte{5, 3, 0, 0, 6, 5, 40, 0, 11, 0, 40, 0, 3, 3, 4, 5, 2, 7, 1, 1, 9, 9, 0, 0}, "<<<<<<< HEAD\n")
	f.Add(uint8(4), []byte{10, 0, 0, 0, 14, 0, 0, 1, 10, 0, 0, 0, 11, 0, 30, 0, 10, 0, 0, 0, 14, 1, 0, 2, 10, 0, 0, 0, 12, 1, 5, 0}, "checkpoints: [")
	f.Add(uint8(5), []byte{10, 0, 0, 0, 15, 1, 9, 0, 15, 0, 200, 16, 1, 12, 0, 0}, "\x00\u202e- [x] approve\n")
	f.Fuzz(func(t *testing.T, which uint8, ops []byte, text string) {
		if len(text) > 1<<12 {
			return
		}
		h := hand{enginetest.NewScramble(t, bothFamilies()...), text}
		for p, body := range demoTree(t, int(which)) {
			h.Put(p, body)
		}
		for i := 0; i+4 <= min(len(ops), 96); i += 4 {
			h.act(ops[i], ops[i+1], ops[i+2], ops[i+3])
		}
		h.Look()
	})
}

// nastyTexts are contents that replace the right ones.
var nastyTexts = []string{
	"{", "", "{}", "[]", "null", "\x00\x00", "{\"status\": \"awaiting_feedback\"}", "\ufeff{}", "checkpoints: [", "<<<<<<< a\n=======\n>>>>>>> b\n",
	`{"event_id": 2, "type": "feedback_received", "timestamp": "2099-01-01T00:00:00.000Z", "run_id": "x", "metadata": {"request_id": "fr-20261120-4a8880", "response": "approve", "placet": {"revision": 9, "key": "0123456789ab"}}}`,
	`{"by": "kim", "reason": "\u202e"}`, `{"want": "pause"}`, `{"want": "abort"}`, `{"sessionId": "receipts", "status": "completed"}`, "7\n", "# Problem\n\nnot ours\n",
}

// TestScrambledTreesComeToRest plays many games of FuzzReconcile, by their numbers.
func TestScrambledTreesComeToRest(t *testing.T) {
	t.Parallel()
	games := 60
	if testing.Short() {
		games = 10
	}
	if n, err := strconv.Atoi(os.Getenv("PLACET_SCRAMBLES")); err == nil {
		games = n
	}
	for game := range games {
		t.Run(strconv.Itoa(game), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(game), 4))
			h := hand{Scramble: enginetest.NewScramble(t, bothFamilies()...)}
			for p, body := range demoTree(t, game) {
				h.Put(p, body)
			}
			for range 4 + r.IntN(20) {
				h.text = nastyTexts[r.IntN(len(nastyTexts))]
				op := byte(r.IntN(24)) // it looks and answers more often than the rest
				if op >= 16 {
					op = []byte{10, 10, 10, 12, 13, 14, 10, 12}[op-16]
				}
				h.act(op, byte(r.IntN(256)), byte(r.IntN(256)), byte(r.IntN(256)))
			}
			h.Look()
		})
	}
}
