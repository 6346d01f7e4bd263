package optimizer

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"placet/engine"
	"placet/internal/enginetest"
	"placet/schemas"
)

func TestLaws(t *testing.T)        { enginetest.Run(t, laws()) }
func TestCrash(t *testing.T)       { enginetest.Crash(t, some(laws())) }
func TestErrors(t *testing.T)      { enginetest.Errors(t, some(laws())) }
func TestMetamorphic(t *testing.T) { enginetest.Metamorphic(t, some(laws())) }
func TestLanguages(t *testing.T)   { enginetest.Languages(t, laws()) }

// some keeps the stories that differ in what they write: told with trouble at
// every call, all of them take too long. PLACET_LAWS=all tells all but those of
// commands, whose end a crash may lose, and of a locked database, which a telling that
// waits longer tries more often: they are told by hand.
func some(s enginetest.Suite) enginetest.Suite {
	all := os.Getenv("PLACET_LAWS") == "all"
	s.Cases = slices.DeleteFunc(slices.Clone(s.Cases), func(c enginetest.Case) bool {
		return strings.HasPrefix(c.Name, "command") || strings.HasPrefix(c.Name, "locked") || !all && !slices.Contains(inShort, c.Name)
	})
	return s
}

// inShort are the stories that are always told with trouble.
var inShort = []string{"answered", "silence, then a late answer"}

// laws are the stories of cycles that the shared suite tells.
func laws() enginetest.Suite {
	s := suiteOf(func(c *Config) {
		w := Workflow{Evaluation: evaluate, Analysis: analyse, CriteriaFixed: true}
		c.Workflows = map[string]Workflow{"with commands": w}
	})
	s.EveryRow = true
	s.Asks = []string{typeHITL, typeCap, typeUnknown}
	s.Lengths = clocksAside
	s.After = eachRowOnce
	s.Rows = nil
	s.Speak = func(conf *engine.Config, lang string) {
		c := conf.Family.(Config)
		c.Language = lang
		conf.Family = c
	}
	s.Cases = slices.Concat(cycleCases(), stopCases(), reentryCases(), commandCases())
	return s
}

// clocksAside takes out of a tree how long a cycle took, times as a database has
// them, and whether a row was found in the database or put there: a crash between
// the two may make the one of the other, and another digest of the state.
func clocksAside(t enginetest.Tree) enginetest.Tree {
	for p, body := range t {
		switch path.Base(p) {
		case "audit.json", "audit-pending.jsonl":
			body = tookSeconds.ReplaceAllString(databaseTimes.ReplaceAllString(body, "<time>"), "$1<length>")
			t[p] = strings.ReplaceAll(body, `"outcome": "inserted"`, `"outcome": "present"`)
		case "state.json", "events.jsonl":
			t[p] = digestOfState.ReplaceAllString(strings.ReplaceAll(body, "audit row inserted", "audit row present"), "$1<digest>")
		}
	}
	return t
}

var (
	databaseTimes = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`)
	digestOfState = regexp.MustCompile(`("state":"sha256:)[0-9a-f]{64}`)
	tookSeconds   = regexp.MustCompile(`(\\?"duration_sec\\?": ?)\d+`)
)

// eachRowOnce checks that a row that the files call inserted or present is in the
// database, each once, and that none is there of which they know nothing.
func eachRowOnce(t enginetest.Tree, rows map[string][]engine.Row) error {
	in, owed := map[string]int{}, map[string]bool{}
	for _, list := range rows {
		for _, row := range list {
			in[row.ID]++
		}
	}
	for p, body := range t {
		if !strings.HasSuffix(p, "/audit.json") {
			continue
		}
		var a Audit
		if err := schemas.Decode("optimizer/audit", p, []byte(body), &a); err != nil {
			return err
		}
		for _, row := range a.Rows {
			owed[row.ID] = true
			settled := row.Outcome == rowInserted || row.Outcome == rowPresent
			if settled != (in[row.ID] == 1) && row.Outcome != rowRefused {
				return fmt.Errorf("%s: the row %s is %s, and %d times in the database", p, row.ID, row.Outcome, in[row.ID])
			}
		}
	}
	for id, n := range in {
		if n != 1 || !owed[id] {
			return fmt.Errorf("the row %s is %d times in the database, owed: %t", id, n, owed[id])
		}
	}
	return nil
}
