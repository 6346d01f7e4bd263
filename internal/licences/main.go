// Command licences writes the licences of everything that the program is built from:
// NOTICE, which lists the modules, and cmd/placet/cli/licences.txt, which holds the
// texts. It must run in the module's folder:
//
//	go run ./internal/licences          write both
//	go run ./internal/licences -check   report whether they are up to date
//
// The same modules give the same bytes: no dates, no paths of this machine.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// platforms are those whose packages count, because some modules are needed on
// one of them only.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/arm64", "freebsd/amd64"}

// program is the package that is built.
const program = "./cmd/placet"

// These are the files that the command writes.
const (
	noticeFile = "NOTICE"
	textsFile  = "cmd/placet/cli/licences.txt"
)

// legal matches the names of files that must go with the program.
var legal = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|authors|copyright)([.-].*)?$`)

// module is one that the program is built from. Its texts have names relative to its root.
type module struct {
	path, version, dir string
	texts              map[string]string
}

func main() {
	check := flag.Bool("check", false, "write nothing, say whether the files are up to date")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(check bool) error {
	modules, err := collect()
	if err != nil {
		return err
	}
	written := map[string][]byte{noticeFile: notice(modules), textsFile: texts(modules)}
	for _, name := range []string{noticeFile, textsFile} {
		if !check {
			if err := os.WriteFile(name, written[name], 0o644); err != nil {
				return err
			}
			continue
		}
		have, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if !bytes.Equal(have, written[name]) {
			return fmt.Errorf("%s is not what the modules give: run `go run ./internal/licences` and commit it", name)
		}
	}
	return nil
}

// collect returns the modules that the program is built from on any platform: Go's
// own library first, then the others by path.
func collect() ([]*module, error) {
	goroot, err := output(nil, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	goroot = strings.TrimSpace(goroot)
	library := &module{path: "The Go standard library", dir: goroot, texts: map[string]string{}}
	if err := library.read(goroot); err != nil {
		return nil, err
	}
	found := map[string]*module{}
	for _, platform := range platforms {
		system, machine, _ := strings.Cut(platform, "/")
		list, err := output([]string{"GOOS=" + system, "GOARCH=" + machine, "CGO_ENABLED=0"},
			"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}", program)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(list) {
			parts := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			if len(parts) != 4 {
				continue
			}
			m := found[parts[0]]
			if m == nil {
				m = &module{path: parts[0], version: parts[1], dir: parts[2], texts: map[string]string{}}
				found[parts[0]] = m
			}
			if err := m.readUp(parts[3]); err != nil {
				return nil, err
			}
		}
	}
	modules := []*module{library}
	for _, m := range found {
		modules = append(modules, m)
	}
	slices.SortFunc(modules[1:], func(a, b *module) int { return strings.Compare(a.path, b.path) })
	for _, m := range modules {
		if len(m.texts) == 0 {
			return nil, fmt.Errorf("%s has no licence", m.path)
		}
	}
	return modules, nil
}

// output returns what a go command prints.
func output(env []string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("go %s: %w: %s", args[0], err, exit.Stderr)
	}
	return string(out), err
}

// readUp reads the legal texts of a package's folder and of those above it, up to
// the module's root.
func (m *module) readUp(dir string) error {
	for {
		if err := m.read(dir); err != nil || dir == m.dir {
			return err
		}
		dir = filepath.Dir(dir)
	}
}

// read reads the legal texts of a folder.
func (m *module) read(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !legal.MatchString(e.Name()) || path.Ext(e.Name()) == ".go" {
			continue
		}
		body, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(m.dir, filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		m.texts[filepath.ToSlash(rel)] = tidy(string(body))
	}
	return nil
}

// tidy returns a text with plain line ends and one at its end.
func tidy(s string) string {
	s = strings.ReplaceAll(strings.TrimPrefix(s, "\ufeff"), "\r\n", "\n")
	return strings.Trim(s, "\n") + "\n"
}

// name returns the listed name of a module. Go has no version in it, because that
// depends on who builds.
func (m *module) name() string { return strings.TrimSpace(m.path + " " + m.version) }

// files returns the names of a module's texts, in order.
func (m *module) files() []string {
	var names []string
	for name := range m.texts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// notice lists the modules, with the NOTICE files that the Apache licence requires
// to be passed on.
func notice(modules []*module) []byte {
	var b bytes.Buffer
	b.WriteString("placet\n\nplacet is licensed under the Apache License, Version 2.0: see LICENSE. The program is built\n" +
		"from the software below. The whole of its licences is in " + textsFile + " and is\n" +
		"printed by `placet version --licences`.\n\n")
	for _, m := range modules {
		fmt.Fprintf(&b, "- %s (%s)\n", m.name(), strings.Join(m.files(), ", "))
	}
	for _, m := range modules {
		for _, name := range m.files() {
			if strings.HasPrefix(strings.ToUpper(path.Base(name)), "NOTICE") {
				fmt.Fprintf(&b, "\n%s\nfrom %s\n\n%s", strings.Repeat("-", 80), m.name(), m.texts[name])
			}
		}
	}
	return b.Bytes()
}

// texts returns every text once, after the names of all files that contain it.
func texts(modules []*module) []byte {
	var order []string
	of := map[string][]string{}
	for _, m := range modules {
		for _, name := range m.files() {
			text := m.texts[name]
			if of[text] == nil {
				order = append(order, text)
			}
			of[text] = append(of[text], m.name()+", "+name)
		}
	}
	var b bytes.Buffer
	b.WriteString("The licences of the software that placet is built from.\n")
	for _, text := range order {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s", strings.Repeat("=", 80), strings.Join(of[text], "\n"), text)
	}
	return b.Bytes()
}
