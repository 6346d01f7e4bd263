package exec

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAPreferredFolderIsTakenWhereItIsOne(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	tests := []struct {
		name, prefer, dir, want, outcome string
		make                             func(root string) error
	}{
		{name: "there", prefer: "trees/a", want: "trees/a", make: func(root string) error {
			return os.MkdirAll(filepath.Join(root, "trees/a"), 0o777)
		}},
		{name: "there, written oddly", prefer: "trees//a/", want: "trees/a", make: func(root string) error {
			return os.MkdirAll(filepath.Join(root, "trees/a"), 0o777)
		}},
		{name: "a link within the workspace", prefer: "trees/a", want: "trees/a", make: func(root string) error {
			if err := os.MkdirAll(filepath.Join(root, "trees/b"), 0o777); err != nil {
				return err
			}
			return os.Symlink("b", filepath.Join(root, "trees/a"))
		}},
		{name: "absent", prefer: "trees/a", want: "."},
		{name: "absent, beside another", prefer: "trees/a", dir: "sub", want: "sub", make: func(root string) error {
			return os.Mkdir(filepath.Join(root, "sub"), 0o777)
		}},
		{name: "a file", prefer: "trees", want: ".", make: func(root string) error {
			return os.WriteFile(filepath.Join(root, "trees"), nil, 0o666)
		}},
		{name: "a link that leads out", prefer: "trees", want: ".", make: func(root string) error {
			return os.Symlink(outside, filepath.Join(root, "trees"))
		}},
		{name: "below a link that leads out", prefer: "trees/a", want: ".", make: func(root string) error {
			if err := os.MkdirAll(filepath.Join(outside, "a"), 0o777); err != nil {
				return err
			}
			return os.Symlink(outside, filepath.Join(root, "trees"))
		}},
		{name: "outside", prefer: "../a", want: "."},
		{name: "neither is there", prefer: "trees/a", dir: "sub/", want: "sub", outcome: "not_started"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, RunnerOptions{})
			if test.make != nil {
				if err := test.make(b.root); err != nil {
					t.Fatal(err)
				}
			}
			a := judged(t, "echo > ran-here", "")
			a.Command.Prefer, a.Command.Dir = test.prefer, test.dir
			if test.outcome == "" {
				test.outcome = "finished"
			}
			got := b.do(a)
			if got.Cwd != test.want || got.Outcome != test.outcome {
				t.Errorf("outcome %q in %q, want %q in %q", got.Outcome, got.Cwd, test.outcome, test.want)
			}
			if ran := b.has(filepath.Join(test.want, "ran-here")); ran != (test.outcome == "finished") {
				t.Errorf("ran there: %t", ran)
			}
		})
	}
}
