package jsonedit_test

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"placet/engine/jsonedit"
)

// blanks draws white space of every kind, or of one line alone.
func blanks(t *rapid.T, oneLine bool) func() string {
	kinds := []string{"", "", " ", "\t", "  "}
	if !oneLine {
		kinds = append(kinds, "\n", "\n  ", "\r\n\t", " \n\n ")
	}
	g := rapid.SampledFrom(kinds)
	return func() string { return g.Draw(t, "blank") }
}

// TestAnyEditGivesWhatTheModelGives edits documents of any layout, and
// compares the order, the names and the spelling of every value.
func TestAnyEditGivesWhatTheModelGives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		root := objects(3).Draw(t, "document")
		oneLine := rapid.Bool().Draw(t, "one line")
		body := []byte(root.layOut(blanks(t, oneLine)) + "\n")
		for range rapid.IntRange(1, 4).Draw(t, "edits") {
			e, value := edits(t, root)
			root.apply(e, value)
			got, err := jsonedit.Apply(body, e)
			if err != nil {
				t.Fatalf("%s\n%v: %v", body, e, err)
			}
			if compactedText(got) != root.compact() {
				t.Fatalf("%s\n%v\n got %s\nwant %s", body, e, got, root.compact())
			}
			checkOneSpan(t, body, got, e)
			if oneLine && bytes.Count(got, []byte("\n")) != 1 {
				t.Fatalf("%s\n%v gives line breaks:\n%s", body, e, got)
			}
			checkAgain(t, got, e)
			body = got
		}
	})
}

// checkOneSpan checks that the edit changed only one range of bytes, and no other
// member than its own; besides, only white space and one comma were removed.
func checkOneSpan(t *rapid.T, before, after []byte, e jsonedit.Edit) {
	from := 0
	for from < len(before) && from < len(after) && before[from] == after[from] {
		from++
	}
	end := 0
	for end < len(before)-from && end < len(after)-from && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	gone := before[from : len(before)-end]
	switch e.Op {
	case jsonedit.Append:
		if len(bytes.TrimSpace(gone)) > 0 {
			t.Fatalf("%s\n%v took %q away", before, e, gone)
		}
	case jsonedit.Remove:
		if added := after[from : len(after)-end]; len(added) > 0 {
			t.Fatalf("%s\n%v put %q in", before, e, added)
		}
	}
}

// checkAgain checks that a value that is set already, or removed already,
// keeps its bytes.
func checkAgain(t *rapid.T, body []byte, e jsonedit.Edit) {
	if e.Op == jsonedit.Append || e.Op == jsonedit.Remove && strings.ContainsAny(e.Pointer, "0123456789") {
		return // another element moves up to the same place
	}
	again, err := jsonedit.Apply(body, e)
	if err != nil || !bytes.Equal(again, body) {
		t.Fatalf("%s\n%v again: %v\n%s", body, e, err, again)
	}
}

// TestEditingAndLayingOutCommute checks the law of layout: if a program writes
// a whole document in one layout, the edits add text in the same layout.
func TestEditingAndLayingOutCommute(t *testing.T) {
	for name, layout := range layouts {
		if name == "as the page has it" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				root := objects(3).Draw(t, "document")
				// A document must show its layout, and keep showing it.
				root.names = append([]string{"first", "second"}, root.names...)
				root.children = append([]*node{{text: `"x"`}, {text: `1`}}, root.children...)
				body := layout([]byte(root.compact()))
				var all []jsonedit.Edit
				for range rapid.IntRange(1, 4).Draw(t, "edits") {
					e, value := edits(t, root)
					root.apply(e, value)
					all = append(all, e)
				}
				got, err := jsonedit.Apply(body, all...)
				if err != nil {
					t.Fatalf("%s\n%v: %v", body, all, err)
				}
				if want := layout([]byte(root.compact())); !bytes.Equal(got, want) {
					t.Fatalf("%s\n%v\n got %s\nwant %s", body, all, got, want)
				}
			})
		})
	}
}

// TestTogetherIsOneAfterTheOther compares one call with many.
func TestTogetherIsOneAfterTheOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		root := objects(2).Draw(t, "document")
		body := []byte(root.layOut(blanks(t, false)))
		single := body
		var all []jsonedit.Edit
		for range rapid.IntRange(2, 5).Draw(t, "edits") {
			e, value := edits(t, root)
			root.apply(e, value)
			all = append(all, e)
			next, err := jsonedit.Apply(single, e)
			if err != nil {
				t.Fatal(err)
			}
			single = next
		}
		together, err := jsonedit.Apply(body, all...)
		if err != nil || !bytes.Equal(together, single) {
			t.Fatalf("%v\n%s\n%s", err, together, single)
		}
	})
}
