package optimizer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"placet/engine"
	"placet/layout"
	"placet/templates"
)

// Config is the [optimizer] block of the configuration.
type Config struct {
	Enabled bool `toml:"enabled"`
	// Roots are the folders that hold active/ and archive/.
	Roots    []string `toml:"roots"`
	Language string   `toml:"language"` // taken when a cycle begins, fixed afterwards
	UsageDir string   `toml:"usage_dir"`
	// AuditDB is the path of the audit database; "" means audit_global.db in the root. placet
	// replaces {root} and {run_id} in it.
	AuditDB             string  `toml:"audit_db"`
	AuditRows           int     `toml:"audit_rows"`
	GateThreshold       float64 `toml:"gate_threshold"`
	InputsWait          string  `toml:"inputs_wait"`
	HITLTimeout         string  `toml:"hitl_timeout"`
	MaxTimeoutReentries int     `toml:"max_timeout_reentries"`
	MatchSlug           bool    `toml:"match_slug"`
	WriteResult         bool    `toml:"write_result"`
	LevelAttempts       int     `toml:"level_attempts"`
	LevelTimeout        string  `toml:"level_timeout"`
	Tickets             bool    `toml:"tickets"`
	TicketOwner         string  `toml:"ticket_owner"`
	TicketDueDays       int     `toml:"ticket_due_days"`
	// Workflows holds the settings of single workflows, by name.
	Workflows map[string]Workflow `toml:"workflows"`
	// TryNow asks for another try of every row that waits for the database and was last tried
	// before this time.
	TryNow time.Time `toml:"-"`
	// Still forbids starting commands.
	Still bool `toml:"-"`
}

// Workflow is the configuration of one workflow. A nil member leaves the general setting.
type Workflow struct {
	Analysis      []string `toml:"analysis"`   // the command of level 20
	Evaluation    []string `toml:"evaluation"` // the command of level 30
	CriteriaFixed bool     `toml:"criteria_fixed"`
	// Idempotent allows placet to restart a command by itself after a crash.
	Idempotent    bool     `toml:"idempotent"`
	Language      *string  `toml:"language"`
	GateThreshold *float64 `toml:"gate_threshold"`
	InputsWait    *string  `toml:"inputs_wait"`
	HITLTimeout   *string  `toml:"hitl_timeout"`
	LevelAttempts *int     `toml:"level_attempts"`
	LevelTimeout  *string  `toml:"level_timeout"`
}

// DefaultConfig returns the settings that apply where the configuration says nothing.
func DefaultConfig() Config {
	return Config{
		Enabled: true, Roots: []string{".mso-context", "workspace/.mso-context"}, Language: "ko", UsageDir: "docs/usage", AuditRows: 20, GateThreshold: 85,
		InputsWait: "10m", HITLTimeout: "48h", MaxTimeoutReentries: 3, MatchSlug: true, WriteResult: true,
		LevelAttempts: 1, LevelTimeout: "30m", Tickets: true, TicketOwner: "operation-agent", TicketDueDays: 7,
	}
}

// never is the word for a timeout that never expires.
const never = "never"

// settings are the settings of one workflow: its own table over [optimizer]. [Config.Check] has
// already refused unusable values.
type settings struct {
	Config
	Workflow     Workflow
	Named        bool // the workflow has a table
	InputsWait   time.Duration
	HITLTimeout  time.Duration // 0 means never
	LevelTimeout time.Duration
}

func (c Config) settle(workflow string) settings {
	w, named := c.Workflows[workflow]
	c = c.over(w)
	return settings{
		Config: c, Workflow: w, Named: named,
		InputsWait: length(c.InputsWait), HITLTimeout: length(c.HITLTimeout), LevelTimeout: length(c.LevelTimeout),
	}
}

// over returns the configuration with the workflow's own settings in place of the general ones.
func (c Config) over(w Workflow) Config {
	c.Language, c.GateThreshold, c.LevelAttempts = or(w.Language, c.Language), or(w.GateThreshold, c.GateThreshold), or(w.LevelAttempts, c.LevelAttempts)
	c.InputsWait, c.HITLTimeout, c.LevelTimeout = or(w.InputsWait, c.InputsWait), or(w.HITLTimeout, c.HITLTimeout), or(w.LevelTimeout, c.LevelTimeout)
	return c
}

// or returns the workflow's own setting if it has one, and else the general one.
func or[T any](own *T, general T) T {
	if own != nil {
		return *own
	}
	return general
}

// length parses a checked duration; never is 0.
func length(word string) time.Duration {
	d, err := time.ParseDuration(word)
	if err != nil {
		return 0
	}
	return d
}

// argv returns the command of a level, or nil.
func (s settings) argv(level int) []string {
	switch level {
	case 30:
		return s.Workflow.Evaluation
	case 20:
		return s.Workflow.Analysis
	}
	return nil
}

// CommandDigest returns the digest under which trust in a level command is recorded.
func CommandDigest(argv []string) engine.Digest {
	return engine.CommandDigest("optimizer", argv...)
}

// Commands returns the digests of the configured level commands.
func (c Config) Commands() []engine.Digest {
	var all []engine.Digest
	for _, name := range slices.Sorted(maps.Keys(c.Workflows)) {
		for _, argv := range [][]string{c.Workflows[name].Analysis, c.Workflows[name].Evaluation} {
			if len(argv) > 0 {
				all = append(all, CommandDigest(argv))
			}
		}
	}
	return all
}

// Check returns an error that names the first unusable setting which the schema of settings
// accepts.
func (c Config) Check() error {
	switch {
	case c.UsageDir != "" && !layout.Safe(c.UsageDir):
		return templates.Errorf("optimizer.config.folder", "key", "usage_dir", "value", strconv.Quote(c.UsageDir))
	case c.AuditDB != "" && !layout.Safe(strings.NewReplacer("{root}", "root", "{run_id}", "run").Replace(c.AuditDB)):
		return templates.Errorf("optimizer.config.file", "key", "audit_db", "value", strconv.Quote(c.AuditDB))
	}
	return cmp.Or(c.checkRoots(), c.checkLanguages())
}

// checkLanguages refuses a language that placet has no texts in.
func (c Config) checkLanguages() error {
	at := map[string]string{"language": c.Language}
	for name, w := range c.Workflows {
		at[fmt.Sprintf("workflows.%q.language", name)] = or(w.Language, c.Language)
	}
	for _, key := range slices.Sorted(maps.Keys(at)) {
		if !slices.Contains(templates.Languages(), at[key]) {
			return templates.Errorf("optimizer.config.language", "key", key, "value", strconv.Quote(at[key]), "names", strings.Join(templates.Languages(), ", "))
		}
	}
	return nil
}

func (c Config) checkRoots() error {
	for i, root := range c.Roots {
		for _, other := range c.Roots[:i] {
			if layout.Under(root, other) || layout.Under(other, root) {
				return templates.Errorf("optimizer.config.roots.nested", "first", strconv.Quote(other), "second", strconv.Quote(root))
			}
		}
		if !layout.Safe(root) || !strings.HasSuffix("/"+root, "/.mso-context") {
			return templates.Errorf("optimizer.config.roots.name", "value", strconv.Quote(root))
		}
	}
	return nil
}
