// Command module gives the module another path, such as a public one:
//
//	go run ./internal/module -to example.org/placet
//
// It renames the module in go.mod, in those of the modules below it, in all imports, and wherever
// else a Go file names a package by its path. Nothing else knows the path. It must run in the
// module's folder.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	to := flag.String("to", "", "the new path of the module")
	flag.Parse()
	if err := rename(".", *to); err != nil {
		fmt.Fprintln(os.Stderr, "module:", err)
		os.Exit(1)
	}
}

// goMod is the file that names a module.
const goMod = "go.mod"

var (
	moduleLine = regexp.MustCompile(`(?m)^module (\S+)$`)
	// validPath matches the paths of modules that an import can name.
	validPath = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._~-]*(/[A-Za-z0-9][A-Za-z0-9._~-]*)*$`)
)

// rename gives the module in a folder another path.
func rename(root, to string) error {
	if !validPath.MatchString(to) {
		return fmt.Errorf("%q cannot be the path of a module: expected words of letters, digits, '.', '_', '~' and '-' with slashes between them: make module PATH=example.org/you/placet", to)
	}
	body, err := os.ReadFile(filepath.Join(root, goMod))
	if err != nil {
		return err
	}
	old := moduleLine.FindSubmatch(body)
	if old == nil {
		return fmt.Errorf("%s names no module", goMod)
	}
	files, err := filesOf(root)
	if err != nil {
		return err
	}
	names := packagePath(string(old[1]), files)
	for _, name := range files {
		if err := rewrite(filepath.Join(root, name), names, to); err != nil {
			return err
		}
	}
	fmt.Printf("the module %s is %s now\n", old[1], to)
	return nil
}

// filesOf returns the Go files of a module, and the files that name it and the modules below it.
func filesOf(root string) (files []string, err error) {
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case !d.Type().IsRegular() || d.Name() != goMod && path.Ext(name) != ".go":
			return nil
		}
		name, err = filepath.Rel(root, name)
		files = append(files, filepath.ToSlash(name))
		return err
	})
	return files, err
}

// packagePath matches the path of a module where a line names the module, or before one of its
// folders. What ends in it, such as cmd/placet/config, is another path.
func packagePath(module string, files []string) *regexp.Regexp {
	var tops []string
	for _, name := range files {
		if top, _, below := strings.Cut(name, "/"); below && !slices.Contains(tops, top) {
			tops = append(tops, regexp.QuoteMeta(top))
		}
	}
	return regexp.MustCompile(`(?m)(^module |[^\w./~-])` + regexp.QuoteMeta(module) + `(/(?:` + strings.Join(tops, "|") + `)\b)|^(module )` + regexp.QuoteMeta(module) + `$`)
}

// rewrite renames the packages that a file names, and sorts its imports.
func rewrite(name string, names *regexp.Regexp, to string) error {
	body, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	renamed := names.ReplaceAll(body, []byte("${1}${3}"+to+"${2}"))
	if bytes.Equal(renamed, body) {
		return nil
	}
	if path.Ext(name) == ".go" {
		if renamed, err = format.Source(renamed); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return os.WriteFile(name, renamed, 0o644)
}
