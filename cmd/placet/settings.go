package main

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/afl"
	"placet/engine/faber"
	"placet/engine/optimizer"
)

// file is all that placet.toml and the user's configuration may hold. A
// family's block is unknown until the family exists.
type file struct {
	Language  string              `toml:"language"`
	Gates     map[string]gateRule `toml:"gates"`
	Commands  commands            `toml:"commands"`
	Faber     faber.Config        `toml:"faber"`
	Afl       afl.Config          `toml:"afl"`
	Optimizer optimizer.Config    `toml:"optimizer"`
}

// gateRule says what an answer must be worth; see engine.Gate.
type gateRule struct {
	Level     string   `toml:"level"`
	Approvers []string `toml:"approvers"`
}

// commands says what placet hands to the commands that it runs.
type commands struct {
	// Env names variables that commands get besides the few they always get.
	Env []string `toml:"env"`
}

// settings are the merged configuration and what its owner has agreed to.
type settings struct {
	file
	// agreed is what the trust file says.
	agreed trustFile
	// trusted holds the digests that Facts.Trusted shows to the machines.
	trusted map[engine.Digest]bool
	// waiting are settings of the workspace that do not count yet.
	waiting []setting
	// read are the configuration files that were found.
	read []string
	// workflows are the tables of [optimizer.workflows] as the files before say.
	workflows map[string]any
}

// sources are the files that the settings come from; "" means none.
type sources struct {
	workspace string // the folder that holds placet.toml
	user      string // the user's own configuration
	named     bool   // --config named it, so it must exist
	trust     string // the trust file
}

// defaults are the settings where nothing is configured.
func defaults() file {
	return file{Language: "en", Faber: faber.DefaultConfig(), Afl: afl.DefaultConfig(), Optimizer: optimizer.DefaultConfig()}
}

// load merges the settings: default < placet.toml < the user's file. A policy
// setting that an agent could have written counts only once it is trusted.
func load(from sources) (settings, error) {
	s := settings{file: defaults(), trusted: map[engine.Digest]bool{}}
	var err error
	if s.agreed, err = readTrust(from.trust); err != nil {
		return s, err
	}
	s.trusted = s.agreed.digests()
	layers, err := from.layers()
	if err != nil {
		return s, err
	}
	for _, l := range layers {
		if err := s.merge(l); err != nil {
			return s, err
		}
	}
	// Whoever agreed to the setting has agreed to the command in it.
	if argv := s.Faber.Resume.Command; len(argv) > 0 {
		s.trusted[faber.CommandDigest(argv)] = true
	}
	if digest := s.Afl.WorkerDigest(); digest != "" {
		s.trusted[digest] = true
	}
	return s, nil
}

// still are the settings with which no command begins, and none is recorded as
// begun: of what was agreed to only the settings are left.
func (s settings) still() settings {
	s.Faber.Resume.Command = nil
	s.Afl.Still = true
	s.Optimizer.Still = true
	s.trusted = map[engine.Digest]bool{}
	for _, t := range s.agreed.Trusted {
		if !strings.HasPrefix(t.Name, afl.TrustName) {
			s.trusted[t.Digest] = true
		}
	}
	for _, digest := range s.Optimizer.Commands() {
		delete(s.trusted, digest)
	}
	return s
}

// layer is one configuration file.
type layer struct {
	path string
	body []byte
	// own is true for a file outside the workspace: its owner wrote it.
	own bool
}

func (from sources) layers() ([]layer, error) {
	var layers []layer
	for _, path := range []string{filepath.Join(from.workspace, "placet.toml"), from.user} {
		if path == "" {
			continue
		}
		body, err := readSmall(path)
		if errors.Is(err, fs.ErrNotExist) && !(from.named && path == from.user) {
			continue
		}
		if err == nil {
			err = bounded(body)
		}
		if err != nil {
			return nil, usage("cannot read the configuration %q: %v", path, plain(err))
		}
		layers = append(layers, layer{path: path, body: body, own: !within(path, from.workspace)})
	}
	return layers, nil
}

// within reports whether a file lies in the workspace, or would once it
// exists, wherever links lead.
func within(path, workspace string) bool {
	for at := path; ; at = filepath.Dir(at) {
		if resolved, err := filepath.EvalSymlinks(at); err == nil {
			return inside(path, workspace) || inside(resolved, workspace)
		}
		if at == filepath.Dir(at) {
			return true
		}
	}
}

// merge lays one file over the settings. Untrusted policy is set aside.
func (s *settings) merge(l layer) error {
	tree, err := l.parse()
	if err != nil {
		return err
	}
	for _, p := range policies(tree) {
		if l.own || s.agrees(p) {
			s.permit(p)
			continue
		}
		p.path, p.line = l.path, l.lineOf(p.key)
		s.waiting = append(s.waiting, p)
		if p.command == "" {
			remove(tree, p.key)
		}
	}
	s.layWorkflows(tree)
	if err := l.lay(tree, &s.file); err != nil {
		return err
	}
	s.read = append(s.read, l.path)
	return nil
}

// agrees reports whether a setting, or the command that it names, is trusted.
func (s *settings) agrees(p setting) bool {
	return s.trusted[p.digest] || p.command != "" && s.trusted[p.command]
}

// permit has the command that a setting names run, if it names one: whoever
// agreed to the setting has agreed to the command in it.
func (s *settings) permit(p setting) {
	if p.command != "" {
		s.trusted[p.command] = true
	}
}

// layWorkflows lays a file's tables of workflows over those of the files before,
// setting by setting: the decoder would put a whole table in place of another.
func (s *settings) layWorkflows(tree map[string]any) {
	value, _ := lookup(tree, workflowsKey)
	tables, ok := value.(map[string]any)
	if !ok {
		return
	}
	for name, table := range s.workflows {
		over, _ := tables[name].(map[string]any)
		both := maps.Clone(table.(map[string]any))
		maps.Copy(both, over)
		tables[name] = both
	}
	s.workflows = tables
}

// gates are the gates as the machines read them.
func (f file) gates() map[string]engine.Gate {
	gates := map[string]engine.Gate{}
	for name, g := range f.Gates {
		if g.Level == "" {
			g.Level = "file"
		}
		gates[name] = engine.Gate{Level: g.Level, Approvers: slices.Clone(g.Approvers)}
	}
	return gates
}
