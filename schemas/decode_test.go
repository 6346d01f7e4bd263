package schemas

import ("testing";"os";"path/filepath")

func stateFixture(tb testing.TB) []byte {
	b, err := os.ReadFile("/work/shared/real/faber/written-by-agents/.fractary/runs/fractary-faber-24-create-test-file-20251224T015229-run-2025-12-24T02-04-00/state.json")
	if err != nil { tb.Fatal(err) }
	return b
}
func TestReal(t *testing.T) {
	ms, _ := filepath.Glob("/work/shared/real/faber/*/.fractary/*/*/state.json")
	ms2, _ := filepath.Glob("/work/shared/real/faber/*/.fractary/*/*/*/*/*/state.json")
	for _, m := range append(ms, ms2...) {
		b, _ := os.ReadFile(m)
		t.Log(m, Decode("faber/state", "state.json", b, nil))
	}
	ms2, _ = filepath.Glob("/work/shared/real/faber/*/.fractary/*/*/*/*/*/events/*.json")
	for _, m := range ms2 {
		b, _ := os.ReadFile(m)
		if err := Decode("faber/event", "e", b, nil); err != nil { t.Log(m, err) }
	}
	for _, n := range Names() { _, err := load(n); t.Log(n, err) }
	for _, s := range []string{`{"status": 3}`, `{}`, `{"status":"a","feedback_request":{"type":"x"}}`, `{"status":"a","feedback_request":{"request_id":"../x"}}`, `{"status":"a","revision":1e400}`,`{"status":"a","revision":-1}`,`{"a":1,}`,`{"status":"x","Status":"y"}`, `{"status":"x","feedback_history":[{"a":1,"a":2}]}`, `[]`, `{`, "{\n<<<<<<< HEAD\n", "{\"a\": \"\u202e\u200b\", \"status\": 3}"} {
		t.Log(Decode("faber/state", "state.json", []byte(s), nil))
	}
}
type st struct { Status string `json:"status"`; Phases Raw `json:"phases"`; FR *struct{ RequestID string `json:"request_id"`; Context Raw `json:"context"`} `json:"feedback_request"`; Revision int `json:"revision"`; Errors Raw `json:"errors"`}
func BenchmarkParse(b *testing.B) { body := stateFixture(b); s, _ := load("faber/state"); sh := s.shape; b.SetBytes(int64(len(body))); b.ReportAllocs(); for b.Loop() { if _, e := parse(body, sh); e != nil { b.Fatal(e) } } }
func BenchmarkCheck(b *testing.B) { body := stateFixture(b); s, _ := load("faber/state"); tr,_ := parse(body, s.shape); b.ReportAllocs(); for b.Loop() { s.check(tr) } }
func BenchmarkStore(b *testing.B) { body := stateFixture(b);  b.ReportAllocs(); for b.Loop() { var s st; if e := store(body, &s); e != nil { b.Fatal(e) } } }
func BenchmarkCached(b *testing.B) { body := stateFixture(b);  b.ReportAllocs(); for b.Loop() { var s st; if e := Decode("faber/state", "x", body, &s); e != nil { b.Fatal(e) } } }
