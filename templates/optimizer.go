package templates

// OptimizerLevel10Data is what the template optimizer/level10 shows: the report
// of a cycle of level 10. All texts are Markdown on one line, quoted already;
// a section without lines says that there are none.
type OptimizerLevel10Data struct {
	Summary   []OptimizerLine
	Metrics   []OptimizerRow
	Anomalies []string
	// Last is the comment that ends the report.
	Last string
}

// OptimizerLevel20Data is what the template optimizer/level20 shows: the report
// of a cycle of level 20.
type OptimizerLevel20Data struct {
	Summary                                 []OptimizerLine
	Trends, Patterns, Outliers, Suggestions []string
	Last                                    string
}

// OptimizerLevel30Data is what the template optimizer/level30 shows: the report
// of a cycle of level 30.
type OptimizerLevel30Data struct {
	Summary []OptimizerLine
	KPI     []OptimizerRow
	// Short is what needs improvement, High and Normal are the suggestions by
	// priority, Next is the recommendation for the next cycle.
	Short, High, Normal, Next []string
	Last                      string
}

// OptimizerLine is a line of a report's summary, with those that belong to it.
type OptimizerLine struct {
	Line  string
	Below []string
}

// OptimizerRow is a metric: its value, what it is held against, and how it
// stands.
type OptimizerRow struct{ Name, Current, Against, Status string }
