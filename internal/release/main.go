// Command release makes what belongs to a release of placet, in a folder:
//
//   - placet-VERSION-SYSTEM-MACHINE.tar.gz for Linux and macOS on amd64 and arm64, with shell
//     completion, manual pages, licences, README and what it leads to
//   - a deb and an rpm for each machine
//   - placet.rb, a formula for Homebrew
//   - placet-VERSION.cdx.json, an SBOM (CycloneDX) of what the programs are built from
//   - install.sh, which installs the archive of its machine after it has compared its sum
//   - SHA256SUMS, the sums of all of these
//
// Two releases of one commit are equal, byte for byte: the times are that of the commit, owner,
// mode and order are fixed, and nothing says where or by whom the release was made.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// platforms are those that a release has programs for.
var platforms = []platform{{"darwin", "amd64"}, {"darwin", "arm64"}, {"linux", "amd64"}, {"linux", "arm64"}}

// platform is a system and a machine, by Go's names.
type platform struct{ system, machine string }

func (p platform) String() string { return p.system + "-" + p.machine }

// release is one that is being made.
type release struct {
	root, out string    // the checkout, and the folder that the release comes into
	version   string    // without a letter before it
	made      time.Time // the time of the commit
	commit    string    // its name, which a program that is built in a worktree does not say
	url       string    // where it will be found, "" if that is not known
}

func main() {
	root := flag.String("root", ".", "the checkout")
	out := flag.String("out", "dist", "the folder of the release, which is made anew")
	version := flag.String("version", "", "the version, as git describe names it")
	made := flag.Int64("time", 0, "when the commit was made, in seconds since 1970")
	url := flag.String("url", "", "the address of the folder where the release will be found")
	flag.Parse()
	r := release{root: *root, out: *out, made: time.Unix(*made, 0).UTC(), url: strings.TrimSuffix(*url, "/")}
	r.version = versionOf(*version, r.made)
	if err := r.make(); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

var (
	released = regexp.MustCompile(`^v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)$`)
	after    = regexp.MustCompile(`^v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.]+)?)-(\d+)-g([0-9a-f]+)$`)
	odd      = regexp.MustCompile(`[^0-9A-Za-z.]+`)
)

// versionOf returns the version for what git describe says: that of the tag, with the number of
// commits since as metadata, or one lower than any tag's that has the time and the commit.
func versionOf(described string, made time.Time) string {
	described = strings.TrimSuffix(described, "-dirty")
	if m := after.FindStringSubmatch(described); m != nil {
		return m[1] + "+" + m[2] + ".g" + m[3]
	}
	if m := released.FindStringSubmatch(described); m != nil {
		return m[1]
	}
	return "0.0.0-" + made.Format("20060102150405") + "." + odd.ReplaceAllString(cmp.Or(described, "unversioned"), ".")
}

// make builds the programs and what goes with them, and packs them.
func (r release) make() error {
	if err := r.clean(); err != nil {
		return err
	}
	commit, err := r.run(nil, "git", "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	r.commit = strings.TrimSpace(string(commit))
	dir, err := os.MkdirTemp("", "placet-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	built, err := r.build(dir)
	if err != nil {
		return err
	}
	papers, err := r.papers(dir)
	if err != nil {
		return err
	}
	return r.pack(built, papers)
}

// clean refuses a checkout that differs from its commit: the release would name a commit that it
// was not made of.
func (r release) clean() error {
	changed, err := r.run(nil, "git", "status", "--porcelain")
	if err != nil {
		return err
	}
	if len(changed) > 0 {
		return fmt.Errorf("the checkout differs from its commit, and a release is made of a commit. Commit or take back:\n%s", changed)
	}
	return nil
}

// run returns what a program prints that runs in the checkout.
func (r release) run(env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = r.root, append(os.Environ(), env...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, exit.Stderr)
	}
	return out, err
}

// write writes a file of the release.
func (r release) write(name string, body []byte, mode os.FileMode) error {
	return os.WriteFile(filepath.Join(r.out, name), body, mode)
}
