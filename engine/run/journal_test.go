package run_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"placet/engine"
	"placet/engine/run"
	"placet/schemas"
)

// stateOf returns a state document of a revision.
func stateOf(revision int, words string) engine.Document {
	body := fmt.Appendf(nil, "{\n  \"revision\": %d,\n  \"words\": %q\n}\n", revision, words)
	return engine.Document{Path: dir + "/state.json", Kind: engine.KindState, Body: body, Sum: engine.Sum(body), Changed: present}
}

// lineOf returns the journal line of a revision. If sum is "", it is the line of a placet
// that did not write digests.
func lineOf(seq int, sum engine.Digest) string {
	if sum == "" {
		return fmt.Sprintf(`{"seq":%d,"edge":"moved"}`+"\n", seq)
	}
	return fmt.Sprintf(`{"seq":%d,"edge":"moved","state":%q}`+"\n", seq, sum)
}

func journalOf(lines ...string) engine.Document {
	body := []byte(strings.Join(lines, ""))
	return engine.Document{Path: dir + "/events.jsonl", Body: body, Sum: engine.Sum(body)}
}

// recordOf returns the record of a state document and the journal beside it.
func recordOf(state engine.Document, journal engine.Document) run.Record {
	r := at(present, journal, state)
	return run.ReadState(r, state, "begin anew", true, func() (int, error, error) {
		var st struct {
			Revision int `json:"revision"`
		}
		err := schemas.Decode("", "state.json", state.Body, &st)
		return st.Revision, nil, err
	})
}

// A state counts if its journal, or what this machine remembers, accounts for it.
func TestWhichStatesAreAccountedFor(t *testing.T) {
	before, now, forged := stateOf(2, "before"), stateOf(3, "now"), stateOf(3, "forged")
	crlf := now
	crlf.Body = []byte(strings.ReplaceAll(string(now.Body), "\n", "\r\n"))
	crlf.Sum = engine.Sum(crlf.Body)
	issued := func(d engine.Document, sums ...engine.Digest) engine.Document {
		d.Issued = sums
		return d
	}
	for name, test := range map[string]struct {
		state   engine.Document
		journal engine.Document
		says    string // "": the run continues
	}{
		"the line has its digest":              {now, journalOf(lineOf(2, before.Sum), lineOf(3, now.Sum)), ""},
		"both were brought, unknown here":      {issued(now, before.Sum), journalOf(lineOf(3, now.Sum)), ""},
		"brought with other line ends":         {crlf, journalOf(lineOf(3, now.Sum)), ""},
		"the line has another digest":          {forged, journalOf(lineOf(3, now.Sum)), "somebody else changed it: in revision 3 it had the digest " + now.Sum.Hex()[:8]},
		"an own one put back over a later one": {issued(forged, forged.Sum, now.Sum), journalOf(lineOf(3, now.Sum)), "somebody else changed it"},
		"a digest that is none":                {now, journalOf(lineOf(3, "</pre>\u202e")), "it had the digest that cannot be read"},
		"a journal of the version before":      {now, journalOf(lineOf(2, ""), lineOf(3, "")), ""},
		"the digest was taken out":             {forged, journalOf(lineOf(2, before.Sum), lineOf(3, "")), "does not say which state it belongs to"},
		"a crash before the line":              {issued(now, before.Sum, now.Sum), journalOf(lineOf(2, before.Sum)), ""},
		"a crash, and other line ends":         {issued(crlf, now.Sum), journalOf(lineOf(2, before.Sum)), ""},
		"a crash before the first line":        {issued(stateOf(1, ""), stateOf(1, "").Sum), journalOf(), ""},
		"a crash where nothing is remembered":  {now, journalOf(lineOf(2, before.Sum)), ""},
		"a crash in the version before":        {now, journalOf(lineOf(2, "")), ""},
		"the next revision, made by others":    {issued(forged, before.Sum), journalOf(lineOf(2, before.Sum)), "this machine did not write it"},
		"the first one, made by others":        {issued(stateOf(1, ""), now.Sum), journalOf(), "this machine did not write it"},
		"a torn line is none":                  {issued(now, now.Sum), journalOf(lineOf(2, before.Sum), strings.TrimSpace(lineOf(3, now.Sum))), ""},
		"far ahead of its journal":             {issued(now, now.Sum), journalOf(lineOf(1, before.Sum)), "state.json is of revision 3, events.jsonl ends with 1"},
		"behind its journal":                   {issued(before, before.Sum), journalOf(lineOf(3, now.Sum)), "state.json is of revision 2, events.jsonl ends with 3"},
	} {
		got := recordOf(test.state, test.journal)
		if test.says == "" {
			if got.Problem != "" || got.Unaccounted != "" {
				t.Errorf("%s: the run stands still: %s", name, got.Problem)
			}
			continue
		}
		adopt := "placet doctor --fix toy/a@" + test.state.Sum.Hex()
		if !strings.Contains(got.Problem, test.says) || !strings.Contains(got.Problem, "begin anew") || !strings.Contains(got.Problem, adopt) || got.Unaccounted != test.state.Sum {
			t.Errorf("%s: it says %q, and may be adopted: %q", name, got.Problem, got.Unaccounted)
		}
		line, err := run.AdoptionLine(test.state, "kim", "it is right", present)
		if err != nil {
			t.Fatal(err)
		}
		adopted := journalOf(string(test.journal.Body), string(line))
		if got := recordOf(test.state, adopted); got.Problem != "" {
			t.Errorf("%s: adopted, it stands still: %s", name, got.Problem)
		}
		another := test.state
		another.Body = append([]byte(" "), another.Body...)
		another.Sum = engine.Sum(another.Body)
		if got := recordOf(another, adopted); got.Unaccounted == "" {
			t.Errorf("%s: adopting one state lets another go on", name)
		}
	}
}

// A document that cannot be read or is being written is not a question of accounting.
func TestAnUnusableStateIsNotAdopted(t *testing.T) {
	busy := engine.Document{Path: dir + "/events.jsonl", Err: engine.ErrUnsettled}
	if got := recordOf(stateOf(3, ""), busy); !got.Torn || got.Problem != "" || got.Unaccounted != "" {
		t.Errorf("beside a journal that is being written: %+v", got)
	}
	for name, journal := range map[string]engine.Document{
		"a journal that is no journal": journalOf("no\n"),
		"a journal of another kind":    journalOf(`{"seq":3,"state":5}` + "\n"),
	} {
		if got := recordOf(stateOf(3, ""), journal); got.Problem == "" || got.Unaccounted != "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestTheLineOfAnAdoption(t *testing.T) {
	state := stateOf(7, "")
	line, err := run.AdoptionLine(state, "kim", "merged by hand", present)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(line, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"seq": 7.0, "at": "2026-03-02T09:12:03Z", "edge": run.EventAdopted, "actor": "person:kim", "reason": "merged by hand", "state": string(state.Sum),
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, expected %v", got, want)
	}
	entries := run.Entries(journalOf(string(line)))
	if len(entries) != 1 || entries[0].Account("").Who != "person:kim" || entries[0].Account("").Number != 7 {
		t.Errorf("it is shown as %+v", entries)
	}
}
