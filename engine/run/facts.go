package run

import (
	"placet/engine"
	"placet/templates"
)

// Facts are labelled lines for people. They leave out empty values.
type Facts struct {
	List []engine.Fact

	lang, labels string
}

// NewFacts returns an empty list for a family, whose sentences "fact.…" are the labels.
func NewFacts(lang, family string) *Facts { return &Facts{lang: lang, labels: family + ".fact."} }

// Add adds values under the label of a key.
func (f *Facts) Add(label string, values ...string) {
	name := f.labels + label
	for _, value := range values {
		if value != "" {
			f.List = append(f.List, engine.Fact{Name: templates.Text(templates.English, name), Label: templates.Text(f.lang, name), Value: value})
		}
	}
}
