package main

import (
	"path"
	"strings"

	"placet/engine"
	"placet/layout"
)

// desk is the toy family of the fault laboratory: .desk/<id>/. It has one of
// everything that the commit protocol knows, and costs little.
type desk struct{}

const deskRoot = ".desk"

// Name implements [layout.Family].
func (desk) Name() string { return "desk" }

// Roots implements [layout.Family].
func (desk) Roots() []string { return []string{deskRoot} }

// Runs implements [layout.Family].
func (d desk) Runs(ls layout.Lister) ([]layout.Run, error) {
	entries, err := ls(deskRoot)
	var runs []layout.Run
	for _, e := range entries {
		if run, ok := d.At(deskRoot + "/" + e.Name + "/state.json"); e.Dir && ok {
			runs = append(runs, run)
		}
	}
	return runs, err
}

// At implements [layout.Family].
func (desk) At(p string) (layout.Run, bool) {
	rest, below := strings.CutPrefix(p, deskRoot+"/")
	name, _, deeper := strings.Cut(rest, "/")
	if !below || !deeper || name == "" || strings.HasPrefix(name, ".") {
		return layout.Run{}, false
	}
	dir := deskRoot + "/" + name
	return layout.Run{Family: "desk", ID: name, Dir: dir, State: dir + "/state.json"}, true
}

// deskFiles are the files of a run by path; files of requests by name.
var deskFiles = map[string]layout.File{
	"state.json":            {Kind: engine.KindState, Writer: layout.Shared, Limit: layout.LimitState},
	"result.json":           {Kind: "result", Writer: layout.Agent, Limit: layout.LimitJSON},
	"summary.md":            {Kind: "summary", Writer: layout.Placet, Format: layout.Text, Limit: layout.LimitText},
	"log.jsonl":             {Kind: "log", Writer: layout.Placet, Format: layout.Text, Limit: layout.LimitText},
	"audit/trail.jsonl":     {Kind: "trail", Writer: layout.Placet, Format: layout.Text, Limit: layout.LimitText},
	"state.json.problem.md": {Kind: layout.KindProblem, Writer: layout.Placet, Format: layout.Text, Limit: layout.LimitText},
}

var requestFiles = map[string]layout.File{
	"request.json":  {Kind: layout.KindRequest, Writer: layout.Placet, Limit: layout.LimitJSON},
	"response.json": {Kind: layout.KindResponse, Writer: layout.Anyone, Limit: layout.LimitJSON},
	"receipt.json":  {Kind: layout.KindReceipt, Writer: layout.Placet, Limit: layout.LimitJSON},
	"form.md":       {Kind: layout.KindForm, Writer: layout.Reviewer, Format: layout.Text, Limit: layout.LimitText},
	"problem.md":    {Kind: layout.KindProblem, Writer: layout.Placet, Format: layout.Text, Limit: layout.LimitText},
}

// File implements [layout.Family].
func (desk) File(_ layout.Run, rel string) (layout.File, bool) {
	if f, ok := deskFiles[rel]; ok {
		return f, true
	}
	dir, name := path.Split(rel)
	switch {
	case dir == "events/" && strings.HasSuffix(name, ".json") && name[0] != '.':
		return layout.File{Kind: "event", Writer: layout.Placet, Limit: layout.LimitJSON}, true
	case strings.HasPrefix(dir, "requests/") && strings.Count(dir, "/") == 2:
		f, ok := requestFiles[name]
		f.Request = path.Base(dir)
		return f, ok
	}
	return layout.File{}, false
}

// Descend implements [layout.Family].
func (desk) Descend(_ layout.Run, rel string) bool {
	return rel == "." || rel == "events" || rel == "audit" || rel == "requests" || strings.HasPrefix(rel, "requests/")
}

// immutable reports whether a file is created once and never changed.
func immutable(p string) bool {
	switch path.Base(p) {
	case "request.json", "receipt.json":
		return true
	}
	return strings.HasSuffix(path.Dir(p), "/events") && strings.HasSuffix(p, ".json")
}
