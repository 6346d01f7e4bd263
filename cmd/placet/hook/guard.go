package hook

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"placet/cmd/placet/config"
	"placet/internal/lazyregexp"
	"placet/layout"
)

// The guard denies calls that would answer in a person's place, whatever the rules say.

// longestCommand is the largest command that the guard reads, in bytes.
const longestCommand = 1 << 20

// guarded says why a call is denied, or "" if it is not.
func guarded(in Input, p Places) string {
	for _, command := range in.commands() {
		if len(command) > longestCommand {
			return "the command is larger than 1 MiB: write it into a file, and run that."
		}
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
		if why := p.mustNotWrite(p.Cwd, file); why != "" {
			return why
		}
	}
	return ""
}

// reads matches the names of tools that read files, unless writes matches them too.
var (
	reads  = lazyregexp.New(`(?i)(^|_)(read|get|list|view|search|grep|glob|find|ls|stat|tree|info)`)
	writes = lazyregexp.New(`(?i)write|edit|replace|create|move|rename|delete|update|patch|append|insert|save`)
)

// keysOfFiles matches the names of members that hold a path.
var keysOfFiles = lazyregexp.New(`(?i)path|file|dest|target|source|uri`)

// otherFiles returns the files that the members of an input name, at any depth.
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
				files = append(files, text) // an element of a list of paths
			} else {
				files = append(files, in.otherFiles(below)...)
			}
		}
	}
	slices.Sort(files)
	return files
}

// answers are the names of the files in a request's folder that answer it or record its result.
var answers = []string{"response.json", "receipt.json", "form*.md", "answer.*"}

// clientFiles are the files in which clients look for hooks and tools, relative to a workspace or
// to the user's home: those that placet init writes, and those that can turn hooks off.
var clientFiles = sync.OnceValue(func() []string {
	files := []string{SharedSettings, ".claude.json"}
	for _, c := range []func(config.Hook) []File{claudeFiles, codexFiles, geminiFiles, cursorFiles, vscodeFiles} {
		for _, f := range c(config.Hook{}) {
			files = append(files, f.Path)
		}
	}
	return files
})

// mustNotWrite says why a call must not write a file, or "" if it may.
func (p Places) mustNotWrite(from, name string) string {
	if why := p.protected(from, name); why != "" {
		return why
	}
	return p.record(from, name)
}

// protected says why a file must not be written, or "" if it may. A command that names such a file
// is denied unless it is known to only read.
func (p Places) protected(from, name string) string {
	spelled := filepath.Clean(name)
	if !filepath.IsAbs(spelled) {
		spelled = filepath.Join(from, spelled)
	}
	for _, one := range []string{spelled, p.resolve(from, name)} {
		file := strings.ToLower(filepath.ToSlash(one)) // some disks ignore case
		parts := strings.Split(file, "/")
		base, above := parts[len(parts)-1], at(parts, 3)
		switch {
		case above == "requests" && (isAnyOf(answers, base) || strings.ContainsAny(base, "*?[") && couldBeAnswer(base)) && (p.anywhere || p.answersRequest(file) || besideRequest(one)):
			return fmt.Sprintf("%s: a person alone answers placet's requests. Do not write there; go on with other work, or wait.", name)
		case base == "placet.toml" || base == "placet.signers" || slices.Contains(parts, ".placet") || slices.Contains(parts, "placet.policy") || strings.Contains(file, "/placet/workspaces/") || strings.HasSuffix(file, "/placet/tokens.json"):
			return fmt.Sprintf("%s: what placet may do without a person is decided by a person. Ask for the change you need.", name)
		case slices.ContainsFunc(clientFiles(), func(one string) bool { return strings.HasSuffix(file, "/"+one) }):
			return fmt.Sprintf("%s: it holds the hook that asks a person, and placet's tools. Ask for the change you need.", name)
		}
	}
	return ""
}

// answersRequest reports whether a file, in small letters, is below a folder in which some workspace
// keeps the runs of a family.
func (p Places) answersRequest(file string) bool {
	return slices.ContainsFunc(p.Layouts, func(f layout.Family) bool {
		return slices.ContainsFunc(f.Roots(), func(root string) bool { return strings.Contains(file, "/"+strings.ToLower(root)+"/") })
	})
}

// besideRequest reports whether a file's folder, which may be a pattern, has a request.
func besideRequest(file string) bool {
	beside := filepath.Join(filepath.Dir(file), "request.json")
	found, _ := filepath.Glob(beside)
	return len(found) > 0 || exists(beside)
}

// exists reports whether a path has something, perhaps a link to nothing.
func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// record says why a document of a run must not be written, or "" if it may: according to the layout
// of its family, only placet writes it. Agents read such documents in many ways, so that a command
// that names one is denied only if it writes.
func (p Places) record(from, name string) string {
	for _, file := range p.expand(p.resolve(from, name)) {
		rel := p.relative(file)
		for _, at := range []string{rel, strings.ToLower(rel)} {
			if p.isRecord(at) {
				return fmt.Sprintf("%s: placet alone writes it. A person answers, and placet records what was answered.", name)
			}
		}
	}
	return ""
}

// isRecord reports whether a path relative to the workspace is a document that only placet writes.
func (p Places) isRecord(rel string) bool {
	return slices.ContainsFunc(p.Layouts, func(family layout.Family) bool {
		run, ok := family.At(rel)
		if !ok {
			return false
		}
		below, ok := strings.CutPrefix(rel, run.Dir+"/")
		file, known := family.File(run, below)
		return ok && known && file.Writer == layout.Placet
	})
}

// expand returns the files that a path in a shell stands for. It expands only patterns below the
// folders of runs, because no other folder has a record.
func (p Places) expand(file string) []string {
	rel := p.relative(file)
	below := func(root string) bool { return strings.HasPrefix(rel, root+"/") }
	if !strings.ContainsAny(file, "*?[") || !slices.ContainsFunc(p.Layouts, func(f layout.Family) bool { return slices.ContainsFunc(f.Roots(), below) }) {
		return []string{file}
	}
	found, _ := filepath.Glob(file)
	return found
}

// isFolder reports whether a path is a folder.
func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// at returns the n-th part from the end, or "" if there are fewer.
func at(parts []string, n int) string {
	if len(parts) < n {
		return ""
	}
	return parts[len(parts)-n]
}

func isAnyOf(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool { ok, _ := path.Match(glob, name); return ok })
}

// couldBeAnswer reports whether a glob of a shell may match an answer.
func couldBeAnswer(glob string) bool {
	return slices.ContainsFunc([]string{"response.json", "receipt.json", "form.md", "answer.json"}, func(name string) bool { ok, _ := path.Match(glob, name); return ok })
}
