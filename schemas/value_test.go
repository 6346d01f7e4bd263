package schemas

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAValueOfADocumentIsStoredAsTheDocumentWouldBe(t *testing.T) {
	var list []struct {
		Name string `json:"name"`
		Size Raw    `json:"size"`
	}
	if err := DecodeValue(Raw(`[{"name":"a","Name":"b","size":1.0}]`), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || list[0].Name != "a" || string(list[0].Size) != "1.0" {
		t.Errorf("list = %+v", list)
	}
	if err := DecodeValue(Raw(`"text"`), &list); err == nil {
		t.Error("text was taken for a list")
	}
}

func TestEqualLooksAtWhatIsSaid(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":[true]}`, "{ \"b\" : [ true ],\n\"a\":1 }", true},
		{`"\u00e9"`, `"é"`, true},
		{``, `{}`, true},
		{`null`, `{}`, true},
		{`1.0`, `1`, false},
		{`[1,2]`, `[2,1]`, false},
		{`{"a":1}`, `{"A":1}`, false},
		{`"1"`, `1`, false},
	} {
		if got := Equal(Raw(tt.a), Raw(tt.b)); got != tt.want {
			t.Errorf("Equal(%s, %s) = %v", tt.a, tt.b, got)
		}
	}
	if diff := cmp.Diff(map[string]any{}, plainValue(Raw(`{"torn":`))); diff != "" {
		t.Errorf("a torn value (-want +got):\n%s", diff)
	}
}
