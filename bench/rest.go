package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// once has placet settle a workspace. A request that is open is what the bench
// wants: exit code 3.
func (b *bench) once(w workspace) error {
	out, err := b.verb(w, "once")
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 3 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot measure: placet once: %w\n%s", err, out)
	}
	return nil
}

func (b *bench) verb(w workspace, args ...string) ([]byte, error) {
	cmd := exec.Command(b.placet, args...)
	cmd.Dir, cmd.Env = w.root, quietEnv()
	return cmd.CombinedOutput()
}

// crowd makes a workspace with the waiting runs of S5, S6, S8 and S9.
func (b *bench) crowd(name string) (workspace, error) {
	w, err := b.fresh(name)
	if err != nil {
		return w, err
	}
	if err := many(b.waiting, func(n int) error { return w.waiting(n, 5) }); err != nil {
		return w, err
	}
	return w, b.once(w)
}

// coldStart is S5: from the start of the daemon until it is ready.
func (b *bench) coldStart() error {
	w, err := b.crowd("crowd")
	if err != nil {
		return err
	}
	var warm, cold times
	for range b.starts {
		took, err := b.start(w)
		if err != nil {
			return err
		}
		warm = append(warm, took)
		if dropped := dropCaches(); !dropped {
			continue
		}
		if took, err = b.start(w); err != nil {
			return err
		}
		cold = append(cold, took)
	}
	b.table.most("S5", fmt.Sprintf("ready with %d waiting runs", b.waiting), warm.median().Seconds(), 0.3, "s")
	if len(cold) > 0 {
		b.table.note("S5", "the same, page cache dropped", short(cold.median()))
	}
	return os.RemoveAll(w.root)
}

// start returns how long the daemon takes to be ready.
func (b *bench) start(w workspace) (time.Duration, error) {
	p, err := startPlacet(b.placet, w.root)
	if err != nil {
		return 0, err
	}
	p.stop()
	return p.after, nil
}

// dropCaches empties the page cache; only root may, and only where the system
// has one to empty.
func dropCaches() bool {
	return exec.Command("sync").Run() == nil && os.WriteFile("/proc/sys/vm/drop_caches", []byte("3\n"), 0) == nil
}

// memory is S6: what stays resident when nothing is to be done.
func (b *bench) memory() error {
	for _, kind := range []struct {
		what               string
		waiting, completed int
		goal               float64
	}{
		{"an empty workspace", 0, 0, 16},
		{fmt.Sprintf("%d waiting runs", b.waiting), b.waiting, 0, 32},
		{fmt.Sprintf("%d completed runs", b.runs), 0, b.runs, 48},
	} {
		s, err := b.open("memory", kind.waiting, kind.completed, 5)
		if err != nil {
			return err
		}
		time.Sleep(b.idle / 5) // what the start needed is given back
		kib, err := s.daemon.resident()
		if err != nil {
			return err
		}
		b.table.most("S6", "resident with "+kind.what, float64(kib)/1024, kind.goal, "MiB")
		if err := s.close(); err != nil {
			return err
		}
	}
	return nil
}

// idleness is S8: processor time when nothing is to be done.
func (b *bench) idleness() error {
	s, err := b.open("idle", b.waiting/2, b.runs/2, 5)
	if err != nil {
		return err
	}
	time.Sleep(b.idle / 5)
	before, err := s.daemon.processor()
	if err != nil {
		return err
	}
	time.Sleep(b.idle)
	after, err := s.daemon.processor()
	if err != nil {
		return err
	}
	share := 100 * float64(after-before) / float64(b.idle)
	b.table.most("S8", fmt.Sprintf("processor, idle, %d runs", b.waiting/2+b.runs/2), share, 0.2, "%")
	return s.close()
}

// views is S9: the verbs that look at everything.
func (b *bench) views() error {
	w, err := b.crowd("views")
	if err != nil {
		return err
	}
	for _, v := range []struct {
		verb string
		goal float64
	}{{"status", 0.1}, {"inbox", 0.1}, {"check", 1.5}} {
		var all times
		for range b.starts {
			began := time.Now()
			out, err := b.verb(w, v.verb)
			all = append(all, time.Since(began))
			var exit *exec.ExitError
			if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 3) {
				return fmt.Errorf("cannot measure: placet %s: %w\n%.2000s", v.verb, err, out)
			}
		}
		b.table.most("S9", fmt.Sprintf("placet %s, %d waiting runs, warm", v.verb, b.waiting), all.median().Seconds(), v.goal, "s")
	}
	return os.RemoveAll(w.root)
}

// binary is S10: how large the program is, and how long from its start to the
// first answer taken.
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

// firstAnswer starts the daemon where an answer already lies, long enough not
// to be still being written, and returns the time until it is taken.
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
