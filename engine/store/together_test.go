package store_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine/store"
	"placet/engine/store/memfs"
)

func TestPlansThatAreCommittedTogetherShareTwoRoundsInTheirOrder(t *testing.T) {
	tell := func() (calls []string, r *rounds) {
		r = &rounds{}
		m := memfs.New(nil)
		n := uint64(0)
		s := store.New(m, store.Options{Parallel: 1, Random: func() uint64 { n++; return n }})
		m.Hook(func(c memfs.Call) error {
			if calls = append(calls, c.Op+" "+c.Name); c.Op == "sync" || c.Op == "syncdir" {
				r.see(c.Op)
			}
			return nil
		})
		var plans []store.Ready
		for i := range 3 {
			plans = append(plans, store.Ready{Run: numbered(i), Plan: planOf(numbered(i))})
		}
		plans[1].Plan.Writes[0].Path = "../outside"
		errs := s.CommitTogether(plans)
		if errs[0] != nil || errs[1] == nil || errs[2] != nil {
			t.Fatalf("got %v", errs)
		}
		return calls, r
	}
	first, r := tell()
	second, _ := tell()
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("told twice (-first +second):\n%s", diff)
	}
	if r.count != 2 || r.syncs < 6 {
		t.Errorf("%d rounds with %d fsyncs", r.count, r.syncs)
	}
}

func TestManySaysFromWhenOnOneSyncDoes(t *testing.T) {
	for many, want := range map[int]bool{1: true, 0: false} {
		m, all := memfs.New(nil), false
		m.Hook(func(c memfs.Call) error {
			all = all || c.Op == "syncall"
			return nil
		})
		errs := store.New(m, store.Options{Parallel: 1, Many: many}).CommitTogether([]store.Ready{{Run: numbered(1), Plan: planOf(numbered(1))}})
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		if all != want {
			t.Errorf("Many %d: one sync of everything %t", many, all)
		}
	}
}
