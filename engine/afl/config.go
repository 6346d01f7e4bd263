package afl

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"placet/engine"
	"placet/schemas"
	"placet/templates"
)

// Config is the [afl] block of the configuration. A nil member leaves the setting to upstream's
// files, and then to the built-in value.
type Config struct {
	Enabled                    bool     `toml:"enabled"`
	MaxIterations              *int     `toml:"max_iterations"`
	AutoRetryDelay             *string  `toml:"auto_retry_delay"`
	Mode                       *string  `toml:"mode"`
	ParallelWorkers            *int     `toml:"parallel_workers"`
	EscalationOnDesignMismatch *bool    `toml:"escalation_on_design_mismatch"`
	PatternAfter               *int     `toml:"pattern_after"`
	Review                     *string  `toml:"review"`
	NotifyOnEscalation         *bool    `toml:"notify_on_escalation"`
	Validation                 *string  `toml:"validation"`
	ValidationTimeout          *string  `toml:"validation_timeout"`
	EscalateUnclear            *bool    `toml:"escalate_unclear"`
	EscalateOnPattern          *bool    `toml:"escalate_on_pattern"`
	RetryMoreAttempts          *int     `toml:"retry_more_attempts"`
	Interrupted                *string  `toml:"interrupted"`
	ChangingTests              *string  `toml:"changing_tests"`
	Shell                      []string `toml:"shell"`
	WorkerCommand              *string  `toml:"worker_command"`
	WorkerTimeout              *string  `toml:"worker_timeout"`
	// OracleCommand analyses failures, and ReviewerCommand reviews checkpoints: a program and its
	// arguments each.
	OracleCommand   []string `toml:"oracle_command"`
	ReviewerCommand []string `toml:"reviewer_command"`
	OracleWait      *string  `toml:"oracle_wait"`
	ApprovalQuiet   *string  `toml:"approval_quiet"`
	// Language overrides the workspace's language for this family.
	Language string `toml:"language"`
	// Still forbids starting commands, and so every attempt whose worker is a command.
	Still bool `toml:"-"`
}

// DefaultConfig returns the settings that apply where the configuration says nothing.
func DefaultConfig() Config { return Config{Enabled: true} }

// Reviews and Validations are the values of these settings, the strictest first; it is the built-in
// one.
var (
	Reviews     = []string{reviewPerson, reviewEach, reviewExternal, reviewOff}
	Validations = []string{validateCommand, validateResult}
	// ChangingTests says whether a person may agree to later changes of the files that a
	// validation command names.
	ChangingTests = []string{changingAsk, changingTrust}
)

// Values of settings.
const (
	validateCommand = "command"
	validateResult  = "result"
	reviewPerson    = "person"
	reviewEach      = "each" // checkpoint that passes, and not the whole
	reviewExternal  = "external"
	reviewOff       = "off"
	interruptedAsk  = "ask"
	interruptedAuto = "rerun"
	changingAsk     = "ask"
	changingTrust   = "trust"
)

// MayChange reports whether a person may agree to later changes of a file that a validation
// command names.
func (c Config) MayChange() bool { return c.ChangingTests != nil && *c.ChangingTests == changingTrust }

// WorkerDigest returns the digest under which trust in the worker command is recorded, "" if none
// is configured.
func (c Config) WorkerDigest() engine.Digest {
	digest, _ := c.Worker()
	return digest
}

// Worker returns the digest and the argument vector of the worker command; both are empty if none
// is configured.
func (c Config) Worker() (digest engine.Digest, argv []string) {
	s, _ := c.settle(nil)
	if digest = s.workerDigest(); digest != "" {
		argv = append(slices.Clone(s.Shell), s.WorkerCommand)
	}
	return digest, argv
}

// OracleDigest and ReviewerDigest return the digests under which trust in these commands is
// recorded.
func OracleDigest(argv []string) engine.Digest   { return engine.CommandDigest("oracle", argv...) }
func ReviewerDigest(argv []string) engine.Digest { return engine.CommandDigest("reviewer", argv...) }

// commandDigest returns the digest of a command as it runs.
func commandDigest(kind string, shell []string, command string) engine.Digest {
	return engine.CommandDigest(kind, append(slices.Clone(shell), command)...)
}

// settings are the merged configuration.
type settings struct {
	MaxIterations     int
	RetryDelay        time.Duration
	Workers           int
	EscalateDesign    bool
	PatternAfter      int
	Review            string
	Validation        string
	ValidationTimeout time.Duration
	EscalateUnclear   bool
	EscalateOnPattern bool
	RetryMore         int
	Interrupted       string
	MayChange         bool
	Shell             []string
	WorkerCommand     string
	WorkerTimeout     time.Duration
	Oracle            []string
	Reviewer          []string
	OracleWait        time.Duration
	ApprovalQuiet     time.Duration
	Announce          bool // whether people get notifications of escalations
	Still             bool
	// waiting holds settings of upstream's files that loosen the policy and that nobody has agreed
	// to. They do not count.
	waiting []engine.Untrusted
}

// isWithheld reports whether attempts need a command while commands may not start.
func (s settings) isWithheld() bool { return s.Still && s.WorkerCommand != "" }

// workerDigest returns the digest of the worker command, or "".
func (s settings) workerDigest() engine.Digest {
	if s.WorkerCommand == "" {
		return ""
	}
	return commandDigest("worker", s.Shell, s.WorkerCommand)
}

// badSetting is an unusable setting.
type badSetting struct {
	file, key string
	text      templates.Message
}

// value is a setting in a file.
type value struct {
	file, key string      // file is "" for placet's own configuration
	raw       schemas.Raw // in placet's spelling
	shown     string      // in the file's spelling
}

// layer holds a configuration, or a part of one, by placet's keys.
type layer map[string]value

// settle merges the layers: this block, upstream's files in their order, and the built-in values.
// It returns the first effective value that is out of range as the problem.
func (c Config) settle(agreed map[engine.Digest]bool, below ...layer) (settings, *badSetting) {
	const day = 24 * time.Hour
	p := &picker{layers: append([]layer{c.layer()}, below...), agreed: agreed}
	s := settings{
		MaxIterations:     p.number("max_iterations", 5, 1, 50),
		RetryDelay:        p.length("auto_retry_delay", 5*time.Second, 0, day),
		Workers:           p.number("parallel_workers", 3, 1, 32),
		EscalateDesign:    p.flag("escalation_on_design_mismatch", true),
		PatternAfter:      p.number("pattern_after", 3, 2, 20),
		Review:            p.word("review", Reviews...),
		Validation:        p.word("validation", Validations...),
		ValidationTimeout: p.length("validation_timeout", 120*time.Second, time.Second, day),
		EscalateUnclear:   p.flag("escalate_unclear", true),
		EscalateOnPattern: p.flag("escalate_on_pattern", false),
		RetryMore:         p.number("retry_more_attempts", 2, 1, 20),
		Interrupted:       p.word("interrupted", interruptedAsk, interruptedAuto),
		MayChange:         c.MayChange(),
		Shell:             slices.Clone(c.Shell),
		Oracle:            c.OracleCommand,
		Reviewer:          c.ReviewerCommand,
		WorkerTimeout:     p.length("worker_timeout", 2*time.Hour, time.Second, 30*day),
		OracleWait:        p.length("oracle_wait", 0, 0, day),
		ApprovalQuiet:     p.length("approval_quiet", 10*time.Second, 0, day),
		Announce:          p.flag("notify_on_escalation", true),
		Still:             c.Still,
	}
	if c.WorkerCommand != nil {
		s.WorkerCommand = *c.WorkerCommand
	}
	if c.Shell == nil {
		s.Shell = []string{"bash", "-c"}
	}
	p.mode()
	s.waiting = p.waiting
	return s, p.problem
}

// layer returns the block's settings as a layer.
func (c Config) layer() layer {
	l, v := layer{}, reflect.ValueOf(c)
	for i := range v.NumField() {
		f, key := v.Field(i), v.Type().Field(i).Tag.Get("toml")
		if f.Kind() == reflect.Pointer && !f.IsNil() {
			raw := canonical(f.Elem().Interface())
			l[key] = value{key: key, raw: raw, shown: string(raw)}
		}
	}
	return l
}

// picker finds the values of settings, one after the other.
type picker struct {
	layers  []layer
	agreed  map[engine.Digest]bool // the digests that the owner agreed to
	problem *badSetting
	waiting []engine.Untrusted
}

func (p *picker) bad(v value, key string, pairs ...any) {
	if p.problem == nil {
		p.problem = &badSetting{v.file, v.key, templates.NewMessage(templates.Key("afl.setting."+key), pairs...)}
	}
}

// find returns a setting from the first layer that has it.
func (p *picker) find(key string) (v value, ok bool) {
	for _, l := range p.layers {
		if v, ok = l[key]; ok {
			return v, true
		}
	}
	return v, false
}

// number returns a whole number.
func (p *picker) number(key string, builtIn, least, most int) int {
	v, ok := p.find(key)
	if !ok {
		return builtIn
	}
	n, err := strconv.Atoi(string(v.raw))
	switch {
	case err != nil:
		p.bad(v, "number", "value", string(v.raw), "least", least, "most", most)
	case n < least || n > most:
		p.bad(v, "range", "value", n, "least", least, "most", most)
	default:
		return n
	}
	return builtIn
}

// length returns a duration. placet's own configuration writes it like 5s, upstream's files in ms.
func (p *picker) length(key string, builtIn, least, most time.Duration) time.Duration {
	v, ok := p.find(key)
	if !ok {
		return builtIn
	}
	shown, _ := v.raw.Text()
	d, err := time.ParseDuration(shown)
	fault := "length"
	if v.file != "" {
		var n int
		n, err = strconv.Atoi(string(v.raw))
		n = min(max(n, -1), int(most.Milliseconds())+1) // out of range stays out of range, without an overflow
		d, shown, fault = time.Duration(n)*time.Millisecond, string(v.raw)+" ms", "ms"
	}
	switch {
	case err != nil:
		p.bad(v, fault, "value", string(v.raw))
	case d < least || d > most:
		p.bad(v, "range", "value", shown, "least", least, "most", most)
	default:
		return d
	}
	return builtIn
}

// flag returns true or false.
func (p *picker) flag(key string, builtIn bool) bool {
	v, ok := p.find(key)
	if !ok {
		return builtIn
	}
	if word := string(v.raw); word != "true" && word != "false" {
		p.bad(v, "flag", "value", string(v.raw))
	}
	return string(v.raw) == "true"
}

// word returns one of several words; the first is the built-in one. A document of the workspace may
// not loosen what may happen without a person, so another word in it counts only once the owner has
// agreed to it.
func (p *picker) word(key string, offered ...string) string {
	v, ok := p.find(key)
	if !ok {
		return offered[0]
	}
	word, _ := v.raw.Text()
	if !slices.Contains(offered, word) {
		p.bad(v, "word", "value", v.shown, "words", strings.Join(offered, ", "))
		return offered[0]
	}
	digest := engine.Sum([]byte("afl." + key + "\n" + string(canonical(word))))
	if word != offered[0] && v.file != "" && !p.agreed[digest] {
		p.waiting = append(p.waiting, engine.Untrusted{Name: "afl." + key, Digest: digest, Text: word + " (" + v.file + " " + v.key + ")"})
		return offered[0]
	}
	return word
}

// mode accepts only auto; the other modes may come in a later version.
func (p *picker) mode() {
	v, ok := p.find("mode")
	if ok && string(v.raw) != `"auto"` {
		p.bad(v, "mode.upstream", "value", string(v.raw), "line", `mode = "auto"`)
	}
}

// Paths of upstream's configuration files, relative to the workspace.
const (
	upstreamYAML = ".claude/afl.yaml"
	upstreamJSON = ".afl/config.json"
)

// readUpstream reads upstream's files in order of precedence. An unreadable file is a problem,
// because no guess may replace a limit.
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

// readUpstreamFile reads one of upstream's files into raw. It returns true for an absent file, too.
func readUpstreamFile(r *session, p string, raw *schemas.Raw) bool {
	d := r.run.Snap.Doc(p)
	return d.Absent() || r.run.Read(d, func() error {
		if p == upstreamYAML {
			return schemas.DecodeYAML("afl/config-yaml", p, d.Body, raw, schemas.YAMLLimits{})
		}
		return schemas.Decode("afl/config-json", p, d.Body, raw)
	})
}

// origin says where upstream's files hold a setting, "" for nowhere: in the two files, and in the
// block feedbackRouting of either.
type origin struct{ key, yaml, json, routing string }

// origins lists all settings in upstream's files. The first of two places counts.
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

// pick returns the settings that a file holds.
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

// at returns the value at a pointer, or nil.
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

// translations maps upstream's words to placet's.
var translations = map[string]map[string]string{
	"review":     {"true": `"person"`, "false": `"off"`},
	"validation": {`"test"`: `"command"`, `"script"`: `"command"`, `"test_command"`: `"command"`, `"manual"`: `"result"`},
}

// translate converts upstream's words into placet's.
func translate(name string, raw schemas.Raw) schemas.Raw {
	if word, ok := translations[name][string(raw)]; ok {
		return schemas.Raw(word)
	}
	if name == "notify_on_escalation" && raw.Kind() == '"' { // notification.method
		return schemas.Raw(strconv.FormatBool(string(raw) != `"none"`))
	}
	return raw
}
