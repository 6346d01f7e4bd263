// Package family describes the families that placet serves, one file each: where their runs are, which
// machine moves them, their settings, and the verbs by which a person controls a run. Nothing else in
// the program knows them by name.
package family

import (
	"time"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/afl"
	"placet/engine/ask"
	"placet/engine/faber"
	"placet/engine/nemawashi"
	"placet/engine/optimizer"
	"placet/engine/pal"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// All lists the families, in the order in which they are shown.
var All = []Family{faberFamily, aflFamily, optimizerFamily, nemawashiFamily, palFamily, askFamily}

// Settings are the tables of placet.toml that belong to the families.
type Settings struct {
	Faber     faber.Config     `toml:"faber"`
	Afl       afl.Config       `toml:"afl"`
	Optimizer optimizer.Config `toml:"optimizer"`
	Nemawashi nemawashi.Config `toml:"nemawashi"`
	Pal       pal.Config       `toml:"pal"`
	Ask       ask.Config       `toml:"ask"`
}

// Defaults returns the settings that apply if nothing is configured.
func Defaults() Settings {
	return Settings{Faber: faber.DefaultConfig(), Afl: afl.DefaultConfig(), Optimizer: optimizer.DefaultConfig(), Nemawashi: nemawashi.DefaultConfig(), Pal: pal.DefaultConfig(), Ask: ask.DefaultConfig()}
}

// Family describes one family. A nil function means that the family does not have that feature.
type Family struct {
	Name string
	Noun templates.Message // what a run is called: "FABER run"
	// Alias returns a second name of a run; nil for a family without any.
	Alias func(id string) string
	// Phases says that the states of its runs are phases and steps, "build:test".
	Phases bool

	Machine func() engine.Machine
	Enabled func(*Settings) bool
	Layout  func(*Settings) layout.Family
	// Config returns the configuration for the machine, and the language of the family's own settings,
	// "" for none.
	Config func(*Settings) (config any, language string)
	// Check returns the first setting that cannot be used although the schema allows it, with its key
	// below the table.
	Check func(*Settings) (key []string, err error)
	// Policy lists the settings, below the table, that count only after placet trust. AnyName stands
	// for every name.
	Policy [][]string
	Orders []Order
	// Waits stores in the settings what the policy settings that wait for trust say, by their names
	// below the table. Environ stores what the process's environment says.
	Waits   func(s *Settings, waiting map[string]string)
	Environ func(s *Settings, getenv func(name string) string)
	// ReadOnly takes the commands out of the settings.
	ReadOnly func(*Settings)
	// TryNow makes the machine try at once what waits for a time.
	TryNow func(*Settings, time.Time)

	// Command returns the command that a policy setting holds; it is empty for a setting that holds
	// none.
	Command func(key []string, value any) Command
	// Standing returns the digest and the words of the command that the settings form together.
	// StandingKey is the key of the setting that names it; StandingWith returns the digest with another
	// word there.
	Standing     func(*Settings) (engine.Digest, []string)
	StandingKey  []string
	StandingWith func(s Settings, word string) engine.Digest
	// CommandDigest returns the digest under which trust in an action's command is recorded. ok is
	// false if the command is not the one that was recorded with the attempt.
	CommandDigest func(engine.Action) (digest engine.Digest, ok bool)
	// MayChange reports whether the settings let a person agree to later changes of a file that a
	// command of a run names.
	MayChange func(*Settings) bool
	// NamesCommands says that documents of its runs name commands, which run in the workspace or in a
	// folder below WorkTrees.
	NamesCommands bool
	// Requires reports whether a person may have to do something in its runs besides answering, if
	// NamesCommands does not say so.
	Requires  func(*Settings) bool
	WorkTrees string

	Controls []Control
	// Session returns whose progress a volatile document holds: the worker's session, and the port that
	// it works on. It is nil for a family without workers. ProgressHz returns how many times a second
	// progress is sent at most, 1 or 2; nil means 2.
	Session    func(run layout.Run, path string) (session, port string)
	ProgressHz func(*Settings) int
	// Events returns the events of a commit for the stream, besides its transitions and requests. read
	// reads a document of the run, by its path relative to the run's folder.
	Events func(run layout.Run, plan engine.Plan, read func(rel string) engine.Document) []Event
	// Plan draws a run among its peers, from what they publish about themselves.
	Plan func(peers map[string][]byte, id string) []engine.Node
}

// Event is one of a family's own events on the stream.
type Event struct {
	// Name is the name that clients filter by, Alias a second one, "" for none.
	Name, Alias string
	// ID is the end of the event's id, after the run's; "" for an event that is numbered with its
	// commit.
	ID string
	// Session is the session that the event is about, "" for none.
	Session string
	Data    any
}

// AnyName stands for every name in a table.
const AnyName = "*"

// Command is the command in a policy setting.
type Command struct {
	Argv []string
	// Digest is a second digest under which the command may be trusted, "" if other settings are part
	// of the command.
	Digest engine.Digest
	// Stays says that the machine sees the setting while it waits for trust.
	Stays bool
}

// Order is a policy setting whose values can be compared by how tight they are.
type Order struct {
	Key []string // below the family's table
	// Unsaid returns the value that applies if nobody sets one.
	Unsaid  func(*Settings) any
	Tighter Tighter
	// Words are all values of a Words order, the tightest first. The tightest is the built-in value.
	Words []string
}

// Tighter is the rule by which one of two values is tighter.
type Tighter int

// These are the rules: the first in a list of words; all words of both lists; the words that both
// lists have; the smaller number; the longer or the shorter time.
const (
	FirstWord Tighter = iota
	AllOfBoth
	InBoth
	Fewer
	Longer
	Shorter
)

// Reason says whether a control needs a reason.
type Reason int

// A reason is optional, is asked for on a terminal, or is required.
const (
	Optional Reason = iota
	AskedFor
	Needed
)

// Control is a verb by which a person controls a run: it writes a document into the run's folder, and
// the next pass carries it out.
type Control struct {
	Use  string
	File string // relative to the run's folder
	// Replaces says that the document replaces an earlier one.
	Replaces bool
	Reason   Reason
	Named    bool // the verb has --as
	// Refuse returns the reason why a run cannot do this, nil if it can.
	Refuse   func(verb string, t Target) error
	Document func(t Target, by, reason string) schemas.Object
	// Said returns what happened to the run, Remark a further sentence.
	Said, Remark func(t Target, by, reason string) string
}

// Target is the run that a control is for.
type Target struct {
	engine.RunView
	Run  layout.Run
	Name string // as lists show it
	Lang string // of the caller
	// Read reads a document of the run, once it has settled.
	Read func(name string) engine.Document
}

// sentence returns a sentence about the run.
func (t Target) sentence(key string, pairs ...any) string {
	return templates.Phrase(t.Lang, key, append([]any{"run", t.Name}, pairs...)...)
}

// said returns the sentence that names who asked for something, and why.
func (t Target) said(key, by, reason string) string {
	return t.sentence(key, "who", console.OneLine(by)) + console.Suffix(": ", console.Cut(console.OneLine(reason), 160))
}

// Named returns the family of a name; ok is false if there is none.
func Named(name string) (f Family, ok bool) {
	for _, f := range All {
		if f.Name == name {
			return f, true
		}
	}
	return Family{}, false
}

// Names returns the names of all families.
func Names() (names []string) {
	for _, f := range All {
		names = append(names, f.Name)
	}
	return names
}

// words returns the words of a list of texts, nil for any other value.
func words(value any) []string {
	var argv []string
	list, _ := value.([]any)
	for _, w := range list {
		word, ok := w.(string)
		if !ok {
			return nil
		}
		argv = append(argv, word)
	}
	return argv
}

// wishControl returns a verb that writes control.json with what a person wants of a run, which the
// usage calls noun.
func wishControl(verb, want, noun string, needs Reason) Control {
	return Control{
		Use:  verb + " " + noun + " [-m REASON]",
		File: "control.json", Replaces: true, Reason: needs, Named: true,
		Refuse: func(verb string, t Target) error {
			switch {
			case t.Absent:
				return console.Refused("family.nothing", "verb", verb, "run", t.Name, "folder", t.Run.Dir)
			case t.Final:
				return isFinal(verb, t)
			}
			return nil
		},
		Document: func(_ Target, by, reason string) schemas.Object {
			o := schemas.Object{{Name: "want", Value: want}, {Name: "by", Value: by}}
			if reason != "" {
				o = append(o, schemas.Member{Name: "reason", Value: reason})
			}
			return o
		},
		Said: func(t Target, by, reason string) string { return t.said("family.said."+want, by, reason) },
	}
}
