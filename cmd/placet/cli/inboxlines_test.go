package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"placet/cmd/placet/answer"
	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/fs"
)

func TestTheInboxShowsWhatMayBeSelected(t *testing.T) {
	var out bytes.Buffer
	to := level()
	for _, id := range []string{"s4", "s5", "s6"} {
		to.Items = append(to.Items, engine.RequestItem{ID: id, Label: "more"})
	}
	b := &workspace.Workspace{Env: &console.Env{Out: &out, Err: &out, Now: time.Now}, Store: store.New(fs.OS(t.TempDir()), store.Options{})}
	showAsked(b, to.OpenRequest, false)
	for _, want := range []string{
		"    select   s1  one\n", "    select   s5  more\n", "    select   and 1 more: placet show hitl-3f9a12c4\n",
		"    read     placet show hitl-3f9a12c4\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("lacks %q:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "placet reject") {
		t.Errorf("offers to reject:\n%s", out.String())
	}
	out.Reset()
	show(b.Env, "full", to.OpenRequest)
	if !strings.Contains(out.String(), "s6") {
		t.Errorf("show leaves items out:\n%s", out.String())
	}
	must := level()
	must.Default = ""
	if answer.IsGiven(must, answer.Reply{Selected: []string{"s1"}, Comment: "x"}) {
		t.Error("nobody is asked for the option that must be named")
	}
	if how := answer.HowToAnswer("", must.OpenRequest, false); how[len(how)-1] != "placet respond hitl-3f9a12c4 OPTION --select s1,s2,s3  (any of them)" {
		t.Errorf("%q", how)
	}
}

// asked returns a request with the widest possible line: it was asked just now.
func asked(prompt, summary string) engine.OpenRequest {
	return engine.OpenRequest{
		Run: engine.Key{Family: "faber", ID: "acme/web/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34"}, Where: "release:merge-pr",
		Request: "fr-20261120-4a8880", Type: "approval", RequestedAt: noon, Prompt: prompt, Summary: summary,
	}
}

// shortly shows a request on one line, as without a terminal.
func shortly(a engine.OpenRequest, colour bool) string {
	var out bytes.Buffer
	b := &workspace.Workspace{Env: &console.Env{Out: &out, Colour: colour, Now: func() time.Time { return noon }}}
	printShort(b, []engine.OpenRequest{a}, columnsOf(b.Env.Out), func(engine.OpenRequest) string { return "" })
	return out.String()
}

func TestAShortLineIsAsWideAsItMayBe(t *testing.T) {
	const head = "faber/acme/web/3f2b8c1e  release:merge-pr  fr-20261120-4a8880 (approval, now): "
	tests := map[string]struct{ prompt, summary, want string }{
		"one line":                   {"Merge?", "of no use", "Merge?"},
		"several":                    {"\n Merge?\n\nLook well.", "of no use", "Merge? …"},
		"what fits just so":          {strings.Repeat("x", 41), "", strings.Repeat("x", 41)},
		"what does not":              {strings.Repeat("x", 42), "", strings.Repeat("x", 40) + "…"},
		"wide characters":            {strings.Repeat("워", 21), "", strings.Repeat("워", 20) + "…"},
		"those that fit just so":     {strings.Repeat("か", 20) + "?", "", strings.Repeat("か", 20) + "?"},
		"signs on top of others":     {strings.Repeat("e\u0301", 41), "", strings.Repeat("e\u0301", 41)},
		"a heading and a summary":    {"[Optimization result]\n- Workflow: logs", "logs, 2 suggestions", "logs, 2 suggestions"},
		"a heading alone":            {"[Optimization result]\n- Workflow: logs", "", "[Optimization result] …"},
		"a question in brackets":     {"[Merge?]", "of no use", "[Merge?]"},
		"what would move the cursor": {"a\x1b[2Jb\u202ec", "", `a\u{1b}[2Jb\u{202e}c`},
	}
	for name, test := range tests {
		if got := shortly(asked(test.prompt, test.summary), false); got != head+test.want+"\n" {
			t.Errorf("%s:\n%swant\n%s%s", name, got, head, test.want)
		}
	}
}

func TestAShortLineSaysWhatTheRequestIsAbout(t *testing.T) {
	late, bad, long := asked("Merge?", ""), asked("Merge?", ""), asked(strings.Repeat("x", 42), "")
	late.Deadline, late.Overdue = noon, true
	bad.Deadline, bad.Problem = noon.Add(time.Hour), "it answers another request"
	long.Where = strings.Repeat("w", 200)
	for want, a := range map[string]engine.OpenRequest{
		"(approval, now, overdue since " + console.Moment(noon) + "): Merge?\n":                                          late,
		"(approval, now, until " + console.Moment(noon.Add(time.Hour)) + ", in 1h, its answer cannot be used): Merge?\n": bad,
		"  " + strings.Repeat("w", 200) + "  fr-20261120-4a8880 (approval, now): " + strings.Repeat("x", 23) + "…\n":     long,
	} {
		if got := shortly(a, false); !strings.HasSuffix(got, want) {
			t.Errorf("%swant … %s", got, want)
		}
	}
}

func TestColourTakesNoColumns(t *testing.T) {
	a := asked(strings.Repeat("x", 90), "")
	a.Where, a.Deadline, a.Overdue = "x", noon, true
	a.Run.ID = "x"
	coloured := shortly(a, true)
	if !strings.Contains(coloured, "\x1b[") {
		t.Fatalf("no colour: %q", coloured)
	}
	for _, style := range []string{console.Strong, console.Waiting, console.Alarm, "0"} {
		coloured = strings.ReplaceAll(coloured, "\x1b["+style+"m", "")
	}
	if plain := shortly(a, false); coloured != plain {
		t.Errorf("coloured\n%splain\n%s", coloured, plain)
	}
}

func TestCutColumnsIsNeverWiderThanItMayBe(t *testing.T) {
	for _, s := range []string{"", "kurz", "zwölf Zeichen", "한국어 질문", "a한b국c어", "e\u0301e\u0301e\u0301", "🎯🎯🎯"} {
		for n := 1; n < 15; n++ {
			got := console.CutColumns(s, n)
			if console.Columns(got) > n || (got != s) != (console.Columns(s) > n) || got != s && !strings.HasSuffix(got, "…") {
				t.Errorf("cutColumns(%q, %d) = %q of %d columns", s, n, got, console.Columns(got))
			}
		}
	}
	var widths []int
	for _, r := range "aé한か漢！🎯\u0301" {
		widths = append(widths, console.ColumnsOfRune(r))
	}
	if want := []int{1, 1, 2, 2, 2, 2, 2, 0}; !slices.Equal(widths, want) {
		t.Errorf("%v, want %v", widths, want)
	}
}
