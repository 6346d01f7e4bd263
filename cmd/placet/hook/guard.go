package hook

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// The guard denies what would answer in a person's place, whatever the rules say.

// answering are the verbs by which a person answers.
var answering = []string{"approve", "reject", "respond", "steer", "trust", "sign", "delegate"}

// longestCommand is the largest command that is looked at, in bytes.
const longestCommand = 1 << 20

// guarded says why a call is denied, "" where it is not.
func guarded(in Input, s Subject, p Places) string {
	if command, ok := in.ShellCommand(); ok && len(command) > longestCommand {
		return "the command is larger than 1 MiB: write it into a file, and run that."
	} else if ok {
		if in.Tool == "PowerShell" {
			command = strings.ReplaceAll(command, `\`, "/")
		}
		if why := p.guardShell(command); why != "" {
			return why
		}
	}
	if in.isShell() || reads.MatchString(in.Tool) && !writes.MatchString(in.Tool) {
		return ""
	}
	for _, file := range slices.Concat(in.named(), in.otherFiles(in.fields)) {
		if why := p.protected(p.Cwd, file); why != "" {
			return why
		}
	}
	return ""
}

// reads fits the names of tools that look at files, unless writes fits them, too.
var (
	reads  = regexp.MustCompile(`(?i)(^|_)(read|get|list|view|search|grep|glob|find|ls|stat|tree|info)`)
	writes = regexp.MustCompile(`(?i)write|edit|replace|create|move|rename|delete|update|patch|append|insert|save`)
)

// keysOfFiles fits the names of members that hold a path.
var keysOfFiles = regexp.MustCompile(`(?i)path|file|dest|target|source|uri`)

// otherFiles are the files that the members of an input name, at any depth.
func (in Input) otherFiles(value any) (files []string) {
	switch v := value.(type) {
	case map[string]any:
		for key, below := range v {
			if text, ok := below.(string); ok && keysOfFiles.MatchString(key) {
				files = append(files, strings.TrimPrefix(text, "file://"))
			} else if !ok {
				files = append(files, in.otherFiles(below)...)
			}
		}
	case []any:
		for _, below := range v {
			if text, ok := below.(string); ok {
				files = append(files, text) // of a list of paths
			} else {
				files = append(files, in.otherFiles(below)...)
			}
		}
	}
	slices.Sort(files)
	return files
}

// answers are the names in the folder of a request that answer it, or say what became of it.
var answers = []string{"response.json", "receipt.json", "form*.md", "answer.*"}

// settings are the files of clients that hold a hook, or can turn hooks off, by their folder.
var settings = map[string][]string{
	".claude": {"settings.json", "settings.local.json"}, ".codex": {"hooks.json", "config.toml"}, ".gemini": {"settings.json"}, ".cursor": {"hooks.json"},
}

// protected says why a file must not be written, "" where it may.
func (p Places) protected(from, name string) string {
	spelled := filepath.Clean(name)
	if !filepath.IsAbs(spelled) {
		spelled = filepath.Join(from, spelled)
	}
	for _, file := range []string{spelled, p.resolve(from, name)} {
		file = strings.ToLower(filepath.ToSlash(file)) // some disks do not tell letters apart
		parts := strings.Split(file, "/")
		base, dir, above := parts[len(parts)-1], at(parts, 2), at(parts, 3)
		switch {
		case above == "requests" && (isAnyOf(answers, base) || strings.ContainsAny(base, "*?[") && couldBeAnswer(base)):
			return fmt.Sprintf("%s: a person alone answers placet's requests. Do not write there; go on with other work, or wait.", name)
		case base == "placet.toml" || base == "placet.signers" || slices.Contains(parts, ".placet") || slices.Contains(parts, "placet.policy") || strings.Contains(file, "/placet/workspaces/"):
			return fmt.Sprintf("%s: what placet may do without a person is decided by a person. Ask for the change you need.", name)
		case slices.Contains(settings[dir], base):
			return fmt.Sprintf("%s: it holds the hook that asks a person. Ask for the change you need.", name)
		}
	}
	return ""
}

// at is the n-th last of some parts.
func at(parts []string, n int) string {
	if len(parts) < n {
		return ""
	}
	return parts[len(parts)-n]
}

func isAnyOf(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool { ok, _ := path.Match(glob, name); return ok })
}

// couldBeAnswer reports whether a glob of a shell may stand for an answer.
func couldBeAnswer(glob string) bool {
	return slices.ContainsFunc([]string{"response.json", "receipt.json", "form.md", "answer.json"}, func(name string) bool { ok, _ := path.Match(glob, name); return ok })
}
