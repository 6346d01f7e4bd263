package view

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/faber"
	"placet/engine/gate"
	"placet/engine/loop"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/layout"
)

func TestARunIsNamedByAsMuchAsIsUnique(t *testing.T) {
	family := loop.Family{Layout: layout.Faber{}, Machine: faber.New()}
	var found []loop.Found
	for _, id := range []string{
		"acme/web/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34", "acme/api/3f2b9999-9a4d-4c57-8e21-6b0f5d7a9c34",
		"faber/x/0000aaaa-9a4d-4c57-8e21-6b0f5d7a9c34", ".fractary/runs/3f2b-run",
	} {
		found = append(found, loop.Found{Run: layout.Run{Family: "faber", ID: id}, Family: family})
	}
	b := &workspace.Workspace{Families: []loop.Family{family}}
	tests := map[string][]int{
		"faber/acme/web/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34": {0},
		"acme/web/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34":       {0},
		"3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34":                {0},
		"3f2b8":                                               {0},
		"3f2b":                                                {0, 1, 3},
		"3f2":                                                 nil,
		"":                                                    nil,
		"acme/web/3f2b":                                       {0},
		"faber/acme/web/3f2b8c1e":                             {0},
		"acme/web/":                                           nil,
		"acme/web/3f2":                                        nil,
		"acme":                                                nil,
		"faber":                                               {0, 1, 2, 3},
		"faber/x/0000":                                        {2},
		".fractary/runs/3f2b-run":                             {3},
		"3F2B8":                                               nil,
		"other/3f2b8":                                         nil,
		"3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34x":               nil,
	}
	for arg, want := range tests {
		var got []int
		for _, f := range Fits(b, found, arg) {
			got = append(got, slices.IndexFunc(found, func(o loop.Found) bool { return o.Run.ID == f.Run.ID }))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q fits %v, want %v", arg, got, want)
		}
	}
}

func TestSinceIsWhenWhatIsAskedWasAsked(t *testing.T) {
	asked, event, changed := noon, noon.Add(time.Hour), noon.Add(2*time.Hour)
	state := engine.Document{Changed: changed}
	a := engine.RunView{Open: []engine.OpenRequest{{RequestedAt: asked}}, Log: []engine.Entry{{At: event}}}
	for want, account := range map[time.Time]engine.RunView{
		asked: a, event: {Log: a.Log}, changed: {},
	} {
		if got := since(account, state); !got.Equal(want) {
			t.Errorf("%+v: since %v, want %v", account, got, want)
		}
	}
}

func TestTheLogTellsWhatBecameOfARequest(t *testing.T) {
	receipt := gate.Receipt{
		RequestID: "fr-1", Result: gate.Superseded, Response: "reject", Comment: "too late", Reason: "another request",
		ProvidedBy: gate.By{User: "kim", Source: "form"}, ReceivedAt: "2026-11-20T12:00:00Z", DecidedAt: "2026-11-20T12:00:00Z",
		Digest: engine.Sum(nil), Revision: 2,
	}
	body, err := receipt.Encode()
	if err != nil {
		t.Fatal(err)
	}
	v := Run{RunView: engine.RunView{Log: []engine.Entry{{At: noon.Add(-time.Minute), Event: "before"}, {At: noon.Add(time.Minute), Event: "after"}}}}
	v.Log = mergeLog(v.Log, append(receiptEntry(engine.Snapshot{}, engine.Document{Path: "r/receipt.json", Body: body}),
		receiptEntry(engine.Snapshot{}, engine.Document{Path: "r/receipt.json", Body: []byte("{")})...))
	if len(v.Log) != 3 || v.Log[1].Event != "receipt_superseded" || v.Log[1].Who != "kim" || v.Log[1].Message != "fr-1: reject: too late: another request" {
		t.Errorf("%+v", v.Log)
	}
}

// Receipts are in the log by their times, after the events of the same moment. A log without an
// order stays unchanged.
func TestReceiptsStandInTheLogByTheirTimes(t *testing.T) {
	at := func(s int, name string) engine.Entry {
		return engine.Entry{At: noon.Add(time.Duration(s) * time.Second), Event: name}
	}
	log := []engine.Entry{at(1, "a"), at(9, "b"), at(3, "c")}
	got := ""
	for _, e := range mergeLog(log, []engine.Entry{at(9, "z"), at(3, "y"), at(0, "x")}) {
		got += e.Event
	}
	if got != "xabcyz" {
		t.Errorf("%s", got)
	}
	if got := mergeLog(log, nil); len(got) != 3 || got[2].Event != "c" {
		t.Errorf("%+v", got)
	}
}

// A look that takes too long goes on by itself: the run is listed by its state document.
func TestAnAccountThatTakesTooLongIsNotWaitedFor(t *testing.T) {
	run := layout.Run{Family: "faber", ID: "a/b/c", Dir: "runs/a/b/c", State: "runs/a/b/c/state.json"}
	f := loop.Found{Run: run, Family: loop.Family{Layout: layout.Faber{}, Machine: faber.New()}}
	b := &workspace.Workspace{Loop: loop.New(loop.Options{Store: store.New(fs.OS(t.TempDir()), store.Options{})})}
	var over atomic.Bool
	defer over.Store(true)
	v := viewIn(b, time.Millisecond, f, func() Run {
		for !over.Load() { // computes
		}
		return Run{}
	})
	if !v.late || !v.Troubled() || v.unsettled || v.Key != f.Key() || !strings.Contains(WaitsAt(v), "cannot say within 1ms") {
		t.Errorf("%+v", v)
	}
	want := Run{stray: []string{"x"}}
	if got := viewIn(b, time.Minute, f, func() Run { return want }); len(got.stray) != 1 || got.late {
		t.Errorf("%+v", got)
	}
}

func TestANoteIsShownWithoutItsFrame(t *testing.T) {
	if got := engine.NoteBody(engine.NoteText("en", "cannot read\n\nline 3")); got != "cannot read\n\nline 3" {
		t.Errorf("%q", got)
	}
}

func TestProblemsOfARunAreFoundWhereverTheyStand(t *testing.T) {
	for name, v := range map[string]Run{
		"unreadable": {Err: engine.ErrAbsent}, "stands": {RunView: engine.RunView{Blocked: true}},
		"note":   {Notes: []Note{{}}},
		"answer": {RunView: engine.RunView{Open: []engine.OpenRequest{{}, {Problem: "x"}}}},
	} {
		if !v.Troubled() {
			t.Errorf("%s: nobody is told", name)
		}
	}
	if (Run{RunView: engine.RunView{Open: []engine.OpenRequest{{}}}}).Troubled() {
		t.Error("an open request is no problem")
	}
}
