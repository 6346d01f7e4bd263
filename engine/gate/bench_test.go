package gate

import (
	"fmt"
	"testing"

	"placet/engine"
)

func BenchmarkForm(b *testing.B) {
	for b.Loop() {
		if _, err := Form(review(), view, Texts{Lang: "en", Where: "architect:design-review"}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadForm(b *testing.B) {
	form := []byte(comment(tick(mustForm(b, review()), "approve", submitID), "Looks good"))
	for b.Loop() {
		if _, err := readFormAt("form.md", form, review()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReadLargeForm reports the time for each byte, which shows whether reading takes
// more than linear time.
func BenchmarkReadLargeForm(b *testing.B) {
	for _, size := range []int{1 << 16, 1 << 20} {
		for name, form := range largeForms(b, size) {
			b.Run(fmt.Sprintf("%s of %d KiB", name, size>>10), func(b *testing.B) {
				b.SetBytes(int64(len(form)))
				for b.Loop() {
					_, _ = readFormAt("form.md", form, review())
				}
			})
		}
	}
}

func BenchmarkJudge(b *testing.B) {
	a := asking(file("form.md", mustForm(b, review())), file("request.json", "{}"), file("response.json", response("approve", "")))
	for b.Loop() {
		if v := judge(a); v.Answer == nil {
			b.Fatal(v.Problem)
		}
	}
}

func BenchmarkDigest(b *testing.B) {
	body, binding := []byte(reviewJSON), []string{engine.Sum(nil).Hex(), ""}
	for b.Loop() {
		Digest(body, binding, 0)
	}
}
