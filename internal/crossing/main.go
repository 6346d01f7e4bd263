// Command crossing counts what one answer crosses: how many functions, in how many files, from the event of the renamed
// response.json until the loop is idle again, and how often request.json is encoded. It must be built with the coverage
// of the product:
//
//	go run -cover -covermode=atomic -coverpkg=placet/cmd/...,placet/engine/...,placet/layout,placet/schemas,placet/templates,placet/internal/crossing ./internal/crossing
//
// A test compares the counts with their limits.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/coverage"
	"slices"
	"strconv"
	"strings"
	"time"

	"placet/cmd/placet/cli"
)

func main() {
	if err := report(slices.Contains(os.Args, "-v")); err != nil {
		fmt.Fprintln(os.Stderr, "crossing:", err)
		os.Exit(1)
	}
}

func report(verbose bool) error {
	dir, err := os.MkdirTemp("", "placet-crossing-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	counts := filepath.Join(dir, "counts")
	if err := errors.Join(os.Mkdir(counts, 0o755), oneAnswer(dir, counts)); err != nil {
		return err
	}
	crossed, err := covdata("func", counts)
	if err != nil {
		return err
	}
	blocks, err := covdata("textfmt", counts, "-o=/dev/stdout")
	if err != nil {
		return err
	}
	times := firstBlocks(blocks)
	files, functions, encoded := map[string]bool{}, 0, 0
	for line := range strings.Lines(crossed) {
		place, rest, _ := strings.Cut(line, ":\t")
		words := strings.Fields(rest)
		if len(words) != 2 || words[1] == "0.0%" || place == "total" || strings.Contains(place, "/internal/crossing/") {
			continue
		}
		file, _, _ := strings.Cut(place, ":")
		functions, files[file] = functions+1, true
		if verbose {
			fmt.Println(times[place], place, words[0])
		}
		if strings.HasSuffix(file, "engine/gate/documents.go") && words[0] == "Request.Encode" {
			encoded = times[place]
		}
	}
	fmt.Printf("functions %d\nfiles %d\nencodings %d\n", functions, len(files), encoded)
	return nil
}

// firstBlocks returns how often the first block that begins on a line ran, by file:line.
func firstBlocks(blocks string) map[string]int {
	times := map[string]int{}
	for line := range strings.Lines(blocks) {
		words := strings.Fields(line)
		place, _, _ := strings.Cut(words[0], ",")
		place = place[:strings.LastIndexByte(place, '.')+1]
		if place == "" || len(words) != 3 {
			continue
		}
		place = place[:len(place)-1]
		if _, known := times[place]; !known {
			times[place], _ = strconv.Atoi(words[2])
		}
	}
	return times
}

func covdata(what, dir string, more ...string) (string, error) {
	cmd := exec.Command("go", append([]string{"tool", "covdata", what, "-i=" + dir}, more...)...)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go tool covdata %s: %w\n%s", what, err, problem.String())
	}
	return string(out), nil
}

// oneAnswer watches a workspace with two open questions in this process. The first answer warms the
// process up; the functions that the second one crosses are counted.
func oneAnswer(dir, counts string) error {
	root := filepath.Join(dir, "workspace")
	for name, value := range map[string]string{"XDG_STATE_HOME": dir + "/state", "XDG_CONFIG_HOME": dir + "/config", "LC_ALL": "C"} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	if err := os.Mkdir(root, 0o755); err != nil {
		return err
	}
	for _, key := range []string{"one", "two"} {
		if code := placet(root, "ask", "Deploy?", "--option", "yes", "--option", "no", "--key", key); code != 0 {
			return fmt.Errorf("placet ask ended with %d", code)
		}
	}
	requests, err := filepath.Glob(filepath.Join(root, ".asks", "*", "requests", "*"))
	if err != nil || len(requests) != 2 {
		return fmt.Errorf("the asks have the requests %q, %v", requests, err)
	}
	if err := watching(root); err != nil {
		return err
	}
	if err := answer(requests[0], settled); err != nil {
		return err
	}
	if err := errors.Join(coverage.WriteMetaDir(counts), coverage.ClearCounters()); err != nil {
		return err
	}
	if err := answer(requests[1], idle); err != nil {
		return err
	}
	return coverage.WriteCountersDir(counts)
}

// placet runs a verb in this process.
func placet(root string, args ...string) int {
	os.Args = append([]string{"placet", "-C", root}, args...)
	return cli.Main("")
}

// watching starts to watch, and waits until the watch reports that it does.
func watching(root string) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	stderr := os.Stderr
	os.Stderr = w
	go placet(root, "watch")
	words := bufio.NewScanner(r)
	if !words.Scan() {
		return fmt.Errorf("placet watch said nothing: %w", words.Err())
	}
	os.Stderr = stderr
	go func() {
		for words.Scan() {
		}
	}()
	return nil
}

// settled and idle are how long to wait after an answer is taken: after the first until the loop has
// done everything that it does after its start, after the second until it is idle again. Periodic
// work does not belong to the answer.
const (
	settled = 2 * time.Second
	idle    = 200 * time.Millisecond
)

// answer answers a question as an editor does, and waits for a time after the answer is taken.
func answer(folder string, afterwards time.Duration) error {
	body := fmt.Sprintf(`{"request_id": %q, "response": "yes", "provided_by": {"user": "kim", "source": "file"}}`, filepath.Base(folder))
	draft := filepath.Join(folder, ".response.json.tmp")
	if err := errors.Join(os.WriteFile(draft, []byte(body), 0o644), os.Rename(draft, filepath.Join(folder, "response.json"))); err != nil {
		return err
	}
	for {
		_, err := os.Stat(filepath.Join(folder, "receipt.json"))
		if err == nil {
			time.Sleep(afterwards)
			return nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}
