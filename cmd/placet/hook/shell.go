package hook

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"placet/internal/lazyregexp"
)

// harmless are the commands that write no file that they name, except with an argument that
// writingArgs matches. gitReads are the subcommands of git that change nothing.
var (
	harmless = []string{"cat", "head", "tail", "less", "more", "grep", "egrep", "fgrep", "rg", "ag", "ls", "wc", "diff", "cmp", "comm", "stat", "file", "jq", "yq", "tree", "test", "[", "echo", "printf",
		"sha256sum", "sha512sum", "sha1sum", "shasum", "b2sum", "md5sum", "cksum", "od", "hexdump", "strings", "nl", "tac", "du", "which", "type", "man", "cut", "sort", "uniq",
		"realpath", "readlink", "basename", "dirname", "cd", "pwd", "true", "awk", "sed", "find"}
	writingArgs = map[string]*lazyregexp.Regexp{
		"sed":  lazyregexp.New(`^-[A-Za-z]*i|^--i|(^|[;{}/\s\d$!])[wW]\s+\S`),
		"awk":  lazyregexp.New(`^-i|^--i|print.*>|system\s*\(|\|`),
		"yq":   lazyregexp.New(`^-[A-Za-z]*i|^--inp`),
		"sort": lazyregexp.New(`^-[A-Za-z]*o|^--o`),
		"tree": lazyregexp.New(`^-[A-Za-z]*o`),
		"find": lazyregexp.New(`^-(delete|exec|ok|fprint|fls)`),
		"git":  lazyregexp.New(`^--o|^-o|^--exec|^--remote|^-O|^--open`),
	}
	gitReads = []string{"add", "commit", "diff", "log", "show", "status", "blame", "grep", "ls-files", "ls-tree", "cat-file", "tag", "archive", "rev-parse", "rev-list", "describe", "shortlog",
		"check-ignore", "check-attr", "diff-tree", "diff-index", "merge-base", "for-each-ref"}
	// writers are the commands that write files that they name, also after sudo, xargs and the like.
	writers = []string{"cp", "mv", "rm", "ln", "tee", "dd", "install", "rsync", "scp", "truncate", "touch", "chmod", "chown", "shred", "unlink", "patch", "sponge", "dos2unix", "unix2dos", "gawk",
		"ed", "red", "ex", "vi", "vim", "nvim", "view", "nano", "emacs", "emacsclient"}
	// codeWrites matches code that writes files, or the flag with which an interpreter does.
	codeWrites = lazyregexp.New(`(?i)['"](w|a|x|r\+)[bt+]*['"]|write|dump\(|unlink|remove|rename|os\.replace|copy|move|truncate|\s-[a-z]*i\b`)
	// interpreters run the text that they are given or that they read.
	interpreters = lazyregexp.New(`^(.*/)?(sh|bash|zsh|dash|ksh|fish|eval|source|\.|xargs|parallel|ssh|su|at|batch|crontab|expect|osascript|pwsh|powershell|(python|node|perl|ruby|php|deno|bun|lua)[0-9.]*)$`)
)

// deepestShell is how many texts of a shell may be nested, and roomOfShell is how many bytes they
// may have together.
const deepestShell, roomOfShell = 16, 16 * longestCommand

// shellGuard checks the command of a shell, and the texts in it that other shells may read.
type shellGuard struct {
	Places
	depth int
	room  *int
}

// guardShell says why a command of a shell is denied, or "" if it is not.
func (p Places) guardShell(command string) string {
	room := roomOfShell
	return shellGuard{Places: p, room: &room}.guard(command)
}

// guard says why a text is denied, or "" if it is not.
func (g shellGuard) guard(text string) string {
	r := readShell(text, g.room)
	if *g.room -= len(text); *g.room < 0 || g.depth == deepestShell {
		return "the command is nested too much to be read: write it into a file, and run that."
	}
	g.anywhere = g.depth > 0 || !r.isSimple()
	interprets := slices.ContainsFunc(r.commands, func(s simpleCommand) bool {
		return slices.ContainsFunc(s.words, interpreters.MatchString)
	})
	for _, s := range r.commands {
		s.interprets, s.codeWrites = interprets, interprets && codeWrites.MatchString(text)
		if why := g.guardCommand(s); why != "" {
			return why
		}
		if len(s.words) > 1 && (s.words[0] == "cd" || s.words[0] == "pushd") {
			g.Cwd = g.resolve(g.Cwd, s.words[1])
		}
	}
	if !interprets {
		return ""
	}
	return g.guardTexts(r.bodies)
}

// guardTexts says why one of some texts that another shell may read is denied, or "" if none is.
func (g shellGuard) guardTexts(texts []string) string {
	g.depth++
	for _, text := range texts {
		if why := g.guard(text); why != "" {
			return why
		}
	}
	return ""
}

// guardCommand says why a simple command is denied, or "" if it is not.
func (g shellGuard) guardCommand(s simpleCommand) string {
	for _, file := range s.into {
		if why := g.mustNotWrite(g.Cwd, file); why != "" {
			return why
		}
	}
	reading := s.isHarmless()
	if reading && !s.interprets {
		return ""
	}
	if verb := g.verbOf(s); verb != "" {
		return "placet " + verb + ": a person alone answers placet's requests, and lets others answer, in a terminal of their own. Go on with other work, or wait."
	}
	if name, _ := s.command(); name == "placet" {
		return "" // it only asks or reads
	}
	if why := g.guardCopies(s); why != "" {
		return why
	}
	for _, word := range s.suspects() {
		if strings.ContainsAny(word, " \t\n;") { // code, or a text that another shell reads
			if why := g.guardTexts(codeIn(word)); why != "" {
				return why
			}
		}
		if reading {
			continue
		}
		for _, piece := range pieces(word) {
			if why := g.protected(g.Cwd, piece); why != "" {
				return why
			}
			if g.isRequest(piece) {
				return piece + ": a person alone answers placet's requests. Do not write there; go on with other work, or wait."
			}
		}
	}
	return g.guardRecords(s)
}

// codeIn returns what another shell may read of a word: the word, or the value of the flag that it
// is, also with the mark of an alias that runs a command.
func codeIn(word string) []string {
	texts := []string{word}
	if strings.HasPrefix(word, "-") {
		for _, value, found := strings.Cut(word, "="); found; _, value, found = strings.Cut(value, "=") {
			texts = append(texts, value)
		}
	}
	if code, found := strings.CutPrefix(word, "!"); found {
		texts = append(texts, code)
	}
	return texts
}

// guardRecords says why a simple command that writes a record is denied, or "" if it writes none.
func (p Places) guardRecords(s simpleCommand) string {
	for _, file := range p.written(s) {
		if why := p.record(p.Cwd, file); why != "" {
			return why
		}
	}
	return ""
}

// written returns those paths named in a simple command that it may write.
func (p Places) written(s simpleCommand) (files []string) {
	name, args := s.command()
	writes := s.codeWrites || name == "git" || writingArgs[name] != nil || slices.ContainsFunc(s.words, isWriter)
	if !writes || len(args) == 0 {
		return nil
	}
	target := args[len(args)-1]
	if isFolder(p.resolve(p.Cwd, target)) {
		for _, arg := range args {
			files = append(files, path.Join(target, path.Base(arg)))
		}
	}
	if one := s.writesOnly(); one != "" {
		return append(files, one)
	}
	if name == "cp" && !slices.ContainsFunc(args, namesTarget) {
		return append(files, target)
	}
	for _, arg := range args {
		files = append(files, pieces(arg)...)
	}
	return files
}

// namesTarget reports whether an argument of cp names the folder that it copies to.
func namesTarget(arg string) bool {
	return strings.HasPrefix(arg, "-t") || strings.HasPrefix(arg, "--target")
}

// isWriter reports whether a word is the name of one of writers.
func isWriter(word string) bool { return slices.Contains(writers, path.Base(word)) }

// pieces returns the parts of a word that may be paths, because an argument may be code, or hold a
// path after a name.
func pieces(word string) []string {
	return strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune(" \t\n=,:()[]{}'\"<>;", r) })
}

// isRequest reports whether a path is the folder of a request, in which a new file can answer the request.
func (p Places) isRequest(name string) bool {
	full := p.resolve(p.Cwd, name)
	if path.Base(filepath.ToSlash(filepath.Dir(full))) != "requests" {
		return false
	}
	_, err := os.Lstat(filepath.Join(full, "request.json"))
	return err == nil
}

// command returns the program that a command runs, without its folder, and the program's arguments.
func (s simpleCommand) command() (name string, args []string) {
	for i, word := range s.words {
		if !assignment.MatchString(word) {
			return path.Base(word), s.words[i+1:]
		}
	}
	return "", nil
}

// isHarmless reports whether a command writes no file that it names.
func (s simpleCommand) isHarmless() bool {
	name, args := s.command()
	if name == "git" && (len(args) == 0 || !slices.Contains(gitReads, args[0])) {
		return false
	}
	if writing := writingArgs[name]; writing != nil && slices.ContainsFunc(args, writing.MatchString) {
		return false
	}
	if name == "uniq" && len(operandsOf(args)) > 1 { // the second one is what it writes
		return false
	}
	return name == "" || name == "git" || slices.Contains(harmless, name)
}

// verbOf returns the verb of placet in a command if only a person may use it, "" for none. Further
// arguments that another command passes to placet, as xargs does, are unknown.
func (p Places) verbOf(s simpleCommand) string {
	name, _ := s.command()
	for i, word := range s.words {
		base := strings.ToLower(path.Base(word))
		if base != "placet" && base != "placet.exe" && (word != untold || base != name) {
			continue
		}
		args := slices.Clone(s.words[i+1:])
		if base != name {
			args = append(args, "…")
		}
		// A variable may hold several words.
		for _, words := range [][]string{args, strings.Fields(strings.Join(args, " "))} {
			if verb := p.PersonVerb(words); verb != "" {
				return verb
			}
		}
	}
	return ""
}
