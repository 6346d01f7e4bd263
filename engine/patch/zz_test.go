package patch
import ("testing";"fmt";"placet/schemas")
func TestZ(t *testing.T) {
 page := `{"run_id": "x", "status": "awaiting_feedback", "last_event_id": 15,
 "phases": {"architect": {"steps": [{"name": "design-review", "status": "in_progress", "started_at": "s"}]},
   "build": {"status": "pending", "steps": []}},
 "errors": [], "current_step": "design-review",
 "feedback_request": {"request_id": "fr", "options": ["approve"],
   "context": {"summary": "3"}},
 "resume_point": {"phase": "architect", "step_index": 2},
 "revision": 1, "last_transition": {"edge": "request_opened", "cause": {}}}`
 pretty := "{\n  \"a\": 1.0,\n  \"p\": {\n    \"steps\": [],\n    \"o\": {}\n  },\n  \"hist\": [\n    {\n      \"x\": 1\n    }\n  ],\n  \"inl\": {\"a\":1,\"b\":2},\n  \"z\": []\n}\n"
 o := schemas.Object{{"phase", "build"}, {"n", 3}, {"e", []any{}}, {"l", []any{1, "x"}}}
 show := func(b string, es ...Edit) { r, err := Apply([]byte(b), es...); fmt.Printf("%s\n--- %v\n", r, err) }
 show(page, Edit{"/status", Set, "in_progress"}, Edit{"/phases/architect/steps/0/completed_at", Set, "t"}, Edit{"/feedback_request", Remove, nil}, Edit{"/resume_point", Set, o}, Edit{"/revision", Set, 2}, Edit{"/feedback_history", Set, []any{o}}, Edit{"/errors", Append, o})
 show(pretty, Edit{"/a", Set, 2}, Edit{"/p/steps", Append, o}, Edit{"/p/o/k", Set, o}, Edit{"/hist", Append, o}, Edit{"/inl/c", Set, o}, Edit{"/z", Append, 1}, Edit{"/z", Append, "x"}, Edit{"/new", Set, o})
 show(`{"a":1,"b":[]}`, Edit{"/c", Set, o}, Edit{"/b", Append, o}, Edit{"/b", Append, o}, Edit{"/a", Remove, nil}, Edit{"/zzz", Remove, nil})
 show(`{}`, Edit{"/c", Set, o})
 show(`{"a":1}`, Edit{"/A", Set, o})
 show(`{"a":1}`, Edit{"/a/b", Set, o})
 show(`{"a":1}`, Edit{"/a/b/c", Set, o})
 show(`{"a":1}`, Edit{"/b/c", Set, o})
 show(`{"a":[1]}`, Edit{"/a/3", Set, o})
 show(`{"a":1}`, Edit{"/a", Append, o})
}
