package main_test

import (
	"strings"
	"testing"
)

// sides are one waiting run as two people took it on, each in a clone: answered, and
// given up. It returns the state.json of the side that gave it up; the workspace is
// that of the side that answered.
func sides(t *testing.T) (p *place, cancelled string) {
	t.Helper()
	p = answeredPlace(t, 1, 1)
	waiting := p.read(p.runs[0] + "/state.json")
	other := newPlace(t, p.root+"-other", 1)
	other.write(p.runs[0]+"/state.json", waiting)
	other.write(p.runs[0]+"/cancel.json", `{"by": "kim", "reason": "not needed"}`)
	other.must(0, "once")
	cancelled = other.read(p.runs[0] + "/state.json")
	p.write(p.request(0)+"/response.json", p.response(0, "approve", ""))
	p.must(0, "once")
	return p, cancelled
}

// contradicts checks that check names a contradiction, and explain how to mend it.
func (p *place) contradicts(all ...string) {
	p.t.Helper()
	run := p.runs[0]
	p.says(p.must(1, "check"), append(all, "error  "+run+"/state.json: ", "git restore --source=COMMIT -- "+run)...)
	p.says(p.must(0, "explain", "faber"), append(all, "git restore --source=COMMIT -- "+run)...)
}

// A merge that took the state of one side and the receipt of the other went unnoticed.
func TestAMergeOfTwoHistoriesIsNamed(t *testing.T) {
	t.Parallel()
	p, cancelled := sides(t)
	state := p.runs[0] + "/state.json"
	answered := p.read(state)
	p.must(0, "check")

	p.replace(state, cancelled)
	p.contradicts(`receipt.json says "approve", and state.json is cancelled without that answer`)

	p.replace(state, strings.Replace(answered, `"response": "approve"`, `"response": "reject"`, 1))
	p.contradicts(`receipt.json says "approve", and feedback_history of state.json says "reject"`)
	p.says(p.must(1, "inbox"), `feedback_history of state.json says "reject"`)
	p.must(1, "status")

	p.replace(state, answered)
	p.must(0, "check")
	p.must(0, "status")
}

// A run that somebody sets going again after it was given up is told.
func TestARunThatIsRevivedIsNamed(t *testing.T) {
	t.Parallel()
	p := answeredPlace(t, 1, 1)
	p.write(p.request(0)+"/response.json", p.response(0, "reject", ""))
	p.must(0, "once")
	p.must(0, "check")
	state := p.runs[0] + "/state.json"
	p.replace(state, strings.Replace(p.read(state), `"status": "cancelled"`, `"status": "in_progress"`, 1))
	p.contradicts("the run was cancelled by ", "and state.json says in_progress: somebody revived it")
	p.says(p.must(1, "inbox"), "the run was cancelled by ")
	p.says(p.must(1, "status"), "the run was cancelled by ")
}

// What answers leave behind contradicts nothing.
func TestNoAnswerContradictsItsRun(t *testing.T) {
	t.Parallel()
	p := answeredPlace(t, 4, 4)
	for i, option := range []string{"approve", "reject", "request_changes"} {
		p.write(p.request(i)+"/response.json", p.response(i, option, "a word"))
	}
	p.must(3, "once")
	p.write(p.runs[3]+"/cancel.json", `{"by": "kim", "reason": "not needed"}`)
	p.must(0, "once")
	p.must(0, "check")
	p.must(0, "status")
}
