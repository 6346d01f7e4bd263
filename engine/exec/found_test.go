package exec

import (
	"os"
	"path/filepath"
	"testing"

	"placet/engine"
)

// program puts a script that can be run as a program.
func program(t *testing.T, root, name, body string) {
	t.Helper()
	putAt(t, root, name, body)
	if err := os.Chmod(filepath.Join(root, name), 0o755); err != nil {
		t.Fatal(err)
	}
}

// has reports whether a file with a content is among those of a command.
func has(files map[string]string, body string) bool {
	for _, is := range files {
		if is == string(engine.Sum([]byte(body))) || is == "link to "+string(engine.Sum([]byte(body))) {
			return true
		}
	}
	return false
}

func TestAFileThatNoWordNamesIsFound(t *testing.T) {
	c, root := contentsOf(t)
	tools, outside := root+"/.venv/bin", filepath.Dir(root)+"/bin"
	program(t, root, ".venv/bin/tool", "tool")
	program(t, root, "node_modules/tool/main.js", "linked")
	program(t, root, "relative/near", "near")
	program(t, outside, "apart", "apart")
	for _, link := range []string{tools + "/linked", outside + "/linked2"} {
		if err := os.Symlink(root+"/node_modules/tool/main.js", link); err != nil {
			t.Fatal(err)
		}
	}
	program(t, root, "interp", "#!near -rsub/lib\ninterp")
	putAt(t, root, "sub/lib", "lib")
	program(t, root, "script", "#!./interp -x\n")
	program(t, root, "by-env", "#!/usr/bin/env -S tool\n")
	c.WithEnv(func(name string) string {
		return map[string]string{"PATH": "/usr/bin:" + tools + ":relative:" + outside}[name]
	})
	for _, test := range []struct {
		argv []string
		body string
	}{
		{[]string{"tool", "-q"}, "tool"}, {sh("tool -q"), "tool"}, {sh("x=to; timeout 5 ${x}ol"), "tool"}, {[]string{"linked"}, "linked"}, {sh("linked2"), "linked"}, {sh("near"), "near"},
		{[]string{"awk", "-fcheck.sh"}, "check"}, {[]string{"make", "-fcheck.sh"}, "check"}, {[]string{"node", "-rcheck.sh"}, "check"}, {sh("tar -xvfcheck.sh"), "check"},
		{[]string{"env", "-Csub", "sh", "run.sh"}, "run"}, {sh("git -Csub x run.sh"), "run"}, {sh("sed -n -fche\\ck.sh"), "check"},
		{[]string{"./script"}, "#!near -rsub/lib\ninterp"}, {[]string{"./script"}, "near"}, {[]string{"./script"}, "lib"}, {sh("./by-env"), "tool"},
		{[]string{"sh", "/proc/self/cwd/check.sh"}, "check"}, {sh("sh /proc/$$/cwd/check.sh"), "check"}, {sh("sh /proc/$(cat pid)/cwd/check.sh"), "check"}, {sh("cd /proc/self/cwd; sh check.sh"), "check"}, {sh("sh /dev/fd/../cwd/sub/run.sh"), "run"}, {sh("sh /proc/self/root" + root + "/check.sh"), "check"},
	} {
		got := c.Of(".", test.argv)
		if !has(got, test.body) {
			t.Errorf("%q: %q is not in %v", test.argv, test.body, got)
		}
	}
	for _, argv := range [][]string{{"apart"}, sh("apart -ocheck.sh"), sh("/usr/bin/env true")} {
		if got := c.Of(".", argv); len(got) > 0 {
			t.Errorf("%q: %v", argv, got)
		}
	}
}

func TestWhatAVariableLoadsMayBeAnyFile(t *testing.T) {
	c, root := contentsOf(t)
	c.WithEnv(func(name string) string { return map[string]string{"PATH": "/usr/bin:" + root + "/bin"}[name] })
	for _, argv := range [][]string{
		sh("PATH=bin:$PATH check"), sh(`export PATH="$PWD/bin:$PATH"; check`), {"env", "PATH=bin:/usr/bin", "check"}, sh("PATH+=:bin; check"), sh("PATH=/usr/bin: check"), sh("PATH= check"),
		sh("declare 'PATH=bin'; check"), sh("read PATH <check.sh; x"), sh("${PATH:=bin}"), sh("for PATH in bin; do check; done"), sh("printf -v PATH bin; check"), {"ssh", "host", "PATH=bin check"},
		sh("PATH=" + root + "/other check"), sh("PATH=$(cat which) check"), sh("PATH=../ws/bin check"),
		sh("IFS=:; set -- a:b; sh $1"), sh("BASH_ENV=$(cat which) bash -c true"), sh("ENV=x sh -i"), sh("LD_PRELOAD=./x.so true"), sh("LD_LIBRARY_PATH=lib true"), sh("PYTHONPATH=src pytest"), sh("NODE_OPTIONS='-r x' node y"),
		sh("PERL5LIB=lib prove"), sh("GIT_EXEC_PATH=. git x"), sh("CDPATH=sub; cd x && ./run"), sh("CLASSPATH=a.jar java X"),
		{"zsh", "-c", "path=(bin $path); check"}, {"fish", "-c", "set -x PATH bin $PATH; check"},
	} {
		got := c.Of(".", argv)
		any := false
		for _, is := range got {
			any = any || is == AnyFile
		}
		if !any {
			t.Errorf("%q: %v", argv, got)
		}
	}
	for _, argv := range [][]string{
		sh("PATH=/usr/local/go/bin:$PATH go test"), sh("export PATH=/opt/x:/usr/bin; x"), {"env", "PATH=/usr/bin", "true"}, sh("while IFS= read -r l; do echo $l; done"), sh("IFS=$'\\n'; echo x"), sh("PYTHONPATH= pytest"),
		sh("LD_LIBRARY_PATH=/usr/lib true"), sh("NODE_OPTIONS=--max-old-space-size=4096 npm test"), sh("PYTHONUNBUFFERED=1 CI=true pytest"), sh("echo $PATH"), sh("path=x; unset PATH; echo"), sh("test -n \"$PATH\""),
	} {
		if got := c.Of(".", argv); len(got) > 0 {
			t.Errorf("%q: %v", argv, got)
		}
	}
}
