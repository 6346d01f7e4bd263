package afl

import (
	"fmt"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/internal/enginetest"
)

// testFile is the file that the validation command of these cases names.
const testFile = "tests/a.sh"

// changing returns a case whose command was agreed to with another content of testFile. An answer
// that lets it run stands for the agreement that the answering process records.
func changing(name string, steps ...enginetest.Step) enginetest.Case {
	c := untrusted(name, one, steps...)
	c.Files[testFile] = "echo new\n"
	c.Agree = func(t enginetest.Tree, f *engine.Environment) {
		digest := commandDigest("validation", []string{"bash", "-c"}, "run a")
		for p, body := range t {
			if strings.HasSuffix(p, "/response.json") && strings.Contains(body, `"response":"run`) {
				f.Trusted[digest] = true
				return
			}
		}
		then := "echo old\n"
		f.Changed = map[engine.Digest][]engine.ChangedFile{digest: {
			{Path: testFile, Was: engine.Sum([]byte(then)), Now: engine.Sum([]byte(t[testFile])), Then: &then},
		}}
	}
	return c
}

// changedCases are questions about changed files.
func changedCases() []enginetest.Case {
	return []enginetest.Case{
		changing("changed, let run", completes("a"), stands(Delegating, "a=validating"), responds(typeChanged, "a", "run", ""),
			stands(Delegating, "a=validating"), passes("a"), stands(Delegating, "a=completed")),
		with(changing("changed, changes let run", completes("a"), responds(typeChanged, "a", engine.TrustChanges, ""), passes("a"), stands(Delegating, "a=completed")),
			func(c *Config) { c.ChangingTests = ptr(changingTrust) }),
		changing("changed again, not let run", completes("a"), enginetest.Write(testFile, "echo newer\n"), enginetest.Pass(time.Minute),
			ticks(typeChanged, "a", "escalate", ""), stands(Escalated, "a=escalated")),
	}
}

// sideEnds writes the outcome of a start of the oracle or the reviewer.
func sideEnds(id, stem string, start func(*Checkpoint) *SideRun, how, exit string) enginetest.Step {
	return do(fmt.Sprintf("the %s of %s ends: %s", stem, id, how), func(st State, put func(rel, body string)) {
		c := st.Checkpoints[id]
		if c == nil || start(c) == nil {
			panic(id + " has no " + stem)
		}
		put(place(id, c.Iteration, numbered(stem, start(c).Number)), sideOutcome(start(c), how, exit))
	})
}

func sideOutcome(of *SideRun, how, exit string) string {
	return fmt.Sprintf(`{"number": %d, "command_digest": %q, "started_at": "2025-12-06T18:15:00.120Z", "finished_at": "2025-12-06T18:16:00.120Z", "outcome": %q, "exit_code": %s, "tail": "bye\n"}`+"\n",
		of.Number, of.CommandDigest, how, exit)
}

func oracleOf(c *Checkpoint) *SideRun { return c.Oracle }

func reviewerOf(c *Checkpoint) *SideRun {
	if c.Review == nil {
		return nil
	}
	return c.Review.Command
}

// sideCases are failures that a command analyses, and checkpoints that a command or a person reviews.
func sideCases() []enginetest.Case {
	oracle := func(c *Config) { c.OracleCommand = []string{"oracle"} }
	each := func(c *Config) { c.Review = ptr(reviewEach) }
	reviewer := func(c *Config) { c.Review, c.ReviewerCommand = ptr(reviewEach), []string{"reviewer"} }
	trusts := func(c enginetest.Case, digest engine.Digest) enginetest.Case {
		c.Trusted = append(c.Trusted, digest)
		return c
	}
	both := []cp{{id: "a"}, {id: "b", after: []string{"a"}}}
	finding := func(severity string) string {
		return fmt.Sprintf(`{"reviewer": "critic", "findings": [{"checkpoint": "a", "severity": %q, "title": "no test of zero"}]}`, severity)
	}
	return []enginetest.Case{
		trusts(with(newCase("analysed by a command", one, completes("a"), fails("a"), stands(Delegating, "a=validating"),
			sideEnds("a", "oracle-run", oracleOf, engine.CommandStopped, "null"), stands(Delegating, "a=validating"),
			lawPut(place("a", 1, "analysis.json"), `{"failure_type": "ENV_ISSUE", "causes": ["no database"]}`),
			sideEnds("a", "oracle-run", oracleOf, engine.CommandFinished, "0"), stands(Escalated, "a=escalated")), oracle), OracleDigest([]string{"oracle"})),
		with(newCase("each reviewed by a person", both, completes("a"), passes("a"), stands(Delegating, "a=completed", "b=pending"),
			responds(typePassed, "a", "reopen", "and zero?"), enginetest.Pass(time.Minute), stands(Delegating, "a=in_progress"),
			completes("a"), passes("a"), ticks(typePassed, "a", "accept", ""), stands(Delegating, "a=completed", "b=in_progress"),
			completes("b"), passes("b"), responds(typePassed, "b", "accept", ""), stands(Completed)), each),
		trusts(with(newCase("each reviewed by a command", both, completes("a"), passes("a"),
			sideEnds("a", "review-run", reviewerOf, engine.CommandStopped, "null"),
			lawPut(place("a", 1, reviewFile), finding("blocking")), sideEnds("a", "review-run", reviewerOf, engine.CommandFinished, "0"),
			stands(Delegating, "a=in_progress", "b=pending"), completes("a"), passes("a"),
			lawPut(place("a", 2, reviewFile), finding("non_blocking")), sideEnds("a", "review-run", reviewerOf, engine.CommandFinished, "0"),
			stands(Delegating, "a=completed", "b=in_progress"), completes("b"), passes("b"),
			sideEnds("b", "review-run", reviewerOf, engine.CommandFinished, "1"), responds(typePassed, "b", "accept", gate.Accepted), stands(Completed)), reviewer),
			ReviewerDigest([]string{"reviewer"})),
	}
}
