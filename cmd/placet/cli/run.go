package cli

import (
	"github.com/spf13/cobra"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine/reconcile"
)

// onRun is a verb about the one run that its first argument names.
func onRun(w *console.Env, do func(*workspace.Workspace, reconcile.Found) error) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		b, err := workspace.Look(w)
		if err != nil {
			return err
		}
		f, err := b.OneRun(args[0])
		if err != nil {
			return err
		}
		return do(b, f)
	}
}
