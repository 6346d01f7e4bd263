package config

import (
	"maps"
	"slices"

	"placet/engine"
	"placet/engine/exec"
	"placet/engine/statedir"
)

// A worker that writes tests changes the files that a trusted command names, and then the
// command is no longer the trusted one. So that a person can see what has changed, the state
// folder keeps the texts of the files that were agreed to.

// longestKept is the size of the largest file whose text is kept, and mostKept limits the files
// of one agreement, so that agreement to many files stays quick.
const (
	longestKept = 256 << 10
	mostKept    = 50
)

// keptName is the name of a kept text in the state folder.
func keptName(sum engine.Digest) string { return "agreed-" + sum.Hex() }

// KeepTexts keeps the texts of the files that things name, as they were agreed to. A text that
// cannot be kept is not shown later; nothing else depends on it.
func KeepTexts(dir *statedir.Dir, contents *exec.Contents, things []UntrustedLine) {
	for _, u := range things {
		for _, name := range slices.Sorted(maps.Keys(u.Files))[:min(len(u.Files), mostKept)] {
			sum := engine.Digest(u.Files[name])
			if u.Files[name] == "" || !isContent(u.Files[name]) {
				continue
			}
			if body, ok := contents.Text(u.Dir, name, sum, longestKept); ok {
				_ = dir.Write(keptName(sum), body, false)
			}
		}
	}
}

// keptText returns a kept text, nil if there is none or it is not the one that was kept.
func (from Sources) keptText(sum engine.Digest) *string {
	if sum == "" {
		text := ""
		return &text
	}
	dir, err := statedir.Open(from.StateHome, from.Workspace)
	if err != nil {
		return nil
	}
	defer dir.Close()
	body, err := dir.Read(keptName(sum), longestKept)
	if err != nil || engine.Sum(body) != sum {
		return nil
	}
	text := string(body)
	return &text
}

// ChangedFiles returns how the files that a command names in a folder differ from those of an
// agreement. ok is false unless only the contents of files differ: a link, a folder or an
// unreadable file is for placet trust to show.
func ChangedFiles(contents *exec.Contents, dir string, agreed, now map[string]string) (changed []engine.ChangedFile, ok bool) {
	names := maps.Clone(agreed)
	if names == nil {
		names = map[string]string{}
	}
	maps.Copy(names, now)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if agreed[name] == now[name] {
			continue
		}
		path, inside := contents.Path(dir, name)
		if !inside || !isContent(agreed[name]) || !isContent(now[name]) {
			return nil, false
		}
		if !slices.ContainsFunc(changed, func(f engine.ChangedFile) bool { return f.Path == path }) {
			changed = append(changed, engine.ChangedFile{Path: path, Was: engine.Digest(agreed[name]), Now: engine.Digest(now[name])})
		}
	}
	return changed, len(changed) > 0
}

// noteAllChanged notes for the machines which files keep a command from running, in the
// workspace's root and in each work tree.
func noteAllChanged(s *Settings, c command) {
	agreed := s.Agreed.Agreed(c.digest)
	if agreed == nil {
		return
	}
	if !s.Trusted[c.digest] {
		s.Changed[c.digest] = changedIn(s, ".", c, *agreed)
	}
	for _, tree := range s.trees {
		key := c.digest.In(tree)
		if there, differs := s.Trusted[key]; differs && !there || !differs && !s.Trusted[c.digest] {
			s.Changed[key] = changedIn(s, tree, c, *agreed)
		}
	}
}

// changedIn returns the files that keep a command from running in a folder, with the texts that
// were agreed to; nil if more than contents differ.
func changedIn(s *Settings, dir string, c command, agreed Trusted) []engine.ChangedFile {
	files, ok := ChangedFiles(s.Contents, dir, agreed.Files, s.filesOf(dir, c.argv))
	if !ok || s.kept == nil {
		return nil
	}
	for i, f := range files {
		files[i].Then = s.kept(f.Was)
	}
	return files
}
