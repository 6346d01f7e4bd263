package afl

import (
	"strconv"
	"strings"

	"placet/schemas"
)

// Upstream's configuration files, relative to the workspace.
const (
	upstreamYAML = ".claude/afl.yaml"
	upstreamJSON = ".afl/config.json"
)

// readUpstream reads upstream's files, in the order in which they count. A file that cannot be
// read is a problem: no limit is replaced by a guess.
func readUpstream(r *session) (layers []layer, ok bool) {
	var y, j schemas.Raw
	isYAML, isJSON := readUpstreamFile(r, upstreamYAML, &y), readUpstreamFile(r, upstreamJSON, &j)
	if !isYAML || !isJSON {
		return nil, false
	}
	routing, from := j, upstreamJSON
	if at(j, "/feedbackRouting") == nil {
		routing, from = y, upstreamYAML
	}
	return []layer{
		pick(y, upstreamYAML, func(p origin) string { return p.yaml }),
		pick(j, upstreamJSON, func(p origin) string { return p.json }),
		pick(routing, from, func(p origin) string { return p.routing }),
	}, true
}

// readUpstreamFile reads one of upstream's files into raw. It is true where the file is absent,
// too.
func readUpstreamFile(r *session, p string, raw *schemas.Raw) bool {
	d := r.run.Snap.Doc(p)
	return d.Absent() || r.run.Read(d, func() error {
		if p == upstreamYAML {
			return schemas.DecodeYAML("afl/config-yaml", p, d.Body, raw, schemas.YAMLLimits{})
		}
		return schemas.Decode("afl/config-json", p, d.Body, raw)
	})
}

// origin says where upstream's files have a setting, "" for nowhere: the two files, and the
// block feedbackRouting in either.
type origin struct{ key, yaml, json, routing string }

// origins are all settings that upstream's files have; the first of two places counts.
var origins = []origin{
	{"max_iterations", "/feedback_loop/max_iterations", "/feedbackLoop/maxIterations", "/feedbackRouting/maxIterations"},
	{"auto_retry_delay", "/feedback_loop/auto_retry_delay", "/feedbackLoop/autoRetryDelay", "/feedbackRouting/autoRetryDelay"},
	{"auto_retry_delay", "/feedback_loop/retry_delay", "", ""},
	{"mode", "/feedback_loop/mode", "/feedbackLoop/mode", ""},
	{"parallel_workers", "/delegation/parallel_workers", "/delegation/parallelWorkers", ""},
	{"escalation_on_design_mismatch", "", "", "/feedbackRouting/escalationOnDesignMismatch"},
	{"pattern_after", "", "/feedbackLoop/escalationThreshold", ""},
	{"review", "/agents/impl_reviewer", "/agents/implReviewer", "/feedbackRouting/runImplReviewerOnPass"},
	{"notify_on_escalation", "/notification/method", "/notification/method", "/feedbackRouting/notifyOnEscalation"},
	{"validation", "/validation/method", "/validation/method", ""},
	{"validation_timeout", "/validation/timeout", "/validation/timeout", ""},
}

// pick takes the settings that a file has at their places.
func pick(root schemas.Raw, file string, pointer func(origin) string) layer {
	l := layer{}
	for _, p := range origins {
		raw := at(root, pointer(p))
		if _, have := l[p.key]; !have && !raw.Null() {
			l[p.key] = value{file: file, key: pointer(p), raw: translate(p.key, raw), shown: string(raw)}
		}
	}
	return l
}

// at is the value at a pointer, nil where there is none.
func at(root schemas.Raw, pointer string) schemas.Raw {
	if pointer == "" {
		return nil
	}
	for _, name := range strings.Split(pointer[1:], "/") {
		members, err := schemas.Members(root)
		if err != nil {
			return nil
		}
		root = members.Raw(name)
	}
	return root
}

// translations are upstream's words for placet's.
var translations = map[string]map[string]string{
	"review":     {"true": `"person"`, "false": `"off"`},
	"validation": {`"test"`: `"command"`, `"script"`: `"command"`, `"test_command"`: `"command"`, `"manual"`: `"result"`},
}

// translate puts upstream's words into placet's.
func translate(name string, raw schemas.Raw) schemas.Raw {
	if word, ok := translations[name][string(raw)]; ok {
		return schemas.Raw(word)
	}
	if name == "notify_on_escalation" && raw.Kind() == '"' { // notification.method
		return schemas.Raw(strconv.FormatBool(string(raw) != `"none"`))
	}
	return raw
}
