package config

import (
	"path/filepath"
	"slices"
	"testing"

	"placet/engine"
)

// held are the settings with an order, as text.
func held(s Settings) map[string]string {
	review, validation, workflow := "unsaid", "unsaid", "unsaid"
	for to, from := range map[*string]*string{&review: s.Afl.Review, &validation: s.Afl.Validation, &workflow: s.Optimizer.Workflows["a b"].HITLTimeout} {
		if from != nil {
			*to = *from
		}
	}
	return map[string]string{
		"destructive_steps": canonical(s.Faber.DestructiveSteps), "review": review, "validation": validation,
		"max_timeout_reentries": canonical(s.Optimizer.MaxTimeoutReentries), "hitl_timeout": s.Optimizer.HITLTimeout, "workflow": workflow,
	}
}

// While a setting waits for trust, the stricter of the agreed and the written value
// holds; an agreed value, and the user's own, holds unchanged.
func TestTheTighterSettingHolds(t *testing.T) {
	const steps, review, validation = "[faber]\ndestructive_steps = ", "[afl]\nreview = ", "[afl]\nvalidation = "
	const reentries, timeout, workflow = "[optimizer]\nmax_timeout_reentries = ", "[optimizer]\nhitl_timeout = ", "[optimizer.workflows.\"a b\"]\nhitl_timeout = "
	for name, c := range map[string]struct {
		agreed, written, own string
		key, want            string
		waits                bool
	}{
		"steps, more":               {written: steps + `["*merge-pr", "*ship"]`, key: "destructive_steps", want: `["*merge-pr","*pr-merge","*delete-branch","*branch-delete","*close-issue","*issue-close","*ship"]`, waits: true},
		"steps, other":              {agreed: steps + `["*ship"]`, written: steps + `["*merge-pr"]`, key: "destructive_steps", want: `["*ship","*merge-pr"]`, waits: true},
		"steps, none":               {agreed: steps + `["*ship"]`, written: steps + `[]`, key: "destructive_steps", want: `["*ship"]`, waits: true},
		"steps, agreed to none":     {agreed: steps + `[]`, written: steps + `[]`, key: "destructive_steps", want: `[]`},
		"steps, one's own":          {agreed: steps + `["*ship"]`, written: steps + `["*merge-pr"]`, own: steps + `["*mine"]`, key: "destructive_steps", want: `["*mine"]`, waits: true},
		"steps, one's own alone":    {agreed: steps + `["*ship"]`, own: steps + `["*mine"]`, key: "destructive_steps", want: `["*mine"]`},
		"review, looser":            {written: review + `"off"`, key: "review", want: "unsaid", waits: true},
		"review, the tightest":      {written: review + `"person"`, key: "review", want: "person", waits: true},
		"review, between":           {agreed: review + `"off"`, written: review + `"external"`, key: "review", want: "external", waits: true},
		"review, looser than that":  {agreed: review + `"external"`, written: review + `"off"`, key: "review", want: "external", waits: true},
		"review, taken out":         {agreed: review + `"off"`, key: "review", want: "unsaid"},
		"validation, tighter":       {agreed: validation + `"result"`, written: validation + `"command"`, key: "validation", want: "command", waits: true},
		"reentries, fewer":          {written: reentries + "1", key: "max_timeout_reentries", want: "1", waits: true},
		"reentries, more":           {written: reentries + "9", key: "max_timeout_reentries", want: "3", waits: true},
		"reentries, taken out":      {agreed: reentries + "0", key: "max_timeout_reentries", want: "0", waits: true},
		"timeout, never":            {written: timeout + `"never"`, key: "hitl_timeout", want: "never", waits: true},
		"timeout, longer, in words": {agreed: timeout + `"60m"`, written: timeout + `"1h1s"`, key: "hitl_timeout", want: "1h1s", waits: true},
		"timeout, shorter":          {agreed: timeout + `"never"`, written: timeout + `"1h"`, key: "hitl_timeout", want: "never", waits: true},
		"timeout, taken out":        {agreed: timeout + `"72h"`, key: "hitl_timeout", want: "72h", waits: true},
		"timeout, a shorter one":    {agreed: timeout + `"1h"`, key: "hitl_timeout", want: "48h"},
		"workflow, longer":          {written: workflow + `"50h"`, key: "workflow", want: "50h", waits: true},
		"workflow, shorter":         {written: workflow + `"1h"`, key: "workflow", want: "unsaid", waits: true},
		"workflow, taken out":       {agreed: workflow + `"50h"`, key: "workflow", want: "50h", waits: true},
		"workflow, beside others":   {agreed: workflow + `"50h"`, written: workflow + "\"49h\"\nlevel_attempts = 2", key: "workflow", want: "50h", waits: true},
		"workflow, one's own":       {agreed: workflow + `"50h"`, own: workflow + `"1h"`, key: "workflow", want: "1h"},
	} {
		from := places(t)
		if c.agreed != "" {
			put(t, from.Workspace, "placet.toml", c.agreed+"\n")
			agree(t, from, waitingSetting(mustLoad(t, from).Waiting[0]))
		}
		put(t, from.Workspace, "placet.toml", c.written+"\n")
		if c.own != "" {
			put(t, filepath.Dir(from.User), "placet.toml", c.own+"\n")
		}
		s := mustLoad(t, from)
		if got := held(s)[c.key]; got != c.want || len(s.Waiting) > 0 != c.waits {
			t.Errorf("%s: %s holds, want %s; waiting: %+v", name, got, c.want, s.Waiting)
		}
		if c.written != "" && c.key == "workflow" && c.agreed != "" && *s.Optimizer.Workflows["a b"].LevelAttempts != 2 {
			t.Errorf("%s: the rest of the table is gone", name)
		}
	}
}

// An agreement to a word in a file of AFL's own is an agreement to the setting too.
func TestAWordOfAnotherFileIsAgreedTo(t *testing.T) {
	from := places(t)
	d := settingDigest("afl.review", `"off"`)
	agree(t, from, UntrustedLine{Name: "afl.review", Digest: d, Of: d, Text: "off (.claude/afl.yaml agents.impl_reviewer)"})
	for written, want := range map[string]string{"external": "external", "person": "person", "off": "off"} {
		put(t, from.Workspace, "placet.toml", "[afl]\nreview = \""+written+"\"\n")
		if got := held(mustLoad(t, from))["review"]; got != want {
			t.Errorf("%s: %s holds", written, got)
		}
	}
	put(t, from.Workspace, "placet.toml", "")
	if got := held(mustLoad(t, from))["review"]; got != "unsaid" {
		t.Errorf("placet.toml says nothing, and %s holds", got)
	}
}

// The last agreement to a setting with an order replaces the one before; agreements to
// other settings hold side by side.
func TestTheLastAgreementHolds(t *testing.T) {
	var file TrustFile
	for _, one := range []struct{ name, text string }{
		{"optimizer.hitl_timeout", `"1h"`}, {"optimizer.hitl_timeout", `"2h"`}, {`optimizer.workflows."a.b".hitl_timeout`, `"1h"`},
		{`optimizer.workflows."a.b".hitl_timeout`, `"2h"`}, {"faber.on_deadline", `"reject"`}, {"faber.on_deadline", `"abort"`},
	} {
		d := settingDigest(one.name, one.text)
		file.Agree(noon, UntrustedLine{Name: one.name, Digest: d, Of: d, Text: one.text})
	}
	var texts []string
	for _, one := range file.Trusted {
		texts = append(texts, one.Text)
	}
	if want := []string{`"2h"`, `"2h"`, `"reject"`, `"abort"`}; !slices.Equal(texts, want) {
		t.Errorf("agreed to: %q, want %q", texts, want)
	}
	if last := file.last("optimizer.hitl_timeout"); last.value() != `"2h"` || (Trusted{Name: last.Name, Of: engine.Sum(nil), Text: `"2h"`}).value() != "" {
		t.Errorf("%+v", last)
	}
}
