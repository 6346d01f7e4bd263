package workspace

import (
	"fmt"
	"os"
	"syscall"

	"placet/engine"
	"placet/engine/recall"
	"placet/engine/reconcile"
)

// mark stands for this program and its user in what is kept between two starts:
// another program may make something else of the same files, and another user may
// be refused some of them. ok is false where the program cannot tell which it is.
func mark() (m string, ok bool) {
	info, err := os.Stat("/proc/self/exe") // the one that runs, even if it was replaced since
	if err != nil {
		var exe string
		if exe, err = os.Executable(); err == nil {
			info, err = os.Stat(exe)
		}
	}
	if err != nil {
		return "", false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", false
	}
	return fmt.Sprint(st.Dev, st.Ino, info.Size(), info.ModTime().UnixNano(), changedNano(st), os.Geteuid(), os.Getegid()), true
}

// recalled returns the view that an earlier placet made of a run, if it holds.
func (b *Workspace) recalled(round *reconcile.Recall, f reconcile.Found) (v View, ok bool) {
	packed, ok := round.View(f)
	if !ok {
		return View{}, false
	}
	u := recall.Unpack(packed)
	v = unpackView(u)
	if u.Bad {
		return View{}, false
	}
	v.Found, v.Key = f, f.Key()
	now := b.Env.Now()
	for i := range v.Open {
		a := &v.Open[i]
		a.Run, a.Overdue = v.Key, !a.Deadline.IsZero() && !now.Before(a.Deadline)
	}
	return v, true
}

// packView packs what the verbs that look at every run show of one: no facts, no
// plan, no log.
func packView(v View) string {
	var p recall.Packer
	p.Text(v.Class)
	p.Text(v.Short)
	p.Text(string(v.Status))
	for _, is := range []bool{v.Final, v.Absent, v.Stands} {
		p.Bool(is)
	}
	p.Time(v.Since)
	p.Text(v.Awaited)
	packAll(&p, v.Open, packAsked)
	packAll(&p, v.Notes, func(p *recall.Packer, n Note) { p.Text(n.Path); p.Text(n.Text) })
	packAll(&p, v.Untrusted, func(p *recall.Packer, u engine.Untrusted) {
		p.Text(u.Name)
		p.Text(string(u.Digest))
		p.Text(u.Text)
		p.Texts(u.Argv)
		p.Text(u.Prefer)
	})
	packAll(&p, v.Findings, func(p *recall.Packer, f engine.Finding) {
		p.Text(f.Severity)
		p.Text(f.Path)
		p.Text(f.Text)
		p.Bool(f.Urgent)
	})
	p.Texts(v.stray)
	return string(p.Bytes())
}

func unpackView(u *recall.Unpacker) (v View) {
	v.Class, v.Short, v.Status = u.Text(), u.Text(), engine.Status(u.Text())
	v.Final, v.Absent, v.Stands = u.Bool(), u.Bool(), u.Bool()
	v.Since, v.Awaited = u.Time(), u.Text()
	v.Open = unpackAll(u, unpackAsked)
	v.Notes = unpackAll(u, func(u *recall.Unpacker) Note { return Note{u.Text(), u.Text()} })
	v.Untrusted = unpackAll(u, func(u *recall.Unpacker) engine.Untrusted {
		return engine.Untrusted{Name: u.Text(), Digest: engine.Digest(u.Text()), Text: u.Text(), Argv: u.Texts(), Prefer: u.Text()}
	})
	v.Findings = unpackAll(u, func(u *recall.Unpacker) engine.Finding {
		return engine.Finding{Severity: u.Text(), Path: u.Text(), Text: u.Text(), Urgent: u.Bool()}
	})
	v.stray = u.Texts()
	return v
}

// packAsked packs a request; whose it is and whether it is overdue is not kept.
func packAsked(p *recall.Packer, a engine.Asked) {
	for _, text := range []string{
		a.Request, a.Type, a.Where, a.Prompt, a.Summary, a.Form, a.Response, string(a.Digest), a.Problem, a.Default, a.NoReject,
	} {
		p.Text(text)
	}
	p.Bool(a.FreeText)
	p.Bool(a.Multiple)
	p.Time(a.RequestedAt)
	p.Time(a.Deadline)
	p.Texts(a.Artifacts)
	p.Texts(a.CommentRequired)
	p.Texts(a.Several)
	packAll(p, a.Options, func(p *recall.Packer, o engine.AskedOption) {
		p.Text(o.ID)
		p.Text(o.Description)
		p.Text(o.Effect)
		p.Texts(o.Words)
	})
	packAll(p, a.Items, func(p *recall.Packer, it engine.AskedItem) { p.Text(it.ID); p.Text(it.Label) })
}

func unpackAsked(u *recall.Unpacker) (a engine.Asked) {
	for _, into := range []*string{
		&a.Request, &a.Type, &a.Where, &a.Prompt, &a.Summary, &a.Form, &a.Response, (*string)(&a.Digest), &a.Problem, &a.Default, &a.NoReject,
	} {
		*into = u.Text()
	}
	a.FreeText, a.Multiple = u.Bool(), u.Bool()
	a.RequestedAt, a.Deadline = u.Time(), u.Time()
	a.Artifacts, a.CommentRequired, a.Several = u.Texts(), u.Texts(), u.Texts()
	a.Options = unpackAll(u, func(u *recall.Unpacker) engine.AskedOption {
		return engine.AskedOption{ID: u.Text(), Description: u.Text(), Effect: u.Text(), Words: u.Texts()}
	})
	a.Items = unpackAll(u, func(u *recall.Unpacker) engine.AskedItem { return engine.AskedItem{ID: u.Text(), Label: u.Text()} })
	return a
}

func packAll[T any](p *recall.Packer, all []T, pack func(*recall.Packer, T)) {
	p.Int(int64(len(all)))
	for _, one := range all {
		pack(p, one)
	}
}

// unpackAll is nil for an empty list.
func unpackAll[T any](u *recall.Unpacker, unpack func(*recall.Unpacker) T) []T {
	var all []T
	for range u.Count() {
		all = append(all, unpack(u))
	}
	return all
}
