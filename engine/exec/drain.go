package exec

import (
	"io"
	"os"
	"time"

	"placet/engine/testoutput"
)

// linger is how long the output of a command's descendants is still read after
// the command itself has ended.
const linger = 2 * time.Second

// drain reads one output of a check through a pipe.
type drain struct {
	r, w  *os.File
	kept  capture
	whole *testoutput.Window // nil where nobody judges
	over  chan struct{}
}

func newDrain(h hearing) (*drain, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &drain{r: r, w: w, kept: capture{limits: h.limits()}, whole: h.window(), over: make(chan struct{})}, nil
}

// begin reads until the last writer has closed its end. The program must have
// been started: from here on only it and its descendants hold that end.
func (d *drain) begin() {
	d.w.Close()
	var to io.Writer = &d.kept
	if d.whole != nil {
		to = io.MultiWriter(to, d.whole)
	}
	go func() {
		defer close(d.over)
		_, _ = io.Copy(to, d.r) // what was read counts, however it ended
	}()
}

// end returns what was read. A writer that still holds the pipe after a last
// moment, in a session of its own, is no longer listened to.
func (d *drain) end() sound {
	_ = d.r.SetReadDeadline(time.Now().Add(linger / 4))
	<-d.over
	d.r.Close()
	return sound{kept: d.kept.output(), whole: d.whole}
}

// abandon closes pipes that nobody was given.
func abandon(drains []*drain) {
	for _, d := range drains {
		d.r.Close()
		d.w.Close()
	}
}

// quiet waits until every drain is at its end, no longer than linger.
func quiet(drains []*drain) {
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
