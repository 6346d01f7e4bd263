package exec

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/internal/leftovers"
	"placet/layout"
)

// TestMain lets the test program stand in for programs that no shell script can replace.
func TestMain(m *testing.M) {
	switch os.Getenv("PLACET_TEST_PROGRAM") {
	case "leave-the-group":
		leaveTheGroup()
	case "placet":
		playPlacet()
	default:
		os.Exit(leftovers.Run(m))
	}
}

// leaveTheGroup gets a session of its own, keeps the outputs it was given and
// stays.
func leaveTheGroup() {
	if _, err := syscall.Setsid(); err != nil {
		panic(err)
	}
	open, err := os.OpenFile("gate", os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(open, "ready")
	open.Close()
	stay()
}

// stay waits until the process is killed.
func stay() {
	never := make(chan os.Signal, 1)
	signal.Notify(never, syscall.SIGUSR1)
	<-never
}

// playPlacet begins one agent and one check, and waits to be killed. If OUTCOMES is
// "none", their ends are facts.
func playPlacet() {
	wd, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	state, err := os.OpenRoot(wd)
	if err != nil {
		panic(err)
	}
	r := NewRunner(wd, store.New(fs.OS(wd), store.Options{}), RunnerOptions{State: state, Families: []layout.Family{runFamily{}}})
	for _, kind := range []string{"agent", "check"} {
		a := engine.Action{
			ID: kind, Outcome: "run/" + kind + ".json",
			Fields:  []engine.Field{{Name: "action", Value: kind}, {Name: "n", Value: 1}},
			Command: engine.Command{Argv: []string{"sh", "-c", os.Getenv("SCRIPT"), kind}, Agent: kind == "agent"},
		}
		if os.Getenv("OUTCOMES") == "none" {
			a.Outcome = ""
		}
		r.Begin(a)
	}
	stay()
}
