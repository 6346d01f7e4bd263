package enginetest

import (
	"testing"

	"placet/engine"
)

// kin is a toy machine whose runs must know of one another; it forgets its last
// result if n counts.
type kin struct {
	engine.Machine
	n *int
}

func (k kin) count() string {
	if k.n == nil {
		return "1"
	}
	*k.n++
	return string(rune('0' + *k.n))
}

func (kin) Shares() []string { return []string{"state.json"} }

func (k kin) Entry(s engine.Snapshot) []byte { return []byte(s.Key.ID + k.count()) }

func (kin) Refused(engine.Snapshot) []byte { return nil }

func (k kin) Relate(entries map[string][]byte) map[string][]byte {
	return map[string][]byte{"a": []byte(k.count())}
}

func TestAJudgedMachineKnowsOfItsRunsAsBefore(t *testing.T) {
	if _, ok := Judged(t, toySuite(newToy(""))).(engine.PeerMachine); ok {
		t.Error("a machine whose runs know nothing of one another is said to be related")
	}
	for _, n := range []*int{nil, new(int)} {
		r := &recorder{t: t}
		s := toySuite(kin{newToy(""), n})
		m, ok := Judged(r, s).(engine.PeerMachine)
		if !ok || len(m.Shares()) != 1 || m.Family() != "toy" {
			t.Fatalf("%T is not related as it was", m)
		}
		if entry := m.Entry(engine.Snapshot{Key: engine.Key{Family: "toy", ID: "a"}}); string(entry) != "a1" {
			t.Errorf("the entry is %q", entry)
		}
		m.Relate(map[string][]byte{"a": nil})
		for _, law := range []string{"equal snapshots of toy/a give different entries: a1, a2", "runs are told different things of equal entries"} {
			if r.heard(law) != (n != nil) {
				t.Errorf("the judge says %q", r.said)
			}
		}
	}
}
