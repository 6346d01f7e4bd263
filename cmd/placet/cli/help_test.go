package cli

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"placet/cmd/placet/console"
	"placet/cmd/placet/hook"
	"placet/templates"
)

// unexplained are verbs without a page of the manual, because their one line says all.
var unexplained = []string{"help", "version"}

// The help of every command and every flag is translated. The pages of the manual are left out.
func TestHelpIsTranslated(t *testing.T) {
	var out bytes.Buffer
	var begun bool
	root := newRoot(&console.Env{Out: &out, Err: &out, Lang: templates.Pseudo, Getenv: os.Getenv}, &begun)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	letters := regexp.MustCompile(`\pL+`)
	commands := 0
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		commands++
		out.Reset()
		_ = cmd.Help()
		shown := strings.TrimPrefix(out.String(), cmd.Long)
		if cmd.HasParent() && !strings.HasPrefix(cmd.Short, "⟦") {
			t.Errorf("%s has no words: add help.%s to templates/*/words.json", cmd.CommandPath(), cmd.Name())
		}
		if cmd.Parent() == root && cmd.GroupID == "" {
			t.Errorf("%s has no group: set Group in its verb.Verb", cmd.CommandPath())
		}
		if cmd.Parent() == root && len(cmd.Commands()) == 0 && !slices.Contains(unexplained, cmd.Name()) && page("", cmd.Name()) == "" {
			t.Errorf("%s has no page: write cmd/placet/cli/manual/%s.txt, and its translations", cmd.CommandPath(), cmd.Name())
		}
		names := []string{cmd.UseLine(), "command", strings.Join(hook.Names(false), " ")}
		for _, below := range cmd.Commands() {
			names = append(names, below.Name())
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(f.Usage, "⟦") {
				t.Errorf("%s --%s has no words: %q", cmd.CommandPath(), f.Name, f.Usage)
			}
			value, _ := pflag.UnquoteUsage(f)
			names = append(names, f.Name, f.Shorthand, value, f.DefValue, f.NoOptDefVal)
		})
		known := letters.FindAllString(strings.Join(names, " "), -1)
		for _, word := range letters.FindAllString(pseudo.ReplaceAllString(shown, " "), -1) {
			if !slices.Contains(known, word) {
				t.Errorf("%s --help says %q in English:\n%s", cmd.CommandPath(), word, shown)
			}
		}
		for _, below := range cmd.Commands() {
			check(below)
		}
	}
	check(root)
	if commands < 60 {
		t.Errorf("there are %d commands", commands)
	}
}
