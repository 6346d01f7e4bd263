package nemawashi

import (
	"fmt"
	"strings"
	"testing"

	"placet/schemas"
)

func TestAddresses(t *testing.T) {
	for _, good := range []string{
		"a@b", "first.last+tag@mail.acme.example", "o'neil@acme.example", "{x}@acme.example", "山田@例え.jp", "pm@bücher.example",
		"pm@xn--bcher-kva.example", "почта@пример.рф", strings.Repeat("a", 241) + "@acme.example",
	} {
		if err := checkAddresses("to", []string{good}); err != nil {
			t.Errorf("%q is refused: %v", good, err)
		}
	}
	for bad, want := range map[string]string{
		"":                                         "not bare",
		"acme.example":                             "not bare",
		"@acme.example":                            "not bare",
		"Boss <boss@acme.example>":                 "not bare",
		"<boss@acme.example>":                      "not bare",
		"boss(chief)@acme.example":                 "not bare",
		"team:boss@acme.example;":                  "not bare",
		`"evil@evil.example"@acme.example`:         "not bare",
		`"boss"@acme.example`:                      "not bare",
		"a..b@acme.example":                        "not bare",
		".a@acme.example":                          "not bare",
		"a b@acme.example":                         "not bare",
		"a\u3000b@acme.example":                    "not bare",
		" a@acme.example":                          "not bare",
		"a＠acme.example":                           "not bare",
		"a@b@acme.example":                         "cannot be looked up",
		"a@＠acme.example":                          "cannot be looked up",
		"a@acme.example ":                          "cannot be looked up",
		"a@":                                       "cannot be looked up",
		"a@acme..example":                          "cannot be looked up",
		"a@.acme.example":                          "cannot be looked up",
		"a@acme.example.":                          "cannot be looked up",
		"a@acme.example。":                          "cannot be looked up",
		"a@acme_corp.example":                      "cannot be looked up",
		"a@[127.0.0.1]":                            "cannot be looked up",
		"a@xn--a.example":                          "cannot be looked up",
		"a@" + strings.Repeat("b", 64) + ".c":      "cannot be looked up",
		"a\u202eb@acme.example":                    "`a\\u{202e}b@acme.example` holds characters that cannot be seen",
		"a@ac\u00adme.example":                     `\u{ad}`,
		"a@ac\u200bme.example":                     `\u{200b}`,
		"a\u3164@acme.example":                     `\u{3164}`,
		"a\ufe0f@acme.example":                     "cannot be seen",
		"a\r@acme.example":                         "cannot be seen",
		"a\n@acme.example":                         "cannot be seen",
		"pаul@acme.example":                        "mixes letters of Cyrillic and Latin",
		"paul@аcme.example":                        "mixes letters of Cyrillic and Latin",
		"paul@xn--cme-5cd.example":                 "mixes letters of Cyrillic and Latin",
		strings.Repeat("a", 242) + "@acme.example": "longer than 254 bytes",
	} {
		err := checkAddresses("to", []string{"first@acme.example", bad})
		if err == nil || !strings.HasPrefix(err.Error(), "to/1: ") || !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\u202e\u200b\r\n") {
			t.Errorf("%+q gives the error %v, want %q", bad, err, want)
		}
	}
	for n, want := range map[int]string{0: "there are 0", 1: "", 20: "", 21: "to: there are 21 addresses: expected 1 to 20"} {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf("user%d@acme.example", i))
		}
		checkError(t, checkAddresses("to", list), want)
	}
}

func TestLooksAlike(t *testing.T) {
	for _, test := range []struct{ to, from, err string }{
		{"pm@acme.example, prn@acme.example", "", "/payload: to/1 looks like to/0 and is another address"},
		{"pm@acme.example,x@acme.example,pm@acrne.example", "", "to/2 looks like to/0 and is another address"},
		{"paul@acme.example,pauI@acme.example", "", "to/1 looks like to/0"},
		{"pm@acme.example", "prn@acme.example", "/payload: from looks like to/0 and is another address"},
		{"раcе@acme.example", "", "mixes letters"},
		{"pm@acme.example,РМ@асмЕ.example", "", "mixes letters"},
		{"aca@acme.example,аса@acme.example", "", "to/1 looks like to/0"},
		{"ACA@acme.example,аса@acme.example", "", "to/1 looks like to/0"},
		{"b0ss@acme.example", "", "/payload: to/0 looks like mail.default_to and is another address"},
		{"clerk@acrne.example", "", "/payload: to/0 looks like mail.default_from and is another address"},
		{"pm@acme.example,PM@ACME.example,pm@acme.example", "", ""},
		{"john-doe@acme.example,john_doe@acme.example,john.doe@acme.example", "", ""},
		{"a@acme.example,b@acme.example", "", ""},
	} {
		t.Run(test.to, func(t *testing.T) {
			c := DefaultConfig()
			c.Mail.DefaultTo, c.Mail.DefaultFrom = "chief@acme.example, bOss@acme.example", "clerk@acme.example"
			payload := schemas.Object{{Name: "to", Value: test.to}}
			if test.from != "" {
				payload = append(payload, schemas.Member{Name: "from", Value: test.from})
			}
			_, err := Resolve(mailDraft, encode(t, payload), "x", c, askedAt)
			checkError(t, err, test.err)
		})
	}
}

func TestShownAddress(t *testing.T) {
	for address, want := range map[string]string{
		"pm@acme.example":          "pm@acme.example",
		"PM@ACME.example":          "PM@ACME.example",
		"pm@bücher.example":        "pm@bücher.example (pm@xn--bcher-kva.example)",
		"pm@xn--bcher-kva.example": "pm@xn--bcher-kva.example",
		"pm@ａｃｍｅ.example":          "pm@ａｃｍｅ.example (pm@acme.example)",
		"pm@evil。example":          "pm@evil。example (pm@evil.example)",
	} {
		if got := ShownAddress(address); got != want {
			t.Errorf("ShownAddress(%q) is %q, want %q", address, got, want)
		}
	}
}
