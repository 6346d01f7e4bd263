package afl

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"placet/internal/enginetest"
)

// Scenario 17: killed, or without power, at every write of scenarios 5, 6 and 7. The case of
// scenario 6 ends with the pass of scenario 5. The case of scenario 7, with the end of the sibling,
// runs only if PLACET_LAWS asks for it.
func TestScenario17KilledAtEveryWrite(t *testing.T) {
	s := only(laws(t), "failed, retried, passed")
	if os.Getenv("PLACET_LAWS") != "" {
		s = only(laws(t), "failed, retried, passed", "a result decides")
	}
	enginetest.Crash(t, s)
}

// Scenario 17: the last line of events.jsonl is a function of the state.
func TestScenario17TornEventLine(t *testing.T) {
	for name, left := range map[string]func(last string) string{
		"half of it":       func(last string) string { return last[:len(last)/2] },
		"its newline":      func(last string) string { return strings.TrimSuffix(last, "\n") },
		"its first letter": func(last string) string { return last[:1] },
		"nothing":          func(string) string { return "" },
	} {
		t.Run(name, func(t *testing.T) {
			const events = sessionDir + "/events.jsonl"
			whole := ""
			s := laws(t)
			s.EveryRow, s.Asks = false, nil
			s.Cases = []enginetest.Case{newCase("torn", one,
				enginetest.Step{Name: "tear", Do: func(t enginetest.Tree) {
					whole = t[events]
					start := strings.LastIndexByte(strings.TrimSuffix(whole, "\n"), '\n') + 1
					t[events] = whole[:start] + left(whole[start:])
				}},
				enginetest.Step{Name: "look", Do: func(t enginetest.Tree) {
					if t[events] != whole {
						panic(fmt.Sprintf("events.jsonl holds\n%s\nexpected\n%s", t[events], whole))
					}
				}},
				completes("a"), stands(Delegating, "a=validating"),
			)}
			enginetest.Run(t, s)
		})
	}
}
