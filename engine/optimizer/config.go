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
	Language string   `toml:"language"` // fixed when a cycle begins
	UsageDir string   `toml:"usage_dir"`
	// AuditDB is the database; "" is audit_global.db of the root. {root} and
	// {run_id} are replaced.
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
	// Workflows are settings of one workflow, by its name.
	Workflows map[string]Workflow `toml:"workflows"`
	// TryNow has rows that wait for the database tried again if their last try was
	// before it.
	TryNow time.Time `toml:"-"`
	// Still is set where no command may begin.
	Still bool `toml:"-"`
}

// Workflow is what is configured for one workflow. A nil member says nothing.
type Workflow struct {
	Analysis      []string `toml:"analysis"`   // the command of level 20
	Evaluation    []string `toml:"evaluation"` // the command of level 30
	CriteriaFixed bool     `toml:"criteria_fixed"`
	// Idempotent says that a command may be started again after a crash unasked.
	Idempotent    bool     `toml:"idempotent"`
	Language      *string  `toml:"language"`
	GateThreshold *float64 `toml:"gate_threshold"`
	InputsWait    *string  `toml:"inputs_wait"`
	HITLTimeout   *string  `toml:"hitl_timeout"`
	LevelAttempts *int     `toml:"level_attempts"`
	LevelTimeout  *string  `toml:"level_timeout"`
}

// DefaultConfig is what holds where nothing is configured.
func DefaultConfig() Config {
	return Config{
		Enabled: true, Roots: []string{".mso-context", "workspace/.mso-context"}, Language: "ko", UsageDir: "docs/usage", AuditRows: 20, GateThreshold: 85,
		InputsWait: "10m", HITLTimeout: "48h", MaxTimeoutReentries: 3, MatchSlug: true, WriteResult: true,
		LevelAttempts: 1, LevelTimeout: "30m", Tickets: true, TicketOwner: "operation-agent", TicketDueDays: 7,
	}
}

// never is the timeout that never passes.
const never = "never"

// settings are what holds for one workflow: its table over [optimizer]. What cannot be
// used was refused by [Config.Check].
type settings struct {
	Config
	Workflow     Workflow
	Named        bool // the workflow has a table
	InputsWait   time.Duration
	HITLTimeout  time.Duration // 0: never
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

// over returns the configuration with what a workflow's table says in place of what
// [optimizer] does.
func (c Config) over(w Workflow) Config {
	c.Language, c.GateThreshold, c.LevelAttempts = or(w.Language, c.Language), or(w.GateThreshold, c.GateThreshold), or(w.LevelAttempts, c.LevelAttempts)
	c.InputsWait, c.HITLTimeout, c.LevelTimeout = or(w.InputsWait, c.InputsWait), or(w.HITLTimeout, c.HITLTimeout), or(w.LevelTimeout, c.LevelTimeout)
	return c
}

// or is the workflow's own setting, or the general one.
func or[T any](own *T, general T) T {
	if own != nil {
		return *own
	}
	return general
}

// length reads a checked length of time; never is 0.
func length(word string) time.Duration {
	d, err := time.ParseDuration(word)
	if err != nil {
		return 0
	}
	return d
}

// argv is the command of a level, nil where there is none.
func (s settings) argv(level int) []string {
	switch level {
	case 30:
		return s.Workflow.Evaluation
	case 20:
		return s.Workflow.Analysis
	}
	return nil
}

// CommandDigest is what trust in a level command is recorded under.
func CommandDigest(argv []string) engine.Digest {
	return engine.CommandDigest("optimizer", argv...)
}

// Commands returns the digests of the level commands that are configured.
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

// Check reports the first setting that cannot be used although the schema of settings takes it, naming
// its key.
func (c Config) Check() error {
	switch {
	case c.UsageDir != "" && !layout.Safe(c.UsageDir):
		return templates.Errorf("optimizer.config.folder", "key", "usage_dir", "value", strconv.Quote(c.UsageDir))
	case c.AuditDB != "" && !layout.Safe(strings.NewReplacer("{root}", "root", "{run_id}", "run").Replace(c.AuditDB)):
		return templates.Errorf("optimizer.config.file", "key", "audit_db", "value", strconv.Quote(c.AuditDB))
	}
	return cmp.Or(c.checkRoots(), c.checkLanguages())
}

// checkLanguages refuses languages that have no texts.
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
