package templates

import "testing"

func TestWordsThatNobodyReads(t *testing.T) {
	for text, hides := range map[string]bool{
		"fine, thank you":              false,
		"می\u200cخواهم":                false,
		"क्\u200dष":                    false,
		"ភាសា\u200bខ្មែរ":              false,
		"👩\u200d💻 ❤️\u200d🔥 🏳️\u200d🌈": false,
		"🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f": false,
		"漢\U000e0100 1\ufe0f\u20e3":                                     false,
		"ok\u200b":                                                      true,
		"o\u200dk":                                                      true,
		"\u202eok":                                                      true,
		"ok\u00ad":                                                      true,
		"\u2060":                                                        true,
		"🏴\U000e0064\U000e0072\U000e006f\U000e0070\U000e007f": true,
		"می\u200c\u200dخواهم":                                 true,
		"ok\ufe0f":                                            true,
		"\x07":                                                true,
		"\u3164":                                              true,
	} {
		if HidesWords(text) != hides {
			t.Errorf("%+q: %v", text, !hides)
		}
		if revealed := Reveal(text); HidesWords(revealed) || (revealed == text) == hides {
			t.Errorf("%+q becomes %+q", text, revealed)
		}
	}
}
