package hook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// Levels are the places in which a client looks for its settings.
type Levels struct {
	Root   string // the workspace
	Getenv func(string) string
	// Read returns the content of a file by its absolute path, and an error that is
	// [io/fs.ErrNotExist] if there is none.
	Read func(file string) ([]byte, error)
}

// Off is a setting with which a client leaves out placet's hook or tools, or the error of a file whose
// settings cannot be read.
type Off struct {
	File, Setting string
	Err           error
}

// switchFile is a file in which a client looks for switches.
type switchFile struct {
	path string // absolute
	// off returns the names of the settings that leave placet out.
	off func(tree any) []string
}

// SwitchedOff returns the settings, on all levels, with which the client leaves out what placet has added.
func (c Client) SwitchedOff(at Levels) (all []Off) {
	if c.switches == nil {
		return nil
	}
	for _, f := range c.switches(at) {
		body, err := at.Read(f.path)
		if err != nil {
			continue // a client that cannot read it, either, has no such setting
		}
		tree, err := decodeSettings(f.path, body)
		if err != nil {
			all = append(all, Off{File: f.path, Err: err})
			continue
		}
		for _, setting := range f.off(tree) {
			all = append(all, Off{File: f.path, Setting: setting})
		}
	}
	return all
}

// decodeSettings reads settings as leniently as clients do: JSON may have comments.
func decodeSettings(file string, body []byte) (any, error) {
	var table map[string]any
	if filepath.Ext(file) == ".toml" {
		_, err := toml.Decode(string(body), &table)
		return table, err
	}
	body = withoutComments(bytes.TrimPrefix(body, []byte("\ufeff")))
	if len(bytes.TrimSpace(body)) == 0 {
		return table, nil
	}
	return table, json.Unmarshal(body, &table)
}

// withoutComments returns JSON without its comments, and without commas before a closing bracket.
func withoutComments(body []byte) []byte {
	var kept []byte
	for i := 0; i < len(body); i++ {
		end := i + 1
		switch rest := body[i:]; {
		case body[i] == '"':
			end = i + quotedLength(rest)
			kept = append(kept, body[i:end]...)
		case bytes.HasPrefix(rest, []byte("//")):
			end = i + lengthTo(rest, "\n")
		case bytes.HasPrefix(rest, []byte("/*")):
			end = i + lengthTo(rest, "*/")
		case body[i] == ']' || body[i] == '}':
			kept = append(bytes.TrimRight(bytes.TrimRight(kept, " \t\r\n"), ","), body[i])
		default:
			kept = append(kept, body[i])
		}
		i = end - 1
	}
	return kept
}

// quotedLength returns the length of the text in quotes with which a body begins.
func quotedLength(body []byte) int {
	for i := 1; i < len(body); i++ {
		switch body[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(body)
}

// lengthTo returns how many bytes a body has up to the end of a text.
func lengthTo(body []byte, text string) int {
	if i := bytes.Index(body, []byte(text)); i >= 0 {
		return i + len(text)
	}
	return len(body)
}

// valueOf returns the value at a path of names, nil for none.
func valueOf(tree any, names ...string) any {
	for _, name := range names {
		table, _ := tree.(map[string]any)
		tree = table[name]
	}
	return tree
}

// isSet returns the name of a setting if it has a value.
func isSet(tree any, value bool, names ...string) []string {
	if valueOf(tree, names...) != value {
		return nil
	}
	return []string{fmt.Sprintf("%s = %t", strings.Join(names, "."), value)}
}

// placetName is the name of placet's server and hook in the clients' files.
const placetName = "placet"

// lists returns the name of a setting if it is a list with one of some names.
func lists(tree any, named []string, names ...string) []string {
	list, _ := valueOf(tree, names...).([]any)
	for _, one := range list {
		text, _ := one.(string)
		server, _ := valueOf(one, "serverName").(string)
		if name := cmp.Or(text, server); slices.Contains(named, name) {
			return []string{fmt.Sprintf("%s: %q", strings.Join(names, "."), name)}
		}
	}
	return nil
}

// lacks returns the name of a setting if it is a list that placet is not in.
func lacks(tree any, names ...string) []string {
	if _, isList := valueOf(tree, names...).([]any); !isList || lists(tree, []string{placetName}, names...) != nil {
		return nil
	}
	return []string{strings.Join(names, ".")}
}

// home returns a path below the user's home, or below the folder that a variable names in its place.
func (at Levels) home(variable, usual, file string) string {
	if dir := at.Getenv(variable); filepath.IsAbs(dir) {
		return filepath.Join(dir, file)
	}
	return filepath.Join(at.Getenv("HOME"), usual, file)
}

// claudeSwitches are those of Claude Code: managed, the user's, the project's, and the user's in the project.
func claudeSwitches(at Levels) []switchFile {
	off := func(tree any) []string {
		return slices.Concat(isSet(tree, true, "disableAllHooks"), lists(tree, []string{placetName}, "disabledMcpjsonServers"), lists(tree, []string{placetName}, "deniedMcpServers"))
	}
	managed := func(tree any) []string {
		return slices.Concat(off(tree), isSet(tree, true, "allowManagedHooksOnly"), isSet(tree, true, "allowManagedMcpServersOnly"))
	}
	return []switchFile{
		{"/etc/claude-code/managed-settings.json", managed},
		{"/Library/Application Support/ClaudeCode/managed-settings.json", managed},
		{at.home("CLAUDE_CONFIG_DIR", ".claude", "settings.json"), off},
		{filepath.Join(at.Root, ".claude/settings.json"), off},
		{filepath.Join(at.Root, ".claude/settings.local.json"), off},
		{at.home("CLAUDE_CONFIG_DIR", "", ".claude.json"), func(tree any) []string {
			project := valueOf(tree, "projects", at.Root)
			return slices.Concat(lists(project, []string{placetName}, "disabledMcpjsonServers"), lists(project, []string{placetName}, "disabledMcpServers"))
		}},
	}
}

// geminiSwitches are those of Gemini CLI: of the system, of the user, and of the project.
func geminiSwitches(at Levels) []switchFile {
	hooks := []string{placetName, "placet hook gemini"}
	off := func(tree any) []string {
		return slices.Concat(
			isSet(tree, false, "hooksConfig", "enabled"), lists(tree, hooks, "hooksConfig", "disabled"),
			isSet(tree, false, "hooks", "enabled"), lists(tree, hooks, "hooks", "disabled"), isSet(tree, false, "tools", "enableHooks"), // older versions
			lists(tree, []string{placetName}, "mcp", "excluded"), lacks(tree, "mcp", "allowed"),
		)
	}
	enabled := func(tree any) []string { return isSet(tree, false, placetName, "enabled") }
	return []switchFile{
		{"/etc/gemini-cli/system-defaults.json", off}, {"/etc/gemini-cli/settings.json", off},
		{at.home("GEMINI_CLI_HOME", "", ".gemini/settings.json"), off},
		{at.home("GEMINI_CLI_HOME", "", ".gemini/mcp-server-enablement.json"), enabled},
		{filepath.Join(at.Root, ".gemini/settings.json"), off},
	}
}

// codexSwitches are those of Codex: of the system, of the user, and of the project.
func codexSwitches(at Levels) []switchFile {
	ours := filepath.Join(at.Root, ".codex/hooks.json")
	off := func(tree any) []string {
		all := slices.Concat(isSet(tree, false, "features", "hooks"), isSet(tree, false, "features", "codex_hooks"),
			isSet(tree, true, "allow_managed_hooks_only"), isSet(tree, false, "mcp_servers", placetName, "enabled"))
		states, _ := valueOf(tree, "hooks", "state").(map[string]any)
		for hook := range states {
			if strings.HasPrefix(hook, ours) {
				all = append(all, isSet(tree, false, "hooks", "state", hook, "enabled")...)
			}
		}
		slices.Sort(all)
		return all
	}
	return []switchFile{
		{"/etc/codex/config.toml", off}, {"/etc/codex/requirements.toml", off},
		{at.home("CODEX_HOME", ".codex", "config.toml"), off},
		{filepath.Join(at.Root, ".codex/config.toml"), off},
	}
}

// vscodeSwitches are those of VS Code: of the user, and of the workspace.
func vscodeSwitches(at Levels) []switchFile {
	off := func(tree any) []string {
		if valueOf(tree, "chat.mcp.access") == "none" {
			return []string{`chat.mcp.access = "none"`}
		}
		return isSet(tree, false, "chat.mcp.enabled")
	}
	return []switchFile{
		{filepath.Join(cmp.Or(at.Getenv("XDG_CONFIG_HOME"), filepath.Join(at.Getenv("HOME"), ".config")), "Code/User/settings.json"), off},
		{filepath.Join(at.Getenv("HOME"), "Library/Application Support/Code/User/settings.json"), off},
		{filepath.Join(at.Root, ".vscode/settings.json"), off},
	}
}
