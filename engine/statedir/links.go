package statedir

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"placet/engine"
	"placet/internal/lazyregexp"
	"placet/templates"
)

// A code stands for one answer to one request, as it was shown. Its file is named by the hash of
// the code, so that whoever reads the state folder cannot press the button:
//
//	links/<hash>         what the code stands for
//	links/<hash>.used    the message that used it
//	links/<hash>.done    the use has ended
const (
	linksDir = "links"
	// longestLink is the size of the longest file, in bytes.
	longestLink = 4 << 10
	// keptLink is how long the file of an expired code is kept, to say that it has expired.
	keptLink = 7 * 24 * time.Hour
	// mostLinks is how many files the folder may have.
	mostLinks = 30000
)

// Link is the answer that a code stands for.
type Link struct {
	// Request is "<run>:<request id>", Digest that of what was shown, and Option the answer.
	Request string        `json:"request"`
	Digest  engine.Digest `json:"digest"`
	Option  string        `json:"option"`
	// Target is the name of the target of notifications that got the code.
	Target  string    `json:"target"`
	Expires time.Time `json:"expires"`
}

// codePattern is the form of a code: 128 bits.
var codePattern = lazyregexp.New(`^[0-9a-f]{32}$`)

// NewLink makes a code that stands for an answer, and records its hash durably.
func (d *Dir) NewLink(l Link, now time.Time) (code string, err error) {
	if err := d.makeFolders(linksDir); err != nil {
		return "", err
	}
	if err := d.dropLinks(now); err != nil {
		return "", err
	}
	var random [16]byte
	rand.Read(random[:])
	code = hex.EncodeToString(random[:])
	body, err := json.Marshal(l)
	if err != nil {
		return "", err
	}
	return code, d.Write(linkName(code), append(body, '\n'), true)
}

// linkName returns the file of a code.
func linkName(code string) string {
	sum := sha256.Sum256([]byte("placet link\n" + code))
	return path.Join(linksDir, hex.EncodeToString(sum[:]))
}

// Link returns what a code stands for; ok is false for a code that this machine has not made, or
// has forgotten.
func (d *Dir) Link(code string) (l Link, ok bool) {
	if !codePattern.MatchString(code) {
		return l, false
	}
	body, err := d.readOwn(linkName(code))
	return l, err == nil && json.Unmarshal(body, &l) == nil && l.Request != "" && l.Digest != "" && l.Option != "" && l.Target != ""
}

// LinkUse is what became of an attempt to use a code.
type LinkUse int

// The results of [Dir.UseLink].
const (
	// LinkTaken says that the caller has the only use of the code.
	LinkTaken LinkUse = iota + 1
	// LinkUsed says that another message has used it.
	LinkUsed
	// LinkDone says that this message has used it, and that its use has ended.
	LinkDone
)

// UseLink takes the only use of a code for a message, durably. The same message has it again until
// [Dir.EndLink]: a process that was killed in between has not answered.
func (d *Dir) UseLink(code, message string) (LinkUse, error) {
	name := linkName(code) + ".used"
	err := d.create(name, message)
	if err == nil {
		return LinkTaken, d.sync(linksDir)
	}
	if !errors.Is(err, fs.ErrExist) {
		return 0, err
	}
	by, err := d.readOwn(name)
	if err != nil {
		return 0, err
	}
	if string(by) != message+"\n" {
		return LinkUsed, nil
	}
	if _, err := d.root.Lstat(linkName(code) + ".done"); err == nil {
		return LinkDone, nil
	}
	return LinkTaken, nil
}

// EndLink says that the use of a code has ended.
func (d *Dir) EndLink(code string) error {
	err := d.create(linkName(code)+".done", "")
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// create writes a whole new file, durably. The error wraps fs.ErrExist if there is one.
func (d *Dir) create(name, body string) error {
	temp := path.Join(linksDir, fmt.Sprintf(".%d-%s.new", os.Getpid(), rand.Text()))
	defer d.root.Remove(temp) // it has its name by then, or does no harm
	return d.link(temp, name, []byte(body))
}

// readOwn reads a small file that nobody else could have written.
func (d *Dir) readOwn(name string) ([]byte, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o022 != 0 {
		return nil, templates.Errorf("statedir.irregular", "file", path.Base(name))
	}
	return d.Read(name, longestLink)
}

// dropLinks removes the files of codes that expired long ago.
func (d *Dir) dropLinks(now time.Time) error {
	names, err := fs.ReadDir(d.root.FS(), linksDir)
	if err != nil {
		return err
	}
	for _, e := range names {
		if info, err := e.Info(); err == nil && !strings.HasPrefix(e.Name(), heardPrefix) && now.Sub(info.ModTime()) > keptLink+longestLife {
			_ = d.root.Remove(path.Join(linksDir, e.Name())) // it is removed next time
		}
	}
	if len(names) > mostLinks {
		return templates.Errorf("statedir.links.full", "most", mostLinks)
	}
	return nil
}

// longestLife is how long a code can be used.
const longestLife = 24 * time.Hour

// LinkExpires returns until when a code can be used that is made now, for a request with a
// deadline, which is zero for none.
func LinkExpires(now, deadline time.Time) time.Time {
	if end := now.Add(longestLife); deadline.IsZero() || deadline.After(end) {
		return end
	}
	return deadline
}

// heardPrefix begins the names of the files that say how far streams were read.
const heardPrefix = "heard-"

// LinksHeard returns the last message that was read from a stream of presses, "" for none.
func (d *Dir) LinksHeard(stream string) string {
	body, err := d.readOwn(path.Join(linksDir, heardPrefix+stream))
	if err != nil {
		return ""
	}
	return string(body)
}

// HearLinks records the last message that was read from a stream. A power cut may undo it: a
// message that is read again does nothing.
func (d *Dir) HearLinks(stream, message string) error {
	if err := d.makeFolders(linksDir); err != nil {
		return err
	}
	return d.Write(path.Join(linksDir, heardPrefix+stream), []byte(message), false)
}
