package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/afl"
	"placet/engine/exec"
	"placet/engine/faber"
	"placet/engine/optimizer"
	"placet/engine/pal"
	"placet/engine/statedir"
	"placet/templates"
)

// put writes a file below a folder and returns its path.
func put(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// places makes a workspace and, outside of it, a user's folder.
func places(t *testing.T) Sources {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"ws", "home"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return Sources{
		Workspace: filepath.Join(dir, "ws"), User: filepath.Join(dir, "home/placet.toml"),
		StateHome: filepath.Join(dir, "home/state"), Contents: exec.NewContents(filepath.Join(dir, "ws")),
	}
}

// agree makes these things all that is agreed to in a workspace.
func agree(t *testing.T, from Sources, things ...UntrustedLine) {
	t.Helper()
	dir, err := statedir.Create(from.StateHome, from.Workspace)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	file := TrustFile{SchemaVersion: 1}
	file.Agree(noon, things...)
	if err := file.Write(dir); err != nil {
		t.Fatal(err)
	}
}

// waitingSetting is a setting as trust lists it.
func waitingSetting(s Setting) UntrustedLine {
	return UntrustedLine{Name: s.Name(), Digest: s.Sealed, Text: s.Text, Files: s.Files, Of: s.Digest}
}

func mustLoad(t *testing.T, from Sources) Settings {
	t.Helper()
	s, err := Load(from)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestASettingThatCannotBeUsedIsRefusedWithFileAndLine(t *testing.T) {
	tests := map[string]struct{ toml, line, says string }{
		"unknown key":                {"language = \"en\"\n\ntypo = 1\n", "3", `unknown setting "typo"`},
		"unknown key in a table":     {"[faber]\nenabled = true\ndrve = \"all\"\n", "3", `unknown setting "faber.drve"`},
		"unknown key inline":         {"[faber]\ncontext = { events = 1, wat = 2 }\n", "2", `unknown setting "faber.context.wat"`},
		"unknown key in a gate":      {"[gates]\n\"*\" = { levle = \"file\" }\n", "2", `unknown setting "gates.\"*\".levle"`},
		"another family's block":     {"\n[terraform]\nidempotent = true\n", "2", `unknown setting "terraform"`},
		"key in other letters":       {"Language = \"en\"\n", "1", `unknown setting "Language"`},
		"table in other letters":     {"[Faber]\nenabled = true\n", "1", `unknown setting "Faber"`},
		"a key with odd characters":  {"\"a,b c\" = 1\n", "", `unknown setting "\"a,b c\""`},
		"wrong type":                 {"\n[faber]\nenabled = \"yes\"\n", "3", "faber.enabled: is text: expected true or false"},
		"wrong type of an element":   {"[faber]\nroots = [1]\n", "2", "faber.roots: number 1 of the list: is the number 1: expected text"},
		"a value for a table":        {"faber = 3\n", "1", "faber: is the number 3: expected a table"},
		"a table for a value":        {"[language]\nx = 1\n", "1", "language: is a table: expected text"},
		"a length for a number":      {"[faber.deadline]\nreview = \"soon\"\n", "2", `faber.deadline.review: "soon" is no length of time`},
		"not TOML":                   {"language = en\n", "1", ""},
		"a key twice":                {"language = \"en\"\nlanguage = \"ko\"\n", "2", "language"},
		"unknown language":           {"language = \"fr\"\n", "1", `language "fr" is not one of en, ko, ja`},
		"unknown language of faber":  {"[faber]\nlanguage = \"fr\"\n", "2", `faber.language "fr" is not one of en, ko, ja`},
		"a level that is not built":  {"[gates]\n\"faber/review\" = { level = \"signed\" }\n", "2", `level "signed" is not built yet: only "file" is`},
		"another that is not built":  {"[gates]\n\"*\" = { level = \"owner\" }\n", "2", `level "owner" is not built yet: only "file" is`},
		"a touch":                    {"[gates]\n\"*\" = { level = \"touched\" }\n", "2", `level "touched" is not built yet: only "file" is`},
		"what git says":              {"[gates]\n\"*\" = { level = \"committed\" }\n", "2", `level "committed" is not built yet: only "file" is`},
		"a level nobody knows":       {"[gates.\"*\"]\nlevel = \"fiel\"\n", "2", `level "fiel" is not known: only "file" is available`},
		"an approver with controls":  {"[gates]\n\"*\" = { approvers = [\"kim\", \"ce\\u001b[31mo\"] }\n", "2", `[gates] "*": approvers hold a name that cannot be recorded: /1: "ce\x1b[31mo" does not fit: expected one line of visible text`},
		"one that nobody sees":       {"[gates.\"*\"]\napprovers = [\"\\u200b\"]\n", "2", `/0: "\u200b" does not fit`},
		"one read backwards":         {"[gates.faber]\n\napprovers = [\"a\\u202eb\"]\n", "3", `[gates] "faber": approvers hold a name that cannot be recorded: /0: "a\u202eb" does not fit`},
		"one of two lines":           {"[gates]\n\"*\" = { approvers = [\"a\\nb\"] }\n", "2", `/0: "a\nb" does not fit`},
		"one without a letter":       {"[gates]\n\"*\" = { approvers = [\"\"] }\n", "2", `/0: "" does not fit`},
		"one that does not end":      {"[gates]\n\"*\" = { approvers = [\"" + strings.Repeat("a", 201) + "\"] }\n", "2", "expected a name, one line of at most 200"},
		"more than can be recorded":  {"[gates]\n\"*\" = { approvers = [" + strings.Repeat("\"a\", ", 51) + "] }\n", "2", "has 51 items: expected an array of at most 50 names"},
		"a gate for no family":       {"[gates]\nfabre = { level = \"file\" }\n", "2", `[gates] "fabre" names no family`},
		"a gate for no type":         {"[gates]\n\"faber/\" = { level = \"file\" }\n", "2", `[gates] "faber/" names no family`},
		"a variable that is none":    {"[commands]\nenv = [\"A=B\"]\n", "2", `commands.env: number 1 of the list: "A=B" is not the name of a variable`},
		"approval by time alone":     {"[faber]\n\non_deadline = \"approve\"\n", "3", `on_deadline: "approve" would approve by time alone`},
		"approval, spelled oddly":    {"[faber]\non_deadline = \"CONFIRM \"\n", "2", "would approve by time alone"},
		"a pattern that is none":     {"[faber]\ndestructive_steps = [\"[\"]\n", "2", "destructive_steps"},
		"failed runs of no kind":     {"[faber]\nask_failed = \"some\"\n", "2", `faber.ask_failed: unknown word "some": expected one of "none", "driven", "all"`},
		"no root":                    {"[faber]\nroots = []\n", "2", "faber.roots: is empty: name at least one folder of runs"},
		"unknown key of afl":         {"[afl]\nmax_iteration = 3\n", "2", `unknown setting "afl.max_iteration"`},
		"a table where afl has none": {"[afl.max_iterations]\nx = 1\n", "1", "afl.max_iterations: is a table: expected a whole number"},
		"wrong type in afl":          {"[afl]\nmax_iterations = \"5\"\n", "2", "afl.max_iterations: is text: expected a whole number"},
		"a length without unit":      {"[afl]\nauto_retry_delay = \"5\"\n", "2", `afl.auto_retry_delay: "5" is no length of time from 0s to 24h, such as "10m"`},
		"out of range":               {"[afl]\n\nmax_iterations = 51\n", "3", "afl.max_iterations: is the number 51: expected 1 to 50"},
		"a mode for later":           {"[afl]\nmode = \"manual\"\n", "2", `afl.mode: "manual" is not served yet: set mode = "auto"`},
		"a word that afl lacks":      {"[afl]\nreview = \"nobody\"\n", "2", `afl.review: unknown word "nobody": expected one of "person", "each", "external", "off"`},
		"no shell":                   {"[afl]\nshell = []\n", "2", "afl.shell: is empty: name the program"},
		"a language without texts":   {"[afl]\nlanguage = \"fr\"\n", "2", `afl.language "fr" is not one of en, ko, ja`},
		"unknown key of optimizer":   {"[optimizer]\nidempotent = true\n", "2", `unknown setting "optimizer.idempotent"`},
		"unknown key of a workflow":  {"[optimizer.workflows]\n\n\"a b\" = { analyse = [\"x\"] }\n", "3", `unknown setting "optimizer.workflows.\"a b\".analyse"`},
		"a command as one string":    {"[optimizer.workflows.x]\nanalysis = \"x\"\n", "2", "optimizer.workflows.x.analysis: is text: expected an array"},
		"an empty command":           {"[optimizer.workflows.\"a: b\"]\n\nanalysis = []\n", "3", `optimizer.workflows."a: b".analysis: expected a program and its arguments`},
		"a root of another name":     {"[optimizer]\nroots = [\"runs\"]\n", "2", `[optimizer] roots: "runs" is no folder .mso-context`},
		"a root outside":             {"[optimizer]\nroots = [\"../.mso-context\"]\n", "2", "[optimizer] roots: "},
		"a database outside":         {"[optimizer]\naudit_db = \"/tmp/x.db\"\n", "2", "[optimizer] audit_db: "},
		"a wait without unit":        {"[optimizer]\ninputs_wait = \"10\"\n", "2", `optimizer.inputs_wait: "10" is no length of time`},
		"never, where none is":       {"[optimizer]\nlevel_timeout = \"never\"\n", "2", `optimizer.level_timeout: "never" is no length of time`},
		"a language of few texts":    {"[optimizer]\nlanguage = \"fr\"\n", "2", `optimizer.language "fr" is not one of en, ko, ja`},
		"a workflow's bad length":    {"[optimizer.workflows]\n\"a b\" = { hitl_timeout = \"soon\" }\n", "2", `optimizer.workflows."a b".hitl_timeout: "soon" is no length of time`},
		"a number with a point":      {"[afl]\nmax_iterations = 5.0\n", "2", "max_iterations: expected a whole number, written without a point"},
		"a fraction":                 {"[afl]\nmax_iterations = 5.5\n", "2", "afl.max_iterations: is the number 5.5: expected a whole number"},
		"a date":                     {"[afl]\nmode = 2026-01-02\n", "2", "afl.mode: no setting takes 2026-01-02T00:00:00"},
		"a date in a list":           {"[faber]\nroots = [\"x\", 2026-01-02]\n", "2", "faber.roots: no setting takes 2026-01-02T00:00:00"},
		"no length of faber":         {"[faber.deadline]\n\"a b\" = \"0s\"\n", "2", `faber.deadline."a b": "0s" is no length of time: write it like "10m"`},
		"quotes of no run":           {"[faber]\ncontext = { events = -1 }\n", "2", "faber.context.events: is the number -1: expected >= 0"},
		"too long a rest":            {"[afl]\nauto_retry_delay = \"25h\"\n", "2", `"25h" is no length of time from 0s to 24h`},
		"no workers":                 {"[afl]\nparallel_workers = 0\n", "2", "afl.parallel_workers: is the number 0: expected 1 to 32"},
		"a pattern of one":           {"[afl]\npattern_after = 1\n", "2", "afl.pattern_after: is the number 1: expected 2 to 20"},
		"a guess":                    {"[afl]\nvalidation = \"guess\"\n", "2", `afl.validation: unknown word "guess": expected one of "command", "result"`},
		"too short a validation":     {"[afl]\nvalidation_timeout = \"1ms\"\n", "2", `afl.validation_timeout: "1ms" is no length of time from 1s to 24h`},
		"too many attempts":          {"[afl]\nretry_more_attempts = 21\n", "2", "afl.retry_more_attempts: is the number 21: expected 1 to 20"},
		"an interruption":            {"[afl]\ninterrupted = \"maybe\"\n", "2", `afl.interrupted: unknown word "maybe": expected one of "ask", "rerun"`},
		"a shell without name":       {"[afl]\nshell = [\"\", \"-c\"]\n", "2", "afl.shell: number 1 of the list: is empty: name the program"},
		"a wait that is none":        {"[afl]\noracle_wait = \"soon\"\n", "2", `afl.oracle_wait: "soon" is no length of time from 0s to 24h`},
		"no ports":                   {"[pal]\nmax_concurrency = 0\n", "2", "pal.max_concurrency: is the number 0: expected 1 to 64"},
		"too many ports":             {"[pal]\nmax_concurrency = 65\n", "2", "pal.max_concurrency: is the number 65: expected 1 to 64"},
		"no retries":                 {"[pal]\nmax_retries = 0\n", "2", "pal.max_retries: is the number 0: expected 1 to 100"},
		"too many retries":           {"[pal]\nmax_retries = 101\n", "2", "pal.max_retries: is the number 101: expected 1 to 100"},
		"no percent":                 {"[pal]\ntoken_percent = 0\n", "2", "pal.token_percent: is the number 0: expected 1 to 100"},
		"too many events":            {"[pal]\nprogress_hz = 3\n", "2", "pal.progress_hz: is the number 3: expected 1 to 2"},
		"less than no tokens":        {"[pal]\ntoken_budget = -1\n", "2", "pal.token_budget: is the number -1: expected >= 0"},
		"a timeout without unit":     {"[pal]\ntimeout_per_port = \"30\"\n", "2", `pal.timeout_per_port: "30" is no length of time: write it like "10m"`},
		"a timeout before its start": {"[pal]\ntimeout_per_port = \"-1m\"\n", "2", `pal.timeout_per_port: "-1m" is no length of time`},
		"no open asks":               {"[ask]\nmax_open = 0\n", "2", "ask.max_open: is the number 0: expected >= 1"},
		"a yes":                      {"[nemawashi]\nrequest_approval = \"yes\"\n", "2", `nemawashi.request_approval: unknown word "yes": expected one of "auto", "explicit"`},
		"an override of nothing":     {"[nemawashi]\nexecute_override = \"\"\n", "2", `nemawashi.execute_override: unknown word "": expected one of "reapprove", "allow"`},
		"a mail provider":            {"[nemawashi.mail]\nprovider = \"ses\"\n", "2", `nemawashi.mail.provider: unknown word "ses": expected one of "mock", "smtp"`},
		"a calendar provider":        {"[nemawashi.calendar]\nprovider = \"google\"\n", "2", `nemawashi.calendar.provider: unknown word "google": expected one of "mock", "ics", "http"`},
		"no hr provider":             {"[nemawashi.hr]\nprovider = \"\"\n", "2", `nemawashi.hr.provider: unknown word "": expected one of "mock", "http"`},
		"days":                       {"[nemawashi]\napproval_ttl = \"3 days\"\n", "2", `nemawashi.approval_ttl: "3 days" is no length of time: write it like "72h", or "" for never`},
		"a ttl without length":       {"[nemawashi]\napproval_ttl = \"0s\"\n", "2", `nemawashi.approval_ttl: "0s" is no length of time`},
		"a negative ttl":             {"[nemawashi]\napproval_ttl = \"-1h\"\n", "2", "nemawashi.approval_ttl: "},
		"no port":                    {"[nemawashi.mail]\nsmtp_port = 0\n", "2", "nemawashi.mail.smtp_port: is the number 0: expected 1 to 65535"},
		"tls of another name":        {"[nemawashi.mail]\nsmtp_tls = \"ssl\"\n", "2", `nemawashi.mail.smtp_tls: unknown word "ssl": expected one of "starttls", "tls", "none"`},
		"no sender":                  {"[nemawashi.mail]\ndefault_from = \"\"\n", "2", "nemawashi.mail.default_from: is empty: name the sender"},
		"no root of optimizer":       {"[optimizer]\nroots = []\n", "2", "optimizer.roots: expected at least one folder"},
		"too many rows":              {"[optimizer]\naudit_rows = 1001\n", "2", "optimizer.audit_rows: is the number 1001: expected 0 to 1000"},
		"an owner without name":      {"[optimizer]\nticket_owner = \" \"\n", "2", "optimizer.ticket_owner: expected a name"},
		"no attempts":                {"[optimizer.workflows]\nw = { level_attempts = 0 }\n", "2", "optimizer.workflows.w.level_attempts: is the number 0: expected 1 to 100"},
		"a program without name":     {"[optimizer.workflows]\nw = { evaluation = [\" \"] }\n", "2", "optimizer.workflows.w.evaluation: number 1 of the list: expected a program and its arguments"},
		"a workflow's language":      {"[optimizer.workflows]\nw = { language = \"fr\" }\n", "2", `workflows."w".language: "fr" is not one of en, ko, ja`},
		"a host that is none":        {"[serve]\nallowed_hosts = [\"a/b\"]\n", "2", `serve.allowed_hosts: number 1 of the list: takes names of hosts, not "a/b"`},
		"a long wait":                {"[serve]\nwait = \"51s\"\n", "2", `serve.wait: "51s" is no length of time from 0s to 50s`},
		"posts of no family":         {"[slack]\nfamilies = [\"x\"]\n", "2", `slack.families: number 1 of the list: unknown word "x": expected one of "*", "faber"`},
		"an old call":                {"[slack]\nrequest_ttl_seconds = 3601\n", "2", "slack.request_ttl_seconds: is the number 3601: expected 1 to 3600"},
		"a secret of the workspace":  {"[slack]\nbot_token_file = \"x\"\n", "2", `slack.bot_token_file: takes the absolute path of a file outside the workspace, not "x"`},
		"a dialogue of another word": {"[mcp]\nelicit = \"x\"\n", "2", `mcp.elicit: unknown word "x": expected one of "auto", "on", "off"`},
		"a number that is not there": {"[faber]\ncontext = { events = inf }\n", "2", "faber.context.events: no setting takes +Inf"},
	}
	for name, test := range tests {
		for _, whose := range []string{"placet.toml", "user"} {
			t.Run(name+" in "+whose, func(t *testing.T) {
				from := places(t)
				path := from.User
				if whose == "placet.toml" {
					path = filepath.Join(from.Workspace, whose)
				}
				put(t, filepath.Dir(path), filepath.Base(path), test.toml)
				_, err := Load(from)
				if err == nil {
					t.Fatal("was accepted")
				}
				if code := err.(*console.Problem).Code; code != console.ExitUsage {
					t.Errorf("exit code %d, want %d", code, console.ExitUsage)
				}
				place := path
				if test.line != "" {
					place += ":" + test.line
				}
				if !strings.HasPrefix(err.Error(), place+": ") || !strings.Contains(err.Error(), test.says) {
					t.Errorf("says %q\nwant %s: … %s", err, place, test.says)
				}
			})
		}
	}
}

func TestAMistypedSettingIsTold(t *testing.T) {
	for mistyped, meant := range map[string]string{
		"langauge = \"en\"":                           "language",
		"Language = \"en\"":                           "language",
		"[faber]\non-deadline = \"x\"":                "faber.on_deadline",
		"[faber]\nask_faild = \"all\"":                "faber.ask_failed",
		"[faber.resume]\ncomand = [\"x\"]":            "faber.resume.command",
		"[afl]\nmax_iteratons = 3":                    "afl.max_iterations",
		"[optimizer]\nhitl-timeout = 3":               "optimizer.hitl_timeout",
		"[optimizer.workflows.w]\nanalysys = [\"x\"]": "optimizer.workflows.w.analysis",
	} {
		from := places(t)
		put(t, from.Workspace, "placet.toml", mistyped+"\n")
		_, err := Load(from)
		if p, ok := err.(*console.Problem); !ok || p.Hint("en") != `did you mean "`+meant+`"?` {
			t.Errorf("%q: %#v, want a hint at %q", mistyped, err, meant)
		}
	}
}

func TestAConfigurationThatIsNoFileIsRefused(t *testing.T) {
	from := places(t)
	if err := os.Mkdir(filepath.Join(from.Workspace, "placet.toml"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(from); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder: %v", err)
	}
	for what, toml := range map[string]string{
		"larger than 1 MiB":               strings.Repeat("# x\n", LimitSmall),
		"larger than 64 KiB":              strings.Repeat("# x\n", limitSettings/4+1),
		"line 2 is longer than 4 KiB":     "\n" + strings.Repeat("a.", limitLine) + "a = 1\n",
		"more than 500 inline tables":     "x = " + strings.Repeat("{a=", limitTables+1) + "1" + strings.Repeat("}", limitTables+1),
		"line 1 is longer than 4 KiB":     "x = " + strings.Repeat("[", limitLine),
		`unknown setting "x"`:             "x = " + strings.Repeat("[\n", 10000) + strings.Repeat("]\n", 10000),
		`unknown setting "a"`:             strings.Repeat("a.", limitLine/2-10) + "a = 1\n",
		`unknown setting "faber.context.`: "[faber]\ncontext = " + strings.Repeat("{a=", limitTables-1) + "1" + strings.Repeat("}", limitTables-1),
	} {
		from := places(t)
		put(t, from.Workspace, "placet.toml", toml)
		if _, err := Load(from); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("want %q: %v", what, err)
		}
	}
}

func TestANamedConfigurationMustExist(t *testing.T) {
	from := places(t)
	mustLoad(t, from)
	from.named = true
	if _, err := Load(from); err == nil || !strings.Contains(err.Error(), from.User) {
		t.Errorf("says %v", err)
	}
}

func TestTheUsersConfigurationWinsOverTheWorkspaces(t *testing.T) {
	from := places(t)
	put(t, from.Workspace, "placet.toml", `
language = "ko"
[faber]
ask_failed = "all"
workflow_paths = ["a", "b"]
deadline = { review = "1h", approval = "2h" }
context = { events = 3 }
`)
	put(t, filepath.Dir(from.User), "placet.toml", `
language = "ja"
[faber]
workflow_paths = ["c"]
deadline = { review = "5h" }
`)
	want := Defaults()
	want.Language = "ja"
	want.Faber.AskFailed = "all"
	want.Faber.WorkflowPaths = []string{"c"}
	want.Faber.Deadline = map[string]faber.Duration{"review": faber.Duration(5 * time.Hour), "approval": faber.Duration(2 * time.Hour)}
	want.Faber.Context.Events = 3
	got := mustLoad(t, from)
	if diff := cmp.Diff(want, got.File); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{filepath.Join(from.Workspace, "placet.toml"), from.User}, got.Read); diff != "" {
		t.Error(diff)
	}
}

// Every policy key as a workspace may set it, and what shows that it counts.
var policySettings = map[string]struct {
	toml   string
	counts func(Settings) bool
}{
	"gates": {"[gates]\n\"*\" = { approvers = [\"kim\"] }", func(s Settings) bool {
		return len(s.MachineGates()["*"].Approvers) == 1 && !s.MachineGates()["*"].Waits // until then it may only be tighter
	}},
	"commands":                {"[commands]\nenv = [\"API_KEY\"]", func(s Settings) bool { return len(s.Commands.Env) == 1 }},
	"faber.destructive_steps": {"[faber]\ndestructive_steps = []", func(s Settings) bool { return len(s.Faber.DestructiveSteps) == 0 }},
	"faber.on_deadline":       {"[faber]\non_deadline = \"reject\"", func(s Settings) bool { return s.Faber.OnDeadline == "reject" }},
	"faber.roots":             {"[faber]\nroots = [\"runs\"]", func(s Settings) bool { return s.Faber.Roots[0] == "runs" }},
	"afl.review":              {"[afl]\nreview = \"off\"", func(s Settings) bool { return s.Afl.Review != nil }},
	"afl.validation":          {"[afl]\nvalidation = \"result\"", func(s Settings) bool { return s.Afl.Validation != nil }},
	"afl.interrupted":         {"[afl]\ninterrupted = \"rerun\"", func(s Settings) bool { return s.Afl.Interrupted != nil }},
	"afl.changing_tests":      {"[afl]\nchanging_tests = \"trust\"", func(s Settings) bool { return s.Afl.MayChange() }},
	"afl.oracle_command":      {"[afl]\noracle_command = [\"oracle\"]", func(s Settings) bool { return s.Afl.OracleCommand != nil }},
	"afl.reviewer_command":    {"[afl]\nreviewer_command = [\"critic\"]", func(s Settings) bool { return s.Afl.ReviewerCommand != nil }},
	"afl.shell":               {"[afl]\nshell = [\"sh\", \"-c\"]", func(s Settings) bool { return s.Afl.Shell != nil }},
	"afl.worker_command":      {"[afl]\nworker_command = \"work\"", func(s Settings) bool { return s.Afl.WorkerCommand != nil && s.Trusted[s.Afl.WorkerDigest()] }},
	"optimizer.roots":         {"[optimizer]\nroots = [\"x/.mso-context\"]", func(s Settings) bool { return s.Optimizer.Roots[0] == "x/.mso-context" }},
	"optimizer.audit_db":      {"[optimizer]\naudit_db = \"a.db\"", func(s Settings) bool { return s.Optimizer.AuditDB == "a.db" }},
	"optimizer.hitl_timeout":  {"[optimizer]\nhitl_timeout = \"1h\"", func(s Settings) bool { return s.Optimizer.HITLTimeout == "1h" }},
	"optimizer.max_timeout_reentries": {"[optimizer]\nmax_timeout_reentries = 9", func(s Settings) bool {
		return s.Optimizer.MaxTimeoutReentries == 9
	}},
	`optimizer.workflows."a b".hitl_timeout`: {"[optimizer.workflows]\n\"a b\" = { hitl_timeout = \"1h\" }", func(s Settings) bool {
		return s.Optimizer.Workflows["a b"].HITLTimeout != nil
	}},
	"optimizer.workflows.w.criteria_fixed": {"[optimizer.workflows.w]\ncriteria_fixed = true", func(s Settings) bool {
		return s.Optimizer.Workflows["w"].CriteriaFixed
	}},
	"optimizer.workflows.w.idempotent": {"[optimizer.workflows.w]\nidempotent = true", func(s Settings) bool {
		return s.Optimizer.Workflows["w"].Idempotent
	}},
	"optimizer.workflows.w.analysis": {"[optimizer.workflows.w]\nanalysis = [\"python3\", \"a.py\"]", func(s Settings) bool {
		return s.Trusted[optimizer.CommandDigest([]string{"python3", "a.py"})]
	}},
	"optimizer.workflows.w.evaluation": {"[optimizer.workflows.w]\nevaluation = [\"./e\"]", func(s Settings) bool {
		return s.Trusted[optimizer.CommandDigest([]string{"./e"})]
	}},
	"faber.resume": {"[faber.resume]\ncommand = [\"go\", \"on\"]", func(s Settings) bool { return len(s.Faber.Resume.Command) == 2 }},
}

func TestPolicyOfTheWorkspaceCountsOnlyOnceTrusted(t *testing.T) {
	for key, test := range policySettings {
		t.Run(key, func(t *testing.T) {
			from := places(t)
			put(t, from.Workspace, "placet.toml", "language = \"ko\"\n"+test.toml+"\n")
			before := mustLoad(t, from)
			if test.counts(before) {
				t.Error("counts untrusted")
			}
			if before.Language != "ko" {
				t.Error("what is no policy does not count")
			}
			if len(before.Waiting) != 1 || before.Waiting[0].Name() != key || before.Waiting[0].Line < 2 {
				t.Fatalf("waiting: %+v", before.Waiting)
			}
			agree(t, from, waitingSetting(before.Waiting[0]))
			after := mustLoad(t, from)
			if !test.counts(after) || len(after.Waiting) > 0 {
				t.Errorf("does not count although trusted; waiting: %+v", after.Waiting)
			}
		})
	}
}

func TestPolicyOfTheUserCountsUnasked(t *testing.T) {
	for key, test := range policySettings {
		from := places(t)
		put(t, filepath.Dir(from.User), "placet.toml", test.toml+"\n")
		if s := mustLoad(t, from); !test.counts(s) || len(s.Waiting) > 0 {
			t.Errorf("%s: counts %v, waiting %v", key, test.counts(s), s.Waiting)
		}
	}
}

func TestAUsersConfigurationInsideTheWorkspaceIsTheWorkspaces(t *testing.T) {
	for name, test := range policySettings {
		from := places(t)
		from.User = put(t, from.Workspace, "config/mine.toml", test.toml+"\n")
		if s := mustLoad(t, from); test.counts(s) || len(s.Waiting) != 1 {
			t.Errorf("%s: counts although an agent could have written it", name)
		}
		outside := filepath.Join(t.TempDir(), "link.toml")
		if err := os.Symlink(from.User, outside); err != nil {
			t.Fatal(err)
		}
		from.User = outside
		if s := mustLoad(t, from); test.counts(s) {
			t.Errorf("%s: counts through a link into the workspace", name)
		}
	}
}

func TestAChangedPolicyIsUntrustedAgain(t *testing.T) {
	from := places(t)
	put(t, from.Workspace, "placet.toml", "[faber.resume]\ncommand = [\"good\"]\n")
	s := mustLoad(t, from)
	agree(t, from, waitingSetting(s.Waiting[0]))
	for toml, counts := range map[string]bool{
		"[faber.resume]\ncommand = [\"good\"]\n":                        true,
		"# moved\n\n[faber]\nresume = { command = [ 'good' ] } # as is": true,
		"[faber.resume]\ncommand = [\"good\", \"rm\"]\n":                false,
		"[faber.resume]\ncommand = [\"good \"]\n":                       false,
	} {
		put(t, from.Workspace, "placet.toml", toml)
		s := mustLoad(t, from)
		if got := len(s.Faber.Resume.Command) > 0; got != counts {
			t.Errorf("%q counts: %v, want %v", toml, got, counts)
		}
		if argv := s.Faber.Resume.Command; counts && !s.Trusted[faber.CommandDigest(argv)] {
			t.Errorf("%q: the setting is trusted and its command is not", toml)
		}
	}
}

func TestOneTrustedPolicyCarriesNoOther(t *testing.T) {
	from := places(t)
	put(t, from.Workspace, "placet.toml", "[faber]\non_deadline = \"reject\"\nroots = [\"x\"]\n")
	s := mustLoad(t, from)
	agree(t, from, waitingSetting(s.Waiting[0]))
	s = mustLoad(t, from)
	if s.Faber.OnDeadline != "reject" || s.Faber.Roots[0] == "x" {
		t.Errorf("on_deadline %q, roots %q", s.Faber.OnDeadline, s.Faber.Roots)
	}
}

func TestInitShowsEverySettingWithItsDefault(t *testing.T) {
	shown := regexp.MustCompile(`(?m)^#(\S)`).ReplaceAllString(InitialSettings, "$1")
	l := Layer{Path: "placet.toml", body: []byte(shown)}
	tree, _, err := l.parse()
	if err != nil {
		t.Fatal(err)
	}
	got := Defaults()
	got.Language, got.Faber, got.Optimizer = "", faber.Config{}, optimizer.Config{}
	if err := (Layer{Path: "x", body: l.body}).decode(tree, &got); err != nil {
		t.Fatal(err)
	}
	want := Defaults()
	want.Gates = map[string]GateRule{"*": {Level: "file", Approvers: []string{}}}
	want.Commands.Env = []string{}
	want.Afl = everyAflDefault()
	want.Pal = everyPalDefault()
	want.Optimizer.Workflows = map[string]optimizer.Workflow{}
	want.Serve.AllowedHosts, want.Serve.AllowedOrigins = []string{}, []string{}
	want.Faber.Issue.Authors, want.Faber.Issue.Repos, want.Faber.Issue.PostCommand = []string{}, map[string]string{}, []string{}
	want.Faber.WorkflowPaths, want.Faber.Deadline, want.Faber.Resume.Command = []string{}, map[string]faber.Duration{}, []string{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, p := range policies(tree) {
		if !strings.Contains(InitialSettings, "# POLICY") {
			t.Errorf("%s is not marked", p.Name())
		}
	}
	if s := mustLoad(t, func() Sources {
		from := places(t)
		put(t, from.Workspace, "placet.toml", InitialSettings)
		return from
	}()); len(s.Waiting) > 0 {
		t.Errorf("as it is written it holds settings: %v", s.Waiting)
	}
}

// everyAflDefault are the defaults of section 8 of AFL's format page, said.
func everyAflDefault() afl.Config {
	return afl.Config{
		Enabled: true, MaxIterations: new(5), AutoRetryDelay: new("5s"), Mode: new("auto"), ParallelWorkers: new(3),
		EscalationOnDesignMismatch: new(true), PatternAfter: new(3), Review: new("person"), NotifyOnEscalation: new(true),
		Validation: new("command"), ValidationTimeout: new("120s"), EscalateUnclear: new(true), EscalateOnPattern: new(false),
		RetryMoreAttempts: new(2), Interrupted: new("ask"), ChangingTests: new("ask"), OracleCommand: []string{}, ReviewerCommand: []string{}, Shell: []string{"bash", "-c"}, WorkerCommand: new(""),
		WorkerTimeout: new("2h"), OracleWait: new("0s"), ApprovalQuiet: new("10s"),
	}
}

// everyPalDefault are the defaults of section 8 of PAL's format page, said.
func everyPalDefault() pal.Config {
	return pal.Config{
		Enabled: true, MaxConcurrency: new(3), ParallelEnabled: new(true), TimeoutPerPort: new("30m"), MaxRetries: new(3), TokenBudget: new(15000),
		TokenPercent: new(95), ProgressHz: new(2), AutoResolve: []string{},
	}
}

func TestThePolicyDigestIsThatOfTheDesign(t *testing.T) {
	found := policies(map[string]any{"faber": map[string]any{"resume": map[string]any{"command": []any{"a", "<b>"}}}})
	want := engine.Sum([]byte("faber.resume\n" + `{"command":["a","<b>"]}`))
	if len(found) != 1 || found[0].Digest != want {
		t.Errorf("%+v, want the digest of key LF canonical JSON value, %s", found, want)
	}
}

// Once without commands leaves no command trusted, and every setting as it was
// agreed to.
func TestStillSettingsTrustNoCommand(t *testing.T) {
	from := places(t)
	put(t, filepath.Dir(from.User), "placet.toml", `[faber]
resume = { command = ["go"] }
[afl]
worker_command = "work"
[optimizer.workflows]
w = { analysis = ["look"] }
`)
	command, setting := engine.Sum([]byte("a command")), engine.Sum([]byte("a setting"))
	agree(t, from,
		UntrustedLine{Name: afl.TrustName + "shop/a", Digest: command, Of: command, Argv: []string{"true"}},
		UntrustedLine{Name: "afl.validation", Digest: setting, Of: setting})
	s := mustLoad(t, from)
	worker := s.Afl.WorkerDigest()
	if !s.Trusted[command] || !s.Trusted[setting] || !s.Trusted[worker] || !s.Trusted[optimizer.CommandDigest([]string{"look"})] {
		t.Fatalf("trusted: %v", s.Trusted)
	}
	still := s.ReadOnly()
	if !still.Afl.Still || !still.Optimizer.Still || len(still.Faber.Resume.Command) > 0 {
		t.Errorf("%+v", still.File)
	}
	if diff := cmp.Diff(map[engine.Digest]bool{setting: true}, still.Trusted); diff != "" {
		t.Error(diff)
	}
	if !s.Trusted[command] || s.Afl.Still {
		t.Error("the settings themselves were changed")
	}
}

func FuzzSettings(f *testing.F) {
	f.Add(InitialSettings)
	f.Add("[gates]\n\"*\" = { level = \"file\", approvers = [\"a\"] }\n")
	f.Add("[optimizer.workflows]\n\"*\" = { analysis = [\"a\"], evaluation = [1], idempotent = true }\n\"a, b\".evaluation = []\n")
	f.Add("[faber]\ndeadline = { review = \"1h\" }\nresume = { command = [\"x\"] }\n\"a,b\".c = 1979-05-27T07:32:00Z\n")
	for _, policy := range policySettings {
		f.Add(policy.toml)
	}
	nowhere := exec.NewContents(f.TempDir())
	f.Fuzz(func(t *testing.T, text string) {
		l := Layer{Path: "placet.toml", body: []byte(text)}
		if bounded(l.body) != nil {
			return
		}
		s := newSettings(nowhere)
		if err := s.merge(l); err != nil {
			if p, ok := err.(*console.Problem); !ok || p.Code != console.ExitUsage || !strings.HasPrefix(p.Error(), "placet.toml") && !strings.HasPrefix(p.Error(), "cannot") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		want := Defaults()
		for digest := range s.Trusted {
			t.Errorf("%q: what nobody agreed to is trusted: %s", text, digest)
		}
		own, def := s.Optimizer, want.Optimizer
		if !slices.Equal(own.Roots, def.Roots) || own.AuditDB != "" || own.HITLTimeout != def.HITLTimeout || own.MaxTimeoutReentries != def.MaxTimeoutReentries {
			t.Errorf("%q: an untrusted policy counts: %+v", text, own)
		}
		for _, w := range own.Workflows {
			if w.CriteriaFixed || w.Idempotent || w.HITLTimeout != nil {
				t.Errorf("%q: an untrusted policy counts: %+v", text, w)
			}
		}
		if own := s.Afl; own.Review != nil || own.Validation != nil || own.Interrupted != nil || own.Shell != nil || own.WorkerCommand != nil {
			t.Errorf("%q: an untrusted policy counts: %+v", text, own)
		}
		if s.Faber.OnDeadline != want.Faber.OnDeadline || len(s.Faber.Resume.Command) > 0 || len(s.Commands.Env) > 0 {
			t.Errorf("%q: an untrusted policy counts: %+v", text, s.File)
		}
		for name, g := range s.MachineGates() {
			if g.Waits != (len(g.Approvers) > 0) {
				t.Errorf("%q: an untrusted gate %s is no tighter one: %+v", text, name, g)
			}
		}
	})
}

// TestASettingStandsInEachOfItsPlaces: the schema and the Go types have the same settings,
// init.toml shows each of them, and what x-says names is a key of words.json.
func TestASettingStandsInEachOfItsPlaces(t *testing.T) {
	body, err := os.ReadFile("../../../schemas/placet/settings.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema settingSchema
	if err := json.Unmarshal(body, &schema); err != nil {
		t.Fatal(err)
	}
	inSchema, inGo := schema.names(""), settingNames(reflect.TypeFor[File](), "")
	slices.Sort(inSchema)
	slices.Sort(inGo)
	if diff := cmp.Diff(inGo, inSchema); diff != "" {
		t.Errorf("settings (-fields of File with a toml tag +schemas/placet/settings.json):\n%s", diff)
	}
	for _, name := range inGo {
		key := strings.TrimSuffix(name, ".*")
		key = key[strings.LastIndexByte(key, '.')+1:]
		if strings.HasPrefix(name, "notify.") { // it counts only in the user's own file
			continue
		}
		if !regexp.MustCompile(`(?m)^#? ?` + key + `\b|\b` + key + ` = |\.` + key + `\]`).MatchString(InitialSettings) {
			t.Errorf("cmd/placet/config/init.toml does not show %s", name)
		}
	}
	for _, says := range regexp.MustCompile(`"x-says": *"([^"]+)"`).FindAllSubmatch(body, -1) {
		if key := string(says[1]); templates.Text(templates.English, key) == key {
			t.Errorf("templates/*/words.json has no %q, which schemas/placet/settings.json names", key)
		}
	}
}

// settingSchema is the part of a schema that a test looks at.
type settingSchema struct {
	Properties           map[string]settingSchema
	Items                json.RawMessage
	AdditionalProperties json.RawMessage
}

// names returns the settings of a schema, * for any name.
func (s settingSchema) names(at string) (names []string) {
	for key, below := range s.Properties {
		names = append(names, below.names(at+"."+key)...)
	}
	var below, item settingSchema
	if json.Unmarshal(s.AdditionalProperties, &below) == nil {
		names = append(names, below.names(at+".*")...)
	}
	if json.Unmarshal(s.Items, &item) == nil && item.Properties != nil {
		names = append(names, item.names(at)...)
	}
	if names == nil {
		names = []string{strings.TrimPrefix(at, ".")}
	}
	return names
}

// settingNames returns the settings of a type, in the same way.
func settingNames(of reflect.Type, at string) (names []string) {
	switch {
	case of.Kind() == reflect.Map:
		return settingNames(of.Elem(), at+".*")
	case of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice && of.Elem().Kind() == reflect.Struct:
		return settingNames(of.Elem(), at)
	}
	if of.Kind() == reflect.Struct {
		for _, f := range reflect.VisibleFields(of) {
			if key, tagged := f.Tag.Lookup("toml"); tagged && key != "-" {
				names = append(names, settingNames(f.Type, at+"."+key)...)
			}
		}
	}
	if names == nil {
		names = []string{strings.TrimPrefix(at, ".")}
	}
	return names
}
