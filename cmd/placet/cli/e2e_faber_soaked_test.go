package cli_test

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"placet/cmd/placet/console"
	"placet/engine/faber"
	"placet/engine/gate"
)

// These are the laws of what becomes of the answers to the runs that are soaked.

// isSettled reports whether every comment has its receipt, and every coordinator has ended.
func (s *soakedRuns) isSettled() bool {
	for _, c := range s.comments {
		if s.isThere(c) && s.receiptOf(c).Status == "" {
			return false
		}
	}
	return !slices.ContainsFunc(s.all(), func(c *soakedCoordinator) bool { return s.soakedPrompts(c).Status != faber.Closed })
}

// isThere reports whether a comment came into its run.
func (s *soakedRuns) isThere(c soakedComment) bool {
	return s.there(s.runs[c.run] + "/comments/" + c.id + ".json")
}

// consumed is the receipt of a comment.
type consumed struct {
	Status, Response, Reason string
	Request                  string `json:"request_id"`
}

func (s *soakedRuns) receiptOf(c soakedComment) (r consumed) {
	_ = json.Unmarshal([]byte(s.read(s.runs[c.run]+"/comments/"+c.id+".receipt.json")), &r)
	return r
}

// counted returns how many requests each way decided.
func (s *soakedRuns) counted() map[string]int {
	n := map[string]int{}
	for i := range s.runs {
		for _, h := range s.stateOf(i).History {
			n[h.By.Source]++
		}
	}
	return n
}

// verify checks that each end follows from what the reviewer said, that each request was decided
// once, that each comment and each prompt is accounted for, and that check finds nothing.
func (s *soakedRuns) verify() {
	s.t.Helper()
	taken := s.verifyCoordinators()
	for i, dir := range s.runs {
		st := s.stateOf(i)
		passed, gone := map[string]bool{}, ""
		for _, h := range st.History {
			if why := s.explains(i, dir+"/requests/"+h.RequestID, h.Response, h.By, taken); why != "" {
				s.t.Errorf("%s: the history says %s to %s by %v: %s", dir, h.Response, h.RequestID, h.By, why)
			}
			switch {
			case slices.Contains([]string{"reject", "cancel", "abort"}, h.Response):
				gone = h.Response
			case h.Gate != nil && slices.Contains([]string{"approve", "confirm"}, h.Response):
				passed[h.Gate.Kind+" "+h.Gate.Step] = true
			}
			if got := strings.Count(s.eventsOf(i), `"request_id": "`+h.RequestID+`",`+"\n    \"request_type\""); got != 1 {
				s.t.Errorf("%s: %d events record the answer to %s", dir, got, h.RequestID)
			}
		}
		switch {
		case (gone != "") != (st.Status == "cancelled"):
			s.t.Errorf("%s: %s after %q", dir, st.Status, gone)
		case gone == "" && !(passed["step ship"] && passed["phase_entry tag"] && passed["destructive merge-pr"]):
			s.t.Errorf("%s: completed, and passed were %v", dir, passed)
		}
	}
	s.verifyComments()
	if out, code := s.placet("check"); code != 0 || strings.Contains(out, "warning") {
		s.t.Errorf("check: %d\n%s", code, out)
	}
}

// explains returns why an entry of a history does not follow from what the reviewer did, "" if it does.
func (s *soakedRuns) explains(i int, dir, response string, who by, taken map[string]string) string {
	gave := func(a *soakedAnswer) bool { return a.done && a.way == who.Source && a.word == response }
	user := map[string]string{gate.SourceForm: console.Login(), gate.SourceFile: "tester", gate.SourceIssueComment: "kim", gate.SourceCoordination: console.Login()}[who.Source]
	switch {
	case who.User != user:
		return "want " + user
	case who.Source == gate.SourceIssueComment:
		n := 0
		for _, c := range s.comments {
			if r := s.receiptOf(c); c.run == i && c.answer != nil && r.Request == path.Base(dir) && r.Response == response && c.answer.word == response {
				n++
			}
		}
		if n != 1 {
			return fmt.Sprintf("%d comments say so", n)
		}
	case !slices.ContainsFunc(s.given[dir], gave):
		return "the reviewer did not"
	case who.Source == gate.SourceCoordination && taken[path.Base(dir)] != response:
		return fmt.Sprintf("the coordinator took %q", taken[path.Base(dir)])
	}
	return ""
}

// verifyComments checks that each comment was consumed: it counted, or its receipt says why not, and
// another answer did.
func (s *soakedRuns) verifyComments() {
	s.t.Helper()
	for _, c := range s.comments {
		if !s.isThere(c) {
			continue
		}
		r, counts := s.receiptOf(c), 0
		for _, h := range s.stateOf(c.run).History {
			if h.By.Source == gate.SourceIssueComment && h.RequestID == r.Request && h.Response == r.Response {
				counts++
			}
		}
		want := []string{"accepted", "cancelled", "refused", "ignored"}
		switch {
		case c.answer == nil && c.author == "kim":
			want = []string{"replied"}
		case c.answer == nil:
			want = []string{"ignored"}
		}
		accepted := r.Status == "accepted" || r.Status == "cancelled"
		if !slices.Contains(want, r.Status) || accepted != (counts == 1) || c.answer != nil && !accepted && (r.Reason == "" || len(s.given[c.request]) < 2) {
			s.t.Errorf("%s, comment %s by %s: %+v, and %d entries of the history", s.runs[c.run], c.id, c.author, r, counts)
		}
	}
}

// verifyCoordinators checks that each coordinator has ended, that each of its rounds has a receipt,
// and that what it took is in the history. It returns that, by request.
func (s *soakedRuns) verifyCoordinators() map[string]string {
	s.t.Helper()
	taken := map[string]string{}
	for _, c := range s.all() {
		st := s.soakedPrompts(c)
		receipts, _ := filepath.Glob(filepath.Join(s.root, c.dir, "receipt-*.json"))
		if st.Status != faber.Closed || st.Round == 0 || len(receipts) != st.Round {
			s.t.Errorf("%s: %s, %d rounds, %d receipts", c.dir, st.Status, st.Round, len(receipts))
		}
		for _, name := range receipts {
			var r struct{ Answers []faber.TakenAnswer }
			if err := json.Unmarshal([]byte(s.readFile(name)), &r); err != nil {
				s.t.Fatal(err)
			}
			for _, a := range r.Answers {
				taken[a.RequestID] = a.Response
			}
		}
	}
	for i := range s.runs {
		for _, h := range s.stateOf(i).History {
			if word, ok := taken[h.RequestID]; ok && (word != h.Response || h.By.Source != gate.SourceCoordination) {
				s.t.Errorf("%s: a coordinator took %s for %s, and the history says %s by %v", s.runs[i], word, h.RequestID, h.Response, h.By)
			}
		}
	}
	return taken
}

// eventsOf returns all answers among the events of a run.
func (s *soakedRuns) eventsOf(i int) (all string) {
	files, _ := filepath.Glob(filepath.Join(s.root, s.runs[i], "events/*-feedback_received.json"))
	for _, name := range files {
		all += s.readFile(name)
	}
	return all
}
