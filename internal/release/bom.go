package main

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
)

// bom returns the SBOM: the modules that the linker says are in one of the programs, and Go.
func (r release) bom(built []program) ([]byte, error) {
	parts := map[string]cyclonedx.Component{}
	for _, p := range built {
		add(parts, "std", strings.TrimPrefix(p.info.GoVersion, "go"), "The Go standard library")
		for _, m := range p.info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			add(parts, m.Path, m.Version, "")
		}
	}
	of := cyclonedx.Component{
		Type: cyclonedx.ComponentTypeApplication, BOMRef: "placet", Name: "placet", Version: r.version, Description: description,
		Licenses: &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "Apache-2.0"}}},
	}
	of.Properties = &[]cyclonedx.Property{{Name: "vcs.revision", Value: r.commit}}
	list := []cyclonedx.Component{}
	refs := slices.Sorted(maps.Keys(parts))
	for _, ref := range refs {
		list = append(list, parts[ref])
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Timestamp: r.made.Format(time.RFC3339), Component: &of}
	bom.Components, bom.Dependencies = &list, &[]cyclonedx.Dependency{{Ref: of.BOMRef, Dependencies: &refs}}
	var b bytes.Buffer
	// Version 1.5 is what the tools of most people read.
	err := cyclonedx.NewBOMEncoder(&b, cyclonedx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false).EncodeVersion(bom, cyclonedx.SpecVersion1_5)
	return b.Bytes(), err
}

// add adds a module to the parts, under its package URL.
func add(parts map[string]cyclonedx.Component, module, version, description string) {
	url := "pkg:golang/" + module + "@" + version
	parts[url] = cyclonedx.Component{Type: cyclonedx.ComponentTypeLibrary, BOMRef: url, PackageURL: url, Name: module, Version: version, Description: description}
}
