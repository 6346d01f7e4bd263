package watch

import "slices"

// manyOwners is the number of owners from which a folder keeps them in a map.
// Nearly all folders belong to one run.
const manyOwners = 8

// owners is a small set of strings.
type owners struct {
	few  []string
	many map[string]struct{}
}

func (o *owners) empty() bool { return len(o.few) == 0 && len(o.many) == 0 }

func (o *owners) add(owner string) {
	if o.many != nil {
		o.many[owner] = struct{}{}
		return
	}
	if slices.Contains(o.few, owner) {
		return
	}
	if len(o.few) < manyOwners {
		o.few = append(o.few, owner)
		return
	}
	o.many = map[string]struct{}{owner: {}}
	for _, f := range o.few {
		o.many[f] = struct{}{}
	}
	o.few = nil
}

func (o *owners) remove(owner string) {
	delete(o.many, owner)
	if i := slices.Index(o.few, owner); i >= 0 {
		o.few = slices.Delete(o.few, i, i+1)
	}
}

func (o *owners) each(visit func(string)) {
	for _, f := range o.few {
		visit(f)
	}
	for m := range o.many {
		visit(m)
	}
}
