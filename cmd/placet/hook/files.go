package hook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"placet/cmd/placet/config"
	"placet/engine/jsonedit"
	"placet/schemas"
	"placet/templates"
)

// File is a file of a client, with what placet adds to it.
type File struct {
	Path    string   // relative to the workspace
	Members []Member // of a JSON file
	Table   string   // of a TOML file: the text of one table
}

// Member is one thing that placet adds to a JSON file.
type Member struct {
	At    []string // the path of names to the value
	Value schemas.Raw
	// Element says that the value is one element of an array, besides those of others.
	Element bool
	// Also is another value that is as good, and Older one that Value replaces; nil for none.
	Also, Older schemas.Raw
}

// String names the member.
func (m Member) String() string { return strings.Join(m.At, ".") }

// Files returns the files of a client for some settings.
func (c Client) Files(h config.Hook) []File { return c.files(h) }

// hookTimeout is how long clients wait for a hook, in seconds; it is longer than placet waits
// for a person. shortTimeout is enough if no person is asked.
const (
	hookTimeout  = 86400
	shortTimeout = 10
)

func member(value string, at ...string) Member { return Member{At: at, Value: schemas.Raw(value)} }

func element(value string, at ...string) Member {
	return Member{At: at, Value: schemas.Raw(value), Element: true}
}

const mcpServer = `"command":"placet","args":["mcp"]`

// personal, committed and shared are where placet's hook for Claude Code stands, and in which form: in the user's
// own file of the project, in the file that the project commits, and there in a form that lets calls run
// for people who have no placet.
type claudeForm int

const (
	personal claudeForm = iota
	committed
	shared
)

// The files of Claude Code with hooks: the one of the user alone, and the one for all of the project.
const (
	PersonalSettings = ".claude/settings.local.json"
	SharedSettings   = ".claude/settings.json"
)

func claudeFiles(h config.Hook) []File { return claudeFilesAs(h, personal) }

// withPlacet returns a shell's command that runs placet, or says that it is missing. It ends with 1 then,
// which no client takes for a denial.
func withPlacet(args string) string {
	return "command -v placet >/dev/null 2>&1 || { echo 'placet is not installed, so no person is asked before an agent acts. Install it, or ask whoever set up this project.' >&2; exit 1; }; exec placet " + args
}

func claudeFilesAs(h config.Hook, form claudeForm) []File {
	const says = `,"statusMessage":"placet: a person is asked"`
	blocks := `,"onFailure":"block"` + says
	command := `"command":"placet","args":["hook","claude-code"]`
	server := `{"type":"stdio",` + mcpServer + `,"env":{"PLACET_MCP_WAIT":"23h"},"timeout":86400000}`
	sharedServer := fmt.Sprintf(`{"type":"stdio","command":"sh","args":["-c",%s],"env":{"PLACET_MCP_WAIT":"23h"},"timeout":86400000}`, encode(withPlacet("mcp")))
	settings, tools := PersonalSettings, member(server, "mcpServers", "placet")
	tools.Also = schemas.Raw(sharedServer)
	switch form {
	case committed:
		settings = SharedSettings
	case shared:
		settings, command = SharedSettings, fmt.Sprintf(`"command":%s`, encode(withPlacet("hook claude-code")))
		blocks = says
		tools = member(sharedServer, "mcpServers", "placet")
		tools.Older = schemas.Raw(server)
	}
	atPrompt := blocks
	if h.First == config.FirstAny { // the client's own prompt is left if the hook fails
		atPrompt = says
	}
	run := func(timeout int, more string) string {
		return fmt.Sprintf(`"hooks":[{"type":"command",%s,"timeout":%d%s}]`, command, timeout, more)
	}
	short := "{" + run(shortTimeout, "") + "}"
	entries := []Member{
		element(fmt.Sprintf(`{"matcher":%s,%s}`, matcher(h, "*", "Bash", "PowerShell", "Write", "Edit", "MultiEdit", "NotebookEdit"), run(hookTimeout, blocks)), "hooks", "PreToolUse"),
		element("{"+run(hookTimeout, atPrompt)+"}", "hooks", "PermissionRequest"),
		element(short, "hooks", "UserPromptSubmit"), element(short, "hooks", "SessionStart"), element(short, "hooks", "Stop"), element(short, "hooks", "Notification"),
	}
	if h.AsksPrompts() { // placet learns by these that the client's own prompt was answered
		entries = append(entries, element(short, "hooks", "PostToolUse"), element(short, "hooks", "PostToolUseFailure"))
	}
	return []File{{Path: ".mcp.json", Members: []Member{tools}}, {Path: settings, Members: entries}}
}

// FilesAsThere returns the files of a client in the form in which they are there: settings is the content
// of SharedSettings, nil for none.
func (c Client) FilesAsThere(h config.Hook, settings []byte) []File {
	switch {
	case c.Name != claudeCode.Name || !hasHook(settings):
		return c.files(h)
	case bytes.Contains(settings, []byte("command -v placet")):
		return claudeFilesAs(h, shared)
	}
	return claudeFilesAs(h, committed)
}

// SharedFiles returns the files of a client as a project commits them. ok is false if the client has no
// form that warns people who have no placet.
func (c Client) SharedFiles(h config.Hook) (files []File, ok bool) {
	if c.Name != claudeCode.Name {
		return nil, false
	}
	return claudeFilesAs(h, shared), true
}

// hasHook reports whether settings have a hook of placet's.
func hasHook(settings []byte) bool {
	members, _ := schemas.Members(settings)
	events, _ := schemas.Members(members.Raw("hooks"))
	return slices.ContainsFunc(events, func(event schemas.Member) bool {
		list, _ := schemas.Elements(events.Raw(event.Name))
		return slices.ContainsFunc(list, runsPlacet)
	})
}

func codexFiles(config.Hook) []File {
	run := func(timeout int, more string) string {
		return fmt.Sprintf(`"hooks":[{"type":"command","command":"placet hook codex","timeout":%d%s}]`, timeout, more)
	}
	const says = `,"statusMessage":"placet: a person is asked"`
	short := "{" + run(shortTimeout, "") + "}"
	return []File{
		{Path: ".codex/config.toml", Table: `[mcp_servers.placet]
command = "placet"
args = ["mcp"]
env = { PLACET_MCP_WAIT = "23h" }
startup_timeout_sec = 10
tool_timeout_sec = 86400
`},
		{Path: ".codex/hooks.json", Members: []Member{
			element(`{"matcher":"Bash|apply_patch|mcp__.*",`+run(hookTimeout, says)+"}", "hooks", "PreToolUse"),
			element("{"+run(hookTimeout, says)+"}", "hooks", "PermissionRequest"),
			element(short, "hooks", "UserPromptSubmit"), element(short, "hooks", "Stop"),
		}},
	}
}

func geminiFiles(h config.Hook) []File {
	run := func(seconds int) string {
		return fmt.Sprintf(`"hooks":[{"name":"placet","type":"command","command":"placet hook gemini","timeout":%d}]`, seconds*1000)
	}
	short := "{" + run(shortTimeout) + "}"
	return []File{{Path: ".gemini/settings.json", Members: []Member{
		member("{"+mcpServer+`,"env":{"PLACET_MCP_WAIT":"23h"},"timeout":86400000}`, "mcpServers", "placet"),
		element(fmt.Sprintf(`{"matcher":%s,%s}`, matcher(h, ".*", "run_shell_command", "write_file", "replace"), run(hookTimeout)), "hooks", "BeforeTool"),
		element(short, "hooks", "BeforeAgent"), element(short, "hooks", "AfterAgent"), element(short, "hooks", "Notification"),
	}}}
}

func cursorFiles(config.Hook) []File {
	const run = `{"command":"placet hook cursor","failClosed":true}`
	return []File{
		{Path: ".cursor/mcp.json", Members: []Member{member("{"+mcpServer+"}", "mcpServers", "placet")}},
		{Path: ".cursor/hooks.json", Members: []Member{
			member("1", "version"), element(run, "hooks", "beforeShellExecution"), element(run, "hooks", "beforeMCPExecution"),
		}},
	}
}

func vscodeFiles(config.Hook) []File {
	return []File{{Path: ".vscode/mcp.json", Members: []Member{member(`{"type":"stdio",`+mcpServer+"}", "servers", "placet")}}}
}

// matcher returns, as a JSON string, an expression for the tools that rules and guard
// concern; it matches every tool if a rule does.
func matcher(h config.Hook, every string, guard ...string) string {
	names := []string{}
	for _, r := range h.Rule {
		if len(r.Tool) == 0 {
			return string(encode(every))
		}
		for _, name := range r.Tool {
			if !slices.Contains(toolsOfOthers(guard), name) {
				names = append(names, name)
			}
		}
	}
	if slices.ContainsFunc(names, func(name string) bool { return strings.ContainsAny(name, `*?[\`) }) {
		return string(encode(every))
	}
	var once []string
	for _, name := range append(names, guard...) {
		if !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	return string(encode(strings.Join(once, "|")))
}

// clientTools are the names that only one client gives its tools.
var clientTools = [][]string{
	{"Bash", "PowerShell", "Write", "Edit", "MultiEdit", "NotebookEdit", "Read", "Grep", "Glob", "WebFetch", "WebSearch", "Task"},
	{"run_shell_command", "write_file", "replace", "read_file", "read_many_files", "glob", "search_file_content", "web_fetch", "google_web_search"},
	{"Shell"},
}

// toolsOfOthers returns the names of tools that clients have which do not have a client's own tools.
func toolsOfOthers(own []string) (names []string) {
	for _, tools := range clientTools {
		if !slices.ContainsFunc(tools, func(name string) bool { return slices.Contains(own, name) }) {
			names = append(names, tools...)
		}
	}
	return names
}

// Change is the change to a file: its new body, nil for no change, and the names of what was added,
// and of what was placet's own in an older form.
type Change struct {
	Body           []byte
	Added, Updated []string
}

// Differs is the error for a file in which an entry of placet's differs from the wanted one.
type Differs struct{ What, Has, Wants string }

// Error implements error.
func (e *Differs) Error() string { return e.In(templates.English) }

// In returns the error in a language.
func (e *Differs) In(lang string) string {
	return templates.Phrase(lang, "hook.differs", "what", e.What)
}

// Snippet returns the file with placet's parts alone.
func (f File) Snippet() string {
	if f.Table != "" {
		return f.Table
	}
	change, _ := f.Plan(nil) // contains placet's parts alone
	return string(change.Body)
}

// Parts returns how many things placet adds to the file.
func (f File) Parts() int { return max(1, len(f.Members)) }

// Plan returns the change that adds placet's parts to a file. body is nil if there is no
// file. Plan leaves an equal part unchanged; it returns an error for a part that differs,
// and for a file that cannot be read strictly.
func (f File) Plan(body []byte) (Change, error) {
	if f.Table != "" {
		return f.planTable(body)
	}
	var c Change
	edited := body
	if body == nil {
		edited = []byte("{}")
	}
	if err := schemas.Decode("", "", edited, nil); err != nil {
		return c, err
	}
	for _, m := range f.Members {
		edit, older, err := m.edit(f.Path, edited)
		if err != nil {
			return c, err
		}
		if edit.Pointer == "" {
			continue
		}
		if edited, err = jsonedit.Apply(edited, edit); err != nil {
			return c, err
		}
		c.Body = edited
		if older {
			c.Updated = append(c.Updated, m.String())
		} else {
			c.Added = append(c.Added, m.String())
		}
	}
	if body == nil {
		var b bytes.Buffer
		if err := json.Indent(&b, edited, "", "  "); err != nil {
			return c, err
		}
		c.Body = append(b.Bytes(), '\n')
	}
	return c, nil
}

// edit returns the edit that adds the member to a file, or an empty one if the file has it. older says that it
// replaces what placet itself wrote there in another form.
func (m Member) edit(file string, body []byte) (e jsonedit.Edit, older bool, err error) {
	rest := schemas.Raw(body)
	for i, name := range m.At {
		members, err := schemas.Members(rest)
		if err != nil {
			return e, false, templates.Errorf("hook.at", "place", cmp.Or(strings.Join(m.At[:i], "."), file), "error", err)
		}
		if members.Raw(name) == nil {
			return jsonedit.Edit{Pointer: pointer(m.At[:i+1]), Value: m.below(i + 1)}, false, nil
		}
		rest = members.Raw(name)
	}
	if m.Element {
		return m.editElement(rest)
	}
	switch {
	case schemas.Equal(rest, m.Value) || m.Also != nil && schemas.Equal(rest, m.Also):
		return e, false, nil
	case m.Older != nil && schemas.Equal(rest, m.Older):
		return jsonedit.Edit{Pointer: pointer(m.At), Value: m.Value}, true, nil
	}
	return e, false, &Differs{m.String(), string(rest), string(m.Value)}
}

// editElement returns the edit that adds the member to an array.
func (m Member) editElement(array schemas.Raw) (e jsonedit.Edit, older bool, err error) {
	var list []schemas.Raw
	if err := schemas.DecodeValue(array, &list); err != nil {
		return e, false, templates.Errorf("hook.array", "place", m, "error", err)
	}
	at := slices.IndexFunc(list, runsPlacet)
	switch {
	case at < 0:
		return jsonedit.Edit{Op: jsonedit.Append, Pointer: pointer(m.At), Value: m.Value}, false, nil
	case slices.ContainsFunc(list[at+1:], runsPlacet):
		return e, false, &Differs{m.String(), string(list[at]), string(m.Value)}
	case schemas.Equal(list[at], m.Value):
		return e, false, nil
	case m.isOlder(list[at]):
		return jsonedit.Edit{Pointer: pointer(m.At) + "/" + strconv.Itoa(at), Value: m.Value}, true, nil
	}
	return e, false, &Differs{m.String(), string(list[at]), string(m.Value)}
}

// isOlder reports whether an entry is one that placet wrote for other rules, in another version or
// in another form: it differs in nothing but the tools, the timeout and what the client shows or does where
// the hook fails, and it runs nothing but placet's hook as placet writes it.
func (m Member) isOlder(entry schemas.Raw) bool {
	has, known := ownCommand(entry)
	wants, _ := ownCommand(m.Value)
	return known && has == wants
}

// ownCommand returns the command of an entry with one hook and no members that placet does not write.
func ownCommand(entry schemas.Raw) (command string, known bool) {
	var one struct {
		Matcher string        `json:"matcher"`
		Hooks   []schemas.Raw `json:"hooks"`
	}
	var hook struct {
		Name    string   `json:"name"`
		Type    string   `json:"type"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
		Timeout int      `json:"timeout"`
		Fails   string   `json:"onFailure"`
		Status  string   `json:"statusMessage"`
	}
	members, err := schemas.Members(entry)
	if err != nil || len(schemas.Strays("", members, &one)) > 0 || schemas.DecodeValue(entry, &one) != nil || len(one.Hooks) != 1 {
		return "", false
	}
	members, err = schemas.Members(one.Hooks[0])
	if err != nil || len(schemas.Strays("", members, &hook)) > 0 || schemas.DecodeValue(one.Hooks[0], &hook) != nil {
		return "", false
	}
	command = strings.Join(append([]string{hook.Command}, hook.Args...), " ")
	_, last, found := strings.Cut(command, "; exec ") // the form for people who may have no placet
	if found {
		command = last
	}
	return command, true
}

// below returns the value for the name before m.At[from], with the rest of the path inside.
func (m Member) below(from int) schemas.Raw {
	value := m.Value
	if m.Element {
		value = schemas.Raw("[" + string(value) + "]")
	}
	for _, name := range slices.Backward(m.At[from:]) {
		value = schemas.Raw(fmt.Sprintf("{%q:%s}", name, value))
	}
	return value
}

// pointer returns the JSON pointer to a member. The names of placet's members contain
// nothing to escape.
func pointer(names []string) string { return "/" + strings.Join(names, "/") }

// runsPlacet reports whether an entry of a client's hooks runs placet hook.
func runsPlacet(entry schemas.Raw) bool {
	var one struct {
		Command string        `json:"command"`
		Args    []string      `json:"args"`
		Hooks   []schemas.Raw `json:"hooks"`
	}
	if schemas.DecodeValue(entry, &one) != nil {
		return false
	}
	command := one.Command
	if _, last, found := strings.Cut(command, "; exec "); found && strings.HasPrefix(command, "command -v placet") {
		command = last
	}
	words := append(strings.Fields(command), one.Args...)
	return len(words) > 1 && path.Base(words[0]) == "placet" && words[1] == "hook" || slices.ContainsFunc(one.Hooks, runsPlacet)
}

// planTable adds a table at the end of a TOML file that has no table of its name.
func (f File) planTable(body []byte) (c Change, err error) {
	if bytes.HasPrefix(body, []byte("\ufeff")) { // placet's reader passes over it, others do not
		return c, &schemas.Error{Line: 1, Column: 1, Problem: templates.NewMessage("schema.bom"), Expected: templates.NewMessage("schema.bom.wanted")}
	}
	var before, ours map[string]any
	if _, err := toml.Decode(string(body), &before); err != nil {
		return c, err
	}
	meta, err := toml.Decode(f.Table, &ours)
	if err != nil {
		return c, err
	}
	name := meta.Keys()[0]
	has, wants := valueAt(before, name), valueAt(ours, name)
	if has != nil {
		if reflect.DeepEqual(has, wants) {
			return c, nil
		}
		text, _ := json.Marshal(has)
		return c, &Differs{"[" + name.String() + "]", string(text), f.Table}
	}
	c.Body, c.Added = f.append(body), []string{"[" + name.String() + "]"}
	if inline := regexp.MustCompile(`(?m)^\s*["']?` + name[0] + `["']?\s*=`); inline.Match(body) { // placet's reader accepts such an extension, others do not
		return Change{}, templates.Errorf("hook.append.inline", "what", c.Added[0], "name", name[0])
	}
	var after map[string]any
	if _, err := toml.Decode(string(c.Body), &after); err != nil {
		return Change{}, templates.Errorf("hook.append.because", "what", c.Added[0], "error", err)
	}
	if !reflect.DeepEqual(valueAt(after, name), wants) {
		return Change{}, templates.Errorf("hook.append", "what", c.Added[0])
	}
	return c, nil
}

// append returns the body with the table at its end, after an empty line.
func (f File) append(body []byte) []byte {
	added := f.Table
	switch {
	case len(body) > 0 && !bytes.HasSuffix(body, []byte("\n")):
		added = "\n\n" + added
	case len(body) > 0:
		added = "\n" + added
	}
	if bytes.Contains(body, []byte("\r\n")) {
		added = strings.ReplaceAll(added, "\n", "\r\n")
	}
	return append(slices.Clone(body), added...)
}

// valueAt returns the value of a key, nil for none.
func valueAt(tree map[string]any, key []string) any {
	var value any = tree
	for _, name := range key {
		table, _ := value.(map[string]any)
		value = table[name]
	}
	return value
}
