package gate

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/schemas"
)

// review returns the request that most tests ask.
func review() Request {
	return Request{
		SchemaVersion: 1, RequestID: "fr-20251206-a1b2c3", Family: "faber",
		Run: "fractary/claude-plugins/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34", Type: "review",
		Prompt: "Please review the design and approve to proceed.",
		Options: []Option{
			{ID: "approve", Description: "Continue to Build phase"},
			{ID: "request_changes", Description: "Provide feedback for revision"},
			{ID: "reject", Description: "Cancel this workflow run"},
		},
		CommentRequired: []string{"request_changes"},
		Items:           []Item{},
		Context:         schemas.Raw(`{"summary":"3-layer architecture"}`),
		Artifacts:       []Artifact{{Path: "specs/WORK-00258-design.md", SHA256: strings.Repeat("a", 64), Binding: true}},
		RequestedAt:     "2025-12-06T18:00:00Z",
		MayAnswer:       []string{},
		Revision:        1,
	}
}

const reviewJSON = `{
  "schema_version": 1,
  "request_id": "fr-20251206-a1b2c3",
  "family": "faber",
  "run": "fractary/claude-plugins/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34",
  "type": "review",
  "prompt": "Please review the design and approve to proceed.",
  "options": [
    {
      "id": "approve",
      "description": "Continue to Build phase"
    },
    {
      "id": "request_changes",
      "description": "Provide feedback for revision"
    },
    {
      "id": "reject",
      "description": "Cancel this workflow run"
    }
  ],
  "comment_required": [
    "request_changes"
  ],
  "items": [],
  "context": {
    "summary": "3-layer architecture"
  },
  "artifacts": [
    {
      "path": "specs/WORK-00258-design.md",
      "sha256": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
      "binding": true
    }
  ],
  "requested_at": "2025-12-06T18:00:00Z",
  "deadline": null,
  "default": null,
  "may_answer": [],
  "revision": 1
}
`

func TestARequestIsWrittenInTheOrderOfItsFormat(t *testing.T) {
	body, err := review().Encode()
	if err != nil || string(body) != reviewJSON {
		t.Errorf("%v\n%s", err, cmp.Diff(reviewJSON, string(body)))
	}
}

func TestAnEmptyRequestHasEveryMember(t *testing.T) {
	body, err := Request{RequestID: "r1", Family: "pal", Run: "x", Type: "escalation"}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"schema_version": 1`, `"options": []`, `"comment_required": []`, `"items": []`, `"context": {}`,
		`"artifacts": []`, `"deadline": null`, `"default": null`, `"may_answer": []`, `"revision": 0`,
	} {
		if !strings.Contains(string(body), want) {
			t.Errorf("request.json lacks %s:\n%s", want, body)
		}
	}
	if err := schemas.Decode("kernel/request", "request.json", body, nil); err != nil {
		t.Error(err)
	}
}

func TestARequestReadAndWrittenAgainKeepsEveryByte(t *testing.T) {
	r := review()
	r.Deadline, r.Default = "2025-12-09T18:00:00Z", "reject"
	r.Items = []Item{{ID: "s1", Label: "first"}}
	r.MayAnswer = []string{"owner:alice"}
	r.Artifacts = append(r.Artifacts, Artifact{Path: "gone.md"})
	r.Context = schemas.Raw(`{"b":1.0,"a":12345678901234567890,"text":"\u00e9"}`)
	r.Extra = schemas.Object{
		{Name: "run_id", Value: r.Run},
		{Name: "resume_point", Value: schemas.Raw(`{"phase":"architect","step":"x","step_index":12345678901234567890}`)},
		{Name: "gate", Value: nil},
		{Name: "opened_by", Value: "state.json"},
	}
	first, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := ReadRequest("request.json", first)
	if err != nil {
		t.Fatal(err)
	}
	second, err := read.Encode()
	if err != nil || string(second) != string(first) {
		t.Errorf("%v\n%s", err, cmp.Diff(string(first), string(second)))
	}
	var names []string
	for _, m := range read.Extra {
		names = append(names, m.Name)
	}
	if diff := cmp.Diff([]string{"run_id", "resume_point", "gate", "opened_by"}, names); diff != "" {
		t.Error(diff)
	}
	read.Extra, r.Extra, read.Context, r.Context = nil, nil, nil, nil
	if diff := cmp.Diff(r, read); diff != "" {
		t.Error(diff)
	}
}

func TestAResponseReadAndWrittenAgainKeepsItsMembers(t *testing.T) {
	want := Response{
		RequestID: "r1", Response: "approve", Selected: []string{"s1"}, Comment: "Looks <good> & 良い",
		ProvidedBy: By{User: "jm", Source: "cli"}, Digest: engine.Sum(nil), Signature: "sig",
		Extra: schemas.Object{{Name: "attempts", Value: schemas.Raw("4")}},
	}
	body, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadResponse("response.json", body)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAResponseLeavesOutWhatIsEmpty(t *testing.T) {
	body, err := Response{RequestID: "r1", Response: "approve", ProvidedBy: By{User: "jm", Source: "cli"}}.Encode()
	want := "{\n  \"request_id\": \"r1\",\n  \"response\": \"approve\",\n  \"provided_by\": {\n    \"user\": \"jm\",\n    \"source\": \"cli\"\n  }\n}\n"
	if err != nil || string(body) != want {
		t.Errorf("%v\n%s", err, body)
	}
}

const receiptJSON = `{
  "schema_version": 1,
  "request_id": "r1",
  "result": "accepted",
  "response": "approve",
  "selected": [],
  "comment": "Looks good",
  "late": true,
  "provided_by": {
    "user": "jm",
    "source": "cli"
  },
  "known_as": [
    "owner:jm",
    "claimed:jm"
  ],
  "answer": {
    "path": "requests/r1/response.json",
    "sha256": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
  },
  "digest": "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "received_at": "2025-12-06T18:15:00Z",
  "decided_at": "2025-12-06T18:15:01Z",
  "reason": "approve by jm (cli)",
  "revision": 2
}
`

func accepted() Receipt {
	return Receipt{
		SchemaVersion: 1, RequestID: "r1", Result: Accepted, Response: "approve", Selected: []string{}, Comment: "Looks good", Late: true,
		ProvidedBy: By{User: "jm", Source: "cli"}, KnownAs: []string{"owner:jm", "claimed:jm"},
		Answer: &Answered{Path: "requests/r1/response.json", SHA256: strings.Repeat("a", 64)},
		Digest: engine.Sum(nil), ReceivedAt: "2025-12-06T18:15:00Z", DecidedAt: "2025-12-06T18:15:01Z",
		Reason: "approve by jm (cli)", Revision: 2,
	}
}

func TestAReceiptIsWrittenInTheOrderOfItsFormatAndReadBack(t *testing.T) {
	body, err := accepted().Encode()
	if err != nil || string(body) != receiptJSON {
		t.Errorf("%v\n%s", err, cmp.Diff(receiptJSON, string(body)))
	}
	read, err := ReadReceipt("receipt.json", body)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(accepted(), read); diff != "" {
		t.Error(diff)
	}
}

func TestAReceiptWithoutAnAnswer(t *testing.T) {
	want := Receipt{SchemaVersion: 1, RequestID: "r1", Result: Superseded, SupersededBy: "r2", Selected: []string{}, KnownAs: []string{}, DecidedAt: "2025-12-06T18:15:01Z"}
	body, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"answer": null`, `"superseded_by": "r2"`, `"selected": []`, `"known_as": []`} {
		if !strings.Contains(string(body), part) {
			t.Errorf("receipt.json lacks %s:\n%s", part, body)
		}
	}
	read, err := ReadReceipt("receipt.json", body)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, read); diff != "" {
		t.Error(diff)
	}
}

func TestDocumentsThatCannotBeRead(t *testing.T) {
	readers := map[string]func([]byte) error{
		"request.json":  func(b []byte) error { _, err := ReadRequest("request.json", b); return err },
		"response.json": func(b []byte) error { _, err := ReadResponse("response.json", b); return err },
		"receipt.json":  func(b []byte) error { _, err := ReadReceipt("receipt.json", b); return err },
	}
	for name, read := range readers {
		for _, body := range []string{"", "{", "[]", "{}", `{"request_id":"r1"}`, `{"request_id":"a","REQUEST_ID":"b"}`, "\x00\x00", "<<<<<<< HEAD\n"} {
			err := read([]byte(body))
			var e *schemas.Error
			if !errors.As(err, &e) || e.Path != name {
				t.Errorf("%s with %q: %v", name, body, err)
			}
		}
	}
}
