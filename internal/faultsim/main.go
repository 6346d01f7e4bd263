package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strings"
	"time"
)

func main() {
	length := flag.Duration("for", 5*time.Minute, "how long the laboratory is open at most")
	seed := flag.Uint64("seed", 1, "what is left to chance")
	only := flag.String("only", "", "phases and stories to go through, comma-separated: "+strings.Join(phases, ", ")+"; desk, group, …")
	replay := flag.String("replay", "", "a schedule to tell call by call, as a failure prints it")
	profile := flag.String("cpuprofile", "", "where to write a profile of the processor's time")
	flag.Parse()
	debug.SetGCPercent(800) // executions are soon garbage
	if *profile != "" {
		f, err := os.Create(*profile)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		defer pprof.StopCPUProfile()
	}
	l, err := newLab(stories(), variants, nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	l.seed = *seed
	if *replay != "" {
		os.Exit(l.replay(*replay))
	}
	if !l.all(*only, *length) {
		pprof.StopCPUProfile()
		os.Exit(1)
	}
}

// replay runs one schedule and prints it call by call.
func (l *lab) replay(text string) int {
	s, err := l.parse(text)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	problem := l.tell(s, os.Stdout)
	if problem == "" {
		fmt.Println("nothing is wrong")
		return 0
	}
	fmt.Println("wrong:", problem)
	return 1
}

// all runs the phases, and reports whether nothing was wrong.
func (l *lab) all(only string, length time.Duration) bool {
	words := strings.FieldsFunc(only, func(r rune) bool { return r == ',' })
	isPhase := func(w string) bool { return slices.Contains(phases, w) }
	chosen, named := phases, slices.DeleteFunc(slices.Clone(words), isPhase)
	if len(named) < len(words) {
		chosen = slices.DeleteFunc(slices.Clone(phases), func(p string) bool { return !slices.Contains(words, p) })
	}
	if len(named) > 0 {
		l.scenes = slices.DeleteFunc(l.scenes, func(sc *scene) bool {
			return !slices.Contains(named, sc.name) && !slices.Contains(named, sc.variant.name)
		})
	}
	l.run(chosen, budget{length: length}, runtime.GOMAXPROCS(0), false, func(line string) { fmt.Println(line) })
	for _, f := range l.failures {
		fmt.Println(f)
	}
	return len(l.failures) == 0
}

// String returns what went wrong, and how to reproduce it.
func (f failure) String() string {
	return fmt.Sprintf("\nWRONG %s\n  go run ./internal/faultsim -seed %d -replay '%s'", f.problem, f.seed, f.schedule)
}
