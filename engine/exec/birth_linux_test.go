package exec

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestBirthIsReadBehindTheName(t *testing.T) {
	rest := " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21"
	tests := []struct{ name, stat, want string }{
		{"plain", "12 (sh) S" + rest, "4711"},
		{"a name with blanks and parentheses", "12 (a) Z (b) c) R" + rest, "4711"},
		{"a group that is no number", "12 (sh) S 1 x" + rest[4:], "cannot read /proc/<pid>/stat"},
		{"waits to be reaped", "12 (sh) Z" + rest, "ended"},
		{"dead", "12 (sh) X" + rest, "ended"},
		{"cut off", "12 (sh) S 1 2", "cannot read /proc/<pid>/stat: 3 fields"},
		{"empty", "", "cannot read /proc/<pid>/stat: 0 fields"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f, err := parseStat(test.stat)
			got := f.birth
			switch {
			case err != nil:
				got = err.Error()
			case f.group != 2 || f.session != 3:
				t.Errorf("group %d, session %d; want 2, 3", f.group, f.session)
			}
			if !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestAProcessIsKnownByItsBirth(t *testing.T) {
	own, err := birth(os.Getpid())
	if err != nil || own == "" {
		t.Fatalf("birth of this process: %q, %v", own, err)
	}
	if again, _ := birth(os.Getpid()); again != own {
		t.Errorf("born at %s, then at %s", own, again)
	}
	if boot() == "" {
		t.Error("the machine's start has no name")
	}
	child := exec.Command("true")
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	if _, err := birth(child.Process.Pid); !errors.Is(err, errEnded) {
		t.Errorf("birth of an ended process: %v", err)
	}
}
