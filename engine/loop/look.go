package loop

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"reflect"
	"runtime/debug"
	"slices"
	"sort"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/store"
	"placet/layout"
)

// needRounds is how often a plan may ask for more than the snapshot holds.
const needRounds = 4

// gitNeed is the prefix of a need that is a fact from local git, not a file.
const gitNeed = "git:"

// look is the state of a run when it was read, and its machine's plan for it.
type look struct {
	began  time.Time // before anything was read
	snap   engine.Snapshot
	loaded store.Loaded
	plan   engine.Plan
	// submitted is the document that the look has seen although it is not written yet, nil for none.
	submitted *submission
}

// looker looks at one run, as often as a pass needs it.
type looker struct {
	l *Loop
	f Found
	// s and lv are those of the pass; nil if a run is looked at outside a pass.
	s  *session
	lv *activeRun
	// needs are the needs of the last plan, without those that git has not answered yet: they
	// are loaded at once.
	needs []string
	// git holds what local git answered, once per pass.
	git map[string]engine.Document
	// volatile holds the volatile documents, read once per pass and again if the run is
	// marked.
	volatile map[string]volatileRead
	// sure requires entries of the other runs that were compared a moment ago.
	sure bool
	// heard are the folders that have changed since the previous look; nil for a look at the
	// whole run.
	heard []string
	// stepped is the machine's last snapshot and plan; nil if the machine may now return
	// another plan.
	stepped *stepped
}

// look reads the run and steps its machine until the snapshot holds everything that the plan
// needs.
func (k *looker) look() (look, error) {
	needs := k.needs
	for round := 0; ; round++ {
		lk, err := k.once(needs)
		if err != nil {
			return look{}, err
		}
		missing := lk.snap.Lacks(lk.plan.Needs)
		for ; len(missing) > 0 && allGit(missing) && round < needRounds; round++ {
			if lk, err = k.told(lk, missing); err != nil {
				return look{}, err
			}
			needs = lk.snap.Needs
			missing = lk.snap.Lacks(lk.plan.Needs)
		}
		if len(missing) == 0 {
			if !k.admitsSubmission(&lk) {
				return k.look()
			}
			k.needs = slices.Concat(k.known(lk.plan.Needs), lk.plan.NextNeeds)
			return lk, nil
		}
		if round == needRounds {
			return look{}, fmt.Errorf("cannot step: the %s machine still needs %q after %d rounds", k.f.Run.Family, missing, needRounds)
		}
		needs = slices.Concat(needs, missing)
	}
}

func allGit(needs []string) bool {
	return !slices.ContainsFunc(needs, func(n string) bool { return !strings.HasPrefix(n, gitNeed) })
}

// told adds to a look what local git says, and steps again with the same documents: a fact is
// no reason to read them again.
func (k *looker) told(lk look, needs []string) (look, error) {
	lk.snap.Needs = slices.Compact(slices.Sorted(slices.Values(slices.Concat(lk.snap.Needs, needs))))
	var err error
	if lk.snap.Docs, err = k.withFacts(slices.Clone(lk.snap.Docs), needs, &lk.loaded); err != nil {
		return look{}, err
	}
	lk.snap, lk.plan, err = k.again(lk.snap)
	return lk, err
}

// known returns the needs that are files, and those that git has answered in this pass.
// Without them every look would first be made without its needs and then again with them.
func (k *looker) known(needs []string) []string {
	return slices.DeleteFunc(slices.Clone(needs), func(n string) bool {
		_, answered := k.git[n]
		return strings.HasPrefix(n, gitNeed) && !answered
	})
}

// once reads the run with the needs and steps once. It reads the facts before the documents:
// whoever ends an action first writes its outcome and then reports it ended, so an action
// that is not alive already has its outcome document.
func (k *looker) once(needs []string) (look, error) {
	needs = slices.Compact(slices.Sorted(slices.Values(needs)))
	began := time.Now()
	facts := k.l.o.Facts(k.f.Run.Family)
	loaded, err := k.load(slices.DeleteFunc(slices.Clone(needs), isFact))
	if err != nil {
		return look{}, err
	}
	needs = slices.Compact(slices.Sorted(slices.Values(slices.Concat(needs, committers(loaded.Docs)))))
	snap := engine.Snapshot{
		Key: k.f.Key(), Dir: k.f.Run.Dir, Class: k.f.Run.Class,
		Now:   k.l.o.Now().Round(0), // no monotonic part, because snapshots are compared
		Needs: needs, Facts: facts,
	}
	if snap.Docs, err = k.withFacts(loaded.Docs, needs, &loaded); err != nil {
		return look{}, err
	}
	snap, g := k.withSubmission(snap)
	snap, plan, err := k.again(snap)
	return look{began, snap, loaded, plan, g}, err
}

// committers returns the needs for who committed the answers to open requests. A machine that
// finds an answer that counts asks for it: if it is known at once, the machine need not be
// stepped again.
func committers(docs []engine.Document) (needs []string) {
	there := engine.Snapshot{Docs: docs}
	for _, d := range docs {
		answers := d.Kind == layout.KindResponse || d.Kind == layout.KindForm && !d.IssuedHere()
		if answers && d.Present() && d.Source == "" && there.Doc(path.Dir(d.Path)+"/receipt.json").Absent() {
			needs = append(needs, engine.NeedCommitter(d))
		}
	}
	return needs
}

// load reads the run's documents, but only in the folders that have changed if these are
// known.
func (k *looker) load(needs []string) (store.Loaded, error) {
	if k.heard == nil {
		return k.l.o.Store.Load(k.f.Run, k.f.Family.Layout, needs)
	}
	return k.l.o.Store.LoadHeard(k.f.Run, k.f.Family.Layout, needs, k.heard)
}

// withFacts adds the answers to the needs that are not files of the store: what local git
// says, the volatile documents, and what the other runs of the family report. Documents that
// are read once per pass keep their first content.
func (k *looker) withFacts(docs []engine.Document, needs []string, loaded *store.Loaded) ([]engine.Document, error) {
	var volatile []engine.Document
	for _, need := range needs {
		switch {
		case strings.HasPrefix(need, gitNeed):
			docs = insert(docs, k.askGit(need))
		case strings.HasPrefix(need, engine.VolatileNeed):
			volatile = append(volatile, k.readVolatile(need).doc)
		case need == engine.NeedPeers:
			doc, again, err := k.l.answer(k.f, k.sure)
			if err != nil {
				return nil, err
			}
			loaded.Again = earlier(loaded.Again, again)
			docs = insert(docs, doc)
		}
	}
	if len(volatile) == 0 {
		return docs, nil
	}
	return insert(docs, volatile...), nil // the needs are sorted, and no other need has this prefix
}

// askGit returns what local git says, once per pass.
func (k *looker) askGit(need string) engine.Document {
	doc, ok := k.git[need]
	if !ok {
		doc = k.l.o.Lookup(need)
		doc.Path = need
		if k.git == nil {
			k.git = map[string]engine.Document{}
		}
		k.git[need] = doc
	}
	return doc
}

// insert adds consecutive documents at the position of the first one's path.
func insert(docs []engine.Document, more ...engine.Document) []engine.Document {
	at := sort.Search(len(docs), func(i int) bool { return docs[i].Path > more[0].Path })
	return slices.Insert(docs, at, more...)
}

// step asks the machine for a plan. A machine that panics has a bug; its run stops and the
// others continue.
func (k *looker) step(snap engine.Snapshot) (plan engine.Plan, err error) {
	defer func() {
		if r := recover(); r != nil {
			plan, err = engine.Plan{}, &panicError{family: k.f.Run.Family, value: r, stack: debug.Stack()}
		}
	}()
	return k.f.Family.Machine.Step(snap)
}

type panicError struct {
	family string
	value  any
	stack  []byte
}

func (p *panicError) Error() string { return fmt.Sprintf("%v\n%s", p.Unwrap(), p.stack) }

// Unwrap returns the panic without its stack, which differs each time: the cause by which it
// is logged once.
func (p *panicError) Unwrap() error {
	return fmt.Errorf("cannot step: the %s machine panicked (a bug): %v", p.family, p.value)
}

// isFact reports whether a need is not a file that the store looks up and compares, but what
// git says, a volatile document, or the other runs.
func isFact(need string) bool {
	return strings.HasPrefix(need, gitNeed) || strings.HasPrefix(need, engine.VolatileNeed) || need == engine.NeedPeers
}

// Snapshot reads a run for its machine, with everything that its plan needs, and returns when
// to look again because a file has not settled (zero if all have). It writes nothing.
func (l *Loop) Snapshot(f Found) (engine.Snapshot, time.Time, error) {
	k := looker{l: l, f: f}
	lk, err := k.look()
	return lk.snap, lk.loaded.Again, err
}

// again steps the machine, unless the run is unchanged since the previous look of the pass:
// equal snapshots give equal plans, and time alone changes nothing before Wake. So a look
// under the run's locks, or after a folder was followed, needs no further step. The snapshot
// returned is then the one that the plan was made from.
func (k *looker) again(snap engine.Snapshot) (engine.Snapshot, engine.Plan, error) {
	if was := k.stepped; was != nil && alike(was.snap, snap) && (was.plan.Wake.IsZero() || snap.Now.Before(was.plan.Wake)) {
		return was.snap, was.plan, nil
	}
	plan, err := k.step(snap)
	k.stepped = nil
	if err == nil {
		k.stepped = &stepped{snap, plan}
	}
	return snap, plan, err
}

// stepped is a snapshot and the machine's plan for it.
type stepped struct {
	snap engine.Snapshot
	plan engine.Plan
}

// alike reports whether two snapshots of one run differ at most in their time, and the clock
// did not go back.
func alike(a, b engine.Snapshot) bool {
	return !b.Now.Before(a.Now) && a.Class == b.Class && a.Dir == b.Dir &&
		slices.Equal(a.Needs, b.Needs) && slices.EqualFunc(a.Docs, b.Docs, sameDocument) && sameFacts(a.Facts, b.Facts)
}

// sameFacts compares what a machine may read besides the documents.
func sameFacts(a, b engine.Environment) bool {
	return maps.Equal(a.Alive, b.Alive) && maps.Equal(a.Trusted, b.Trusted) && slices.Equal(changes(a.Changed), changes(b.Changed)) &&
		maps.EqualFunc(a.Ended, b.Ended, sameEnd) && reflect.DeepEqual(a.Config, b.Config)
}

// sameEnd compares two ends of one action. An action ends once in a process, but the loop may
// ask again to have its end forgotten.
func sameEnd(a, b engine.Ended) bool { return reflect.DeepEqual(a, b) }

// sameDocument compares contents by their digests.
func sameDocument(a, b engine.Document) bool {
	return a.Path == b.Path && a.Kind == b.Kind && a.Sum == b.Sum && a.Changed.Equal(b.Changed) &&
		slices.Equal(a.Known, b.Known) && a.Source == b.Source && sameError(a.Err, b.Err)
}

// sameError reports whether two errors are certainly the same.
func sameError(a, b error) bool {
	for _, e := range []error{engine.ErrAbsent, engine.ErrUnsettled} {
		if errors.Is(a, e) && errors.Is(b, e) {
			return true
		}
	}
	return a == nil && b == nil
}
