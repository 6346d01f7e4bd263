package statedir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"time"

	"placet/engine"
	"placet/templates"
)

// The ledger says which single-use answers were used: permits/<ask>/<k> exists if the answer
// under the name of an ask was used for the k-th time. If a question is asked again under the
// name, it gets another answer, so an entry names the request.
const (
	usesDir = "permits"
	// mostUses is how many entries an ask may have.
	mostUses = 1000
	// longestUse is the size of the longest entry, in bytes.
	longestUse = 4 << 10
)

// Use is an entry of the ledger.
type Use struct {
	SchemaVersion int `json:"schema_version"`
	// Request is the digest of the request.json whose answer was used.
	Request engine.Digest `json:"request"`
	// By is who took the use.
	By      Taker     `json:"by"`
	TakenAt time.Time `json:"taken_at"`
}

// Taker is the verb and the process that took a use.
type Taker struct {
	Tool string `json:"tool"`
	PID  int    `json:"pid"`
}

// TakeUse takes the one use of an answer, durably: if several try at once, one succeeds, and
// a use is never given back. before is the use that was taken earlier, nil if this one is the
// first. After an error it is unknown whether the use was taken, so the caller must not
// reveal the answer.
func (d *Dir) TakeUse(ask string, u Use) (before *Use, err error) {
	dir := path.Join(usesDir, ask)
	if err = d.makeFolders(usesDir, dir); err == nil {
		before, err = d.takeIn(dir, u)
	}
	if err != nil {
		return nil, templates.Errorf("statedir.ledger", "folder", filepath.Join(d.path, dir), "error", err)
	}
	return before, nil
}

// makeFolders makes folders, each inside the one before. It refuses a folder that could lead
// elsewhere, or in which others may write.
func (d *Dir) makeFolders(names ...string) error {
	for _, name := range names {
		if err := d.root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		info, err := d.root.Lstat(name)
		if err != nil {
			return err
		}
		if problem, _ := exposed(name, info, 1); problem != "" {
			return templates.Errorf("say.text", "text", problem)
		}
	}
	return nil
}

// takeIn adds an entry under the first free number, unless an earlier entry is of the same
// request.
func (d *Dir) takeIn(dir string, u Use) (before *Use, err error) {
	u.SchemaVersion = 1
	body, err := json.Marshal(u)
	if err != nil {
		return nil, err
	}
	temp := path.Join(dir, fmt.Sprintf(".%d-%016x.new", os.Getpid(), rand.Uint64()))
	defer d.root.Remove(temp) // it has its name by then, or does no harm
	for k := 1; k <= mostUses; k++ {
		name := path.Join(dir, strconv.Itoa(k))
		there, err := d.readUse(name)
		if errors.Is(err, fs.ErrNotExist) {
			if err = d.link(temp, name, body); err == nil {
				return nil, d.syncLedger(dir)
			}
			if errors.Is(err, fs.ErrExist) { // another process was faster
				there, err = d.readUse(name)
			}
		}
		switch {
		case err != nil:
			return nil, err
		case there.Request == u.Request:
			return &there, nil
		}
	}
	return nil, templates.Errorf("statedir.ledger.full", "most", mostUses)
}

// link gives a content, made durable, its name, which must be free.
func (d *Dir) link(temp, name string, body []byte) error {
	f, err := d.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) { // made for an earlier number
		return d.root.Link(temp, name)
	}
	if err != nil {
		return err
	}
	if err := writeAndClose(f, append(body, '\n'), true); err != nil {
		return err
	}
	return d.root.Link(temp, name)
}

// syncLedger makes the names of the folders above an entry, and its own, durable.
func (d *Dir) syncLedger(dir string) error {
	for _, name := range []string{dir, usesDir, "."} {
		if err := d.sync(name); err != nil {
			return err
		}
	}
	return nil
}

// readUse reads an entry. Anything that is not a whole entry is an error, because it may have
// been one.
func (d *Dir) readUse(name string) (u Use, err error) {
	info, err := d.root.Lstat(name)
	switch {
	case err != nil:
		return u, err
	case !info.Mode().IsRegular():
		return u, templates.Errorf("statedir.irregular", "file", path.Base(name))
	case info.Mode().Perm()&0o022 != 0:
		return u, templates.Errorf("statedir.mode", "file", path.Base(name))
	}
	body, err := d.Read(name, longestUse)
	if err == nil {
		err = json.Unmarshal(body, &u)
	}
	if err == nil && (len(u.Request.Hex()) != 64 || u.By.Tool == "" || u.TakenAt.IsZero()) {
		err = templates.Errorf("statedir.ledger.entry")
	}
	if err != nil {
		return u, templates.Errorf("statedir.ledger.torn", "file", path.Base(name), "error", err)
	}
	return u, nil
}
