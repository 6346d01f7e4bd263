package config

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"placet/cmd/placet/console"
	"placet/cmd/placet/family"
	"placet/engine"
	"placet/engine/gate"
	"placet/templates"
)

// Anybody who can write placet.toml can add a policy setting to it, or remove one. The
// last agreement therefore holds until somebody decides again, and the value in the file
// holds besides, if it is tighter: neither a file nor a decision still to come loosens
// anything. That applies to the gates and to the settings with an order.

// order is a policy setting, by its whole key, of which one value is tighter than another.
// The other settings have no order, or their built-in value is the tightest and holds while
// one of them waits.
type order struct {
	family.Order
	key []string
	// agreed says that the value in a file counts only after placet trust, even if it is
	// tighter.
	agreed bool
}

// hookOrders are those of [hook]. Only its owner may say how long placet waits for a
// person: a file of others could otherwise make every call be denied at once.
var hookOrders = []order{
	{family.Order{Unsaid: func(*family.Settings) any { return defaultHook().Wait }, Tighter: family.Shorter}, []string{"hook", "wait"}, true},
	{family.Order{Unsaid: func(*family.Settings) any { return HookPass }, Words: []string{HookAsk, HookPass}}, []string{"hook", "permission"}, true},
	{family.Order{Unsaid: func(*family.Settings) any { return FirstPlacet }, Words: []string{FirstPlacet, FirstAny}}, []string{"hook", "first"}, false},
}

// orders returns those of all families and of [hook].
func orders() []order {
	all := slices.Clone(hookOrders)
	for _, f := range family.All {
		for _, o := range f.Orders {
			all = append(all, order{Order: o, key: append([]string{f.Name}, o.Key...)})
		}
	}
	return all
}

// tighter returns a text that is at least as strict as both texts.
func (o order) tighter(a, b string) string {
	switch o.Tighter {
	case family.AllOfBoth:
		return allOfBoth(a, b)
	case family.InBoth:
		return inBoth(a, b)
	case family.Fewer:
		return choose(valueOf[int](a) < valueOf[int](b), a, b)
	case family.Shorter:
		return choose(lengthOf(a) < lengthOf(b), a, b)
	case family.Longer:
		return choose(lengthOf(a) > lengthOf(b), a, b)
	}
	return choose(slices.Index(o.Words, valueOf[string](a)) < slices.Index(o.Words, valueOf[string](b)), a, b)
}

// choose returns the first of two texts if the condition holds, else the second.
func choose(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// valueOf returns the value of a text that was checked when it was agreed to or read.
func valueOf[T any](text string) (value T) {
	_ = json.Unmarshal([]byte(text), &value)
	return value
}

// allOfBoth returns the elements of both lists.
func allOfBoth(a, b string) string {
	list := valueOf[[]string](a)
	for _, one := range valueOf[[]string](b) {
		if !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	return canonical(list)
}

// inBoth returns the elements that both lists have.
func inBoth(a, b string) string {
	other := valueOf[[]string](b)
	return canonical(slices.DeleteFunc(valueOf[[]string](a), func(one string) bool { return !slices.Contains(other, one) }))
}

// lengthOf returns the duration in a text. A text that is no duration counts as endless.
func lengthOf(text string) time.Duration {
	d, err := time.ParseDuration(valueOf[string](text))
	if err != nil {
		return math.MaxInt64
	}
	return d
}

// statement is the value in one configuration file for a setting.
type statement struct {
	text   string // the value as canonical JSON
	own    bool   // the file is the user's own configuration
	counts bool   // it is, or its value was agreed to
}

// notSet is the text for a setting that was removed from the file.
const notSet = "not set"

// orderOf returns the order of the setting of a name, and its key.
func orderOf(name string) (o order, key []string, ok bool) {
	for _, o := range orders() {
		if key := keyLike(o.key, name); key != nil {
			return o, key, true
		}
	}
	return o, nil, false
}

// keyLike returns the key of a name that matches a pattern, nil if it does not match.
func keyLike(pattern []string, name string) []string {
	i := slices.Index(pattern, family.AnyName)
	if i < 0 {
		if name == toml.Key(pattern).String() {
			return pattern
		}
		return nil
	}
	rest, before := strings.CutPrefix(name, toml.Key(pattern[:i]).String()+".")
	rest, after := strings.CutSuffix(rest, "."+toml.Key(pattern[i+1:]).String())
	table := map[string]any{}
	if _, err := toml.Decode(rest+" = 0", &table); err != nil || !before || !after || len(table) != 1 {
		return nil
	}
	return slices.Concat(pattern[:i], slices.Sorted(maps.Keys(table)), pattern[i+1:])
}

// HoldsTighter reports whether, for the setting of a name, the tighter of two values holds
// while one of them waits for trust.
func HoldsTighter(name string) bool {
	o, _, ok := orderOf(name)
	return ok && !o.agreed || name == GatesKey[0] || name == rulesName
}

// TighterWaits returns the message for people about such a setting.
func TighterWaits(what string) templates.Message {
	return templates.NewMessage("config.tighter", "what", what)
}

// last returns the last agreement to the setting of a name, nil for none.
func (t TrustFile) last(name string) *Trusted {
	for i, one := range slices.Backward(t.Trusted) {
		if one.Name == name {
			return &t.Trusted[i]
		}
	}
	return nil
}

// sides are the values of a setting from all places; in each list the last counts.
type sides struct {
	agreed string     // agreed to in the workspace and in no file that counts, "" for none
	now    []string   // the values that hold now: agreed, and those in the files that count
	then   []string   // the values that would hold then, of all files
	held   [][]string // each value agreed to for the path, with the user's own
	above  [][]string // each value agreed to for folders above, with the user's own
	// gone says that the agreement is to a value that no file of the workspace contains
	// any more.
	gone bool
}

func (s *Settings) sides(name string) (x sides) {
	var inFile, counted bool
	var own []string
	for _, one := range s.statements[name] {
		inFile, counted = inFile || !one.own, counted || one.counts && !one.own
		if one.own {
			own = append(own, one.text)
		}
	}
	if agreed := s.Agreed.last(name); agreed != nil && !counted {
		if x.agreed = agreed.value(); x.agreed != "" {
			x.now = []string{x.agreed}
		}
	}
	for _, one := range s.held {
		if one.Name == name {
			x.held = append(x.held, append([]string{one.value()}, own...))
		}
	}
	for _, one := range s.above {
		if one.Name == name {
			x.above = append(x.above, append([]string{one.value()}, own...))
		}
	}
	x.gone = !inFile && (x.agreed != "" || len(x.held) > 0)
	for _, one := range s.statements[name] {
		x.then = append(x.then, one.text)
		if one.counts {
			x.now = append(x.now, one.text)
		}
	}
	return x
}

// value returns the text of the setting that was agreed to, or "" if it was removed. The
// text in the trust file may also name the place of a word in a file of others.
func (t Trusted) value() string {
	o, _, _ := orderOf(t.Name)
	candidates := []string{t.Text}
	for _, word := range o.Words {
		candidates = append(candidates, canonical(word))
	}
	for _, text := range candidates {
		if text != notSet && settingDigest(t.Name, text) == t.Of {
			return text
		}
	}
	return ""
}

// takeOut makes the removal of an agreed setting from a file wait for trust.
func (s *Settings) takeOut(key []string, text, file string) {
	gone := Setting{key: key, Text: text, Path: file}
	gone.Digest = gone.digestOf()
	gone.Sealed = gone.Digest
	s.Waiting = append(s.Waiting, gone)
}

// mergeOrders decides which values of the settings with an order hold. It sorts the names,
// so that a general setting comes before those that depend on it.
func (s *Settings) mergeOrders(file string) error {
	names := slices.Collect(maps.Keys(s.statements))
	for _, one := range slices.Concat(s.Agreed.Trusted, s.held) {
		names = append(names, one.Name)
	}
	for _, one := range s.above {
		names = append(names, one.Name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		o, key, ok := orderOf(name)
		if !ok {
			continue
		}
		if err := s.mergeOrder(o, key, file); err != nil {
			return err
		}
	}
	return nil
}

// lastOf returns the last of some texts, or other if there are none.
func lastOf(texts []string, other string) string {
	if len(texts) == 0 {
		return other
	}
	return texts[len(texts)-1]
}

// mergeOrder decides which value of one setting holds.
func (s *Settings) mergeOrder(o order, key []string, file string) error {
	name := toml.Key(key).String()
	x := s.sides(name)
	then := x.then
	if o.agreed {
		then = x.now
	}
	unsaid := canonical(o.Unsaid(&s.File.Settings))
	held := o.tighter(lastOf(x.now, unsaid), lastOf(then, unsaid))
	for _, texts := range x.held {
		if len(texts) == 1 && o.tighter(unsaid, texts[0]) != unsaid { // the user's own configuration has no value
			held = o.tighter(held, texts[0])
			s.holds(name)
		}
	}
	for _, texts := range x.above {
		if len(texts) == 1 {
			held = o.tighter(held, texts[0])
		}
	}
	if held == unsaid && !slices.Contains(then, held) {
		return nil // nothing is set, and a file of others may set it
	}
	if x.gone && len(x.then) == 0 {
		s.takeOut(key, notSet, file)
	}
	tree := map[string]any{}
	if _, err := toml.Decode(toml.Key(key).String()+" = "+held, &tree); err != nil {
		return console.Usage("config.unusable", "file", strconv.Quote(file), "error", err)
	}
	return s.apply(Layer{Path: file}, tree)
}

// GatesKey is the table of gates.
var GatesKey = []string{"gates"}

// GatesWait is the message for people about gates that wait for trust.
var GatesWait = TighterWaits("[gates]")

// noGates is the value of an empty table of gates.
const noGates = "{}"

// mergeGates decides which gates hold. Removing them from placet.toml is a change like any
// other, and waits for trust.
func (s *Settings) mergeGates(file string) {
	x := s.sides(GatesKey[0])
	if x.gone && (len(x.held) > 0 || x.agreed != noGates) {
		s.takeOut(GatesKey, noGates, file)
	}
	tables := []map[string]GateRule{rulesOf(x.now), rulesOf(x.then)}
	for _, texts := range x.held {
		tables = append(tables, rulesOf(texts))
		s.holds(GatesKey[0])
	}
	var above []map[string]GateRule
	for _, texts := range x.above {
		above = append(above, rulesOf(texts))
	}
	s.tighten(tables, above)
	s.tellGroups()
}

// tellGroups warns about the groups to which people could agree in an earlier version.
func (s *Settings) tellGroups() {
	for _, name := range slices.Sorted(maps.Keys(s.Gates)) {
		if groups := slices.DeleteFunc(slices.Clone(s.Gates[name].Approvers), func(who string) bool { return !gate.IsGroup(who) }); len(groups) > 0 {
			s.Warnings = append(s.Warnings, Warning{
				Text:    templates.NewMessage("config.gate.group.agreed", "gate", strconv.Quote(name), "names", console.OneLine(strings.Join(groups, ", "))),
				Try:     templates.NewMessage("config.gate.group.agreed.try"),
				Subject: "trust",
			})
		}
	}
}

// rulesOf returns the gates of several tables, a later table replacing an earlier one.
func rulesOf(texts []string) map[string]GateRule {
	rules := map[string]GateRule{}
	for _, text := range texts {
		maps.Copy(rules, valueOf[map[string]GateRule](text))
	}
	return rules
}

// tighten sets the gates to rules that are as strict as all tables, and as those above,
// which do not make a gate wait.
func (s *Settings) tighten(tables, above []map[string]GateRule) {
	s.Gates, s.gatesWait = nil, map[string]bool{}
	for _, names := range slices.Concat(tables, above) {
		for name := range names {
			if s.Gates == nil {
				s.Gates = map[string]GateRule{}
			}
			rule, waits := strictest(tables, name)
			for _, table := range above {
				rule = rule.and(ruleFor(table, name))
			}
			s.Gates[name], s.gatesWait[name] = rule, waits
		}
	}
}

// strictest returns a rule for a name that is as strict as the rules of all tables. waits
// says that the tables differ.
func strictest(tables []map[string]GateRule, name string) (rule GateRule, waits bool) {
	rule = ruleFor(tables[0], name)
	for _, table := range tables[1:] {
		other := ruleFor(table, name)
		waits = waits || !ruleFor(tables[0], name).equals(other)
		rule = rule.and(other)
	}
	return rule, waits
}

// and returns a rule that is as strict as two.
func (g GateRule) and(other GateRule) GateRule {
	g.Approvers = gate.Narrow(g.Approvers, other.Approvers)
	if linkRank(other.Links) < linkRank(g.Links) {
		g.Links = other.Links
	}
	return g
}

// equals reports whether two rules ask the same of an answer.
func (g GateRule) equals(other GateRule) bool {
	return slices.Equal(g.Approvers, other.Approvers) && linkRank(g.Links) == linkRank(other.Links)
}

// linkRank returns how much a rule leaves to presses of buttons: nothing, what can be undone, all.
func linkRank(links *bool) int {
	switch {
	case links == nil:
		return 1
	case *links:
		return 2
	}
	return 0
}

// ruleFor returns the rule of a table for a name: its own, otherwise its family's,
// otherwise the general one.
func ruleFor(rules map[string]GateRule, name string) GateRule {
	family, _, _ := strings.Cut(name, "/")
	for _, of := range []string{name, family, "*"} {
		if rule, ok := rules[of]; ok {
			return rule
		}
	}
	return GateRule{}
}

// MachineGates returns the gates in the form for the machines.
func (s Settings) MachineGates() map[string]engine.Gate {
	gates := map[string]engine.Gate{}
	for name, g := range s.Gates {
		if g.Level == "" {
			g.Level = "file"
		}
		gates[name] = engine.Gate{Level: g.Level, Approvers: slices.Clone(g.Approvers), Links: g.Links, Waits: s.gatesWait[name]}
	}
	return gates
}

// DecideGates notes that somebody decided which gates hold. It rounds the time up, so that
// an answer from before never looks like one from after.
func (t *TrustFile) DecideGates(now time.Time) {
	t.GatesDecided = now.UTC().Add(time.Millisecond).Format("2006-01-02T15:04:05.000Z")
}

// GatesSince returns when somebody last decided which gates hold, the zero time for never.
func (t TrustFile) GatesSince() time.Time {
	at, _ := time.Parse(time.RFC3339, t.GatesDecided)
	return at
}
