package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"placet/engine"
)

func TestTheDigestOfWhatWasShownCoversRequestAndArtifacts(t *testing.T) {
	request, a, b := []byte("{}\n"), strings.Repeat("a", 64), strings.Repeat("b", 64)
	for _, c := range []struct {
		name    string
		binding []string
		shown   string
	}{
		{"no artifact", nil, "{}\n"},
		{"one", []string{a}, "{}\n" + a + "\n"},
		{"one that is missing", []string{""}, "{}\nmissing\n"},
		{"several, in order", []string{b, "", a}, "{}\n" + b + "\nmissing\n" + a + "\n"},
	} {
		sum := sha256.Sum256([]byte(c.shown))
		if got, want := Digest(request, c.binding, 0), engine.Digest("sha256:"+hex.EncodeToString(sum[:])); got != want {
			t.Errorf("%s: %s, want %s", c.name, got, want)
		}
	}
	if string(request) != "{}\n" {
		t.Error("the request's bytes were changed")
	}
}

func TestTheDigestDoesNotWriteIntoTheRequestsMemory(t *testing.T) {
	memory := []byte("{}\nrest")
	Digest(memory[:3], []string{""}, 0)
	if string(memory) != "{}\nrest" {
		t.Errorf("memory now holds %q", memory)
	}
}
