package store_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"placet/engine/store"
)

func TestGlanceDiffersWithWhatStatSays(t *testing.T) {
	root := t.TempDir()
	s := store.New(store.OS(root), store.Options{})
	file := filepath.Join(root, "d/f")
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(os.Mkdir(filepath.Join(root, "d"), 0o755))
	seen := map[uint64]string{s.Glance("d", "f\x00"): "absent"}
	note := func(step string) {
		t.Helper()
		g := s.Glance("d", "f\x00")
		if other, ok := seen[g]; ok || g == 0 {
			t.Errorf("%s has the glance of %s", step, other)
		}
		seen[g] = step
		if s.Glance("x", "/d/f\x00") != g {
			t.Errorf("%s: two glances at the same file differ", step)
		}
	}
	do(os.WriteFile(file, []byte("one"), 0o600))
	note("made")
	do(os.WriteFile(file, []byte("three"), 0o600))
	note("longer")
	do(os.Chtimes(file, time.Unix(1, 0), time.Unix(1, 0)))
	note("older")
	do(os.Chmod(file, 0o640))
	note("mode")
	do(os.Remove(file))
	do(os.Mkdir(file, 0o700))
	note("a folder")
	if s.Glance("d", ".\x00f\x00") == s.Glance("d", "f\x00.\x00") {
		t.Error("the order of names makes no difference")
	}
	if s.GlanceAt("d", "d/f") != s.Glance("d", ".\x00f\x00") {
		t.Error("a run's glance is another one")
	}
	if s.GlanceOld("d/f") != 0 {
		t.Error("what was just made is old")
	}
}

// What lies outside the runs is looked at once.
func TestLookingAgainLooksOutsideOnce(t *testing.T) {
	root := t.TempDir()
	s := store.New(store.OS(root), store.Options{})
	if err := os.WriteFile(filepath.Join(root, "need"), []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	round := s.Again()
	before := round.Glance("r1", "/need\x00")
	if err := os.WriteFile(filepath.Join(root, "need"), []byte("longer"), 0o600); err != nil {
		t.Fatal(err)
	}
	if round.Glance("r2", "/need\x00") != before {
		t.Error("it was looked at twice")
	}
	if s.Again().Glance("r2", "/need\x00") == before {
		t.Error("another round does not look")
	}
}
