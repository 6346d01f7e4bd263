package view

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/faber"
	"placet/engine/loop"
	"placet/engine/store"
	"placet/engine/store/memfs"
	"placet/engine/store/statcache"
	"placet/layout"
)

// keeping is a workspace in memory, which one placet after another views.
type keeping struct {
	t    rapid.TB
	disk *memfs.FS
	now  time.Time
	conf faber.Config
	used int // views that were stored
	// looked is called before every look.
	looked func()

	mu      sync.Mutex
	passing time.Duration // how much time passes with each reading of the clock
}

func newKeeping(t rapid.TB) *keeping {
	k := &keeping{t: t, now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), conf: faber.DefaultConfig(), looked: func() {}}
	k.disk = memfs.New(k.clock)
	return k
}

const keptRoot = ".fractary/faber/runs/acme/web/"

// runDir returns the folder of one of the few runs.
func runDir(n int) string { return fmt.Sprintf("%s%08d-0000-4000-8000-000000000000", keptRoot, n) }

const (
	keptWaiting = `{"run_id": "%s", "work_id": "7", "status": "awaiting_feedback", "current_phase": "architect", "last_event_id": 2,
  "phases": {"architect": {"status": "in_progress", "steps": [{"name": "review", "status": "in_progress"}]}},
  "current_step": "review", "updated_at": "2026-11-20T10:25:42Z",
  "feedback_request": {"request_id": "fr-20261120-00000%d", "type": "approval", "prompt": "Go on%s", "options": ["approve", "reject"],
    "context": {"summary": "x", "artifact_path": "specs/design.md"}, "requested_at": "2026-11-20T10:25:42Z"},
  "resume_point": {"phase": "architect", "step": "review", "step_index": 0}}`
	keptWorking = `{"run_id": "%s", "work_id": "7", "status": "in_progress", "current_phase": "build", "current_step": "implement", "phases": {}}`
	keptDone    = `{"run_id": "%s", "work_id": "7", "status": "completed", "current_phase": "release", "phases": {}}`
	keptEvent   = `{"event_id": %d, "type": "checkpoint", "timestamp": "2026-11-20T10:25:4%dZ", "run_id": "%s", "message": "%s"}`
)

// make makes a run as upstream's scripts do.
func (k *keeping) make(n int, final bool) {
	dir := runDir(n)
	id := strings.TrimPrefix(dir, ".fractary/faber/runs/")
	for e := 1; e <= 2; e++ {
		k.disk.Put(fmt.Sprintf("%s/events/%03d-checkpoint.json", dir, e), fmt.Sprintf(keptEvent, e, e, id, "m"))
	}
	if final {
		k.disk.Put(dir+"/state.json", fmt.Sprintf(keptDone, id))
		return
	}
	k.disk.Put(dir+"/state.json", fmt.Sprintf(keptWaiting, id, n, "?"))
}

// Read and Write are the files that the memory is kept in.
func (k *keeping) Read(name string, limit int64) ([]byte, error) {
	body, there := k.disk.Get(".placet/" + name)
	if !there || int64(len(body)) > limit {
		return nil, fs.ErrNotExist
	}
	return []byte(body), nil
}

func (k *keeping) Write(name string, body []byte, _ bool) error {
	k.disk.Put(".placet/"+name, string(body))
	return nil
}

// start makes another placet view the runs, with the stored views or without.
func (k *keeping) start(stored bool, mark string) *workspace.Workspace {
	b := &workspace.Workspace{Env: &console.Env{Now: k.clock}, Root: "/nowhere", Brief: true}
	b.Store = store.New(k.disk, store.Options{Now: b.Env.Now, Parallel: 1})
	b.Families = []loop.Family{{Layout: layout.Faber{}, Machine: faber.New()}}
	o := loop.Options{Store: b.Store, Families: b.Families, Now: b.Env.Now, Workers: 1, Facts: func(string) engine.Environment {
		k.looked()
		return engine.Environment{Config: engine.Config{Language: "en", Family: k.conf}}
	}}
	if stored {
		o.Cache = statcache.Open(k, mark, b.Store.DiskNow)
	}
	b.Loop = loop.New(o)
	return b
}

// shown is a run as the verbs show it.
type shown struct {
	Peek  engine.Summary
	Line  RunLine
	Open  []engine.OpenRequest
	Found []FindingLine
}

func showVerb(b *workspace.Workspace, f loop.Found) (shown, bool) {
	s := shown{Peek: b.Loop.Summarize(f)}
	v := seeRun(b, b.Loop.Stored(), f)
	s.Line, s.Open, s.Found = LineOf(v), v.Open, append(FindingLines(v), Strays(v)...)
	return s, !v.unsettled
}

// same views every run with the stored views and without, and compares.
func (k *keeping) same() {
	kept, bare := k.start(true, "m"), k.start(false, "")
	found := kept.Runs()
	for _, f := range found {
		_, stored := kept.Loop.Stored().View(f)
		got, ok := showVerb(kept, f)
		want, settled := showVerb(bare, f)
		if stored {
			k.used++
			if !settled {
				k.t.Fatalf("%s was stored though it does not stand still", f.Run.Dir)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" && settled && ok {
			k.t.Fatalf("%s with what is kept (-without +with, stored %t):\n%s", f.Run.Dir, stored, diff)
		}
	}
	Remember(kept, found, true)
}

// settle makes placet do all its work, once everything has settled. Time passes with each
// reading of the clock, so that young files are waited for.
func (k *keeping) settle() {
	k.now = k.now.Add(3 * time.Second)
	k.passing = 200 * time.Millisecond
	if _, err := k.start(false, "").Loop.Once(context.Background()); err != nil {
		k.t.Fatal(err)
	}
	k.passing = 0
}

// clock is the one clock of the test.
func (k *keeping) clock() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.now = k.now.Add(k.passing)
	return k.now
}

// files returns the files of the runs and those that they need, sorted.
func (k *keeping) files() []string {
	var names []string
	for name := range k.disk.Tree() {
		if !strings.HasPrefix(name, ".placet/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Whatever happens to the files, and however fast, stored views change nothing but the time
// that a look takes.
func TestWhatIsKeptNeverShows(t *testing.T) {
	used := 0
	rapid.Check(t, func(t *rapid.T) {
		k := newKeeping(t)
		k.disk.Put("specs/design.md", "# Design\n")
		for n := range 6 {
			k.make(n, n > 2)
		}
		k.settle()
		k.now = k.now.Add(time.Minute)
		k.same()
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			k.step(t)
			k.same()
		}
		used += k.used
	})
	if used == 0 {
		t.Error("nothing was ever stored")
	}
}

// step does one thing to the files, or lets time pass.
func (k *keeping) step(t *rapid.T) {
	pick := func() string { return rapid.SampledFrom(k.files()).Draw(t, "file") }
	body := func(name string) string {
		text, _ := k.disk.Get(name)
		return text
	}
	switch rapid.SampledFrom([]string{
		"rewrite", "same size", "replace", "remove", "stray", "note", "new run", "checkout", "copy", "answer", "settle", "chmod",
		"tick", "moment", "second", "hour", "back", "forth",
	}).Draw(t, "what") {
	case "rewrite":
		name := pick()
		k.disk.Rewrite(name, body(name)+"\n")
	case "same size":
		name := pick()
		k.disk.Rewrite(name, strings.Replace(body(name), "?", "!", 1))
	case "replace":
		name := pick()
		k.disk.Put(name, strings.Replace(body(name), "m\"", "n\"", 1))
	case "remove":
		k.disk.Delete(pick())
	case "stray":
		k.disk.Put(path.Dir(pick())+"/what.txt", "?")
	case "note":
		k.disk.Put(path.Dir(pick())+"/problem.md", "# Problem\n\nbad\n")
	case "new run":
		k.make(rapid.IntRange(0, 8).Draw(t, "run"), rapid.Bool().Draw(t, "final"))
	case "checkout": // the same bytes under new inodes
		for _, name := range k.files() {
			if text := body(name); rapid.Bool().Draw(t, "touched") {
				k.disk.Delete(name)
				k.disk.Put(name, text)
			}
		}
	case "copy": // one run over another
		from, to := runDir(rapid.IntRange(0, 5).Draw(t, "from")), runDir(rapid.IntRange(0, 5).Draw(t, "to"))
		for _, name := range k.files() {
			if rel, ok := strings.CutPrefix(name, from+"/"); ok && from != to {
				k.disk.Put(to+"/"+rel, body(name))
			}
		}
	case "answer":
		n := rapid.IntRange(0, 2).Draw(t, "run")
		k.disk.Put(fmt.Sprintf("%s/requests/fr-20261120-00000%d/response.json", runDir(n), n), `{"request_id": "x"}`)
	case "settle":
		k.settle()
	case "chmod":
		k.disk.Chmod(pick(), 0o600, 0, 0)
	case "tick":
		k.now = k.now.Add(time.Millisecond)
	case "moment":
		k.now = k.now.Add(100 * time.Millisecond)
	case "second":
		k.now = k.now.Add(2100 * time.Millisecond)
	case "hour":
		k.now = k.now.Add(time.Hour)
	case "back":
		k.now = k.now.Add(-time.Duration(rapid.IntRange(1, 100).Draw(t, "seconds")) * time.Second)
	case "forth":
		k.disk.Later(time.Duration(rapid.IntRange(1, 5).Draw(t, "seconds")) * time.Second)
	}
}

// rested returns a workspace whose views are all stored.
func rested(t *testing.T) *keeping {
	k := newKeeping(t)
	k.disk.Put("specs/design.md", "# Design\n")
	for n := range 40 {
		k.make(n, n > 9)
	}
	k.settle()
	k.now = k.now.Add(time.Minute)
	k.same()
	return k
}

// taken counts the runs whose stored view is used.
func (k *keeping) taken(mark string) (n int) {
	b := k.start(true, mark)
	for _, f := range b.Runs() {
		if _, ok := b.Loop.Stored().View(f); ok {
			n++
		}
	}
	return n
}

func TestWhatMakesKeptViewsVoid(t *testing.T) {
	tests := map[string]struct {
		do   func(k *keeping)
		want int
	}{
		"nothing":                            {func(*keeping) {}, 40},
		"time":                               {func(k *keeping) { k.now = k.now.Add(100 * time.Hour) }, 40},
		"one file":                           {func(k *keeping) { k.disk.Chmod(runDir(3)+"/events/001-checkpoint.json", 0o600, 0, 0) }, 39},
		"a name":                             {func(k *keeping) { k.disk.Put(runDir(3)+"/events/x", "") }, 39},
		"a file that ten runs need":          {func(k *keeping) { k.disk.Rewrite("specs/design.md", "# Other\n") }, 30},
		"other settings":                     {func(k *keeping) { k.conf.OnDeadline = "approve" }, 0},
		"a clock that went back":             {func(k *keeping) { k.now = k.now.Add(-2 * time.Second) }, 0},
		"a torn file":                        {func(k *keeping) { k.spoil(func(b string) string { return b[:len(b)-1] }) }, 0},
		"a changed byte":                     {func(k *keeping) { k.spoil(func(b string) string { return b[:99] + "?" + b[100:] }) }, 0},
		"an empty file":                      {func(k *keeping) { k.spoil(func(string) string { return "" }) }, 0},
		"no file":                            {func(k *keeping) { k.disk.Delete(".placet/statcache") }, 0},
		"the workspace under a new inode":    {func(k *keeping) { k.disk = k.disk.KillClone(); touchAll(k) }, 0},
		"something else in the file's place": {func(k *keeping) { k.disk.Delete(".placet/statcache"); k.disk.PutDir(".placet/statcache") }, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			k := rested(t)
			test.do(k)
			if got := k.taken("m"); got != test.want {
				t.Errorf("%d runs are stored, want %d", got, test.want)
			}
			k.same()
		})
	}
	if k := rested(t); k.taken("another program") != 0 {
		t.Error("another program's views are used")
	}
}

// spoil changes the file of the cache.
func (k *keeping) spoil(change func(string) string) {
	body, _ := k.disk.Get(".placet/statcache")
	k.disk.Rewrite(".placet/statcache", change(body))
}

// touchAll replaces every file of the runs by a new one with the same content.
func touchAll(k *keeping) {
	for _, name := range k.files() {
		text, _ := k.disk.Get(name)
		k.disk.Put(name, text)
	}
}

// The stored view has what a run waits for if nobody is asked, so that status names it without
// reading the run.
func TestWhatIsAwaitedIsKept(t *testing.T) {
	k := rested(t)
	for n := range 10 {
		dir := runDir(n)
		k.disk.Put(dir+"/state.json", fmt.Sprintf(keptWorking, strings.TrimPrefix(dir, ".fractary/faber/runs/")))
	}
	k.now = k.now.Add(time.Minute)
	k.settle()
	k.now = k.now.Add(time.Minute)
	k.same()
	b := k.start(true, "m")
	round, stored := b.Loop.Stored(), 0
	for _, f := range b.Runs() {
		v, ok := findStoredView(b, round, f)
		if !ok || v.Final {
			continue
		}
		stored++
		const awaited = "state.json to move on from build:implement (agent)"
		if l := LineOf(v); l.WaitsFor != awaited || WaitsAt(v) != "waits for "+awaited {
			t.Errorf("%s waits for %q (%q), want %q", l.Run, l.WaitsFor, WaitsAt(v), awaited)
		}
	}
	if stored != 10 {
		t.Errorf("%d runs that can move are stored, want 10", stored)
	}
}

// Every once names a file that may be half written, not only the first, because the view of its
// run is not stored.
func TestHalfOfAWriteIsNotKept(t *testing.T) {
	k := rested(t)
	for n := range 10 {
		k.disk.Put(runDir(n)+"/state.json", `{"run_id": "`)
	}
	k.now = k.now.Add(5 * time.Second)
	for range 3 {
		r, err := k.start(true, "m").Loop.Once(context.Background())
		if err != nil || len(r.Torn) != 10 || r.Torn[0] != runDir(0)+"/state.json" || len(r.Notes) > 0 {
			t.Errorf("%d files may be half of a write, %d notes (%v), want 10 and none: %q", len(r.Torn), len(r.Notes), err, r.Torn)
		}
	}
	k.now = k.now.Add(6 * time.Second)
	if r, err := k.start(true, "m").Loop.Once(context.Background()); err != nil || len(r.Torn) > 0 || len(r.Notes) != 10 {
		t.Errorf("after ten seconds %d files may be half of a write, %d notes (%v), want none and 10", len(r.Torn), len(r.Notes), err)
	}
}

func TestADeadlineEndsWhatIsKept(t *testing.T) {
	k := newKeeping(t)
	k.conf.Deadline = map[string]faber.Duration{"approval": faber.Duration(3 * time.Hour)}
	k.disk.Put("specs/design.md", "# Design\n")
	for n := range 9 {
		k.make(n, false)
	}
	k.settle()
	k.now = k.now.Add(time.Minute)
	k.same()
	if got := k.taken("m"); got != 9 {
		t.Fatalf("%d runs are stored, want 9", got)
	}
	k.now = k.now.Add(3 * time.Hour) // it counts from the opening
	if got := k.taken("m"); got != 0 {
		t.Errorf("%d runs are stored after their deadline", got)
	}
	k.same()
}

// A stored view keeps all that a listing shows of a request.
func TestARequestIsStoredWhole(t *testing.T) {
	a := engine.OpenRequest{
		Request: "hitl-3f9a12c4", Run: engine.Key{Family: "optimizer", ID: "20260302-msowd-sop-masking"}, Type: "hitl", Where: "awaiting_human",
		Prompt: "Was the Automation Level appropriate?",
		Options: []engine.RequestOption{
			{ID: "appropriate", Description: "적절", Words: []string{"적절"}}, {ID: "raise", Words: []string{"상향", "상향 권장"}}, {ID: "lower"},
		},
		Items:    []engine.RequestItem{{ID: "s1", Label: "one"}, {ID: "s2", Label: "two"}, {ID: "s3", Label: "three"}},
		Default:  "appropriate",
		NoReject: "placet respond hitl-3f9a12c4 lower",
		Members:  []string{"attempts"},
	}
	body, err := json.Marshal(storeRequests([]engine.OpenRequest{a}))
	var stored []storedRequest
	if err != nil || json.Unmarshal(body, &stored) != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a, stored[0].request()); diff != "" {
		t.Error(diff)
	}
}
