package ask

import (
	"path"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/internal/badinput"
	"placet/internal/enginetest"
)

// tell runs a scenario by hand.
func tell(t *testing.T, files enginetest.Tree, story func(d *enginetest.Desk)) {
	t.Helper()
	enginetest.AtDesk(t, laws(), enginetest.Case{Now: now, Files: files}, story)
}

// fold is one line of a text.
func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

func TestAnAskThatCannotBeAsked(t *testing.T) {
	const options = `"options": [{"id": "deploy"}, {"id": "wait"}, {"id": "ask-me", "comment": true}, {"id": "later", "approves": true}]`
	for body, says := range map[string]string{
		`{}`:                                                          "/question",
		`{"question": " "}`:                                           "/question",
		`{"question": "\u200b"}`:                                      "/question: is blank",
		`{"question": 7}`:                                             "/question",
		`{"question": "a", "Question": "b"}`:                          "Question",
		`{"question": "a", "type": "vote"}`:                           `/type`,
		`{"question": "a", "type": "choice"}`:                         `/options: a choice needs 2 to 50 options: expected one or more, such as "options": [{"id": "deploy"}, {"id": "wait"}]`,
		`{"question": "a", "options": ["deploy", "wait"]}`:            `expected an option, such as {"id": "deploy"}`,
		`{"question": "a", "type": "multi"}`:                          "/options: a multi needs 1 to 50",
		`{"question": "a", "type": "review"}`:                         "/artifacts: a review is of at least one file",
		`{"question": "a", "supersedes": "x"}`:                        "/supersedes: an ask cannot take its own place",
		`{"question": "a", "round_of": "x"}`:                          "/round_of: an ask cannot follow itself",
		`{"question": "a", "round_of": "y"}`:                          `/round_of: there is no ask "y"`,
		`{"question": "a", "type": "text", "options": [{"id": "b"}]}`: "/options: a text has no options",
		`{"question": "a", "type": "approval", "options": [{"id": "Approve"}, {"id": "deploy"}]}`:                           `/options/1/id: "deploy" is no answer`,
		`{"question": "a", "options": [{"id": "a-b"}, {"id": "A_B"}]}`:                                                      "/options/1/id: cannot offer both",
		`{"question": "a", "options": [{"id": "rn"}, {"id": "m"}]}`:                                                         "/options/1/id: cannot offer both",
		`{"question": "a", "options": [{"id": "two words"}, {"id": "b"}]}`:                                                  "/options/0/id",
		`{"question": "a", ` + options + `, "default": "wait"}`:                                                             "/default: without a deadline",
		`{"question": "a", ` + options + `, "deadline": "1h", "default": "go"}`:                                             `/default: "go" is none of the options`,
		`{"question": "a", ` + options + `, "deadline": "1h", "default": "Deploy"}`:                                         `/default: "deploy" approves: silence is never consent`,
		`{"question": "a", ` + options + `, "deadline": "1h", "default": "later"}`:                                          `/default: "later" approves`,
		`{"question": "a", ` + options + `, "deadline": "1h", "default": "ask-me"}`:                                         `/default: "ask-me" needs a comment`,
		`{"question": "a", "deadline": "1h", "default": "approve"}`:                                                         `/default: "approve" approves`,
		`{"question": "a", "deadline": "1h", "default": "Approve "}`:                                                        `/default: "approve" approves`,
		`{"question": "a", "options": [{"id": "ship"}, {"id": "b"}], "deadline": "1h", "default": "ship"}`:                  `/default: "ship" approves`,
		`{"question": "a", "options": [{"id": "dep1oy"}, {"id": "b"}], "deadline": "1h", "default": "dep1oy"}`:              `/default: "dep1oy" approves`,
		`{"question": "a", "type": "review", "artifacts": [{"path": "p"}], "deadline": "1h", "default": "request_changes"}`: `/default: "request_changes" needs a comment`,
		`{"question": "a", "type": "text", "deadline": "1h", "default": "x"}`:                                               `/default: "x" is none of the options`,
		`{"question": "a", "deadline": "2 h"}`:                                                                              "/deadline",
		`{"question": "a", "deadline": "0s"}`:                                                                               "/deadline",
		`{"question": "a", "deadline": "1.5h"}`:                                                                             "/deadline",
		`{"question": "a", "deadline": "2026-11-23T10:00:00"}`:                                                              "/deadline",
		`{"question": "a", "deadline": "2026-13-23T10:00:00Z"}`:                                                             "/deadline",
		`{"question": "a", "deadline": "366d"}`:                                                                             "/deadline",
		`{"question": "a", "deadline": "2028-01-01T00:00:00Z"}`:                                                             "more than 365 days away",
		`{"question": "a", "artifacts": [{"path": "../x"}]}`:                                                                "/artifacts/0/path",
		`{"question": "a", "artifacts": [{"path": "/etc/passwd"}]}`:                                                         "/artifacts/0/path",
		`{"question": "a", "artifacts": [{"path": ".git/config"}]}`:                                                         "/artifacts/0/path",
		`{"question": "a", "artifacts": [{"path": ".Placet/now"}]}`:                                                         "/artifacts/0/path",
		`{"question": "a", "artifacts": [{"path": "*.md"}]}`:                                                                "/artifacts/0/path",
		`{"question": "a", "artifacts": [{"path": "git:head"}]}`:                                                            "/artifacts/0/path",
		`{"question": "a", "artifacts": [{"path": ".asks/x/ask.json"}]}`:                                                    "/artifacts/0: .asks/x/ask.json is a file of asks",
		`{"question": "a", "artifacts": [{"path": "missing"}]}`:                                                             "/artifacts/0: missing is missing",
		`{"question": "a", "artifacts": [{"path": "dir"}]}`:                                                                 "/artifacts/0: cannot read dir",
		`{"question": "a", "may_answer": ["kim"]}`:                                                                          "/may_answer: [gates] lets none of them answer",
	} {
		t.Run(body, func(t *testing.T) {
			const own, note = ".asks/x/ask.json", ".asks/x/ask.json.problem.md"
			tell(t, enginetest.Tree{own: body, "dir/file": "f"}, func(d *enginetest.Desk) {
				if strings.Contains(says, "may_answer") {
					d.Case.Config = func(c *engine.Config) { c.Gates = map[string]engine.Gate{"ask": {Approvers: []string{"alice"}}} }
				}
				d.Settle()
				d.Pass(20 * time.Second)
				d.Settle()
				if got := fold(d.Read(note)); !strings.Contains(got, says) || d.Has(".asks/x/state.json") || d.Has(".asks/x/requests") {
					t.Errorf("the note says\n%s\nexpected %q; there are %q", got, says, d.Tree().Paths())
				}
				d.Put(own, yes)
				d.Settle()
				if d.Has(note) || !d.Has(".asks/x/requests/"+RequestID("x")+"/form.md") {
					t.Errorf("mended, it is not asked: %q", d.Tree().Paths())
				}
			})
		})
	}
}

// A file in the way of an answer gets a note, and the ask stays open until the file is gone.
func TestAnswersThatAreHeld(t *testing.T) {
	request := dir + "/requests/" + RequestID("deploy-14")
	kim := `{"request_id": "` + RequestID("deploy-14") + `", "response": "approve", "provided_by": {"user": "kim", "source": "file"}}`
	// After a file was written again, an answer says which text it was given to.
	saw := func(path, text string) string {
		return strings.TrimSuffix(kim, "}") + `, "artifacts": [{"path": "` + path + `", "sha256": "` + engine.Sum([]byte(text)).Hex() + `"}]}`
	}
	for name, c := range map[string]struct {
		ask, path, bad, good, note, says string
		before                           func(*engine.Config)
	}{
		"binding":      {`{"question": "a", "artifacts": [{"path": "plan"}]}`, "plan", "other", "the plan", request + "/problem.md", "plan has changed since you were asked", nil},
		"not yet":      {`{"question": "a", "artifacts": [{"path": "plan", "sha256": "` + engine.Sum([]byte("fits")).Hex() + `"}]}`, "plan", "other", "fits", dir + "/ask.json.problem.md", "another digest than ask.json says", nil},
		"withdrawal":   {yes, dir + "/withdraw.json", `{"why": 1}`, "", dir + "/withdraw.json.problem.md", "/reason", nil},
		"answer.json":  {yes, dir + "/answer.json", theirs, "", dir + "/answer.json.problem.md", "Move it away", nil},
		"may answer":   {`{"question": "a", "may_answer": ["alice"]}`, request + "/response.json", strings.Replace(kim, "kim", "bob", 1), strings.Replace(kim, "kim", "alice", 1), request + "/problem.md", "alice", nil},
		"another form": {yes, request + "/response.json", strings.Replace(kim, "ask-", "other-", 1), kim, request + "/problem.md", "other-", nil},
		"no such word": {yes, request + "/response.json", strings.Replace(kim, "approve", "perhaps", 1), kim, request + "/problem.md", "perhaps", nil},
	} {
		t.Run(name, func(t *testing.T) {
			tell(t, enginetest.Tree{dir + "/ask.json": c.ask, "plan": "the plan"}, func(d *enginetest.Desk) {
				d.Lax = true
				d.Settle()
				d.Put(c.path, c.bad)
				if !strings.HasSuffix(c.path, "response.json") && d.Has(request) && name != "withdrawal" {
					d.Put(request+"/response.json", kim)
				}
				d.Settle()
				if got := fold(d.Read(c.note)); !strings.Contains(got, c.says) || d.Has(dir+"/answer.md") {
					t.Errorf("the note says\n%s\nexpected %q; there are %q", got, c.says, d.Tree().Paths())
				}
				if c.good == "" {
					d.Remove(c.path)
				} else {
					d.Put(c.path, c.good)
				}
				d.Settle()
				answer := kim
				if name == "binding" {
					d.Put(request+"/response.json", kim)
					d.Settle()
					if answer = saw(c.path, c.good); !strings.Contains(fold(d.Read(c.note)), "written again") {
						t.Errorf("an answer that does not say what it was given to: %s", d.Read(c.note))
					}
				}
				d.Put(request+"/response.json", strings.NewReplacer(`"kim"`, `"alice"`).Replace(answer))
				d.Settle()
				if d.Has(c.note) || !strings.Contains(d.Read(dir+"/answer.json"), `"answered": true`) {
					t.Errorf("mended, the answer does not count: %q", d.Tree().Paths())
				}
			})
		})
	}
}

// bad is a document of the ask deploy-14.
func bad(begin enginetest.Tree, rel, body string) enginetest.Input {
	return enginetest.Input{Name: rel, Path: path.Join(dir, rel), Good: badinput.Good{Body: body}, Begin: begin, Run: dir}
}

func deviate(in *enginetest.Input, o enginetest.Outcome, reason string, kinds ...string) {
	if in.Deviates == nil {
		in.Deviates = map[string]enginetest.Deviation{}
	}
	for _, k := range kinds {
		in.Deviates[k] = enginetest.Deviation{Outcome: o, Reason: reason}
	}
}

func TestEveryKindOfBadFileOfEveryDocument(t *testing.T) {
	s := enginetest.NewScramble(t, laws())
	s.Put(dir+"/ask.json", yes)
	s.Look()
	open, folder := s.Disk.Tree(), "requests/"+RequestID("deploy-14")

	question := bad(nil, "ask.json", `{"question": "Deploy?", "type": "text", "correlation": "c"}`)
	question.Required, question.Text, question.Word = "question", "question", "type"

	withdrawal := bad(open, "withdraw.json", `{"reason": "not needed", "by": "kim"}`)
	withdrawal.Required, withdrawal.Text = "reason", "by"

	answer := bad(open, folder+"/response.json", `{"request_id": "`+RequestID("deploy-14")+`", "response": "approve", "comment": "c", "provided_by": {"user": "kim", "source": "cli"}}`)
	answer.Required, answer.Text, answer.Word, answer.ID, answer.Note = "provided_by", "comment", "response", "request_id", dir+"/"+folder+"/problem.md"
	deviate(&answer, enginetest.Taken, "a second answer that is alike is the same answer", "sync-conflict copy")

	state := bad(open, "state.json", open[dir+"/state.json"])
	state.Required, state.Text, state.Word, state.Number, state.ID = "status", "lang", "status", "revision", "ask_id"
	state.Late = enginetest.Tree{answer.Path: answer.Body}
	deviate(&state, enginetest.Noted, "the request is there, and this machine did not write it", "missing")

	deviate(&state, enginetest.Taken, "a member that nobody knows is kept", "10 MB")

	beside := enginetest.Beside{
		Comes: enginetest.Tree{".asks/beside/ask.json": yes},
		Taken: func(tree enginetest.Tree) bool { return strings.Contains(tree[".asks/beside/state.json"], `"open"`) },
	}
	enginetest.BadFiles(t, laws(), beside, []enginetest.Input{question, withdrawal, answer, state})
}
