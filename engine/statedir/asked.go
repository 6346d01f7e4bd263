package statedir

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"slices"

	"placet/engine"
	"placet/templates"
)

// asked/<ask>/<digest> holds each question that somebody asked here under the name of an ask.
// A caller that waits by the name alone gets no answer if the ask is a different one by now,
// or if more than one question was asked under the name.
const (
	askedDir = "asked"
	// longestAsked is the size of the longest record, in bytes.
	longestAsked = 64 << 10
	// mostAsked is how many asks may have records. If there are more, the older half is
	// removed.
	mostAsked = 10_000
)

// KeepAsked records a question that was asked under the name of an ask, durably. It records
// the same question once.
func (d *Dir) KeepAsked(ask string, body []byte) error {
	dir := path.Join(askedDir, ask)
	if len(body) > longestAsked {
		return templates.Errorf("statedir.read.large", "file", dir, "n", len(body), "most", longestAsked)
	}
	if _, err := d.root.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		d.forgetAsked()
	}
	if err := d.makeFolders(askedDir, dir); err != nil {
		return err
	}
	name := path.Join(dir, engine.Sum(body).Hex()[:32])
	if _, err := d.root.Lstat(name); err == nil {
		return nil
	}
	temp := path.Join(dir, fmt.Sprintf(".%d-%016x.new", os.Getpid(), rand.Uint64()))
	defer d.root.Remove(temp) // it has its name by then, or does no harm
	err := d.link(temp, name, body)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return cmp.Or(d.sync(dir), d.sync(askedDir), d.sync("."))
}

// Asked returns the questions that were asked under the name of an ask, none if none is
// recorded.
func (d *Dir) Asked(ask string) (all [][]byte, err error) {
	dir := path.Join(askedDir, ask)
	files, err := fs.ReadDir(d.root.FS(), dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, f := range files {
		if f.Name()[0] == '.' { // it is being written, or left by a crash
			continue
		}
		body, readErr := d.Read(path.Join(dir, f.Name()), longestAsked)
		all, err = append(all, body), cmp.Or(err, readErr)
	}
	return all, err
}

// forgetAsked removes the records of the oldest asks if there are many.
func (d *Dir) forgetAsked() {
	all, err := fs.ReadDir(d.root.FS(), askedDir)
	if err != nil || len(all) < mostAsked {
		return
	}
	infos := make([]fs.FileInfo, 0, len(all))
	for _, f := range all {
		if info, err := f.Info(); err == nil {
			infos = append(infos, info)
		}
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, info := range infos[:len(infos)/2] {
		_ = d.root.RemoveAll(path.Join(askedDir, info.Name())) // only the memory of what was asked is lost
	}
}
