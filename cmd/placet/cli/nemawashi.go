package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/nemawashi"
	"placet/engine/reconcile"
	"placet/layout"
	"placet/schemas"
)

// nemawashiVerbs are those by which a creator begins an action and commands it.
func nemawashiVerbs() []verb {
	return []verb{
		newActionVerb(),
		commandVerb("request", "request-approval", "Have a person asked about a draft", nil),
		commandVerb("execute", "execute", "Carry out what was approved", func(f *pflag.FlagSet, o *commandFlags) {
			f.StringVar(&o.calendar, "calendar", "", "a `FILE` with what takes the place of the meeting's payload, or -")
			f.BoolVar(&o.simulate, "simulate-failure", false, "do nothing, and fail")
		}),
		commandVerb("cancel", "cancel", "Take an action back", func(f *pflag.FlagSet, o *commandFlags) { f.StringVarP(&o.reason, "message", "m", "", "why") }),
		commandVerb("revise", "revise", "Bring another draft or payload", func(f *pflag.FlagSet, o *commandFlags) {
			f.StringVar(&o.draft, "draft", "", "a `FILE` with the text, or -")
			f.StringVar(&o.payload, "payload", "", "a `FILE` with the payload, or -")
		}),
		historyVerb(), auditVerb(), rowsVerb(), watchdogVerb(), environVerb(),
	}
}

// newAction is what the command line begins.
type newAction struct {
	typ, summary, draft, payload, project, by string
	explicit                                  bool
}

func newActionVerb() verb {
	var a newAction
	return verb{
		use: "new --type TYPE --summary TEXT", short: "Begin an action, and print its number",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&a.typ, "type", "", "mail_draft, meeting_request or hr_request")
			f.StringVar(&a.summary, "summary", "", "the title of the request")
			f.StringVar(&a.draft, "draft", "", "a `FILE` with the draft, or -; the summary where there is none")
			f.StringVar(&a.payload, "payload", "", "a `FILE` with the payload, a JSON object, or -")
			f.StringVar(&a.project, "project", "", "the project that it belongs to")
			f.BoolVar(&a.explicit, "explicit", false, "ask nobody before `placet nemawashi request`")
			f.StringVar(&a.by, "as", console.Login(), "who begins it")
		},
		look: func(c call, b *workspace.Workspace) error {
			action, draft, err := a.documents(b)
			if err != nil {
				return err
			}
			id, err := beginAction(b, action, draft)
			if err != nil {
				return err
			}
			data := map[string]any{"action_id": id, "thread_id": nemawashi.ThreadID(id), "daemon": b.HasDaemon("to have it registered")}
			return b.Env.Answer(data, func() { b.Env.Say("%d", id) })
		},
	}
}

// documents are action.json and the draft, checked as the machine checks them.
func (a newAction) documents(b *workspace.Workspace) (action schemas.Object, draft string, err error) {
	if !b.Serves("nemawashi") {
		return nil, "", console.Usage("nemawashi is not enabled here").Try("set enabled = true in [nemawashi]")
	}
	action = schemas.Object{{Name: "type", Value: a.typ}, {Name: "summary", Value: a.summary}, {Name: "requested_by", Value: a.by}}
	draft = a.summary + "\n"
	if a.draft != "" {
		if draft, err = readInput(b.Env, a.draft); err != nil {
			return nil, "", console.Usage("cannot read the draft: %v", console.Plain(err))
		}
	}
	if a.payload != "" {
		payload, err := readInput(b.Env, a.payload)
		if err != nil {
			return nil, "", console.Usage("cannot read the payload: %v", console.Plain(err))
		}
		action = append(action, schemas.Member{Name: "payload", Value: schemas.Raw(payload)})
	}
	if a.project != "" {
		action = append(action, schemas.Member{Name: "project_id", Value: a.project})
	}
	if a.explicit {
		action = append(action, schemas.Member{Name: "request_approval", Value: "explicit"})
	}
	body, err := schemas.Encode(action)
	if err == nil {
		err = nemawashi.CheckAction(body)
	}
	if err = cmp.Or(err, nemawashi.CheckDraft([]byte(draft))); err != nil {
		return nil, "", console.Usage("cannot begin an action: %v", console.Plain(err)).Try("placet nemawashi new --help")
	}
	return action, draft, nil
}

// beginAction writes an action into the first free folder above all others: its draft
// first, and last the file by which it begins.
func beginAction(b *workspace.Workspace, action schemas.Object, draft string) (id int, err error) {
	body, err := schemas.Encode(action)
	if err != nil {
		return 0, err
	}
	id, err = freeAction(b)
	if err != nil {
		return 0, console.Refused("cannot make a folder below %s: %v", layout.NemawashiRoot, console.Plain(err))
	}
	dir := path.Join(layout.NemawashiRoot, strconv.Itoa(id))
	for _, d := range []engine.Document{{Path: dir + "/drafts/v1.md", Body: []byte(draft)}, {Path: dir + "/action.json", Body: body}} {
		if err := b.Store.Write(d); err != nil {
			return 0, console.Refused("cannot write %s: %v", d.Path, console.Plain(err))
		}
	}
	return id, nil
}

// freeAction makes the folder of the next action: the highest number and one, or what
// follows where somebody is faster.
func freeAction(b *workspace.Workspace) (id int, err error) {
	root, err := os.OpenRoot(b.Root)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	if err := root.MkdirAll(layout.NemawashiRoot, 0o777); err != nil {
		return 0, err
	}
	entries, err := fs.ReadDir(root.FS(), layout.NemawashiRoot)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil && layout.IsNemawashiID(e.Name()) {
			id = max(id, n)
		}
	}
	for {
		id++
		err := root.Mkdir(path.Join(layout.NemawashiRoot, strconv.Itoa(id)), 0o777)
		if !errors.Is(err, fs.ErrExist) {
			return id, err
		}
	}
}

// commandFlags are what a command may bring.
type commandFlags struct {
	by, reason, draft, payload, calendar, key string
	simulate                                  bool
}

// commandVerb is a verb that gives an action a command.
func commandVerb(name, word, short string, more func(*pflag.FlagSet, *commandFlags)) verb {
	var o commandFlags
	return verb{
		use: name + " ACTION", short: short, least: 1, most: 1, complete: completeRuns,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&o.by, "as", console.Login(), "who commands it")
			f.StringVar(&o.key, "key", "", "commands of one key are one command to whoever reads receipts")
			if more != nil {
				more(f, &o)
			}
		},
		look: func(c call, b *workspace.Workspace) error {
			f, err := oneAction(b, c.args[0])
			if err != nil {
				return err
			}
			body, err := o.document(b, word)
			if err != nil {
				return err
			}
			return giveCommand(c.ctx, b, f, name, body)
		},
	}
}

// document is command.json.
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
		isText     bool
	}{{"draft", o.draft, true}, {"payload", o.payload, false}, {"calendar", o.calendar, false}} {
		if in.file == "" {
			continue
		}
		text, err := readInput(b.Env, in.file)
		if err != nil {
			return nil, console.Usage("cannot read the %s: %v", in.name, console.Plain(err))
		}
		add(in.name, text, in.isText)
		add(in.name, schemas.Raw(text), !in.isText)
	}
	body, err := schemas.Encode(d)
	if err == nil {
		err = nemawashi.CheckCommand(body)
	}
	if err != nil {
		return nil, console.Usage("cannot give the command: %v", console.Plain(err))
	}
	return body, nil
}

// oneAction is the action that an argument names.
func oneAction(b *workspace.Workspace, arg string) (reconcile.Found, error) {
	if layout.IsNemawashiID(arg) {
		arg = "nemawashi/" + arg
	}
	f, err := b.OneRun(arg)
	if err == nil && f.Run.Family != "nemawashi" {
		err = console.Usage("%s is no action", console.Brief(f.Key()))
	}
	return f, err
}

// A command's receipt is awaited so long, and looked for so often.
const (
	receiptWait = 5 * time.Second
	receiptPoll = 50 * time.Millisecond
)

// giveCommand writes a command and waits for its receipt.
func giveCommand(ctx context.Context, b *workspace.Workspace, f reconcile.Found, verb string, body []byte) error {
	if st, ok := actionState(b, f); ok && b.ViewOf(f).Final {
		return commandToEnded(b, f, verb, st)
	}
	now := b.Env.Now().UTC()
	id := "cli-" + engine.Sum(fmt.Appendf(body, "%d %d", now.UnixNano(), os.Getpid())).Hex()[:12]
	file := "intake/" + id + "/command.json"
	if err := b.Store.Write(engine.Document{Path: path.Join(f.Run.Dir, file), Body: body}); err != nil {
		return console.Refused("cannot write %s: %v", path.Join(f.Run.Dir, file), console.Plain(err))
	}
	data := map[string]any{"run": f.Key(), "intake_id": id, "path": path.Join(f.Run.Dir, file), "daemon": b.HasDaemon("to have it obeyed"), "receipt": nil}
	if data["daemon"] == false {
		return b.Env.Answer(data, func() { b.Env.Say("%s of %s is written: %s", verb, console.Brief(f.Key()), data["path"]) })
	}
	rc, problem := awaitReceipt(ctx, b, f, id)
	switch {
	case problem != "":
		return console.Refused("cannot %s %s: %s", verb, console.Brief(f.Key()), problem)
	case rc == nil:
		b.Env.Note("no receipt yet: %s", console.Typed("explain", console.Brief(f.Key())))
	case rc.Result != "accepted":
		return console.Refused("cannot %s %s: %s (%s)", verb, console.Brief(f.Key()), console.OneLine(string(rc.Reason)), console.OneLine(string(rc.Code))).
			Try("%s", console.Typed("explain", console.Brief(f.Key())))
	}
	data["receipt"] = rc
	return b.Env.Answer(data, func() {
		if rc != nil {
			b.Env.Say("%s: %s is %s%s", verb, console.Brief(f.Key()), rc.Status, console.Suffix(", ", string(cmp.Or(rc.JobID, rc.ApprovalRequestID))))
		}
	})
}

// commandToEnded answers a command to an action that has ended, which nothing moves any
// more: nothing is written.
func commandToEnded(b *workspace.Workspace, f reconcile.Found, verb string, st nemawashi.State) error {
	if verb == "execute" && st.Status == nemawashi.Executed || verb == "cancel" && st.Status == nemawashi.Canceled {
		data := map[string]any{"run": f.Key(), "status": st.Status, "job_id": orNull(string(st.ExecutionJobID))}
		return b.Env.Answer(data, func() {
			b.Env.Say("%s: %s is %s already%s", verb, console.Brief(f.Key()), st.Status, console.Suffix(", ", string(st.ExecutionJobID)))
		})
	}
	return console.Refused("cannot %s %s: it has ended, %s (wrong_status)", verb, console.Brief(f.Key()), st.Status).
		Try("begin a new action with \"replaces\": %s", f.Run.ID)
}

// awaitReceipt is what became of a command, nil where nothing has in time, or what the
// note beside it says.
func awaitReceipt(ctx context.Context, b *workspace.Workspace, f reconcile.Found, id string) (rc *nemawashi.IntakeReceipt, problem string) {
	ctx, stop := context.WithTimeout(ctx, receiptWait)
	defer stop()
	for {
		if d := b.ReadDocument(f, "intake/"+id+"/receipt.json"); d.Present() && schemas.Decode("nemawashi/receipt", d.Path, d.Body, &rc) == nil {
			return rc, ""
		}
		if d := b.ReadDocument(f, "intake/"+id+"/problem.md"); d.Present() {
			return nil, console.OneLine(string(d.Body))
		}
		select {
		case <-ctx.Done():
			return nil, ""
		case <-time.After(receiptPoll):
		}
	}
}

// thread is an action in the history.
type thread struct {
	ThreadID  string            `json:"thread_id"`
	ActionID  int               `json:"action_id"`
	Status    engine.Status     `json:"status"`
	Summary   string            `json:"summary"`
	ProjectID schemas.OrNull    `json:"project_id"`
	Severity  schemas.OrNull    `json:"severity"`
	UpdatedAt schemas.OrNull    `json:"updated_at"`
	Events    []nemawashi.Event `json:"events"`
}

// How much of an action the history shows.
const (
	shownDraft  = 160 // characters
	shownEvents = 100
)

func historyVerb() verb {
	var status, project string
	limit := 50
	return verb{
		use: "history", short: "List actions, the one that moved last first",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&status, "status", "", "those of a status")
			f.StringVar(&project, "project", "", "those of a project")
			f.IntVar(&limit, "limit", limit, "how many at most, 1 to 500")
		},
		look: func(c call, b *workspace.Workspace) error {
			if limit < 1 || limit > 500 {
				return console.Usage("--limit takes 1 to 500, not %d", limit)
			}
			list := threads(b, func(st nemawashi.State) bool {
				return (status == "" || string(st.Status) == status) && (project == "" || string(st.ProjectID) == project)
			})
			list = list[:min(len(list), limit)]
			return b.Env.Answer(list, func() {
				t := &console.Table{}
				for _, a := range list {
					t.Add(a.ThreadID, string(a.Status), string(a.UpdatedAt), console.OneLine(string(a.ProjectID)), console.Cut(console.OneLine(a.Summary), shownDraft))
				}
				t.Print(b.Env, b.Env.Out)
			})
		},
	}
}

// threads are the actions that fit, the one that moved last first.
func threads(b *workspace.Workspace, fits func(nemawashi.State) bool) []thread {
	list := []thread{}
	for _, f := range actions(b) {
		st, ok := actionState(b, f)
		if !ok || !fits(st) {
			continue
		}
		events := actionEvents(b, f)
		list = append(list, thread{
			st.ThreadID, st.ActionID, st.Status, actionDraft(b, f, st), st.ProjectID, st.Severity, st.UpdatedAt, events[max(0, len(events)-shownEvents):],
		})
	}
	slices.SortFunc(list, func(x, y thread) int {
		return cmp.Or(-strings.Compare(string(x.UpdatedAt), string(y.UpdatedAt)), -cmp.Compare(x.ActionID, y.ActionID))
	})
	return list
}

func actions(b *workspace.Workspace) []reconcile.Found {
	return slices.DeleteFunc(b.Runs(), func(f reconcile.Found) bool { return f.Run.Family != "nemawashi" })
}

func actionState(b *workspace.Workspace, f reconcile.Found) (nemawashi.State, bool) {
	d := b.ReadDocument(f, "state.json")
	if !d.Present() {
		return nemawashi.State{}, false
	}
	st, err := nemawashi.ReadState("state.json", d.Body)
	return st, err == nil
}

// actionDraft is the beginning of the draft in force.
func actionDraft(b *workspace.Workspace, f reconcile.Found, st nemawashi.State) string {
	text := st.Summary
	if n := len(st.Drafts); n > 0 {
		text = string(b.ReadDocument(f, fmt.Sprintf("drafts/v%d.md", n)).Body)
	}
	if runes := []rune(text); len(runes) > shownDraft {
		text = string(runes[:shownDraft]) + "..."
	}
	return text
}

// actionEvents are the events of an action's audit, oldest first.
func actionEvents(b *workspace.Workspace, f reconcile.Found) []nemawashi.Event {
	list := []nemawashi.Event{}
	body, _ := os.ReadFile(filepath.Join(b.Root, filepath.FromSlash(f.Run.Dir), "events.jsonl"))
	for line := range strings.Lines(string(body)) {
		var e nemawashi.Event
		if schemas.Decode("nemawashi/event", "events.jsonl", []byte(line), &e) == nil && !e.JournalOnly() {
			list = append(list, e)
		}
	}
	return list
}

func auditVerb() verb {
	return verb{
		use: "audit ACTION", short: "List the events of an action", least: 1, most: 1, complete: completeRuns,
		look: func(c call, b *workspace.Workspace) error {
			f, err := oneAction(b, c.args[0])
			if err != nil {
				return err
			}
			list := actionEvents(b, f)
			return b.Env.Answer(list, func() {
				t := &console.Table{}
				for _, e := range list {
					t.Add(string(e.CreatedAt), e.Type, console.OneLine(e.Actor), console.OneLine(e.CorrelationID), console.Cut(console.OneLine(e.Words()), shownDraft))
				}
				t.Print(b.Env, b.Env.Out)
			})
		},
	}
}

func rowsVerb() verb {
	return verb{
		use: "runs [ACTION]", short: "List what was carried out", most: 1, complete: completeRuns,
		look: func(c call, b *workspace.Workspace) error {
			all := actions(b)
			if len(c.args) > 0 {
				f, err := oneAction(b, c.args[0])
				if err != nil {
					return err
				}
				all = []reconcile.Found{f}
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
						cells = append(cells, console.Cut(console.OneLine(text), shownDraft))
					}
					t.Add(cells...)
				}
				t.Print(b.Env, b.Env.Out)
			})
		},
	}
}

func watchdogVerb() verb {
	dry := false
	return verb{
		use: "watchdog", short: "Look at reports, and begin an action for each project at risk",
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&dry, "dry-run", false, "say what it would begin, and begin nothing")
		},
		look: func(_ call, b *workspace.Workspace) error { return watchReports(b, dry) },
	}
}

// skipped is a report that cannot be used.
type skipped struct {
	Path    string `json:"path"`
	Problem string `json:"problem"`
}

// Folders of the watchdog.
const (
	reportsDir  = ".nemawashi/reports"
	watchdogDir = ".nemawashi/watchdog"
)

// watchReports makes one round of the watchdog, one at a time.
func watchReports(b *workspace.Workspace, dry bool) error {
	unlock, err := lockWatchdog(b)
	if err != nil {
		return err
	}
	defer unlock()
	reports, bad := readReports(b)
	seen := seenActions(b)
	begun, alerts := 0, []nemawashi.Alert{}
	for _, a := range nemawashi.Watch(reports) {
		if !a.Opens(seen) {
			continue
		}
		if action, draft := a.Action(); !dry {
			if _, err := beginAction(b, action, draft); err != nil {
				return err
			}
		}
		begun++
		alerts = append(alerts, a)
	}
	summary := fmt.Sprintf("watchdog created %d actions", begun)
	last := schemas.Object{
		{Name: "at", Value: b.Env.Now().UTC().Format(time.RFC3339)}, {Name: "summary", Value: summary}, {Name: "alerts", Value: alerts}, {Name: "skipped", Value: bad},
	}
	if !dry {
		if err := writeLast(b, last); err != nil {
			return err
		}
	}
	for _, s := range bad {
		b.Env.Note("%s: %s", s.Path, console.OneLine(s.Problem))
	}
	err = b.Env.Answer(last, func() {
		for _, a := range alerts {
			b.Env.Say("%s", console.OneLine(a.Message))
		}
		b.Env.Say("%s%s", summary, map[bool]string{true: " (dry run: none)"}[dry])
	})
	if err == nil && len(bad) > 0 {
		err = console.Exit(console.ExitProblem) // each was named
	}
	return err
}

// lockWatchdog keeps a second watchdog away.
func lockWatchdog(b *workspace.Workspace) (unlock func(), err error) {
	root, err := os.OpenRoot(b.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := root.MkdirAll(watchdogDir, 0o777); err != nil {
		return nil, console.Refused("cannot make %s: %v", watchdogDir, console.Plain(err))
	}
	f, err := root.OpenFile(watchdogDir+"/lock", os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, console.Refused("cannot lock %s: %v", watchdogDir, console.Plain(err))
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, console.Refused("another watchdog is at work here").Try("try again when it has ended")
	}
	return func() { f.Close() }, nil
}

// readReports reads the reports, by name, and says which cannot be used.
func readReports(b *workspace.Workspace) (list []nemawashi.Report, bad []skipped) {
	bad = []skipped{}
	entries, err := os.ReadDir(filepath.Join(b.Root, filepath.FromSlash(reportsDir)))
	if err != nil {
		return nil, bad
	}
	for _, e := range entries {
		name := reportsDir + "/" + e.Name()
		if ext := path.Ext(e.Name()); ext != ".json" && ext != ".md" || layout.Noise(e.Name()) {
			continue
		}
		d := b.Settled(name, layout.Outside(name))
		err := d.Err
		if err == nil {
			var more []nemawashi.Report
			more, err = nemawashi.ReadReports(e.Name(), d.Body)
			list = append(list, more...)
		}
		if err != nil {
			bad = append(bad, skipped{name, err.Error()})
		}
	}
	return list, bad
}

// seenActions are the actions that are there, as the watchdog must know them. One that
// nobody has registered yet goes on.
func seenActions(b *workspace.Workspace) (list []nemawashi.Seen) {
	for _, f := range actions(b) {
		d := b.ReadDocument(f, "action.json")
		var a nemawashi.ActionFile
		if !d.Present() || schemas.Decode("nemawashi/action", d.Path, d.Body, &a) != nil {
			continue
		}
		id, _ := strconv.Atoi(f.Run.ID)
		s := nemawashi.Seen{ID: id, Project: string(a.ProjectID), Source: engine.Digest(a.SourceDigest)}
		if st, ok := actionState(b, f); ok {
			s.Final = nemawashi.Machine{}.Summarize(b.ReadDocument(f, "state.json").Body).Final
			s.Project = string(st.ProjectID)
		}
		list = append(list, s)
	}
	return list
}

// writeLast keeps what the watchdog saw last.
func writeLast(b *workspace.Workspace, last schemas.Object) error {
	body, err := schemas.Encode(last)
	if err != nil {
		return err
	}
	file := watchdogDir + "/last.json"
	err = b.Store.Write(engine.Document{Path: file, Body: body, Over: b.Settled(file, layout.Outside(file)).Sum})
	if err != nil {
		return console.Refused("cannot write %s: %v", file, console.Plain(err))
	}
	return nil
}

// environ are the variables of the seed's service, by the key that each is here. A
// secret has none.
var environKeys = []struct{ name, table, key string }{
	{"EMAIL_PROVIDER", "mail", "provider"}, {"EMAIL_DEFAULT_TO", "mail", "default_to"}, {"EMAIL_DEFAULT_FROM", "mail", "default_from"},
	{"CALENDAR_PROVIDER", "calendar", "provider"}, {"CALENDAR_DEFAULT_ATTENDEE", "calendar", "default_attendee"},
	{"CALENDAR_DEFAULT_TIMEZONE", "calendar", "default_timezone"}, {"CALENDAR_DEFAULT_OWNER_EMAIL", "calendar", "default_owner_email"},
	{"HR_PROVIDER", "hr", "provider"}, {"HR_API_URL", "hr", "api_url"},
}

// environDiffers are the seed's variables that are set and say something else than the
// settings, which alone are read.
func environDiffers(conf nemawashi.Config, getenv func(string) string) (names []string) {
	said := map[string]string{
		"EMAIL_PROVIDER": conf.Mail.Provider, "EMAIL_DEFAULT_TO": conf.Mail.DefaultTo, "EMAIL_DEFAULT_FROM": conf.Mail.DefaultFrom,
		"CALENDAR_PROVIDER": conf.Calendar.Provider, "CALENDAR_DEFAULT_ATTENDEE": conf.Calendar.DefaultAttendee,
		"CALENDAR_DEFAULT_TIMEZONE": conf.Calendar.DefaultTimezone, "CALENDAR_DEFAULT_OWNER_EMAIL": conf.Calendar.DefaultOwnerEmail,
		"HR_PROVIDER": conf.HR.Provider, "HR_API_URL": conf.HR.APIURL,
	}
	for _, v := range environKeys {
		if value := getenv(v.name); value != "" && value != "CHANGE_ME" && value != said[v.name] {
			names = append(names, v.name)
		}
	}
	return names
}

// environHelp is what to do about them.
const environHelp = "placet nemawashi settings --from-env prints what they mean"

// environSecrets are the seed's variables that are read where they are.
var environSecrets = []string{"SMTP_PASSWORD", "CALENDAR_API_TOKEN", "HR_API_TOKEN"}

func environVerb() verb {
	from := false
	return verb{
		use: "settings --from-env [FILE]", short: "Print the settings that the seed's variables mean", most: 1,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&from, "from-env", false, "take them from the environment, or from a FILE of NAME=value lines")
		},
		run: func(c call) error {
			if !from {
				return console.Usage("say where the settings come from").Try("%s", c.line)
			}
			getenv := c.env.Getenv
			if len(c.args) > 0 {
				text, err := readInput(c.env, c.args[0])
				if err != nil {
					return console.Usage("cannot read %s: %v", console.OneLine(c.args[0]), console.Plain(err))
				}
				getenv = func(name string) string { return envOf(text)[name] }
			}
			text := environSettings(getenv)
			return c.env.Answer(map[string]string{"toml": text}, func() { c.env.Say("%s", strings.TrimSuffix(text, "\n")) })
		},
	}
}

// envOf are the variables of a file of NAME=value lines.
func envOf(text string) map[string]string {
	vars := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		if ok && !strings.HasPrefix(name, "#") {
			vars[strings.TrimSpace(name)] = strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return vars
}

// environSettings are the tables that variables mean. Secrets are named, never told.
func environSettings(getenv func(string) string) string {
	var b strings.Builder
	table := "nemawashi"
	for _, v := range environKeys {
		value := getenv(v.name)
		if value == "" || value == "CHANGE_ME" {
			continue
		}
		if name := "nemawashi." + v.table; name != table {
			fmt.Fprintf(&b, "[%s]\n", name)
			table = name
		}
		fmt.Fprintf(&b, "%s = %s # %s\n", v.key, tomlText(value), v.name)
	}
	for _, name := range environSecrets {
		if value := getenv(name); value != "" && value != "CHANGE_ME" {
			fmt.Fprintf(&b, "# %s is read from the environment\n", name)
		}
	}
	return b.String()
}

// tomlText is a text as TOML writes it.
func tomlText(s string) string {
	body, err := schemas.Line(s)
	if err != nil {
		return `""`
	}
	return strings.TrimSpace(string(body))
}
