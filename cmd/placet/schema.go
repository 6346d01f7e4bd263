package main

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"placet/schemas"
)

func schemaCommand(w *world) *cobra.Command {
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
				return w.answer(map[string]any{"schemas": names}, func() {
					for _, name := range names {
						w.say("%s", name)
					}
				})
			}
			body, err := schemas.Source(args[0])
			if err != nil {
				return usage("there is no schema %q", line(args[0])).try("placet schema lists them")
			}
			return w.answer(map[string]any{"name": args[0], "schema": json.RawMessage(body)}, func() {
				w.say("%s", strings.TrimSuffix(string(body), "\n"))
			})
		},
	}
}
