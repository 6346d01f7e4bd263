package templates

import (
	"os/exec"
	"strings"
	"testing"
)

func TestACommandLineIsQuoted(t *testing.T) {
	for _, test := range []struct {
		args, flags []string
		want        string
	}{
		{[]string{"fr-1", "approve"}, nil, "placet respond fr-1 approve"},
		{[]string{"afl/shop", "a b"}, []string{`-m "…"`}, `placet respond afl/shop 'a b' -m "…"`},
		{[]string{"fr-1", "x; rm -rf ~"}, nil, `placet respond fr-1 'x; rm -rf ~'`},
		{[]string{"fr-1", "$(id)", "`id`", "it's", "", "~", "#x", "a*"}, nil, `placet respond fr-1 '$(id)' '` + "`id`" + `' 'it'\''s' '' '~' '#x' 'a*'`},
		{[]string{"fr-1", "--as=root"}, []string{`-m "…"`}, `placet respond -m "…" -- fr-1 --as=root`},
		{[]string{"-x"}, nil, "placet respond -- -x"},
		{[]string{"=ls", "a=b"}, nil, "placet respond '=ls' a=b"},
		{[]string{"réponse", "{a,b}", "a\nb", "!x"}, nil, "placet respond 'réponse' '{a,b}' 'a\nb' '!x'"},
	} {
		if got := CommandLine("placet respond", test.args, test.flags...); got != test.want {
			t.Errorf("%q: %s, want %s", test.args, got, test.want)
		}
	}
}

// A shell reads any text of a document as one word, and runs nothing.
func FuzzShellWord(f *testing.F) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		f.Skip("no shell")
	}
	for _, s := range []string{"", "a b", "'", `\`, "$(echo x)", "`echo x`", "a\nb", "-n", "~", "*", "&& x", "'\"'", "\t", "=x", "é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.Contains(s, "\x00") {
			t.Skip("no argument holds NUL")
		}
		out, err := exec.Command(sh, "-c", "printf '%s.' "+ShellWord(s)).Output()
		if err != nil || string(out) != s+"." {
			t.Errorf("%q became %q: %v", s, out, err)
		}
	})
}
