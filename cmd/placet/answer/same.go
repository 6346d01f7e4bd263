package answer

import (
	"slices"
	"strings"

	"placet/cmd/placet/view"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/schemas"
)

// sameAnswer reports whether an answer repeats a usable one: it makes the same choice, and has
// no words or keys that would be lost if the other passed for it.
func sameAnswer(t view.Request, given, again gate.Response) bool {
	return sameChoice(t, given, again) && sameWords(t.FreeText, given, again)
}

// sameChoice reports whether two usable answers make the same choice, or give the same text,
// and change files alike.
func sameChoice(t view.Request, given, again gate.Response) bool {
	if !slices.Equal(given.Edits, again.Edits) {
		return false
	}
	if t.FreeText {
		return strings.TrimSpace(given.Response) == strings.TrimSpace(again.Response)
	}
	sorted := func(s []string) []string { return slices.Sorted(slices.Values(s)) }
	return slices.Equal(view.ChosenIn(t, given), view.ChosenIn(t, again)) && string(given.Extra.Raw("attempts")) == string(again.Extra.Raw("attempts")) &&
		(len(t.Several) > 0 || slices.Equal(sorted(given.Selected), sorted(again.Selected)))
}

// sameWords reports whether all words of an answer are in the one given before. Words that come
// under an idempotency key belong to that key alone.
func sameWords(freeText bool, given, again gate.Response) bool {
	comment := strings.TrimSpace(again.Comment)
	if comment != "" && comment != strings.TrimSpace(given.Comment) {
		return false
	}
	keys := run.KeysOf(again.Extra)
	return len(keys) == 0 || comment == "" && !freeText || slices.ContainsFunc(run.KeysOf(given.Extra), func(k string) bool { return slices.Contains(keys, k) })
}

// Says reports whether one of some words is the option or text that was accepted.
func Says(c view.Closed, words []string) bool {
	given := []gate.Option{{ID: c.Receipt.Response}}
	return slices.ContainsFunc(words, func(word string) bool { _, same := gate.Match(given, word); return same })
}

// saysWords reports whether a reply has only words that were accepted, and changes files as the
// answer did.
func saysWords(c view.Closed, r Reply) bool {
	again := gate.Response{Comment: r.Comment, Extra: schemas.Object{{Name: run.KeysMember, Value: r.Keys}}}
	return slices.Equal(c.Receipt.Edits, r.Edits) && sameWords(false, gate.Response{Comment: c.Receipt.Comment, Extra: c.Receipt.Extra}, again)
}

// SaysAll reports whether a reply repeats the accepted answer: its option alone or, if the
// reply names more, the option and what was selected, in any order. Its words must be those
// that were accepted, too.
func SaysAll(c view.Closed, r Reply) bool {
	if !saysWords(c, r) {
		return false
	}
	words := slices.Concat(r.More, r.Selected)
	if len(words) == 0 {
		return Says(c, []string{r.Option})
	}
	if r.Option != "" {
		words = append(words, r.Option)
	}
	var taken []gate.Option
	for _, id := range append([]string{c.Receipt.Response}, c.Receipt.Selected...) {
		if _, there := gate.Match(taken, id); !there {
			taken = append(taken, gate.Option{ID: id})
		}
	}
	given := map[string]bool{}
	for _, word := range words {
		id, ok := gate.Match(taken, word)
		if !ok {
			return false
		}
		given[id] = true
	}
	return len(given) == len(taken)
}

// Took reports whether a reply is the answer that was accepted.
func Took(c view.Closed, r Reply) bool { return c.Receipt.Result == gate.Accepted && SaysAll(c, r) }
