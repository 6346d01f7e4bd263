package enginetest
import ("testing";"fmt";"placet/engine/store/memfs")
func TestDebugCalls(t *testing.T) {
	s := toySuite(newToy(""))
	c := s.Cases[4]
	bubble(t, func(T T) {
		w := newWorld(s, c, s.Machine, telling{})
		w.disk.Hook(func(c memfs.Call) error { fmt.Println(c.N, c.Op, c.Name); return nil })
		w.tell(func(int) error { return nil }, nil)
	})
}
