package schemas

import (
	stdjson "encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMembersKeepOrderAndBytes(t *testing.T) {
	body := []byte(" { \"b\" : 1.0 ,\n \"a\":[ 1, 2 ], \"\\u0063\" : \"\\u00e9\", \"o\":{\"z\":1,\"y\":2} } \n")
	got, err := Members(body)
	if err != nil {
		t.Fatal(err)
	}
	want := Object{{"b", Raw("1.0")}, {"a", Raw("[ 1, 2 ]")}, {"c", Raw(`"\u00e9"`)}, {"o", Raw(`{"z":1,"y":2}`)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
	if empty, err := Members([]byte("{}")); err != nil || empty == nil || len(empty) != 0 {
		t.Errorf("members of {}: %v, %v", empty, err)
	}
}

func TestElementsKeepTheirBytes(t *testing.T) {
	got, err := Elements([]byte(` [ 1.0 , {"a": [ ]}, "x" ] `))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Raw{Raw("1.0"), Raw(`{"a": [ ]}`), Raw(`"x"`)}, got); diff != "" {
		t.Errorf("elements (-want +got):\n%s", diff)
	}
}

func TestMembersAndElementsRefuseWhatHasNone(t *testing.T) {
	for _, body := range []string{"", "[]", "null", `"x"`, "{", `{"a":1,"a":2}`, `{"a":}`, `{"a":1,}`, "\x00"} {
		if got, err := Members([]byte(body)); err == nil {
			t.Errorf("Members(%q) = %v", body, got)
		}
	}
	for _, body := range []string{"", "{}", "null", "[", "[1,]", "[1}", `["a`} {
		if got, err := Elements([]byte(body)); err == nil {
			t.Errorf("Elements(%q) = %v", body, got)
		}
	}
}

func TestWhatIsTakenFromABodyCannotGrowIntoIt(t *testing.T) {
	body := []byte(`{"a":[1],"b":2}`)
	members, err := Members(body)
	if err != nil {
		t.Fatal(err)
	}
	_ = append(members.Raw("a"), "XXXX"...)
	if string(body) != `{"a":[1],"b":2}` {
		t.Errorf("body became %s", body)
	}
}

func TestObjectGivesMembersByName(t *testing.T) {
	o := Object{{"a", Raw(`"x"`)}, {"b", 2}, {"c", Raw("null")}, {"d", nil}}
	if string(o.Raw("a")) != `"x"` || o.Raw("b") != nil || o.Raw("none") != nil || o.Get("b") != 2 || o.Get("none") != nil {
		t.Errorf("members: %v %v %v", o.Raw("a"), o.Get("b"), o.Get("none"))
	}
	if diff := cmp.Diff(Object{{"b", 2}, {"d", nil}}, o.Without("a", "c", "none")); diff != "" {
		t.Errorf("without a and c (-want +got):\n%s", diff)
	}
}

func TestRawKnowsItsKind(t *testing.T) {
	for text, want := range map[string]byte{
		"": 0, "null": 'n', "true": 't', "false": 'f', "-1": '0', `"x"`: '"', " {}": '{', "[1]": '[', "nonsense": 'n', "?": 0,
	} {
		if got := Raw(text).Kind(); got != want {
			t.Errorf("Raw(%q).Kind() = %q, want %q", text, got, want)
		}
	}
	if !Raw(nil).Null() || !Raw("null").Null() || Raw(`"null"`).Null() {
		t.Error("Null takes another value for null, or null for another value")
	}
	for text, want := range map[string]string{`"a\u00e9\n"`: "aé\n", ` "x" `: "x"} {
		if got, ok := Raw(text).Text(); !ok || got != want {
			t.Errorf("Raw(%s).Text() = %q, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "1", `{"a":"b"}`, `"a`, `"\ud800"`} {
		if got, ok := Raw(text).Text(); ok {
			t.Errorf("Raw(%s).Text() = %q", text, got)
		}
	}
}

func TestObjectAndRawAreFieldsOfAStruct(t *testing.T) {
	type document struct {
		Context Raw    `json:"context"`
		Gate    Object `json:"gate"`
		None    Object `json:"none"`
	}
	body := []byte(`{"context": {"b":1.0, "a":"\u00e9"}, "gate": {"z": [1,2], "a": null}, "none": null}`)
	var d document
	if err := Decode("", "d.json", body, &d); err != nil {
		t.Fatal(err)
	}
	clear(body) // neither may depend on the caller's memory
	want := document{Context: Raw(`{"b":1.0, "a":"\u00e9"}`), Gate: Object{{"z", Raw("[1,2]")}, {"a", Raw("null")}}}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	if err := Decode("", "d.json", []byte(`{"gate":3}`), &d); err == nil {
		t.Error("a number was taken for an object")
	}
}

func TestEncodingJSONSeesTheSameObject(t *testing.T) {
	o := Object{{"b", 1}, {"a", Object{{"z", Raw("1.0")}, {"y", Raw(nil)}}}}
	got, err := stdjson.Marshal(o)
	if err != nil || string(got) != `{"b":1,"a":{"z":1.0,"y":null}}` {
		t.Errorf("%s, %v", got, err)
	}
	var back Object
	if err := stdjson.Unmarshal(got, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Object{{"b", Raw("1")}, {"a", Raw(`{"z":1.0,"y":null}`)}}, back); diff != "" {
		t.Errorf("back (-want +got):\n%s", diff)
	}
}
