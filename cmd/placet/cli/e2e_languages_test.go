package cli_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"placet/cmd/placet/console"
)

// Check 5 of languages, in a real terminal: characters that are two columns wide do not shift
// the columns of a table, and no line is longer than the terminal.
func TestLanguageCheck5ColumnsAreStraightInKorean(t *testing.T) {
	t.Parallel()
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("there is no tmux: install it to see columns in a terminal")
	}
	p := newPlace(t, t.TempDir(), 1)
	question := strings.Repeat("배포할까요? ", 20)
	for i, name := range []string{"첫째", "second"} {
		p.write(fmt.Sprintf(".asks/q-%d/ask.json", i+1), fmt.Sprintf(`{"question": %q, "asked_by": {"name": %q}}`, question, name))
	}
	p.placet("once")
	socket := filepath.Join(t.TempDir(), "tmux")
	shell := fmt.Sprintf("LC_ALL= LANG=ko_KR.UTF-8 %[1]s status 2>/dev/null; LC_ALL= LANG=ko_KR.UTF-8 %[1]s inbox --short 2>/dev/null; echo END; sleep 60", placetBinary(t))
	cmd := exec.Command(tmux, "-u", "-S", socket, "new-session", "-d", "-x", "140", "-y", "40", "-c", p.root, shell)
	cmd.Env = p.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cannot begin tmux: %v\n%s", err, out)
	}
	defer exec.Command(tmux, "-S", socket, "kill-server").Run()
	var lines []string
	p.until("the end of the inbox is on the screen", func() bool {
		out, err := exec.Command(tmux, "-u", "-S", socket, "capture-pane", "-p").Output()
		lines = strings.Split(string(out), "\n")
		return err == nil && strings.Contains(string(out), "\nEND")
	})
	screen := strings.Join(lines, "\n")
	if strings.Contains(screen, "STATUS") {
		t.Fatalf("it is not in Korean:\n%s", screen)
	}
	heads := cellsAt(lines[0])
	for _, line := range lines[1:4] {
		if at := cellsAt(line); len(at) < len(heads) || !slices.Equal(at[:len(heads)], heads) {
			t.Errorf("cells begin at the columns %v, the heads at %v:\n%s", at, heads, screen)
		}
	}
	shown := 0
	for _, line := range lines {
		if console.Columns(line) > 140 {
			t.Errorf("it is longer than the terminal: %s", line)
		}
		if strings.Contains(line, "배포할까요?") {
			shown++
		}
	}
	if shown != 2 {
		t.Errorf("%d lines show 2 questions:\n%s", shown, screen)
	}
}

// cellsAt are the columns at which the cells of a row begin: two blanks are between them.
func cellsAt(line string) (all []int) {
	for _, at := range regexp.MustCompile(`\S+(?: \S+)*`).FindAllStringIndex(line, -1) {
		all = append(all, console.Columns(line[:at[0]]))
	}
	return all
}
