package provider

import (
	"io"
	"os"
	"time"
)

// linger is how long the output of a command's descendants is still read after
// the command itself has ended.
const linger = 2 * time.Second

// drain reads one output of a check through a pipe.
type drain struct {
	r, w *os.File
	kept capture
	over chan struct{}
}

func newDrain() (*drain, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &drain{r: r, w: w, over: make(chan struct{})}, nil
}

// begin reads until the last writer has closed its end. The program must have
// been started: from here on only it and its descendants hold that end.
func (d *drain) begin() {
	d.w.Close()
	go func() {
		defer close(d.over)
		_, _ = io.Copy(&d.kept, d.r) // what was read counts, however it ended
	}()
}

// end returns what was read. A writer that still holds the pipe after a last
// moment, in a session of its own, is no longer listened to.
func (d *drain) end() Output {
	_ = d.r.SetReadDeadline(time.Now().Add(linger / 4))
	<-d.over
	d.r.Close()
	return d.kept.output()
}

// abandon closes a pipe that nobody was given.
func (d *drain) abandon() {
	d.r.Close()
	d.w.Close()
}

// quiet waits until every drain is at its end, no longer than linger.
func quiet(drains ...*drain) {
	timer := time.NewTimer(linger)
	defer timer.Stop()
	for _, d := range drains {
		select {
		case <-d.over:
		case <-timer.C:
			return
		}
	}
}
