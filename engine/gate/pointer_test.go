package gate

import (
	"strings"
	"testing"

	"placet/engine"
)

// A request's details, which all surfaces show, and its form say that a file is a pointer of Git LFS.
func TestAnLFSPointerIsSaidToBeOne(t *testing.T) {
	const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
	for text, want := range map[string]bool{pointer: true, strings.ReplaceAll(pointer, "\n", "\r\n"): true, "about " + pointer: false, "version https://git-lfs.github.com/spec/v10\n": false, "": false} {
		r := Request{Artifacts: []Artifact{{Path: "model.bin", SHA256: engine.Sum([]byte(text)).Hex(), Binding: true, Text: &text}}}
		texts, _ := r.texts("", "en")
		if said := strings.Contains(texts[0].Title, "a Git LFS pointer"); said != want {
			t.Errorf("%q: the form says %q", text, texts[0].Title)
		}
		if said := strings.Contains(r.Details("en")[0].Value, "This is a Git LFS pointer"); said != want {
			t.Errorf("%q: details %q", text, r.Details("en"))
		}
	}
}

// A note about options shows an answer that could be written, which reads as the option that it names.
func TestNotesAboutOptionsCarryAnExample(t *testing.T) {
	for name, c := range map[string]struct {
		request Request
		want    string
	}{
		"one":     {Request{Options: []Option{{ID: "deploy"}, {ID: "wait"}}}, "`{\"response\":\"wait\"}`"},
		"comment": {Request{Options: []Option{{ID: "deploy"}, {ID: "wait"}}, CommentRequired: []string{"wait"}}, "`{\"response\":\"wait\",\"comment\":\"…\"}`"},
		"several": {Request{Options: []Option{{ID: "a"}, {ID: "b"}}, Several: []string{"a", "b"}}, "`{\"response\":\"b\",\"selected\":[\"b\"]}`"},
		"text":    {Request{}, "`{\"response\":\"…\"}`"},
	} {
		for _, lang := range []string{"en", "ja", "ko"} {
			if text := note(Evaluation{Request: c.request, Lang: lang, Dir: "r"}, []string{"x"}); !strings.Contains(strings.ReplaceAll(text, " ", ""), c.want) {
				t.Errorf("%s, %s: %s", name, lang, text)
			}
		}
	}
}
