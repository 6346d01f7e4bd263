package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"
)

//go:embed install.sh
var installer string

// installer returns the script that installs an archive, with the sums of all archives in it.
func (r release) installer(sums map[string]string) []byte {
	var list strings.Builder
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&list, "%s  %s\n", sums[name], name)
	}
	return []byte(strings.NewReplacer("@VERSION@", r.version, "@URL@", r.url, "@SUMS@\n", list.String()).Replace(installer))
}

//go:embed placet.rb.tmpl
var formula string

// formula returns the formula for Homebrew. Without an address it takes the archives beside it.
func (r release) formula(sums map[string]string) []byte {
	type archive struct{ URL, Sum string }
	archives := map[string]map[string]archive{}
	for _, p := range platforms {
		name := r.archiveName(p)
		url := r.url + "/" + name
		if r.url == "" {
			url = `file://#{File.expand_path("` + name + `", __dir__)}`
		}
		if archives[p.system] == nil {
			archives[p.system] = map[string]archive{}
		}
		archives[p.system][p.machine] = archive{url, sums[name]}
	}
	var b bytes.Buffer
	err := template.Must(template.New("").Parse(formula)).Execute(&b, map[string]any{"Description": description, "URL": r.url, "Version": r.version, "Archives": archives})
	if err != nil {
		panic(err) // the template is part of this program
	}
	return b.Bytes()
}
