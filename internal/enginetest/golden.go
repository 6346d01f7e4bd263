package enginetest

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"placet/engine"
	"placet/layout"
)

// goldenTrees holds a line for each test, with a digest for each scenario that it runs: of
// the tree on the disk, byte for byte in every idle state, and of the transitions. The
// scenarios of a package must give what was recorded. To record anew, remove the file and run
//
//	PLACET_TREES=write go test ./engine/...
//
// Any other value names a folder into which every idle state is written as files, to
// compare them with those of an earlier version of the program.
const goldenTrees = "testdata/trees.txt"

var treesMode = os.Getenv("PLACET_TREES")

// tests holds the scenarios of the tests that run, and what was recorded of all of them.
var tests struct {
	sync.Mutex
	stories  map[string][]*transcript
	recorded map[string][]string
}

// transcript is what one scenario has left in its idle states.
type transcript struct {
	test  string
	rests []string // a digest of each
}

// clone returns the transcript of a scenario that continues in another way.
func (s *transcript) clone() *transcript {
	if s == nil {
		return nil
	}
	c := &transcript{test: s.test, rests: slices.Clone(s.rests)}
	tests.Lock()
	defer tests.Unlock()
	tests.stories[s.test] = append(tests.stories[s.test], c)
	return c
}

// newTranscript begins the transcript of a scenario. It returns nil if none is compared,
// because a fuzzer's inputs differ each time.
func newTranscript(t testing.TB) *transcript {
	if strings.HasPrefix(t.Name(), "Fuzz") {
		return nil
	}
	s := &transcript{test: t.Name()}
	tests.Lock()
	defer tests.Unlock()
	if tests.stories == nil {
		tests.stories = map[string][]*transcript{}
	}
	if tests.stories[s.test] == nil {
		t.Cleanup(func() { compareStories(t) })
	}
	tests.stories[s.test] = append(tests.stories[s.test], s)
	return s
}

// rest adds an idle state to a scenario.
func (s *transcript) rest(t testing.TB, tree Tree, taken []engine.Transition) {
	if s == nil {
		return
	}
	var b strings.Builder
	for _, tr := range taken {
		fmt.Fprintf(&b, "%s %s %s %s\n", tr.Of, tr.Event, tr.From, tr.To)
	}
	for _, p := range tree.Paths() {
		if !layout.IsTemp(path.Base(p)) {
			fmt.Fprintf(&b, "%s %s\n", engine.Sum([]byte(tree[p])), p)
		}
	}
	s.rests = append(s.rests, shortSum(b.String()))
	if treesMode != "" && treesMode != "write" {
		s.dump(t, tree, b.String())
	}
}

// dump writes an idle state as files.
func (s *transcript) dump(t testing.TB, tree Tree, listing string) {
	dir := filepath.Join(treesMode, strings.ReplaceAll(s.test, "/", "_"), strings.Join(s.rests, "-"))
	if len(s.rests) > 4 {
		dir = filepath.Join(treesMode, strings.ReplaceAll(s.test, "/", "_"), fmt.Sprintf("%s-%d-%s", s.rests[0], len(s.rests), s.rests[len(s.rests)-1]))
	}
	files := maps.Clone(tree)
	files["LISTING"] = listing
	for p, body := range files {
		name := filepath.Join(dir, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func shortSum(s string) string {
	sum := sha256.Sum256([]byte(s))
	return fmt.Sprintf("%x", sum[:8])
}

// compareStories looks up each scenario of a test in the record of that test. A test may
// run several scenarios, and fewer of them if it has to be quick.
func compareStories(t testing.TB) {
	tests.Lock()
	defer tests.Unlock()
	name := t.Name()
	told := tests.stories[name]
	delete(tests.stories, name)
	if tests.recorded == nil {
		tests.recorded = readTrees(t)
	}
	for _, s := range told {
		digest := shortSum(strings.Join(s.rests, " "))
		switch known := slices.Contains(tests.recorded[name], digest); {
		case len(s.rests) == 0 || known || t.Failed():
		case treesMode == "write":
			tests.recorded[name] = append(tests.recorded[name], digest)
			writeTrees(t, tests.recorded)
		case treesMode == "" && len(tests.recorded[name]) == 0:
			t.Errorf("no tree of it is recorded in %s: record one with PLACET_TREES=write", goldenTrees)
			return
		case treesMode == "":
			t.Errorf("it leaves other files than were recorded in %s. Have it write its trees with this version and with an earlier one (PLACET_TREES=folder), and compare them.", goldenTrees)
			return
		}
	}
}

func readTrees(t testing.TB) map[string][]string {
	all := map[string][]string{}
	body, err := os.ReadFile(goldenTrees)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(body)) {
		name, digests, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		all[name] = strings.Fields(digests)
	}
	return all
}

func writeTrees(t testing.TB, all map[string][]string) {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "%s\t%s\n", name, strings.Join(slices.Sorted(slices.Values(all[name])), " "))
	}
	if err := os.WriteFile(goldenTrees, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
