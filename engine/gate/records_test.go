package gate

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"placet/engine"
	thrown "placet/internal/badinput"
	"placet/layout"
)

// FuzzRecords puts any content into a request's folder. A document that can be read is
// written again unchanged; an answer that counts was offered; and the text about the rest
// can be shown, and its size is limited.
func FuzzRecords(f *testing.F) {
	request, err := review().Encode()
	if err != nil {
		f.Fatal(err)
	}
	over := Receipt{RequestID: review().RequestID, Result: Accepted, Response: "reject", Digest: view, Selected: []string{"s1"}, Revision: 2, Answer: &Answered{Path: "requests/r/response.json", SHA256: strings.Repeat("0", 64)}}
	receipt, err := over.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(request, []byte(response("approve", "")), receipt)
	f.Add(request, []byte(response("Reject", `,"selected":["s1"]`)), []byte("{"))
	f.Add(bytes.Replace(request, []byte(`"approve"`), []byte(`"\u202eapprove\u0007"`), 1), []byte(response("lgtm", "")), bytes.Replace(receipt, []byte("accepted"), []byte("refused"), 1))
	f.Add([]byte("{}"), []byte("{}"), []byte("{}"))
	f.Fuzz(func(t *testing.T, request, response, receipt []byte) {
		if n := thrown.Allocated(func() { checkFolder(t, request, response, receipt) }); n > thrown.MostMemory {
			t.Fatalf("it took %d bytes", n)
		}
	})
}

func checkFolder(t *testing.T, request, response, receipt []byte) {
	dir := "run/requests/r/"
	doc := func(name, kind string, body []byte) engine.Document {
		return engine.Document{Path: dir + name, Kind: kind, Body: body, Sum: engine.Sum(body), Known: []string{"owner:alice"}}
	}
	s := engine.Snapshot{Dir: "run", Docs: []engine.Document{
		doc("receipt.json", layout.KindReceipt, receipt), doc("request.json", layout.KindRequest, request), doc("response.json", layout.KindResponse, response),
	}}
	folders := Folders(s)
	if len(folders) != 1 || folders[0].ID != "r" || folders[0].BadReceipt == (folders[0].Receipt != nil) {
		t.Fatalf("%+v", folders)
	}
	folder := folders[0]
	if folder.Receipt != nil {
		again, err := folder.Receipt.Encode()
		if err != nil {
			t.Fatal(err)
		}
		same, err := ReadReceipt("receipt.json", again)
		if err != nil || same.Result != folder.Receipt.Result || same.Response != folder.Receipt.Response || same.Revision != folder.Receipt.Revision {
			t.Fatalf("read as %+v, written and read as %+v, %v", *folder.Receipt, same, err)
		}
	}
	if folder.Request == nil {
		return
	}
	again, err := folder.Request.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRequest("request.json", again); err != nil {
		t.Fatalf("a request that was read is not read when written again: %v\n%s", err, again)
	}
	checkVerdict(t, folder, dir)
}

// checkVerdict asserts that an answer to any request was offered by it, and that
// a problem text can be shown.
func checkVerdict(t *testing.T, folder *Folder, dir string) {
	v := judge(Evaluation{
		Request: *folder.Request, Dir: strings.TrimSuffix(dir, "/"), Docs: folder.Docs, View: view, Issued: view,
		Present: dir + "form.md", Now: time.Unix(0, 0),
	})
	text := v.Problem
	if v.Answer != nil {
		if id, ok := Match(folder.Request.Options, v.Answer.Response); !folder.Request.FreeText() && (!ok || id != v.Answer.Response) {
			t.Fatalf("%q was not offered by %+v", v.Answer.Response, folder.Request.Options)
		}
		if folder.Receipt != nil {
			text += After(*folder.Receipt, Evaluation{Request: *folder.Request, Dir: strings.TrimSuffix(dir, "/"), Docs: folder.Docs, View: view, Issued: view, Now: time.Unix(0, 0)})
		}
	}
	if i := strings.IndexFunc(text, thrown.Unseen); i >= 0 {
		t.Fatalf("what is said holds %+q: %q", text[i:min(i+4, len(text))], text)
	}
	if len(text) > 1<<20 {
		t.Fatalf("what is said is %d bytes long", len(text))
	}
}
