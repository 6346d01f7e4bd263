package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPopulationIsMostlyEndedAndShort(t *testing.T) {
	p := grown(20000, 10000)
	if p.ended != 19800 || p.waiting != 200 {
		t.Errorf("%+v", p)
	}
	var short, long, longest, sessions int
	for n := range p.ended {
		if p.isSession(n) {
			sessions++
		}
		switch events := p.history(n); {
		case n%100 != 99 && events >= 1 && events <= 10:
			short++
		case events >= 10 && events <= 100:
			long++
		case events == 10000:
			longest++
		default:
			t.Errorf("run %d has %d events", n, events)
		}
	}
	if short != 19602 || long != 197 || longest != 1 || sessions != 1980 {
		t.Errorf("%d short, %d long, %d longest, %d sessions", short, long, longest, sessions)
	}
}

func TestThePopulationIsTheSeeds(t *testing.T) {
	histories := func(seed uint64) (all []int) {
		p := population{shortest: 1, longest: 500, seed: seed}
		for n := range 300 {
			all = append(all, p.history(n))
		}
		return all
	}
	if diff := cmp.Diff(histories(7), histories(7)); diff != "" {
		t.Errorf("one seed, two populations:\n%s", diff)
	}
	if cmp.Equal(histories(7), histories(8)) {
		t.Error("two seeds, one population")
	}
}

// A generated workspace equals one that placet left: placet has nothing to do for
// ended runs, and asks for those that wait.
func TestAGeneratedWorkspaceIsAsPlacetLeavesIt(t *testing.T) {
	w, err := newWorkspace(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m, err := makeMoulds()
	if err != nil {
		t.Fatal(err)
	}
	p := population{ended: 150, waiting: 21, sessions: 30, cycles: 20, shortest: 1, longest: 20, seed: 3}
	if err := w.populate(p, m); err != nil {
		t.Fatal(err)
	}
	before := w.bodies(t)
	if err := w.settle(); err != nil {
		t.Fatal(err)
	}
	after := w.bodies(t)
	asked, counts := 0, map[string]int{}
	for name, body := range after {
		if strings.HasSuffix(name, "/form.md") && before[name] == "" {
			asked++
		}
		if strings.Contains(name, "/waiting-000/") || strings.HasPrefix(name, ".placet/") || strings.HasPrefix(name, cycleDatabase) {
			continue
		}
		if strings.HasSuffix(name, "/state.json") && before[name] == body {
			counts[strings.SplitN(name, "/", 2)[0]]++
		}
		if before[name] != body && !p.waits(name) {
			t.Errorf("%s was written anew", name)
		}
	}
	cycles := 0
	for n := range p.ended {
		if p.isCycle(n) {
			cycles++
		}
	}
	if cycles < 15 || counts[".afl"] != 45 || counts[cycleRoot] != cycles || counts[".fractary"] != 105-cycles || asked < 7 {
		t.Errorf("%v runs that ended, %d open requests", counts, asked)
	}
}

// waits reports whether a file is one of a session that waits.
func (p population) waits(name string) bool {
	for n := range p.waiting {
		if strings.HasPrefix(name, ".afl/sessions/"+sessionID(waitingFrom+n)+"/") || strings.HasPrefix(name, cycleDir(waitingFrom+n)+"/") {
			return true
		}
	}
	return false
}

// bodies are all files of a workspace.
func (w workspace) bodies(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(w.root, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := os.ReadFile(p)
		all[strings.TrimPrefix(p, w.root+"/")] = string(body)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestGenerateRefuses(t *testing.T) {
	for name, ask := range map[string]func() error{
		"no number": func() error { _, err := asPopulation(9, 1, "x", [2]int{10, 0}, 1); return err },
		"none":      func() error { _, err := asPopulation(9, 1, "0:3", [2]int{10, 0}, 1); return err },
		"backwards": func() error { _, err := asPopulation(9, 1, "4:3", [2]int{10, 0}, 1); return err },
		"share":     func() error { _, err := asPopulation(9, 1, "1:3", [2]int{60, 41}, 1); return err },
		"waiting":   func() error { _, err := asPopulation(9, 10, "1:3", [2]int{10, 0}, 1); return err },
		"a folder that is not empty": func() error {
			dir := t.TempDir()
			if err := os.WriteFile(dir+"/x", nil, 0o644); err != nil {
				t.Fatal(err)
			}
			return generate(dir, population{})
		},
	} {
		if ask() == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
}
