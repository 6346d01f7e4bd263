package gate

import (
	"strings"
	"testing"

	"placet/engine"
	"placet/layout"
)

// Check refuses before writing what Judge refuses when reading, and for the same reason.
func TestCheckSaysWhatJudgeSays(t *testing.T) {
	for name, body := range map[string]string{
		"an option":              response("approve", ""),
		"an unknown option":      response("aprove", ""),
		"no comment":             response("request_changes", ""),
		"an item that is none":   response("approve", `,"selected":["x"]`),
		"another digest":         response("approve", `,"digest":"`+string(engine.Sum(nil))+`"`),
		"the longest comment":    response("approve", `,"comment":"`+strings.Repeat("x", LongestAnswer-len("approve"))+`"`),
		"a longer one":           response("approve", `,"comment":"`+strings.Repeat("x", LongestAnswer)+`"`),
		"the longest user":       strings.Replace(response("approve", ""), `"user":"`, `"user":"`+strings.Repeat("x", LongestUser-10), 1),
		"a longer user":          strings.Replace(response("approve", ""), `"user":"`, `"user":"`+strings.Repeat("x", LongestUser), 1),
		"what is no JSON":        "{",
		"a member that is wrong": response("approve", `,"selected":"x"`),
	} {
		d := file("response.json", body)
		a := asking()
		checked, problem := a.Check(d)
		a.Docs = append(a.Docs, d)
		v := judge(a)
		if (v.Answer == nil) != (problem != "") || problem != "" && !strings.HasPrefix(v.Problem, problem) {
			t.Errorf("%s: Check says %q, Judge says %q", name, problem, v.Problem)
		}
		if v.Answer != nil && checked.Given().Response != v.Answer.Given().Response {
			t.Errorf("%s: Check finds %q, Judge %q", name, checked.Given().Response, v.Answer.Given().Response)
		}
		told := EvaluationOf(a.OpenRequest(), a.Gate)
		if _, again := told.Check(d); (again == "") != (problem == "") {
			t.Errorf("%s: %q from what people are told", name, again)
		}
	}
	if _, problem := asking().Check(engine.Document{Body: make([]byte, layout.LimitJSON+1)}); !strings.Contains(problem, "expected at most 1048576") {
		t.Errorf("a file that is too large: %q", problem)
	}
}
