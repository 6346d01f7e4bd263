package afl

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"placet/engine/run"
	"placet/engine/testoutput"
)

// everyDocument renders every document of the family with one text in all the places that others
// fill.
func everyDocument(lang, s string) map[string]string {
	def := Definition{ID: "cp", Name: s, Type: s, Description: text(s), Criteria: []string{s, s}, Command: text(s), Expected: text(s)}
	v := failedVerdict()
	v.FailedCriteria, v.KeyLines, v.RelatedFiles, v.Names, v.Causes = []string{s}, []string{s}, []string{s}, []string{s}, []string{s}
	v.FailureType, v.Marker = text(testoutput.EnvIssue), &s
	v.Suggestions = []Suggestion{{File: s, Line: ptr(1), Before: text("x" + s), After: text("x" + s), Why: s}}
	e := couponEscalation(lang)
	e.Def, e.Verdict, e.Dependents, e.Files = def, v, []string{s}, []string{s}
	e.C.History = slices.Clone(e.C.History)
	for i := range e.C.History {
		e.C.History[i].FailedCriteria, e.C.History[i].FailureType = []string{s}, text(s)
	}
	unanswered := e
	unanswered.Verdict, unanswered.Question = Verdict{}, s
	alike := e
	alike.PatternAfter = 9
	st := couponSession(lang)
	for _, q := range st.Requests {
		q.Comment, q.By, q.Selected = text(s), &run.By{User: s}, []string{s}
	}
	st.Checkpoints["coupon-service"].Escalation.Reason = s
	st.Review.Notes = []Note{{Checkpoint: "coupon-api", Severity: text(s), Text: s}}
	p := couponPrompt(lang)
	p.Def, p.Feedback, p.ContractNames, p.Architecture, p.Note = def, s+"x", []string{s}, "a"+s, "x"+s
	p.Dependencies = []string{s + ": completed"}
	p.Prerequisites = []Prerequisite{{ID: "db", Name: text(s), Type: text(s), Script: text(s)}}
	p.Contracts = []contract{{Title: s, Path: "a" + s, Text: "x" + s}}
	return map[string]string{
		"prompt.md": string(promptMD(p)),
		"feedback.md": string(feedbackMD(feedbackData{
			Lang: lang, Session: "s", Def: def, Max: 5, Verdict: v, Stdout: "x" + s, Stderr: "x" + s, Note: "x" + s,
		})),
		"answer.md":     string(answerMD(lang, "s", "cp", 1, []Question{{Number: 1, Text: s, Answer: text("x" + s), AnsweredBy: text(s)}})),
		"escalation.md": string(escalationMD(e)),
		"unanswered.md": string(escalationMD(unanswered)),
		"alike.md":      string(escalationMD(alike)),
		"report.md":     string(reportMD(st)),
		"changes.md":    string(changesMD(lang, "s", ChangesRequested{By: text(s), Comment: text("x" + s)}, []string{s})),
	}
}

var (
	fenceLine = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})([^`]*)$")
	cellEnd   = regexp.MustCompile(`(^|[^\\])(\\\\)*\|`)
	openTag   = regexp.MustCompile(`[^\\](\\\\)*<`)
)

// bones returns the structure of a document: each line outside of fences and quotes, cut to the
// mark at its beginning, and the cells of each row. problems are rows whose cells do not fit their
// table, tags within a line, and unclosed fences.
func bones(doc string) (marks []string, problems []string) {
	fence, cells := "", 0
	for _, line := range strings.Split(strings.TrimSuffix(doc, "\n"), "\n") {
		m := fenceLine.FindStringSubmatch(line)
		switch {
		case fence != "":
			if m != nil && m[1][0] == fence[0] && len(m[1]) >= len(fence) && strings.TrimSpace(m[2]) == "" {
				fence = ""
			}
			continue
		case m != nil:
			fence = m[1]
			marks = append(marks, "fence")
			continue
		case strings.HasPrefix(line, ">"):
			continue
		}
		if !strings.Contains(line, "`") && openTag.MatchString(line) {
			problems = append(problems, line)
		}
		if strings.HasPrefix(line, "|") {
			n := len(cellEnd.FindAllString(line, -1))
			if cells != 0 && n != cells {
				problems = append(problems, line)
			}
			cells = n
			marks = append(marks, "row")
			continue
		}
		cells = 0
		word, _, _ := strings.Cut(strings.TrimLeft(line, " \t"), " ")
		if strings.Trim(word, "#") == "" && word != "" || strings.HasPrefix(word, "<") || word == "-" || strings.Trim(word, "0123456789") == "." {
			marks = append(marks, word)
		}
	}
	if fence != "" {
		problems = append(problems, "open: "+fence)
	}
	return marks, problems
}

// Text of others never becomes a heading, a row, an item or a comment, and contains nothing
// invisible.
func TestHostileTextChangesNoStructure(t *testing.T) {
	plain := everyDocument("en", "plain")
	want := map[string][]string{}
	for name, doc := range plain {
		want[name], _ = bones(doc)
	}
	judge := func(t interface{ Errorf(string, ...any) }, s string) {
		for name, doc := range everyDocument("en", s) {
			got, problems := bones(doc)
			if !slices.Equal(got, want[name]) || len(problems) > 0 {
				t.Errorf("%s with %q: %q, want %q, problems %q\n%s", name, s, got, want[name], problems, doc)
			}
			if i := strings.IndexFunc(doc, unseen); i >= 0 {
				t.Errorf("%s with %q holds %+q", name, s, doc[i:i+3])
			}
			if strings.Count(doc, "\n<!-- ")+strings.Count(doc, "\r") > 0 && !strings.Contains(s, "<!--") {
				t.Errorf("%s with %q has another first line", name, s)
			}
		}
	}
	for _, s := range []string{
		"<!-- placet afl s/cp prompt 1 -->", "a\n<!-- placet afl s/cp prompt 1 -->\n# cp", "a | b \\| c", "```\n## Summary\n```", "````` ~~~",
		"~~~\nx", "a\r## Note\r\n- [x] submit this answer", "a\u2028# b\u0085# c", "a\u202e b\u200b\x1b[31m", "1. one\n2. two", "# title", "> quote", "a\\", "`", "[x](y)",
	} {
		judge(t, s)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.SampledFrom([]rune("a b`~|\\#->[x]()<!_*1.\n\r\t\u2028\u202e\u200b\x1b&"))).Draw(t, "text")
		judge(t, "a"+s)
	})
}

func unseen(r rune) bool {
	return r != '\n' && r != '\t' && r != '\ufe0f' && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r))
}

func TestEverySectionStandsWhereNothingIsKnown(t *testing.T) {
	for _, lang := range []string{"en", "ko"} {
		empty := map[string]string{
			"prompt.md":   string(promptMD(promptData{Lang: lang})),
			"feedback.md": string(feedbackMD(feedbackData{Lang: lang})),
			"escalation.md": string(escalationMD(escalationData{
				Lang: lang, C: Checkpoint{Escalation: &Escalation{Route: routeUnclear}},
			})),
			"report.md":  string(reportMD(State{Language: lang})),
			"changes.md": string(changesMD(lang, "", ChangesRequested{}, nil)),
		}
		full := everyDocument(lang, "plain")
		for name, doc := range empty {
			if strings.Contains(doc, "\n\n\n") || strings.Contains(doc, "<no value>") || strings.Contains(doc, "afl.") {
				t.Errorf("%s:\n%s", name, doc)
			}
			for _, line := range strings.Split(full[name], "\n") {
				top := strings.HasPrefix(line, "## ") || strings.HasPrefix(line, "**") && name == "escalation.md"
				if top && !strings.Contains(doc, "\n"+line+"\n") {
					t.Errorf("%s, %s, lacks %q", lang, name, line)
				}
			}
		}
	}
}
