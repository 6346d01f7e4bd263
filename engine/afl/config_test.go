package afl

import (
	"testing"
	"time"

	"placet/engine"
)

// settingsOf returns the settings of a workspace with these files.
func settingsOf(t *testing.T, own Config, yaml, json string, agreed ...engine.Digest) (settings, bool, *world) {
	t.Helper()
	w := newWorld(t)
	w.Facts.Config.Family = own
	if yaml != "" {
		w.Put(upstreamYAML, yaml)
	}
	if json != "" {
		w.Put(upstreamJSON, json)
	}
	for _, d := range agreed {
		w.Facts.Trusted[d] = true
	}
	w.Write("meta.json", "{}")
	s, _ := w.Full()
	r := read(s)
	return r.cfg, r.cfgBad, w
}

// Precedence key by key: placet.toml, .claude/afl.yaml, .afl/config.json, a feedbackRouting block,
// the built-in value.
func TestPrecedenceOfSettings(t *testing.T) {
	const (
		y = "feedback_loop: {max_iterations: 7, retry_delay: 7000}\ndelegation: {parallel_workers: 7}\nvalidation: {timeout: 7000}\nnotification: {method: none}\nfeedbackRouting: {maxIterations: 9, escalationOnDesignMismatch: false}\n"
		j = `{"feedbackLoop": {"maxIterations": 8, "autoRetryDelay": 8000, "escalationThreshold": 8}, "delegation": {"parallelWorkers": 8}, "maxRetries": 3}`
		f = `{"feedbackRouting": {"maxIterations": 9, "autoRetryDelay": 9000, "escalationOnDesignMismatch": false, "notifyOnEscalation": false}}`
	)
	type row struct {
		max      int
		delay    time.Duration
		workers  int
		design   bool
		announce bool
		pattern  int
		timeout  time.Duration
	}
	own := DefaultConfig()
	own.MaxIterations, own.AutoRetryDelay = ptr(6), ptr("6s")
	quiet := DefaultConfig()
	quiet.NotifyOnEscalation = ptr(false)
	for name, c := range map[string]struct {
		own        Config
		yaml, json string
		want       row
	}{
		"built in": {DefaultConfig(), "", "", row{5, 5 * time.Second, 3, true, true, 3, 120 * time.Second}},
		"toml":     {own, y, j, row{6, 6 * time.Second, 7, false, false, 8, 7 * time.Second}},
		"yaml":     {DefaultConfig(), y, "", row{7, 7 * time.Second, 7, false, false, 3, 7 * time.Second}},
		"json":     {DefaultConfig(), "", j, row{8, 8 * time.Second, 8, true, true, 8, 120 * time.Second}},
		"block":    {DefaultConfig(), "", f, row{9, 9 * time.Second, 3, false, false, 3, 120 * time.Second}},
		"both":     {DefaultConfig(), y, f, row{7, 7 * time.Second, 7, false, false, 3, 7 * time.Second}},
		"asking":   {DefaultConfig(), "notification: {method: slack}\n", f, row{9, 9 * time.Second, 3, false, true, 3, 120 * time.Second}},
		"own word": {quiet, "feedbackRouting: {notifyOnEscalation: true}\n", "", row{5, 5 * time.Second, 3, true, false, 3, 120 * time.Second}},
	} {
		s, bad, _ := settingsOf(t, c.own, c.yaml, c.json)
		got := row{s.MaxIterations, s.RetryDelay, s.Workers, s.EscalateDesign, s.Announce, s.PatternAfter, s.ValidationTimeout}
		if bad || got != c.want {
			t.Errorf("%s: %+v, expected %+v (bad %v)", name, got, c.want, bad)
		}
	}
	w := newWorld(t)
	w.Facts.Config.Family = nil
	if s, _ := w.Full(); read(s).cfg.MaxIterations != 5 {
		t.Errorf("without settings: %+v", read(s).cfg)
	}
}

// A document of the workspace may not loosen what a person must see until the owner has agreed to
// the value.
func TestUpstreamsFilesDoNotLoosenPolicy(t *testing.T) {
	digest := func(key, word string) engine.Digest { return engine.Sum([]byte("afl." + key + "\n\"" + word + "\"")) }
	for name, c := range map[string]struct {
		yaml, key, word string
		get             func(settings) string
		built           string
	}{
		"review":     {"agents: {impl_reviewer: \"off\"}\n", "review", "off", func(s settings) string { return s.Review }, "person"},
		"flag":       {"feedbackRouting: {runImplReviewerOnPass: false}\n", "review", "off", func(s settings) string { return s.Review }, "person"},
		"validation": {"validation: {method: manual}\n", "validation", "result", func(s settings) string { return s.Validation }, "command"},
	} {
		s, bad, _ := settingsOf(t, DefaultConfig(), c.yaml, "")
		if bad || c.get(s) != c.built || len(s.waiting) != 1 || s.waiting[0].Name != "afl."+c.key {
			t.Errorf("%s: %s, waiting %+v", name, c.get(s), s.waiting)
		}
		s, _, _ = settingsOf(t, DefaultConfig(), c.yaml, "", digest(c.key, c.word))
		if c.get(s) != c.word || len(s.waiting) != 0 {
			t.Errorf("%s agreed to: %s, waiting %+v", name, c.get(s), s.waiting)
		}
	}
}

// A bad value that placet.toml overrides is no problem.
func TestAnOverriddenValueIsNoProblem(t *testing.T) {
	own := DefaultConfig()
	own.Mode, own.MaxIterations = ptr("auto"), ptr(4)
	s, bad, w := settingsOf(t, own, "feedback_loop: {mode: semi-auto, max_iterations: 99}\n", "")
	if bad || s.MaxIterations != 4 {
		t.Errorf("bad %v, %+v", bad, s)
	}
	w.settle()
	if w.Has("problems/.claude--afl.yaml.problem.md") {
		t.Error("a note stands")
	}
}
