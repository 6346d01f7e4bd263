package pal

import (
	"strings"
	"testing"
)

func TestSettings(t *testing.T) {
	good := DefaultConfig()
	if err := good.Check(); err != nil || !good.Enabled || good.tokenPercent() != 95 || good.Hz() != 2 {
		t.Errorf("what is built in: %+v, %v", good, err)
	}
	for want, change := range map[string]func(*Config){
		"":                               func(c *Config) { c.AutoResolve = []string{"token_exhausted", "general"} },
		" ":                              func(c *Config) { c.TimeoutPerPort, c.TokenBudget, c.ProgressHz = of("0s"), of(0), of(1) },
		"max_concurrency: 0 is out of":   func(c *Config) { c.MaxConcurrency = of(0) },
		"max_concurrency: 65 is out of":  func(c *Config) { c.MaxConcurrency = of(65) },
		"max_retries: 0 is out of":       func(c *Config) { c.MaxRetries = of(0) },
		"max_retries: 101 is out of":     func(c *Config) { c.MaxRetries = of(101) },
		"token_percent: 0 is out of":     func(c *Config) { c.TokenPercent = of(0) },
		"progress_hz: 3 is out of range": func(c *Config) { c.ProgressHz = of(3) },
		"token_budget: -1 is out of":     func(c *Config) { c.TokenBudget = of(-1) },
		`timeout_per_port: "30" is no`:   func(c *Config) { c.TimeoutPerPort = of("30") },
		`timeout_per_port: "-1m" is no`:  func(c *Config) { c.TimeoutPerPort = of("-1m") },
		"auto_resolve: timeout stops its port: silence is not consent":  func(c *Config) { c.AutoResolve = []string{"general", "timeout"} },
		"auto_resolve: conflict holds its port: silence is not consent": func(c *Config) { c.AutoResolve = []string{"conflict"} },
		`auto_resolve: "compact_warning" is no type of escalation`:      func(c *Config) { c.AutoResolve = []string{"compact_warning"} },
	} {
		c := DefaultConfig()
		change(&c)
		err := c.Check()
		if (err == nil) != (strings.TrimSpace(want) == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
}

// of is a pointer to a value.
func of[T any](v T) *T { return &v }
