package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"placet/cmd/placet/console"
)

var (
	codeBlock   = regexp.MustCompile("(?s)\n```(?:sh|console)\n(.*?)\n```\n")
	codeSpan    = regexp.MustCompile("`(placet [^`]*)`")
	placetCall  = regexp.MustCompile(`(?:^|[|;&(]\s*)placet ([^|;&)<>#]*)`)
	shellString = regexp.MustCompile(`"[^"]*"|'[^']*'`)
)

// TestPagesNameCommandsThatExist reads the command lines of placet in README.md, docs and the
// manual: each verb and each flag of theirs must exist.
func TestPagesNameCommandsThatExist(t *testing.T) {
	var names []string
	for _, pattern := range []string{"../../../*.md", "../../../docs/*.md", "../../../docs/families/*.md", "manual/*.txt", "manual/*/*.txt"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	read := 0
	for _, name := range names {
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range commandLines(string(body)) {
			read++
			if err := parses(line); err != nil && filepath.Base(name) != "CHANGELOG.md" {
				t.Errorf("%s: placet %s: %v", filepath.Base(name), line, err)
			}
		}
	}
	if read < 100 {
		t.Errorf("there are %d command lines", read)
	}
}

// commandLines returns the command lines of placet in a page, without the word placet.
func commandLines(page string) (lines []string) {
	text := []string{}
	for _, m := range codeBlock.FindAllStringSubmatch(page, -1) {
		for line := range strings.Lines(m[1]) {
			if rest, prompted := strings.CutPrefix(line, "$ "); prompted || !strings.Contains(m[1], "$ ") {
				text = append(text, rest)
			}
		}
	}
	for _, m := range codeSpan.FindAllStringSubmatch(page, -1) {
		text = append(text, m[1])
	}
	for _, line := range text {
		for _, m := range placetCall.FindAllStringSubmatch(shellString.ReplaceAllString(line, "x"), -1) {
			lines = append(lines, strings.TrimSpace(m[1]))
		}
	}
	return lines
}

// parses returns what is wrong with a command line: its verb, or a flag.
func parses(line string) error {
	var begun bool
	root := newRoot(&console.Env{Out: io.Discard, Err: io.Discard, Getenv: os.Getenv}, &begun)
	cmd, rest, err := root.Find(strings.Fields(line))
	if err != nil {
		return err
	}
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	err = cmd.ParseFlags(rest)
	if required := (*pflag.ValueRequiredError)(nil); errors.As(err, &required) {
		return nil // a flag that the text only mentions
	}
	if err != nil || !cmd.HasSubCommands() {
		return err
	}
	return noSuchCommand(cmd, cmd.Flags().Args())
}
