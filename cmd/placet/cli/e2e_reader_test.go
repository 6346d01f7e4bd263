package cli_test

import (
	"os"
	"syscall"
	"testing"
)

// A daemon goes on accepting answers after the reader of its output has gone away. It prints
// the request on standard output before the answer is there. On standard error it prints
// something before the first form only if it says its address for metrics.
func TestWatchOutlivesItsReader(t *testing.T) {
	t.Parallel()
	for name, redirect := range map[string]string{
		"standard output": `exec "$@" 2>/dev/null`,
		"standard error":  `exec "$@" --metrics 127.0.0.1:0 2>&1 >/dev/null`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, t.TempDir(), 1)
			reader, writer, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer writer.Close()
			reader.Close()
			d := p.startTo(writer, "sh", "-c", redirect, "sh")
			defer d.stop(syscall.SIGTERM)
			p.until("the form is written", p.opened)
			p.write(p.request(0)+"/response.json", p.response(0, "approve", "c"))
			p.until("the run is answered", func() bool { return p.answered(0) })
			p.verify(0, "approve")
			// A daemon that died of its first line would still have answered before it.
			if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := d.cmd.Wait(); err != nil {
				t.Errorf("the daemon did not end in order: %v", err)
			}
		})
	}
}
