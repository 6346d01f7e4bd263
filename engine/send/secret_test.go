package send

import (
	"encoding/base64"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"placet/engine"
	"placet/templates"
)

func fromBase64(t *testing.T, r io.Reader) string {
	t.Helper()
	text, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding, r))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestWhereASecretMayBe(t *testing.T) {
	t.Parallel()
	root, home := t.TempDir(), t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		return name
	}
	link := func(to, name string) string {
		t.Helper()
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
		return name
	}
	in := func(name string) string { return filepath.Join(home, name) }
	good := write(in("good"), "from-file\n", 0o600)
	inside := write(filepath.Join(root, "inside"), "from-file", 0o600)
	sub := filepath.Join(root, "sub")
	if err := errors.Join(os.Mkdir(sub, 0o700), syscall.Mkfifo(in("fifo"), 0o600)); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(sub, "inside"), "from-file", 0o600)
	tests := map[string]struct {
		where      engine.Secret
		want, fail string
	}{
		"file":                       {where: engine.Secret{File: good, Env: "SET"}, want: "from-file"},
		"read only":                  {where: engine.Secret{File: write(in("ro"), "x", 0o400)}, want: "x"},
		"variable":                   {where: engine.Secret{Env: "SET"}, want: "from-variable"},
		"variable not set":           {where: engine.Secret{Env: "UNSET"}},
		"variable to be changed":     {where: engine.Secret{Env: "LATER"}},
		"nothing named":              {},
		"file to be changed":         {where: engine.Secret{File: write(in("later"), "CHANGE_ME\n", 0o600), Env: "SET"}, fail: "holds no secret"},
		"empty file":                 {where: engine.Secret{File: write(in("empty"), " \n", 0o600), Env: "SET"}, fail: "holds no secret"},
		"no file":                    {where: engine.Secret{File: in("gone"), Env: "SET"}, fail: "no such file"},
		"relative":                   {where: engine.Secret{File: "good"}, fail: "absolute"},
		"others may read":            {where: engine.Secret{File: write(in("open"), "x", 0o644)}, fail: "chmod 600"},
		"the group may read":         {where: engine.Secret{File: write(in("group"), "x", 0o640)}, fail: "chmod 600"},
		"a folder":                   {where: engine.Secret{File: home}, fail: "regular"},
		"a pipe":                     {where: engine.Secret{File: in("fifo")}, fail: "regular"},
		"the null device":            {where: engine.Secret{File: "/dev/null"}, fail: "regular"},
		"two lines":                  {where: engine.Secret{File: write(in("lines"), "a\nb", 0o600)}, fail: "one line"},
		"too long":                   {where: engine.Secret{File: write(in("long"), strings.Repeat("x", longestSecret+1), 0o600)}, fail: "one line"},
		"in the workspace":           {where: engine.Secret{File: inside}, fail: "workspace"},
		"a link":                     {where: engine.Secret{File: link(good, in("link"))}, fail: "link"},
		"a link in the workspace":    {where: engine.Secret{File: link(good, filepath.Join(root, "out"))}, fail: "workspace"},
		"through the workspace":      {where: engine.Secret{File: filepath.Join(link(home, filepath.Join(root, "home")), "good")}, fail: "workspace"},
		"linked to the workspace":    {where: engine.Secret{File: filepath.Join(link(sub, in("ws")), "inside")}, fail: "workspace"},
		"dots behind a link":         {where: engine.Secret{File: link(sub, in("back")) + "/../inside"}, fail: "no such file"},
		"dots out of the workspace":  {where: engine.Secret{File: sub + "/../inside"}, fail: "workspace"},
		"dots that come back inside": {where: engine.Secret{File: home + "/../" + filepath.Base(filepath.Dir(inside)) + "/inside"}, fail: "workspace"},
	}
	s := New(root, func(name string) string {
		return map[string]string{"SET": "from-variable", "LATER": "CHANGE_ME"}[name]
	})
	for name, test := range tests {
		got, err := s.secretAt(test.where)
		switch {
		case test.fail == "" && (err != nil || string(got) != test.want):
			t.Errorf("%s: %q, %v; want %q", name, got, err, test.want)
		case test.fail != "" && (err == nil || !strings.Contains(err.Error(), test.fail) || strings.Contains(err.Error(), "from-")):
			t.Errorf("%s: %q, %v; want an error with %q", name, got, err, test.fail)
		case test.fail != "" && !strings.HasPrefix(templates.In(templates.Pseudo, err), "⟦cannot "):
			t.Errorf("%s: %q is in no language", name, templates.In(templates.Pseudo, err))
		}
	}
}

func TestASecretIsReadAtEachSend(t *testing.T) {
	t.Parallel()
	srv := (&server{login: checkPassword}).serve(t, nil)
	from := sender(t)
	what := withLogin(mailTo(srv.addr))
	what.Mail.Password.File = filepath.Join(t.TempDir(), "password")
	for _, test := range []struct{ text, want string }{{"old", "refused 535"}, {password, "done 250"}, {"", "not_started -"}} {
		if err := os.WriteFile(what.Mail.Password.File, []byte(test.text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		sent := from.Send(t.Context(), what)
		if got := short(sent); got != test.want {
			t.Errorf("%q: %s: %s; want %s", test.text, got, sent.Reason, test.want)
		}
	}
}

// A hostile server, or one that only shows what it got, must not bring the secret
// into an outcome.
func TestNoOutcomeRepeatsASecret(t *testing.T) {
	t.Parallel()
	encoded := base64.StdEncoding.EncodeToString([]byte("\x00placet\x00" + password))
	for name, text := range map[string]string{
		"as it is": password, "in base64": encoded, "over two lines": strings.ReplaceAll(password, " ", "\t"),
		"in a URL": "correct+horse%2F42", "alone in base64": base64.StdEncoding.EncodeToString([]byte(password)),
	} {
		for _, verb := range []string{"AUTH", "MAIL", "RCPT", "."} {
			for _, code := range []string{"250 taken ", "535 no: ", "451 later: ", "299 odd: "} {
				for _, before := range []int{0, 380, 410, 425, 440, 480} { // a repeated text is cut
					said := code + strings.Repeat("x", before) + text
					if got := echo(t, verb, said); strings.Contains(got, "corr") || strings.Contains(got, encoded[12:20]) {
						t.Fatalf("%s, %s to %s: %s", name, code, verb, got)
					}
				}
			}
		}
	}
}

// echo returns the outcome of a send whose server answers a command with a text.
func echo(t *testing.T, verb, said string) string {
	t.Helper()
	usual := accepting()
	addr, _ := script(t, "220 hi", func(line string) string {
		if answer := usual(line); !strings.HasPrefix(line, verb) {
			return answer
		}
		return said
	})
	sent := sender(t).Send(t.Context(), withLogin(mailTo(addr)))
	if sent.Outcome == "" {
		t.Error("no outcome")
	}
	return sent.Reason + string(sent.Response)
}
