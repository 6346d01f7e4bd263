package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"placet/cmd/placet/family"
	"placet/engine"
)

// generalPolicy lists the settings outside the families that decide what may happen without
// a person.
var generalPolicy = [][]string{{"gates"}, {"commands"}, {"serve"}, {"slack"}, {"hook", "wait"}, {"hook", "permission"}, {"hook", "first"}, {"hook", "stop"}, hookRules}

// policyKeys returns all settings that decide what may happen without a person. In a
// file that an agent can write they count only after placet trust.
func policyKeys() [][]string {
	keys := slices.Clone(generalPolicy)
	for _, f := range family.All {
		for _, key := range f.Policy {
			keys = append(keys, append([]string{f.Name}, key...))
		}
	}
	return keys
}

// Setting is a policy setting in a file of the workspace.
type Setting struct {
	key    []string
	Digest engine.Digest
	Text   string // the value as canonical JSON
	Path   string
	Line   int
	own    bool // the user's own configuration says so
	// argv are the words of the setting's command, nil if it is no command. The
	// agreement covers the files that they name.
	argv  []string
	Files map[string]string
	// Sealed is the digest of everything that was shown.
	Sealed engine.Digest
	// command is the digest under which the command may be trusted too; "" if other
	// settings are part of it.
	command engine.Digest
	// stays is true for a command of a workflow. While it waits for trust it stays in
	// the settings but does not run, because machines need to know that it exists.
	stays bool
}

// basis returns the digest that the trust file must agree to for the setting to count;
// "" for none.
func (s Setting) basis() engine.Digest {
	if s.own && len(s.Files) == 0 {
		return ""
	}
	return s.Digest
}

// digestOf returns the digest of the setting alone.
func (s Setting) digestOf() engine.Digest { return settingDigest(s.Name(), s.Text) }

// CommandDigest returns the digest by which machines know the command of the setting, "" if it has
// none.
func (s Setting) CommandDigest() engine.Digest { return s.command }

func settingDigest(name, text string) engine.Digest { return engine.Sum([]byte(name + "\n" + text)) }

func (s Setting) Name() string { return toml.Key(s.key).String() }

// Table returns the table of placet.toml that contains the setting.
func (s Setting) Table() string { return s.key[0] }

// policies returns the policy settings in a configuration tree.
func policies(tree map[string]any) []Setting {
	var found []Setting
	for _, pattern := range policyKeys() {
		for _, key := range keysOf(tree, pattern) {
			value, _ := lookup(tree, key)
			s := Setting{key: key, Text: canonical(value)}
			s.Digest = s.digestOf()
			s.Sealed = s.Digest
			s.isCommand(value)
			found = append(found, s)
		}
	}
	return found
}

// keysOf returns the keys of a tree that match a pattern, in order.
func keysOf(tree map[string]any, pattern []string) [][]string {
	i := slices.Index(pattern, family.AnyName)
	if i < 0 {
		if _, ok := lookup(tree, pattern); ok {
			return [][]string{pattern}
		}
		return nil
	}
	value, _ := lookup(tree, pattern[:i])
	below, _ := value.(map[string]any)
	var keys [][]string
	for _, name := range slices.Sorted(maps.Keys(below)) {
		key := slices.Clone(pattern)
		key[i] = name
		if _, ok := lookup(tree, key); ok {
			keys = append(keys, key)
		}
	}
	return keys
}

// isCommand notes the command of a setting, if it is one.
func (s *Setting) isCommand(value any) {
	if f, ok := family.Named(s.key[0]); ok && f.Command != nil && len(s.key) > 1 {
		c := f.Command(s.key[1:], value)
		s.argv, s.command, s.stays = c.Argv, c.Digest, c.Stays
	}
}

// canonical returns a setting's value as JSON in one line, with members sorted by name,
// so that a change of layout or order is no change.
func canonical(value any) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		// The value is TOML's inf or nan, which no setting accepts.
		return fmt.Sprintf("%#v", value)
	}
	return strings.TrimSuffix(buf.String(), "\n")
}

func lookup(tree map[string]any, key []string) (any, bool) {
	for _, name := range key[:len(key)-1] {
		sub, ok := tree[name].(map[string]any)
		if !ok {
			return nil, false
		}
		tree = sub
	}
	value, ok := tree[key[len(key)-1]]
	return value, ok
}

func remove(tree map[string]any, key []string) {
	for _, name := range key[:len(key)-1] {
		sub, ok := tree[name].(map[string]any)
		if !ok {
			return
		}
		tree = sub
	}
	delete(tree, key[len(key)-1])
}
