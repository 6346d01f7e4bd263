package hook

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"placet/internal/lazyregexp"
)

// The guard looks at each word of a command that it does not know. Of some commands it knows which
// words name what they write, and which ones are text for people.

// copiers matches the flags with which a command only reads all operands but the last. With -l and
// -s, cp makes another name of the file itself.
var copiers = map[string]*lazyregexp.Regexp{
	"cp":    lazyregexp.New(`^(-[rRfvpinTaux]+|--(recursive|force|verbose|no-clobber|no-target-directory|archive))$`),
	"scp":   lazyregexp.New(`^-[rpqvCB]+$`),
	"rsync": lazyregexp.New(`^(-[avzrhPptgoDcun]+|--(archive|compress|progress|stats|dry-run|checksum))$`),
}

// tarCreates matches the flags of tar that create an archive, whose name follows.
var tarCreates = lazyregexp.New(`^-?[vzjJahpS]*c[vzjJahpS]*f$`)

// archivers matches the flags with which a command writes nothing but the archive, its first operand.
var archivers = map[string]*lazyregexp.Regexp{
	"tar": lazyregexp.New(tarCreates.String() + `|^(-[vzjJahpS]+|--(gzip|bzip2|xz|zstd|verbose|dereference|exclude=.*))$`),
	"zip": lazyregexp.New(`^-[rqvj0-9]+$`),
}

// textFlags matches the flags of commands whose value is text for people. No shell reads it.
var textFlags = map[string]*lazyregexp.Regexp{
	"gh":   lazyregexp.New(`^(-[btn]|--(body|title|notes|comment|subject|description))$`),
	"glab": lazyregexp.New(`^(-[dtmN]|--(description|title|message|notes))$`),
	"hub":  lazyregexp.New(`^(-m|--message)$`),
	"git":  lazyregexp.New(`^(-m|--message)$`),
	"jj":   lazyregexp.New(`^(-m|--message)$`),
	"hg":   lazyregexp.New(`^(-m|--message)$`),
	"svn":  lazyregexp.New(`^(-m|--message)$`),
	"npm":  lazyregexp.New(`^(-m|--message)$`),
}

// textCommands are the commands that only show their operands to people.
var textCommands = []string{"notify-send", "logger", "say"}

// suspects returns those words of a command that may name a file that it writes, or that another
// shell may read.
func (s simpleCommand) suspects() []string {
	if s.interprets {
		return s.words
	}
	name, _ := s.command()
	if slices.Contains(textCommands, name) && s.words[0] == name {
		return nil
	}
	if target := s.writesOnly(); target != "" {
		return []string{target}
	}
	if name == "git" && (len(s.words) < 2 || !slices.Contains(gitTells, s.words[1])) {
		return s.words
	}
	return s.withoutText(textFlags[name])
}

// gitTells are the subcommands of git that take a message.
var gitTells = []string{"commit", "merge", "notes", "stash", "tag"}

// writesOnly returns the one word that names what a command writes, "" if more words may.
func (s simpleCommand) writesOnly() string {
	name, args, ok := s.plain()
	if !ok {
		return ""
	}
	if operands, fits := operandsAfter(args, copiers[name]); fits && len(operands) > 1 {
		return operands[len(operands)-1]
	}
	if operands, fits := operandsAfter(args, archivers[name]); fits && len(operands) > 1 && (name != "tar" || slices.ContainsFunc(args[:len(args)-len(operands)], tarCreates.MatchString)) {
		return operands[0]
	}
	return ""
}

// plain returns a command that is written literally, without what it reads from a file. ok is false for
// any other command, of whose words it is unknown which is which.
func (s simpleCommand) plain() (name string, args []string, ok bool) {
	words := s.words[:len(s.words)-s.inputs]
	if !s.literal || len(words) == 0 || path.Base(words[0]) != words[0] {
		return "", nil, false
	}
	return words[0], words[1:], true
}

// operandsAfter returns the operands of a command that follow its flags. fits is false if a flag does
// not match, or comes after an operand. The first word of tar may be flags without a hyphen.
func operandsAfter(args []string, flags *lazyregexp.Regexp) (operands []string, fits bool) {
	if flags == nil {
		return nil, false
	}
	for len(args) > 0 && flags.MatchString(args[0]) {
		args = args[1:]
	}
	isFlag := func(arg string) bool { return strings.HasPrefix(arg, "-") }
	return args, !slices.ContainsFunc(args, isFlag)
}

// operandsOf returns the arguments that are no flags.
func operandsOf(args []string) (operands []string) {
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			operands = append(operands, arg)
		}
	}
	return operands
}

// withoutText returns the words of a command without the values of flags for text.
func (s simpleCommand) withoutText(flags *lazyregexp.Regexp) (words []string) {
	if name, _ := s.command(); flags == nil || s.words[0] != name {
		return s.words
	}
	for i := 0; i < len(s.words); i++ {
		flag, _, joined := strings.Cut(s.words[i], "=")
		switch {
		case !flags.MatchString(flag):
			words = append(words, s.words[i])
		case !joined:
			i++ // passes over the value
		}
	}
	return words
}

// guardCopies says why a command must not copy a file into a folder under the name that it has, or ""
// if it may. Outside the workspace, the copy of what is protected is a plain file.
func (g shellGuard) guardCopies(s simpleCommand) string {
	name, args, ok := s.plain()
	operands, fits := operandsAfter(args, copiers[name])
	if !ok || !fits || len(operands) < 2 {
		return ""
	}
	folder := g.resolve(g.Cwd, operands[len(operands)-1])
	for _, file := range operands[:len(operands)-1] {
		if g.leadsElsewhere(file) { // a copied link leads where it did
			if why := g.mustNotWrite(g.Cwd, file); why != "" {
				return why
			}
		}
		copied := filepath.Join(folder, path.Base(file))
		if isFolder(folder) && g.belongs(copied) {
			if why := g.protected(g.Cwd, copied); why != "" {
				return why
			}
		}
	}
	return ""
}

// leadsElsewhere reports whether a path is a link, or goes through one.
func (p Places) leadsElsewhere(file string) bool {
	spelled := file
	if !filepath.IsAbs(file) {
		spelled = filepath.Join(p.resolve("/", p.Cwd), file)
	}
	return p.resolve(p.Cwd, file) != filepath.Clean(spelled)
}

// belongs reports whether a file is one that placet or a client reads for this workspace: in the
// workspace, in a folder above it, or in the user's home. It is also true for any file that exists.
func (p Places) belongs(file string) bool {
	root, home := p.resolve("/", p.Root), p.resolve("/", p.Home)
	above := filepath.Dir(file)
	return isBelow(file, root) || isBelow(root, above) || isBelow(file, home) || exists(file)
}

// isBelow reports whether a path is a folder or lies in it.
func isBelow(file, folder string) bool {
	rel, err := filepath.Rel(folder, file)
	return err == nil && filepath.IsLocal(rel)
}

// simpleCommands are the commands that write nothing but the files that they name, run nothing else,
// and make no links and no other names of folders.
var simpleCommands = []string{"cat", "head", "tail", "grep", "ls", "wc", "jq", "test", "[", "echo", "printf", "true", "pwd", "cp", "rm", "tee", "touch", "mkdir", "chmod", "sed", "git"}

// isSimple reports whether a text only has commands of which it is known what they write, and where:
// nothing in it changes the meaning of a path before the path is used.
func (r *shellReader) isSimple() bool {
	return !r.wasCut && !slices.ContainsFunc(r.commands, func(s simpleCommand) bool {
		if slices.ContainsFunc(s.into, func(file string) bool { return strings.ContainsAny(file, "$*?[{}~"+untold) }) {
			return true
		}
		return len(s.words) > 0 && !s.isSimple()
	})
}

// isSimple reports whether a command is one of simpleCommands, with arguments of which that is true.
func (s simpleCommand) isSimple() bool {
	name, args, ok := s.plain()
	switch {
	case !ok || !slices.Contains(simpleCommands, name):
		return false
	case name == "git":
		return s.isHarmless()
	case name == "cp":
		_, fits := operandsAfter(args, onlyContent)
		return fits
	case name == "sed": // a script with blanks may run commands
		return !slices.ContainsFunc(args, func(arg string) bool { return strings.ContainsAny(arg, " \t\n") })
	}
	return true
}

// onlyContent matches the flags with which cp copies nothing but the content of files.
var onlyContent = lazyregexp.New(`^-[fvpin]+$`)
