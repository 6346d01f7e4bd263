package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"path"
	"strings"
)

// pack writes the files of the release, and their sums last.
func (r release) pack(built []program, papers []paper) error {
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	sums := map[string]string{}
	for _, p := range built {
		body, err := os.ReadFile(p.path)
		if err != nil {
			return err
		}
		archive, err := r.archive(p.platform, body, papers)
		if err != nil {
			return err
		}
		sums[r.archiveName(p.platform)] = sum(archive)
		if err := r.write(r.archiveName(p.platform), archive, 0o644); err != nil {
			return err
		}
		if err := r.packages(p, papers); err != nil {
			return err
		}
	}
	bom, err := r.bom(built)
	if err != nil {
		return err
	}
	if err := r.write(r.named()+".cdx.json", bom, 0o644); err != nil {
		return err
	}
	if err := r.write("placet.rb", r.formula(sums), 0o644); err != nil {
		return err
	}
	if err := r.write("install.sh", r.installer(sums), 0o755); err != nil {
		return err
	}
	return r.sums()
}

// named returns placet-VERSION.
func (r release) named() string { return "placet-" + r.version }

// archiveName returns the name of a platform's archive.
func (r release) archiveName(p platform) string { return r.named() + "-" + p.String() + ".tar.gz" }

// archive returns the archive of a program and what goes with it.
func (r release) archive(p platform, program []byte, papers []paper) ([]byte, error) {
	var b bytes.Buffer
	zip, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(zip)
	folder := strings.TrimSuffix(r.archiveName(p), ".tar.gz")
	add := func(name string, body []byte, mode int64) error {
		head := &tar.Header{Name: path.Join(folder, name), Mode: mode, Size: int64(len(body)), ModTime: r.made, Uname: "root", Gname: "root", Format: tar.FormatUSTAR}
		if err := w.WriteHeader(head); err != nil {
			return err
		}
		_, err := w.Write(body)
		return err
	}
	if err := add("placet", program, 0o755); err != nil {
		return nil, err
	}
	for _, p := range papers {
		if err := add(p.name, p.body, 0o644); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err = zip.Close()
	return b.Bytes(), err
}

func sum(body []byte) string { return fmt.Sprintf("%x", sha256.Sum256(body)) }

// sums writes the sums of all files of the release, as sha256sum -c reads them.
func (r release) sums() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for _, e := range entries {
		body, err := os.ReadFile(path.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s  %s\n", sum(body), e.Name())
	}
	return r.write("SHA256SUMS", b.Bytes(), 0o644)
}
