package send

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"placet/engine"
	"placet/templates"
)

// longestSecret is the longest secret in bytes.
const longestSecret = 4 << 10

// secret is a password or a token, "" for none.
type secret string

// secretAt reads a secret. It returns "" if no file is named and the variable is not
// set.
func (s *Sender) secretAt(where engine.Secret) (secret, error) {
	text := s.getenv(where.Env)
	if where.File != "" {
		body, err := s.readSecret(where.File)
		if err != nil {
			return "", templates.Errorf("send.secret.file", "file", strconv.Quote(where.File), "error", err)
		}
		text = body
	}
	text = strings.TrimSpace(text)
	unset, bad := text == "" || text == "CHANGE_ME", len(text) > longestSecret || strings.ContainsFunc(text, unicode.IsControl)
	switch {
	case unset && where.File != "":
		return "", templates.Errorf("send.secret.empty", "file", strconv.Quote(where.File))
	case unset:
		return "", nil
	case bad && where.File != "":
		return "", templates.Errorf("send.secret.lines.file", "file", strconv.Quote(where.File), "most", longestSecret)
	case bad:
		return "", templates.Errorf("send.secret.lines.variable", "name", where.Env, "most", longestSecret)
	}
	return secret(text), nil
}

// readSecret reads a file that nobody in the workspace can choose or change, and that
// nobody but its owner can read. The error never quotes its content.
func (s *Sender) readSecret(name string) (string, error) {
	name = filepath.Clean(name) // ".." after a link leads elsewhere
	if err := s.isOutside(name); err != nil {
		return "", err
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return "", templates.Errorf("send.secret.link")
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	switch st, known := info.Sys().(*syscall.Stat_t); {
	case !info.Mode().IsRegular():
		return "", templates.Errorf("send.secret.kind")
	case !known || int(st.Uid) != os.Geteuid():
		return "", templates.Errorf("send.secret.owner")
	case info.Mode().Perm()&0o177 != 0:
		return "", templates.Errorf("send.secret.mode", "mode", fmt.Sprintf("%04o", info.Mode().Perm()))
	}
	body, err := io.ReadAll(io.LimitReader(f, longestSecret+2)) // a line end, and one byte too many
	return string(body), err
}

// isOutside returns nil if neither a path nor the target of its links is in the
// workspace.
func (s *Sender) isOutside(name string) error {
	if !filepath.IsAbs(name) {
		return templates.Errorf("send.secret.relative")
	}
	root, err := os.Stat(s.root)
	if err != nil {
		return err
	}
	dir := filepath.Dir(name)
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	for _, p := range []string{dir, real} {
		for above := ""; p != above; above, p = p, filepath.Dir(p) {
			if info, err := os.Stat(p); err != nil {
				return err
			} else if os.SameFile(info, root) {
				return templates.Errorf("send.secret.inside")
			}
		}
	}
	return nil
}

// unescape replaces the escapes in JSON and in the errors of libraries by the characters.
var unescape = strings.NewReplacer(`\n`, " ", `\t`, " ", `\"`, `"`, `\/`, "/", `\\`, `\`)

// hide returns a text, or a notice that it is withheld because it repeats the secret.
func (x secret) hide(text string) string {
	if x == "" {
		return text
	}
	var value any
	_ = json.Unmarshal([]byte(text), &value) // JSON can spell a string in many ways
	for _, spelling := range []string{text, visible(unescape.Replace(text)), fmt.Sprint(value)} {
		if slices.ContainsFunc(x.forms(), func(form string) bool { return strings.Contains(spelling, form) }) {
			return "withheld, because it repeats the secret"
		}
	}
	return text
}

// hideIn does the same as hide if the text belongs to a secret, and otherwise
// returns the text.
func (x secret) hideIn(isSecret bool, text string) string {
	if !isSecret {
		return text
	}
	return x.hide(text)
}

// Secret reads a secret for a caller that needs it. It returns "" if there is
// none.
func (s *Sender) Secret(where engine.Secret) (string, error) {
	text, err := s.secretAt(where)
	return string(text), err
}

// forms returns the secret unchanged, in the spelling of URLs, and in base64, which
// SMTP uses, as part of a longer text.
func (x secret) forms() []string {
	forms := []string{string(x), url.QueryEscape(string(x))}
	for before := range 3 {
		text := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), x...))
		text = text[(8*before+5)/6 : 8*(before+len(x))/6] // the part that does not depend on the neighbours
		if len(text) >= 4 {
			forms = append(forms, text)
		}
	}
	return forms
}
