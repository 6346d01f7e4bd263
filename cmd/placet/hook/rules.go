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
	"placet/layout"
)

// Outcome is what becomes of a call. Reason is for the agent, and for the person who is
// asked.
type Outcome struct{ Do, Reason string }

// deferred is the outcome of a call that the client keeps until it is called again.
const deferred = "defer"

// Deferred is the outcome of a call about which a person is still asked.
func Deferred(reason string) Outcome { return Outcome{deferred, reason} }

// Subject is what the expressions of rules are matched with: one or more texts.
type Subject struct {
	All []string
	// Paths are the files that the call names, absolute, links resolved.
	Paths []string
}

// Workspace is what one workspace has to say about calls.
type Workspace struct {
	Rules  []config.HookRule
	Places Places
}

// Judge says what becomes of a call, by the workspaces that have a word about it, of which the first
// is the one that it belongs to. The others may be tighter than that one, never looser. asks are the
// indexes of those that have a person asked, where the outcome is that.
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

// strictness has what rules do, the loosest first.
var strictness = []string{config.HookAllow, config.HookPass, config.HookShow, config.HookAsk, config.HookDeny}

// isTighter reports whether one thing that rules do is tighter than another.
func isTighter(do, than string) bool {
	return slices.Index(strictness, do) > slices.Index(strictness, than)
}

// judge says what becomes of a call in one workspace: placet's own tools pass, the guard denies, and
// of the rules the first that fits counts. ruled is false where none fits.
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

// fits reports whether a rule is about a call.
func fits(r config.HookRule, tool string, s Subject) bool {
	named := func(glob string) bool { ok, _ := path.Match(glob, tool); return ok }
	matches := func(expression string) bool {
		return slices.ContainsFunc(s.All, regexp.MustCompile(expression).MatchString) // checked
	}
	return (len(r.Tool) == 0 || slices.ContainsFunc(r.Tool, named)) && (len(r.Match) == 0 || slices.ContainsFunc(r.Match, matches))
}

// Places are the folders that paths of a call are relative to, and what the guard knows of them and
// of placet's command line.
type Places struct {
	Root string // the workspace
	Cwd  string // where the agent works
	Home string
	// Layouts say which documents of the workspace placet alone writes.
	Layouts []layout.Family
	// PersonVerb returns the verb that the arguments of placet call, if a person alone may use it so,
	// else "".
	PersonVerb func(args []string) string
}

// SubjectIn is what a call is about.
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

// relative is a path as rules match it: below the workspace, or else the whole of it.
func (p Places) relative(file string) string {
	rel, err := filepath.Rel(p.resolve("/", p.Root), file)
	if err != nil || !filepath.IsLocal(rel) {
		return filepath.ToSlash(file)
	}
	return filepath.ToSlash(rel)
}

// resolve is the absolute path of a file, links resolved as far as it exists.
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

// mostLinks is how many links that lead nowhere yet are followed.
const mostLinks = 20

// realPath is a path with its links resolved as far as it exists, and those that lead to
// nothing, too: what is written there makes what they name.
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

// canonical is the input as JSON in one line, members sorted by name.
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

// patched is a line of a patch that names a file.
var patched = regexp.MustCompile(`(?m)^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+?)\s*$`)

// named are the files that a call of a file tool names, as they stand in it.
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
