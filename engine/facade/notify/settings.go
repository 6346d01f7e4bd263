package notify

import (
	"cmp"
	"maps"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"placet/engine"
	"placet/internal/lazyregexp"
	"placet/templates"
)

// Settings is the table [notify]. It holds secrets, so it counts only in the user's own
// configuration.
type Settings struct {
	// To are URLs of services, and "desktop".
	To []string `toml:"to"`
	// Command is a program that is run for each message, and its arguments.
	Command []string `toml:"command"`
	// On says which requests people are told about: "*", "family", "family/type",
	// "tag:word", each with "!" for requests that they are not told about. Empty means
	// all.
	On []string `toml:"on"`
	// Quiet are hours of local time, such as "22:00-07:00"; "" means none.
	Quiet string `toml:"quiet"`
	// Remind are the ages of a request at which people are told again.
	Remind []string `toml:"remind"`
	// Answers is a topic on the servers of those URLs of ntfy to which buttons in messages post
	// answers; "" means that messages have no buttons.
	Answers  string       `toml:"answers"`
	Escalate []Escalation `toml:"escalate"`
}

// Escalation tells others about a request that nobody has answered.
type Escalation struct {
	After string   `toml:"after"`
	To    []string `toml:"to"`
}

// Enabled reports whether anybody is told.
func (s Settings) Enabled() bool {
	return len(s.To) > 0 || len(s.Command) > 0 || len(s.Escalate) > 0
}

// Targets returns the names of the targets, without their secrets, as in the ledger and
// in status.
func (s Settings) Targets() []string {
	p, _, _ := s.plan()
	return slices.Sorted(maps.Keys(p.targets))
}

// MissingProgram returns the program that would show messages on this desktop and is
// not installed, "" if it is installed or not needed.
func (s Settings) MissingProgram() string {
	argv := desktopCommand(runtime.GOOS, Message{})
	if !slices.Contains(s.Targets(), desktop) || argv == nil {
		return ""
	}
	if _, err := exec.LookPath(argv[0]); err != nil {
		return argv[0]
	}
	return ""
}

// Check returns an error for the first setting that cannot be used, and its key. The
// error never repeats a URL, which may be a secret.
func (s Settings) Check(families []string) (key string, err error) {
	_, key, err = s.plan()
	for _, word := range s.On {
		of, _, _ := strings.Cut(strings.TrimPrefix(word, "!"), "/")
		if err == nil && of != "*" && !strings.HasPrefix(of, "tag:") && !slices.Contains(families, of) {
			return "on", templates.Errorf("notify.setting.family", "value", strconv.Quote(word), "families", strings.Join(families, ", "))
		}
	}
	return key, err
}

// Bounds of the settings.
const (
	mostTargets = 20
	mostRungs   = 50
	longestAge  = 365 * 24 * time.Hour
)

// plan is what the settings mean.
type plan struct {
	targets map[string]target // by key
	on      []string
	quiet   quietHours
	rungs   []rung // by age
	answers string
}

// target is somebody to tell.
type target struct {
	key  string // the name of the target without its secrets
	url  string
	argv []string   // of the user's own program
	ntfy *ntfyTopic // of a URL of ntfy, if presses of buttons may answer; nil otherwise
}

// desktop is the target that shows messages on this machine's screen.
const desktop = "desktop"

// rung is an age of a request at which targets are told.
type rung struct {
	name    string
	age     time.Duration
	targets []string
}

// opening is the first rung.
const opening = "opening"

// plan parses the settings.
func (s Settings) plan() (p plan, key string, err error) {
	p = plan{targets: map[string]target{}, on: s.On, answers: s.Answers}
	if p.quiet, err = readQuiet(s.Quiet); err != nil {
		return p, "quiet", err
	}
	for _, word := range s.On {
		if !filterWord.MatchString(word) {
			return p, "on", templates.Errorf("notify.setting.on", "value", strconv.Quote(word))
		}
	}
	all, err := p.addTargets(s.To)
	if err != nil {
		return p, "to", err
	}
	if len(s.Command) > 0 {
		if program := s.Command[0]; program == "" || strings.Contains(program, "/") && !filepath.IsAbs(program) {
			return p, "command", templates.Errorf("notify.setting.command", "value", strconv.Quote(program))
		}
		t := target{key: "command-" + mark(strings.Join(s.Command, "\x00")), argv: s.Command}
		p.targets[t.key] = t
		all = append(all, t.key)
	}
	if len(all) > 0 {
		p.rungs = append(p.rungs, rung{opening, 0, all})
	}
	for _, age := range s.Remind {
		if err := p.addRung("remind", age, all); err != nil {
			return p, "remind", err
		}
	}
	for _, e := range s.Escalate {
		to, err := p.addTargets(e.To)
		if err == nil && len(to) == 0 {
			err = templates.Errorf("notify.setting.escalate")
		}
		if err = cmp.Or(err, p.addRung("escalate", e.After, to)); err != nil {
			return p, "escalate", err
		}
	}
	if err := p.addAnswers(); err != nil {
		return p, "answers", err
	}
	if len(p.targets) > mostTargets || len(p.rungs) > mostRungs {
		return p, "to", templates.Errorf("notify.setting.many", "targets", mostTargets, "times", mostRungs)
	}
	slices.SortStableFunc(p.rungs, func(a, b rung) int { return cmp.Compare(a.age, b.age) })
	return p, "", nil
}

// addTargets adds the targets that the settings name, and returns their keys.
func (p *plan) addTargets(to []string) (keys []string, err error) {
	for i, word := range to {
		t := target{key: desktop}
		if word != desktop {
			scheme, err := checkURL(word)
			if err != nil {
				return nil, templates.Errorf("notify.setting.element", "number", i+1, "error", err)
			}
			t = target{key: scheme + "-" + mark(word), url: word}
		}
		p.targets[t.key] = t
		if !slices.Contains(keys, t.key) {
			keys = append(keys, t.key)
		}
	}
	return keys, nil
}

// addRung adds a time at which targets are told.
func (p *plan) addRung(kind, age string, targets []string) error {
	d, err := length(age)
	if err != nil {
		return err
	}
	p.rungs = append(p.rungs, rung{kind + " " + age, d, targets})
	return nil
}

// ageOf returns the age at the end of a rung's name.
func ageOf(name string) time.Duration {
	_, age, _ := strings.Cut(name, " ")
	d, _ := length(age) // the opening has none
	return d
}

// length parses an age, which may be in days.
func length(text string) (time.Duration, error) {
	unit, number := time.Duration(1), text
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		unit, number = 24, days+"h"
	}
	d, err := time.ParseDuration(number)
	if d > longestAge/unit {
		d = 0
	}
	if d *= unit; err != nil || d < time.Second {
		return 0, templates.Errorf("notify.setting.age", "value", strconv.Quote(text))
	}
	return d, nil
}

// mark distinguishes secrets without revealing them.
func mark(secret string) string { return engine.Sum([]byte(secret)).Hex()[:8] }

var filterWord = lazyregexp.New(`^!?(\*|tag:[a-z0-9][a-z0-9._:-]{0,39}|[a-z]+(/[A-Za-z0-9_-]+)?)$`)

// wants reports whether people are told about a request.
func (p plan) wants(f Facts) bool {
	wanted := !slices.ContainsFunc(p.on, func(word string) bool { return word[0] != '!' })
	for _, word := range p.on {
		word, not := strings.CutPrefix(word, "!")
		tag, isTag := strings.CutPrefix(word, "tag:")
		switch fits := isTag && slices.Contains(f.Tags, tag) || word == "*" || word == f.Family || word == f.Family+"/"+f.Type; {
		case fits && not:
			return false
		case fits:
			wanted = true
		}
	}
	return wanted
}
