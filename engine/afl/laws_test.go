package afl

import (
	"os"
	"path"
	"regexp"
	"slices"
	"testing"
	"time"

	"placet/engine"
	"placet/internal/enginetest"
	"placet/layout"
)

var lawNow = time.Date(2025, 12, 6, 18, 15, 0, 120e6, time.UTC)

func TestLaws(t *testing.T)        { enginetest.Run(t, laws(t)) }
func TestCrash(t *testing.T)       { enginetest.Crash(t, smallest(laws(t))) }
func TestErrors(t *testing.T)      { enginetest.Errors(t, smallest(laws(t))) }
func TestMetamorphic(t *testing.T) { enginetest.Metamorphic(t, some(laws(t))) }
func TestLanguages(t *testing.T)   { enginetest.Languages(t, laws(t)) }

// playsAll reports whether PLACET_LAWS asks for every case, which takes hours.
func playsAll() bool { return os.Getenv("PLACET_LAWS") == "all" }

// some keeps the case with the most kinds of files. PLACET_LAWS=all keeps all cases.
func some(s enginetest.Suite) enginetest.Suite {
	if playsAll() {
		return s
	}
	return only(s, "asked, passed, reviewed")
}

// smallest keeps the case of [some] with a single checkpoint and tries every file call of it: a
// second checkpoint makes no other calls. PLACET_LAWS=all keeps all cases.
func smallest(s enginetest.Suite) enginetest.Suite {
	if !playsAll() {
		s.Cases = []enginetest.Case{askedAndReviewed(one, completes("a"), passes("a"))}
	}
	return s
}

// only keeps the cases with some names.
func only(s enginetest.Suite, names ...string) enginetest.Suite {
	s.Cases = slices.DeleteFunc(slices.Clone(s.Cases), func(c enginetest.Case) bool { return !slices.Contains(names, c.Name) })
	if len(s.Cases) != len(names) {
		panic("a case of that name is missing")
	}
	return s
}

// laws are the cases of AFL sessions for the shared suite.
func laws(t *testing.T) enginetest.Suite {
	return enginetest.Suite{
		Machine: New(), Layout: layout.AFL{},
		Config:   engine.Config{Language: "en", Family: lawConfig(nil)},
		Final:    map[string][]engine.Status{ofSession: {Completed, Aborted}, ofCheckpoint: {Aborted}},
		Persons:  byPersons,
		Lengths:  tookAside,
		Fault:    anyOrder,
		EveryRow: true,
		Asks:     []string{typeApproval, typeClarification, typeEscalation, typeReview, typeInterrupted, typeChanged, typePassed},
		Cases:    slices.Concat(designCases(t), attemptCases(), changedCases(), sideCases(), personCases(), endCases(t), badInputCases()),
	}
}

// tookAside removes from a tree how long checkpoints took.
func tookAside(t enginetest.Tree) enginetest.Tree {
	for p, body := range t {
		switch path.Base(p) {
		case "routing.json":
			t[p] = totalTimes.ReplaceAllString(body, "$1 <length>")
		case "report.md":
			t[p] = tookCells.ReplaceAllString(body, "| <length> |")
		}
	}
	return t
}

var (
	totalTimes = regexp.MustCompile(`("totalTime(?:Ms)?":) [^\n]+`)
	tookCells  = regexp.MustCompile(`\| \d+(?:s|m|h\d\dm) \|`)
)

// byPersons are the events that a person can cause: with an answer, with control.json, or by
// changing the design.
var byPersons = []string{
	"approved", "changes_requested", "specs_changed", "pause", "resume", "complete", "review_blocking", "abort",
	"answered", "unanswerable", "worker_done", "worker_restart", "worker_failed", "rerun", "fail",
	"retry_more", "redesign", "env_fixed", "skip", "skip_forced", "trusted", "accepted", "reopened",
}

// lawConfig are the settings of the cases. Nothing waits unless a case says so, and then for longer
// than a case with faults takes.
func lawConfig(change func(*Config)) Config {
	c := DefaultConfig()
	c.AutoRetryDelay, c.ApprovalQuiet, c.ParallelWorkers = ptr("2m"), ptr("0s"), ptr(10)
	if change != nil {
		change(&c)
	}
	return c
}

// newCase returns a case of a design approved by its stamp, with its commands trusted.
func newCase(name string, checkpoints []cp, steps ...enginetest.Step) enginetest.Case {
	return enginetest.Case{
		Name: name, Now: lawNow, Trusted: trustedOf(checkpoints), Steps: steps,
		Files: enginetest.Tree{sessionDir + "/" + specsYAML: design(approvedHead, checkpoints...)},
	}
}

// with changes the settings of a case.
func with(c enginetest.Case, change func(*Config)) enginetest.Case {
	c.Config = func(all *engine.Config) { all.Family = lawConfig(change) }
	return c
}

// trustedOf returns the digests of the validation commands of checkpoints.
func trustedOf(checkpoints []cp) []engine.Digest {
	var list []engine.Digest
	for _, c := range checkpoints {
		command := c.command
		if command == "" {
			command = "run " + c.id
		}
		list = append(list, commandDigest("validation", []string{"bash", "-c"}, command))
	}
	return list
}
