package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	Root  string   `json:"root"`
	Runs  []string `json:"runs"` // run folders, relative to the root
	Shape shape    `json:"shape"`
	// Syncfs syncs the whole file system twice, where that is cheaper than
	// every file and folder.
	Syncfs bool `json:"syncfs"`

	requests map[string]string // request folder by run, both absolute
}

// runFloor watches the request folders of the job's runs and answers every
// response.json. It prints "ready", then a line for every run that moved.
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
	if err := job.watch(w); err != nil {
		return err
	}
	fmt.Println("ready")
	for {
		runs, err := woken(w)
		if err != nil {
			return err
		}
		if err := job.move(runs); err != nil {
			return err
		}
		for _, run := range runs {
			fmt.Println(run)
		}
	}
}

// watch adds the request folder of every run.
func (j *floorJob) watch(w *fsnotify.Watcher) error {
	j.requests = map[string]string{}
	for _, run := range j.Runs {
		run = filepath.Join(j.Root, run)
		folders, err := filepath.Glob(filepath.Join(run, "requests", "*"))
		if err != nil || len(folders) != 1 {
			return fmt.Errorf("cannot watch %s: it has %d request folders, expected one", run, len(folders))
		}
		j.requests[run] = folders[0]
		if err := w.Add(folders[0]); err != nil {
			return err
		}
	}
	return nil
}

// woken waits for an answer and returns the runs of all that have come.
func woken(w *fsnotify.Watcher) ([]string, error) {
	var runs []string
	for {
		if len(runs) > 0 {
			select {
			case e := <-w.Events:
				runs = appendAnswered(runs, e)
				continue
			default:
				return runs, nil
			}
		}
		select {
		case e, open := <-w.Events:
			if !open {
				return nil, errors.New("the watcher was closed")
			}
			runs = appendAnswered(runs, e)
		case err := <-w.Errors:
			return nil, err
		}
	}
}

// appendAnswered adds the run whose response.json has come.
func appendAnswered(runs []string, e fsnotify.Event) []string {
	if !e.Has(fsnotify.Create) || filepath.Base(e.Name) != "response.json" {
		return runs
	}
	return append(runs, filepath.Dir(filepath.Dir(filepath.Dir(e.Name))))
}

// floorWidth is how many files are synced side by side.
const floorWidth = 32

// move does what a transition of each run does to the disk: every file under
// another name, one round of fsync; every rename, the state document last; one
// round of fsync of the folders.
func (j floorJob) move(runs []string) error {
	var files, folders []string
	seen := map[string]bool{}
	for _, run := range runs {
		for _, p := range j.Shape {
			name := j.place(run, p.Path)
			files = append(files, name)
			if dir := filepath.Dir(name); !seen[dir] {
				seen[dir] = true
				folders = append(folders, dir)
			}
		}
	}
	body := make([]byte, j.Shape.largest())
	err := abreast(len(files), func(i int) error { return j.put(files[i], body[:j.Shape[i%len(j.Shape)].Size]) })
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

// place is where a piece of the shape goes in a run: the request folder has
// its own name in each.
func (j floorJob) place(run, rel string) string {
	if rest, ok := strings.CutPrefix(rel, "requests/"); ok {
		_, name, _ := strings.Cut(rest, "/")
		return filepath.Join(j.requests[run], name)
	}
	return filepath.Join(run, rel)
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
