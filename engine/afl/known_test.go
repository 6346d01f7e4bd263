package afl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is remembered of a state makes no difference to what is read of it.
func TestKnownStateIsReadLikeAnUnknownOne(t *testing.T) {
	w := approvedWorld(t, cp{id: "a", expected: "4 passing"}, cp{id: "b", after: []string{"a"}}, cp{id: "c"})
	w.settle()
	w.trust()
	same := func(body string) {
		t.Helper()
		whole, wholeErr := decodeWhole("state.json", []byte(body))
		for range 2 { // the second time it is known
			st, _, err := decodeState("state.json", []byte(body))
			if diff := cmp.Diff(fmt.Sprint(wholeErr), fmt.Sprint(err)); diff != "" {
				t.Errorf("the error differs (-whole +known):\n%s", diff)
			}
			if diff := cmp.Diff(whole, st); diff != "" && err == nil {
				t.Errorf("the state differs (-whole +known):\n%s", diff)
			}
		}
	}
	for range 3 {
		same(w.Read("state.json"))
		w.failOnce("c", "not ok 1 - c")
		w.pass(5e9)
		w.settle()
	}
	w.passOnce("a")
	body := w.Read("state.json")
	for _, change := range [][2]string{
		{`"status": "completed"`, `"status": "nearly"`},
		{`"max_iterations": 5`, `"max_iterations": "5"`},
		{`"b": {`, `"b": {"iteration": 7, `},
		{`"revision": `, `"later": {"x": [1]}, "revision": `},
		{`"checkpoints": {`, `"checkpoints": [`},
		{`"checkpoints": {`, `"checkpoints": {"x": null, `},
		{`"source": "stamp"`, `"source": "nobody"`},
		{`"approved"`, `"proved"`},
		{"\n}\n", "\n"},
	} {
		if !strings.Contains(body, change[0]) {
			t.Fatalf("the state has no %s", change[0])
		}
		same(strings.Replace(body, change[0], change[1], 1))
	}
}

// A state that was read is the reader's: changing it changes nothing that is
// known.
func TestWhatIsKnownIsNotShared(t *testing.T) {
	w := approvedWorld(t, cp{id: "a"})
	w.settle()
	body := []byte(w.Read("state.json"))
	want, _ := decodeWhole("state.json", body)
	for range 2 {
		st, _, err := decodeState("state.json", body)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, st); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		st.Approved.Digest, st.Checkpoints["a"].Status, st.Checkpoints["a"].Worker.Number = "other", Aborted, 9
		delete(st.Checkpoints, "a")
	}
}

func TestKnownRenderingsAreRepaired(t *testing.T) {
	w := approvedWorld(t, cp{id: "a"}, cp{id: "b"})
	w.settle()
	for _, name := range []string{"delegations/a/status.json", "delegations/b/routing.json"} {
		want := w.Read(name)
		w.Write(name, strings.Replace(want, "placet\"", "placet\", \"more\": 1", 1))
		w.settle()
		if got := w.Read(name); got != want {
			t.Errorf("%s is\n%s\nexpected\n%s", name, got, want)
		}
		delete(w.Files, w.In(name))
		w.settle()
		if got := w.Read(name); got != want {
			t.Errorf("%s is\n%s\nexpected\n%s", name, got, want)
		}
	}
}

func TestMemoryForgetsWhatIsLongOutOfUse(t *testing.T) {
	m := memory[int]{limit: 100}
	key := func(i int) [32]byte { return keyOf([]byte(fmt.Sprint(i))) }
	m.put(key(-1), -1, 51) // too large to be kept
	for i := range 50 {
		m.put(key(i), i, 10)
		if got, ok := m.get(key(0)); !ok || got != 0 {
			t.Fatalf("after %d: what is in use is forgotten", i)
		}
	}
	kept := 0
	for i := range 50 {
		if _, ok := m.newer[key(i)]; ok {
			kept++
		} else if _, ok := m.old[key(i)]; ok {
			kept++
		}
	}
	if _, ok := m.get(key(-1)); ok || kept > 20 || kept < 10 {
		t.Errorf("%d are kept, and the large one: %v", kept, ok)
	}
}
