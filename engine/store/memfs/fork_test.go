package memfs_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine/store/fs"
	"placet/engine/store/memfs"
)

func TestAKillMakesNothingDurable(t *testing.T) {
	m := memfs.New(fixed)
	create(t, m, "a", "body", true)
	c := m.KillClone()
	if got := outcomes(c, "a"); !got["absent"] || !got["body"] || len(got) != 2 {
		t.Errorf("a power cut after a kill: %v", got)
	}
	must(t, c.SyncDir("."))
	if got := outcomes(c, "a"); !got["body"] || len(got) != 1 {
		t.Errorf("synced after a kill: %v", got)
	}
	if got := outcomes(m, "a"); !got["absent"] {
		t.Error("a sync of the clone has made the name durable in the first too")
	}
}

func TestClonesChangeApart(t *testing.T) {
	m := memfs.New(fixed)
	m.Put("d/log", "one\n")
	m.Put("d/x", "x")
	write := func(m *memfs.FS, text string) {
		f, err := m.Open("d/log", fs.ForAppending, 0o644)
		must(t, err)
		defer f.Close()
		_, err = f.Write([]byte(text))
		must(t, err)
	}
	killed, cut := m.KillClone(), m.CrashClone(3)
	write(m, "first\n")
	write(killed, "killed\n")
	write(cut, "cut\n")
	m.Delete("d/x")
	must(t, killed.Rename("d/x", "d/y", fs.Replace))
	for _, c := range []struct {
		m    *memfs.FS
		want map[string]string
	}{
		{m, map[string]string{"d/log": "one\nfirst\n"}},
		{killed, map[string]string{"d/log": "one\nkilled\n", "d/y": "x"}},
		{cut, map[string]string{"d/log": "one\ncut\n", "d/x": "x"}},
	} {
		if diff := cmp.Diff(c.want, c.m.Tree()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestHalfOfAWriteIsMadeInAClone(t *testing.T) {
	m := memfs.New(fixed)
	var halves []string
	m.Hook(func(c memfs.Call) error {
		clone := m.KillClone()
		if clone.Half(c) {
			body, _ := clone.Get(c.Name)
			halves = append(halves, body)
		}
		return nil
	})
	create(t, m, "a", "12345678", true)
	if got := strings.Join(halves, ","); got != "1234" {
		t.Errorf("halves: %q", got)
	}
	if body, _ := m.Get("a"); body != "12345678" {
		t.Errorf("the first holds %q", body)
	}
}

func TestEqualChoicesAreEqualTrees(t *testing.T) {
	m := memfs.New(fixed)
	if m.Pending() {
		t.Error("something is pending in an empty file system")
	}
	create(t, m, "a", "12345678", false)
	create(t, m, "b", "b", true)
	if !m.Pending() {
		t.Error("nothing is pending")
	}
	trees := map[uint64]map[string]string{}
	for seed := range uint64(200) {
		c := m.CrashClone(seed)
		if was, there := trees[c.Choice()]; there {
			if diff := cmp.Diff(was, c.Tree()); diff != "" {
				t.Fatal(diff)
			}
		}
		trees[c.Choice()] = c.Tree()
	}
	if len(trees) < 5 {
		t.Errorf("only %d choices", len(trees))
	}
}
