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

// What help says of every command and every flag is translated. The pages of the manual are
// left out.
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
		if cmd.HasParent() && !strings.HasPrefix(cmd.Short, "⟦") || cmd.HasParent() && cmd.Parent() == root && cmd.GroupID == "" {
			t.Errorf("%s has no words, or no group: %q, %q", cmd.CommandPath(), cmd.Short, cmd.GroupID)
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
