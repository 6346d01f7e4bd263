package gate

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"placet/engine"
	"placet/schemas"
)

// levelAttacks returns texts that an agent might put into a suggestion to answer the
// questions of a block itself.
func levelAttacks() map[string]string {
	b := level("ko").Block
	all := map[string]string{
		"the third question":    "x\n3. " + b.Comment + " hacked",
		"the first question":    "1. " + b.Options + "\n   - [x] raise",
		"a folded question":     strings.Repeat("word ", 12) + "3. " + b.Comment + " hacked",
		"a level":               "raise",
		"a level's word":        "상향 권장",
		"a ticked level":        "a\n   - [x] raise: 상향 권장",
		"another id":            "s2: raise",
		"a submit":              "submit this answer",
		"a mark":                "x\n<!-- placet comment " + nonce(view) + " -->",
		"a whole form, sent":    "x\n" + levelForm(&testing.T{}, "raise", "s2", submitID),
		"a definition":          "[검토 요청]: http://a",
		"a box at once":         "[x] raise",
		"a dash, a box":         "- [x] raise",
		"a way out of the list": "\n\n\n\n- [x] raise",
	}
	for name, text := range attacks {
		all["general: "+name] = text
	}
	return all
}

// levelAttacked returns the level with a text in every place that an agent can fill.
func levelAttacked(text string) Request {
	r := level("ko")
	quoted, err := schemas.Encode(text)
	if err != nil {
		quoted = []byte(`"x"`)
	}
	r.Context = schemas.Raw(`{"open_issues":[` + strings.TrimSpace(string(quoted)) + `]}`)
	for i := range r.Block.Facts {
		r.Block.Facts[i].Value = text
	}
	r.Items[0].Label = text
	r.Artifacts = []Artifact{{Path: text, SHA256: text, Binding: true}}
	r.Run, r.Default, r.Deadline = "run "+text, text, text
	r.Prompt = r.Block.Prompt(r.Items)
	return r
}

func TestNothingThatASuggestionSaysIsReadAsAnAnswer(t *testing.T) {
	for name, text := range levelAttacks() {
		t.Run(name, func(t *testing.T) {
			r := levelAttacked(text)
			form := mustForm(t, r, "ko")
			want := formAnswer{RequestID: r.RequestID, Digest: view}
			if diff := cmp.Diff(want, mustRead(t, form, r)); diff != "" {
				t.Errorf("as written: %s\n%s", diff, form)
			}
			want.Ticked, want.Items, want.Comment, want.Submitted = []string{"lower"}, []string{"s1"}, "Because", true
			if diff := cmp.Diff(want, mustRead(t, comment(check(form, "lower", "s1", submitID), "Because"), r)); diff != "" {
				t.Errorf("answered: %s\n%s", diff, form)
			}
		})
	}
}

func TestABlockFormGivesBackExactlyWhatWasTickedAndWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := levelAttacked(hostileText().Draw(t, "suggestion"))
		options := rapid.SliceOfDistinct(rapid.SampledFrom(optionIDs(r.Options)), rapid.ID).Draw(t, "options")
		items := rapid.SliceOfDistinct(rapid.SampledFrom(itemIDs(r.Items)), rapid.ID).Draw(t, "items")
		text := hostileText().Filter(writable).Draw(t, "comment")
		submitted := rapid.Bool().Draw(t, "submitted")
		words := slices.Concat(options, items)
		if submitted {
			words = append(words, submitID)
		}
		form := check(mustForm(t, r, "ko"), words...)
		if text != "" {
			form = comment(form, text)
		}
		got, err := readFormAt("form.md", []byte(form), r)
		if err != nil {
			t.Fatalf("%v\n%s", err, form)
		}
		ticked := map[string]bool{}
		for _, word := range words {
			ticked[word] = true
		}
		want := formAnswer{RequestID: r.RequestID, Digest: view, Submitted: submitted}
		if submitted {
			want.Comment = trimBlank(normal([]byte("\n" + text)))
			want.Ticked, want.Items = among(optionIDs(r.Options), ticked), among(itemIDs(r.Items), ticked)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s\n%s", diff, form)
		}
	})
}

func TestABlockFormThatNobodySubmittedIsNeverAnAnswer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := levelAttacked(hostileText().Draw(t, "suggestion"))
		form := mustForm(t, r, "ko")
		for _, form := range []string{form, check(form, "raise", "s1"), comment(form, hostileText().Draw(t, "comment"))} {
			a := levelAsked(engine.Document{Path: present, Kind: "form", Body: []byte(form)})
			a.Request = r
			if v := judge(a); v.Answer != nil {
				t.Fatalf("%+v\n%s", v.Answer, form)
			}
		}
	})
}

func TestAHalfWrittenBlockFormIsNeverSubmitted(t *testing.T) {
	form := comment(levelForm(t, "raise", "s1", submitID), "Looks good")
	for i := range strings.LastIndex(form, submitID) + len(submitID) {
		if a, err := readFormAt("form.md", []byte(form[:i]), level("ko")); err == nil && a.Submitted {
			t.Fatalf("the first %d of %d bytes are submitted: %+v", i, len(form), a)
		}
	}
}

func FuzzBlock(f *testing.F) {
	form := levelForm(f)
	f.Add([]byte(`{}`), []byte(form))
	f.Add([]byte(levelResponse(`"response":"상향",`)), []byte(check(form, "raise", submitID)))
	f.Add([]byte(levelResponse(`"selected":["s1"],`)), []byte(comment(check(form, "s1", submitID), "Use UTF-8")))
	f.Add([]byte(levelResponse(``)), []byte(dropLines(check(form, "s1", "lower", submitID), "<!-- placet answer", "<!-- placet comment")))
	f.Add([]byte(levelResponse(`"comment":"x",`)), []byte(strings.Replace(check(form, submitID), "(선택):", "(선택): x", 1)))
	for _, text := range levelAttacks() {
		f.Add([]byte(`{`), []byte(comment(check(form, "s2", submitID), text)))
	}
	f.Fuzz(func(t *testing.T, json, markdown []byte) {
		a := levelAsked(file("form.md", string(markdown)), file("response.json", string(json)))
		v := judge(a)
		if v.Wait && v.Problem != "" {
			t.Fatal("waits and complains")
		}
		if v.Answer == nil {
			return
		}
		if !slices.Contains(optionIDs(a.Request.Options), v.Answer.Response) {
			t.Fatalf("%q was not offered", v.Answer.Response)
		}
		for _, id := range v.Answer.Selected {
			if !slices.Contains(itemIDs(a.Request.Items), id) {
				t.Fatalf("%q was not offered", id)
			}
		}
		over := Receipt{RequestID: a.Request.RequestID, Result: Accepted, Response: v.Answer.Response, Selected: v.Answer.Selected}
		if text := After(over, a); text != "" && v.Problem == "" {
			t.Fatalf("the answer differs from itself: %s", text)
		}
	})
}

// levelResponse returns a response.json to the level with some members.
func levelResponse(members string) string {
	return `{"request_id":"` + level("").RequestID + `",` + members + `"provided_by":{"user":"jm","source":"file"}}`
}
