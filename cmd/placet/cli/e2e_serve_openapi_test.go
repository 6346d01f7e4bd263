package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// described is the part of /openapi.json with which answers are compared.
type described struct {
	Paths map[string]map[string]struct {
		Summary   string
		Responses map[string]struct {
			Content map[string]struct{ Schema shapeOf }
		}
		RequestBody *struct {
			Content map[string]struct{ Schema shapeOf }
		} `json:"requestBody"`
	}
}

// shapeOf is a schema.
type shapeOf struct {
	Type       any
	Properties map[string]shapeOf
	Items      *shapeOf
	AnyOf      []shapeOf `json:"anyOf"`
	More       *shapeOf  `json:"additionalProperties"`
}

// faults returns the places at which a value differs from the schema.
func (s shapeOf) faults(at string, v any) []string {
	if s.AnyOf != nil {
		var all []string
		for _, one := range s.AnyOf {
			found := one.faults(at, v)
			if len(found) == 0 {
				return nil
			}
			all = append(all, found...)
		}
		return all
	}
	var types []string
	switch t := s.Type.(type) {
	case nil:
		return nil // any value fits
	case string:
		types = []string{t}
	case []any:
		for _, one := range t {
			types = append(types, one.(string))
		}
	}
	is, found := "null", []string(nil)
	switch v := v.(type) {
	case string:
		is = "string"
	case bool:
		is = "boolean"
	case float64:
		is = "integer"
	case []any:
		is = "array"
		for i, x := range v {
			if s.Items != nil {
				found = append(found, s.Items.faults(fmt.Sprintf("%s[%d]", at, i), x)...)
			}
		}
	case map[string]any:
		is = "object"
		for name, x := range v {
			member, ok := s.Properties[name]
			switch {
			case ok:
				found = append(found, member.faults(at+"."+name, x)...)
			case s.More != nil:
				found = append(found, s.More.faults(at+"."+name, x)...)
			case s.Properties != nil:
				found = append(found, at+"."+name+" is described nowhere")
			}
		}
	}
	if !slices.Contains(types, is) {
		found = append(found, fmt.Sprintf("%s is %s, described as %v", at, is, types))
	}
	return found
}

// /openapi.json describes the actual answers: each path that it names exists, with the methods
// that it names and no others, and every member of an answer is described.
func TestServeIsAsDescribed(t *testing.T) {
	t.Parallel()
	p := everyFamily(t)
	s := serveAt(p)
	s.token("all", "read,write,decide")
	p.until("every family asks", func() bool {
		return strings.Count(s.call("all", "GET", "/api/v1/requests", nil).body, `"reference"`) == leftOpen+2
	})
	var api described
	if err := json.Unmarshal([]byte(s.call("", "GET", "/openapi.json", nil).body), &api); err != nil {
		t.Fatal(err)
	}
	for path, methods := range api.Paths {
		real := path
		for real != "" && strings.Contains(real, "{") {
			before, rest, _ := strings.Cut(real, "{")
			_, after, _ := strings.Cut(rest, "}")
			real = before + "none" + after
		}
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			op, there := methods[strings.ToLower(method)]
			if there && op.Summary == "" {
				t.Errorf("%s %s has no summary", method, path)
			}
			if there && method == "GET" {
				continue // some of them do not end
			}
			body := any(nil)
			if there {
				body = "[" // not a valid call
			}
			if r := s.call("all", method, real, body); (r.status == 405) == there {
				t.Errorf("%s %s: %d, described: %v", method, path, r.status, there)
			}
		}
	}

	compared := map[string]bool{}
	compare := func(method, path, call string, body any) reply {
		t.Helper()
		r := s.call("all", method, call, body)
		op, ok := api.Paths[path][strings.ToLower(method)]
		answer, known := op.Responses[fmt.Sprint(r.status)]
		if !ok || !known {
			t.Errorf("%s %s answers %d, which is not described: %s", method, call, r.status, r.body)
			return r
		}
		var v any
		if err := json.Unmarshal([]byte(r.body), &v); err != nil {
			t.Errorf("%s %s: %v", method, call, err)
		}
		if found := answer.Content["application/json"].Schema.faults("answer", v); len(found) > 0 {
			t.Errorf("%s %s: %s", method, call, strings.Join(found[:min(len(found), 5)], "; "))
		}
		if b, ok := body.(map[string]any); ok {
			if op.RequestBody == nil {
				t.Errorf("%s %s takes a body that is not described", method, path)
			} else if found := op.RequestBody.Content["application/json"].Schema.faults("body", jsonOf(b)); len(found) > 0 {
				t.Errorf("the body of %s %s: %s", method, path, strings.Join(found, "; "))
			}
		}
		compared[method+" "+path] = true
		return r
	}
	var list struct {
		Data struct {
			Requests []struct {
				Run     string
				ID      string `json:"request_id"`
				Digest  string
				Options []struct{ ID string }
			}
		}
	}
	r := compare(http.MethodGet, "/api/v1/requests", "/api/v1/requests?status=all", nil)
	if err := json.Unmarshal([]byte(r.body), &list); err != nil {
		t.Fatal(err)
	}
	for _, q := range list.Data.Requests {
		family, id, _ := strings.Cut(q.Run, "/")
		request := "/api/v1/requests/" + percent(q.Run, q.ID)
		compare(http.MethodGet, "/api/v1/requests/{id}", request, nil)
		compare(http.MethodGet, "/api/v1/runs/{family}/{id}", "/api/v1/runs/"+family+"/"+url.PathEscape(id), nil)
		compare(http.MethodGet, "/api/v1/explain/{family}/{id}", "/api/v1/explain/"+family+"/"+id, nil)
		body := map[string]any{"digest": q.Digest, "comment": "because"}
		if len(q.Options) > 0 {
			body["response"] = q.Options[0].ID
		}
		compare(http.MethodPost, "/api/v1/requests/{id}/answer", request+"/answer", body)
		compare(http.MethodGet, "/api/v1/requests/{id}", request, nil)
	}
	compare(http.MethodGet, "/api/v1/requests", "/api/v1/requests?status=all", nil)
	compare(http.MethodGet, "/api/v1/runs", "/api/v1/runs?status=all", nil)
	compare(http.MethodGet, "/healthz", "/healthz", nil)
	begun := compare(http.MethodPost, "/api/v1/nemawashi", "/api/v1/nemawashi", map[string]any{"type": "mail_draft", "summary": "x", "draft": "Dear all", "project_id": "p"})
	action := begun.text("action_id")
	asked := compare(http.MethodPost, "/api/v1/nemawashi/{action}/request-approval", "/api/v1/nemawashi/"+action+"/request-approval", nil)
	steered := compare(http.MethodPost, "/api/v1/approvals/{id}/steer", "/api/v1/approvals/"+asked.text("approval_request_id")+"/steer", map[string]any{"feedback": "softer", "selectedPlan": "plan a", "idempotencyKey": "k"})
	compare(http.MethodPost, "/api/v1/approvals/{id}/approve", "/api/v1/approvals/"+steered.text("approval_request_id")+"/approve", map[string]any{"comment": "go"})
	compare(http.MethodPost, "/api/v1/nemawashi/{action}/execute", "/api/v1/nemawashi/"+action+"/execute", map[string]any{})
	other := s.call("all", "POST", "/api/v1/nemawashi", map[string]any{"type": "mail_draft", "summary": "y"}).text("action_id")
	id := s.call("all", "POST", "/api/v1/nemawashi/"+other+"/request-approval", nil).text("approval_request_id")
	compare(http.MethodPost, "/api/v1/approvals/{id}/reject", "/api/v1/approvals/"+id+"/reject", map[string]any{"comment": "no"})
	again := s.call("all", "POST", "/api/v1/nemawashi", map[string]any{"type": "mail_draft", "summary": "z", "draft": "Dear all"}).text("action_id")
	compare(http.MethodPost, "/api/v1/nemawashi/{action}/revise", "/api/v1/nemawashi/"+again+"/revise", map[string]any{"draft": "Dear team"})
	compare(http.MethodPost, "/api/v1/nemawashi/{action}/cancel", "/api/v1/nemawashi/"+again+"/cancel", map[string]any{"reason": "no"})
	compare(http.MethodGet, "/api/v1/audit/{thread}", "/api/v1/audit/action-"+action, nil)
	compare(http.MethodGet, "/api/v1/history", "/api/v1/history", nil)
	for path, methods := range api.Paths {
		for method, op := range methods {
			if _, typed := op.Responses["200"].Content["application/json"]; typed && !compared[strings.ToUpper(method)+" "+path] {
				t.Errorf("%s %s is compared with no answer", method, path)
			}
		}
	}
}

// jsonOf is a value as JSON has it.
func jsonOf(v any) (out any) {
	text, _ := json.Marshal(v)
	_ = json.Unmarshal(text, &out)
	return out
}
