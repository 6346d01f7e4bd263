package exec

import (
	"os"
	"slices"
	"strings"
)

// passed are the names of the environment that every command gets, besides
// those that begin with one of passedPrefixes.
var (
	passed         = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", "TERM"}
	passedPrefixes = []string{"LC_", "XDG_"}
)

// Environ is an environment as far as a command gets it, with the names in allow; nil is
// that of this process.
func Environ(own, allow []string) []string { return environ(own, allow, nil) }

// environ is the environment of a command: of placet's own, nil for that of this process,
// only the names that every program needs and those in allow, then what the action adds. A
// later value of a name replaces an earlier one.
func environ(own, allow, add []string) []string {
	if own == nil {
		own = os.Environ()
	}
	env := []string{} // never nil: that would hand over everything
	at := map[string]int{}
	put := func(entry, name string) {
		if i, ok := at[name]; ok {
			env[i] = entry
			return
		}
		at[name] = len(env)
		env = append(env, entry)
	}
	for _, entry := range own {
		if name, _, ok := strings.Cut(entry, "="); ok && mayPass(name, allow) {
			put(entry, name)
		}
	}
	for _, entry := range add {
		if name, _, ok := strings.Cut(entry, "="); ok && name != "" {
			put(entry, name)
		}
	}
	return env
}

func mayPass(name string, allow []string) bool {
	if slices.Contains(passed, name) || slices.Contains(allow, name) {
		return true
	}
	for _, prefix := range passedPrefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
