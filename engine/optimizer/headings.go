package optimizer

// heading is a heading of a report, in both languages.
type heading struct{ mark, ko, en string }

// headings are those of a level's report, in their order, after the title.
var headings = map[int][]heading{
	10: {{"## ", "실행 요약", "Run summary"}, {"## ", "주요 지표", "Key metrics"}, {"## ", "이상 감지 항목", "Anomalies"}},
	20: {
		{"## ", "실행 요약", "Run summary"},
		{"## ", "분석 결과 (스크립트 기반)", "Analysis (from scripts)"},
		{"### ", "트렌드", "Trends"}, {"### ", "패턴", "Patterns"}, {"### ", "이상치", "Outliers"},
		{"## ", "개선 제안", "Improvement suggestions"},
	},
	30: {
		{"## ", "평가 요약", "Evaluation summary"}, {"## ", "KPI 달성 여부", "KPI attainment"},
		{"## ", "개선 필요 구간", "Areas needing improvement"},
		{"## ", "구체적 최적화 제안", "Concrete optimisation proposals"},
		{"### ", "우선순위 높음", "High priority"}, {"### ", "우선순위 보통", "Normal priority"},
		{"## ", "다음 주기 권고", "Recommendation for the next cycle"},
	},
}

// reportHeadings are the lines of a level's report that are its headings.
func reportHeadings(level int, lang string) []string {
	var lines []string
	for _, h := range headings[level] {
		words := h.ko
		if lang == "en" {
			words = h.en
		}
		lines = append(lines, h.mark+words)
	}
	return lines
}
