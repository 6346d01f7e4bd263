package view

import (
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"placet/cmd/placet/workspace"
	"placet/schemas"
)

// AgentProgress is an agent's own report of its work. It is no record: it is kept in the state
// folder, and shown for an hour.
type AgentProgress struct {
	Agent   string    `json:"agent"`
	Message string    `json:"message"`
	Percent *float64  `json:"percent"`
	Run     string    `json:"run"`
	At      time.Time `json:"at"`
}

const (
	agentsDir     = "agents"
	agentsShown   = time.Hour
	mostAgents    = 256
	largestReport = 16 << 10
)

// ReportAgent records the report of an agent under the name of its session. recorded is false
// if it cannot be stored.
func ReportAgent(b *workspace.Workspace, p AgentProgress, session string) (recorded bool) {
	if b.StateDir == nil {
		return false
	}
	name := path.Join(agentsDir, session+".json")
	known := readAgents(b, p.At, true)
	if _, there := known[name]; !there && len(known) >= mostAgents {
		return false
	}
	body, err := json.Marshal(p)
	if err == nil {
		err = b.StateDir.Root().MkdirAll(agentsDir, 0o700)
	}
	return err == nil && b.StateDir.Write(name, body, false) == nil
}

// readAgents returns the reports of agents within the last hour, by file. clear removes the
// older ones.
func readAgents(b *workspace.Workspace, now time.Time, clear bool) map[string]AgentProgress {
	all := map[string]AgentProgress{}
	if b.StateDir == nil {
		return all
	}
	files, _ := fs.ReadDir(b.StateDir.Root().FS(), agentsDir)
	for _, f := range files {
		name := path.Join(agentsDir, f.Name())
		var p AgentProgress
		body, err := b.StateDir.Read(name, largestReport)
		switch {
		case err != nil || !strings.HasSuffix(name, ".json"):
		case schemas.Decode("", name, body, &p) == nil && now.Sub(p.At) < agentsShown:
			all[name] = p
		case clear:
			_ = b.StateDir.Root().Remove(name) // it is not shown any more in any case
		}
	}
	return all
}

// Agents returns the reports of agents within the last hour, the newest first.
func Agents(b *workspace.Workspace) []AgentProgress {
	list := []AgentProgress{}
	for _, p := range readAgents(b, b.Env.Now(), false) {
		list = append(list, p)
	}
	slices.SortFunc(list, func(x, y AgentProgress) int {
		if c := y.At.Compare(x.At); c != 0 {
			return c
		}
		return strings.Compare(x.Agent+x.Message, y.Agent+y.Message)
	})
	return list
}
