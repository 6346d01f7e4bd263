package main

import (
	"path"
	"testing"
)

// guarded are the packages in which mutants are made.
var guarded = []string{
	"engine/gate", "engine/run", "engine/store", "engine/loop",
	"engine/ask", "engine/faber", "engine/afl", "engine/optimizer", "engine/nemawashi", "engine/pal",
}

// Every mutant names a line of the present program: whoever changes the line
// changes its mutant.
func TestEveryMutantCanBeMade(t *testing.T) {
	all, err := readMutants("mutants.txt")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 60 {
		t.Errorf("there are %d mutants, expected 60 at least", len(all))
	}
	in := map[string]int{}
	for _, m := range all {
		in[path.Dir(m.file)]++
		if _, err := m.apply("../.."); err != nil {
			t.Error(err)
		}
		if m.old == m.new {
			t.Errorf("%s: nothing is changed: %s", m.file, m.old)
		}
	}
	for _, dir := range guarded {
		if in[dir] < 5 {
			t.Errorf("%d mutants are in %s, expected 5 at least", in[dir], dir)
		}
	}
}
