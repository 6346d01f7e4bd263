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
		"": func(c *Config) { c.AutoResolve = []string{"token_exhausted", "general"} },
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

// of returns a pointer to a value.
func of[T any](v T) *T { return &v }
