package recall

import (
	"crypto/sha256"
	"time"
	"unique"

	"placet/engine"
	"placet/engine/store"
	"placet/layout"
)

// Entry is what is kept of one run.
type Entry struct {
	// Peek is what the state document said, State how it looked.
	Peek  engine.Peek
	State store.Sight
	// Rest is what a look at the whole run has shown; nil where there was none.
	Rest *Rest
}

// Rest is a run that nothing is to be done for while it looks the same.
type Rest struct {
	// Sight is all that the look depended on besides the facts, whose mark Facts
	// is.
	Sight store.Sight
	Facts uint64
	// It holds from At until Until, which is Wake or a moment before it; zero
	// stands for ever.
	At, Until, Wake time.Time
	// Needs are what the machine needed, Dirs the folders to follow, outside
	// ones included, Notes the problem notes that stand.
	Needs, Dirs, Notes []string
	// View is what the caller makes of the run, "" where it made nothing.
	View string
}

// key stands for a run as the layout found it.
type key [16]byte

func keyOf(run layout.Run) (k key) {
	var buf [512]byte
	b := buf[:0]
	for _, part := range [...]string{run.Family, run.ID, run.Dir, run.Class, run.State} {
		b = append(append(b, part...), 0)
	}
	sum := sha256.Sum256(b)
	copy(k[:], sum[:])
	return k
}

// Fits reports whether a rest may hold at a moment, given the facts' mark: whoever
// uses it must see that its sight holds.
func (r *Rest) Fits(now time.Time, facts uint64) bool {
	return r.Facts == facts && !now.Before(r.At) && (r.Until.IsZero() || now.Before(r.Until))
}

func (p *Packer) entry(e Entry) {
	p.Text(string(e.Peek.Status))
	p.Bool(e.Peek.Final)
	p.Bool(e.Peek.Waiting)
	p.Bool(e.Peek.Touched)
	p.Int(int64(e.Peek.Open))
	p.Time(e.Peek.Asked)
	p.sight(e.State)
	p.Bool(e.Rest != nil)
	if r := e.Rest; r != nil {
		p.sight(r.Sight)
		p.Int(int64(r.Facts))
		p.Time(r.At)
		p.Time(r.Until)
		p.Time(r.Wake)
		p.Texts(r.Needs)
		p.Texts(r.Dirs)
		p.Texts(r.Notes)
		p.Text(r.View)
	}
}

func (p *Packer) sight(s store.Sight) {
	p.Text(s.Names)
	p.b = append(p.b, s.Print[:]...)
}

func (u *Unpacker) sight() store.Sight { return store.Sight{Names: u.Text(), Print: u.print()} }

// peek reads the part of an entry that is about the state document. What is before
// it is for [Memory.First].
func (u *Unpacker) peek() (e Entry) {
	_ = u.Text()
	// There are few words for how a run stands, and they outlive the file.
	status := unique.Make(u.Text()).Value()
	e.Peek = engine.Peek{Status: engine.Status(status), Final: u.Bool(), Waiting: u.Bool(), Touched: u.Bool(), Open: int(u.Int()), Asked: u.Time()}
	e.State = u.sight()
	return e
}

func (u *Unpacker) entry() Entry {
	e := u.peek()
	if u.Bool() {
		e.Rest = &Rest{
			Sight: u.sight(), Facts: uint64(u.Int()), At: u.Time(), Until: u.Time(), Wake: u.Time(),
			Needs: u.Texts(), Dirs: u.Texts(), Notes: u.Texts(), View: u.Text(),
		}
	}
	return e
}
