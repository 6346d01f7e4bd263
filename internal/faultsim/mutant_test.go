package main

import (
	"errors"
	iofs "io/fs"
	"path"
	"strings"
	"syscall"
	"testing"

	"placet/engine/loop"
	"placet/engine/store/fs"
	"placet/layout"
)

// These tests show that a laboratory that finds nothing could find something. Each mutant breaks
// one rule of the commit, as a file system between the store and the disk, or as a machine.

// liar is a file system that changes some calls.
type liar struct {
	fs.FS
	syncDir func(dir string) error
	syncAll func(dir string) error
	rename  func(from, to string, how fs.Move) error
	remove  func(name string) error
	file    func(name string, f fs.File) fs.File
}

func (l *liar) SyncDir(dir string) error {
	if l.syncDir != nil {
		return l.syncDir(dir)
	}
	return l.FS.SyncDir(dir)
}

func (l *liar) SyncAll(dir string) error {
	if l.syncAll != nil {
		return l.syncAll(dir)
	}
	return l.FS.SyncAll(dir)
}

func (l *liar) Rename(from, to string, how fs.Move) error {
	if l.rename != nil {
		return l.rename(from, to, how)
	}
	return l.FS.Rename(from, to, how)
}

func (l *liar) Remove(name string) error {
	if l.remove != nil {
		return l.remove(name)
	}
	return l.FS.Remove(name)
}

func (l *liar) Open(name string, how fs.How, perm iofs.FileMode) (fs.File, error) {
	f, err := l.FS.Open(name, how, perm)
	if err == nil && l.file != nil {
		f = l.file(name, f)
	}
	return f, err
}

// lyingFile is a file that changes some calls.
type lyingFile struct {
	fs.File
	sync     func(fs.File) error
	write    func(fs.File, []byte) (int, error)
	truncate func(int64) error
	close    func() error
}

func (f lyingFile) Sync() error {
	if f.sync != nil {
		return f.sync(f.File)
	}
	return f.File.Sync()
}

func (f lyingFile) Write(p []byte) (int, error) {
	if f.write != nil {
		return f.write(f.File, p)
	}
	return f.File.Write(p)
}

func (f lyingFile) Truncate(size int64) error {
	if f.truncate != nil {
		return f.truncate(size)
	}
	return f.File.Truncate(size)
}

func (f lyingFile) Close() error {
	if f.close != nil {
		return f.close()
	}
	return f.File.Close()
}

// syncing is a file system whose files are synced in another way.
func syncing(sync func(fs.File) error) func(fs.FS) fs.FS {
	return func(d fs.FS) fs.FS {
		return &liar{FS: d, file: func(_ string, f fs.File) fs.File { return lyingFile{File: f, sync: sync} }}
	}
}

var mutants = []struct {
	name  string
	phase string
	step  int // the step in which it can be found
	wrap  func(fs.FS) fs.FS
	clerk clerk
	want  string // in the laboratory's report
}{
	{name: "no fsync of folders", phase: "crash", want: "", wrap: func(d fs.FS) fs.FS {
		return &liar{FS: d, syncDir: func(string) error { return nil }}
	}},
	{name: "no fsync of files", phase: "crash", want: "", wrap: syncing(func(fs.File) error { return nil })},
	{name: "rename before fsync", step: 2, phase: "crash", want: "", wrap: lateSync},
	{name: "a failed fsync is repeated", step: 2, phase: "lie", want: "the power cut has", wrap: syncing(func(f fs.File) error {
		err := f.Sync()
		if errors.Is(err, syscall.EIO) {
			err = f.Sync()
		}
		return err
	})},
	{name: "a failed fsync is not heard", step: 2, phase: "lie", want: "the power cut has", wrap: syncing(func(f fs.File) error {
		if err := f.Sync(); !errors.Is(err, syscall.EIO) {
			return err
		}
		return nil
	})},
	{name: "a failed fsync of a folder is not heard", step: 2, phase: "lie", want: "the power cut has", wrap: func(d fs.FS) fs.FS {
		return &liar{FS: d, syncDir: func(dir string) error {
			if err := d.SyncDir(dir); !errors.Is(err, syscall.EIO) {
				return err
			}
			return nil
		}}
	}},
	{name: "receipt after state", step: 2, phase: "other", want: "", wrap: lateReceipt},
	{name: "the state document is replaced, not exchanged", step: 3, phase: "other", want: "reads otherwise", wrap: blindSwap},
	{name: "temporary files stay", phase: "crash", want: "a temporary file is left", wrap: func(d fs.FS) fs.FS {
		return &liar{FS: d, remove: func(name string) error {
			if layout.IsTemp(path.Base(name)) {
				return nil
			}
			return d.Remove(name)
		}}
	}},
	{name: "torn lines stay", step: 2, phase: "crash", want: "log.jsonl reads otherwise", wrap: func(d fs.FS) fs.FS {
		return &liar{FS: d, file: func(_ string, f fs.File) fs.File {
			return lyingFile{File: f, truncate: func(int64) error { return nil }}
		}}
	}},
	{name: "what a killed placet left is not made durable", step: 0, phase: "pair", want: "the power cut has lost it", wrap: func(d fs.FS) fs.FS {
		return &liar{FS: d, syncAll: func(string) error { return nil }}
	}},
	{name: "no time is taken over", step: 2, phase: "other", want: "", clerk: clerk{forgetful: true}},
}

// lateSync syncs contents only when their names are synced.
func lateSync(d fs.FS) fs.FS {
	var late []func()
	return &liar{FS: d,
		file: func(_ string, f fs.File) fs.File {
			synced := false
			return lyingFile{File: f,
				sync: func(fs.File) error { synced = true; return nil },
				close: func() error {
					if !synced {
						return f.Close()
					}
					late = append(late, func() { _ = f.Sync(); _ = f.Close() })
					return nil
				}}
		},
		syncDir: func(dir string) error {
			for _, do := range late {
				do()
			}
			late = nil
			return d.SyncDir(dir)
		}}
}

// lateReceipt puts the receipt in place only after the state document.
func lateReceipt(d fs.FS) fs.FS {
	var late func() error
	return &liar{FS: d, rename: func(from, to string, how fs.Move) error {
		if strings.HasSuffix(to, "/receipt.json") {
			late = func() error { return d.Rename(from, to, how) }
			return nil
		}
		err := d.Rename(from, to, how)
		if err == nil && how == fs.Exchange && late != nil {
			do := late
			late = nil
			return do()
		}
		return err
	}}
}

// blindSwap replaces a file instead of exchanging it: what others wrote in between is lost.
func blindSwap(d fs.FS) fs.FS {
	return &liar{FS: d, rename: func(from, to string, how fs.Move) error {
		if how == fs.Exchange {
			return errors.ErrUnsupported
		}
		return d.Rename(from, to, how)
	}}
}

// mutantLab returns a laboratory for one mutant: with the toy family's scenario alone, until the first failure.
func mutantLab(t *testing.T, wrap func(fs.FS) fs.FS, m clerk, step int) *lab {
	t.Helper()
	st := deskStory()
	st.family = loop.Family{Layout: desk{}, Machine: m}
	l, err := newLab([]*story{st}, variants[:1], wrap)
	if err != nil {
		t.Fatal(err)
	}
	l.enough, l.steps = 1, []int{step}
	return l
}

// lives is the number of schedules after which a mutant must be found.
const lives = 100_000

func TestEveryMutantIsFound(t *testing.T) {
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			l := mutantLab(t, m.wrap, m.clerk, m.step)
			l.run([]string{m.phase}, budget{schedules: lives}, 2, true, func(string) {})
			if len(l.failures) == 0 {
				t.Fatalf("not found in %d schedules", l.told.Load())
			}
			t.Logf("found after %d schedules: %s", l.told.Load(), l.failures[0])
			if !strings.Contains(l.failures[0].problem, m.want) {
				t.Errorf("what is wrong does not hold %q", m.want)
			}
			s, err := l.parse(l.failures[0].schedule)
			if err != nil {
				t.Fatal(err)
			}
			if again := l.tell(s, nil); again == "" {
				t.Errorf("told again, nothing is wrong with %s", s)
			}
		})
	}
}
