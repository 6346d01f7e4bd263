package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"placet/cmd/placet/cli"
	"placet/templates"
)

var unescaped = strings.NewReplacer(`\e`, `\`, `\-`, "-", `\(aq`, "'", `\(ga`, "`", `\(ha`, "^", `\(ti`, "~", `\(dq`, `"`, `\&`, "", `\fB`, "", `\fR`, "")

// TestManPagesHoldWhatHelpSays makes the pages of make man: each command that is listed has one
// in each language, with all lines of its help, and nothing else is read as a request of roff.
func TestManPagesHoldWhatHelpSays(t *testing.T) {
	dir := t.TempDir()
	if err := write(dir, edition{"1.2.3", "2026-11-20"}); err != nil {
		t.Fatal(err)
	}
	known := []string{".TH", ".SH", ".TP", ".PP", ".RS", ".RE", ".nf", ".fi", ".BR"}
	for _, lang := range templates.Languages() {
		all := pages(cli.Commands(lang), lang)
		if len(all) < 30 {
			t.Errorf("%s has %d pages", lang, len(all))
		}
		for _, p := range all {
			name := filepath.Join(dir, strings.TrimPrefix(lang, templates.English), "man1", p.name()+".1")
			body, err := os.ReadFile(name)
			if err != nil {
				t.Error(err)
				continue
			}
			for line := range strings.Lines(string(body)) {
				if word, _, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(word, ".") && !strings.Contains(strings.Join(known, " ")+" ", word+" ") || strings.HasPrefix(line, "'") {
					t.Errorf("%s: roff reads %q as a request", name, line)
				}
			}
			text := unescaped.Replace(string(body))
			for line := range strings.Lines(p.cmd.Long + "\n" + p.cmd.Short) {
				if line = strings.TrimSpace(line); !strings.Contains(text, line) {
					t.Errorf("%s does not say %q", name, line)
				}
			}
		}
	}
	for _, want := range []string{"man1/placet.1", "man1/placet-ask.1", "man1/placet-pal-plan.1", "ja/man1/placet-ask.1", "ko/man1/placet-wait.1"} {
		if _, err := os.Stat(filepath.Join(dir, want)); err != nil {
			t.Error(err)
		}
	}
	if head, _ := os.ReadFile(filepath.Join(dir, "man1/placet-ask.1")); !strings.HasPrefix(string(head), `.TH "PLACET\-ASK" 1 "2026\-11\-20" "placet 1.2.3" placet`+"\n"+`.SH "NAME"`+"\nplacet\\-ask \\- ") {
		t.Errorf("the page begins with\n%.200s", head)
	}
}
