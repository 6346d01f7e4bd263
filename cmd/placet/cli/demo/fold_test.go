package demo

import (
	"bytes"
	"strings"
	"testing"
)

// TestNoLineIsTooWide writes lines in parts. Only a word that is too wide makes a line too wide, and
// nothing is lost.
func TestNoLineIsTooWide(t *testing.T) {
	path := ".fractary/" + strings.Repeat("x", 110)
	for text, want := range map[string]string{
		"short\n": "short\n",
		"\n":      "\n",
		"  " + strings.Repeat("word ", 30) + "end\n":       "  " + strings.TrimRight(strings.Repeat("word ", 19), " ") + "\n      " + strings.Repeat("word ", 11) + "end\n",
		"$ cat " + path + " | wc\n":                        "$ cat\n    " + path + "\n    | wc\n",
		"    " + path + "\n":                               "    " + path + "\n",
		"\x1b[2m" + strings.Repeat("y", 100) + "\x1b[0m\n": "\x1b[2m" + strings.Repeat("y", 100) + "\x1b[0m\n",
		strings.Repeat("家", 49) + " 家 家\n":                 strings.Repeat("家", 49) + "\n    家 家\n",
	} {
		var out bytes.Buffer
		f := &folder{out: &out}
		for i := range len(text) {
			if _, err := f.Write([]byte{text[i]}); err != nil {
				t.Fatal(err)
			}
		}
		if out.String() != want {
			t.Errorf("%q becomes\n%q, expected\n%q", text, out.String(), want)
		}
	}
}
