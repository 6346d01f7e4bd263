package afl

import (
	"slices"
	"strings"
	"testing"
	"time"

	"placet/engine/testoutput"
)

func TestEscalationReasons(t *testing.T) {
	found := Verdict{KeyLines: []string{"sh: 1:\tdocker: not found ", "second"}}
	for _, c := range []struct {
		name     string
		route    Route
		v        Verdict
		question string
		en, ko   string
	}{
		{"design", routeDesign, found, "", "ESCALATE_DESIGN: contract and implementation disagree", "ESCALATE_DESIGN: 계약과 구현이 서로 맞지 않습니다"},
		{"environment", routeEnv, found, "", "ESCALATE_ENV: sh: 1: docker: not found", "ESCALATE_ENV: sh: 1: docker: not found"},
		{"environment without a line", routeEnv, Verdict{}, "", "ESCALATE_ENV: the environment, not the code", "ESCALATE_ENV: 코드가 아니라 환경의 문제입니다"},
		{"attempts used up", routeMaxRetry, found, "", "ESCALATE_MAX_RETRY: 5 of 6 attempts failed", "ESCALATE_MAX_RETRY: 6번 중 5번의 시도가 실패했습니다"},
		{"unclear", routeUnclear, found, "", "ESCALATE_UNCLEAR: the cause is unclear", "ESCALATE_UNCLEAR: 원인이 분명하지 않습니다"},
		{"nobody can answer", routeUnclear, Verdict{}, "EUR,\nor USD {n}?", "ESCALATE_UNCLEAR: EUR, or USD {n}?", "ESCALATE_UNCLEAR: EUR, or USD {n}?"},
		{"pattern", routePattern, found, "", "ESCALATE_PATTERN: the same failure 3 times", "ESCALATE_PATTERN: 같은 실패가 3번 반복되었습니다"},
	} {
		for lang, want := range map[string]string{"en": c.en, "ko": c.ko} {
			if got := escalationReason(lang, c.route, c.v, 5, 6, 3, c.question); got != want {
				t.Errorf("%s, %s: %q, want %q", c.name, lang, got, want)
			}
		}
	}
	long := escalationReason("en", routeUnclear, Verdict{}, 1, 1, 0, strings.Repeat("é", 4000))
	if len(long) > 600 || !strings.HasSuffix(long, "é…") {
		t.Errorf("a long question makes %d bytes", len(long))
	}
}

func TestRecommended(t *testing.T) {
	for route, want := range map[Route]string{
		routeDesign: "design", routeEnv: "environment", routeMaxRetry: "manual", routeUnclear: "manual", routePattern: "manual",
	} {
		if got := recommended(route); got != want {
			t.Errorf("%s: %s, want %s", route, got, want)
		}
	}
}

func TestCausesOfEveryType(t *testing.T) {
	for typ, want := range map[testoutput.Type][2]string{
		testoutput.NotImplemented: {"something the checkpoint needs does not exist yet", "implement what the lines below name"},
		testoutput.LogicError:     {"it runs, with another result than asked", "compare expected and actual value in the failing test"},
		testoutput.TypeError:      {"it does not compile or types do not fit", "correct the first diagnostic, then run again"},
		testoutput.DesignMismatch: {"contract and implementation disagree", "change the contract or follow it"},
		testoutput.EnvIssue:       {"the environment, not the code", "provide what the lines below name"},
		testoutput.Timeout:        {"no end within 1m30s", "look for a loop or a wait; raise validation.timeout if it is only slow"},
		testoutput.Unknown:        {"the output names no cause", "read the output"},
		"NEW_WORD":                {"the output names no cause", "read the output"},
	} {
		cause, fix := causes("en", typ, 90*time.Second)
		if cause != want[0] || fix != want[1] {
			t.Errorf("%s: %q, %q", typ, cause, fix)
		}
		if koCause, koFix := causes("ko", typ, 90*time.Second); koCause == cause || koFix == fix || strings.Contains(koCause, "{") {
			t.Errorf("%s in Korean: %q, %q", typ, koCause, koFix)
		}
	}
}

func TestSameInARow(t *testing.T) {
	a := func(epoch int, signature text) Judged {
		return Judged{Epoch: epoch, Result: failed, Signature: signature}
	}
	for _, c := range []struct {
		name    string
		history []Judged
		want    int
	}{
		{"none", nil, 0},
		{"one", []Judged{a(0, "x")}, 1},
		{"three", []Judged{a(0, "y"), a(0, "x"), a(0, "x"), a(0, "x")}, 3},
		{"broken by another", []Judged{a(0, "x"), a(0, "y"), a(0, "x")}, 1},
		{"an epoch ends it", []Judged{a(0, "x"), a(1, "x"), a(1, "x")}, 2},
		{"no signature is like no other", []Judged{a(0, ""), a(0, "")}, 1},
		{"passed last", []Judged{a(0, "x"), {Result: passed}}, 0},
		{"passed between", []Judged{a(0, "x"), {Result: passed}, a(0, "x")}, 1},
	} {
		if got := sameInARow(c.history); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// skeleton returns a report's headings, table headers and bold lines.
func skeleton(doc string) (lines []string) {
	all := strings.Split(doc, "\n")
	for i, line := range all {
		head := strings.HasPrefix(line, "| ") && i+1 < len(all) && strings.HasPrefix(all[i+1], "|--")
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "**") || head {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestTheReportHasTheSeedsStructure(t *testing.T) {
	seed := []string{
		"## ⚠️ 에스컬레이션 리포트", "### 기본 정보", "| 항목 | 값 |", "### 실패 이력", "| 시도 | 실패 기준 | 원인 |", "### 패턴 분석", "### 추정 원인",
		"### 권장 조치", "**설계 재검토가 필요한 경우:**", "**환경 문제인 경우:**", "**수동 개입이 필요한 경우:**",
	}
	english := []string{
		"## ⚠️ Escalation report", "### Basic information", "| Item | Value |", "### Failure history", "| Attempt | Failed criterion | Cause |",
		"### Pattern analysis", "### Probable causes", "### Recommended action", "**If the design needs another look:**",
		"**If the environment is at fault:**", "**If someone must step in:**",
	}
	for _, route := range []Route{routeDesign, routeEnv, routeMaxRetry, routeUnclear, routePattern} {
		for lang, want := range map[string][]string{"ko": seed, "en": english} {
			d := couponEscalation(lang)
			d.C.Escalation.Route, d.Verdict.Route = route, route
			body := string(escalationMD(d))
			if got := skeleton(body); !slices.Equal(got, want) {
				t.Errorf("%s, %s:\n%q\nwant\n%q", lang, route, got, want)
			}
			if !strings.Contains(body, "```bash\n/afl:architect --resume abc12345\n```\n") {
				t.Errorf("%s, %s: the architect is not named", lang, route)
			}
			advice := phrase(lang, "escalation.recommended")
			if strings.Count(body, advice) != 1 || placeOfAdvice(body, advice, want[8:]) != recommended(route) {
				t.Errorf("%s, %s: recommended is %q", lang, route, placeOfAdvice(body, advice, want[8:]))
			}
		}
	}
}

// placeOfAdvice returns the way whose bold line precedes the advice.
func placeOfAdvice(body, advice string, bold []string) string {
	at := strings.Index(body, advice)
	way := ""
	for i, name := range []string{wayDesign, wayEnvironment, wayManual} {
		if strings.Index(body, bold[i]) < at {
			way = name
		}
	}
	return way
}

func TestTheEnvironmentPartNamesWhatIsMissing(t *testing.T) {
	for _, c := range []struct {
		name string
		v    Verdict
		want string
	}{
		{"names", Verdict{FailureType: text(testoutput.EnvIssue), Names: []string{"docker", "py`test"}, KeyLines: []string{"x"}}, "missing: `docker`, ``py`test``\n"},
		{"lines", Verdict{FailureType: text(testoutput.EnvIssue), KeyLines: []string{"No space left"}}, "provide what the lines below name\n\n```\nNo space left\n```\n"},
		{"time", Verdict{FailureType: text(testoutput.Timeout)}, "raise validation.timeout if it is only slow\n"},
		{"code", Verdict{FailureType: text(testoutput.LogicError), KeyLines: []string{"x"}}, "The output names no command"},
	} {
		d := couponEscalation("en")
		d.Verdict = c.v
		if part := d.Environment(); !strings.Contains(part, c.want) || !strings.Contains(part, "`env_fixed`") {
			t.Errorf("%s:\n%s", c.name, part)
		}
	}
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		name  string
		after int
		want  string
	}{
		{"a pattern", 2, "the same failure in the last 2 attempts:\n\n```\n"},
		{"alike, yet too few", 3, "failure types in order: NOT_IMPLEMENTED → LOGIC_ERROR → LOGIC_ERROR"},
	} {
		d := couponEscalation("en")
		d.PatternAfter = c.after
		if got := d.Pattern(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
	d := couponEscalation("en")
	d.C.History[1].Signature = "c"
	if got := d.Pattern(); got != "no two attempts in a row failed alike" {
		t.Errorf("none alike: %q", got)
	}
}

// The report shows the escalation, whatever happened after it.
func TestWhatCameAfterTheEscalationIsLeftOut(t *testing.T) {
	for _, d := range []escalationData{couponEscalation("en"), couponEscalation("ko")} {
		md, js := escalationMD(d), escalationJSON(d)
		d.C.MaxIterations = 7
		d.C.History = append(slices.Clone(d.C.History), judgedFailure(3, testoutput.LogicError, "z"), judgedFailure(4, testoutput.LogicError, "z"))
		d.C.History[3].Run = 2
		if got := string(escalationMD(d)); got != string(md) {
			t.Errorf("escalation.md changed:\n%s", got)
		}
		if got := string(escalationJSON(d)); got != string(js) {
			t.Errorf("escalation.json changed:\n%s", got)
		}
	}
}
