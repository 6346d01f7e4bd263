// Package family describes the families that placet serves, one file each: where their
// runs are, which machine moves them, their settings, and the verbs by which a person
// asks something of a run. Nothing else in the program knows them by name.
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

// All are the families, in the order in which they are listed.
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

// Defaults are the settings where nothing is configured.
func Defaults() Settings {
	return Settings{Faber: faber.DefaultConfig(), Afl: afl.DefaultConfig(), Optimizer: optimizer.DefaultConfig(), Nemawashi: nemawashi.DefaultConfig(), Pal: pal.DefaultConfig(), Ask: ask.DefaultConfig()}
}

// Family describes one family. Functions may be nil where a family has no such thing.
type Family struct {
	Name string
	Noun templates.Message // what a run is called: "FABER run"
	// Alias is a further name of a run. nil: there is none.
	Alias func(id string) string
	// Phases says that the places of its runs are phases and steps, "build:test".
	Phases bool

	Machine func() engine.Machine
	Enabled func(*Settings) bool
	Layout  func(*Settings) layout.Family
	// Config is what the machine is handed, and the language of its own, "" for none.
	Config func(*Settings) (config any, language string)
	// Check reports the first setting that cannot be used although the schema of settings takes it, and
	// its key below the table.
	Check func(*Settings) (key []string, err error)
	// Policy are the settings that count only after placet trust, below the table. AnyName
	// stands for every name.
	Policy [][]string
	Orders []Order
	// Waits takes what the policy settings say that wait for trust, by their names below the
	// table, and Environ what the process's environment says.
	Waits   func(s *Settings, waiting map[string]string)
	Environ func(s *Settings, getenv func(name string) string)
	// ReadOnly takes the commands out of the settings.
	ReadOnly func(*Settings)
	// TryNow has what waits for a time tried at once.
	TryNow func(*Settings, time.Time)

	// Command says which command a policy setting is; all of it is empty of one that is none.
	Command func(key []string, value any) Command
	// Standing is the command that the settings make together, with key the one that
	// names it; StandingWith is its digest with another word there.
	Standing     func(*Settings) (engine.Digest, []string)
	StandingKey  []string
	StandingWith func(s Settings, word string) engine.Digest
	// CommandDigest is what trust in an action's command is recorded under. ok is false
	// where the command is not the one that the attempt was recorded with.
	CommandDigest func(engine.Action) (digest engine.Digest, ok bool)
	// NamesCommands says that documents of its runs name commands, which run in the
	// workspace or in a folder below WorkTrees.
	NamesCommands bool
	WorkTrees     string

	Controls []Control
	// Session says whose progress a volatile document holds: the worker's session, and the
	// port that it works on. ProgressHz is how many times a second that is told at most,
	// 1 or 2. nil: a family without workers, and 2.
	Session    func(run layout.Run, path string) (session, port string)
	ProgressHz func(*Settings) int
	// Events are what the stream says of a commit besides its transitions and requests. read
	// reads a document of the run, by its path relative to the run's folder.
	Events func(run layout.Run, plan engine.Plan, read func(rel string) engine.Document) []Event
	// Plan draws a run among its peers, from what these say of themselves.
	Plan func(peers map[string][]byte, id string) []engine.Node
}

// Event is one of a family's own events on the stream.
type Event struct {
	// Name is what clients filter by, Alias another name of it, "" for none.
	Name, Alias string
	// ID ends the event's id after the run's, "" where it is numbered with its commit.
	ID string
	// Session is the session that it is about, "" for none.
	Session string
	Data    any
}

// AnyName stands for every name in a table.
const AnyName = "*"

// Command is what a policy setting says of a command.
type Command struct {
	Argv []string
	// Digest is that under which the command may be trusted too, "" where other
	// settings are part of it.
	Digest engine.Digest
	// Stays says that the setting is known while it waits for trust.
	Stays bool
}

// Order is a policy setting of which one value is tighter than another.
type Order struct {
	Key []string // below the family's table
	// Unsaid is the value that holds where nobody says one.
	Unsaid  func(*Settings) any
	Tighter Tighter
	// Words are all values of a Words order, the tightest first, which is built in.
	Words []string
}

// Tighter says which of two values is tighter.
type Tighter int

// The kinds of orders: the first of a list of words; all that two lists hold; the smaller
// number; the longer or the shorter time.
const (
	FirstWord Tighter = iota
	AllOfBoth
	Fewer
	Longer
	Shorter
)

// Reason says whether a control needs a reason.
type Reason int

// A reason may be left out, is asked for on a terminal, or must be given.
const (
	Optional Reason = iota
	AskedFor
	Needed
)

// Control is a verb by which a person asks something of a run: it writes a document into
// the run's folder, which the next pass carries out.
type Control struct {
	Use  string
	File string // relative to the run's folder
	// Replaces says that the document takes the place of the one before.
	Replaces bool
	Reason   Reason
	Named    bool // there is --as
	// Refuse says why a run cannot be told so, nil where it can.
	Refuse   func(verb string, t Target) error
	Document func(t Target, by, reason string) schemas.Object
	// Said is what became of the run, Remark what else is to be said.
	Said, Remark func(t Target, by, reason string) string
}

// Target is the run that a control is for.
type Target struct {
	engine.RunView
	Run  layout.Run
	Name string // as lists show it
	Lang string // of who asks
	// Read reads a document of the run that has stood still.
	Read func(name string) engine.Document
}

// sentence words a sentence about the run.
func (t Target) sentence(key string, pairs ...any) string {
	return templates.Phrase(t.Lang, key, append([]any{"run", t.Name}, pairs...)...)
}

// said says what somebody asked for, and why.
func (t Target) said(key, by, reason string) string {
	return t.sentence(key, "who", console.OneLine(by)) + console.Suffix(": ", console.Cut(console.OneLine(reason), 160))
}

// Named is the family of a name; ok is false where there is none.
func Named(name string) (f Family, ok bool) {
	for _, f := range All {
		if f.Name == name {
			return f, true
		}
	}
	return Family{}, false
}

// Names are the names of all families.
func Names() (names []string) {
	for _, f := range All {
		names = append(names, f.Name)
	}
	return names
}

// words are the words of a list of texts, nil for all else.
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

// wishControl is a verb that writes control.json: what a person wants of a run, called noun
// in the usage.
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
