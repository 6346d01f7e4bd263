// Command bench measures placet's speed figures and prints them as a table.
//
//	make bench                              everything, a few minutes
//	make bench BENCHFLAGS='-only S1,S4'     some of it
//	make bench BENCHFLAGS='-runs 100000'    the large workspaces of the figures
//	make bench-smoke                        does every measurement still run?
//
//	go run ./internal/bench -generate DIR -runs 100000 -waiting 100 -events 1:10000 -seed 1
//
// makes a workspace of all families to look at by hand (population.go).
//
// An absolute time says as much about the disk as about the program, so speeds are ratios to a
// floor that is measured in the same run, in turn: a bare program that fsnotify wakes and that
// makes files of the same number and sizes durable in the cheapest safe way, without reading,
// parsing, validating or deciding (floor.go). It uses real files and the real daemon.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// bench is one run of the measurements.
type bench struct {
	placet string // the binary
	dir    string // the folder of the workspaces, on the disk that is measured
	scale
	table *table
	moulds
}

// scale is the size of the measurements.
type scale struct {
	smoke   bool
	answers int // one after the other, S1
	forms   int // S2
	burst   int // S3
	runs    int // the large number of S4 and S6
	events  int // the long history of S4
	waiting int // S5, S6, S9
	starts  int // S5, S9, S10
	// attempts is how many A1 measures, and checkpoints are the sizes of its sessions.
	attempts    int
	checkpoints [2]int
	cycles      int // O1
	listed      int // S12, D1, D2
	calling     int // F1
	idle        time.Duration
}

var (
	fullScale  = scale{answers: 300, forms: 40, burst: 2000, runs: 10000, events: 10000, waiting: 10000, starts: 5, attempts: 160, checkpoints: [2]int{10, 200}, cycles: 1000, listed: 1000, calling: 5000, idle: 10 * time.Second}
	smokeScale = scale{smoke: true, answers: 6, forms: 2, burst: 20, runs: 50, events: 50, waiting: 20, starts: 1, attempts: 4, checkpoints: [2]int{5, 8}, cycles: 10, listed: 20, calling: 40, idle: time.Second}
)

// measurement is one figure of the list.
type measurement struct {
	id string
	do func(*bench) error
}

var measurements = []measurement{
	{"S1", (*bench).oneAnswer},
	{"S2", (*bench).oneForm},
	{"S3", (*bench).burstOfAnswers},
	{"S4", (*bench).growth},
	{"S5", (*bench).coldStart},
	{"S6", (*bench).memory},
	{"S8", (*bench).idleness},
	{"S9", (*bench).views},
	{"S10", (*bench).binary},
	{"A1", (*bench).oneAttempt},
	{"S12", (*bench).listing},
	{"D1", (*bench).pages},
	{"O1", (*bench).burstOfReports},
	{"H1", (*bench).hooks},
	{"F1", (*bench).calls},
	{"W1", (*bench).progress},
	{"M1", (*bench).agents},
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	var b bench
	asFloor := flag.Bool("floor", false, "be the floor (used by the bench itself)")
	flag.StringVar(&b.placet, "placet", "bin/placet", "the binary to measure")
	flag.StringVar(&b.dir, "dir", "bin", "where to make workspaces: on the disk to measure")
	smoke := flag.Bool("smoke", false, "a small run that proves that every measurement works")
	only := flag.String("only", "", "ids of measurements, with commas")
	var asked scale
	flag.IntVar(&asked.answers, "answers", 0, "how many answers S1 and S4 take")
	flag.IntVar(&asked.burst, "burst", 0, "how many answers S3 gives at once")
	flag.IntVar(&asked.runs, "runs", 0, "how many runs S4, S6 and S8 grow to")
	flag.IntVar(&asked.waiting, "waiting", 0, "how many runs wait in S5, S6 and S8, and are looked at in S9")
	flag.IntVar(&asked.calling, "calling", 0, "how many answers F1 gives over HTTP")
	into := flag.String("generate", "", "make a workspace in this folder, of -runs and -waiting, and measure nothing")
	events := flag.String("events", "1:10000", "with -generate: the least and the most events of a FABER run")
	sessions := flag.Int("sessions", sessionShare, "with -generate: how many of a hundred runs are AFL sessions")
	cycles := flag.Int("cycles", cycleShare, "with -generate: about how many of a hundred runs are optimisation cycles")
	seed := flag.Uint64("seed", 1, "with -generate: the same seed gives the same files")
	flag.Parse()
	if *asFloor {
		return runFloor()
	}
	if *into != "" {
		p, err := asPopulation(asked.runs, asked.waiting, *events, [2]int{*sessions, *cycles}, *seed)
		if err != nil {
			return err
		}
		return generate(*into, p)
	}
	b.scale = fullScale
	if *smoke {
		b.scale = smokeScale
	}
	b.override(asked)
	return b.measure(*only)
}

// override takes over the sizes that were set.
func (s *scale) override(asked scale) {
	for _, size := range []struct{ have, want *int }{
		{&s.answers, &asked.answers}, {&s.burst, &asked.burst}, {&s.runs, &asked.runs}, {&s.waiting, &asked.waiting},
		{&s.calling, &asked.calling},
	} {
		if *size.want > 0 {
			*size.have = *size.want
		}
	}
}

// measure makes a folder for the workspaces, measures, and prints the table.
func (b *bench) measure(only string) error {
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	if b.placet, err = filepath.Abs(b.placet); err != nil {
		return err
	}
	if _, err := os.Stat(b.placet); err != nil {
		return fmt.Errorf("cannot measure %q: %w: make build makes it", b.placet, err)
	}
	if b.dir, err = filepath.Abs(b.dir); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp(b.dir, "bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	b.table = newTable(os.Stdout)
	b.table.head()
	for _, m := range chosen {
		if err := m.do(b); err != nil {
			return fmt.Errorf("%s: %w", m.id, err)
		}
	}
	return b.table.end()
}

// choose returns the measurements that a list of ids names; "" means all.
func choose(only string) ([]measurement, error) {
	if only == "" {
		return measurements, nil
	}
	var chosen []measurement
	for id := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(measurements, func(m measurement) bool { return m.id == strings.TrimSpace(id) })
		if i < 0 {
			return nil, errors.New("unknown measurement " + id)
		}
		chosen = append(chosen, measurements[i])
	}
	return chosen, nil
}

// fresh makes an empty workspace of that name.
func (b *bench) fresh(name string) (workspace, error) {
	root := filepath.Join(b.dir, name)
	if err := os.RemoveAll(root); err != nil {
		return workspace{}, err
	}
	return newWorkspace(root)
}
