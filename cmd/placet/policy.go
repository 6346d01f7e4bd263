package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"placet/engine"
	"placet/engine/optimizer"
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
	{"optimizer", "roots"},
	{"optimizer", "audit_db"},
	{"optimizer", "hitl_timeout"},
	{"optimizer", "max_timeout_reentries"},
	{"optimizer", "workflows", anyName, "hitl_timeout"},
	{"optimizer", "workflows", anyName, "criteria_fixed"},
	{"optimizer", "workflows", anyName, "idempotent"},
	{"optimizer", "workflows", anyName, "analysis"},
	{"optimizer", "workflows", anyName, "evaluation"},
}

// anyName stands for every name in a table.
const anyName = "*"

// workflowsKey is the table that holds one table for each workflow.
var workflowsKey = []string{"optimizer", "workflows"}

// setting is a policy setting as a file of the workspace has it.
type setting struct {
	key    []string
	digest engine.Digest
	text   string // the value as canonical JSON
	path   string
	line   int
	// command is the digest under which the command that the setting is may be
	// trusted, too; "" for all that is no command. A command that waits stays in
	// the settings, where it does not run: that there is one is worth knowing.
	command engine.Digest
}

func (s setting) name() string { return toml.Key(s.key).String() }

// policies returns the policy settings that a configuration tree holds.
func policies(tree map[string]any) []setting {
	var found []setting
	for _, pattern := range policyKeys {
		for _, key := range keysOf(tree, pattern) {
			value, _ := lookup(tree, key)
			s := setting{key: key, text: canonical(value)}
			s.digest = engine.Sum([]byte(s.name() + "\n" + s.text))
			if argv := levelCommand(key, value); argv != nil {
				s.command = optimizer.CommandDigest(argv)
			}
			found = append(found, s)
		}
	}
	return found
}

// keysOf returns the keys of a tree that fit a pattern, in order.
func keysOf(tree map[string]any, pattern []string) [][]string {
	i := slices.Index(pattern, anyName)
	if i < 0 {
		if _, ok := lookup(tree, pattern); ok {
			return [][]string{pattern}
		}
		return nil
	}
	value, _ := lookup(tree, pattern[:i])
	below, _ := value.(map[string]any)
	var keys [][]string
	for _, name := range sorted(below) {
		key := slices.Clone(pattern)
		key[i] = name
		if _, ok := lookup(tree, key); ok {
			keys = append(keys, key)
		}
	}
	return keys
}

// levelCommand is the command that a setting of a workflow is, nil for every
// other setting.
func levelCommand(key []string, value any) []string {
	if name := key[len(key)-1]; len(key) != 4 || name != "analysis" && name != "evaluation" {
		return nil
	}
	var argv []string
	words, _ := value.([]any)
	for _, word := range words {
		s, ok := word.(string)
		if !ok {
			return nil
		}
		argv = append(argv, s)
	}
	return argv
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
