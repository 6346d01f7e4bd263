package nemawashi

import (
	"fmt"

	"github.com/spf13/pflag"

	"placet/cmd/placet/actions"
	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine/loop"
	"placet/engine/nemawashi"
	"placet/schemas"
)

func historyVerb() verb.Verb {
	var status, project string
	limit := 50
	return verb.Verb{
		Use: "history",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&status, "status", "", "")
			f.StringVar(&project, "project", "", "")
			f.IntVar(&limit, "limit", limit, "")
		},
		Look: func(c verb.Call, b *workspace.Workspace) error {
			if limit < 1 || limit > 500 {
				return console.Usage("cli.nemawashi.limit", "limit", limit)
			}
			list := actions.Threads(b, func(st nemawashi.State) bool {
				return (status == "" || string(st.Status) == status) && (project == "" || string(st.ProjectID) == project)
			})
			list = list[:min(len(list), limit)]
			return b.Env.Answer(list, func() {
				t := &console.Table{}
				for _, a := range list {
					t.Add(a.ThreadID, string(a.Status), string(a.UpdatedAt), string(a.ProjectID), console.Cut(console.OneLine(a.Summary), view.ShownDraft))
				}
				t.Print(b.Env, b.Env.Out)
			})
		},
	}
}

func auditVerb() verb.Verb {
	return verb.Verb{
		Use: "audit ACTION", Least: 1, Most: 1, Complete: verb.CompleteRuns,
		Look: func(c verb.Call, b *workspace.Workspace) error {
			f, err := oneAction(b, c.Args[0])
			if err != nil {
				return err
			}
			list := actions.Events(b, f)
			return b.Env.Answer(list, func() {
				t := &console.Table{}
				for _, e := range list {
					t.Add(string(e.CreatedAt), e.Type, e.Actor, e.CorrelationID, console.Cut(console.OneLine(e.Words()), view.ShownDraft))
				}
				t.Print(b.Env, b.Env.Out)
			})
		},
	}
}

func rowsVerb() verb.Verb {
	return verb.Verb{
		Use: "runs [ACTION]", Most: 1, Complete: verb.CompleteRuns,
		Look: func(c verb.Call, b *workspace.Workspace) error {
			all := actions.All(b)
			if len(c.Args) > 0 {
				f, err := oneAction(b, c.Args[0])
				if err != nil {
					return err
				}
				all = []loop.Found{f}
			}
			list := []schemas.Object{}
			for _, f := range all {
				for n := 1; ; n++ {
					d := b.ReadDocument(f, fmt.Sprintf("runs/%d.json", n))
					var row schemas.Object
					if !d.Present() || schemas.Decode("nemawashi/run", d.Path, d.Body, &row) != nil {
						break
					}
					list = append(list, row)
				}
			}
			return b.Env.Answer(list, func() {
				t := &console.Table{}
				for _, row := range list {
					var cells []string
					for _, name := range []string{"run_id", "executed_at", "action_type", "provider", "status", "error"} {
						text, _ := row.Raw(name).Text()
						cells = append(cells, console.Cut(console.OneLine(text), view.ShownDraft))
					}
					t.Add(cells...)
				}
				t.Print(b.Env, b.Env.Out)
			})
		},
	}
}
