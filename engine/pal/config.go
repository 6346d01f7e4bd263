package pal

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"placet/engine"
	"placet/schemas"
	"placet/templates"
)

// Config is the [pal] block of the configuration. A nil member leaves the setting to
// .pal/config.yaml, and then to the built-in value.
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
	// Still forbids starting commands.
	Still bool `toml:"-"`
}

// Built-in values of settings.
const (
	builtInConcurrency = 3
	builtInTimeout     = "30m"
	builtInRetries     = 3
	builtInBudget      = 15000
	builtInPercent     = 95
	builtInHz          = 2
)

// DefaultConfig returns the settings that apply where the configuration says nothing.
func DefaultConfig() Config { return Config{Enabled: true} }

// tokenPercent returns the percentage of its token budget at which a worker is reported.
func (c Config) tokenPercent() int { return first(builtInPercent, c.TokenPercent) }

// Hz returns how many events per second report the progress of a worker.
func (c Config) Hz() int { return first(builtInHz, c.ProgressHz) }

// first returns the value of the first layer that has one, or the built-in value.
func first[T any](builtIn T, layers ...*T) T {
	for _, l := range layers {
		if l != nil {
			return *l
		}
	}
	return builtIn
}

// Check refuses automatic answers for types of escalations that need a person. The schema of
// settings refuses everything else that is unusable.
func (c Config) Check() error {
	for _, typ := range c.AutoResolve {
		switch kind, known := kinds[typ]; {
		case !known:
			return templates.Errorf("pal.config.type", "type", strconv.Quote(typ), "types", templates.NewMessage("list.or", "all", typeTokens, "last", typeGeneral))
		case kind.weight == stops:
			return templates.Errorf("pal.config.stops", "type", typ)
		case kind.weight == holds:
			return templates.Errorf("pal.config.holds", "type", typ)
		}
	}
	return nil
}

// readTimeout parses how long a port may run; 0 means any time.
func readTimeout(s *string) (time.Duration, error) {
	if s == nil {
		return 0, nil
	}
	d, err := time.ParseDuration(*s)
	if err != nil || d < 0 {
		return 0, templates.Errorf("pal.timeout", "is", strconv.Quote(*s))
	}
	return d, nil
}

// configYAML is the path of upstream's configuration.
const configYAML = ".pal/config.yaml"

// projectConfig is the part of upstream's configuration about orchestrations.
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
	if err = checkTimeout(p, "/orchestration/timeout_per_port", whole.Orchestration.TimeoutPerPort); err != nil {
		return c, err
	}
	return whole.Orchestration, nil
}

// settingSources are the files that contain settings, in order of precedence.
var settingSources = []string{orchestrationFile, "placet.toml", configYAML}

// settingWords returns the settings of the whole run, each with the file that it comes from. A
// started run keeps the settings that it admitted, whatever the files say since.
func settingWords(r *view) string {
	o, err := engine.Parse(r.sources.doc, decodeOrchestration)
	if err != nil {
		o = &orchestration{}
	}
	below, conf := &projectConfig{}, r.conf()
	if d := r.run.Snap.Doc(configYAML); d.Present() {
		if c, err := engine.Parse(d, decodeConfig); err == nil {
			below = c
		}
	}
	var slots *int
	var parallel *bool
	if st := &r.run.State; st.Status != Pending {
		slots, parallel = &st.Settings.MaxConcurrency, &st.Settings.Parallel
	}
	auto := fmt.Sprintf("auto_resolve [] (%s)", r.say("setting.built_in"))
	if conf.AutoResolve != nil {
		auto = fmt.Sprintf("auto_resolve %q (%s)", conf.AutoResolve, settingSources[1])
	}
	return strings.Join([]string{
		setting(r, "max_concurrency", builtInConcurrency, slots, o.MaxConcurrency, conf.MaxConcurrency, below.MaxConcurrency),
		setting(r, "parallel_enabled", true, parallel, o.ParallelEnabled, conf.ParallelEnabled, below.ParallelEnabled),
		setting(r, "timeout_per_port", builtInTimeout, nil, o.TimeoutPerPort, conf.TimeoutPerPort, below.TimeoutPerPort),
		setting(r, "max_retries", builtInRetries, nil, o.MaxRetries, conf.MaxRetries),
		setting(r, "token_budget", builtInBudget, nil, o.TokenBudget, conf.TokenBudget),
		setting(r, "token_percent", builtInPercent, nil, nil, conf.TokenPercent),
		setting(r, "progress_hz", builtInHz, nil, nil, conf.ProgressHz), auto,
	}, ", ")
}

// setting returns a setting with its value and its source. The layers are those of settingSources.
// taken is the value that the run admitted, nil if that does not matter.
func setting[T comparable](r *view, key string, builtIn T, taken *T, layers ...*T) string {
	value, source := builtIn, r.say("setting.built_in")
	for i := len(layers) - 1; i >= 0; i-- {
		if layers[i] != nil {
			value, source = *layers[i], settingSources[i]
		}
	}
	if taken != nil && *taken != value {
		value, source = *taken, r.say("setting.taken")
	}
	return fmt.Sprintf("%s %v (%s)", key, value, source)
}
