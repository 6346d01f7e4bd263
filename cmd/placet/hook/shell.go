package hook

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// harmless are the commands that write no file that they name, but for those with one of the
// words of writingFlags. Of git those subcommands count as such that change none.
var (
	harmless = []string{"cat", "head", "tail", "less", "more", "grep", "rg", "ag", "ls", "wc", "diff", "cmp", "stat", "file", "jq", "yq", "tree", "test", "[", "echo", "printf",
		"sha256sum", "sha1sum", "md5sum", "which", "type", "man", "cut", "sort", "uniq", "realpath", "readlink", "basename", "dirname", "cd", "pwd", "true", "awk", "sed", "find"}
	writingFlags = map[string][]string{"sed": {"-i", "--in-place"}, "yq": {"-i", "--inplace"}, "sort": {"-o", "--output"}, "find": {"-delete", "-exec", "-ok", "-fprint", "-fls"}}
	gitReads     = []string{"add", "commit", "diff", "log", "show", "status", "blame", "grep", "ls-files", "cat-file", "tag"}
	// writers are the commands that write files that they name, also behind sudo, xargs and the like.
	writers = []string{"cp", "mv", "rm", "ln", "tee", "dd", "install", "rsync", "truncate", "touch", "chmod", "chown", "shred", "unlink", "patch", "ed", "ex", "vi", "vim", "nano"}
	// codeWrites fits code that writes files, or the flag by which an interpreter does.
	codeWrites = regexp.MustCompile(`(?i)['"](w|a|x|r\+)[bt+]*['"]|write|dump\(|unlink|remove|rename|os\.replace|copy|move|truncate|\s-[a-z]*i\b`)
	// interpreters run what they are handed, or read.
	interpreters = regexp.MustCompile(`^(.*/)?(sh|bash|zsh|dash|ksh|fish|eval|source|\.|xargs|parallel|ssh|pwsh|powershell|(python|node|perl|ruby|php|deno|bun)[0-9.]*)$`)
	// heredoc begins a text that follows a command.
	heredoc = regexp.MustCompile(`<<-?\s*['"\\]?(\w+)['"]?`)
)

// segment is a simple command: its words, and the files that its output goes into.
type segment struct {
	words, into []string
	// interprets says that something in the whole command runs what it reads, and codeWrites that
	// there is code in it that writes files.
	interprets, codeWrites bool
}

// guardShell says why a command of a shell is denied, "" where it is not.
func (p Places) guardShell(command string) string {
	text, bodies := cutBodies(command)
	segments := split(text)
	interprets := slices.ContainsFunc(segments, func(s segment) bool {
		return slices.ContainsFunc(s.words, interpreters.MatchString)
	})
	vars := map[string]string{}
	for _, s := range segments {
		s.expand(vars)
		s.interprets, s.codeWrites = interprets, interprets && codeWrites.MatchString(command)
		if why := p.guardSegment(s); why != "" {
			return why
		}
		if len(s.words) > 1 && (s.words[0] == "cd" || s.words[0] == "pushd") {
			p.Cwd = p.resolve(p.Cwd, s.words[1])
		}
	}
	if !interprets {
		return ""
	}
	for _, body := range bodies {
		if why := p.guardShell(body); why != "" {
			return why
		}
	}
	return ""
}

// assignment is a word that sets a variable.
var assignment = regexp.MustCompile(`^(\w+)=(.*)$`)

// expand puts the variables that commands before have set into the words of this one, and
// adds those that it sets.
func (s *segment) expand(vars map[string]string) {
	for _, words := range [][]string{s.words, s.into} {
		for i, word := range words {
			for name, value := range vars {
				word = strings.NewReplacer("${"+name+"}", value, "$"+name, value).Replace(word)
			}
			words[i] = word
		}
	}
	for _, word := range s.words {
		if m := assignment.FindStringSubmatch(word); m != nil {
			vars[m[1]] = m[2]
		}
	}
}

// guardSegment says why a simple command is denied, "" where it is not.
func (p Places) guardSegment(s segment) string {
	for _, file := range s.into {
		if why := p.mustNotWrite(p.Cwd, file); why != "" {
			return why
		}
	}
	reading := s.isHarmless()
	if reading && !s.interprets {
		return ""
	}
	if verb := p.verbOf(s); verb != "" {
		return "placet " + verb + ": a person alone answers placet's requests, and lets others answer, in a terminal of their own. Go on with other work, or wait."
	}
	if name, _ := s.command(); name == "placet" {
		return "" // it asks, or looks
	}
	for _, word := range s.words {
		if strings.ContainsAny(word, " \t\n;") { // code, or a text that is read as such
			if why := p.guardShell(word); why != "" {
				return why
			}
		}
		if reading {
			continue
		}
		for _, piece := range pieces(word) {
			if why := p.protected(p.Cwd, piece); why != "" {
				return why
			}
			if p.isRequest(piece) {
				return piece + ": a person alone answers placet's requests. Do not write there; go on with other work, or wait."
			}
		}
	}
	return p.guardRecords(s)
}

// guardRecords says why a simple command is denied that writes what placet alone writes, "" where it
// does not.
func (p Places) guardRecords(s segment) string {
	for _, file := range p.written(s) {
		if why := p.record(p.Cwd, file); why != "" {
			return why
		}
	}
	return ""
}

// written returns the paths that a simple command may write, of those that it names.
func (p Places) written(s segment) (files []string) {
	name, args := s.command()
	writes := s.codeWrites || name == "git" || writingFlags[name] != nil || slices.ContainsFunc(s.words, isWriter)
	if !writes || len(args) == 0 {
		return nil
	}
	target := args[len(args)-1]
	if isFolder(p.resolve(p.Cwd, target)) {
		for _, arg := range args {
			files = append(files, path.Join(target, path.Base(arg)))
		}
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

// pieces are the parts of a word that may be paths: an argument may be code, or hold a path behind
// a name.
func pieces(word string) []string {
	return strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune(" \t\n=,:()[]{}'\"<>;", r) })
}

// isRequest reports whether a path is the folder of a request: what is put there answers it.
func (p Places) isRequest(name string) bool {
	full := p.resolve(p.Cwd, name)
	if path.Base(filepath.ToSlash(filepath.Dir(full))) != "requests" {
		return false
	}
	_, err := os.Lstat(filepath.Join(full, "request.json"))
	return err == nil
}

// command is the program that a segment runs, without its folder, and its arguments.
func (s segment) command() (name string, args []string) {
	for i, word := range s.words {
		if !assignment.MatchString(word) {
			return path.Base(word), s.words[i+1:]
		}
	}
	return "", nil
}

// isHarmless reports whether a command writes no file that it names.
func (s segment) isHarmless() bool {
	name, args := s.command()
	if name == "git" {
		return len(args) > 0 && slices.Contains(gitReads, args[0])
	}
	writes := slices.ContainsFunc(args, func(arg string) bool {
		return slices.ContainsFunc(writingFlags[name], func(flag string) bool { return strings.HasPrefix(arg, flag) })
	})
	return name == "" || slices.Contains(harmless, name) && !writes
}

// verbOf is the verb of placet in a command that a person alone may use, "" for none. What another
// command hands to placet besides, as xargs does, is not known.
func (p Places) verbOf(s segment) string {
	name, _ := s.command()
	for i, word := range s.words {
		base := strings.ToLower(path.Base(word))
		if base != "placet" && base != "placet.exe" {
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

// cutBodies takes the texts out of a command that follow it up to a word.
func cutBodies(command string) (text string, bodies []string) {
	lines := strings.Split(strings.ReplaceAll(command, "\\\n", " "), "\n")
	var kept []string
	for i := 0; i < len(lines); i++ {
		kept = append(kept, lines[i])
		m := heredoc.FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		end := slices.IndexFunc(lines[i+1:], func(line string) bool { return strings.TrimSpace(line) == m[1] })
		if end < 0 {
			continue
		}
		bodies = append(bodies, strings.Join(lines[i+1:i+1+end], "\n"))
		i += 1 + end
	}
	return strings.Join(kept, "\n"), bodies
}

// split splits a command of a shell into simple commands, and these into words without their
// quotes. What is nested in one is one, too.
func split(command string) (segments []segment) {
	var now segment
	var word strings.Builder
	var quote byte
	begun, redirects := false, false
	endWord := func() {
		if begun && redirects {
			now.into = append(now.into, word.String())
		} else if begun {
			now.words = append(now.words, word.String())
		}
		redirects = redirects && !begun
		begun = false
		word.Reset()
	}
	endSegment := func() {
		endWord()
		if len(now.words)+len(now.into) > 0 {
			segments = append(segments, now)
		}
		now, redirects = segment{}, false
	}
	for i := 0; i < len(command); i++ {
		c := command[i]
		next := byte(0)
		if i+1 < len(command) {
			next = command[i+1]
		}
		switch {
		case quote == '\'' && c != '\'':
			word.WriteByte(c)
		case c == '\\' && next != 0:
			begun = true
			word.WriteByte(next)
			i++
		case c == quote && quote != 0:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, begun = c, true
		case c == '`' || c == '$' && next == '(':
			endSegment()
			quote = 0
		case quote == '"':
			word.WriteByte(c)
		case c == '>':
			endWord()
			redirects = true
			if next == '>' || next == '&' || next == '|' {
				i++
			}
		case strings.IndexByte(" \t\r", c) >= 0:
			endWord()
		case c == '&' && next == '>':
			endWord()
		case strings.IndexByte(";&|\n(){}", c) >= 0:
			if c == '{' || c == '}' { // of a name such as ${HOME}, or of a list of names
				begun = true
				word.WriteByte(c)
				continue
			}
			endSegment()
		case c == '#' && !begun: // up to the end of the line
			for i+1 < len(command) && command[i+1] != '\n' {
				i++
			}
		default:
			begun = true
			word.WriteByte(c)
		}
	}
	endSegment()
	return segments
}
