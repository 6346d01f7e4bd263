// Command mutants shows that the tests would notice a mistake. Each mutant in its list changes
// one line of the program; with the change in place, one of the tests that guard the line must
// fail. The work tree is not touched: the changed file reaches the compiler by -overlay.
//
//	go run ./internal/mutants [-sets N] [-list FILE] [-from N] [-stop N]
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// mutant is one changed line of one file.
type mutant struct{ file, old, new string }

// readMutants reads a list. For each mutant it has the file, then the present line after "-"
// and the changed line after "+". Lines that begin with "#" are comments.
func readMutants(name string) ([]mutant, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []mutant
	var m mutant
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		switch line := lines.Text(); {
		case line == "" || line[0] == '#':
		case line[0] == '-':
			m.old = line[1:]
		case line[0] == '+':
			m.new = line[1:]
			all = append(all, m)
			m = mutant{}
		default:
			m.file = line
		}
	}
	return all, lines.Err()
}

// apply returns the file's content with the line changed. The line must occur once.
func (m mutant) apply(root string) ([]byte, error) {
	body, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return nil, err
	}
	old := []byte("\n" + m.old + "\n")
	if n := bytes.Count(body, old); n != 1 {
		return nil, fmt.Errorf("%s: the line occurs %d times, expected once: %s", m.file, n, strings.TrimSpace(m.old))
	}
	return bytes.Replace(body, old, []byte("\n"+m.new+"\n"), 1), nil
}

// guards returns the packages whose tests are run for a mutant, one set after the other
// until a test fails: first its own package, then the packages that are built on it.
func guards(file string) [][]string {
	own := "./" + path.Dir(file)
	if own == "./engine/store/disk" || own == "./engine/store/lock" || own == "./engine/store/read" { // tested at the door
		own = "./engine/store"
	}
	switch own {
	case "./engine/gate", "./engine/run":
		return [][]string{{own}, {"./engine/ask"}, {"./engine/faber"}, {"./engine/nemawashi", "./engine/pal", "./engine/afl", "./engine/optimizer"}, {"./cmd/placet/..."}}
	case "./engine/store", "./engine/loop":
		return [][]string{{own}, {"./internal/enginetest"}, {"./internal/faultsim", "./engine/ask"}, {"./cmd/placet/..."}}
	}
	return [][]string{{own}, {"./cmd/placet/..."}}
}

var failedTest = regexp.MustCompile(`(?m)^--- FAIL: (\S+)|^panic: test timed out|^\*\*\* Test killed`)

// tests runs the tests of packages of the program in a folder.
type tests struct {
	root   string
	limits map[string]time.Duration // for packages that were run unchanged: their limit with a mutant
}

// run runs the tests of packages and returns the first one that failed, "" for none.
func (t tests) run(packages []string, flags ...string) (failed string, err error) {
	cmd := exec.Command("go", slices.Concat([]string{"test", "-vet=off", "-ldflags=-s -w", "-parallel=16", "-failfast"}, flags, packages)...)
	cmd.Dir = t.root
	out, err := cmd.CombinedOutput()
	switch at := failedTest.FindSubmatch(out); {
	case err == nil:
		return "", nil
	case at == nil:
		return "", fmt.Errorf("no test ran: %s", bytes.TrimSpace(out))
	case len(at[1]) == 0:
		return "a test that did not end", nil
	default:
		return string(at[1]), nil
	}
}

// limit returns how long the tests of packages may take with a mutant: five times as long as
// without. It runs them unchanged once to measure that; they must pass.
func (t tests) limit(packages []string) (time.Duration, error) {
	key := strings.Join(packages, " ")
	if limit, ok := t.limits[key]; ok {
		return limit, nil
	}
	began := time.Now()
	failed, err := t.run(packages, "-count=1", "-timeout=20m")
	if failed != "" {
		err = fmt.Errorf("%s fails without a mutant", failed)
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", key, err)
	}
	t.limits[key] = time.Minute + 5*time.Since(began)
	return t.limits[key], nil
}

// caught runs at most the first most sets of a mutant's guards, and returns the first test
// that failed, "" for none.
func (t tests) caught(m mutant, most int) (by string, err error) {
	body, err := m.apply(t.root)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "placet-mutant-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	over, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(t.root, m.file): changed}})
	if err := errors.Join(err, os.WriteFile(changed, body, 0o644), os.WriteFile(overlay, over, 0o644)); err != nil {
		return "", err
	}
	sets := guards(m.file)
	sets = sets[:min(most, len(sets))]
	for _, packages := range sets {
		limit, err := t.limit(packages)
		if err != nil {
			return "", err
		}
		if by, err := t.run(packages, "-timeout="+limit.String(), "-overlay="+overlay); by != "" || err != nil {
			return by, err
		}
	}
	return "", nil
}

func main() {
	list := flag.String("list", filepath.Join("internal", "mutants", "mutants.txt"), "the `file` with the mutants")
	from := flag.Int("from", 1, "the number of the first mutant to try")
	stop := flag.Int("stop", 0, "the number of the last one, 0 for all")
	sets := flag.Int("sets", 10, "how many `sets` of packages to run at most; 1 is the mutant's own package")
	flag.Parse()
	root, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	all, err := readMutants(*list)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	t := tests{root: root, limits: map[string]time.Duration{}}
	tried, survived := 0, 0
	for i, m := range all {
		if i+1 < *from || *stop > 0 && i+1 > *stop {
			continue
		}
		began := time.Now()
		by, err := t.caught(m, *sets)
		tried++
		switch {
		case err != nil:
			by = "CANNOT TELL: " + err.Error()
			survived++
		case by == "":
			by = "SURVIVED"
			survived++
		}
		fmt.Printf("%3d  %-28s %-60s %s (%.0f s)\n", i+1, m.file, strings.TrimSpace(m.new), by, time.Since(began).Seconds())
	}
	fmt.Printf("%d mutants, %d of them caught\n", tried, tried-survived)
	if survived > 0 {
		os.Exit(1)
	}
}
