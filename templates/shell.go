package templates

import "strings"

// CommandLine returns a command for a person to type into a POSIX shell. The
// program and its verbs, and the flags, are placet's own words; the arguments may
// come from anybody's documents. They are quoted where a shell would read more
// than a word in them, and "--" stands before them where one of them could be read
// as a flag.
func CommandLine(program string, args []string, flags ...string) string {
	quoted, dash := make([]string, len(args)), false
	for i, arg := range args {
		quoted[i], dash = ShellWord(arg), dash || strings.HasPrefix(arg, "-")
	}
	words := append([]string{program}, append(quoted, flags...)...)
	if dash {
		words = append(append(append([]string{program}, flags...), "--"), quoted...)
	}
	return strings.Join(words, " ")
}

// ShellWord returns a text as one word of a POSIX shell: as it is where it is
// plain, else between single quotes.
func ShellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:@%+=,", r)
	}
	if s != "" && s[0] != '=' && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
