package hook

import (
	"strings"

	"placet/cmd/placet/config"
)

// Moment is the meaning of a client's event.
type Moment int

// These are the moments. An event that cannot be read may be a call, so Unknown is treated as one.
const (
	Unknown    Moment = iota
	BeforeTool        // a tool is about to be called
	AfterTool         // a tool was called
	Permission        // the client would ask its user whether a tool may be called
	TurnBegins        // somebody has given the agent something to do
	TurnEnds          // the agent has nothing more to do
	Waits             // the client waits for its user
	Other             // an event that placet ignores
)

// Client is a program in which agents run.
type Client struct {
	Name   string
	events map[string]Moment
	// projectVar is the variable with the folder in which the client was started, "" for none.
	projectVar string
	// beside is the variable, and its value, by which the client says that it shows its own prompt
	// while it waits for the hook: the first answer counts. "" if the hook always comes before.
	beside  string
	dialect dialect
	files   func(h config.Hook) []File
	// switches are the files with settings that leave placet out, nil if the client has no such
	// settings.
	switches func(at Levels) []switchFile
}

// dialect is the form of a client's answer before a tool is called.
type dialect int

const (
	likeClaude dialect = iota // hookSpecificOutput with a decision: Claude Code
	likeCodex                 // the same, but it ignores an allow or ask of ours: Codex
	likeGemini                // decision and reason: Gemini
	likeCursor                // permission and two messages: Cursor
)

// Clients are those that placet knows, in the order of lists.
var Clients = []Client{claudeCode, codex, gemini, cursor, vscode}

var (
	claudeCode = Client{
		Name: "claude-code", projectVar: "CLAUDE_PROJECT_DIR", beside: "CLAUDE_CODE_ENTRYPOINT=cli", dialect: likeClaude, files: claudeFiles, switches: claudeSwitches,
		events: map[string]Moment{"PreToolUse": BeforeTool, "PermissionRequest": Permission, "PostToolUse": AfterTool, "PostToolUseFailure": AfterTool,
			"UserPromptSubmit": TurnBegins, "SessionStart": TurnBegins, "Stop": TurnEnds, "Notification": Waits},
	}
	codex = Client{
		Name: "codex", dialect: likeCodex, files: codexFiles, switches: codexSwitches,
		events: map[string]Moment{"PreToolUse": BeforeTool, "PermissionRequest": Permission, "UserPromptSubmit": TurnBegins, "Stop": TurnEnds, turnComplete: Waits},
	}
	gemini = Client{
		Name: "gemini", projectVar: "GEMINI_PROJECT_DIR", dialect: likeGemini, files: geminiFiles, switches: geminiSwitches,
		events: map[string]Moment{"BeforeTool": BeforeTool, "BeforeAgent": TurnBegins, "AfterAgent": TurnEnds, "Notification": Waits},
	}
	cursor = Client{
		Name: "cursor", projectVar: "CURSOR_PROJECT_DIR", dialect: likeCursor, files: cursorFiles,
		events: map[string]Moment{"beforeShellExecution": BeforeTool, "beforeMCPExecution": BeforeTool},
	}
	vscode = Client{Name: "vscode", files: vscodeFiles, switches: vscodeSwitches} // it has no hooks, only placet's tools
)

// Named returns the client of a name.
func Named(name string) (c Client, ok bool) {
	for _, c := range Clients {
		if c.Name == name {
			return c, true
		}
	}
	return Client{}, false
}

// Names returns the clients' names, or only of those with hooks if hooked is set.
func Names(hooked bool) (names []string) {
	for _, c := range Clients {
		if !hooked || c.HasHooks() {
			names = append(names, c.Name)
		}
	}
	return names
}

// HasHooks reports whether the client asks placet before it calls a tool.
func (c Client) HasHooks() bool { return c.events != nil }

// MayPromptBeside reports whether the client ever shows its own prompt while it waits for the hook.
func (c Client) MayPromptBeside() bool { return c.beside != "" }

// PromptsBeside reports whether the client does so in an environment. Without a terminal, Claude Code
// denies what a hook wants its user to be asked.
func (c Client) PromptsBeside(getenv func(string) string) bool {
	name, value, _ := strings.Cut(c.beside, "=")
	return name != "" && getenv(name) == value
}

// Shows reports whether a hook can make the client ask its own user. Codex lets a call run
// if a hook asks for that, and Gemini has no such answer.
func (c Client) Shows() bool { return c.dialect == likeClaude || c.dialect == likeCursor }
