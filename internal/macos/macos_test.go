package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatMacOSLacksIsFound checks a module that names what only Linux has, in its program and
// in a test, and a call that go vet does not like.
func TestWhatMacOSLacksIsFound(t *testing.T) {
	for name, c := range map[string]struct{ file, source, want string }{
		"fine":    {"main_test.go", "import \"syscall\"\n\nvar _ = syscall.SysProcAttr{Setpgid: true}\n", ""},
		"program": {"other.go", "import \"syscall\"\n\nvar _ = syscall.MNT_DETACH\n", "undefined: syscall.MNT_DETACH"},
		"test":    {"main_test.go", "import \"syscall\"\n\nvar _ = syscall.SysProcAttr{Pdeathsig: 9}\n", "unknown field Pdeathsig"},
		"vet":     {"other.go", "import \"fmt\"\n\nfunc init() { fmt.Printf(\"%d\\n\", \"text\") }\n", "printf: fmt.Printf format %d has arg"},
		"linux":   {"other_linux.go", "import \"syscall\"\n\nvar _ = syscall.MNT_DETACH\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, body := range map[string]string{"go.mod": "module example.org/x\n\ngo 1.26.0\n", "main.go": "package main\n\nfunc main() {}\n", c.file: "package main\n\n" + c.source} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(body), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			problems, _, err := check(dir, "darwin", "arm64")
			got := strings.Join(problems, "\n")
			if err != nil || (got != "") != (c.want != "") || !strings.Contains(got, c.want) {
				t.Errorf("%v: it says\n%s, expected\n%s", err, got, c.want)
			}
		})
	}
}
