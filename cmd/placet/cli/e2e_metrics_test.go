package cli_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"placet/internal/await"
)

// measured starts a daemon that serves its metrics.
func (p *place) measured(more ...string) *daemon {
	return p.start(append(more, "sh", "-c", `exec "$@" --metrics 127.0.0.1:0`, "sh")...)
}

// metricsURL returns the address that the daemon printed, "" before it does.
func (d *daemon) metricsURL() string {
	_, after, _ := strings.Cut(d.said(), "placet: metrics on ")
	url, _, _ := strings.Cut(after, "\n")
	return url
}

// readings are the values of all metrics, by name and labels.
type readings map[string]float64

// scrape asks the daemon for its metrics.
func (p *place) scrape(d *daemon) readings {
	p.t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(await.Context(p.t), http.MethodGet, d.metricsURL(), nil)
	if err != nil {
		p.t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		p.t.Fatalf("%v\n%s", err, d.said())
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		p.t.Fatalf("%d, %v: %s", response.StatusCode, err, body)
	}
	r := readings{}
	for text := range strings.Lines(string(body)) {
		if strings.HasPrefix(text, "#") {
			continue
		}
		i := strings.LastIndexByte(text, ' ')
		value, err := strconv.ParseFloat(strings.TrimSpace(text[i+1:]), 64)
		if err != nil {
			p.t.Fatalf("%q: %v", text, err)
		}
		r[text[:i]] = value
	}
	return r
}

// reads waits for values of metrics.
func (p *place) reads(d *daemon, want readings) {
	p.t.Helper()
	var wrong []string
	defer func() {
		if len(wrong) > 0 {
			p.t.Logf("%s\n%s", strings.Join(wrong, "\n"), d.said())
		}
	}()
	p.until("the metrics say so", func() bool {
		got := p.scrape(d)
		wrong = nil
		for name, value := range want {
			if have, ok := got[name]; !ok || have != value {
				wrong = append(wrong, fmt.Sprintf("%s is %v (there: %v), want %v", name, have, ok, value))
			}
		}
		return wrong == nil
	})
}

// difficulties are the states that are 1.
func (r readings) difficulties() (states []string) {
	for name, value := range r {
		if state, ok := strings.CutPrefix(name, `placet_degraded{state="`); ok && value != 0 {
			states = append(states, strings.TrimSuffix(state, `"}`))
		}
	}
	return states
}

// The metrics of a daemon say who waits and since when, what moved, what was refused, and that
// git holds it up.
func TestMetricsOfADaemon(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "workspace"), 3)
	p.write(".git/HEAD", "ref: refs/heads/main\n")
	d := p.measured()
	defer d.stop(syscall.SIGTERM)
	p.await(d)
	p.until("all forms are written", p.opened)
	p.reads(d, readings{
		`placet_waiting_requests{family="faber"}`: 3, `placet_waiting_requests{family="afl"}`: 0,
		`placet_runs{family="faber",standing="waiting"}`: 3, `placet_runs{family="faber",standing="final"}`: 0,
		`placet_transitions_total{event="request_opened",family="faber",from="awaiting_feedback",of="run",to="awaiting_feedback"}`: 3,
		`placet_oldest_wait_seconds{family="afl"}`: 0, `placet_refused_inputs_total{family="faber"}`: 0,
	})
	asked := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	now := time.Now()
	const oldest = `placet_oldest_wait_seconds{family="faber"}`
	p.until("the oldest has waited until now", func() bool { return p.scrape(d)[oldest] >= now.Sub(asked).Seconds() })
	r := p.scrape(d)
	if now = time.Now(); r[oldest] > max(now.Sub(asked).Seconds(), 0) {
		t.Errorf("the oldest waits since %v s, and it is %v", r[oldest], now)
	}
	if r["placet_commit_duration_seconds_count"] < 1 || r[`placet_pass_duration_seconds_count{family="faber"}`] < 3 {
		t.Errorf("commits %v, passes %v", r["placet_commit_duration_seconds_count"], r[`placet_pass_duration_seconds_count{family="faber"}`])
	}
	if got := r.difficulties(); got != nil {
		t.Errorf("degraded: %q", got)
	}

	p.write(p.request(0)+"/response.json", p.response(0, "perhaps", "c"))
	p.reads(d, readings{`placet_refused_inputs_total{family="faber"}`: 1, `placet_waiting_requests{family="faber"}`: 3})
	p.write(p.request(1)+"/response.json", p.response(1, "reject", "c"))
	p.write(p.request(2)+"/response.json", p.response(2, "approve", "c"))
	p.reads(d, readings{
		`placet_waiting_requests{family="faber"}`: 1,
		`placet_transitions_total{event="answered_continue",family="faber",from="awaiting_feedback",of="run",to="in_progress"}`: 1,
	})

	p.write(".git/index.lock", "")
	p.reads(d, readings{`placet_degraded{state="git_hold"}`: 1})
	if err := os.Remove(filepath.Join(p.root, ".git/index.lock")); err != nil {
		t.Fatal(err)
	}
	p.reads(d, readings{`placet_degraded{state="git_hold"}`: 0})
	for name := range p.scrape(d) {
		for _, text := range []string{p.root, "acme", "fr-2026", "tester"} {
			if strings.Contains(name, text) {
				t.Errorf("%s shows %q", name, text)
			}
		}
	}
}

// The code for metrics makes the program half as large again. A daemon without metrics has no
// part of that in memory. It releases pages when it begins and every minute: those that it
// needs right after it began may stay until the second time.
func TestAnIdleDaemonIsSmall(t *testing.T) {
	p := newPlace(t, t.TempDir(), 0)
	d := p.start("sh", "-c", `shift && exec "$0" "$@"`, inPages(t))
	defer d.stop(syscall.SIGTERM)
	p.await(d)
	const most = 8 << 10 // KiB of the program's file; some 16 MiB at the start. With what Go uses, 14 MiB
	resident := 0
	defer func() {
		if t.Failed() {
			t.Errorf("%d KiB of files are resident, at most %d are used by a daemon at rest", resident, most)
		}
	}()
	p.until("what a start needs is let go", func() bool {
		resident = d.residentOfFile()
		return resident > 0 && resident <= most
	})
}

// inPages returns a copy of the program that was written page by page, so that the page cache
// has it in single pages. A file that was written or read in one go may be cached in pieces of
// up to 2 MiB, and Linux may map such a piece whole for one byte that is needed: then the
// program does not decide how much is resident.
func inPages(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "placet")
	// Another process copies it: a child that another test forks meanwhile would keep the files
	// open that this process has open for writing, and such a file cannot be executed.
	if out, err := exec.Command("dd", "bs="+strconv.Itoa(os.Getpagesize()), "if="+placetBinary(t), "of="+name).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Chmod(name, 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

// residentOfFile returns how many KiB of files, mostly the program's own, a daemon has
// resident; 0 if the system does not say.
func (d *daemon) residentOfFile() int {
	body, _ := os.ReadFile("/proc/" + strconv.Itoa(d.cmd.Process.Pid) + "/status")
	for text := range strings.Lines(string(body)) {
		fields := strings.Fields(text)
		if len(fields) == 3 && fields[0] == "RssFile:" {
			kib, err := strconv.Atoi(fields[1])
			if err == nil {
				return kib
			}
		}
	}
	return 0
}

// The metrics answer as soon as the daemon runs, and end with it. A port in use is reported
// before anything is watched.
func TestMetricsComeAndGoWithTheDaemon(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "workspace"), 1)
	d := p.measured()
	p.await(d)
	url := d.metricsURL()
	p.scrape(d)
	other := newPlace(t, filepath.Join(t.TempDir(), "workspace"), 1)
	address := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/metrics")
	out, code := other.placet("watch", "--metrics", address)
	if code != 2 || !strings.Contains(out, "the port is in use") || strings.Contains(out, "watching") {
		t.Errorf("a port in use: %d, %s", code, out)
	}
	if out, code = p.placet("watch", "--metrics", "127.0.0.1:0"); code != 1 || !strings.Contains(out, "another placet serves it") {
		t.Errorf("a second daemon: %d, %s", code, out)
	}
	d.stop(syscall.SIGTERM)
	if code := d.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("ended with %d: %s", code, d.said())
	}
	if _, err := http.Get(url); err == nil {
		t.Error("it answers still")
	}
}
