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
)

// The floor is the cheapest program that makes the same changes to the disk: a
// file event wakes it, it makes files of the same number and sizes durable in
// two rounds of fsync, and reports that. It reads nothing, checks nothing and
// decides nothing. It runs as its own program, as placet does.

// floorJob is the job that the floor reads from its standard input.
type floorJob struct {
	Root string     `json:"root"`
	Runs []floorRun `json:"runs"`
	// Answer is the file that starts a run.
	Answer string `json:"answer"`
	// Rounds are the commits after it, one after the other.
	Rounds []shape `json:"rounds"`
	// Syncfs syncs the whole file system twice, if that is cheaper than syncing
	// every file and folder.
	Syncfs bool `json:"syncfs"`
}

// floorRun is something that moves when its answer arrives.
type floorRun struct {
	Dir   string `json:"dir"`   // the run's folder, relative to the root
	Watch string `json:"watch"` // where the answer arrives, relative to the root
	// Own are the parts of the shape's paths that are the run's own, each
	// followed by its placeholder in a shape.
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

// woken waits for an answer and returns the runs whose answers have arrived.
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

// floorWidth is how many files are synced in parallel.
const floorWidth = 32

// move makes the changes of each run's commits to the disk.
func (j floorJob) move(runs []floorRun) error {
	for _, s := range j.Rounds {
		if err := j.commit(runs, s); err != nil {
			return err
		}
	}
	return nil
}

// commit makes the changes of a transition of each run to the disk: it writes
// every file under another name, in one round of fsync; renames them all, the
// state document last; and syncs the folders, in one round.
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

// place returns the path of a piece of a shape in a run.
func (r floorRun) place(rel string) string {
	for i := 0; i < len(r.Own); i += 2 {
		rel = strings.ReplaceAll(rel, r.Own[i+1], r.Own[i])
	}
	return rel
}

// general replaces the parts of a shape's paths that are a run's own by
// their placeholders.
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

// abreast calls do n times, at most floorWidth of them in parallel.
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

// put writes a file under its temporary name and syncs it, unless the whole
// file system is synced afterwards.
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
