package loop

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A run that is answered quickly repeats the same steps, and may never be seen with an
// empty plan.
func TestRunThatIsAnsweredQuicklyIsNotStuck(t *testing.T) {
	w := newWorld(t)
	w.toy("a", toyState{Quirk: "answers"})
	w.o.Store.Watching()
	s := w.session("a")
	_, lv := s.registry.get(toyRun("a").State)
	const answers = 4 * maxSteps
	for n := range answers {
		w.put(fmt.Sprintf("toys/a/requests/q%d/response.json", n), fmt.Sprintf("{\"response\": \"%d\"}\n", n))
		for range 2 {
			p := s.newPass(lv)
			s.queue.mark("another") // the run yields to this one
			s.working.acquire()
			r := p.run(t.Context())
			s.working.release()
			if s.end(lv, p, r); r.outcome != more {
				t.Fatalf("answer %d: %+v", n, r)
			}
		}
	}
	if got := w.state("a").Count; got != 2*answers {
		t.Errorf("%d steps were taken, want %d", got, 2*answers)
	}
}

// A stuck run takes one more step a minute, and is logged once.
func TestStuckRunIsTriedAgainAfterAMinute(t *testing.T) {
	for quirk, most := range map[string]int{"loop": maxSteps, "sway": 2 * maxSteps} {
		t.Run(quirk, func(t *testing.T) {
			root := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				w := worldAt(t, root)
				w.toy("a", toyState{Quirk: quirk})
				s := w.start(deaf)
				<-s.ready
				time.Sleep(10*time.Minute + 30*time.Second)
				synctest.Wait()
				// The first minutes may be spent on the first steps.
				if got := w.state("a").Count - most; got < 8 || got > 11 {
					t.Errorf("it took %d more steps in 10 minutes", got)
				}
				if n := strings.Count(w.log.String(), "is stuck"); n != 1 {
					t.Errorf("said %d times, want once:\n%s", n, w.log)
				}
				if strings.Contains(w.log.String(), "going on") {
					t.Errorf("it is said to go on:\n%s", w.log)
				}
				s.stop()
			})
		})
	}
}
