package testoutput_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"placet/engine/testoutput"
)

// write writes a text in pieces of many sizes.
func write(t *testing.T, text string) *testoutput.Window {
	t.Helper()
	w := new(testoutput.Window)
	random := rand.New(rand.NewPCG(1, 2))
	for len(text) > 0 {
		n := min(len(text), 1+random.IntN(3<<20))
		if got, err := w.Write([]byte(text[:n])); got != n || err != nil {
			t.Fatalf("Write of %d bytes: %d, %v", n, got, err)
		}
		text = text[n:]
	}
	return w
}

func TestWindowKeepsHeadAndTail(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	noise := make([]byte, 3*testoutput.MaxOutput)
	for i := range noise {
		noise[i] = byte('a' + random.IntN(26))
	}
	const half = testoutput.MaxOutput / 2
	for _, size := range []int{0, 1, half - 1, half, half + 1, testoutput.MaxOutput - 1, testoutput.MaxOutput, testoutput.MaxOutput + 1, testoutput.MaxOutput + half, 3 * testoutput.MaxOutput} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			text := string(noise[:size])
			want := text
			if size > testoutput.MaxOutput {
				want = fmt.Sprintf("%s0[%d bytes left out]0%s", text[:half], size-testoutput.MaxOutput, text[size-half:])
			}
			if got := write(t, text).String(); got != want {
				t.Errorf("kept %d bytes, want %d, or others", len(got), len(want))
			}
			whole := new(testoutput.Window)
			if _, err := whole.Write([]byte(text)); err != nil || whole.String() != want {
				t.Error("one write keeps something else than many")
			}
		})
	}
}

// TestWindowCutsNoTokenOut cuts a long token so that the kept part looks like
// the expected one.
func TestWindowCutsNoTokenOut(t *testing.T) {
	const half = testoutput.MaxOutput / 2
	fill := strings.Repeat(".\n", half)
	tests := []struct {
		name, expected, head, tail string
		want                       bool
	}{
		{"whole in the tail", "3 passed", "", "\n3 passed", true},
		{"whole in the head", "3 passed", "3 passed\n", "", true},
		{"the tail begins within", "3 passed", "", "1|3 passed", false},
		{"the tail begins with the fraction", "5", "", "1|.5", false},
		{"the tail begins within a character", "3 passed", "", "\xc3|\xa93 passed", false},
		{"the head ends within", "passed 3", "passed 3|1", "", false},
		{"the head ends within a character", "passed 3", "passed 3\xc3|\xa9", "", false},
		{"not over the cut", "ab", "a|", "|b", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			head, beyond, _ := strings.Cut(test.head, "|")
			before, tail, cut := strings.Cut(test.tail, "|")
			if !cut {
				before, tail = "", before
			}
			text := fill[:half-len(head)] + head + beyond + fill + before + tail + fill[:half-len(tail)]
			matched, _ := testoutput.Match(test.expected, write(t, text).String())
			if *matched != test.want {
				t.Errorf("matched %v, want %v", *matched, test.want)
			}
		})
	}
}

func TestWindowOfAnyBytes(t *testing.T) {
	for _, b := range []byte{0x80, 0xc3, 0xff, 0} {
		text := write(t, string(bytes.Repeat([]byte{b}, testoutput.MaxOutput+9))).String()
		if !strings.Contains(text, " bytes left out]") || len(text) > testoutput.MaxOutput+64 {
			t.Errorf("%#x: kept %d bytes", b, len(text))
		}
		testoutput.Match("x", text)
	}
}
