package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"
)

// The floor is the cheapest program that does the same on disk: it is woken by
// a file event, makes files of the same number and sizes durable in two rounds
// of fsync, and says so. It reads nothing, checks nothing and decides nothing.
// It runs as a program of its own, as placet does.

// floorJob is what the floor is told on its standard input.
type floorJob struct {
	Root string     `json:"root"`
	Runs []floorRun `json:"runs"`
	// Answer is the file that sets a run going.
	Answer string `json:"answer"`
	// Rounds are the commits that follow it, one after the other.
	Rounds []shape `json:"rounds"`
	// Syncfs syncs the whole file system twice, where that is cheaper than
	// every file and folder.
	Syncfs bool `json:"syncfs"`
}

// floorRun is something that moves when its answer comes.
type floorRun struct {
	Dir   string `json:"dir"`   // the run's folder, relative to the root
	Watch string `json:"watch"` // where the answer comes, relative to the root
	// Own are the parts of the shape's paths that are the run's own, each
	// followed by what stands for it in a shape.
	Own []string `json:"own"`
}

// runFloor watches the folders of the job's runs for answers. It prints "ready",
// then a line for every run that moved.
func runFloor() error {
	var job floorJob
	if err := json.NewDecoder(os.Stdin).Decode(&job); err != nil {
		return err
	}
	w, err := fsnotify.NewBufferedWatcher(1 << 16)
	if err != nil {
		return err
	}
	defer w.Close()
	runs := map[string]floorRun{}
	for _, run := range job.Runs {
		dir := filepath.Join(job.Root, run.Watch)
		runs[dir] = run
		if err := w.Add(dir); err != nil {
			return err
		}
	}
	fmt.Println("ready")
	for {
		woken, err := job.woken(w, runs)
		if err != nil {
			return err
		}
		if err := job.move(woken); err != nil {
			return err
		}
		for _, run := range woken {
			fmt.Println(run.Watch)
		}
	}
}

// woken waits for an answer and returns the runs of all that have come.
func (j floorJob) woken(w *fsnotify.Watcher, runs map[string]floorRun) ([]floorRun, error) {
	var woken []floorRun
	answered := func(e fsnotify.Event) {
		if e.Has(fsnotify.Create) && filepath.Base(e.Name) == j.Answer {
			woken = append(woken, runs[filepath.Dir(e.Name)])
		}
	}
	for {
		if len(woken) > 0 {
			select {
			case e := <-w.Events:
				answered(e)
				continue
			default:
				return woken, nil
			}
		}
		select {
		case e, open := <-w.Events:
			if !open {
				return nil, errors.New("the watcher was closed")
			}
			answered(e)
		case err := <-w.Errors:
			return nil, err
		}
	}
}

// floorWidth is how many files are synced side by side.
const floorWidth = 32

// move does what the commits of each run do to the disk.
func (j floorJob) move(runs []floorRun) error {
	for _, s := range j.Rounds {
		if err := j.commit(runs, s); err != nil {
			return err
		}
	}
	return nil
}

// commit does what a transition of each run does to the disk: every file under
// another name, one round of fsync; every rename, the state document last; one
// round of fsync of the folders.
func (j floorJob) commit(runs []floorRun, s shape) error {
	var files, folders []string
	seen := map[string]bool{}
	for _, run := range runs {
		for _, p := range s {
			name := filepath.Join(j.Root, run.Dir, run.place(p.Path))
			files = append(files, name)
			if dir := filepath.Dir(name); !seen[dir] {
				seen[dir] = true
				folders = append(folders, dir)
			}
		}
	}
	body := make([]byte, s.largest())
	err := abreast(len(files), func(i int) error { return j.put(files[i], body[:s[i%len(s)].Size]) })
	if err == nil && j.Syncfs {
		err = syncfs(j.Root)
	}
	if err != nil {
		return err
	}
	for _, name := range files {
		if err := os.Rename(name+".tmp", name); err != nil {
			return err
		}
	}
	if j.Syncfs {
		return syncfs(j.Root)
	}
	return abreast(len(folders), func(i int) error { return syncFolder(folders[i]) })
}

// place is where a piece of a shape goes in a run.
func (r floorRun) place(rel string) string {
	for i := 0; i < len(r.Own); i += 2 {
		rel = strings.ReplaceAll(rel, r.Own[i+1], r.Own[i])
	}
	return rel
}

// general puts what stands for them in place of the parts of a shape's paths
// that are a run's own.
func (r floorRun) general(s shape) shape {
	own := slices.Clone(s)
	for i := range own {
		own[i].Path = strings.NewReplacer(r.Own...).Replace(own[i].Path)
	}
	return own
}

func (s shape) largest() (n int) {
	for _, p := range s {
		n = max(n, p.Size)
	}
	return n
}

// abreast does n things, floorWidth of them at a time.
func abreast(n int, do func(int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	slots := make(chan struct{}, floorWidth)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			errs[i] = do(i)
			<-slots
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// put writes a file under its temporary name and, unless the whole file system
// is synced afterwards, syncs it.
func (j floorJob) put(name string, body []byte) error {
	f, err := os.OpenFile(name+".tmp", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(body); err != nil || j.Syncfs {
		return err
	}
	return f.Sync()
}

func syncFolder(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

func syncfs(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Syncfs(int(f.Fd()))
}
