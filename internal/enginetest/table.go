package enginetest

import (
	"slices"

	"placet/engine"
)

// tableLaws walks the table to check what is possible, whatever a step does.
func tableLaws(t T, s Suite) {
	t.Helper()
	rows := s.Machine.Edges()
	if len(rows) == 0 {
		t.Errorf("the table is empty")
	}
	if again := s.Machine.Edges(); !slices.Equal(rows, again) {
		t.Errorf("the table is another one when it is asked for again")
	}
	for i, row := range rows {
		if row.Of == "" || row.Event == "" || row.To == "" {
			t.Errorf("row %s is incomplete: of, event and to must be set", rowText(row))
		}
		if slices.Contains(rows[:i], row) {
			t.Errorf("row %s stands twice", rowText(row))
		}
		if slices.Contains(s.Final[row.Of], row.From) && !slices.Contains(s.WaysOut, row) {
			t.Errorf("row %s leads out of a final status", rowText(row))
		}
		if slices.Contains(s.Foreign, row) {
			t.Errorf("row %s is said to be made by others", rowText(row))
		}
	}
	for _, out := range s.WaysOut {
		if !slices.Contains(rows, out) {
			t.Errorf("the way out %s is no row of the table", rowText(out))
		}
	}
	for _, of := range kinds(rows) {
		walkLaws(t, s, of, of2rows(rows, of), of2rows(s.Foreign, of))
	}
	personLaws(t, s, rows)
}

// walkLaws checks what the table and the transitions of others together allow,
// for one kind of thing that has a status.
func walkLaws(t T, s Suite, of string, rows, foreign []engine.Edge) {
	t.Helper()
	all := append(slices.Clone(rows), foreign...)
	starts := slices.Clone(s.Start[of])
	for _, row := range all {
		if row.From == "" {
			starts = append(starts, row.To)
		}
	}
	reached := closure(starts, all, func(e engine.Edge) (engine.Status, engine.Status) { return e.From, e.To })
	ends := closure(s.Final[of], all, func(e engine.Edge) (engine.Status, engine.Status) { return e.To, e.From })
	for _, status := range statuses(all) {
		if !reached[status] {
			t.Errorf("%s: nothing leads to the status %q", of, status)
		}
		if !ends[status] {
			t.Errorf("%s: from the status %q no final one can be reached", of, status)
		}
	}
	for _, status := range s.Final[of] {
		if !slices.Contains(statuses(all), status) {
			t.Errorf("%s: the final status %q is in no row", of, status)
		}
	}
}

// personLaws checks that a person can move things on from every status: what
// only others could move is stuck when they are gone.
func personLaws(t T, s Suite, rows []engine.Edge) {
	t.Helper()
	if len(s.Persons) == 0 {
		return
	}
	for _, event := range s.Persons {
		if !slices.ContainsFunc(rows, func(e engine.Edge) bool { return e.Event == event }) {
			t.Errorf("the event %q of a person is in no row", event)
		}
	}
	for _, of := range kinds(rows) {
		own := of2rows(rows, of)
		var held []engine.Status
		for _, row := range own {
			if slices.Contains(s.Persons, row.Event) {
				held = append(held, row.From)
			}
		}
		if len(held) == 0 {
			continue // it moves only together with something else
		}
		can := closure(append(held, s.Final[of]...), own, func(e engine.Edge) (engine.Status, engine.Status) { return e.To, e.From })
		for _, status := range statuses(append(slices.Clone(own), of2rows(s.Foreign, of)...)) {
			if !can[status] {
				t.Errorf("%s: in the status %q there is nothing that a person can do", of, status)
			}
		}
	}
}

// closure returns the statuses that can be reached from some statuses along the
// rows, in the direction of way.
func closure(from []engine.Status, rows []engine.Edge, way func(engine.Edge) (a, b engine.Status)) map[engine.Status]bool {
	seen := map[engine.Status]bool{}
	for _, s := range from {
		seen[s] = true
	}
	for grown := true; grown; {
		grown = false
		for _, row := range rows {
			if a, b := way(row); seen[a] && !seen[b] {
				seen[b], grown = true, true
			}
		}
	}
	return seen
}

// statuses returns the statuses that the rows name, in their order.
func statuses(rows []engine.Edge) []engine.Status {
	var all []engine.Status
	for _, row := range rows {
		for _, s := range []engine.Status{row.From, row.To} {
			if s != "" && !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	return all
}

// kinds returns the kinds of the rows, in their order.
func kinds(rows []engine.Edge) []string {
	var all []string
	for _, row := range rows {
		if !slices.Contains(all, row.Of) {
			all = append(all, row.Of)
		}
	}
	return all
}

func of2rows(rows []engine.Edge, of string) []engine.Edge {
	var own []engine.Edge
	for _, row := range rows {
		if row.Of == of {
			own = append(own, row)
		}
	}
	return own
}

func rowText(e engine.Edge) string {
	return string(e.Of) + ": " + string(e.From) + " --" + e.Event + "→ " + string(e.To)
}
