package facade

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"placet/engine/gate"
	"placet/internal/lazyregexp"
	"placet/schemas"
	"placet/templates"
)

// Role is what a caller may do.
type Role string

// The roles of tokens.
const (
	Read   Role = "read"   // look at everything
	Write  Role = "write"  // begin actions and give commands
	Decide Role = "decide" // answer requests
)

// Roles lists all roles.
var Roles = []Role{Read, Write, Decide}

// Token is one caller, as stored in tokens.json. The secret itself is stored nowhere.
type Token struct {
	Name     string         `json:"name"`
	SHA256   string         `json:"sha256"` // of the whole secret, in hexadecimal
	Roles    []Role         `json:"roles"`
	Families []string       `json:"families"` // empty: all
	Created  time.Time      `json:"created_at"`
	Expires  schemas.OrNull `json:"expires_at"` // null: never
	Revoked  schemas.OrNull `json:"revoked_at"` // null: not revoked
}

// Status is "valid", "expired" or "revoked".
func (t Token) Status(now time.Time) string {
	switch expires := t.Expires.Time(); {
	case t.Revoked != "":
		return "revoked"
	case t.Expires != "" && !now.Before(expires):
		return "expired"
	}
	return "valid"
}

// Tokens are the tokens of a user, for all workspaces. Their file is read at each call,
// so a revocation takes effect at once.
type Tokens struct{ Path string }

// tokenFile is the content of tokens.json.
type tokenFile struct {
	SchemaVersion int     `json:"schema_version"`
	Tokens        []Token `json:"tokens"`
}

// secretPrefix begins every secret, so that anybody who finds one knows what it is for.
const secretPrefix = "plt_"

// largestTokens is the largest tokens.json, in bytes.
const largestTokens = 1 << 20

var tokenName = lazyregexp.New(`^[a-z0-9][a-z0-9-]{0,31}$`)

// List returns the tokens, including those that are no longer valid. It returns none if
// the file does not exist. It returns an error if others may read or write the file,
// because nothing in it can be trusted then.
func (t Tokens) List() ([]Token, error) {
	f, err := os.OpenFile(t.Path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, t.unusable(err)
	}
	defer f.Close()
	if err := isPrivate(f); err != nil {
		return nil, t.unusable(err)
	}
	body, err := io.ReadAll(io.LimitReader(f, largestTokens+1))
	if err == nil && len(body) > largestTokens {
		err = templates.Errorf("token.large")
	}
	if err != nil {
		return nil, t.unusable(err)
	}
	var file tokenFile
	if err := schemas.Decode("", "tokens.json", body, &file); err != nil {
		return nil, t.unusable(err)
	}
	for _, one := range file.Tokens {
		if err := one.check(); err != nil {
			return nil, t.unusable(err)
		}
	}
	return file.Tokens, nil
}

func (t Tokens) unusable(err error) error {
	return templates.Errorf("token.file", "file", strconv.Quote(t.Path), "error", err)
}

// isPrivate refuses a file that others than this user own or can use.
func isPrivate(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return templates.Errorf("token.irregular")
	case ok && st.Uid != uint32(os.Geteuid()):
		return templates.Errorf("token.owner")
	case info.Mode().Perm()&0o077 != 0:
		return templates.Errorf("token.mode", "mode", fmt.Sprintf("%04o", info.Mode().Perm()))
	}
	return nil
}

// check refuses an entry that no [Tokens.New] has written.
func (t Token) check() error {
	if !tokenName.MatchString(t.Name) {
		return templates.Errorf("token.name", "name", strconv.Quote(t.Name))
	}
	if sum, err := hex.DecodeString(t.SHA256); err != nil || len(sum) != sha256.Size {
		return templates.Errorf("token.digest", "name", t.Name)
	}
	for _, r := range t.Roles {
		if !slices.Contains(Roles, r) {
			return templates.Errorf("token.role", "name", t.Name, "role", strconv.Quote(string(r)))
		}
	}
	for _, at := range []schemas.OrNull{t.Expires, t.Revoked} {
		if at != "" && at.Time().IsZero() {
			return templates.Errorf("token.time", "name", t.Name, "value", strconv.Quote(string(at)))
		}
	}
	return nil
}

// New adds a token and returns its secret, which is shown once. A zero expires means
// never.
func (t Tokens) New(name string, roles []Role, families []string, now, expires time.Time) (secret string, err error) {
	if !tokenName.MatchString(name) {
		return "", templates.Errorf("token.name.form", "name", strconv.Quote(name))
	}
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails: crypto/rand
	secret = secretPrefix + base64.RawURLEncoding.EncodeToString(raw)
	one := Token{Name: name, SHA256: digest(secret), Roles: roles, Families: families, Created: now.UTC().Truncate(time.Second)}
	if !expires.IsZero() {
		one.Expires = schemas.OrNull(expires.UTC().Format(time.RFC3339))
	}
	return secret, t.edit(func(all []Token) ([]Token, error) {
		for _, other := range all {
			if other.Name == name {
				return nil, templates.Errorf("token.twice", "name", name, "since", other.Status(now))
			}
			if gate.Skeleton(other.Name) == gate.Skeleton(name) {
				return nil, templates.Errorf("token.alike", "name", name, "other", other.Name, "since", other.Status(now))
			}
		}
		return append(all, one), nil
	})
}

// Revoke ends a token. Its name stays in use.
func (t Tokens) Revoke(name string, now time.Time) error {
	return t.edit(func(all []Token) ([]Token, error) {
		i := slices.IndexFunc(all, func(one Token) bool { return one.Name == name })
		switch {
		case i < 0:
			return nil, templates.Errorf("token.none", "name", strconv.Quote(name))
		case all[i].Revoked == "":
			all[i].Revoked = schemas.OrNull(now.UTC().Format(time.RFC3339))
		}
		return all, nil
	})
}

// edit replaces the file, one process at a time.
func (t Tokens) edit(change func([]Token) ([]Token, error)) error {
	if err := os.MkdirAll(filepath.Dir(t.Path), 0o700); err != nil {
		return t.unusable(err)
	}
	lock, err := os.OpenFile(t.Path+".lock", os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return t.unusable(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return t.unusable(err)
	}
	all, err := t.List()
	if err != nil {
		return err
	}
	if all, err = change(all); err != nil {
		return err
	}
	body, err := json.MarshalIndent(tokenFile{1, all}, "", "  ")
	if err != nil {
		return err
	}
	if err := replace(t.Path, append(body, '\n')); err != nil {
		return t.unusable(err)
	}
	return nil
}

// replace writes a file of mode 0600 in place of another, durably.
func replace(path string, body []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".tokens-*")
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// Find returns the token of a secret. The error is a *[Problem] if no valid token has the
// secret.
func (t Tokens) Find(secret string, now time.Time) (Token, error) {
	all, err := t.List()
	if err != nil {
		return Token{}, err
	}
	sum := digest(secret)
	i := slices.IndexFunc(all, func(one Token) bool { return one.SHA256 == sum }) // digests are compared, so timing reveals nothing
	if i < 0 || !strings.HasPrefix(secret, secretPrefix) || all[i].Status(now) != "valid" {
		return Token{}, unauthorized("invalid token")
	}
	return all[i], nil
}

// Named returns the token with a name, if it is valid now.
func (t Tokens) Named(name string, now time.Time) (Token, bool) {
	all, err := t.List()
	i := slices.IndexFunc(all, func(one Token) bool { return one.Name == name })
	if err != nil || i < 0 || all[i].Status(now) != "valid" {
		return Token{}, false
	}
	return all[i], true
}
