package schemas

import (
	"os"
	"testing"
)

// benchState returns a state document of about 4.5 KB that an agent wrote.
func benchState(b *testing.B) []byte {
	b.Helper()
	for _, path := range realFiles(b, "state.json") {
		body, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		if len(body) > 4000 && len(body) < 5000 {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			return body
		}
	}
	b.Fatal("no state.json of 4 to 5 KB in testdata/real")
	return nil
}

// benchInto is about the part that a family decodes.
type benchInto struct {
	Status          string `json:"status"`
	Phases          Raw    `json:"phases"`
	Errors          Raw    `json:"errors"`
	Revision        int    `json:"revision"`
	FeedbackRequest *struct {
		RequestID string   `json:"request_id"`
		Options   []string `json:"options"`
		Context   Raw      `json:"context"`
	} `json:"feedback_request"`
}

// BenchmarkVerify measures strict reading and validation.
func BenchmarkVerify(b *testing.B) {
	body := benchState(b)
	for b.Loop() {
		if problem, err := verify("faber/state", body); problem != nil || err != nil {
			b.Fatal(problem, err)
		}
	}
}

// BenchmarkStore measures decoding alone.
func BenchmarkStore(b *testing.B) {
	body := benchState(b)
	for b.Loop() {
		var into benchInto
		if problem := store(body, &into); problem != nil {
			b.Fatal(problem)
		}
	}
}

// BenchmarkResponse measures the first reading of an answer.
func BenchmarkResponse(b *testing.B) {
	body := []byte(answer)
	b.ReportAllocs()
	for b.Loop() {
		if problem, err := verify("kernel/response", body); problem != nil || err != nil {
			b.Fatal(problem, err)
		}
	}
}

// BenchmarkEncode measures writing a receipt.
func BenchmarkEncode(b *testing.B) {
	members, err := Members([]byte(goodReceipt))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Encode(members); err != nil {
			b.Fatal(err)
		}
	}
}
