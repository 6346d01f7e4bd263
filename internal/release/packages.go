package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers itself
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // registers itself
)

// description is what package managers and the formula say of placet.
const description = "The clerk for human decisions where programs and AI agents work"

// packages writes the deb and the rpm of a program for Linux.
func (r release) packages(p program, papers []paper) error {
	if p.system != "linux" {
		return nil
	}
	dir, err := os.MkdirTemp("", "placet-package-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, format := range []string{"deb", "rpm"} {
		contents, err := r.contents(filepath.Join(dir, format), format, p, papers)
		if err != nil {
			return err
		}
		packager, err := nfpm.Get(format)
		if err != nil {
			return err
		}
		info := nfpm.WithDefaults(r.info(p, contents))
		var b bytes.Buffer
		if err := packager.Package(info, &b); err != nil {
			return fmt.Errorf("%s: %w", format, err)
		}
		if err := r.write(packager.ConventionalFileName(info), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// info describes a package. The rpm would name the machine that it is made on.
func (r release) info(p program, contents files.Contents) *nfpm.Info {
	info := &nfpm.Info{
		Name: "placet", Arch: p.machine, Platform: p.system, Version: r.version, Section: "utils", Priority: "optional",
		Maintainer: "placet", Vendor: "placet", Description: description, Homepage: r.url, License: "Apache-2.0", MTime: r.made,
		Overridables: nfpm.Overridables{Recommends: []string{"git"}, Contents: contents},
	}
	info.RPM.BuildHost = "localhost"
	return info
}

// contents lays out the files of a package below a folder, and returns where they go.
func (r release) contents(dir, format string, p program, papers []paper) (files.Contents, error) {
	list := files.Contents{r.content(p.path, "/usr/bin/placet", 0o755)}
	for _, paper := range papers {
		to, body := placed(format, paper.name), paper.body
		if strings.HasSuffix(to, ".gz") {
			body = zipped(body)
		}
		from := filepath.Join(dir, filepath.FromSlash(to))
		if err := os.MkdirAll(filepath.Dir(from), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(from, body, 0o644); err != nil {
			return nil, err
		}
		list = append(list, r.content(from, to, 0o644))
	}
	return list, nil
}

func (r release) content(from, to string, mode os.FileMode) *files.Content {
	return &files.Content{Source: from, Destination: to, FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: r.made}}
}

// placed returns where a package has what the archive has under a name.
func placed(format, name string) string {
	zsh := map[string]string{"deb": "vendor-completions", "rpm": "site-functions"}[format]
	switch {
	case name == "LICENSE":
		return "/usr/share/doc/placet/copyright"
	case name == "completion/placet.bash":
		return "/usr/share/bash-completion/completions/placet"
	case name == "completion/_placet":
		return "/usr/share/zsh/" + zsh + "/_placet"
	case name == "completion/placet.fish":
		return "/usr/share/fish/vendor_completions.d/placet.fish"
	case strings.HasPrefix(name, "man/"):
		return path.Join("/usr/share", name) + ".gz"
	}
	return path.Join("/usr/share/doc/placet", name)
}

// zipped returns a text as gzip packs it, without a time or a name.
func zipped(body []byte) []byte {
	var b bytes.Buffer
	zip, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	_, _ = zip.Write(body) // a buffer takes everything
	_ = zip.Close()
	return b.Bytes()
}
