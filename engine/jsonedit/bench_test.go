package jsonedit_test

import (
	"fmt"
	"testing"

	"placet/engine/jsonedit"
	"placet/schemas"
)

// BenchmarkApply makes the ten edits of an answer in a state document of
// 4.6 KB that was read before.
func BenchmarkApply(b *testing.B) {
	body := indented("  ", "\n")(file(b, "waiting.json"))
	for i := 0; len(body) < 4500; i++ {
		edited, err := jsonedit.Apply(body, grow("/phases/frame/steps", schemas.Raw(fmt.Sprintf(`{"name":"step-%d","status":"completed"}`, i))))
		if err != nil {
			b.Fatal(err)
		}
		body = edited
	}
	all := approved()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := jsonedit.Apply(body, all...); err != nil {
			b.Fatal(err)
		}
	}
}
