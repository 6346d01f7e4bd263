package cli

import (
	"bytes"
	"io"
	"strings"

	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
)

// explainVerb returns the older name of show --why.
func explainVerb() verb.Verb {
	return verb.Verb{
		Use:   "explain RUN[/PART]|REQUEST [PART]",
		Least: 1, Most: 2, Group: verb.GroupUnderstand, Complete: verb.CompleteRuns, Old: true,
		Look: func(c verb.Call, b *workspace.Workspace) error { return explain(b, strings.Join(c.Args, "/")) },
	}
}

// explain says why the subject waits that an argument names.
func explain(b *workspace.Workspace, name string) error {
	s, err := view.FindSubject(b, name)
	if err != nil {
		return err
	}
	e := view.Explain(b, s)
	return b.Env.Answer(e, func() {
		showExplanation(b.Env, s, e)
		printState(b, view.Summary{Daemon: e.Daemon, Held: e.Held, Stale: e.Stale, Views: []view.Run{s.View}})
	})
}

func showExplanation(w *console.Env, s view.Subject, e view.Explanation) {
	show(w, "explanation", struct {
		view.Explanation
		Style string
	}{e, statusStyle(s.View)})
}

// explanationText returns the output of explain for a run.
func explanationText(b *workspace.Workspace, s view.Subject) string {
	var out bytes.Buffer
	w := *b.Env
	w.Out, w.Err, w.Colour = &out, io.Discard, false
	showExplanation(&w, s, view.Explain(b, s))
	return out.String()
}
