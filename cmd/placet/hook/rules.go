package hook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"placet/cmd/placet/config"
	"placet/internal/lazyregexp"
	"placet/layout"
)

// Outcome is the decision about a call. Reason is for the agent, and for the person who is asked.
type Outcome struct{ Do, Reason string }

// Shown returns the outcome of a call about which the client asks its own user.
func (o Outcome) Shown() Outcome {
	return Outcome{config.HookShow, cmp.Or(o.Reason, defaultReason[config.HookShow])}
}

// deferred is the outcome of a call that the client holds back until it is called again.
const deferred = "defer"

// Deferred returns the outcome of a call about which a person is still being asked.
func Deferred(reason string) Outcome { return Outcome{deferred, reason} }

// Subject is the one or more texts that the expressions of rules match.
type Subject struct {
	All []string
	// Paths are the files that the call names, absolute and with links resolved.
	Paths []string
}

// Workspace is what one workspace has to judge calls.
type Workspace struct {
	Rules  []config.HookRule
	Places Places
}

// Judge returns the outcome of a call according to all workspaces that judge it. The first is the
// one that the call belongs to; the others may be stricter than it, never looser. asks are the
// indexes of the workspaces that ask a person.
func (c Client) Judge(all []Workspace, in Input) (o Outcome, asks []int) {
	for i, w := range all {
		one, ruled := c.judge(w, in)
		if one.Do == config.HookAsk {
			asks = append(asks, i)
		}
		if i == 0 || ruled && isTighter(one.Do, o.Do) {
			o = one
		}
	}
	return o, asks
}

// strictness lists the actions of rules, the loosest first.
var strictness = []string{config.HookAllow, config.HookPass, config.HookShow, config.HookAsk, config.HookDeny}

// isTighter reports whether one action of a rule is stricter than another.
func isTighter(do, than string) bool {
	return slices.Index(strictness, do) > slices.Index(strictness, than)
}

// judge returns the outcome of a call in one workspace: placet's own tools pass, the guard denies,
// and otherwise the first rule that matches counts. ruled is false if none matches.
func (c Client) judge(w Workspace, in Input) (o Outcome, ruled bool) {
	if in.IsPlacet() {
		return Outcome{Do: config.HookPass}, true
	}
	if why := guarded(in, w.Places); why != "" {
		return Outcome{config.HookDeny, why}, true
	}
	s := in.SubjectIn(w.Places)
	for _, r := range w.Rules {
		if !fits(r, in.Tool, s) {
			continue
		}
		if r.Do == config.HookShow && !c.Shows() {
			r.Do = config.HookAsk
		}
		return Outcome{r.Do, cmp.Or(r.Reason, defaultReason[r.Do])}, true
	}
	return Outcome{Do: config.HookPass}, false
}

var defaultReason = map[string]string{
	config.HookDeny:  "A rule of this workspace denies this call (placet.toml, [[hook.rule]]).",
	config.HookAllow: "A rule of placet allows this call.",
	config.HookShow:  "A rule of placet has you asked.",
}

// fits reports whether a rule matches a call.
func fits(r config.HookRule, tool string, s Subject) bool {
	named := func(glob string) bool { ok, _ := path.Match(glob, tool); return ok }
	matches := func(expression string) bool {
		return slices.ContainsFunc(s.All, regexp.MustCompile(expression).MatchString) // already checked
	}
	return (len(r.Tool) == 0 || slices.ContainsFunc(r.Tool, named)) && (len(r.Match) == 0 || slices.ContainsFunc(r.Match, matches))
}

// Places are the folders to which paths of a call are relative, and what the guard knows about
// documents and about placet's command line.
type Places struct {
	Root string // the workspace
	Cwd  string // where the agent works
	Home string
	// Layouts say which documents of the workspace only placet writes.
	Layouts []layout.Family
	// PersonVerb returns the verb that the arguments call if only a person may use it in this
	// way, otherwise "".
	PersonVerb func(args []string) string
	// anywhere says that a path that looks like the answer to a request is one wherever it is,
	// because it is unknown which folders or links there are when a command runs.
	anywhere bool
}

// SubjectIn returns the subject of a call.
func (in Input) SubjectIn(p Places) (s Subject) {
	for _, name := range in.named() {
		s.Paths = append(s.Paths, p.resolve(p.Cwd, name))
	}
	command, isCommand := in.ShellCommand()
	url, _ := in.fields["url"].(string)
	switch {
	case in.isShell() && isCommand:
		s.All = []string{command}
	case len(s.Paths) > 0:
		for _, file := range s.Paths {
			s.All = append(s.All, p.relative(file))
		}
	case in.Tool == "WebFetch" && url != "":
		s.All = []string{url}
	default:
		s.All = []string{in.canonical()}
	}
	return s
}

// relative returns a path in the form that rules match: relative to the workspace, or absolute
// if it is outside.
func (p Places) relative(file string) string {
	rel, err := filepath.Rel(p.resolve("/", p.Root), file)
	if err != nil || !filepath.IsLocal(rel) {
		return filepath.ToSlash(file)
	}
	return filepath.ToSlash(rel)
}

// resolve returns the absolute path of a file, with links resolved as far as it exists.
func (p Places) resolve(from, name string) string {
	for _, home := range []string{"~/", "$HOME/", "${HOME}/"} {
		if rest, ok := strings.CutPrefix(name, home); ok {
			name = filepath.Join(p.Home, rest)
		}
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(from, name)
	}
	return realPath(filepath.Clean(name), 0)
}

// mostLinks is how many links to missing files are followed.
const mostLinks = 20

// realPath returns a path with its links resolved as far as it exists. It also follows links to
// missing files, because writing to such a link creates its target.
func realPath(name string, links int) string {
	for at, rest := name, ""; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if to, err := os.Readlink(at); err == nil && links < mostLinks {
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(at), to)
			}
			return realPath(filepath.Join(to, rest), links+1)
		}
		if at == filepath.Dir(at) {
			return name
		}
	}
}

// canonical returns the input as JSON in one line, with members sorted by name.
func (in Input) canonical() string {
	dec := json.NewDecoder(bytes.NewReader(in.ToolInput))
	dec.UseNumber()
	var value any
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if dec.Decode(&value) != nil || enc.Encode(value) != nil {
		return string(in.ToolInput)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// patched matches a line of a patch that names a file.
var patched = lazyregexp.New(`(?m)^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+?)\s*$`)

// named returns the files that a call of a file tool names, as the call spells them.
func (in Input) named() (files []string) {
	if in.Tool == patchTool {
		for _, value := range in.fields {
			text, _ := value.(string)
			for _, m := range patched.FindAllStringSubmatch(text, -1) {
				files = append(files, m[1])
			}
		}
		slices.Sort(files)
		return files
	}
	for _, key := range []string{"file_path", "notebook_path", "path", "absolute_path"} {
		if file, ok := in.fields[key].(string); ok && file != "" {
			files = append(files, file)
		}
	}
	return files
}
