package testoutput_test

import (
	"fmt"
	"strings"
	"testing"

	"placet/engine/testoutput"
)

// ordinary is a log as commands write it: nothing in it decides but its end.
func ordinary(size int) string {
	lines := []string{
		"2026-03-02T10:15:%02d.123Z INFO  [main] c.s.coupon.CouponService - applying coupon TEN%d to order 7713\n",
		"tests/test_coupon.py::test_case_%d[order-%d] PASSED                      [ 42%%]\n",
		"DEBUG http GET /api/v1/orders/%d 200 in %d ms (token refreshed, cache not used)\n",
		"\x1b[32m  ✓\x1b[0m applies the coupon of customer %d once \x1b[90m(%d ms)\x1b[0m\n",
		"   Compiling serde_derive v1.0.%d (registry+%d) at src/lib.rs\n",
		"npm warn deprecated glob@7.%d.%d: this version is no longer supported, and will not get fixes\n",
		"    at Object.<anonymous> (src/coupon/service.ts:%d:%d)\r\n",
		"\n",
	}
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		if line := lines[i%len(lines)]; strings.Contains(line, "%") {
			fmt.Fprintf(&b, line, i%60, i)
		} else {
			b.WriteString(line)
		}
	}
	return b.String()
}

var end = map[string]string{
	"nothing":   "Killed by the operator\n",
	"assertion": "FAILED tests/test_coupon.py::test_refused - assert 2 == 1\n1 failed, 3 passed in 0.1s\n",
}

// BenchmarkClassify classifies 8 MiB: one log that no rule but the last
// applies to, one with a failing test at its end.
func BenchmarkClassify(b *testing.B) {
	log := ordinary(testoutput.MaxOutput)
	for name, end := range end {
		b.Run(name, func(b *testing.B) {
			in := testoutput.Input{Text: log + end}
			b.SetBytes(int64(len(in.Text)))
			b.ReportAllocs()
			for b.Loop() {
				if f := testoutput.Classify(in); (f.Rule == "U") != (name == "nothing") {
					b.Fatalf("rule %s: %q", f.Rule, f.KeyLines)
				}
			}
		})
	}
}

// BenchmarkMatch seeks a text in 8 MiB.
func BenchmarkMatch(b *testing.B) {
	text := ordinary(testoutput.MaxOutput) + end["assertion"]
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if matched, marker := testoutput.Match("3 passed", text); !*matched || *marker != "1 failed" {
			b.Fatal(*matched, marker)
		}
	}
}
