package watch

// owners is a small set of non-empty strings. Nearly all folders belong to one
// run, and there may be many of them, so one owner costs no more than itself.
type owners struct {
	one  string
	more map[string]struct{}
}

func (o *owners) empty() bool { return o.one == "" && len(o.more) == 0 }

func (o *owners) add(owner string) {
	switch {
	case o.one == owner:
	case o.one == "" && o.more == nil:
		o.one = owner
	default:
		if o.more == nil {
			o.more = map[string]struct{}{}
		}
		o.more[owner] = struct{}{}
	}
}

func (o *owners) remove(owner string) {
	if o.one == owner {
		o.one = ""
	}
	delete(o.more, owner)
}

func (o *owners) each(yield func(string) bool) {
	if o.one != "" && !yield(o.one) {
		return
	}
	for m := range o.more {
		if !yield(m) {
			return
		}
	}
}
