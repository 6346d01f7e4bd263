package gate

import (
	"testing"

	"placet/engine"
)

func TestARequestThatThisMachineRecordedIsHeldToTheRecordAndTheState(t *testing.T) {
	body := []byte("{}")
	sum, other := engine.Sum(body), engine.Sum([]byte("other"))
	for _, c := range []struct {
		name    string
		doc     engine.Document
		state   engine.Digest
		altered bool
	}{
		{"nothing recorded", engine.Document{Path: "r", Body: body, Sum: sum}, sum, false},
		{"nothing recorded, the state says another", engine.Document{Path: "r", Body: body, Sum: sum}, other, true},
		{"recorded", engine.Document{Path: "r", Body: body, Sum: sum, Issued: []engine.Digest{other, sum}}, sum, false},
		{"another recorded, though the state says this one", engine.Document{Path: "r", Body: body, Sum: sum, Issued: []engine.Digest{other}}, sum, true},
		{"recorded, the state says another", engine.Document{Path: "r", Body: body, Sum: sum, Issued: []engine.Digest{sum}}, other, true},
		{"gone", engine.Document{Path: "r", Err: engine.ErrAbsent, Issued: []engine.Digest{other}}, sum, false},
	} {
		f := Folder{Doc: c.doc}
		if why := f.Altered(c.state); (why != nil) != c.altered {
			t.Errorf("%s: %q", c.name, why)
		}
	}
}

// A form shows what request.json says; members that are not written there come from the
// state.
func TestARequestIsShownAsItsRequestJSONSaysIt(t *testing.T) {
	written := level("ko")
	written.MayAnswer = []string{"alice"}
	body, err := written.Encode()
	if err != nil {
		t.Fatal(err)
	}
	now := level("ko")
	now.Options[0].Description = "another"
	if got, want := mustForm(t, now.Shown(body), "ko"), mustForm(t, written, "ko"); got != want {
		t.Errorf("the form is\n%s\nwant\n%s", got, want)
	}
	if got := now.Shown([]byte("{")); got.Options[0].Description != "another" {
		t.Errorf("of a request.json that cannot be read: %+v", got)
	}
}
