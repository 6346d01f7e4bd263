package pal

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strconv"

	"github.com/spf13/pflag"

	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/pal"
	"placet/engine/store"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// hookInput is the part of a hook's standard input that placet needs.
type hookInput struct {
	SessionID string      `json:"session_id"`
	Cwd       string      `json:"cwd"`
	Payload   schemas.Raw `json:"payload"`
}

// hookAnswer is a hook's answer on standard output.
type hookAnswer struct {
	Decision      string         `json:"decision"`
	Output        hookOutput     `json:"hookSpecificOutput"`
	Notifications []notification `json:"notifications"`
	Suggestions   []string       `json:"suggestions"`
}

type hookOutput struct {
	Event     string `json:"event"`
	Loop      string `json:"loop_id"`
	Iteration int    `json:"iteration"`
	Success   bool   `json:"success"`
	Passed    int    `json:"tests_passed"`
	Failed    int    `json:"tests_failed"`
}

type notification struct {
	Level   string `json:"level"`
	Title   string `json:"title"`
	Message string `json:"message"`
}

// hookRefusal is a hook's answer if nothing was submitted.
type hookRefusal struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
}

// HookVerb returns the verb that submits a client's report of its worker's tests.
func HookVerb() verb.Verb {
	session := ""
	return verb.Verb{
		Use: "hook test-feedback", Least: 1, Most: 1, Page: "test-feedback",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&session, "session", "", "")
		},
		Run: func(c verb.Call) error {
			if c.Args[0] != "test-feedback" {
				return console.Usage("cli.pal.hook.unknown", "hook", strconv.Quote(console.OneLine(c.Args[0])))
			}
			report, err := handInFeedback(c.Env, session)
			if err != nil {
				return refuseHook(c.Env, err)
			}
			return answerHook(c.Env, answerTo(report))
		},
	}
}

// answerHook prints a hook's answer: the bare object that agents read, or in the envelope of
// --json.
func answerHook(w *console.Env, answer any) error {
	body, err := console.Encode(answer, !w.Flags.JSON)
	if err == nil {
		_, err = w.Out.Write(body)
	}
	return err
}

// refuseHook answers that nothing was submitted. The exit code is 1 for every error.
func refuseHook(w *console.Env, err error) error {
	p := *console.ProblemOf(err)
	refused := &p
	refused.Code = console.ExitProblem
	reason := refused.In(cmp.Or(w.Flags.Lang, templates.English))
	if err := answerHook(w, hookRefusal{"block", console.OneLine(reason)}); err != nil {
		return err
	}
	return refused
}

// handInFeedback writes the test report on standard input as the awaited feedback. The next
// pass decides what it means.
func handInFeedback(w *console.Env, session string) (report pal.TestReport, err error) {
	in, err := readHookInput(w)
	if err != nil {
		return report, err
	}
	if in.Cwd != "" {
		if info, err := os.Stat(in.Cwd); !filepath.IsAbs(in.Cwd) || err != nil || !info.IsDir() {
			return report, console.Refused("cli.pal.hook.cwd", "folder", strconv.Quote(console.Cut(console.OneLine(in.Cwd), 200)))
		}
		w.Cwd = in.Cwd
	}
	b, err := lookAsWorker(w)
	if err != nil {
		return report, err
	}
	if session, err = in.session(b, session); err != nil {
		return report, err
	}
	worker, f, err := workerAt(b, session)
	if err != nil {
		return report, err
	}
	if w.Flags.Lang != "" {
		worker.Speak(w.Flags.Lang)
	}
	if report, err = worker.TestReport(in.Payload); err != nil {
		return report, err
	}
	d := engine.Document{Path: path.Join(f.Run.Dir, report.File), Kind: layout.PalFeedback, Body: report.Body}
	switch err = b.Store.Write(d); {
	case errors.Is(err, store.ErrConflict):
		if bytes.Equal(b.ReadDocument(f, report.File).Body, report.Body) {
			return report, nil // the same hook has run before
		}
		return report, console.Refused("cli.pal.hook.taken", "file", d.Path).Try("say.text", "text", console.Typed("show --why", console.Brief(f.Key())))
	case err != nil:
		return report, console.Refused("cli.pal.write", "file", d.Path, "error", console.Plain(err))
	}
	return report, nil
}

// readHookInput reads the one object on standard input.
func readHookInput(w *console.Env) (in hookInput, err error) {
	body, err := readLimited(w, "-")
	switch {
	case err != nil:
		return in, console.Refused("cli.pal.hook.stdin", "error", console.Plain(err))
	case len(bytes.TrimSpace(body)) == 0:
		return in, console.Refused("cli.pal.hook.empty")
	}
	if err := schemas.Decode("", "stdin", body, &in); err != nil {
		return in, console.Refused("cli.pal.hook.stdin", "error", console.Plain(err))
	}
	if in.Payload.Null() {
		return in, console.Refused("cli.pal.hook.payload")
	}
	return in, nil
}

// session returns the test worker's session. It must be named somewhere, and is never guessed.
func (in hookInput) session(b *workspace.Workspace, flag string) (string, error) {
	var payload struct {
		SessionID string `json:"session_id"`
	}
	_ = schemas.DecodeValue(in.Payload, &payload) // errors in it are reported when it is read
	if named := cmp.Or(flag, b.Env.Getenv(envSession), payload.SessionID); named != "" {
		return named, nil
	}
	if _, err := palRun(b, in.SessionID); in.SessionID != "" && err == nil {
		return in.SessionID, nil
	}
	return "", console.Refused("cli.pal.hook.session").Try("cli.pal.hook.session.try", "variable", envSession)
}

// answerTo returns the answer to a report that was submitted.
func answerTo(t pal.TestReport) hookAnswer {
	level := "info"
	switch {
	case t.Escalates:
		level = "error"
	case !t.Success:
		level = "warn"
	}
	return hookAnswer{
		"approve", hookOutput{"test_feedback", t.Loop, t.Iteration, t.Success, t.Passed, t.Failed},
		[]notification{{level, "Test Feedback", t.Message}}, t.Next,
	}
}
