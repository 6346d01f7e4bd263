package cli

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/schemas"
)

func schemaVerb() verb.Verb {
	return verb.Verb{
		Use:   "schema [NAME]",
		Most:  1,
		Group: verb.GroupSetUp,
		Complete: func(*console.Env) cobra.CompletionFunc {
			return cobra.FixedCompletions(schemas.Names(), cobra.ShellCompDirectiveNoFileComp)
		},
		Run: func(c verb.Call) error {
			if len(c.Args) == 0 {
				names := schemas.Names()
				return c.Env.Answer(map[string]any{"schemas": names}, func() {
					for _, name := range names {
						fmt.Fprintln(c.Env.Out, name)
					}
				})
			}
			body, err := schemas.Source(c.Args[0])
			if err != nil {
				return console.Usage("cli.schema.none", "name", strconv.Quote(console.OneLine(c.Args[0]))).Try("cli.schema.list")
			}
			return c.Env.Answer(map[string]any{"name": c.Args[0], "schema": json.RawMessage(body)}, func() {
				fmt.Fprintln(c.Env.Out, strings.TrimSuffix(string(body), "\n"))
			})
		},
	}
}
