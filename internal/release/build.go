package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// program is one that was built.
type program struct {
	platform
	path string           // where the file is
	info *debug.BuildInfo // what it is built from
}

// build builds the program for each platform.
func (r release) build(dir string) (all []program, err error) {
	for _, p := range platforms {
		fmt.Fprintln(os.Stderr, "building for", p)
		name := filepath.Join(dir, p.String())
		if err := r.compile(p, name, "./cmd/placet"); err != nil {
			return nil, err
		}
		info, err := buildinfo.ReadFile(name)
		if err != nil {
			return nil, err
		}
		all = append(all, program{p, name, info})
	}
	return all, nil
}

// compile builds one program. What the environment says of flags and machines would change its
// bytes, so it says nothing.
func (r release) compile(p platform, name, pkg string) error {
	env := []string{"CGO_ENABLED=0", "GOOS=" + p.system, "GOARCH=" + p.machine, "GOFLAGS=-mod=readonly", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT="}
	_, err := r.run(env, "go", "build", "-trimpath", "-ldflags", "-s -w -X main.version="+r.version, "-o", name, pkg)
	return err
}

// paper is a file that goes with a program.
type paper struct {
	name string // within the archive
	body []byte
}

// documents are the files of the checkout that go with a program: README, what it leads to, and
// licences.
var documents = []string{"*.md", "docs/*", "docs/*/*", "LICENSE", "NOTICE", "cmd/placet/cli/licences.txt"}

// documents returns the documents, each where the README finds it.
func (r release) documents() (all []paper, err error) {
	for _, pattern := range documents {
		found, err := filepath.Glob(filepath.Join(r.root, filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			return nil, fmt.Errorf("%s is not in %s: %v", pattern, r.root, err)
		}
		for _, file := range found {
			if info, err := os.Stat(file); err == nil && info.IsDir() {
				continue
			}
			body, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			name, _ := filepath.Rel(r.root, file)
			all = append(all, paper{strings.TrimPrefix(filepath.ToSlash(name), "cmd/placet/cli/"), body})
		}
	}
	return all, nil
}

// papers returns what goes with a program: documents, scripts for completion, and manual pages.
func (r release) papers(dir string) ([]paper, error) {
	all, err := r.documents()
	if err != nil {
		return nil, err
	}
	scripts, err := r.completion(dir)
	if err != nil {
		return nil, err
	}
	man := filepath.Join(dir, "man")
	if _, err := r.run(nil, "go", "run", "./internal/man", "-out", man, "-version", r.version, "-date", r.made.Format("2006-01-02")); err != nil {
		return nil, err
	}
	pages, err := under(man, "man")
	all = slices.Concat(all, scripts, pages)
	slices.SortFunc(all, func(a, b paper) int { return strings.Compare(a.name, b.name) })
	return all, err
}

// completion returns the scripts that the program prints for shells. The program of this machine
// prints them.
func (r release) completion(dir string) (all []paper, err error) {
	here := filepath.Join(dir, "here")
	if err := r.compile(platform{runtime.GOOS, runtime.GOARCH}, here, "./cmd/placet"); err != nil {
		return nil, err
	}
	for shell, name := range map[string]string{"bash": "placet.bash", "zsh": "_placet", "fish": "placet.fish"} {
		body, err := r.run([]string{"LC_ALL=C"}, here, "--lang", "en", "completion", shell)
		if err != nil {
			return nil, err
		}
		all = append(all, paper{path.Join("completion", name), body})
	}
	return all, nil
}

// under returns the files below a folder, under a name.
func under(dir, name string) (all []paper, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.1"))
	if err != nil {
		return nil, err
	}
	more, err := filepath.Glob(filepath.Join(dir, "*", "*", "*.1"))
	for _, file := range append(files, more...) {
		body, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		below, err := filepath.Rel(dir, file)
		if err != nil {
			return nil, err
		}
		all = append(all, paper{path.Join(name, filepath.ToSlash(below)), body})
	}
	return all, err
}
