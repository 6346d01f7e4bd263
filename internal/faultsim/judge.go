package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"placet/engine/store/memfs"
	"placet/layout"
)

// revisionOf returns the revision in a toy run's state document; 0 if it has none.
func revisionOf(body string) int {
	var st state
	if json.Unmarshal([]byte(body), &st) != nil {
		return 0
	}
	return st.Revision
}

// kept returns which promise a power cut has broken, "" for none.
func (w *world) kept() string {
	if w.excused {
		return ""
	}
	for _, p := range w.promised {
		if body, there := w.disk.Get(p.path); !there {
			return fmt.Sprintf("%s was told as decided, and the power cut has lost it", p.path)
		} else if body != p.body {
			return fmt.Sprintf("%s was told as decided, and the power cut has changed it:\n%s\nbefore:\n%s", p.path, body, p.body)
		}
	}
	for state, revision := range w.published {
		if body, _ := w.disk.Get(state); revisionOf(body) < revision && !w.stale {
			return fmt.Sprintf("revision %d of %s was told as decided, and the power cut has lost it: %s", revision, state, body)
		}
	}
	return ""
}

// judge returns what is wrong with an idle workspace, "" for nothing.
func (w *world) judge(step int) string {
	if w.excused {
		return ""
	}
	want := w.sc.rests[step]
	switch {
	case w.spoke && w.aside() != "":
	case w.spoke:
		want = w.sc.spoken[step]
	}
	if problem := w.compare(want); problem != "" {
		return problem
	}
	for _, p := range w.promised {
		if body, _ := w.disk.Get(p.path); body != p.body {
			return fmt.Sprintf("%s was told as decided, and is another now:\n%s\nbefore:\n%s", p.path, body, p.body)
		}
	}
	for id, n := range w.begun {
		if n > 1 && !w.stale {
			return fmt.Sprintf("%s was begun %d times", id, n)
		}
	}
	return ""
}

// aside returns the temporary file with what others wrote, if an error, their write
// and a crash came together while it was put back: nobody can say then which version
// is right, and the log names the file. It returns "" if there is none.
func (w *world) aside() (aside string) {
	if !w.spoke || w.erred == 0 || w.level == 0 {
		return ""
	}
	w.disk.Each(func(name string, body []byte) {
		if layout.IsTemp(path.Base(name)) && strings.Contains(string(body), theirs) {
			aside = name
		}
	})
	return aside
}

// compare returns how the tree differs from the expected one.
func (w *world) compare(want map[string]string) string {
	if w.sc.same != nil {
		return w.sc.same(want, w.disk.Tree())
	}
	left, problem, aside := len(want), "", w.aside()
	times := map[string]string{}
	w.disk.Each(func(name string, body []byte) {
		switch expected, known := want[name]; {
		case problem != "" || strings.HasPrefix(name, ".placet/") || name == aside:
		case layout.IsTemp(path.Base(name)):
			problem = "a temporary file is left: " + name
		case !known:
			problem = fmt.Sprintf("there is %s, which ought not to be there:\n%s", name, body)
		case !sameText(expected, string(body)):
			problem = fmt.Sprintf("%s reads otherwise:\n%s\nwithout trouble:\n%s", name, body, expected)
		default:
			left--
			problem = agree(times, name, string(body))
		}
	})
	if problem == "" && left > 0 {
		have := w.disk.Tree()
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if _, there := have[name]; !there {
				return "there is no " + name
			}
		}
	}
	return problem
}

// timeLike and sumLike begin a time and a digest. All times have the same length, and so have
// all digests.
const (
	timeLike   = `"2026-`
	timeLength = len(`"2026-03-01T12:00:00.000000Z"`)
	sumLike    = `"sha256:`
	sumLength  = len(sumLike) + 64 + 1
)

// sameText compares two texts, apart from times and digests.
func sameText(want, got string) bool {
	if len(want) != len(got) {
		return false
	}
	for want != "" {
		i := strings.IndexByte(want, '"')
		if i < 0 {
			return want == got
		}
		if want[:i] != got[:i] {
			return false
		}
		skip := 1
		switch {
		case strings.HasPrefix(want[i:], timeLike):
			skip = timeLength
		case strings.HasPrefix(want[i:], sumLike):
			skip = sumLength
		}
		if skip == 1 && got[i] != '"' {
			return false
		}
		want, got = want[i+skip:], got[i+skip:]
	}
	return true
}

// agree returns where the documents of a revision have different times. times holds
// the times seen so far.
func agree(times map[string]string, name, body string) string {
	dir := name[:strings.IndexByte(name[len(deskRoot)+1:], '/')+len(deskRoot)+1]
	for line := range strings.Lines(body) {
		revision, rest, ok := between(line, `"revision":`, ",")
		at, _, timed := between(rest, `"at":"`, `"`)
		if !ok || !timed || at == "" {
			continue
		}
		key := dir + " " + revision
		if was, seen := times[key]; seen && was != at {
			return fmt.Sprintf("%s says that revision %s of %s was made at %s; another document says %s", name, revision, dir, at, was)
		}
		times[key] = at
	}
	return ""
}

func between(text, from, to string) (string, string, bool) {
	_, rest, ok := strings.Cut(text, from)
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, to)
}

// tree returns the part of a disk that is compared.
func tree(disk *memfs.FS) map[string]string {
	t := disk.Tree()
	maps.DeleteFunc(t, func(name, _ string) bool { return strings.HasPrefix(name, ".placet/") })
	return t
}
