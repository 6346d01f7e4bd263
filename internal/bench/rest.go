package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// once lets placet settle a workspace. The bench wants open requests, so exit
// code 3 is right.
func (b *bench) once(w workspace) error {
	out, err := b.verb(w, "once")
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 3 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot measure: placet watch --once: %w\n%s", err, out)
	}
	return nil
}

func (b *bench) verb(w workspace, args ...string) ([]byte, error) {
	cmd := exec.Command(b.placet, args...)
	cmd.Dir, cmd.Env = w.root, quietEnv(w.root)
	return cmd.CombinedOutput()
}

// coldStart is S5: from the start of the daemon until it is ready, with runs that
// all wait, and with very many runs.
func (b *bench) coldStart() error {
	if err := b.startsAmong(crowd(b.waiting)); err != nil {
		return err
	}
	return b.piled()
}

// startsAmong measures starts without a cache, and with the cache of the start before.
func (b *bench) startsAmong(p population) error {
	w, err := b.grow("crowd", p)
	if err != nil {
		return err
	}
	var bare, kept, cold times
	for range b.starts {
		if err := w.forget(); err != nil {
			return err
		}
		for _, into := range []*times{&bare, &kept} {
			took, err := b.start(w)
			if err != nil {
				return err
			}
			*into = append(*into, took)
		}
		if !dropCaches() {
			continue
		}
		took, err := b.start(w)
		if err != nil {
			return err
		}
		cold = append(cold, took)
	}
	b.table.most("S5", "ready, "+p.String(), kept.median().Seconds(), 0.3, "s")
	b.table.note("S5", "the same, nothing kept of an earlier look", short(bare.median()))
	if len(cold) > 0 {
		b.table.note("S5", "the same, page cache dropped", short(cold.median()))
	}
	return os.RemoveAll(w.root)
}

// forget removes placet's caches.
func (w workspace) forget() error {
	for _, name := range remembered(w.root, "statcache") {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// keepWait is the longest time that a ready daemon takes to write its cache.
const keepWait = 3 * time.Second

// start returns how long the daemon takes to be ready.
func (b *bench) start(w workspace) (time.Duration, error) {
	p, err := startPlacet(b.placet, w.root)
	if err != nil {
		return 0, err
	}
	defer p.stop()
	for end := time.Now().Add(keepWait); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if len(remembered(w.root, "statcache")) > 0 {
			break
		}
	}
	return p.after, nil
}

// dropCaches empties the page cache; it needs root, and a system with a page
// cache to empty.
func dropCaches() bool {
	return exec.Command("sync").Run() == nil && os.WriteFile("/proc/sys/vm/drop_caches", []byte("3\n"), 0) == nil
}

// memory is S6: how much memory stays resident when nothing is to be done.
func (b *bench) memory() error {
	for _, kind := range []struct {
		what string
		population
		goal float64
	}{
		{"an empty workspace", population{}, 16},
		{fmt.Sprintf("%d waiting runs", b.waiting), crowd(b.waiting), 32},
		{fmt.Sprintf("%d runs that have ended", b.runs), population{ended: b.runs, sessions: sessionShare, longest: 100}, 48},
	} {
		w, err := b.grow("memory", kind.population)
		if err != nil {
			return err
		}
		kib, err := b.resident(w)
		if err != nil {
			return err
		}
		b.table.most("S6", "resident with "+kind.what, float64(kib)/1024, kind.goal, "MiB")
		if err := os.RemoveAll(w.root); err != nil {
			return err
		}
	}
	return nil
}

// resident returns how much memory a daemon that started a while ago uses, in KiB.
func (b *bench) resident(w workspace) (int, error) {
	p, err := startPlacet(b.placet, w.root)
	if err != nil {
		return 0, err
	}
	defer p.stop()
	time.Sleep(b.idle / 2) // so that the memory of the start is released
	return p.resident()
}

// idleness is S8: processor time when nothing is to be done, with runs that all
// wait and with runs of which few wait.
func (b *bench) idleness() error {
	for _, p := range []population{crowd(b.waiting), grown(b.runs, 100)} {
		w, err := b.grow("idle", p)
		if err != nil {
			return err
		}
		used, err := b.idles(w)
		if err != nil {
			return err
		}
		b.table.most("S8", "processor, idle, "+p.String(), 100*float64(used)/float64(b.idle), 0.2, "%")
		if err := os.RemoveAll(w.root); err != nil {
			return err
		}
	}
	return nil
}

// idles returns how much processor time a daemon without work uses.
func (b *bench) idles(w workspace) (time.Duration, error) {
	p, err := startPlacet(b.placet, w.root)
	if err != nil {
		return 0, err
	}
	defer p.stop()
	time.Sleep(b.idle / 2)
	before, err := p.processor()
	if err != nil {
		return 0, err
	}
	time.Sleep(b.idle)
	after, err := p.processor()
	return after - before, err
}

// views is S9: the verbs that read everything, with runs of which few wait and
// with runs that all wait.
func (b *bench) views() error {
	if err := b.viewsAmong(grown(b.waiting, 100)); err != nil {
		return err
	}
	return b.viewsAmong(crowd(b.waiting))
}

func (b *bench) viewsAmong(p population) error {
	w, err := b.grow("views", p)
	if err != nil {
		return err
	}
	for _, v := range []struct {
		verb string
		goal float64
	}{{"status", 0.1}, {"inbox", 0.1}, {"check", 1.5}} {
		if err := w.forget(); err != nil {
			return err
		}
		time.Sleep(2100 * time.Millisecond) // younger files are not cached
		bare, err := b.view(w, v.verb)
		if err != nil {
			return err
		}
		var kept times
		for range b.starts {
			took, err := b.view(w, v.verb)
			if err != nil {
				return err
			}
			kept = append(kept, took)
		}
		b.table.most("S9", fmt.Sprintf("placet %s, %s", v.verb, p), kept.median().Seconds(), v.goal, "s")
		b.table.note("S9", "the same, nothing kept of an earlier look", short(bare))
	}
	return os.RemoveAll(w.root)
}

// view returns how long a verb that only reads takes.
func (b *bench) view(w workspace, verb string) (time.Duration, error) {
	began := time.Now()
	out, err := b.verb(w, verb)
	took := time.Since(began)
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 3) {
		return 0, fmt.Errorf("cannot measure: placet %s: %w\n%.2000s", verb, err, out)
	}
	return took, nil
}

// binary is S10: the size of the program, and the time from its start to the
// first accepted answer.
func (b *bench) binary() error {
	info, err := os.Stat(b.placet)
	if err != nil {
		return err
	}
	b.table.most("S10", "size of the binary", float64(info.Size())/(1<<20), 25, "MiB")
	w, err := b.fresh("first")
	if err != nil {
		return err
	}
	var all times
	for i := range b.starts {
		if err := w.waiting(i, 5); err != nil {
			return err
		}
		if err := b.once(w); err != nil {
			return err
		}
		took, err := b.firstAnswer(w, i)
		if err != nil {
			return err
		}
		all = append(all, took)
	}
	b.table.most("S10", "start → first answer taken", float64(all.median())/float64(time.Millisecond), 50, "ms")
	return os.RemoveAll(w.root)
}

// firstAnswer starts the daemon when an answer has existed long enough not to be
// half written, and returns the time until it is accepted.
func (b *bench) firstAnswer(w workspace, n int) (time.Duration, error) {
	s := &site{workspace: w}
	from, to, err := s.stage(n)
	if err != nil {
		return 0, err
	}
	if err := os.Rename(from, to); err != nil {
		return 0, err
	}
	time.Sleep(1100 * time.Millisecond)
	if s.daemon, err = startPlacet(b.placet, w.root); err != nil {
		return 0, err
	}
	defer s.daemon.stop()
	m, err := s.daemon.next()
	return m.at.Sub(s.daemon.began), err
}
