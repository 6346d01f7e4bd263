package pseudo

import (
	"slices"
	"testing"
)

func TestWhatNobodyTranslatedIsFound(t *testing.T) {
	w := New("placet inbox", "served")
	w.Say("Deploy to production?")
	for text, want := range map[string][]string{
		"⟦no runs in ⟧/tmp⟦: ⟧placet inbox": nil,
		"tmp ⟦in⟧ a_b, \"who\": c.d":        {"tmp"},
		"⟦RUN⟧  served  Deploy to":          nil,
		"Deploy production":                 {"Deploy production"},
		"⟦1 run⟧; one request open":         {"one request open"},
	} {
		if got := w.Outside(text, nil); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if got := w.Outside("tmp", func() { w.Say("/tmp") }); got != nil {
		t.Errorf("%q, though it was said in time", got)
	}
}
