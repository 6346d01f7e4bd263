package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

// stub is a program that says its version, built from two modules.
func stub(t *testing.T, dir string, p platform) program {
	t.Helper()
	name := filepath.Join(dir, p.String())
	if err := os.WriteFile(name, []byte("#!/bin/sh\necho placet 1.2.3 for "+p.String()+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	deps := []*debug.Module{{Path: "example.org/everywhere", Version: "v1.0.0"}, {Path: "example.org/" + p.system, Version: "v0.1.0"}}
	return program{p, name, &debug.BuildInfo{GoVersion: "go1.26.0", Deps: deps}}
}

// papersOf are papers of every kind.
func papersOf() (all []paper) {
	for _, name := range []string{"CHANGELOG.md", "LICENSE", "NOTICE", "README.md", "completion/_placet", "completion/placet.bash", "completion/placet.fish", "docs/families/ask.md", "licences.txt", "man/ja/man1/placet.1", "man/man1/placet-ask.1", "man/man1/placet.1"} {
		all = append(all, paper{name, []byte("the file " + name + "\n")})
	}
	return all
}

// packed packs a release of stubs, and returns its folder.
func packed(t *testing.T, r release) string {
	t.Helper()
	// The programs lie elsewhere each time, and were written at another time.
	stubs := t.TempDir()
	r.out = filepath.Join(t.TempDir(), "dist")
	var built []program
	for _, p := range platforms {
		built = append(built, stub(t, stubs, p))
	}
	if err := r.pack(built, papersOf()); err != nil {
		t.Fatal(err)
	}
	return r.out
}

func example() release {
	return release{version: "1.2.3", made: time.Unix(1_763_629_200, 0).UTC(), commit: "0123abc"}
}

// contentOf returns the files of a folder.
func contentOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		body, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(body)
	}
	return all
}

// TestReleaseMadeTwiceIsEqual packs a release twice: the same files, byte for byte.
func TestReleaseMadeTwiceIsEqual(t *testing.T) {
	first, second := contentOf(t, packed(t, example())), contentOf(t, packed(t, example()))
	want := []string{
		"SHA256SUMS", "install.sh", "placet-1.2.3-1.aarch64.rpm", "placet-1.2.3-1.x86_64.rpm",
		"placet-1.2.3-darwin-amd64.tar.gz", "placet-1.2.3-darwin-arm64.tar.gz", "placet-1.2.3-linux-amd64.tar.gz", "placet-1.2.3-linux-arm64.tar.gz",
		"placet-1.2.3.cdx.json", "placet.rb", "placet_1.2.3_amd64.deb", "placet_1.2.3_arm64.deb",
	}
	if got := slices.Sorted(maps.Keys(first)); !slices.Equal(got, want) {
		t.Errorf("a release is\n%q, expected\n%q", got, want)
	}
	for name, body := range first {
		if second[name] != body {
			t.Errorf("%s differs from the second time", name)
		}
		if name != "SHA256SUMS" && !strings.Contains(first["SHA256SUMS"], sum([]byte(body))+"  "+name+"\n") {
			t.Errorf("SHA256SUMS does not have the sum of %s", name)
		}
	}
}

// TestReleaseArchiveHoldsEverything reads an archive: what is in it, whose it is, and from when.
func TestReleaseArchiveHoldsEverything(t *testing.T) {
	zip, err := gzip.NewReader(strings.NewReader(contentOf(t, packed(t, example()))["placet-1.2.3-linux-arm64.tar.gz"]))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for r := tar.NewReader(zip); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.TrimPrefix(h.Name, "placet-1.2.3-linux-arm64/"))
		if mode := int64(0o644); h.Uname != "root" || h.Uid != 0 || !h.ModTime.Equal(example().made) || h.Mode != mode && h.Mode != 0o755 {
			t.Errorf("%s is of %s (%d), %v, %o", h.Name, h.Uname, h.Uid, h.ModTime, h.Mode)
		}
	}
	want := []string{"placet"}
	for _, p := range papersOf() {
		want = append(want, p.name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("it holds %q, expected %q", got, want)
	}
}

// TestReleaseHoldsWhatTheReadmeLeadsTo follows the links of the README, which is all that whoever
// unpacks an archive has.
func TestReleaseHoldsWhatTheReadmeLeadsTo(t *testing.T) {
	all, err := release{root: filepath.Join("..", "..")}.documents()
	if err != nil {
		t.Fatal(err)
	}
	var readme string
	var names []string
	for _, p := range all {
		names = append(names, p.name)
		if p.name == "README.md" {
			readme = string(p.body)
		}
	}
	links := regexp.MustCompile(`\]\(([^)#:]+)[)#]`).FindAllStringSubmatch(readme, -1)
	if len(links) == 0 {
		t.Fatalf("there is no README with links in %q", names)
	}
	for _, link := range links {
		if !slices.ContainsFunc(names, func(name string) bool {
			return name == link[1] || strings.HasSuffix(link[1], "/") && strings.HasPrefix(name, link[1])
		}) {
			t.Errorf("the README leads to %s, which is not in %q", link[1], names)
		}
	}
	for _, name := range []string{"LICENSE", "NOTICE", "licences.txt"} {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not in %q", name, names)
		}
	}
}

// TestReleasePackages looks into a deb as dpkg does, where that is installed.
func TestReleasePackages(t *testing.T) {
	dir := packed(t, example())
	body := contentOf(t, dir)["placet-1.2.3-1.x86_64.rpm"]
	if !strings.HasPrefix(body, "\xed\xab\xee\xdb") || !strings.Contains(body, "placet-ask.1.gz") {
		t.Errorf("the rpm begins with %q", body[:4])
	}
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("dpkg-deb is not installed")
	}
	out, err := exec.Command("dpkg-deb", "--info", filepath.Join(dir, "placet_1.2.3_amd64.deb")).CombinedOutput()
	for _, want := range []string{"Package: placet", "Version: 1.2.3", "Architecture: amd64", "Recommends: git"} {
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%v: the deb does not say %q:\n%s", err, want, out)
		}
	}
	out, err = exec.Command("dpkg-deb", "--contents", filepath.Join(dir, "placet_1.2.3_amd64.deb")).CombinedOutput()
	for _, want := range []string{
		"-rwxr-xr-x root/root", "./usr/bin/placet", "./usr/share/man/man1/placet-ask.1.gz", "./usr/share/man/ja/man1/placet.1.gz", "./usr/share/doc/placet/copyright", "./usr/share/doc/placet/docs/families/ask.md",
		"./usr/share/bash-completion/completions/placet", "./usr/share/zsh/vendor-completions/_placet", "./usr/share/fish/vendor_completions.d/placet.fish",
	} {
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%v: the deb does not hold %q:\n%s", err, want, out)
		}
	}
}

// TestReleaseBOMNamesEveryModule reads the SBOM of programs with different modules.
func TestReleaseBOMNamesEveryModule(t *testing.T) {
	var bom struct {
		BOMFormat, SpecVersion string
		Metadata               struct {
			Timestamp string
			Component struct {
				Name, Version string
				Properties    []struct{ Name, Value string }
			}
		}
		Components []struct{ Purl string }
	}
	if err := json.Unmarshal([]byte(contentOf(t, packed(t, example()))["placet-1.2.3.cdx.json"]), &bom); err != nil {
		t.Fatal(err)
	}
	const want = "{CycloneDX 1.5 {2025-11-20T09:00:00Z {placet 1.2.3 [{vcs.revision 0123abc}]}} [{pkg:golang/example.org/darwin@v0.1.0} {pkg:golang/example.org/everywhere@v1.0.0} {pkg:golang/example.org/linux@v0.1.0} {pkg:golang/std@1.26.0}]}"
	if got := fmt.Sprint(bom); got != want {
		t.Errorf("it says\n%s, expected\n%s", got, want)
	}
}

// install runs the script of a release.
func install(t *testing.T, dir string, env ...string) (prefix, said string, err error) {
	t.Helper()
	prefix = filepath.Join(t.TempDir(), "a prefix")
	cmd := exec.Command("sh", filepath.Join(dir, "install.sh"), "--prefix", prefix)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return prefix, string(out), err
}

// TestInstallScriptChecksTheSum installs a release, and one whose archive is another.
func TestInstallScriptChecksTheSum(t *testing.T) {
	here := platform{runtime.GOOS, runtime.GOARCH}
	if !slices.Contains(platforms, here) {
		t.Skip("there is no program for this machine")
	}
	dir := packed(t, example())
	prefix, said, err := install(t, dir)
	if err != nil || !strings.Contains(said, "placet 1.2.3 is installed: "+prefix+"/bin/placet\n"+prefix+"/bin is not in your PATH") {
		t.Fatalf("%v\n%s", err, said)
	}
	if out, err := exec.Command(filepath.Join(prefix, "bin/placet")).Output(); err != nil || string(out) != "placet 1.2.3 for "+here.String()+"\n" {
		t.Errorf("%v: %s", err, out)
	}
	for _, name := range []string{"share/man/man1/placet-ask.1", "share/man/ja/man1/placet.1", "share/bash-completion/completions/placet", "share/doc/placet/LICENSE", "share/doc/placet/docs/families/ask.md"} {
		if _, err := os.Stat(filepath.Join(prefix, name)); err != nil {
			t.Error(err)
		}
	}
	archive := filepath.Join(dir, example().archiveName(here))
	body, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(archive, bytes.Replace(body, body[len(body)/2:len(body)/2+1], []byte{body[len(body)/2] ^ 1}, 1), 0o644); err != nil {
		t.Fatal(err)
	}
	prefix, said, err = install(t, dir)
	if _, missing := os.Stat(prefix); err == nil || !os.IsNotExist(missing) || !strings.Contains(said, "Nothing was installed") {
		t.Errorf("a changed archive: %v, %v\n%s", err, missing, said)
	}
	if err := os.Remove(archive); err != nil {
		t.Fatal(err)
	}
	if _, said, err = install(t, dir); err == nil || !strings.Contains(said, "is not beside this script. Put it there, or say in PLACET_URL where it is.") {
		t.Errorf("no archive: %v\n%s", err, said)
	}
}

// TestReleaseFormulaHasTheSums reads the formula, with an address and without.
func TestReleaseFormulaHasTheSums(t *testing.T) {
	r := example()
	for _, url := range []string{"", "https://example.org/placet"} {
		r.url = url
		all := contentOf(t, packed(t, r))
		for _, p := range platforms {
			name := r.archiveName(p)
			want := "url \"" + url + "/" + name + "\"\n      sha256 \"" + sum([]byte(all[name])) + "\""
			if url == "" {
				want = `url "file://#{File.expand_path("` + name + `", __dir__)}"` + "\n      sha256 \"" + sum([]byte(all[name])) + "\""
			}
			if !strings.Contains(all["placet.rb"], want) {
				t.Errorf("the formula does not say\n%s:\n%s", want, all["placet.rb"])
			}
		}
	}
}

// TestReleaseIsNamedByItsTag tries what git describe may say.
func TestReleaseIsNamedByItsTag(t *testing.T) {
	for described, want := range map[string]string{
		"v1.2.3": "1.2.3", "1.2.3": "1.2.3", "v1.2.3-rc.1": "1.2.3-rc.1", "v1.2.3-14-gabc1234": "1.2.3+14.gabc1234", "v1.2.3-rc.1-2-gabc1234": "1.2.3-rc.1+2.gabc1234",
		"719e3868": "0.0.0-20251120090000.719e3868", "": "0.0.0-20251120090000.unversioned", "v1.2.3-dirty": "1.2.3",
	} {
		if got := versionOf(described, example().made); got != want {
			t.Errorf("%q is version %q, expected %q", described, got, want)
		}
	}
}
