package console

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"placet/engine"
)

func TestNoTextFromAFileMovesTheCursorOrHidesAWord(t *testing.T) {
	hostile := "a\x1b[2Jb\u202ec\u200bd\x00e\r\nf\tg\u2028h\ufeff"
	if got, want := OneLine(hostile), `a\u{1b}[2Jb\u{202e}c\u{200b}d\u{0}e f g h\u{feff}`; got != want {
		t.Errorf("line: %q, want %q", got, want)
	}
	for _, s := range []string{OneLine(hostile), Lines(hostile), Brief(engine.Key{Family: "faber", ID: hostile}), Title(hostile)} {
		if strings.ContainsAny(s, "\x1b\x00\r\u202e\u200b\u2028\ufeff") {
			t.Errorf("%q holds what must be shown by its number", s)
		}
	}
	if got, want := Lines("\n one \x07 \n\ntwo\n\n"), "one \\u{7}\n\ntwo"; got != want {
		t.Errorf("paragraph: %q, want %q", got, want)
	}
}

func TestCutKeepsWholeCharacters(t *testing.T) {
	for s, want := range map[string]string{"kurz": "kurz", "zwölf Zeichen": "zwölf Z…", "12345678": "12345678", "1234567 9": "1234567…"} {
		if got := Cut(s, 8); got != want {
			t.Errorf("cut(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestAgeIsInItsLargestUnit(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Hour: "now", 0: "now", 59 * time.Second: "59s", 61 * time.Second: "1m", 90 * time.Minute: "1h",
		47 * time.Hour: "47h", 49 * time.Hour: "2d",
	} {
		if got := Age("", noon, noon.Add(-d)); got != want {
			t.Errorf("%v ago: %q, want %q", d, got, want)
		}
	}
	if got := Age("", noon, time.Time{}); got != "" {
		t.Errorf("no moment: %q", got)
	}
}

func TestBriefCutsUUIDsAlone(t *testing.T) {
	for id, want := range map[string]string{
		"acme/web/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34": "faber/acme/web/3f2b8c1e",
		".fractary/runs/plan-run-2026":                  "faber/.fractary/runs/plan-run-2026",
		"x":                                             "faber/x",
	} {
		if got := Brief(engine.Key{Family: "faber", ID: id}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestTitleReadsLikeAHeading(t *testing.T) {
	for word, want := range map[string]string{"error_resolution": "Error Resolution", "approval": "Approval", "": "", "été": "Été"} {
		if got := Title(word); got != want {
			t.Errorf("title(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestColumnsAreAsWideAsTheirWidestCellWithoutColour(t *testing.T) {
	var out bytes.Buffer
	w := &Env{Out: &out, Colour: true}
	var tab Table
	tab.Style([]string{Faint, Faint}, "RUN", "STATUS", "WHERE")
	tab.Style([]string{Strong}, "größer", "x")
	tab.Add("a", "", "last")
	tab.Print(w, &out)
	want := "\x1b[2mRUN\x1b[0m     \x1b[2mSTATUS\x1b[0m  WHERE\n\x1b[1mgrößer\x1b[0m  x\na               last\n"
	if got := out.String(); got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

func TestColumnsAreWhatATerminalShows(t *testing.T) {
	var tab Table
	tab.Add("실행", "상태", "|")
	tab.Add("ask/1", "待機中です", "|")
	tab.Add("カタカナ", "ok", "|")
	tab.Add("e\u0301te\u0301", "", "|")
	for line := range strings.Lines(tab.Text(&Env{})) {
		before, _, _ := strings.Cut(line, "|")
		if got := Columns(before); got != 8+2+10+2 {
			t.Errorf("%q: the last cell begins in column %d", line, got)
		}
	}
}

func TestColourNeedsATerminalAndItsOwnersLeave(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	none := func(string) string { return "" }
	if showsColour(file, none) || showsColour(&bytes.Buffer{}, none) {
		t.Error("colour without a terminal")
	}
}

func TestJSONIsOneObjectWithAVersion(t *testing.T) {
	var out bytes.Buffer
	w := &Env{Out: &out, Flags: Flags{JSON: true}}
	if err := w.Answer(map[string]string{"a": "<ü>"}, func() { t.Error("spoke to people") }); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), `{"schema_version":1,"data":{"a":"<ü>"}}`+"\n"; got != want {
		t.Errorf("got %s want %s", got, want)
	}
}

func TestErrorsEndWithTheirExitCodeAndSayWhatToDo(t *testing.T) {
	tests := map[string]struct {
		err   error
		begun bool
		code  int
		says  string
	}{
		"nothing":                {nil, true, 0, ""},
		"a code alone":           {exit(ExitOpen), true, 3, ""},
		"a problem":              {Refused("say.text", "text", "cannot x").Try("say.text", "text", "placet y"), true, 1, "placet: cannot x\n  → placet y\n"},
		"usage":                  {Usage("say.text", "text", "no\x1b[2J"), true, 2, "placet: no\\u{1b}[2J\n"},
		"a wrapped problem":      {fmt.Errorf("so: %w", Usage("say.text", "text", "no")), true, 2, "placet: no\n"},
		"any other error":        {errors.New("disk on fire"), true, 1, "placet: disk on fire\n"},
		"an error before a verb": {errors.New("unknown flag: --x"), false, 2, "placet: unknown flag: --x\n  → placet help\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			w := &Env{Err: &out}
			if code := w.Report(test.err, test.begun); code != test.code || out.String() != test.says {
				t.Errorf("code %d, says %q; want %d, %q", code, out.String(), test.code, test.says)
			}
		})
	}
}

func TestAProblemOutranksAnOpenRequest(t *testing.T) {
	for _, test := range []struct {
		problem, open bool
		want          error
	}{{false, false, nil}, {false, true, exit(3)}, {true, false, exit(1)}, {true, true, exit(1)}} {
		if got := Outcome(test.problem, test.open); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
}
