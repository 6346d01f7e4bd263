package view

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine/statedir"
)

// noon is a moment.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// Reports of agents are shown for an hour, the newest first, and only a few of them.
func TestAgentsAreShownForAnHour(t *testing.T) {
	dir, err := statedir.Create(t.TempDir(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	now := noon
	b := &workspace.Workspace{Env: &console.Env{Now: func() time.Time { return now }}, StateDir: dir}
	say := func(session, message string) bool {
		return ReportAgent(b, AgentProgress{Agent: "agent", Message: message, At: now}, session)
	}
	shown := func() (all []string) {
		for _, a := range Agents(b) {
			all = append(all, a.Message)
		}
		return all
	}
	if !say("0000000a", "one") {
		t.Error("it is not recorded")
	}
	now = now.Add(30 * time.Minute)
	if !say("0000000b", "two") || !say("0000000b", "three") {
		t.Error("it is not recorded")
	}
	if err := os.WriteFile(filepath.Join(dir.Location(), "agents/0000000c.json"), []byte("{torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(shown()); got != "[three one]" {
		t.Errorf("shown: %s", got)
	}
	now = now.Add(31 * time.Minute)
	if got := fmt.Sprint(shown()); got != "[three]" {
		t.Errorf("an hour later: %s", got)
	}
	for i := range mostAgents {
		say(fmt.Sprintf("%08x", 100+i), "many")
	}
	if n := len(shown()); n != mostAgents || say("ffffffff", "one more") || !say("0000000b", "still") {
		t.Errorf("%d are shown", n)
	}
	if ReportAgent((&workspace.Workspace{Env: b.Env}), AgentProgress{At: now}, "0000000a") {
		t.Error("it is recorded though there is no place for it")
	}
}
