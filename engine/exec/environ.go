package exec

import (
	"os"
	"slices"
	"strings"
)

// passed and passedPrefixes say which variables of the environment every
// command gets, by name and by how the name begins.
var (
	passed         = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", "TERM"}
	passedPrefixes = []string{"LC_", "XDG_"}
)

// Environ returns the part of an environment that a command gets, with the names in
// allow added. If own is nil, it takes the environment of this process.
func Environ(own, allow []string) []string { return environ(own, allow, nil) }

// environ returns the environment of a command: of placet's own environment (of this
// process if own is nil) only the names that every program needs and those in allow, then
// what the action adds. A later value of a name replaces an earlier one.
func environ(own, allow, add []string) []string {
	if own == nil {
		own = os.Environ()
	}
	env := []string{} // never nil: nil would pass the whole environment on
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
