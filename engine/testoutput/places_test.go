package testoutput

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestPlacesAreWhereTheOutputSaysThem(t *testing.T) {
	for line, want := range map[string][]Place{
		"coupon_test.go:12: got 3, want 4":                      {{"coupon_test.go", 12}},
		`  File "tests/test_c.py", line 7, in test_second`:      {{"tests/test_c.py", 7}},
		"src/coupon.ts(31,5): error TS2345: wrong":              {{"src/coupon.ts", 31}},
		"    at apply (./src/coupon.js:4:11)":                   {{"src/coupon.js", 4}},
		"[ERROR] /w/src/Coupon.java:[10,8] cannot find symbol":  {{"/w/src/Coupon.java", 10}},
		"see https://example.com/a.js:10 and a.js:0":            nil,
		"panicked at src/lib.rs:3:5, then src/lib.rs:3:5 again": {{"src/lib.rs", 3}},
		"no place in coupon.go":                                 nil,
	} {
		if got := Places(line); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
	if got := Places(strings.Repeat("a.go:1 ", 3) + fmt.Sprintln(manyPlaces())); len(got) != maxPlaces {
		t.Errorf("%d places, want %d", len(got), maxPlaces)
	}
}

// manyPlaces are more places than are kept.
func manyPlaces() (list []string) {
	for i := range 2 * maxPlaces {
		list = append(list, fmt.Sprintf("b.go:%d", i+1))
	}
	return list
}
