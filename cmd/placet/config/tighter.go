package config

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"placet/cmd/placet/console"
	"placet/engine/afl"
)

// Whoever can write placet.toml can write a policy setting into it, or take one out. So
// what was agreed to last holds until somebody decides anew, and what stands in the file
// holds besides, where it is tighter: nothing is loosened by a file, nor by a decision
// that is still to come. That goes for the gates and for the settings of orders.

// order is a policy setting of which one value is tighter than another. The other
// settings have no order, or their built-in value is the tightest and holds while one of
// them waits.
type order struct {
	// key may hold anyName, for every workflow.
	key []string
	// unsaid is the value that holds where nobody says one.
	unsaid func(*Settings) any
	// tighter returns the text of what asks for all that two texts ask for.
	tighter func(a, b string) string
	// words are all values, where they are few.
	words []string
}

// orders are in this order: a workflow's timeout is the general one where nobody says it.
var orders = []order{
	{key: []string{"faber", "destructive_steps"}, unsaid: func(s *Settings) any { return s.Faber.DestructiveSteps }, tighter: everyone},
	wordOrder([]string{"afl", "review"}, afl.Reviews),
	wordOrder([]string{"afl", "validation"}, afl.Validations),
	{key: []string{"optimizer", "max_timeout_reentries"}, unsaid: func(s *Settings) any { return s.Optimizer.MaxTimeoutReentries }, tighter: fewer},
	{key: []string{"optimizer", "hitl_timeout"}, unsaid: func(s *Settings) any { return s.Optimizer.HITLTimeout }, tighter: longer},
	{key: []string{"optimizer", "workflows", anyName, "hitl_timeout"}, unsaid: func(s *Settings) any { return s.Optimizer.HITLTimeout }, tighter: longer},
}

// wordOrder is the order of a setting whose values are these words, the tightest first,
// which is built in.
func wordOrder(key, words []string) order {
	return order{key: key, words: words, unsaid: func(*Settings) any { return words[0] }, tighter: func(a, b string) string {
		if slices.Index(words, valueOf[string](a)) < slices.Index(words, valueOf[string](b)) {
			return a
		}
		return b
	}}
}

// valueOf is the value of a text that was checked when it was agreed to or read.
func valueOf[T any](text string) (value T) {
	_ = json.Unmarshal([]byte(text), &value)
	return value
}

// everyone has what either of two lists has.
func everyone(a, b string) string {
	list := valueOf[[]string](a)
	for _, one := range valueOf[[]string](b) {
		if !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	return canonical(list)
}

func fewer(a, b string) string {
	if valueOf[int](a) < valueOf[int](b) {
		return a
	}
	return b
}

// longer is the longer time for a person to answer in. What is no length of time never
// passes.
func longer(a, b string) string {
	length := func(text string) time.Duration {
		d, err := time.ParseDuration(valueOf[string](text))
		if err != nil {
			return math.MaxInt64
		}
		return d
	}
	if length(a) > length(b) {
		return a
	}
	return b
}

// said is what one configuration file says of a setting.
type said struct {
	text   string // the value as canonical JSON
	own    bool   // the file is the user's own
	counts bool   // it is, or was agreed to
}

// notSet is the text of a setting that was taken out of the file.
const notSet = "not set"

// orderOf is the order of the setting of a name, and its key.
func orderOf(name string) (o order, key []string, ok bool) {
	for _, o := range orders {
		if key := keyLike(o.key, name); key != nil {
			return o, key, true
		}
	}
	return o, nil, false
}

// keyLike is the key of a name that fits a pattern, nil where it does not.
func keyLike(pattern []string, name string) []string {
	i := slices.Index(pattern, anyName)
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
	return slices.Concat(pattern[:i], Sorted(table), pattern[i+1:])
}

// HoldsTighter reports whether of the setting of a name the tighter of two values holds
// while one of them waits for trust.
func HoldsTighter(name string) bool {
	_, _, ok := orderOf(name)
	return ok || name == GatesKey[0]
}

// TighterWaits is what people are told of such a setting.
func TighterWaits(what string) string {
	return what + " waits for trust: until somebody decides, the tighter of what was agreed to and what placet.toml says holds (placet trust)"
}

// last is the last agreement to the setting of a name, nil for none.
func (t TrustFile) last(name string) *Trusted {
	for i, one := range slices.Backward(t.Trusted) {
		if one.Name == name {
			return &t.Trusted[i]
		}
	}
	return nil
}

// sides are the texts of a setting, of which the last wins: those that hold now, of what
// was agreed to and of the files that count, and those that would hold then, of all
// files. gone says that no file of the workspace says any more what was agreed to.
func (s *Settings) sides(name string) (now, then []string, gone bool) {
	var inFile, counted bool
	for _, one := range s.said[name] {
		inFile, counted = inFile || !one.own, counted || one.counts && !one.own
	}
	if agreed := s.Agreed.last(name); agreed != nil && !counted {
		if text := agreed.value(); text != "" {
			now, gone = []string{text}, !inFile
		}
	}
	for _, one := range s.said[name] {
		then = append(then, one.text)
		if one.counts {
			now = append(now, one.text)
		}
	}
	return now, then, gone
}

// value is the text of the setting that was agreed to, "" where that is none: of a word
// in a file of others the text says the place, too.
func (t Trusted) value() string {
	o, _, _ := orderOf(t.Name)
	candidates := []string{t.Text}
	for _, word := range o.words {
		candidates = append(candidates, canonical(word))
	}
	for _, text := range candidates {
		if text != notSet && settingDigest(t.Name, text) == t.Of {
			return text
		}
	}
	return ""
}

// takeOut has it wait for trust that a file says nothing any more of what was agreed to.
func (s *Settings) takeOut(key []string, text, file string) {
	gone := Setting{key: key, Text: text, Path: file}
	gone.Digest = gone.digestOf()
	gone.Sealed = gone.Digest
	s.Waiting = append(s.Waiting, gone)
}

// mergeOrders settles which values of the settings with an order hold.
func (s *Settings) mergeOrders(file string) error {
	for _, o := range orders {
		for _, key := range s.keysLike(o.key) {
			if err := s.mergeOrder(o, key, file); err != nil {
				return err
			}
		}
	}
	return nil
}

// keysLike are the keys of what is said or agreed to that fit a pattern, in order.
func (s *Settings) keysLike(pattern []string) [][]string {
	names := map[string][]string{}
	add := func(name string) {
		if o, key, ok := orderOf(name); ok && slices.Equal(o.key, pattern) {
			names[name] = key
		}
	}
	for name := range s.said {
		add(name)
	}
	for _, one := range s.Agreed.Trusted {
		add(one.Name)
	}
	var keys [][]string
	for _, name := range Sorted(names) {
		keys = append(keys, names[name])
	}
	return keys
}

// lastOf is the last of some texts, or another where there are none.
func lastOf(texts []string, other string) string {
	if len(texts) == 0 {
		return other
	}
	return texts[len(texts)-1]
}

// mergeOrder settles which value of one setting holds.
func (s *Settings) mergeOrder(o order, key []string, file string) error {
	now, then, gone := s.sides(toml.Key(key).String())
	unsaid := canonical(o.unsaid(s))
	held := o.tighter(lastOf(now, unsaid), lastOf(then, unsaid))
	if held == unsaid && !slices.Contains(then, held) {
		return nil // nothing is said, and a file of others may say it
	}
	if gone && len(then) == 0 {
		s.takeOut(key, notSet, file)
	}
	tree := map[string]any{}
	if _, err := toml.Decode(toml.Key(key).String()+" = "+held, &tree); err != nil {
		return console.Usage("cannot use %q: %v", file, err)
	}
	s.layWorkflows(tree)
	return Layer{Path: file}.lay(tree, &s.File)
}
