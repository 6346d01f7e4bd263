package exec

import (
	iofs "io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"placet/internal/lazyregexp"
)

// A command also runs files that none of its words names by their path: those that PATH finds
// for a program, those in folders that other variables list, and the interpreter of a script.

// loading matches the variables that say where programs, libraries and modules are found,
// what an interpreter loads first, or how a shell splits words.
var loading = lazyregexp.New(`^(PATH|CDPATH|IFS|BASH_ENV|ENV|ZDOTDIR|PROMPT_COMMAND|(LD|DYLD)_\w+|GCONV_PATH|PYTHON(PATH|HOME|STARTUP|USERBASE|BREAKPOINT|INSPECT)|NODE_(PATH|OPTIONS)|PERL(5LIB|5OPT|5DB|LIB)|RUBY(LIB|OPT)|GEM_(PATH|HOME)|BUNDLE_GEMFILE|LUA_(PATH|CPATH|INIT)\w*|CLASSPATH|(_JAVA|JDK_JAVA|JAVA_TOOL)_OPTIONS|(GNU)?MAKEFLAGS|MAKEFILES|GIT_(EXEC_PATH|CONFIG\w*|SSH|SSH_COMMAND|ASKPASS|EXTERNAL_DIFF)|SSH_ASKPASS)$`)

// readLoading notes a value of a variable that loading matches. The command may then run an
// unknown file of the workspace, unless the value lists only paths outside the workspace,
// options, and entries that the environment has already.
func (r *shellReader) readLoading(name, value string) {
	if zsh := r.other && (name == "path" || name == "fpath" || name == "cdpath"); !zsh && !loading.MatchString(name) || name != "PATH" && strings.Trim(value, " \t\n") == "" {
		return
	}
	own, entries := filepath.SplitList(r.getenv(name)), strings.Split(value, ":")
	if !r.canWork(len(entries)) {
		return // the budget is used up, so any file may be run
	}
	for _, entry := range entries {
		words := strings.Fields(entry)
		if len(words) == 0 && !slices.Contains(own, entry) || slices.ContainsFunc(words, func(word string) bool {
			return !strings.HasPrefix(word, "-") && !slices.Contains(own, word) && !(path.IsAbs(word) && !strings.ContainsAny(word, wildcard) && r.isOutside(word))
		}) {
			r.cannotTell(anyText, shellWord{values: []string{name + "=…"}})
			return
		}
	}
}

// isOutside reports whether an absolute path leads to no file in the workspace.
func (c *Contents) isOutside(name string) bool { return !filepath.IsLocal(c.below(name)) }

// mostJoined is how many letters of flags may precede a value that is joined to the last of
// them.
const mostJoined = 3

// joinedTo returns the possible values that are joined to short flags in a word, such as FILE
// in -fFILE or -xfFILE. It leaves out the value of -o because programs write to it.
func joinedTo(word string) (values []string) {
	for i := 1; i <= mostJoined && i+1 < len(word) && word[0] == '-' && isLetter(word[i]) && word[i] != 'o'; i++ {
		values = append(values, word[i+1:])
	}
	return values
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// ofProcess matches a path through the working folder (cwd) or the root of a process.
var ofProcess = lazyregexp.New(`^/+(proc|dev)/(.*/)?(cwd|root)(/+|$)`)

// withoutProcess rewrites a path that goes through the working folder or the root of a process
// as the command itself sees it, because this process has others than the command.
func withoutProcess(name string) string {
	m := ofProcess.FindStringSubmatch(name)
	if m == nil {
		return name
	}
	rest := name[len(m[0]):]
	if m[3] == "root" {
		return withoutProcess("/" + rest)
	}
	return path.Join(".", rest)
}

// onPath returns the folders of the commands' PATH, and those programs among the names that
// PATH finds outside the workspace as links into it.
func (c *Contents) onPath(names []string) (more []string) {
	dirs := filepath.SplitList(c.getenv("PATH"))
	for _, dir := range dirs {
		more = append(more, path.Clean(dir))
	}
	for _, name := range names[:min(len(names), mostNamesBelow)] {
		if strings.Contains(name, "/") || strings.HasPrefix(name, "-") {
			continue
		}
		i := slices.IndexFunc(dirs, func(dir string) bool { return path.IsAbs(dir) && isProgram(path.Join(dir, name)) })
		if i >= 0 && !c.isOutside(path.Join(dirs[i], name)) {
			more = append(more, path.Join(dirs[i], name))
		}
	}
	return more
}

// isProgram reports whether a file can be run as a program.
func isProgram(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// mostNested is how many interpreters deep a script may be, if each is itself a
// script.
const mostNested = 4

// addAll adds the files under the names, and the interpreters that run them.
func (l *look) addAll(names []string) {
	for range mostNested {
		l.addNames(slices.Concat(names, l.c.onPath(names)))
		more := l.interpreters()
		if more = slices.DeleteFunc(more, func(name string) bool { return slices.Contains(names, name) }); len(more) == 0 {
			return
		}
		names = append(names, more...)
	}
}

// interpreters returns the words behind #! in the first lines of the scripts that were found.
func (l *look) interpreters() []string {
	n := names{seen: map[string]bool{}}
	for _, rel := range slices.Sorted(maps.Keys(l.seen)) {
		for _, word := range l.c.firstWords(rel) {
			n.addWord(word)
		}
	}
	return n.list
}

// firstWords returns the words behind #! in the first line of a file of the workspace.
func (c *Contents) firstWords(rel string) []string {
	info, err := c.files.Stat(rel)
	if err == nil && info.Mode&iofs.ModeSymlink != 0 {
		if rel = c.below(filepath.Join(c.files.Root(), rel)); !filepath.IsLocal(rel) {
			return nil
		}
		info, err = c.files.Stat(rel)
	}
	if err != nil || !info.Mode.IsRegular() || info.Size > largestContent {
		return nil
	}
	is, err := c.read(rel, info)
	line, ok := strings.CutPrefix(is.first, "#!")
	if err != nil || !ok {
		return nil
	}
	line, _, _ = strings.Cut(line, "\n")
	return strings.Fields(line)
}
