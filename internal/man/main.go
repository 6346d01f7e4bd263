// Command man writes the manual pages of placet, in every language, from the texts of --help:
//
//	go run ./internal/man -out bin/man [-version VERSION] [-date DATE]
//
// English pages come into the folder man1, those of another language into that language's folder.
// The same program gives the same bytes.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"placet/cmd/placet/cli"
	"placet/templates"
)

func main() {
	out := flag.String("out", "bin/man", "the folder of the pages")
	var of edition
	flag.StringVar(&of.version, "version", "", "the version that the pages name")
	flag.StringVar(&of.date, "date", "", "the date that the pages name")
	flag.Parse()
	if err := write(*out, of); err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
}

// edition is what every page says of the program.
type edition struct{ version, date string }

// write writes the pages of all languages.
func write(dir string, of edition) error {
	for _, lang := range templates.Languages() {
		below := filepath.Join(dir, strings.TrimPrefix(lang, templates.English), "man1")
		if err := os.MkdirAll(below, 0o755); err != nil {
			return err
		}
		for _, p := range pages(cli.Commands(lang), lang) {
			if err := os.WriteFile(filepath.Join(below, p.name()+".1"), []byte(p.roff(of)), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// titled returns the title of a page's head, such as PLACET-ASK.
func (p page) titled(of edition) string {
	return fmt.Sprintf(".TH %s 1 %s %s placet\n", quoted(strings.ToUpper(p.name())), quoted(of.date), quoted(strings.TrimSpace("placet "+cmp.Or(of.version, ""))))
}
