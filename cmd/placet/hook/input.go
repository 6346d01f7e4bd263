package hook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/facade/mcp"
	"placet/internal/lazyregexp"
	"placet/schemas"
	"placet/templates"
)

// limitInput is the largest input that is read, in bytes.
const limitInput = 16 << 20

// Input is what a client writes to standard input.
type Input struct {
	Session    string      `json:"session_id"`
	Cwd        string      `json:"cwd"`
	Mode       string      `json:"permission_mode"`
	Event      string      `json:"hook_event_name"`
	Tool       string      `json:"tool_name"`
	ToolInput  schemas.Raw `json:"tool_input"`
	ToolUse    string      `json:"tool_use_id"`
	StopActive bool        `json:"stop_hook_active"`
	Agent      string      `json:"agent_id"` // "" for the session's own, otherwise one that works for it

	// Conversation, Roots and the members below are Cursor's own: the conversation, the folders,
	// and the command of a shell or of a server.
	Conversation string   `json:"conversation_id"`
	Roots        []string `json:"workspace_roots"`
	Command      string   `json:"command"`

	Message string `json:"message"` // from a client that waits
	Notice  string `json:"notification_type"`

	Moment Moment         `json:"-"`
	fields map[string]any // of ToolInput, if that is an object
}

// Read reads the one object on standard input. Even with an error the moment may be known.
func (c Client) Read(from io.Reader) (in Input, err error) {
	body, err := io.ReadAll(io.LimitReader(from, limitInput+1))
	switch {
	case err != nil:
		return in, templates.Errorf("hook.input", "error", err)
	case len(body) > limitInput:
		return in, templates.Errorf("hook.input.large")
	}
	if err := schemas.Decode("", "standard input", body, &in); err != nil {
		return in, templates.Errorf("hook.input", "error", err)
	}
	if in.Event == "" {
		return in, templates.Errorf("hook.input.event", "client", c.Name)
	}
	in.Moment = Other
	if m, known := c.events[in.Event]; known {
		in.Moment = m
	}
	in.Session = cmp.Or(in.Session, in.Conversation)
	if in.Moment != BeforeTool && in.Moment != Permission {
		return in, nil
	}
	return in, in.readTool(c)
}

// turnComplete is the only event of Codex's own setting notify.
const turnComplete = "agent-turn-complete"

// ReadNotify reads the argument with which Codex calls the program of its setting notify.
func (c Client) ReadNotify(text string) (in Input, err error) {
	var one struct {
		Type    string `json:"type"`
		Thread  string `json:"thread-id"`
		Cwd     string `json:"cwd"`
		Message string `json:"last-assistant-message"`
	}
	in.Moment = Other
	if err := schemas.Decode("", "the argument", []byte(text), &one); err != nil || one.Type != turnComplete {
		return in, err
	}
	return Input{Event: one.Type, Notice: one.Type, Session: one.Thread, Cwd: one.Cwd, Message: one.Message, Moment: Waits}, nil
}

// atPrompt is the notice of Claude Code that it shows a permission prompt.
const atPrompt = "permission_prompt"

// notices are the kinds of notices with which a client says that it waits.
var notices = []string{atPrompt, "idle_prompt", "elicitation_dialog", "agent_needs_input", "ToolPermission", turnComplete}

// IsWaiting reports whether a notice says that the client waits for its user.
func (in Input) IsWaiting() bool { return slices.Contains(notices, in.Notice) }

// IsAtPrompt reports whether a notice says that the client shows its own prompt.
func (in Input) IsAtPrompt() bool { return in.Notice == atPrompt }

// readTool reads which tool is called, and with which input.
func (in *Input) readTool(c Client) error {
	if c.dialect == likeCursor {
		in.cursorTool()
	}
	if in.Tool == "" || in.ToolInput.Null() {
		return templates.Errorf("hook.input.tool")
	}
	dec := json.NewDecoder(bytes.NewReader(in.ToolInput))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return templates.Errorf("hook.input.fields", "error", err)
	}
	in.fields, _ = value.(map[string]any)
	if _, ok := in.ShellCommand(); in.isShell() && !ok {
		return templates.Errorf("hook.input.shell")
	}
	return nil
}

// shell is the name of the tool if Cursor passes only a command.
const shell = "Shell"

// cursorTool sets the tool and its input from what Cursor says about commands and servers.
func (in *Input) cursorTool() {
	if in.Event == "beforeShellExecution" {
		in.Tool = shell
		in.ToolInput, _ = json.Marshal(map[string]string{"command": in.Command})
		return
	}
	var text string // Cursor passes the input of a server's tool as text
	if json.Unmarshal(in.ToolInput, &text) == nil && json.Valid([]byte(text)) {
		in.ToolInput = schemas.Raw(text)
	}
}

// shells are the tools that run a shell's command.
var shells = []string{"Bash", "PowerShell", "run_shell_command", shell, "shell", "local_shell", "shell_command", "exec_command"}

func (in Input) isShell() bool { return slices.Contains(shells, in.Tool) }

// ShellCommand returns the shell's command in a call.
func (in Input) ShellCommand() (string, bool) {
	switch command := in.fields["command"].(type) {
	case string:
		return command, in.Tool != patchTool
	case []any:
		var words []string
		for _, one := range command {
			word, ok := one.(string)
			if !ok {
				return "", false
			}
			words = append(words, word)
		}
		return strings.Join(words, " "), true
	}
	return "", false
}

// keysOfCommands matches the names of members that hold what a shell or a terminal runs.
var keysOfCommands = lazyregexp.New(`^((?i:(.*[_-])?(cmd|command|commandline|command_line|script|keys|keystrokes)s?)|.*(Cmd|Command|Script|Keys)s?)$`)

// commands returns the texts in a call that a shell may run: the command of a shell, and, in the input
// of any other tool, the members that are named like one, at any depth.
func (in Input) commands() (texts []string) {
	if command, ok := in.ShellCommand(); ok {
		texts = append(texts, command)
	}
	if in.Tool == patchTool || slices.Contains(fileTools, in.Tool) {
		return texts
	}
	return append(texts, commandsIn(in.fields)...)
}

// fileTools are clients' own tools whose members hold no commands.
var fileTools = []string{"Write", "Edit", "MultiEdit", "NotebookEdit", "Read", "Grep", "Glob", "write_file", "replace", "read_file"}

// commandsIn returns the commands in a value. Those of a list may be the words of one command.
func commandsIn(value any) (texts []string) {
	members, _ := value.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if keysOfCommands.MatchString(key) {
			texts = append(texts, textsIn(members[key])...)
		}
		texts = append(texts, commandsIn(members[key])...)
	}
	list, _ := value.([]any)
	for _, one := range list {
		texts = append(texts, commandsIn(one)...)
	}
	return texts
}

// textsIn returns a text, or the texts of a list, each by itself and joined.
func textsIn(value any) (texts []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, one := range v {
			if text, ok := one.(string); ok {
				texts = append(texts, text)
			}
		}
		texts = append(texts, strings.Join(texts, " "))
	}
	return texts
}

// patchTool is Codex's tool that changes several files at once.
const patchTool = "apply_patch"

// IsPlacet reports whether a tool is one of placet's own, by its full name. Another tool does not
// pass because its server or program is named placet.
func (in Input) IsPlacet() bool {
	if in.Event == "beforeMCPExecution" {
		return in.Command == "placet mcp" && mcp.IsTool(in.Tool)
	}
	for _, server := range []string{"mcp__placet__", "mcp_placet_"} {
		if name, ok := strings.CutPrefix(in.Tool, server); ok && mcp.IsTool(name) {
			return true
		}
	}
	return false
}

// Folders returns the folders in which the client works, first the one in which it was started.
// The workspaces of a call are searched from there. It returns none if the client does not say.
func (c Client) Folders(in Input, getenv func(string) string) []string {
	named := append(slices.Clone(in.Roots), in.Cwd)
	if c.projectVar != "" {
		named = append([]string{getenv(c.projectVar)}, named...)
	}
	return slices.DeleteFunc(named, func(dir string) bool { return !filepath.IsAbs(dir) })
}

// CallID returns the name of a call. Calls with the same name are one call and asked about once.
// If the client has no name for the call, now distinguishes it from an earlier equal call.
func (in Input) CallID(now string) string {
	switch {
	case in.ToolUse != "":
		return in.ToolUse
	case in.Moment == Permission:
		return in.callPrompts() + now // so that the names of equal calls are in order
	}
	return shortSum(in.Tool+"\n"+string(in.ToolInput)+"\n"+now, 16)
}

// promptPrefix is how the names of all prompts begin.
const promptPrefix = "prompt-"

// IsPrompt reports whether the name of a call is that of a prompt.
func IsPrompt(call string) bool { return strings.HasPrefix(call, promptPrefix) }

// agentPrompts is how the names of all prompts of the agent begin, and callPrompts how those about a call do.
func (in Input) agentPrompts() string { return promptPrefix + shortSum(in.Agent, 8) + "-" }

func (in Input) callPrompts() string {
	return in.agentPrompts() + shortSum(in.Tool+"\n"+in.canonical(), 16) + "-"
}

func shortSum(text string, digits int) string { return engine.Sum([]byte(text)).Hex()[:digits] }

// HasLeft reports whether the client no longer waits for the call of a name when it says what this input
// says: the call was made, or the agent's turn begins or ends.
func (in Input) HasLeft(call string) bool {
	switch in.Moment {
	case AfterTool:
		return in.ToolUse != "" && call == in.ToolUse || strings.HasPrefix(call, in.callPrompts())
	case TurnBegins, TurnEnds:
		return strings.HasPrefix(call, in.agentPrompts())
	}
	return false
}

// promptsAlone are the tools to which Claude Code takes an answer at its own prompt alone.
var promptsAlone = []string{"AskUserQuestion", "ExitPlanMode"}

// IsForClient reports whether only the client's own prompt can answer the call.
func (in Input) IsForClient() bool { return slices.Contains(promptsAlone, in.Tool) }

// FirstLine returns the subject of a call in one line.
func (in Input) FirstLine(p Places) string {
	line, _, _ := strings.Cut(strings.TrimSpace(in.SubjectIn(p).All[0]), "\n")
	return line
}

// Fields returns the input of the tool, indented.
func (in Input) Fields() string {
	var b bytes.Buffer
	if json.Indent(&b, in.ToolInput, "", "  ") != nil {
		return string(in.ToolInput)
	}
	return b.String()
}
