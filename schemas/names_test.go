package schemas

import (
	"errors"
	"slices"
	"testing"

	"placet/templates"
)

// A misspelt name is bad input in a document that is written for placet, wherever its
// object is. Names that are not near a known one are kept, and so are the writer's own.
func TestAMisspeltNameIsBadInput(t *testing.T) {
	for _, tt := range []struct{ schema, body, want string }{
		{"ask/ask", `{"question":"Deploy?","artifact":[{"path":"plan.md"}]}`, `line 1, column 34: /artifact: unknown name "artifact": expected "artifacts"; a name of your own begins with x-`},
		{"ask/ask", `{"question":"Deploy?",` + "\n" + `"defualt":"reject"}`, `line 2, column 11: /defualt: unknown name "defualt": expected "default"; a name of your own begins with x-`},
		{"ask/ask", `{"question":"a","deadlin":"1h"}`, `line 1, column 27: /deadlin: unknown name "deadlin": expected "deadline"; a name of your own begins with x-`},
		{"ask/ask", `{"question":"a","Deadline":"1h"}`, `line 1, column 28: /Deadline: unknown name "Deadline": expected "deadline"; a name of your own begins with x-`},
		{"ask/ask", `{"question":"a","may-answer":["kim"]}`, `line 1, column 30: /may-answer: unknown name "may-answer": expected "may_answer"; a name of your own begins with x-`},
		{"ask/ask", `{"question":"a","options":[{"id":"a"},{"id":"b","aproves":true}]}`, `line 1, column 59: /options/1/aproves: unknown name "aproves": expected "approves"; a name of your own begins with x-`},
		{"ask/ask", `{"question":"a","artifacts":[{"path":"a","bindng":true}]}`, `line 1, column 51: /artifacts/0/bindng: unknown name "bindng": expected "binding"; a name of your own begins with x-`},
		{"ask/ask", `{"question":"a","options":[{"id":"a","idd":1}]}`, `line 1, column 44: /options/0/idd: unknown name "idd": expected "id"; a name of your own begins with x-`},
		{"ask/ask", `{"question":"a","artifacts":[],"artifact":[]}`, `line 1, column 43: /artifact: unknown name "artifact": expected "artifacts"; a name of your own begins with x-`},
		{"afl/control", `{"want":"pause","raeson":"x"}`, `line 1, column 26: /raeson: unknown name "raeson": expected "reason"; a name of your own begins with x-`},
		{"pal/orchestration", `{"title":"a","ports":[{"port_id":"a","dependson":["b"]}]}`, `line 1, column 50: /ports/0/dependson: unknown name "dependson": expected "depends_on"; a name of your own begins with x-`},
		{"optimizer/trigger", `{"workflow_name":"a","current_metrics":{"rat":{"value":1},"gate":{"value":2}}}`, ""}, // names of metrics are free
		{"ask/ask", `{"question":"a","x-deadlin":"1h","$schema":"s","ticket":7,"deadlines_of_others":[{"Question":1}],"id":1}`, ""},
		{"ask/ask", `{"question":"a","asked_by":{"name":"kim","team":"ops","x":1}}`, ""},
		{"faber/state", `{"run_id":"r","stauts":"completed"}`, "not checked"},
		{"afl/worker", `{"status":"completed","changed_file":[]}`, "not checked"},
	} {
		err := Decode(tt.schema, "", []byte(tt.body), nil)
		var bad *Error
		if tt.want == "not checked" {
			if errors.As(err, &bad) && bad.Problem.Key == "schema.misspelt" {
				t.Errorf("%s: %v", tt.body, err)
			}
			continue
		}
		if got := ""; err != nil {
			if got = templates.In(templates.English, err); got != tt.want {
				t.Errorf("%s:\n%q, want\n%q", tt.body, got, tt.want)
			}
		} else if tt.want != "" {
			t.Errorf("%s: taken, want %q", tt.body, tt.want)
		}
	}
}

func TestShortNamesDifferByOneLetter(t *testing.T) {
	known := []string{"by", "want", "reason", "id"}
	for name, want := range map[string]string{
		"bye": "by", "my": "by", "it": "id", "no": "", "wan": "want", "wnat": "want", "went": "want", "wht": "", "raeson": "reason", "reasons": "reason", "season": "reason", "treasons": "reason", "treasonss": "",
	} {
		if got := meantName(name, known); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestTheSchemasOfStrictNamesExist(t *testing.T) {
	for _, name := range strictNames {
		if !slices.Contains(Names(), name) {
			t.Errorf("there is no schema %s", name)
		}
	}
}
