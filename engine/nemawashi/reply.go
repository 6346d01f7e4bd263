package nemawashi

import (
	"strings"

	"placet/internal/lazyregexp"
	"placet/templates"
)

// Reply is the meaning of a text that somebody wrote in the thread of an approval.
type Reply struct {
	// Steers is true if the text asks for changes. Plan is the plan that it names, or "".
	Steers bool
	Plan   string
	// Note is the key of placet's reply to a text that does nothing.
	Note templates.Key
}

// Replies to texts that do nothing. Words never decide.
const (
	noteWhichPlan templates.Key = "nemawashi.reply.plan"
	notePress     templates.Key = "nemawashi.reply.press"
	noteWhat      templates.Key = "nemawashi.reply.what"
)

// keywords are words that show what a reply is about.
var keywords = []string{"mail", "email", "メール", "カレンダー", "calendar", "meeting", "会議", "稟議"}

// deciding are words that express a decision.
var deciding = []string{"承認", "却下", "approve", "reject"}

// plans match a letter that names a plan.
var plans = []*lazyregexp.Regexp{
	lazyregexp.New(`(?:^|[^0-9a-z])plan[ _:\-]*([abc])(?:$|[^0-9a-z])`),
	lazyregexp.New(`プラン[ _:\-]*([abc])(?:$|[^0-9a-z])`),
	lazyregexp.New(`(?:^|[^0-9a-z])([abc]) *(?:案|プラン)`),
}

// article matches a word after "plan a", in which the letter may be the article of that word.
var article = lazyregexp.New(`^ [A-Za-z]`)

// ReadReply returns the meaning of a text, as section 13 of the format page says.
func ReadReply(text string) Reply {
	letters, unsure := planLetters(text)
	folded := fold(text)
	switch {
	case len(letters) > 1 || unsure && len(letters) == 1:
		return Reply{Note: noteWhichPlan}
	case len(letters) == 1:
		return Reply{Steers: true, Plan: letters[0]}
	case containsAny(folded, keywords):
		return Reply{Steers: true}
	case containsAny(folded, deciding):
		return Reply{Note: notePress}
	}
	return Reply{Note: noteWhat}
}

// planLetters returns the plans that a text names, each once. unsure is true if it may name one
// more that may be an article.
func planLetters(text string) (letters []string, unsure bool) {
	wide := widths(text)
	folded := strings.ToLower(wide)
	if len(folded) != len(wide) {
		wide = folded // lengths differ, so the original case cannot be told
	}
	found := map[string]bool{}
	for i, pattern := range plans {
		for from := 0; from <= len(folded); {
			m := pattern.FindStringSubmatchIndex(folded[from:])
			if m == nil {
				break
			}
			at, end := from+m[2], from+m[3]
			from = end
			if i == 0 && wide[at] == 'a' && folded[at-1] == ' ' && article.MatchString(wide[end:]) {
				unsure = true
				continue
			}
			found[strings.ToUpper(folded[at:end])] = true
		}
	}
	for _, letter := range []string{"A", "B", "C"} {
		if found[letter] {
			letters = append(letters, letter)
		}
	}
	return letters, unsure
}

// widths replaces the wide forms of ASCII characters by the characters.
func widths(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '\uff01' && r <= '\uff5e':
			return r - 0xfee0
		case r == '\u3000':
			return ' '
		}
		return r
	}, text)
}

func fold(text string) string { return strings.ToLower(widths(text)) }

func containsAny(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
