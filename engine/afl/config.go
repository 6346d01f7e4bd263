package afl

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"placet/engine"
)

// Config is the [afl] block of the configuration. A nil member says nothing:
// then upstream's files count, and after them what is built in.
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
	Shell                      []string `toml:"shell"`
	WorkerCommand              *string  `toml:"worker_command"`
	WorkerTimeout              *string  `toml:"worker_timeout"`
	OracleWait                 *string  `toml:"oracle_wait"`
	ApprovalQuiet              *string  `toml:"approval_quiet"`
	// Language overrides the workspace's language for this family.
	Language string `toml:"language"`
	// Still is set where no command may begin and so no attempt either whose
	// worker is a command.
	Still bool `toml:"-"`
}

// DefaultConfig is what holds where nothing is configured.
func DefaultConfig() Config { return Config{Enabled: true} }

// Reviews and Validations are the words of these settings, the tightest first, which is
// built in.
var (
	Reviews     = []string{reviewPerson, reviewExternal, reviewOff}
	Validations = []string{validateCommand, validateResult}
)

// Words of settings.
const (
	validateCommand = "command"
	validateResult  = "result"
	reviewPerson    = "person"
	reviewExternal  = "external"
	reviewOff       = "off"
	interruptedAsk  = "ask"
	interruptedAuto = "rerun"
	modeAuto        = "auto"
)

// Check reports the first setting that cannot be used, naming its key.
func (c Config) Check() error {
	_, problem := c.settle(nil)
	if problem == nil {
		return nil
	}
	return fmt.Errorf("%s: %s", problem.key, problem.text)
}

// WorkerDigest is what trust in the worker command is recorded under; "" where
// none is configured.
func (c Config) WorkerDigest() engine.Digest {
	digest, _ := c.Worker()
	return digest
}

// Worker returns the digest of the worker command and its argument vector; both are
// empty where none is configured.
func (c Config) Worker() (digest engine.Digest, argv []string) {
	s, _ := c.settle(nil)
	if s.WorkerCommand == "" {
		return "", nil
	}
	return commandDigest("worker", s.Shell, s.WorkerCommand), append(slices.Clone(s.Shell), s.WorkerCommand)
}

// commandDigest is the digest of a command as it runs.
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
	Shell             []string
	WorkerCommand     string
	WorkerTimeout     time.Duration
	OracleWait        time.Duration
	ApprovalQuiet     time.Duration
	Still             bool
	// waiting are settings of upstream's files that loosen policy and that
	// nobody has agreed to: they do not count.
	waiting []engine.Untrusted
	// unbuilt are settings of upstream's files that ask for what placet does not do.
	unbuilt []badSetting
}

// isWithheld reports whether an attempt would begin with a command while none may.
func (s settings) isWithheld() bool { return s.Still && s.WorkerCommand != "" }

// workerDigest is that of the worker command, "" where there is none.
func (s settings) workerDigest() engine.Digest {
	if s.WorkerCommand == "" {
		return ""
	}
	return commandDigest("worker", s.Shell, s.WorkerCommand)
}

// badSetting is a setting that cannot be used.
type badSetting struct{ file, key, text string }

// settle merges the layers: this block, then upstream's files in their order,
// then what is built in. The problem is that of the first effective value
// which is out of range.
func (c Config) settle(below []layer) (settings, *badSetting) {
	p := &picker{own: c, below: below}
	s := settings{
		MaxIterations:     p.number("max_iterations", c.MaxIterations, 5, 1, 50),
		RetryDelay:        p.length("auto_retry_delay", c.AutoRetryDelay, 5*time.Second, 0, 24*time.Hour),
		Workers:           p.number("parallel_workers", c.ParallelWorkers, 3, 1, 32),
		EscalateDesign:    p.flag("escalation_on_design_mismatch", c.EscalationOnDesignMismatch, true),
		PatternAfter:      p.number("pattern_after", c.PatternAfter, 3, 2, 20),
		Review:            p.policy("review", c.Review, Reviews),
		Validation:        p.policy("validation", c.Validation, Validations),
		ValidationTimeout: p.length("validation_timeout", c.ValidationTimeout, 120*time.Second, time.Second, 24*time.Hour),
		EscalateUnclear:   p.flag("escalate_unclear", c.EscalateUnclear, true),
		EscalateOnPattern: p.flag("escalate_on_pattern", c.EscalateOnPattern, false),
		RetryMore:         p.number("retry_more_attempts", c.RetryMoreAttempts, 2, 1, 20),
		Interrupted:       p.word("interrupted", c.Interrupted, interruptedAsk, interruptedAsk, interruptedAuto),
		Shell:             p.shell(),
		WorkerCommand:     p.word("worker_command", c.WorkerCommand, ""),
		WorkerTimeout:     p.length("worker_timeout", c.WorkerTimeout, 2*time.Hour, time.Second, 30*24*time.Hour),
		OracleWait:        p.length("oracle_wait", c.OracleWait, 0, 0, 24*time.Hour),
		ApprovalQuiet:     p.length("approval_quiet", c.ApprovalQuiet, 10*time.Second, 0, 24*time.Hour),
		Still:             c.Still,
	}
	p.mode()
	p.notify()
	s.waiting, s.unbuilt = p.waiting, p.unbuilt
	return s, p.problem
}

// picker finds the value of one setting after the other.
type picker struct {
	own     Config
	below   []layer
	problem *badSetting
	waiting []engine.Untrusted
	unbuilt []badSetting
}

func (p *picker) bad(file, key, format string, args ...any) {
	if p.problem == nil {
		p.problem = &badSetting{file, key, fmt.Sprintf(format, args...)}
	}
}

// from finds a setting in upstream's files.
func (p *picker) from(key string) (v value, ok bool) {
	for _, l := range p.below {
		if v, ok = l.values[key]; ok {
			return v, true
		}
	}
	return v, false
}

func (p *picker) number(key string, own *int, builtIn, least, most int) int {
	n, file, name := builtIn, "", key
	if own != nil {
		n = *own
	} else if v, ok := p.from(key); ok {
		file, name = v.file, v.key
		if n, ok = v.whole(); !ok {
			p.bad(file, name, "%s is no whole number: expected %d to %d", v.raw, least, most)
			return builtIn
		}
	}
	if n < least || n > most {
		p.bad(file, name, "%d is out of range: expected %d to %d", n, least, most)
		return builtIn
	}
	return n
}

func (p *picker) length(key string, own *string, builtIn, least, most time.Duration) time.Duration {
	d, file, name, shown := builtIn, "", key, ""
	if own != nil {
		var err error
		if d, err = time.ParseDuration(*own); err != nil {
			p.bad("", key, "%q is no length of time: write it like 5s or 2h", *own)
			return builtIn
		}
		shown = *own
	} else if v, ok := p.from(key); ok {
		n, whole := v.whole()
		if !whole {
			p.bad(v.file, v.key, "%s is no whole number of ms", v.raw)
			return builtIn
		}
		n = min(max(n, -1), int(most.Milliseconds())+1) // further out of range is no other answer
		d, file, name, shown = time.Duration(n)*time.Millisecond, v.file, v.key, string(v.raw)+" ms"
	}
	if d < least || d > most {
		p.bad(file, name, "%s is out of range: expected %s to %s", shown, least, most)
	}
	return d
}

func (p *picker) flag(key string, own *bool, builtIn bool) bool {
	if own != nil {
		return *own
	}
	v, ok := p.from(key)
	if !ok {
		return builtIn
	}
	b, ok := v.flag()
	if !ok {
		p.bad(v.file, v.key, "%s is neither true nor false", v.raw)
	}
	return b
}

// word is a setting that only placet's own configuration has.
func (p *picker) word(key string, own *string, builtIn string, offered ...string) string {
	if own == nil {
		return builtIn
	}
	if len(offered) > 0 && !slices.Contains(offered, *own) {
		p.bad("", key, "%q is none of %s", *own, strings.Join(offered, ", "))
	}
	return *own
}

// policy is a word that decides what may happen without a person. A document
// of the workspace may not loosen it: another word than the built-in one counts
// there only once the owner has agreed to it. The first word is built in.
func (p *picker) policy(key string, own *string, offered []string) string {
	builtIn := offered[0]
	v, ok := p.from(key)
	if own != nil || !ok {
		return p.word(key, own, builtIn, offered...)
	}
	word, _ := v.raw.Text()
	if !slices.Contains(offered, word) {
		p.bad(v.file, v.key, "%s is none of %s", v.shown, strings.Join(offered, ", "))
		return builtIn
	}
	digest := engine.Sum([]byte("afl." + key + "\n" + string(canonical(word))))
	if word != builtIn && !v.agreed[digest] {
		p.waiting = append(p.waiting, engine.Untrusted{Name: "afl." + key, Digest: digest, Text: word + " (" + v.file + " " + v.key + ")"})
		return builtIn
	}
	return word
}

func (p *picker) shell() []string {
	if p.own.Shell == nil {
		return []string{"bash", "-c"}
	}
	if len(p.own.Shell) == 0 || slices.Contains(p.own.Shell, "") {
		p.bad("", "shell", "is empty: name the program that runs a command, like [\"bash\", \"-c\"]")
	}
	return slices.Clone(p.own.Shell)
}

// mode is auto; the others wait for a later version.
func (p *picker) mode() {
	if p.own.Mode != nil {
		if *p.own.Mode != modeAuto {
			p.bad("", "mode", "%q is not served yet: set mode = %q", *p.own.Mode, modeAuto)
		}
		return
	}
	if v, ok := p.from("mode"); ok && string(v.raw) != `"auto"` {
		p.bad(v.file, v.key, "%s is not served yet: set mode = %q in the block [afl] of placet.toml", v.raw, modeAuto)
	}
}

// unnotified is what placet says of a wish to be notified.
const unnotified = "true is not built yet: nobody is notified; placet inbox lists what waits for a person"

// notify refuses a wish to be notified of escalations in placet's own configuration.
// Upstream's files have it by default: there it stops nothing, and check says so.
func (p *picker) notify() {
	const key = "notify_on_escalation"
	if own := p.own.NotifyOnEscalation; own != nil {
		if *own {
			p.bad("", key, unnotified+"; set it to false or take the line out")
		}
		return
	}
	if v, ok := p.from(key); ok && string(v.raw) == "true" {
		p.unbuilt = append(p.unbuilt, badSetting{v.file, v.key, unnotified})
	}
}
