package exec

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
)

// sh is a command that a shell reads.
func sh(text string) []string { return []string{"bash", "-c", text} }

func TestAFileIsFoundHoweverAShellSpellsIt(t *testing.T) {
	c, root := contentsOf(t)
	home := filepath.Dir(root)
	c.WithEnv(func(name string) string { return map[string]string{"HOME": home, "TOOLS": root + "/sub"}[name] })
	putAt(t, root, "sub/deep/more.sh", "more")
	if err := os.Symlink("sub/deep", filepath.Join(root, "to-deep")); err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{
		sh("sh ../ws/check.sh"), sh("sh ~/ws/check.sh"), sh("sh $HOME/ws/check.sh"), sh(`sh "$HOME"/ws/check.sh`), sh(`sh "${HOME}/ws/check.sh"`),
		sh(`sh che\ck.sh`), sh("sh ${X:-check.sh}"), sh("sh ${X-check.sh}"), sh("sh ${X:=check.sh}; sh $X"), sh("x=check; sh $x.sh"),
		sh("bash -c 'sh {check,x}.sh'"), sh(`bash -c 'sh $'\''check.sh'\'''`), sh(`sh $'\x63heck.sh'`), sh(`sh $'che\143k.sh'`),
		sh("sh ~+/check.sh"), sh("sh $PWD/check.sh"), sh("sh $(pwd)/check.sh"), sh("sh `pwd`/check.sh"), sh("sh sub/../check.sh"),
		sh("for f in check run; do sh $f.sh; done"), sh("export x=check; bash -c 'sh $x.sh'"), sh("env x=check sh -c 'sh $x.sh'"),
		sh("f() { sh $1.sh; }; f check"), sh(`sh -c 'sh "$1.sh"' sh check`), sh("set -- check; sh $1.sh"), sh("x='sh ch'; eval $x'eck.sh'"),
		sh("a=(check run); sh ${a[0]}.sh"), sh("sh <<< 'sh che\\ck.sh'"), sh("sh <<E\nsh che\\ck.sh\nE"), sh("y=ck; x=che$y; sh $x.sh"),
		sh("cd sub; cd deep; sh ../../che\\ck.sh"), sh("read -r x <che\\ck.sh"), {"env", "-S", "sh ~/ws/check.sh"}, {"ssh", "host", `sh che\ck.sh`},
		sh("if true; then (cd .; sh che''\\ck.sh); fi"), sh("trap 'sh che\\ck.sh' EXIT"), sh("[[ -f che\\ck.sh ]]"), sh("sh $'check.sh\\0x'"),
	} {
		found := false
		for _, is := range c.Of(".", argv) {
			found = found || is == string(engine.Sum([]byte("check")))
		}
		if !found {
			t.Errorf("%q: %v", argv, c.Of(".", argv))
		}
	}
	for text, name := range map[string]string{
		"cd sub && cd deep && sh more.sh": "sub/deep/more.sh", "cd to-deep && sh more.sh": "to-deep/more.sh", "cd ~/ws/sub && ./run.sh": root + "/sub/run.sh",
		"$TOOLS/run.sh": root + "/sub/run.sh", "sh to-deep/../run.sh": "to-deep/../run.sh",
	} {
		if got := c.Of(".", sh(text)); got[name] == "" {
			t.Errorf("%q: %v", text, got)
		}
	}
	if got := c.Of("sub/deep", sh("cd ../.. && sh check.sh")); got["../../check.sh"] == "" {
		t.Errorf("above the folder: %v", got)
	}
}

func TestAWordThatCannotBeToldIsBoundToTheFilesThatItMayName(t *testing.T) {
	c, root := contentsOf(t)
	c.WithEnv(func(string) string { return "" })
	putAt(t, root, "tests/a.sh", "a")
	putAt(t, root, "tests/b.sh", "b")
	putAt(t, root, "tests/more/c.sh", "c")
	for text, want := range map[string]map[string]string{
		// The files that the word may name are known.
		"sh tests/*.sh": {"tests/*.sh": "files=2"}, "for f in tests/*.sh; do sh $f; done": {"$f": "files=2"}, "sh tests/[ab].sh": {"tests/[ab].sh": "files=2"},
		"sh tests/*/?.sh": {"tests/*/?.sh": "files=1"}, "cd tests && sh ?.sh": {"?.sh": "files=2"}, "sh $(git rev-parse --show-toplevel)/check.sh": {"$(git rev-parse --show-toplevel)/check.sh": "files=1"},
		"sh $(cat which).sh": {"$(cat which).sh": "files=6"}, "d=$(mktemp -d); sh $d/run.sh": {"$d/run.sh": "files=1"}, `cd "$(dirname "$0")" && ./check.sh`: {"./check.sh": "files=1"},
		"timeout -s KILL 5 sh tests/*.sh": {"tests/*.sh": "files=2"}, "cat tests/*.sh | sh": {"tests/*.sh": "files=2"}, "sh to-sub/*.sh": {"to-sub/*.sh": "files=1"},
		// The word may name any file.
		"sh $(cat which)": {"$(cat which)": AnyFile}, "read x; $x": {"$x": AnyFile}, `eval "$(cat which)"`: {`"$(cat which)"`: AnyFile},
		"cat $(cat which) | sh": {"$(cat which)": AnyFile}, "sh < $(cat which)": {"$(cat which)": AnyFile}, ". $(cat which)": {"$(cat which)": AnyFile},
		". ./env.sh; sh $X": {"$X": AnyFile}, "sh -c 'sh $AFL_X'": {"$AFL_X": AnyFile}, "bash -euo pipefail -c 'sh $(cat which)'": {"$(cat which)": AnyFile},
		"find . -exec sh -c 'sh $1' sh {} +": {"$1": AnyFile}, "sh <(cat $(cat which))": {"$(cat which)": AnyFile}, "while read -r l; do bash $l; done < list": {"$l": AnyFile},
		"sh -c 'if'": {"'if'": AnyFile}, "if": {"if": AnyFile}, "x=a; x=$x.b; sh $x": {"$x": AnyFile}, "sh {1..9}$(cat which)": {"{1..9}$(cat which)": AnyFile},
		// The word is data, or names nothing in the workspace.
		"grep -c foo $(cat which)": {}, "npm test -- $X $(nproc)": {}, "python3 -m pytest $(cat which)": {}, "test $? = 0": {}, "sh gone.sh $(date)": {}, "make -j$(nproc)": {},
		"bash -c \"make -j$(nproc)\"": {}, "eslint src/*.js": {}, "timeout 60 npm test $(date)": {}, "[ $(wc -l < list) -gt 3 ]": {}, "$X": {}, "exit $?": {}, "echo $((1+2))": {}, "sh $X": {},
		"cd $(git rev-parse --show-toplevel) && npm test": {}, "sh tests/gone/*.sh": {"tests": "folder"},
	} {
		got := c.Of(".", sh(text))
		for name, is := range got {
			if n, _, ok := strings.Cut(strings.TrimPrefix(is, "files like this: "), ", together sha256:"); ok {
				got[name] = "files=" + n
			}
			if _, asked := want[name]; !asked && (is == isFolder || strings.HasPrefix(is, "sha256:")) {
				delete(got, name)
			}
		}
		delete(want, "tests")
		delete(got, "tests")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	before := c.Of(".", sh("sh tests/*.sh"))
	putAt(t, root, "tests/b.sh", "B")
	after := c.Of(".", sh("sh tests/*.sh"))
	putAt(t, root, "tests/d.sh", "d")
	if third := c.Of(".", sh("sh tests/*.sh")); cmp.Equal(before, after) || cmp.Equal(after, third) {
		t.Errorf("%v, %v, %v", before, after, third)
	}
}

func TestACommandThatIsHardToReadCostsLittle(t *testing.T) {
	c, _ := contentsOf(t)
	many := func(s string, n int) string { return strings.Repeat(s, n) }
	for name, text := range map[string]string{
		"braces": "sh " + many("{a,b}", 2000), "sequence": "sh {1..100000000}{1..100000000}", "doubling": "a=xxxxxxxx;" + many("a=$a$a;", 2000) + "sh $a",
		"chain": "a0=x;" + many("a=$a0$b;b=$a$c;c=$a$b;", 600) + "sh $a", "arguments": many("sh $1 $2.sh x;", 1000), "pipes": many("a $(b) | ", 1500) + "sh",
		"defaults": many("sh ${a:-x} ${b:=$a};", 700), "flat substitutions": many("$(sh $(a)) ", 1300), "words": many("a.sh ", 3000), "values": "a=(" + many("x ", 2000) + ");" + many("sh ${a[0]}$1;", 900),
		"eval": many("eval ", 3000) + "x", "heredocs": many("sh <<E\n", 2000), "groups": many("{ ", 8000), "ifs": many("if ", 5000), "tests": "[[ " + many("! ", 8000),
		"parentheses": many("(", 60000), "substitutions": many("$(", 30000), "closed substitutions": many("$(", 60) + "a" + many(")", 60), "backquotes": many("`", 9999),
		"nested defaults": "sh " + many("${a:-", 60) + many("}", 60), "nested quotes": many(`"$(`, 60) + many(`)"`, 60), "nested runs": many("$(sh $(", 30) + many("))", 30),
		"paths": "PATH=" + many("/x:", 1300) + "; for PATH in {/x,/y}{" + many("/x:/y:,", 200) + "}; do x; done", "nested shells": many("sh -c '", 2000), "large": many("x", 1<<20),
	} {
		got := c.Of(".", sh(text))
		if len(got) > 64 {
			t.Errorf("%s: %d names", name, len(got))
		}
	}
}

func TestTheFilesThatAWordMayNameAreThoseOfTheFolder(t *testing.T) {
	c, root := contentsOf(t)
	for _, dir := range []string{"", "trees/a/"} {
		putAt(t, root, dir+"tests/a.sh", "a")
		putAt(t, root, dir+"tests/b.sh", "b")
	}
	argv := sh("sh tests/*.sh")
	if diff := cmp.Diff(c.Of(".", argv), c.Of("trees/a", argv)); diff != "" {
		t.Errorf("in a work tree with the same files:\n%s", diff)
	}
	putAt(t, root, "trees/a/tests/b.sh", "B")
	if cmp.Equal(c.Of(".", argv), c.Of("trees/a", argv)) {
		t.Error("a work tree with other files is the same")
	}
}

func FuzzReadShell(f *testing.F) {
	for _, text := range []string{`sh "$HOME"/a.sh | sh <<< $'\x41'`, "x=(a b); for f in ${x[@]}; do eval $f; done <&3", "cat <<E >(a) {a,{1..3}} ~x/[a-b]?*", "case $x in a) b;; esac; f() { $1; }", "((a++)); [[ -f $x && a =~ b ]]; let a=1", "a=${b:-${c//d/e}} ${!f} ${#g} ${h:1:2} @(a|b) `c`"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		getenv := func(name string) string { return strings.ToLower(name) }
		words, untold := readShell([]string{"bash", "-c", text}, getenv, path.IsAbs)
		again, untoldAgain := readShell([]string{"bash", "-c", text}, getenv, path.IsAbs)
		if diff := cmp.Diff([]any{words, untold}, []any{again, untoldAgain}); diff != "" {
			t.Errorf("%q is read differently again:\n%s", text, diff)
		}
	})
}

// A trusted command still names the files that it named before placet read commands as a shell
// does: otherwise every agreement of the version before would have to be given again.
func TestAnAgreementHoldsWhereACommandNamesTheSameFiles(t *testing.T) {
	c, root := contentsOf(t)
	c.WithEnv(func(name string) string { return map[string]string{"HOME": filepath.Dir(root)}[name] })
	want := map[string]string{"check.sh": string(engine.Sum([]byte("check")))}
	for _, text := range []string{
		"sh check.sh", "./././check.sh", "cd ~/ws && sh check.sh", `sh "che"ck.sh check.sh`, `sh chec""k.sh`, "sh<check.sh", "cat check.sh|sh", "env A=1 sh check.sh", `bash -c "source check.sh"`,
		"sh check.sh 2>&1", "sh -- check.sh", "sh check.sh | tee out.txt; exit $?", `test -n "$(sh check.sh)"`, "timeout 60 sh check.sh $X $(date)", "if [ -f check.sh ]; then sh check.sh; fi",
		"sh check.sh >out.log", `echo "it's done" && sh check.sh`, "for i in 1 2 3; do sh check.sh $i; done", "sh -euo pipefail check.sh", "FOO=bar sh check.sh", "python3 check.sh *.txt",
	} {
		if diff := cmp.Diff(want, c.Of(".", sh(text))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}
