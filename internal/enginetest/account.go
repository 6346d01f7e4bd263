package enginetest

import "placet/engine"

// Account returns the state of a run as the reading verbs show it; id is the
// run's, as in its key.
func (d *Desk) Account(id string) engine.RunView {
	d.T.Helper()
	runs, err := d.w.loop.Runs()
	if err != nil {
		d.T.Fatal(err)
	}
	for _, f := range runs {
		if f.Run.ID != id {
			continue
		}
		seen, err := d.w.loop.Look(f)
		if err != nil {
			d.T.Fatal(err)
		}
		return f.Family.Machine.Account(seen.Snap)
	}
	d.T.Fatalf("there is no run %q", id)
	return engine.RunView{}
}
