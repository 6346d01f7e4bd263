package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"placet/engine"
)

// policyKeys are the settings that decide what may happen without a person.
// From a file that an agent can write they count only after placet trust.
var policyKeys = [][]string{
	{"gates"},
	{"commands"},
	{"serve"},
	{"faber", "allow_destructive_auto"},
	{"faber", "destructive_steps"},
	{"faber", "require_approval_for"},
	{"faber", "autonomy"},
	{"faber", "drive"},
	{"faber", "divergence"},
	{"faber", "on_deadline"},
	{"faber", "on_exhausted"},
	{"faber", "roots"},
	{"faber", "issue"},
	{"faber", "resume"},
	{"afl", "worker_command"},
	{"afl", "shell"},
	{"afl", "validation"},
	{"afl", "review"},
	{"afl", "interrupted"},
}

// setting is a policy setting as a file of the workspace has it.
type setting struct {
	key    []string
	digest engine.Digest
	text   string // the value as canonical JSON
	path   string
	line   int
}

func (s setting) name() string { return strings.Join(s.key, ".") }

// policies returns the policy settings that a configuration tree holds.
func policies(tree map[string]any) []setting {
	var found []setting
	for _, key := range policyKeys {
		value, ok := lookup(tree, key)
		if !ok {
			continue
		}
		s := setting{key: key, text: canonical(value)}
		s.digest = engine.Sum([]byte(s.name() + "\n" + s.text))
		found = append(found, s)
	}
	return found
}

// canonical is a setting's value as JSON in one line, members sorted by name,
// so that a change of layout or order is no change.
func canonical(value any) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		// TOML's inf and nan, which no setting takes.
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
