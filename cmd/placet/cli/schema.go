package cli

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"placet/cmd/placet/console"
	"placet/schemas"
)

func schemaVerb() verb {
	return verb{
		use:   "schema [NAME]",
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
						fmt.Fprintln(c.env.Out, name)
					}
				})
			}
			body, err := schemas.Source(c.args[0])
			if err != nil {
				return console.Usage("cli.schema.none", "name", strconv.Quote(console.OneLine(c.args[0]))).Try("cli.schema.list")
			}
			return c.env.Answer(map[string]any{"name": c.args[0], "schema": json.RawMessage(body)}, func() {
				fmt.Fprintln(c.env.Out, strings.TrimSuffix(string(body), "\n"))
			})
		},
	}
}
