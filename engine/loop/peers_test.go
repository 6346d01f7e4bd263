package loop

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/memfs"
	"placet/engine/watch"
	"placet/layout"
)

func TestNoTwoRunsTakeUpTheSame(t *testing.T) {
	for _, tickets := range []int{30, 60} {
		w := newShelfWorld(t)
		w.wants(numbered("w", 40)...)
		w.order("tray", shelfOrder{Brings: numbered("t", tickets)})
		w.once()
		wantTaken(t, w.tree(), numbered("t", min(tickets, 40)))
	}
}

func TestNoTwoRunsTakeUpTheSameWhileTheyAreServed(t *testing.T) {
	w := newShelfWorld(t)
	tickets := numbered("t", 60)
	w.serve(watch.Notify)
	for i, id := range numbered("w", 80) {
		if w.wants(id); i%10 == 0 {
			w.order("tray"+id, shelfOrder{Brings: tickets[min(len(tickets), i):min(len(tickets), i+10)]})
		}
	}
	w.eventually("all are taken", func() bool {
		n := 0
		for p := range w.tree() {
			if filepath.Base(p) == "claim.json" {
				n++
			}
		}
		return n >= len(tickets)
	})
	w.once()
	wantTaken(t, w.tree(), tickets)
}

func TestExactlyThoseAreLookedAtWhoseAnswerIsAnother(t *testing.T) {
	w := newShelfWorld(t)
	for id, colour := range map[string]string{"red1": "red", "red2": "red", "blue": "blue"} {
		w.order(id, shelfOrder{Wants: true, Colour: colour})
	}
	w.serve(watch.Notify)
	w.eventually("all were told that there is nothing", func() bool {
		return len(w.m.counted(w.m.steps)) == 3 && w.toldAll("red1", "red2", "blue")
	})
	before := w.m.counted(w.m.steps)
	w.order("tray", shelfOrder{Brings: []string{"t"}, Colour: "red"})
	w.eventually("one of them takes it", func() bool { return w.took("red1")+w.took("red2") == "t" })
	if w.took("red1") == "" {
		w.takes("red2", "t")
	}
	w.eventually("the other is told", func() bool { return w.toldAll("red1", "red2", "blue") })
	after := w.m.counted(w.m.steps)
	if after["blue"] != before["blue"] || after["red1"] == before["red1"] || after["red2"] == before["red2"] {
		t.Errorf("steps: %v, then %v", before, after)
	}
}

// toldAll reports whether runs are settled: they have the present answers.
func (w shelf) toldAll(ids ...string) bool {
	x := w.peers["shelf"]
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.open) > 0 || x.stale.Load() || x.marks.any() {
		return false
	}
	for _, id := range ids {
		p := x.runs[shelfRun(id).State]
		was, asked := x.asked[shelfRun(id).State]
		if p == nil || !p.known || asked && (was.unsure || string(was.body) != string(x.answers[id])) {
			return false
		}
	}
	return true
}

func (k *peerMarks) any() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.all || len(k.states) > 0
}

func TestWhatBecomesFreeIsTaken(t *testing.T) {
	w := newShelfWorld(t)
	w.order("tray", shelfOrder{Brings: []string{"t"}})
	w.wants("a")
	w.serve(watch.Notify)
	w.takes("a", "t")
	w.wants("b")
	w.eventually("b is told that there is nothing", func() bool { return w.toldAll("b") && w.m.counted(w.m.steps)["b"] > 0 })
	if err := os.Rename(w.abs("shelf/a"), w.abs("a-away")); err != nil {
		t.Fatal(err)
	}
	w.takes("b", "t")
	if _, err := os.Stat(w.abs("shelf/a")); err == nil {
		t.Error("the folder of a run that went away was made anew")
	}
}

func TestAChangeOfASharedFileOutsideTheRunIsSeen(t *testing.T) {
	w := newShelfWorld(t)
	w.order("tray", shelfOrder{Brings: []string{"t"}, Colour: "red"})
	w.order("a", shelfOrder{Wants: true, Colour: "blue"})
	w.serve(watch.Notify)
	w.eventually("a is told that there is nothing", func() bool { return w.toldAll("a") })
	w.order("a", shelfOrder{Wants: true, Colour: "red"})
	w.takes("a", "t")
	w.order("b", shelfOrder{Wants: true, Colour: "red"})
	w.eventually("b is told that there is nothing", func() bool { return w.toldAll("b") })
	w.order("tray", shelfOrder{Brings: []string{"t", "u"}, Colour: "red"})
	w.takes("b", "u")
}

func TestNothingIsKeptWhileNobodyNeedsIt(t *testing.T) {
	w := newShelfWorld(t)
	w.order("tray", shelfOrder{Brings: []string{"t"}})
	w.serve(watch.Notify)
	w.order("tray2", shelfOrder{Brings: []string{"u"}})
	w.eventually("both were looked at", func() bool { return len(w.m.counted(w.m.steps)) == 2 })
	if got := w.m.counted(w.m.entries); len(got) > 0 || len(w.peers["shelf"].runs) > 0 {
		t.Errorf("entries were made: %v", got)
	}
	if w.peers["toy"] != nil {
		t.Error("an index of a family whose runs need not know of one another")
	}
	w.wants("a")
	w.takes("a", "t")
}

func TestAChangeOfOneRunCostsOneEntry(t *testing.T) {
	w := newShelfWorld(t)
	for _, id := range numbered("w", 50) {
		w.order(id, shelfOrder{Brings: []string{"t" + id}, Colour: "red"})
	}
	w.wants("a")
	w.serve(watch.Notify)
	w.eventually("a is told", func() bool { return w.toldAll("a") })
	w.eventually("no file is so young that it must be read again", func() bool {
		x, young := w.peers["shelf"], false
		x.markAll()
		x.mu.Lock()
		defer x.mu.Unlock()
		for _, p := range x.runs {
			young = young || p.racy
		}
		return !young
	})
	for i := range 5 {
		before, relates := w.m.counted(w.m.entries), w.m.related()
		w.order("w0007", shelfOrder{Brings: []string{strings.Repeat("n", i+1)}, Colour: "red"})
		w.eventually("it is known", func() bool { return w.m.related() > relates && w.toldAll("a") })
		for id, n := range w.m.counted(w.m.entries) {
			if n != before[id] && id != "w0007" {
				t.Errorf("the entry of %s was made again", id)
			}
		}
		if n := w.m.related() - relates; n > 1 {
			t.Errorf("related %d times for one change", n)
		}
	}
}

// The file changes between any two looks.
func TestNothingIsDecidedWhileAnEntryIsNotKnown(t *testing.T) {
	at, changes, stands := time.Date(2026, 3, 1, 12, 0, 0, 8_000_000, time.UTC), 0, false
	now := func() time.Time { return at }
	m := memfs.New(now)
	order := func(id string, o shelfOrder) { m.Put("shelf/"+id+"/order.json", string(encode(o))) }
	order("tray", shelfOrder{Brings: []string{"t"}})
	order("a", shelfOrder{Wants: true})
	at = at.Add(time.Hour)
	order("other", shelfOrder{Brings: []string{"u"}})
	l := New(Options{
		Store: store.New(m, store.Options{Now: now}), Families: []Family{{shelfLayout{}, newShelf()}}, Now: now, Workers: 1,
		Pause: func(_ context.Context, d time.Duration) error {
			at = at.Add(d)
			if changes++; !stands {
				order("other", shelfOrder{Brings: []string{strings.Repeat("u", changes)}})
			}
			return nil
		},
	})
	r, err := l.Once(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(r.Unsettled, "shelf/other/order.json") || slices.Contains(r.Unsettled, engine.NeedPeers) {
		t.Errorf("unsettled: %q", r.Unsettled)
	}
	if took := claims(m.Tree()); len(took) > 0 {
		t.Errorf("taken meanwhile: %q", took)
	}
	if _, err := l.Entries("shelf"); !errors.Is(err, engine.ErrUnsettled) || !strings.Contains(err.Error(), "shelf/other/order.json") {
		t.Errorf("got %v, want ErrUnsettled and the file's name", err)
	}
	stands = true
	if _, err := l.Once(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantTaken(t, m.Tree(), []string{"t"})
}

func claims(tree map[string]string) (found []string) {
	for p := range tree {
		if filepath.Base(p) == "claim.json" {
			found = append(found, p)
		}
	}
	return found
}

func TestEntriesAreThoseOfTheFamily(t *testing.T) {
	w := newShelfWorld(t)
	w.order("tray", shelfOrder{Brings: []string{"t"}})
	w.wants("a")
	w.put("shelf/b/other.json", "{}")
	for i, want := range []map[string][]byte{
		{"tray": encode(shelfOrder{Brings: []string{"t"}}), "a": encode(shelfOrder{Wants: true})},
		{"tray": encode(shelfOrder{Brings: []string{"t"}}), "a": encode(shelfOrder{Wants: true, Took: "t"})},
	} {
		before := w.tree()
		got, err := w.Entries("shelf")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d: entries (-want +got):\n%s", i, diff)
		}
		if diff := cmp.Diff(before, w.tree()); diff != "" {
			t.Errorf("something was written:\n%s", diff)
		}
		w.once()
	}
	for _, family := range []string{"toy", "none"} {
		if _, err := w.Entries(family); err == nil {
			t.Errorf("entries of %s", family)
		}
	}
}

// closed is a shelf whose runs cannot be listed.
type closed struct{ shelfLayout }

func (closed) Runs(layout.Lister) ([]layout.Run, error) { return nil, fs.ErrPermission }

func TestWhereRunsCannotBeFoundNothingIsDecided(t *testing.T) {
	w := newShelfWorld(t)
	w.order("tray", shelfOrder{Brings: []string{"t"}})
	w.wants("a")
	x := w.peers["shelf"]
	x.fam.Layout = closed{}
	if _, err := w.Once(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot read the other shelf runs") {
		t.Errorf("error: %v", err)
	}
	if w.took("a") != "" {
		t.Error("a took something")
	}
	x.fam.Layout = shelfLayout{}
	w.once()
	if w.took("a") != "t" {
		t.Error("a took nothing when they could be found")
	}
}

func TestAMachineThatCannotRelateHoldsUpThoseWhoAsk(t *testing.T) {
	w := newShelfWorld(t)
	w.toy("a", toyState{Target: 1})
	w.wants("a")
	w.peers["shelf"].m = shelfMachine{mu: w.m.mu, steps: w.m.steps, entries: w.m.entries, relates: w.m.relates, unstable: true}
	if _, err := w.Once(t.Context()); err == nil || !strings.Contains(err.Error(), "panicked (a bug): shelf") {
		t.Errorf("error: %v", err)
	}
	if w.state("a").Status != "waiting" {
		t.Error("another family was held up")
	}
}
