package pal

import (
	"fmt"
	"strings"

	"placet/engine"
)

// settingSources are the files that say what holds, in the order of precedence.
var settingSources = []string{orchestrationFile, "placet.toml", configYAML}

// settingWords are the settings of the whole run, each with the file that says so. What
// the run took in when it started stays, whatever the files say since.
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

// setting is a setting with its value and its source. The layers are those of
// settingSources; taken is what the run took in, nil where that does not matter.
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
