package cli

import (
	"cmp"

	"github.com/spf13/pflag"

	"placet/cmd/placet/cli/setup"
	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
)

// doctorVerb returns the verb that says what is wrong with a workspace, its machine and its runs.
func doctorVerb() verb.Verb {
	var fix bool
	var reason, by string
	return verb.Verb{
		Use:  "doctor [RUN]",
		Most: 1, Group: verb.GroupSetUp, Common: true, Complete: verb.CompleteRuns,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&fix, "fix", false, "")
			f.StringVarP(&reason, "message", "m", "", "")
			f.StringVar(&by, "as", console.Login(), "")
		},
		Run: func(c verb.Call) error {
			if !fix && (c.Flags.Changed("message") || c.Flags.Changed("as")) {
				return console.Usage("cli.doctor.fix.flags").Try("say.text", "text", "placet doctor --fix RUN -m TEXT")
			}
			if !fix && len(c.Args) == 0 {
				return examine(c.Env)
			}
			b, err := workspace.Look(c.Env)
			switch {
			case err != nil:
				return err
			case !fix:
				return check(b, c.Args)
			case len(c.Args) == 1:
				return adoptNamed(c.Ctx, b, c.Args[0], reason, by)
			}
			return fixAll(c, b, reason, by)
		},
	}
}

// examine shows what is wrong with the workspace and its machine, and with the documents of all
// runs.
func examine(w *console.Env) error {
	e, err := setup.Examine(w)
	if err != nil {
		return err
	}
	data, b := e.Data(), e.Workspace
	if b == nil {
		return cmp.Or(w.Answer(data, e.Print), console.Outcome(e.Sick(), false))
	}
	found := b.Runs()
	b.Brief, b.WaitsForHeld = true, true
	defer view.Remember(b, found, true)
	lines, errors := findings(b, view.Runs(b, found), true)
	data["runs"], data["findings"] = len(found), lines
	err = w.Answer(data, func() {
		e.Print()
		if len(lines) > 0 {
			w.Say("say.text", "text", "")
			printFindings(w, len(found), lines, errors)
		}
	})
	return cmp.Or(err, console.Outcome(e.Sick() || b.Unlisted || errors > 0, false))
}

// fixAll asks, for each run that stands still until a person accepts what others changed, whether
// that shall count.
func fixAll(c verb.Call, b *workspace.Workspace, reason, by string) error {
	var blocked []view.Run
	for _, v := range view.Runs(b, b.Runs()) {
		if v.Unaccounted != "" || len(v.Fabrications()) > 0 {
			blocked = append(blocked, v)
		}
	}
	switch {
	case len(blocked) == 0 && b.Unlisted: // the reason was shown, and a run may be missing
		return console.Outcome(true, false)
	case len(blocked) == 0:
		return b.Env.Answer(map[string]any{"fixed": 0}, func() { b.Env.Say("cli.doctor.fix.nothing") })
	}
	if len(blocked) > 1 && (b.Env.Flags.JSON || !b.Env.AtTerminal()) {
		several := console.Usage("cli.doctor.fix.several", "n", len(blocked))
		for _, v := range blocked {
			several.Fits = append(several.Fits, console.Typed("doctor --fix", console.Brief(v.Key)))
		}
		return several
	}
	var declined error
	for _, v := range blocked {
		switch err := adoptRun(c.Ctx, b, v.Found, "", reason, by); err {
		case nil:
		case console.Declined: // the others may be right
			declined = err
		default:
			return err
		}
	}
	return declined
}
