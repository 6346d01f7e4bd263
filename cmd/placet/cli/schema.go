package cli

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"placet/cmd/placet/console"
	"placet/schemas"
)

func schemaVerb() verb {
	return verb{
		use: "schema [NAME]", short: "Print the JSON Schemas of the files",
		most:  1,
		group: groupSetUp,
		complete: func(*console.Env) cobra.CompletionFunc {
			return cobra.FixedCompletions(schemas.Names(), cobra.ShellCompDirectiveNoFileComp)
		},
		run: func(c call) error {
			if len(c.args) == 0 {
				names := schemas.Names()
				return c.env.Answer(map[string]any{"schemas": names}, func() {
					for _, name := range names {
						c.env.Say("%s", name)
					}
				})
			}
			body, err := schemas.Source(c.args[0])
			if err != nil {
				return console.Usage("there is no schema %q", console.OneLine(c.args[0])).Try("placet schema lists them")
			}
			return c.env.Answer(map[string]any{"name": c.args[0], "schema": json.RawMessage(body)}, func() {
				c.env.Say("%s", strings.TrimSuffix(string(body), "\n"))
			})
		},
	}
}
