package pal

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"placet/engine"
)

// messagesOf are what is wrong with a plan.
func messagesOf(p PlanDocument) (list []string) {
	for _, e := range p.Errors {
		list = append(list, e.Message)
	}
	return list
}

func docOf(path, body string) engine.Document {
	return engine.Document{Path: path, Body: []byte(body), Sum: engine.Sum([]byte(body))}
}

func TestSpecsAlonePlan(t *testing.T) {
	p := PlanSpecs("en", []engine.Document{
		docOf("specs/01.md", "# One\n\n> ID: one\n"), docOf("specs/two.md", "# Two\n\n> Depends: `one`, one\n"),
		docOf("specs/x.md", "> ID: a/b\n"), {Path: "specs/y.md", Err: errors.New("it is larger than 1 MiB")},
	})
	if got := strings.Join(messagesOf(p), "\n"); p.Valid || !strings.Contains(got, `"a/b"`) || !strings.Contains(got, "it is larger than 1 MiB") {
		t.Errorf("%q", got)
	}
	p = PlanSpecs("en", []engine.Document{docOf("specs/01.md", "# One\n\n> ID: one\n"), docOf("specs/two.md", "# Two\n\n> Depends: `one`, one\n")})
	if !p.Valid || fmt.Sprint(p.Levels) != "[[one] [two]]" || *p.Ports[1].Spec != "specs/two.md" || p.OrchestrationDigest != "" {
		t.Errorf("%+v", p)
	}
	var many []engine.Document
	for i := range mostPorts + 1 {
		many = append(many, docOf(fmt.Sprintf("specs/p%d.md", i), ""))
	}
	if p := PlanSpecs("en", many); p.Valid || !slices.Contains(messagesOf(p), "there are 501 specs, expected at most 500") || len(p.Ports) != mostPorts {
		t.Errorf("%d ports, %q", len(p.Ports), messagesOf(p))
	}
}

func TestAnOrchestrationPlansWhereverItStands(t *testing.T) {
	files := map[string]string{"ports/one.md": "# One\n", "ports/bad.md": "> ID: other\n"}
	read := func(path string) engine.Document {
		if body, ok := files[path]; ok {
			return docOf(path, body)
		}
		return engine.Document{Path: path, Err: engine.ErrAbsent}
	}
	for _, c := range []struct{ path, body, config, wrong string }{
		{"plan.json", `{"id": "shop", "title": "x", "ports": ["one"]}`, "", ""},
		{"a/b/orchestration.json", `{"title": "x", "ports": ["one"]}`, "", ""},
		{shop + "/orchestration.json", `{"id": "shop", "title": "x", "ports": ["one"]}`, "", ""},
		{shop + "/orchestration.json", `{"id": "other", "title": "x", "ports": ["one"]}`, "", "/id: is other, and the folder is shop"},
		{"plan.json", `{"title": "x", "ports": ["two"]}`, "", "ports/two.md is missing"},
		{"plan.json", `{"title": "x", "ports": ["bad"]}`, "", "ports/bad.md declares the id other"},
		{"plan.json", `{"title": "x", "ports": `, "", "cannot read orchestration.json: "},
		{"plan.json", `{"title": "x", "ports": ["one"]}`, "orchestration:\n  max_concurrency: 0\n", ".pal/config.yaml: cannot read "},
	} {
		delete(files, configYAML)
		if c.config != "" {
			files[configYAML] = c.config
		}
		p := PlanOrchestration("en", docOf(c.path, c.body), DefaultConfig(), read)
		if got := strings.Join(messagesOf(p), "\n"); p.Valid != (c.wrong == "") || !strings.Contains(got, c.wrong) {
			t.Errorf("%s %s: %q, expected %q", c.path, c.body, got, c.wrong)
		}
	}
}
