package optimizer

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	gmtext "github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"placet/layout"
)

// The headings that `check` expects are those of the reports, at every level and in both languages.
// It names each missing or misplaced one.
func TestReportsHaveTheirHeadings(t *testing.T) {
	for _, lang := range []string{"ko", "en"} {
		for _, level := range []int{10, 20, 30} {
			st, f, in := bare(lang, level)
			body := reportMD(st, f, in, 3)
			headings, _ := outline(body)
			want := reportHeadings(level, lang)
			if diff := cmp.Diff(want, headings[1:]); diff != "" {
				t.Errorf("%s, level %d: %s", lang, level, diff)
			}
			if missing := missingHeadings(body, level, lang); len(missing) > 0 {
				t.Errorf("%s, level %d: lacks %q:\n%s", lang, level, missing, body)
			}
			for _, h := range want {
				without := strings.Replace(string(body), "\n"+h+"\n", "\n", 1)
				if diff := cmp.Diff([]string{h}, missingHeadings([]byte(without), level, lang)); diff != "" {
					t.Errorf("%s, level %d: without %q: %s", lang, level, h, diff)
				}
			}
		}
	}
}

var updateGolden = flag.Bool("update", false, "write the golden files anew")

// golden compares a document with its golden file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *updateGolden {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// rich is a cycle with everything that a report can show.
func rich(lang string, level int) (State, Findings, inputs) {
	st := asked(lang)
	st.Level.Current = level
	st.trig.OptimizationGoal, st.trig.CurrentLevel = "Fewer misses | at night", ptr(20)
	st.KPI = mergeKPI(Trigger{}, &KPI{Metrics: []Measure{
		{Name: "precision", Value: ptr(78.1), Target: ptr(95.0)}, {Name: "recall", Value: ptr(0.87), Unit: ratio},
		{Name: "f1", Value: ptr(91.00005)}, {Name: "coverage"}, {Name: "errors", Value: ptr(3.0), Threshold: ptr(5.0), Unit: number, Direction: down},
		{Name: "retries", Value: ptr(7.0), Threshold: ptr(5.0), Unit: number, Direction: down}, {Name: "runs", Value: ptr(12.0), Unit: number},
	}}, nil, 85)
	b, whyB := signalB(st.KPI)
	c, whyC := signalC([]FeedbackRow{{LevelBefore: 20, LevelAfter: 30}})
	why := &reasons{A: "evaluation: e.py, criteria_fixed: true, analysis: –, inputs/assets.json", B: whyB, C: whyC}
	previous := &PreviousGoal{RunID: "20260301-msowd-sop-masking", ApprovedBy: byTimeout, NextAutomationLevel: 30, OptimizationDirectives: []string{"Check rare labels"}}
	if level == 20 {
		previous.ApprovedBy, previous.NextAutomationLevel = byHuman, 20
	}
	st.Decision = ptr(decide(Signals{A: 30, B: b, C: c}, why, previous, lang))
	for from := st.Decision.AutomationLevel; from > level; from -= 10 {
		st.Demotions = append(st.Demotions, Demotion{From: from, To: from - 10, Error: fmt.Sprintf("level %d:\nexit 2", from), At: "2026-03-02T09:13:20Z"})
	}
	f := Findings{
		PreviousGoal: previous,
		OpenIssues:   []string{"한글 이슈", "Level 20 failed: no data"},
		LateAnswer:   &Late{Response: optRaise, Selected: []string{"s1", "s3"}, Comment: "Go up.", ProvidedBy: By{User: "min"}, ReceivedAt: "2026-03-01T10:00:00Z"},
		Warnings:     []string{"docs/usage/sop-masking-engine.md is missing"},
		Audit: AuditRows{Available: true, Rows: []AuditRow{
			{ID: "TASK-20260301-00000001", Date: "2026-03-01", Action: "level20_report", Status: "success"},
			{ID: "TASK-20260228-00000002", Date: "2026-02-28", Action: "level10_failed", Status: "fail", Notes: "disk full"},
		}},
		Callbacks: []Callback{
			{EventType: "anomaly_detected", CheckpointID: "cp-3", Severity: "high", Message: "rate doubled", Timestamp: "2026-03-02T08:00:00Z"},
			{EventType: "hitl_request", Message: "not shown"},
		},
	}
	in := inputs{Suggestions: Suggestions{Summary: "Rare labels are missed.", Patterns: []string{"Misses come in pairs"}}}
	for i, v := range []float64{80, 81, 79, 80, 82, 81, 80, 79, 30, 90.12345} {
		in.Records = append(in.Records, Record{RecordID: fmt.Sprintf("r%d", i+1), Metric: "precision", Value: v})
	}
	in.Records[2].Flag = anomaly
	for i, v := range []float64{0.9, 0.91, 0.5} {
		in.Records = append(in.Records, Record{RecordID: fmt.Sprintf("r%d", i+7), Metric: "recall", Value: v})
	}
	in.Records[12].Flag = anomaly
	in.Records = append(in.Records, Record{RecordID: "x", Metric: "Other", Value: -1})
	return st, f, in
}

// bare is a cycle with as little as a report can show.
func bare(lang string, level int) (State, Findings, inputs) {
	st := asked(lang)
	st.Level.Current, st.Suggestions = level, nil
	st.Decision = ptr(Decide(level, nil, 0))
	return st, Findings{Audit: AuditRows{Available: true}}, inputs{}
}

func TestGoldenReports(t *testing.T) {
	for _, lang := range []string{"ko", "en"} {
		for _, level := range []int{10, 20, 30} {
			st, f, in := rich(lang, level)
			golden(t, fmt.Sprintf("%s-level%d-rich.md", lang, level), reportMD(st, f, in, 6))
			st, f, in = bare(lang, level)
			golden(t, fmt.Sprintf("%s-level%d-bare.md", lang, level), reportMD(st, f, in, 6))
		}
	}
}

var markdownReader = goldmark.New(goldmark.WithExtensions(extension.GFM))

// outline returns the structure of a document as others parse it: its headings, and all its parts
// without their words.
func outline(body []byte) (headings []string, bones string) {
	var b strings.Builder
	root := markdownReader.Parser().Parse(gmtext.NewReader(body))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text, *ast.String, *ast.AutoLink: // the words, and what a parser makes of a bare address in them
			return ast.WalkContinue, nil
		case *ast.Heading:
			if entering {
				headings = append(headings, strings.Repeat("#", n.Level)+" "+string(n.Lines().Value(body)))
			}
		}
		if entering {
			b.WriteString("(" + n.Kind().String())
		} else {
			b.WriteString(")")
		}
		return ast.WalkContinue, nil
	})
	return headings, b.String()
}

func TestStandings(t *testing.T) {
	num := func(v float64, threshold *float64, direction text) Metric {
		return Measure{Value: &v, Threshold: threshold, Unit: number, Direction: direction}.settled(85)
	}
	for _, c := range []struct {
		m    Metric
		want string
	}{
		{gated("m", 90), met}, {gated("m", 89.99), near}, {gated("m", 80), near}, {gated("m", 79.99), missed},
		{Measure{Name: "m"}.settled(85), unknown},
		{Measure{Value: ptr(79.0), Threshold: ptr(85.0), Gate: ptr(false)}.settled(0), missed},
		{Measure{Value: ptr(79.0), Gate: ptr(false)}.settled(85), unknown},
		{num(5, ptr(5.0), ""), met}, {num(4.9999999, ptr(5.0), ""), missed}, {num(5, ptr(5.0), down), met},
		{num(5.0000001, ptr(5.0), down), missed}, {num(5, nil, ""), unknown},
	} {
		if got := c.m.standing(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.m, got, c.want)
		}
	}
}

func TestAttainment(t *testing.T) {
	for _, c := range []struct {
		name    string
		m       Measure
		records []float64
		current string
		want    string
	}{
		{"the target", Measure{Value: ptr(90.0), Target: ptr(95.0), Threshold: ptr(85.0)}, nil, "90", "no"},
		{"reached", Measure{Value: ptr(95.0), Target: ptr(95.0)}, nil, "95", "yes"},
		{"the threshold where there is no target", Measure{Value: ptr(90.0)}, nil, "90", "yes"},
		{"the records before the value", Measure{Value: ptr(99.0), Target: ptr(95.0)}, []float64{94, 95}, "94.5", "no"},
		{"records alone", Measure{Target: ptr(95.0)}, []float64{96}, "96", "yes"},
		{"neither", Measure{Target: ptr(95.0)}, nil, "–", "unknown"},
		{"no aim", Measure{Value: ptr(3.0), Unit: number}, nil, "3", "unknown"},
		{"down", Measure{Value: ptr(3.0), Target: ptr(3.0), Unit: number, Direction: down}, nil, "3", "yes"},
		{"down, above", Measure{Value: ptr(3.00000001), Target: ptr(3.0), Unit: number, Direction: down}, nil, "3", "no"},
		{"down, a mean that is off by rounding", Measure{Target: ptr(0.2), Unit: number, Direction: down}, []float64{0.1, 0.2, 0.3}, "0.2", "yes"},
		{"tiny", Measure{Value: ptr(1e-9), Target: ptr(2e-9), Unit: number}, nil, "0", "no"},
		{"huge", Measure{Value: ptr(-math.MaxFloat64), Target: ptr(math.MaxFloat64), Unit: ratio}, nil, "", "no"},
	} {
		c.m.Name = "m"
		r := report{State: State{KPI: []Metric{c.m.settled(85)}, Lang: "en"}, stats: statistics(recordsOf(c.records...))}
		row := r.attained()[0]
		if row.Status != c.want || c.current != "" && row.Current != c.current {
			t.Errorf("%s: %+v, want %s, %s", c.name, row, c.current, c.want)
		}
		if short := len(r.short()) == 1; short != (c.want == "no") {
			t.Errorf("%s: short %q", c.name, r.short())
		}
	}
}

func TestWhatFallsShortComesFurthestFirst(t *testing.T) {
	of := func(name string, value, target float64, unit string) Metric {
		return Measure{Name: name, Value: &value, Target: &target, Unit: text(unit)}.settled(85)
	}
	r := report{State: State{Lang: "en", KPI: []Metric{of("a", 90, 95, percent), of("b", 0.8, 0.95, ratio), of("c", 90, 95, percent), of("d", 99, 95, percent), of("e", 1, 7, number)}}}
	want := []string{"b: 0.8, short of the target 0.95", "e: 1, short of the target 7", "a: 90, short of the target 95", "c: 90, short of the target 95"}
	if diff := cmp.Diff(want, r.short()); diff != "" {
		t.Error(diff)
	}
}

func TestTheRecommendation(t *testing.T) {
	st, f, _ := rich("en", 10)
	st.Decision.RecommendedLevel = ptr(30)
	want := []string{
		"Recommended level: 30", "Level 30 failed: level 30: exit 2", "Level 20 failed: level 20: exit 2",
		"Open issue: 한글 이슈", "Open issue: Level 20 failed: no data",
	}
	if diff := cmp.Diff(want, report{State: st, Found: f}.next()); diff != "" {
		t.Error(diff)
	}
}

// filled is a rich cycle with one text in all places that others fill.
func filled(lang string, level int, s string) (State, Findings, inputs) {
	st, f, in := rich(lang, level)
	st.WorkflowName, st.trig.OptimizationGoal = s, text(s)
	st.Decision.Rationale = []string{s, s}
	st.Demotions = []Demotion{{From: 30, To: 20, Error: s}}
	st.Suggestions = []Suggestion{{"s1", s, high}, {"s2", s, normal}}
	for i := range st.KPI {
		st.KPI[i].Name = s + fmt.Sprint(i)
	}
	f.PreviousGoal.OptimizationDirectives, f.OpenIssues, f.Warnings = []string{s}, []string{s}, []string{s, s}
	f.LateAnswer.Comment, f.LateAnswer.Response, f.LateAnswer.Selected, f.LateAnswer.ProvidedBy.User = s, s, []string{s}, s
	f.Audit.Rows[1] = AuditRow{ID: s, Date: text(s), Action: text(s), Notes: text(s), Status: "fail"}
	f.Callbacks[0].Message, f.Callbacks[0].Severity, f.Callbacks[0].CheckpointID = text(s), text(s), text(s)
	in.Suggestions = Suggestions{Summary: text(s), Patterns: []string{s, s}}
	for i := range in.Records {
		in.Records[i].Metric = in.Records[i].Metric[:1] + s
		in.Records[i].RecordID += s
	}
	return st, f, in
}

// hostileTexts are texts that would be more than text if nothing quoted them.
var hostileTexts = []string{
	"# heading", "\n# heading\n", "x\n===", "x\n---\n", "- item", "\n- item\n", "* item", "+ item", "1. item", "1) item", "- [x] done",
	"> quote", "\n> quote", "```\nfence", "\n```", "~~~", "    code", "\n\n    code", "<!-- comment", "-->", "<!--\n-->", "<div>", "<script>", "</li>",
	"<b>", "[link](https://example.com)", "![image](x)", "[x]: https://example.com", "*bold*", "__bold__", "_it_", "`code`", "`", "| a | b |", "|", "\\|", "\\", "a\\",
	"| a |\n|---|\n| b |", "***", "---", "___", "&lt;&#35;", "\u2028# heading", "\u0085# heading", "\r# heading", "\v# heading", "\u202e# heading", "~~gone~~", "<https://example.com>",
	"https://example.com/a_b_", "www.example.com", "a@example.com", "<!-- placet 20260302-msowd-sop-masking r6 -->", "\n<!-- placet x r1 -->\n", "#", "-", "=", "==", "\t# x", "\x00# x", "\u200b# x",
}

// TestTextFromFilesIsNothingButText checks that a report has the same structure with any text as
// with a harmless word.
func TestTextFromFilesIsNothingButText(t *testing.T) {
	made := func(lang string, level int, s string) []byte {
		st, f, in := filled(lang, level, s)
		return reportMD(st, f, in, 6)
	}
	for _, lang := range []string{"ko", "en"} {
		for _, level := range []int{10, 20, 30} {
			wantHeadings, want := outline(made(lang, level, "word"))
			for _, s := range hostileTexts {
				body := made(lang, level, s)
				headings, got := outline(body)
				if diff := cmp.Diff(wantHeadings, headings); diff != "" {
					t.Errorf("%s, level %d: %q makes headings:\n%s", lang, level, s, diff)
				}
				if got != want {
					t.Errorf("%s, level %d: %q is more than text:\n%s", lang, level, s, body)
				}
			}
		}
	}
}

// listLine matches the lines that may hold text from files, and placet's own.
var listLine = regexp.MustCompile(`^(  )?- .|^\| .* \|$|^\|---\|---\|---\|---\|$|^$`)

func checkReport(t interface{ Fatalf(string, ...any) }, lang string, level int, s string) {
	st, f, in := filled(lang, level, s)
	body := reportMD(st, f, in, 6)
	headings, _ := outline(body)
	want := reportHeadings(level, lang)
	if len(headings) != len(want)+1 || !slices.Equal(headings[1:], want) {
		t.Fatalf("%q makes the headings %q", s, headings)
	}
	lines := strings.Split(strings.TrimSuffix(string(body), "\n"), "\n")
	for i, line := range lines {
		own := i == 0 || i == len(lines)-1 || slices.Contains(want, line)
		if !own && !listLine.MatchString(line) || strings.ContainsAny(line, "\r\v\f\x00\u0085\u2028\u2029") {
			t.Fatalf("%q: line %d is neither list item nor cell: %q", s, i+1, line)
		}
	}
}

func TestTextFromFilesStandsInListItemsAndCells(t *testing.T) {
	marks := rapid.StringOf(rapid.SampledFrom([]rune("#->=*_`~|\\<![]()+.1 \n\r\t\u2028a가")))
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(marks, rapid.String(), rapid.SampledFrom(hostileTexts)).Draw(t, "text")
		checkReport(t, rapid.SampledFrom([]string{"ko", "en"}).Draw(t, "lang"), rapid.SampledFrom([]int{10, 20, 30}).Draw(t, "level"), s)
	})
}

// FuzzReport puts any text into all places that others fill.
func FuzzReport(f *testing.F) {
	for _, s := range hostileTexts {
		f.Add(s, false, 20)
	}
	f.Fuzz(func(t *testing.T, s string, korean bool, level int) {
		lang := map[bool]string{true: "ko", false: "en"}[korean]
		checkReport(t, lang, []int{10, 20, 30}[((level%3)+3)%3], s)
	})
}

// TestAReportCanBeReadBack checks that the worst inputs make no report above the limit for texts.
func TestAReportCanBeReadBack(t *testing.T) {
	long := strings.Repeat("*", 4000)
	for _, level := range []int{10, 20, 30} {
		st, f, in := rich("ko", level)
		many := slices.Repeat([]string{long}, 110)
		st.trig.OptimizationGoal, st.Decision.Rationale, f.OpenIssues, f.Warnings = text(long), many, many, many
		f.PreviousGoal.OptimizationDirectives = many
		f.LateAnswer = &Late{Response: optRaise, Comment: long, Selected: many}
		in.Suggestions = Suggestions{Summary: text(long), Patterns: many}
		st.Suggestions, st.KPI = nil, nil
		for i := range 140 {
			v := -math.MaxFloat64
			name := fmt.Sprintf("%04d%s", i, long)
			st.KPI = append(st.KPI, Measure{Name: name, Value: &v, Target: ptr(-v)}.settled(85))
			f.Callbacks = append(f.Callbacks, Callback{EventType: "anomaly_detected", Message: text(long), Severity: text(long), CheckpointID: text(long), Timestamp: text(long)})
			f.Audit.Rows = append(f.Audit.Rows, AuditRow{ID: long, Notes: text(long), Status: "fail", Action: text(long), Date: text(long)})
			for j := range 12 {
				in.Records = append(in.Records, Record{RecordID: fmt.Sprint(j, long), Metric: name, Value: v, Flag: anomaly})
			}
		}
		for i := range 50 {
			st.Suggestions = append(st.Suggestions, Suggestion{ID: fmt.Sprint("s", i+1), Text: long, Priority: high})
		}
		body := reportMD(st, f, in, 6)
		if len(body) > layout.LimitText {
			t.Errorf("level %d: %d bytes", level, len(body))
		}
		if !strings.Contains(string(body), "… +9") {
			t.Errorf("level %d does not say what it leaves out", level)
		}
	}
}
