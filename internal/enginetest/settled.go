package enginetest

import (
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"
	"time"

	"placet/engine"
	"placet/layout"
	"placet/schemas"
)

// restLaws checks a run that has settled against the laws: it wants nothing,
// time alone moves nothing before the moment that it named, and an answer to
// another request moves nothing at all.
func restLaws(t T, l layout.Family, m engine.Machine, run layout.Run, s engine.Snapshot) {
	t.Helper()
	plan, err := m.Step(copySnapshot(s))
	if err != nil {
		return // the judge has reported it
	}
	if left := undone(s, plan); !left.Empty() || len(left.Ends) > 0 {
		t.Errorf("%s has settled and yet wants %s", s.Key, planText(left))
		return
	}
	for _, problem := range timeAlone(m, s, plan.Wake) {
		t.Errorf("%s: %s", s.Key, problem)
	}
	for _, problem := range otherAnswers(l, m, run, s) {
		t.Errorf("%s: %s", s.Key, problem)
	}
}

// undone returns a plan without the wanted commands that run already, and without
// the ends of actions that ended by themselves and were forgotten: an action
// stays in the plan for as long as it runs.
func undone(s engine.Snapshot, p engine.Plan) engine.Plan {
	p.Actions = slices.DeleteFunc(slices.Clone(p.Actions), func(a engine.Action) bool { return s.Facts.Alive[a.ID] })
	p.Ends = slices.DeleteFunc(slices.Clone(p.Ends), func(id string) bool {
		_, ended := s.Facts.Ended[id]
		return !s.Facts.Alive[id] && !ended
	})
	return p
}

// timeAlone evaluates the same documents at other moments: earlier ones, as if
// the clock had been set back, and later ones before the machine's own.
func timeAlone(m engine.Machine, s engine.Snapshot, wake time.Time) (problems []string) {
	moments := []time.Duration{-24 * time.Hour, -time.Hour, time.Second, time.Minute, time.Hour, 25 * time.Hour, 400 * 24 * time.Hour}
	if !wake.IsZero() {
		moments = append(moments, wake.Sub(s.Now)-time.Millisecond)
	}
	for _, d := range moments {
		at := copySnapshot(s)
		at.Now = s.Now.Add(d)
		if !wake.IsZero() && !at.Now.Before(wake) {
			continue
		}
		plan, err := m.Step(at)
		if plan = undone(at, plan); err != nil || !plan.Empty() || len(plan.Ends) > 0 {
			problems = append(problems, fmt.Sprintf("time alone (%s) makes it want %s, error %v; it asked to be woken at %s",
				d, planText(plan), err, wakeText(wake)))
		}
	}
	return problems
}

func wakeText(wake time.Time) string {
	if wake.IsZero() {
		return "no moment"
	}
	return wake.Format(time.RFC3339)
}

// otherAnswers puts answers where they must not count: to a request that does
// not exist, to a closed one, and to an open one with another id.
func otherAnswers(l layout.Family, m engine.Machine, run layout.Run, s engine.Snapshot) (problems []string) {
	const nobody = "fr-of-nobody"
	account := m.Account(copySnapshot(s))
	words := []string{"approve", "reject", "retry", "some text"}
	var open []string
	for _, asked := range account.Open {
		open = append(open, asked.Request)
		for _, option := range asked.Options {
			words = append(words, option.ID)
		}
	}
	slices.Sort(words)
	for _, word := range slices.Compact(words) {
		try := func(where, id, what string) {
			doc, ok := response(l, run, where, id, word)
			if !ok {
				return
			}
			plan, err := m.Step(with(s, doc))
			if err != nil || len(plan.Transitions) > 0 || slices.ContainsFunc(plan.Writes, func(d engine.Document) bool { return d.Path == run.State }) {
				problems = append(problems, fmt.Sprintf("the answer %q to %s moves it: %s, error %v", word, what, planText(plan), err))
			}
		}
		try(nobody, nobody, "a request that does not exist")
		for _, id := range open {
			try(id, nobody, "another request in the folder of "+id)
		}
		for _, id := range closed(s) {
			if !slices.Contains(open, id) {
				try(id, id, "the closed request "+id)
			}
		}
	}
	return problems
}

// closed returns the ids of the requests that have a receipt, sorted.
func closed(s engine.Snapshot) []string {
	var ids []string
	for _, d := range s.Under(layout.RequestsDir) {
		if rel := s.Rel(d.Path); path.Base(rel) == "receipt.json" && d.Present() {
			ids = append(ids, path.Base(path.Dir(rel)))
		}
	}
	return ids
}

// response returns the document of an answer; ok is false if the layout
// knows no such place.
func response(l layout.Family, run layout.Run, where, id, word string) (engine.Document, bool) {
	p := layout.RequestPath(run.Dir, where, "response.json")
	f, ok := fileOf(l, run, p)
	if !ok {
		return engine.Document{}, false
	}
	body, err := schemas.Encode(schemas.Object{
		{Name: "request_id", Value: id},
		{Name: "response", Value: word},
		{Name: "comment", Value: "not asked for"},
		{Name: "provided_by", Value: schemas.Object{{Name: "user", Value: "stranger"}, {Name: "source", Value: "file"}}},
	})
	if err != nil {
		return engine.Document{}, false
	}
	return engine.Document{Path: p, Kind: f.Kind, Body: body, Sum: engine.Sum(body), Known: []string{"owner:stranger"}}, true
}

// with returns a snapshot with one document added or replaced.
func with(s engine.Snapshot, doc engine.Document) engine.Snapshot {
	s = copySnapshot(s)
	doc.Changed = s.Now
	i := sort.Search(len(s.Docs), func(i int) bool { return s.Docs[i].Path >= doc.Path })
	if i < len(s.Docs) && s.Docs[i].Path == doc.Path {
		s.Docs[i] = doc
		return s
	}
	s.Docs = slices.Insert(s.Docs, i, doc)
	return s
}

// planText returns in a few words what a plan wants.
func planText(p engine.Plan) string {
	var parts []string
	for _, tr := range p.Transitions {
		parts = append(parts, rowText(tr.Edge))
	}
	for _, w := range p.Writes {
		parts = append(parts, "write "+w.Path)
	}
	for _, r := range p.Removes {
		parts = append(parts, "remove "+r)
	}
	for _, l := range p.Lines {
		parts = append(parts, "append to "+l.Path)
	}
	for _, a := range p.Actions {
		parts = append(parts, "begin "+a.ID)
	}
	for _, id := range p.Ends {
		parts = append(parts, "end "+id)
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}
