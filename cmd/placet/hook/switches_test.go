package hook

import (
	iofs "io/fs"
	"strings"
	"testing"
)

// switchedOffBy returns the settings that switch placet off where one file has some content.
func switchedOffBy(c Client, file, body string, env map[string]string) []Off {
	return c.SwitchedOff(Levels{Root: "/ws", Getenv: func(name string) string { return env[name] }, Read: func(name string) ([]byte, error) {
		if name == file {
			return []byte(body), nil
		}
		return nil, iofs.ErrNotExist
	}})
}

// The switches of clients are read on all levels.
func TestK4SwitchesOfClientsAreRead(t *testing.T) {
	env := map[string]string{"HOME": "/home/kim"}
	for _, test := range []struct {
		c                   Client
		file, body, setting string
	}{
		{claudeCode, "/ws/.claude/settings.json", `{"disableAllHooks":true}`, "disableAllHooks = true"},
		{claudeCode, "/ws/.claude/settings.local.json", `{"disableAllHooks":true}`, "disableAllHooks = true"},
		{claudeCode, "/home/kim/.claude/settings.json", `{"disableAllHooks": true, "disabledMcpjsonServers": []}`, "disableAllHooks = true"},
		{claudeCode, "/ws/.claude/settings.json", `{"disabledMcpjsonServers":["x","placet"]}`, `disabledMcpjsonServers: "placet"`},
		{claudeCode, "/ws/.claude/settings.local.json", `{"deniedMcpServers":[{"serverName":"placet"}]}`, `deniedMcpServers: "placet"`},
		{claudeCode, "/home/kim/.claude.json", `{"projects":{"/ws":{"disabledMcpjsonServers":["placet"]}}}`, `disabledMcpjsonServers: "placet"`},
		{claudeCode, "/etc/claude-code/managed-settings.json", `{"allowManagedHooksOnly":true}`, "allowManagedHooksOnly = true"},
		{gemini, "/ws/.gemini/settings.json", `{"hooksConfig":{"enabled":false}}`, "hooksConfig.enabled = false"},
		{gemini, "/home/kim/.gemini/settings.json", "{\n// off\n\"hooksConfig\":{\"disabled\":[\"placet\",],},}", `hooksConfig.disabled: "placet"`},
		{gemini, "/home/kim/.gemini/settings.json", `{"mcp":{"excluded":["placet"]}}`, `mcp.excluded: "placet"`},
		{gemini, "/etc/gemini-cli/settings.json", `{"mcp":{"allowed":["github"]}}`, "mcp.allowed"},
		{gemini, "/home/kim/.gemini/mcp-server-enablement.json", `{"placet":{"enabled":false}}`, "placet.enabled = false"},
		{codex, "/home/kim/.codex/config.toml", "[features]\nhooks = false\n", "features.hooks = false"},
		{codex, "/ws/.codex/config.toml", "[features]\ncodex_hooks = false\n", "features.codex_hooks = false"},
		{codex, "/home/kim/.codex/config.toml", "[mcp_servers.placet]\nenabled = false\n", "mcp_servers.placet.enabled = false"},
		{codex, "/home/kim/.codex/config.toml", "[hooks.state.\"/ws/.codex/hooks.json:pre_tool_use:0:0\"]\nenabled = false\n", "hooks.state./ws/.codex/hooks.json:pre_tool_use:0:0.enabled = false"},
		{codex, "/etc/codex/requirements.toml", "allow_managed_hooks_only = true\n", "allow_managed_hooks_only = true"},
		{vscode, "/ws/.vscode/settings.json", `{"chat.mcp.access": "none" /* here */}`, `chat.mcp.access = "none"`},
		{vscode, "/home/kim/.config/Code/User/settings.json", `{"chat.mcp.enabled": false}`, "chat.mcp.enabled = false"},
	} {
		off := switchedOffBy(test.c, test.file, test.body, env)
		if len(off) != 1 || off[0].File != test.file || off[0].Setting != test.setting {
			t.Errorf("%s %s: %+v, expected %q", test.file, test.body, off, test.setting)
		}
	}
	if off := switchedOffBy(claudeCode, "/elsewhere/settings.json", `{"disableAllHooks":true}`, map[string]string{"CLAUDE_CONFIG_DIR": "/elsewhere"}); len(off) != 1 {
		t.Errorf("CLAUDE_CONFIG_DIR: %+v", off)
	}
	if off := switchedOffBy(codex, "/ws/.codex/config.toml", "[features", env); len(off) != 1 || off[0].Err == nil {
		t.Errorf("a file that cannot be read: %+v", off)
	}
}

// Settings that leave placet on are no warning.
func TestK4SettingsThatLeavePlacetOn(t *testing.T) {
	env := map[string]string{"HOME": "/home/kim"}
	for _, test := range []struct {
		c          Client
		file, body string
	}{
		{claudeCode, "/ws/.claude/settings.json", `{"disableAllHooks":false,"disabledMcpjsonServers":["github"],"allowManagedHooksOnly":true}`},
		{claudeCode, "/home/kim/.claude.json", `{"projects":{"/other":{"disabledMcpjsonServers":["placet"]}}}`},
		{claudeCode, "/ws/.claude/settings.json", ""},
		{gemini, "/ws/.gemini/settings.json", `{"hooksConfig":{"enabled":true,"disabled":["x"]},"mcp":{"allowed":["placet"],"excluded":[]},"hooks":{"BeforeTool":[]}}`},
		{gemini, "/ws/.gemini/settings.json", `{"x":"// \"hooksConfig\": {\"enabled\": false}"}`},
		{codex, "/home/kim/.codex/config.toml", "[features]\nhooks = true\n[mcp_servers.other]\nenabled = false\n[hooks.state.\"/other/.codex/hooks.json:stop:0:0\"]\nenabled = false\n"},
		{vscode, "/ws/.vscode/settings.json", `{"chat.mcp.access":"all"}`},
		{cursor, "/ws/.cursor/mcp.json", `{}`},
	} {
		if off := switchedOffBy(test.c, test.file, test.body, env); len(off) > 0 {
			t.Errorf("%s %s: %+v", test.file, strings.TrimSpace(test.body), off)
		}
	}
}
