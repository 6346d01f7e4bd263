package exec

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestCaptureKeepsHeadAndTail(t *testing.T) {
	a, b, c := strings.Repeat("a", headMax), strings.Repeat("b", tailMax), strings.Repeat("c", tailMax)
	tests := []struct {
		name, in string
		want     Output
	}{
		{"nothing", "", Output{}},
		{"little", "text", Output{Head: "text"}},
		{"a full head", a, Output{Head: a}},
		{"one byte more", a + "x", Output{Head: a, Tail: "x"}},
		{"a full tail", a + b, Output{Head: a, Tail: b}},
		{"one byte is missing", a + "x" + b, Output{Head: a, Tail: b, Truncated: true}},
		{"much is missing", a + b + b + b + c, Output{Head: a, Tail: c, Truncated: true}},
		{"a character over the edge goes to the tail", a[1:] + "한글", Output{Head: a[1:], Tail: "한글"}},
		{"a character lost in the middle", a[1:] + "한" + b[1:] + "글" + b[:tailMax-2], Output{Head: a[1:], Tail: b[:tailMax-2], Truncated: true}},
		{"bytes that are no text", "a\xff\xfeb\x00", Output{Head: "a\uFFFDb\x00"}},
		{"an unfinished character at the end", "a\xed\x95", Output{Head: "a\uFFFD"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.want.Bytes = int64(len(test.in))
			for _, piece := range []int{1, 7, 4096, 1 << 20} {
				if piece == 1 && len(test.in) > 2*headMax {
					continue
				}
				if diff := cmp.Diff(test.want, written(t, test.in, piece, usual)); diff != "" {
					t.Errorf("in pieces of %d (-want +got):\n%s", piece, diff)
				}
			}
			if diff := cmp.Diff(test.want, fromFile(test.in, usual)); diff != "" {
				t.Errorf("from a file (-want +got):\n%s", diff)
			}
		})
	}
}

// usual is the retention of an action that does not say otherwise.
var usual = retention{head: headMax, tail: tailMax}

func fromFile(in string, k retention) Output {
	c := k.capture()
	c.readFile(strings.NewReader(in), int64(len(in)))
	return c.output()
}

func TestCaptureKeepsTheTailAlone(t *testing.T) {
	tests := []struct {
		name, in string
		want     Output
	}{
		{"nothing", "", Output{}},
		{"little", "text", Output{Tail: "text"}},
		{"as much as fits", "12345678", Output{Tail: "12345678"}},
		{"one byte more", "123456789", Output{Tail: "23456789", Truncated: true}},
		{"much more", strings.Repeat("x", 100) + "the last", Output{Tail: "the last", Truncated: true}},
		{"a character that the cut goes through", "한글한글", Output{Tail: "한글", Truncated: true}},
		{"bytes that are no text", "a\xff", Output{Tail: "a\uFFFD"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.want.Bytes = int64(len(test.in))
			l := retention{tail: 8}
			for _, piece := range []int{1, 3, 7, 8, 9, 4096} {
				if diff := cmp.Diff(test.want, written(t, test.in, piece, l)); diff != "" {
					t.Errorf("in pieces of %d (-want +got):\n%s", piece, diff)
				}
			}
			if diff := cmp.Diff(test.want, fromFile(test.in, l)); diff != "" {
				t.Errorf("from a file (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHalfAnOutputIsItsFirstAndLast(t *testing.T) {
	o := Output{Bytes: 100, Head: "한글 head", Tail: "tail 한글"}
	for _, want := range []Output{
		{Bytes: 100, Head: "한", Tail: "글", Truncated: true},
		{Bytes: 100, Truncated: true},
		{Bytes: 100, Truncated: true},
	} {
		if o = o.half(); o != want {
			t.Errorf("half is %+v, want %+v", o, want)
		}
	}
}

func written(t *testing.T, in string, piece int, l retention) Output {
	t.Helper()
	c := l.capture()
	for len(in) > 0 {
		n := min(piece, len(in))
		if m, err := c.Write([]byte(in[:n])); m != n || err != nil {
			t.Fatalf("Write: %d, %v", m, err)
		}
		in = in[n:]
	}
	return c.output()
}

func TestAFileThatCannotBeReadCountsAsEmpty(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := root.MkdirAll("folder/"+stdoutName, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{".", "absent", "folder", ".."} {
		if got := (retention{judge: true}).readFiles(root, dir)[0]; got.output() != (Output{}) || got.whole.String() != "" {
			t.Errorf("%s: %+v", dir, got)
		}
	}
}

func FuzzCapture(f *testing.F) {
	f.Add([]byte("한글"), uint8(1), uint32(headMax-1), uint16(headMax), uint16(1))
	f.Add([]byte{0xed, 0x95, 0x9c, 0xff}, uint8(3), uint32(headMax+tailMax), uint16(0), uint16(16<<10))
	f.Fuzz(func(t *testing.T, seed []byte, piece uint8, size uint32, head, tail uint16) {
		if len(seed) == 0 || size > 1<<20 {
			return
		}
		in := bytes.Repeat(seed, int(size)/len(seed)+1)
		l := retention{head: int(head), tail: int(tail) + 1}
		got := written(t, string(in), int(piece)*97+1, l)
		if diff := cmp.Diff(got, fromFile(string(in), l)); diff != "" {
			t.Fatalf("written and read differ:\n%s", diff)
		}
		if got.Bytes != int64(len(in)) || !utf8.ValidString(got.Head) || !utf8.ValidString(got.Tail) {
			t.Fatal("the count is wrong, or it is no text")
		}
		if utf8.Valid(in) && !got.Truncated && got.Head+got.Tail != string(in) {
			t.Fatal("nothing is missing, yet head and tail are not the whole")
		}
		if utf8.Valid(in) && strings.ContainsRune(got.Head+got.Tail, '\uFFFD') && !bytes.ContainsRune(in, '\uFFFD') {
			t.Fatal("a character was torn")
		}
	})
}
