package nemawashi

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"

	"placet/cmd/placet/actions"
	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/loop"
	"placet/engine/nemawashi"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Verbs returns the verbs by which a creator begins an action and commands it.
func Verbs() []verb.Verb {
	return []verb.Verb{
		newActionVerb(),
		commandVerb("request", "request-approval", nil),
		commandVerb("execute", "execute", func(f *pflag.FlagSet, o *commandFlags) {
			f.StringVar(&o.calendar, "calendar", "", "")
			f.BoolVar(&o.simulate, "simulate-failure", false, "")
		}),
		commandVerb("cancel", "cancel", func(f *pflag.FlagSet, o *commandFlags) { f.StringVarP(&o.reason, "message", "m", "", "") }),
		commandVerb("revise", "revise", func(f *pflag.FlagSet, o *commandFlags) {
			f.StringVar(&o.draft, "draft", "", "")
			f.StringVar(&o.payload, "payload", "", "")
		}),
		historyVerb(), auditVerb(), rowsVerb(), watchdogVerb(), environVerb(),
	}
}

// newAction is an action from the command line.
type newAction struct {
	typ, summary, draft, payload, project, by string
	explicit                                  bool
}

func newActionVerb() verb.Verb {
	var a newAction
	return verb.Verb{
		Use: "new --type TYPE --summary TEXT",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&a.typ, "type", "", "")
			f.StringVar(&a.summary, "summary", "", "")
			f.StringVar(&a.draft, "draft", "", "")
			f.StringVar(&a.payload, "payload", "", "")
			f.StringVar(&a.project, "project", "", "")
			f.BoolVar(&a.explicit, "explicit", false, "")
			f.StringVar(&a.by, "as", console.Login(), "")
		},
		Look: func(c verb.Call, b *workspace.Workspace) error {
			action, draft, err := a.documents(b)
			if err != nil {
				return err
			}
			id, err := actions.Begin(b, action, draft)
			if err != nil {
				return err
			}
			data := map[string]any{"action_id": id, "thread_id": nemawashi.ThreadID(id), "daemon": b.HasDaemon("workspace.nodaemon.register")}
			return b.Env.Answer(data, func() { b.Env.Say("say.text", "text", id) })
		},
	}
}

// documents returns action.json and the draft, after the machine's own checks.
func (a newAction) documents(b *workspace.Workspace) (action schemas.Object, draft string, err error) {
	if !b.Serves("nemawashi") {
		return nil, "", console.Usage("cli.nemawashi.disabled").Try("cli.nemawashi.enable")
	}
	action = schemas.Object{{Name: "type", Value: a.typ}, {Name: "summary", Value: a.summary}, {Name: "requested_by", Value: a.by}}
	draft = a.summary + "\n"
	if a.draft != "" {
		if draft, err = verb.ReadInput(b.Env, a.draft); err != nil {
			return nil, "", console.Usage("cli.nemawashi.read.draft", "error", console.Plain(err))
		}
	}
	if a.payload != "" {
		payload, err := verb.ReadInput(b.Env, a.payload)
		if err != nil {
			return nil, "", console.Usage("cli.nemawashi.read.payload", "error", console.Plain(err))
		}
		action = append(action, schemas.Member{Name: "payload", Value: schemas.Raw(payload)})
	}
	if a.project != "" {
		action = append(action, schemas.Member{Name: "project_id", Value: a.project})
	}
	if a.explicit {
		action = append(action, schemas.Member{Name: "request_approval", Value: "explicit"})
	}
	if err := cmp.Or(actions.Check(action), nemawashi.CheckDraft([]byte(draft))); err != nil {
		return nil, "", console.Usage("cli.nemawashi.begin", "error", console.Plain(err)).Try("say.text", "text", "placet nemawashi new --help")
	}
	return action, draft, nil
}

// commandFlags are the flags of a command.
type commandFlags struct {
	by, reason, draft, payload, calendar, key string
	simulate                                  bool
}

// commandVerb returns a verb that gives an action a command.
func commandVerb(name, word string, more func(*pflag.FlagSet, *commandFlags)) verb.Verb {
	var o commandFlags
	return verb.Verb{
		Use: name + " ACTION", Least: 1, Most: 1, Complete: verb.CompleteRuns,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&o.by, "as", console.Login(), "")
			f.StringVar(&o.key, "key", "", "")
			if more != nil {
				more(f, &o)
			}
		},
		Look: func(c verb.Call, b *workspace.Workspace) error {
			f, err := oneAction(b, c.Args[0])
			if err != nil {
				return err
			}
			body, err := o.document(b, word)
			if err != nil {
				return err
			}
			return giveCommand(c.Ctx, b, f, name, body)
		},
	}
}

// document returns the content of command.json.
func (o commandFlags) document(b *workspace.Workspace, word string) ([]byte, error) {
	d := schemas.Object{{Name: "command", Value: word}, {Name: "actor", Value: map[string]string{"user": o.by, "source": "cli"}}}
	add := func(name string, value any, is bool) {
		if is {
			d = append(d, schemas.Member{Name: name, Value: value})
		}
	}
	add("idempotency_key", o.key, o.key != "")
	add("reason", o.reason, o.reason != "")
	add("simulateFailure", true, o.simulate)
	for _, in := range []struct {
		name, file string
		unread     templates.Key
		isText     bool
	}{
		{"draft", o.draft, "cli.nemawashi.read.draft", true}, {"payload", o.payload, "cli.nemawashi.read.payload", false},
		{"calendar", o.calendar, "cli.nemawashi.read.calendar", false},
	} {
		if in.file == "" {
			continue
		}
		text, err := verb.ReadInput(b.Env, in.file)
		if err != nil {
			return nil, console.Usage(in.unread, "error", console.Plain(err))
		}
		add(in.name, text, in.isText)
		add(in.name, schemas.Raw(text), !in.isText)
	}
	body, err := schemas.Encode(d)
	if err == nil {
		err = nemawashi.CheckCommand(body)
	}
	if err != nil {
		return nil, console.Usage("cli.nemawashi.command", "error", console.Plain(err))
	}
	return body, nil
}

// oneAction returns the action that an argument names.
func oneAction(b *workspace.Workspace, arg string) (loop.Found, error) {
	if layout.IsNemawashiID(arg) {
		arg = "nemawashi/" + arg
	}
	f, err := view.OneRun(b, arg)
	if err == nil && f.Run.Family != "nemawashi" {
		err = console.Usage("cli.nemawashi.other", "run", console.Brief(f.Key()))
	}
	return f, err
}

// These are how long a verb waits for a command's receipt, and how often it looks for it.
const (
	receiptWait = 5 * time.Second
	receiptPoll = 50 * time.Millisecond
)

// giveCommand writes a command and waits for its receipt.
func giveCommand(ctx context.Context, b *workspace.Workspace, f loop.Found, word string, body []byte) error {
	if st, ok := actions.State(b, f); ok && view.Of(b, f).Final {
		return commandToEnded(b, f, word, st, body)
	}
	now := b.Env.Now().UTC()
	id := "cli-" + engine.Sum(fmt.Appendf(body, "%d %d", now.UnixNano(), os.Getpid())).Hex()[:12]
	file, err := actions.WriteCommand(b, f, id, body)
	if err != nil {
		return err
	}
	data := map[string]any{"run": f.Key(), "intake_id": id, "path": file, "daemon": b.HasDaemon("workspace.nodaemon.obey"), "receipt": nil}
	if data["daemon"] == false {
		return b.Env.Answer(data, func() {
			b.Env.Say("cli.nemawashi.written", "command", word, "run", console.Brief(f.Key()), "path", file)
		})
	}
	rc, problem := awaitReceipt(ctx, b, f, id)
	switch {
	case problem != "":
		return console.Refused("cli.nemawashi.unusable", "command", word, "run", console.Brief(f.Key()), "problem", problem)
	case rc == nil:
		b.Env.Note("cli.nemawashi.waits", "command", console.Typed("show --why", console.Brief(f.Key())))
	case rc.Result != "accepted":
		return console.Refused("cli.nemawashi.refused", "command", word, "run", console.Brief(f.Key()), "reason", string(rc.Reason), "code", string(rc.Code)).
			Try("say.text", "text", console.Typed("show --why", console.Brief(f.Key())))
	}
	data["receipt"] = rc
	return b.Env.Answer(data, func() {
		if rc != nil {
			id := console.OneLine(string(cmp.Or(rc.JobID, rc.ApprovalRequestID)))
			b.Env.Say("cli.nemawashi.done", "command", word, "run", console.Brief(f.Key()), "status", console.OneLine(string(rc.Status))+console.Suffix(", ", id))
		}
	})
}

// commandToEnded answers a command to an action that has ended. It writes nothing, because
// nothing moves the action any more.
func commandToEnded(b *workspace.Workspace, f loop.Found, word string, st nemawashi.State, body []byte) error {
	var given nemawashi.Command
	if schemas.Decode("", "command.json", body, &given) == nil && word == "execute" && st.Status == nemawashi.Executed {
		if member := st.Ignores(given.SimulateFailure, given.Calendar); member != "" {
			return console.Refused("nemawashi.refused.begun", "member", member, "id", st.ActionID)
		}
	}
	if word == "execute" && st.Status == nemawashi.Executed || word == "cancel" && st.Status == nemawashi.Canceled {
		data := map[string]any{"run": f.Key(), "status": st.Status, "job_id": verb.OrNull(string(st.ExecutionJobID))}
		return b.Env.Answer(data, func() {
			b.Env.Say("cli.nemawashi.already", "command", word, "run", console.Brief(f.Key()), "status", st.Status, "job", console.Suffix(", ", console.OneLine(string(st.ExecutionJobID))))
		})
	}
	return console.Refused("cli.nemawashi.ended", "command", word, "run", console.Brief(f.Key()), "status", st.Status).
		Try("cli.nemawashi.renew", "id", f.Run.ID)
}

// awaitReceipt returns the receipt of a command, nil if there is none in time, or the text of
// the note beside it.
func awaitReceipt(ctx context.Context, b *workspace.Workspace, f loop.Found, id string) (rc *nemawashi.IntakeReceipt, problem string) {
	ctx, stop := context.WithTimeout(ctx, receiptWait)
	defer stop()
	for {
		if rc, problem = actions.CommandReceipt(b, f, id); rc != nil || problem != "" {
			return rc, problem
		}
		select {
		case <-ctx.Done():
			return nil, ""
		case <-time.After(receiptPoll):
		}
	}
}
