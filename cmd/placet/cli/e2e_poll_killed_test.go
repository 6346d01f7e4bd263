package cli_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"placet/engine"
	"placet/engine/statedir"
)

// pollRound is how many new comments GitHub has in each round of the pollers that are killed.
const pollRound = 7

// killedPollers are pollers of one workspace, two at a time, which are killed again and again.
type killedPollers struct {
	*place
	g   *fakeGH
	rng *rand.Rand
	// newest are the times that the pollers' state may name, the oldest first, and at is the last
	// that it named.
	newest []string
	at     int
}

// Comments come once, each with the bytes that GitHub has, though pollers are killed at any moment.
func TestF16PollersSurviveKillNine(t *testing.T) {
	t.Parallel()
	k := &killedPollers{place: newPlace(t, filepath.Join(t.TempDir(), "ws"), 1), rng: rand.New(rand.NewPCG(16, 29)), newest: []string{""}}
	k.g = onGitHub(t, k.place, "")
	k.must(3, "once")
	rounds := tortured(8, 100)
	for n := range rounds {
		k.serves(n + 1)
		k.races()
		k.verifyState()
	}
	k.must(0, "faber", "poll")
	k.verifyState()
	k.verify(rounds * pollRound)
}

// serves makes GitHub have the comments of the first n rounds.
func (k *killedPollers) serves(n int) {
	k.t.Helper()
	all := ghComments("acme/web", 1, 1, n*pollRound, "kim", "@faber status")
	for page := 1; len(all) >= 100*(page-1); page++ {
		k.g.answers(commentsPath("acme/web", page), "200 OK", "", all[100*(page-1):min(100*page, len(all))])
	}
	k.newest = append(k.newest, all[len(all)-1]["updated_at"].(string))
}

// races starts two pollers, and kills both once some comments have come.
func (k *killedPollers) races() {
	k.t.Helper()
	var pollers [2]*exec.Cmd
	ended := make(chan error, len(pollers))
	more := len(k.files()) + k.rng.IntN(pollRound+1)
	for i := range pollers {
		pollers[i] = k.program("-C", k.root, "faber", "poll")
		if err := pollers[i].Start(); err != nil {
			k.t.Fatal(err)
		}
		go func() { ended <- pollers[i].Wait() }()
	}
	k.until("comments have come", func() bool { return len(k.files()) >= more || len(ended) == len(pollers) })
	for _, p := range pollers {
		_ = p.Process.Signal(syscall.SIGKILL)
	}
	for range pollers {
		<-ended
	}
}

func (k *killedPollers) files() []string {
	names, _ := filepath.Glob(filepath.Join(k.root, k.runs[0], "comments", "gh-*.json"))
	return names
}

// verifyState checks that the pollers' state is that of a whole round, and never an older one again.
func (k *killedPollers) verifyState() {
	k.t.Helper()
	for _, name := range k.pollStates() {
		var state map[string]struct{ Comments string }
		body := k.readFile(name)
		if err := json.Unmarshal([]byte(body), &state); err != nil {
			k.t.Fatalf("%v: %s", err, body)
		}
		at := state["acme/web"].Comments
		for k.at < len(k.newest)-1 && k.newest[k.at] != at {
			k.at++
		}
		if k.newest[k.at] != at {
			k.t.Fatalf("the state names %s, which is older than the one before, or of no round: %q", at, k.newest)
		}
	}
}

// verify checks that each comment is there as a poller writes it that nobody kills, with its author on
// record, and that it gets its reply.
func (k *killedPollers) verify(n int) {
	k.t.Helper()
	calm := newPlace(k.t, filepath.Join(k.t.TempDir(), "calm"), 1)
	calm.vars = k.vars
	calm.configure("[faber.issue]\nenabled = true\nauthors = [\"kim\"]\nrepo = \"acme/web\"\ngh = [\"" + filepath.Join(k.g.dir, "bin", "gh") + "\"]\n")
	calm.must(0, "trust", "--yes")
	calm.must(3, "once")
	calm.must(0, "faber", "poll")
	if got := len(k.files()); got != n {
		k.t.Errorf("%d comments came, want %d", got, n)
	}
	authors := k.authors()
	for id := 1; id <= n; id++ {
		file := fmt.Sprintf("%s/comments/gh-%d.json", k.runs[0], id)
		body := k.read(file)
		if body == "" || body != calm.read(file) {
			k.t.Errorf("%s: %q, want %q", file, body, calm.read(file))
		}
		if who := authors[file+" "+string(engine.Sum([]byte(body)))]; who != "github:kim" {
			k.t.Errorf("%s is %q's", file, who)
		}
	}
	k.until("every comment has its reply", func() bool {
		k.placet("once")
		replies, _ := filepath.Glob(filepath.Join(k.root, k.runs[0], "comments", "gh-*.reply.md"))
		return len(replies) == n
	})
	if left := k.temps(); len(left) > 0 {
		k.t.Errorf("pollers left %q", left)
	}
}

// authors returns who wrote a file with a content according to the state folder.
func (k *killedPollers) authors() map[string]string {
	k.t.Helper()
	names, _ := filepath.Glob(filepath.Join(k.stateHome(), "placet", "workspaces", "*", "attributions.jsonl"))
	who := map[string]string{}
	for _, name := range names {
		for line := range strings.Lines(k.readFile(name)) {
			var a statedir.Attribution
			if json.Unmarshal([]byte(line), &a) == nil {
				who[a.Path+" "+string(a.Digest)] = a.Who
			}
		}
	}
	return who
}
