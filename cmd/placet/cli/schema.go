package cli

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"placet/cmd/placet/console"
	"placet/schemas"
)

func schemaCommand(w *console.Env) *cobra.Command {
	return &cobra.Command{
		Use: "schema [NAME]", Short: "The JSON Schemas that documents must fit",
		Long:    `Lists the embedded JSON Schemas, or prints one of them as it is.`,
		Args:    takes(0, 1),
		GroupID: groupSetUp,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return schemas.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				names := schemas.Names()
				return w.Answer(map[string]any{"schemas": names}, func() {
					for _, name := range names {
						w.Say("%s", name)
					}
				})
			}
			body, err := schemas.Source(args[0])
			if err != nil {
				return console.Usage("there is no schema %q", console.OneLine(args[0])).Try("placet schema lists them")
			}
			return w.Answer(map[string]any{"name": args[0], "schema": json.RawMessage(body)}, func() {
				w.Say("%s", strings.TrimSuffix(string(body), "\n"))
			})
		},
	}
}
