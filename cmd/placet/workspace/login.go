package workspace

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"time"

	"placet/engine/facade"
	"placet/templates"
)

// loginsDir is the folder in the state folder with one file for each login link. The name of a
// file is the digest of the link's secret word.
const loginsDir = "logins"

// login is the content of such a file.
type login struct {
	Token string    `json:"token"` // "" for the owner
	Until time.Time `json:"until"`
}

// NewLogin returns a new secret word with which a browser logs in once, as a token or as the
// owner.
func NewLogin(b *Workspace, token string) (word string, err error) {
	if b.StateDir == nil {
		return "", templates.Errorf("workspace.nostate")
	}
	root := b.StateDir.Root()
	if err := root.Mkdir(loginsDir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	sweepLogins(b)
	word, hash := facade.NewLink()
	body, err := json.Marshal(login{token, b.Env.Now().Add(facade.LinkTime).UTC()})
	if err != nil {
		return "", err
	}
	return word, b.StateDir.Write(path.Join(loginsDir, hash), body, false)
}

// TakeLogin uses up a link: the caller that removes its file has it. It returns the token for
// which the link was made, "" for the owner.
func TakeLogin(b *Workspace, hash string, now time.Time) (token string, ok bool) {
	name := path.Join(loginsDir, hash)
	l, err := readLogin(b, name)
	if err != nil || b.StateDir.Root().Remove(name) != nil {
		return "", false
	}
	return l.Token, now.Before(l.Until)
}

func readLogin(b *Workspace, name string) (l login, err error) {
	body, err := b.StateDir.Read(name, 4<<10)
	if err == nil {
		err = json.Unmarshal(body, &l)
	}
	return l, err
}

// sweepLogins removes the links that have expired.
func sweepLogins(b *Workspace) {
	root := b.StateDir.Root()
	dir, err := root.Open(loginsDir)
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // a folder that cannot be listed is not swept
	for _, n := range names {
		name := path.Join(loginsDir, n)
		if l, err := readLogin(b, name); err != nil || !b.Env.Now().Before(l.Until) {
			_ = root.Remove(name)
		}
	}
}

// servedName is the file in the state folder with the address at which serve answers.
const servedName = "served"

// SetServedAt records the address at which the workspace is served.
func SetServedAt(b *Workspace, url string) error {
	return b.StateDir.Write(servedName, []byte(url), false)
}

// ClearServedAt records that the workspace is no longer served at an address, "" for any. A
// serve that has lost its lock thus leaves the next one's address alone.
func ClearServedAt(b *Workspace, url string) error {
	if b.StateDir == nil || url != "" && readServedAt(b) != url {
		return nil
	}
	err := b.StateDir.Root().Remove(servedName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// ServedAt returns the address at which serve answers, "" if none does.
func ServedAt(b *Workspace) string {
	if b.StateDir == nil || !DaemonRuns(b.Root) {
		return ""
	}
	return readServedAt(b)
}

func readServedAt(b *Workspace) string {
	body, err := b.StateDir.Read(servedName, 4<<10)
	if err != nil {
		return ""
	}
	return string(body)
}
