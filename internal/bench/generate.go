package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// generate makes a workspace to look at by hand.
func generate(dir string, p population) error {
	if left, err := os.ReadDir(dir); err == nil && len(left) > 0 {
		return fmt.Errorf("cannot make a workspace in %s: it is not empty", dir)
	}
	root, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	w, err := newWorkspace(root)
	if err != nil {
		return err
	}
	began := time.Now()
	m, err := makeMoulds()
	if err != nil {
		return err
	}
	if err := w.populate(p, m); err != nil {
		return err
	}
	_, err = fmt.Printf("%s: %s, made in %s; placet watch --once opens their requests\n", root, p, short(time.Since(began)))
	return err
}

// asPopulation returns the population that the flags ask for.
func asPopulation(runs, waiting int, events string, shares [2]int, seed uint64) (population, error) {
	low, high, ok := strings.Cut(events, ":")
	if !ok {
		high = low
	}
	shortest, err1 := strconv.Atoi(low)
	longest, err2 := strconv.Atoi(high)
	switch {
	case err1 != nil || err2 != nil || shortest < 1 || longest < shortest:
		return population{}, fmt.Errorf("-events takes two numbers from 1, as 1:10000, not %q", events)
	case min(shares[0], shares[1]) < 0 || shares[0]+shares[1] > 100:
		return population{}, errors.New("-sessions and -cycles take shares of a hundred runs")
	case waiting > runs:
		return population{}, errors.New("-waiting cannot be more than -runs")
	}
	return population{ended: runs - waiting, waiting: waiting, sessions: shares[0], cycles: shares[1], shortest: shortest, longest: longest, seed: seed}, nil
}
