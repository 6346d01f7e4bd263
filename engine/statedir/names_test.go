package statedir

import (
	"fmt"
	"sync"
	"testing"
)

// Whoever holds a path syncs the disk meanwhile. Two hundred answers at once share the syncs only if
// none of them waits for another's path.
func TestPathsAreHeldWithoutWaitingForOtherPaths(t *testing.T) {
	d := &Dir{}
	var release []func()
	for i := range 1000 {
		release = append(release, d.HoldPath(fmt.Sprintf("runs/r%d/requests/q/response.json", i)))
	}
	if n := len(d.attributions.paths.held); n != 1000 {
		t.Errorf("%d paths are held", n)
	}
	for _, release := range release {
		release()
	}
	if n := len(d.attributions.paths.held); n != 0 {
		t.Errorf("%d released paths are kept", n)
	}
}

func TestAPathHasOneHolderAtATime(t *testing.T) {
	var locks nameLocks
	var all sync.WaitGroup
	holders := map[string]int{}
	for i := range 100 {
		names := []string{"a", "b", "a"}
		if i%2 == 0 {
			names = []string{"b", "c", "a"}
		}
		all.Go(func() {
			defer locks.hold(names...)()
			if holders["a"]++; holders["a"] != 1 {
				t.Error("two hold the same name")
			}
			holders["a"]--
		})
	}
	all.Wait()
	if len(locks.held) != 0 {
		t.Errorf("%d names are kept", len(locks.held))
	}
}
