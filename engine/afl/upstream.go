package afl

import (
	"strconv"

	"placet/engine"
	"placet/schemas"
)

// Upstream's configuration files, relative to the workspace.
const (
	upstreamYAML = ".claude/afl.yaml"
	upstreamJSON = ".afl/config.json"
)

// value is a setting as one of upstream's files has it.
type value struct {
	file, key string
	raw       schemas.Raw // in placet's words
	shown     string      // in upstream's
	agreed    map[engine.Digest]bool
}

func (v value) whole() (int, bool) {
	n, err := strconv.Atoi(string(v.raw))
	return n, err == nil
}

func (v value) flag() (b, ok bool) {
	return string(v.raw) == "true", string(v.raw) == "true" || string(v.raw) == "false"
}

// layer is one of upstream's files, or a part of one, by placet's keys.
type layer struct{ values map[string]value }

// upstream reads upstream's files, in the order in which they count. A file
// that cannot be read is a problem: no limit is replaced by a guess.
func (r *session) upstream() (layers []layer, ok bool) {
	var y, j schemas.Raw
	yes, no := r.configFile(upstreamYAML, &y), r.configFile(upstreamJSON, &j)
	if !yes || !no {
		return nil, false
	}
	agreed := r.Snap.Facts.Trusted
	routing, from := j, upstreamJSON
	if at(j, "feedbackRouting") == nil {
		routing, from = y, upstreamYAML
	}
	return []layer{
		pick(y, upstreamYAML, agreed, yamlKeys), pick(j, upstreamJSON, agreed, jsonKeys), pick(routing, from, agreed, routingKeys),
	}, true
}

// configFile reads one of upstream's files into raw. It is true where the file
// is absent, too.
func (r *session) configFile(p string, raw *schemas.Raw) bool {
	d := r.Snap.Doc(p)
	if d.Absent() {
		return true
	}
	return r.Read(d, func() error {
		if p == upstreamYAML {
			return schemas.DecodeYAML("afl/config-yaml", p, d.Body, raw, schemas.YAMLLimits{})
		}
		return schemas.Decode("afl/config-json", p, d.Body, raw)
	})
}

// key is a setting's place in one of upstream's files.
type key struct {
	name string // placet's
	path []string
}

var (
	yamlKeys = []key{
		{"max_iterations", []string{"feedback_loop", "max_iterations"}},
		{"auto_retry_delay", []string{"feedback_loop", "auto_retry_delay"}},
		{"auto_retry_delay", []string{"feedback_loop", "retry_delay"}},
		{"mode", []string{"feedback_loop", "mode"}},
		{"parallel_workers", []string{"delegation", "parallel_workers"}},
		{"review", []string{"agents", "impl_reviewer"}},
		{"notify_on_escalation", []string{"notification", "method"}},
		{"validation", []string{"validation", "method"}},
		{"validation_timeout", []string{"validation", "timeout"}},
	}
	jsonKeys = []key{
		{"max_iterations", []string{"feedbackLoop", "maxIterations"}},
		{"auto_retry_delay", []string{"feedbackLoop", "autoRetryDelay"}},
		{"mode", []string{"feedbackLoop", "mode"}},
		{"parallel_workers", []string{"delegation", "parallelWorkers"}},
		{"pattern_after", []string{"feedbackLoop", "escalationThreshold"}},
		{"review", []string{"agents", "implReviewer"}},
		{"notify_on_escalation", []string{"notification", "method"}},
		{"validation", []string{"validation", "method"}},
		{"validation_timeout", []string{"validation", "timeout"}},
	}
	routingKeys = []key{
		{"max_iterations", []string{"feedbackRouting", "maxIterations"}},
		{"auto_retry_delay", []string{"feedbackRouting", "autoRetryDelay"}},
		{"escalation_on_design_mismatch", []string{"feedbackRouting", "escalationOnDesignMismatch"}},
		{"review", []string{"feedbackRouting", "runImplReviewerOnPass"}},
		{"notify_on_escalation", []string{"feedbackRouting", "notifyOnEscalation"}},
	}
)

// pick takes the settings that a file has; the first of two places counts.
func pick(root schemas.Raw, file string, agreed map[engine.Digest]bool, keys []key) layer {
	l := layer{values: map[string]value{}}
	for _, k := range keys {
		raw := at(root, k.path...)
		if _, have := l.values[k.name]; have || raw.Null() {
			continue
		}
		if translated, counts := translate(k.name, raw); counts {
			l.values[k.name] = value{file: file, key: pointer(k.path), raw: translated, shown: string(raw), agreed: agreed}
		}
	}
	return l
}

func pointer(path []string) string {
	p := ""
	for _, name := range path {
		p += "/" + name
	}
	return p
}

// at is the value at a path of members, nil where there is none.
func at(root schemas.Raw, path ...string) schemas.Raw {
	for _, name := range path {
		if root.Kind() != '{' {
			return nil
		}
		members, err := schemas.Members(root)
		if err != nil {
			return nil
		}
		root = members.Raw(name)
	}
	return root
}

// translate puts upstream's words into placet's. counts is false for a value
// that says nothing here.
func translate(name string, raw schemas.Raw) (v schemas.Raw, counts bool) {
	word := string(raw)
	switch name {
	case "review":
		switch word {
		case "true":
			return schemas.Raw(`"person"`), true
		case "false":
			return schemas.Raw(`"off"`), true
		}
	case "validation":
		switch word {
		case `"test"`, `"script"`, `"test_command"`:
			return schemas.Raw(`"command"`), true
		case `"manual"`:
			return schemas.Raw(`"result"`), true
		}
	case "notify_on_escalation":
		if raw.Kind() == '"' { // notification.method
			return schemas.Raw(strconv.FormatBool(word != `"none"`)), true
		}
	}
	return raw, true
}
