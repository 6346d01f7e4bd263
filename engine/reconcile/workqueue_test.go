package reconcile

import (
	"reflect"
	"strconv"
	"testing"
)

// After a start with many runs there is mostly nothing in the set.
func TestTheSetLetsGoOfWhatManyRunsTook(t *testing.T) {
	d := newWorkqueue()
	began := reflect.ValueOf(d.in).Pointer()
	turn := func(n int) {
		for i := range n {
			d.mark(strconv.Itoa(i))
			if _, ok := d.take(); !ok {
				t.Fatal("nothing is marked")
			}
		}
		d.mark("0")
		for i := range n {
			d.finish(strconv.Itoa(i))
		}
		if run, ok := d.take(); run != "0" || !ok {
			t.Fatalf("what was marked meanwhile is not next, but %q", run)
		}
		d.finish("0")
	}
	turn(manyDirty - 1)
	if reflect.ValueOf(d.in).Pointer() != began {
		t.Error("a new map after few runs")
	}
	turn(manyDirty)
	if reflect.ValueOf(d.in).Pointer() == began {
		t.Error("the map that many runs have grown is kept")
	}
}
