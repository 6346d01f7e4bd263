package pal

import (
	"fmt"
	"time"

	"placet/schemas"
	"placet/templates"
)

// Config is the [pal] block of the configuration. A nil member says nothing: then
// .pal/config.yaml counts, and after it what is built in.
type Config struct {
	Enabled         bool     `toml:"enabled"`
	MaxConcurrency  *int     `toml:"max_concurrency"`
	ParallelEnabled *bool    `toml:"parallel_enabled"`
	TimeoutPerPort  *string  `toml:"timeout_per_port"`
	MaxRetries      *int     `toml:"max_retries"`
	TokenBudget     *int     `toml:"token_budget"`
	TokenPercent    *int     `toml:"token_percent"`
	ProgressHz      *int     `toml:"progress_hz"`
	AutoResolve     []string `toml:"auto_resolve"`
	// Language overrides the workspace's language for this family.
	Language string `toml:"language"`
	// Still is set where no command may begin.
	Still bool `toml:"-"`
}

// What holds where nothing is configured.
const (
	builtInConcurrency = 3
	builtInTimeout     = "30m"
	builtInRetries     = 3
	builtInBudget      = 15000
	builtInPercent     = 95
	builtInHz          = 2
)

// DefaultConfig is what holds where nothing is configured.
func DefaultConfig() Config { return Config{Enabled: true} }

// tokenPercent is the part of its budget at which a worker is reported.
func (c Config) tokenPercent() int { return first(builtInPercent, c.TokenPercent) }

// Hz is how many events a second report the progress of a worker.
func (c Config) Hz() int { return first(builtInHz, c.ProgressHz) }

// first returns what the first of some layers says, or what is built in.
func first[T any](builtIn T, layers ...*T) T {
	for _, l := range layers {
		if l != nil {
			return *l
		}
	}
	return builtIn
}

// Check reports the first setting that cannot be used, naming its key.
func (c Config) Check() error {
	for _, n := range []struct {
		key         string
		value       *int
		least, most int
	}{
		{"max_concurrency", c.MaxConcurrency, 1, 64}, {"max_retries", c.MaxRetries, 1, 100}, {"token_percent", c.TokenPercent, 1, 100}, {"progress_hz", c.ProgressHz, 1, 2},
	} {
		if n.value != nil && (*n.value < n.least || *n.value > n.most) {
			return fmt.Errorf("%s: %d is out of range: expected %d to %d", n.key, *n.value, n.least, n.most)
		}
	}
	if c.TokenBudget != nil && *c.TokenBudget < 0 {
		return fmt.Errorf("token_budget: %d is out of range: expected 0, for any number of tokens, or more", *c.TokenBudget)
	}
	if _, problem := readTimeout(c.TimeoutPerPort); problem != "" {
		return fmt.Errorf("timeout_per_port: %s", problem)
	}
	return c.checkAutoResolve()
}

// checkAutoResolve refuses types whose escalations somebody must answer.
func (c Config) checkAutoResolve() error {
	for _, typ := range c.AutoResolve {
		switch kind, known := kinds[typ]; {
		case !known:
			return fmt.Errorf("auto_resolve: %q is no type of escalation: expected %s or %s", typ, typeTokens, typeGeneral)
		case kind.weight != informs:
			return fmt.Errorf("auto_resolve: %s %s its port: silence is not consent", typ, map[weight]string{stops: "stops", holds: "holds"}[kind.weight])
		}
	}
	return nil
}

// readTimeout reads how long a port may run, 0 for any time. The problem is "" where that
// can be told.
func readTimeout(s *string) (d time.Duration, problem string) {
	if s == nil {
		return 0, ""
	}
	d, err := time.ParseDuration(*s)
	if err != nil || d < 0 {
		return 0, fmt.Sprintf("%q is no length of time: write it like 30m or 2h, or 0s for any time", *s)
	}
	return d, ""
}

// configYAML is upstream's configuration.
const configYAML = ".pal/config.yaml"

// projectConfig is what upstream's configuration says of orchestrations.
type projectConfig struct {
	MaxConcurrency  *int    `json:"max_concurrency"`
	ParallelEnabled *bool   `json:"parallel_enabled"`
	TimeoutPerPort  *string `json:"timeout_per_port"`
}

// decodeConfig reads upstream's configuration.
func decodeConfig(p string, body []byte) (c projectConfig, err error) {
	var whole struct {
		Orchestration projectConfig `json:"orchestration"`
	}
	if err = schemas.DecodeYAML("pal/config", p, body, &whole, schemas.YAMLLimits{}); err != nil {
		return c, err
	}
	if _, problem := readTimeout(whole.Orchestration.TimeoutPerPort); problem != "" {
		return c, &schemas.Error{Path: p, Pointer: "/orchestration/timeout_per_port", Problem: templates.Untranslated(problem)}
	}
	return whole.Orchestration, nil
}
