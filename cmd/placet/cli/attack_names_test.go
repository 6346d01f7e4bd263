package cli_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// namesAttacks are on the files that a trusted command names.
var namesAttacks = []attack{
	{"a script by another spelling", "the agent rewrites a script whose path the trusted command spells as only a shell reads it", func(t *testing.T, p *place) {
		for _, command := range []string{
			"sh ../ws/check.sh", "sh ~/../ws/check.sh", "sh $HOME/../ws/check.sh", `sh "$HOME"/../ws/check.sh`, `sh che\ck.sh`, "sh ${X:-check.sh}", "x=check; sh $x.sh",
			"bash -c 'sh {check,x}.sh'", `bash -c 'sh $'\''check.sh'\'''`, "sh .afl/../check.sh", "for f in *.sh; do sh $f; done", "sh $(pwd)/check.sh", "sh $(git rev-parse --show-toplevel 2>/dev/null || pwd)/check.sh",
		} {
			p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
			p.session(command)
			p.endsOnce(0)
			p.says(p.must(0, "trust"), "sha256:", "names ", command)
			p.trusts("")
			honest := p.read("check.sh")
			p.write("check.sh", "echo evil >> out\necho 4 passing\n")
			p.handsIn("", 0)
			p.endsOnce(3)
			p.ran(0)
			p.says(p.must(0, "trust"), "changed")
			p.write("check.sh", honest)
			p.endsOnce(3)
			p.ran(1)
		}
	}},
	{"a script of which cannot be told which it is", "the agent says in a file which script a trusted command runs", func(t *testing.T, p *place) {
		p.write("which", "check.sh\n")
		p.session("sh $(cat which)")
		p.endsOnce(0)
		p.says(p.must(0, "trust"), "names $(cat which): it cannot be told which file this is", "--any-file")
		name := "afl.validation shop/a@" + p.listed("afl.validation shop/a")
		for _, args := range [][]string{{"--yes"}, {name}, {name, "--yes"}} {
			p.says(p.must(1, append([]string{"trust"}, args...)...), `"$(cat which)" may be any file of the workspace`)
		}
		p.handsIn("", 0)
		p.endsOnce(3)
		p.ran(0)
		p.must(0, "trust", name, "--any-file")
		p.endsOnce(3)
		p.ran(1)
	}},
	{"a script of those that a word may name", "the agent rewrites or adds one of the scripts that a trusted command may choose", func(t *testing.T, p *place) {
		p.write("which", "check\n")
		p.session("sh $(cat which).sh; grep -c ran $(ls out)")
		p.endsOnce(0)
		p.says(p.must(0, "trust"), "names $(cat which).sh: files like this: 1, together sha256:")
		p.trusts("")
		p.write("more.sh", "echo evil >> out\n")
		p.handsIn("", 0)
		p.endsOnce(3)
		p.ran(0)
		if out := p.must(0, "trust"); strings.Contains(out, "--any-file") {
			t.Errorf("trust says %s", out)
		}
		p.remove("more.sh")
		p.write("other.txt", "of no concern\n")
		p.endsOnce(3)
		p.ran(1)
	}},
}
