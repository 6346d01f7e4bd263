package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"placet/internal/await"
)

// scaleAttacks use up time, watches or patience, by documents that are too large, too many
// folders, and changes that never end.
var scaleAttacks = []attack{
	{
		name: "a state document of megabytes",
		does: "A run's state.json names tens of thousands of steps, so that whoever asks how the runs stand waits for minutes.",
		try: func(t *testing.T, p *place) {
			addRuns(p, 2)
			p.write(p.runs[1]+"/state.json", manySteps(p, tortured(50_000, 250_000)))
			for _, verb := range []string{"status", "inbox", "check"} {
				out, _ := p.placet(verb)
				if verb != "check" && !strings.Contains(out, p.requestID(0)) {
					t.Errorf("%s does not show the other run's request: %s", verb, out)
				}
			}
		},
	},
	{
		name: "folders that hold nothing",
		does: "A workspace holds hundreds of folders that look like runs and are none, so that they use up the watches.",
		try: func(t *testing.T, p *place) {
			const junk, most = 400, 100
			addRuns(p, 1)
			for i := range junk {
				p.mkdir(junkFolder(i))
				p.mkdir(fmt.Sprintf(".fractary/faber/runs/top%d/web", i))
			}
			d := p.start("sh", "-c", fmt.Sprintf(`exec "$@" --watches %d`, most), "sh")
			defer d.stop(syscall.SIGTERM)
			p.await(d)
			p.until("the form is written", p.opened)
			if n := inotifyWatches(t, d.cmd.Process.Pid); n > most || n < 4 {
				t.Errorf("%d watches, %d at most", n, most)
			}
			if said := d.said(); strings.Count(said, "folders at most") != 1 {
				t.Errorf("said:\n%s", said)
			}
			p.until("status says where nothing is watched", func() bool {
				out, _ := p.placet("status")
				return strings.Contains(out, "the daemon gets no file events in")
			})
			// A waiting run is watched, and a run that begins in such a folder is found.
			p.write(p.request(0)+"/response.json", p.response(0, "approve", ""))
			p.until("the answer is taken", func() bool { return p.answered(0) })
			p.runs = append(p.runs, junkFolder(junk-1))
			p.write(p.runs[1]+"/state.json", fmt.Sprintf(waitingState, filepath.Base(p.runs[1]), 2))
			p.until("the run is served", func() bool { return p.read(p.request(1)+"/form.md") != "" })
		},
	},
	{
		name: "a merge that nobody finishes",
		does: "A MERGE_HEAD stands in .git although git is not at work, so that nothing is ever decided.",
		try: func(t *testing.T, p *place) {
			addRuns(p, 1)
			p.write(".git/HEAD", "ref: refs/heads/main\n")
			p.write(".git/MERGE_HEAD", "")
			out, _ := p.placet("once")
			if !strings.Contains(out, "nothing is decided: git is rewriting the tree (MERGE_HEAD)") || p.opened() {
				t.Errorf("a merge under way does not hold: %s", out)
			}
			old := oldFile(t, 11*time.Minute)
			if os.Getuid() != 0 {
				t.Skip("a file can be made to look old by root alone")
			}
			head := filepath.Join(p.root, ".git/MERGE_HEAD")
			if out, err := exec.Command("mount", "--bind", old, head).CombinedOutput(); err != nil {
				t.Skipf("cannot bind a file: %s", out)
			}
			t.Cleanup(func() { _ = syscall.Unmount(head, detach) })
			if out, _ = p.placet("once"); !p.opened() {
				t.Errorf("an old merge holds: %s", out)
			}
			const stale = "MERGE_HEAD has stood for 10 minutes"
			for _, verb := range [][]string{{"status"}, {"explain", p.runs[0][len(p.runs[0])-36:]}, {"doctor"}} {
				if out, _ := p.placet(verb...); !strings.Contains(out, stale) {
					t.Errorf("%s does not say so: %s", verb[0], out)
				}
			}
			d := p.start()
			defer d.stop(syscall.SIGTERM)
			p.await(d)
			p.write(p.request(0)+"/response.json", p.response(0, "approve", ""))
			p.until("the answer is taken", func() bool { return p.answered(0) })
			if n := strings.Count(d.said(), stale); n != 1 {
				t.Errorf("said %d times:\n%s", n, d.said())
			}
		},
	},
	{
		name: "changes that never end",
		does: "A run's state.json is rewritten, and its problem note deleted, in a loop, so that the daemon is always at work.",
		try: func(t *testing.T, p *place) {
			addRuns(p, 2)
			p.write(p.runs[1]+"/state.json", `{"status": "no such word"}`)
			d := p.start()
			defer d.stop(syscall.SIGTERM)
			p.await(d)
			note := filepath.Join(p.root, p.runs[1], "state.json.problem.md")
			p.until("the note and the form are written", func() bool {
				_, err := os.Lstat(note)
				return err == nil && p.read(p.request(0)+"/form.md") != ""
			})
			bad := p.read(p.runs[1] + "/state.json")
			over, ended := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(ended)
				for {
					select {
					case <-over:
						return
					default:
						_ = os.Remove(note)
						p.replace(p.runs[1]+"/state.json", bad)
					}
				}
			}()
			defer func() { close(over); <-ended }()
			// An answer is accepted meanwhile.
			p.write(p.request(0)+"/response.json", p.response(0, "approve", ""))
			p.until("the answer is taken", func() bool { return p.answered(0) })
			p.verify(0, "approve")
		},
	},
	{
		name: "a foreign name for the metrics",
		does: "A page in a browser has a name of its own point to this machine and asks for the metrics; others keep connections open.",
		try: func(t *testing.T, p *place) {
			addRuns(p, 1)
			d := p.measured()
			defer d.stop(syscall.SIGTERM)
			p.await(d)
			at := strings.TrimSuffix(strings.TrimPrefix(d.metricsURL(), "http://"), "/metrics")
			_, port, err := net.SplitHostPort(at)
			if err != nil {
				t.Fatal(err)
			}
			idle, err := net.Dial("tcp", at)
			if err != nil {
				t.Fatal(err)
			}
			defer idle.Close()
			if _, err := fmt.Fprintf(idle, "GET /metrics HTTP/1.1\r\nHost: %s\r\n\r\n", at); err != nil {
				t.Fatal(err)
			}
			for host, want := range map[string]int{"evil.example:" + port: 421, "evil.example": 421, "localhost:" + port: 200, at: 200} {
				request, err := http.NewRequest(http.MethodGet, d.metricsURL(), nil)
				if err != nil {
					t.Fatal(err)
				}
				request.Host = host
				response, err := http.DefaultClient.Do(request)
				if err != nil {
					t.Fatal(err)
				}
				body, _ := io.ReadAll(response.Body)
				response.Body.Close()
				if response.StatusCode != want || strings.Contains(string(body), "placet_runs") != (want == 200) {
					t.Errorf("Host %s: %d", host, response.StatusCode)
				}
			}
			context.AfterFunc(await.Context(t), func() { idle.Close() })
			if _, err := io.Copy(io.Discard, idle); err != nil {
				t.Errorf("an idle connection stays: %v", err)
			}
		},
	},
}

// addRuns adds runs that wait for an answer.
func addRuns(p *place, n int) { p.runs = newPlace(p.t, p.root, n).runs }

func (p *place) mkdir(rel string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Join(p.root, rel), 0o755); err != nil {
		p.t.Fatal(err)
	}
}

// replace puts a file in another's place.
func (p *place) replace(rel, body string) {
	p.t.Helper()
	p.write(rel+".tmp", body)
	if err := os.Rename(filepath.Join(p.root, rel+".tmp"), filepath.Join(p.root, rel)); err != nil {
		p.t.Fatal(err)
	}
}

// manySteps is the state of the second run with so many steps.
func manySteps(p *place, n int) string {
	type step struct {
		ID     string `json:"id"`
		Status string `json:"status"`
	}
	steps := make([]step, n)
	for i := range steps {
		steps[i] = step{fmt.Sprintf("s%d", i), "completed"}
	}
	body, err := json.Marshal(map[string]any{
		"run_id": "acme/web/" + filepath.Base(p.runs[1]), "status": "in_progress", "updated_at": "2026-11-20T10:00:00Z",
		"phases": map[string]any{"architect": map[string]any{"status": "in_progress", "steps": steps}},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return string(body)
}

func junkFolder(i int) string {
	return fmt.Sprintf(".fractary/faber/runs/aaa/web/%08x-1111-4000-8000-%012x", i, i)
}

// inotifyWatches counts the watches of a process.
func inotifyWatches(t *testing.T, pid int) (n int) {
	t.Helper()
	infos, err := filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", pid))
	if err != nil || len(infos) == 0 {
		t.Skip("this system does not tell what a process watches")
	}
	for _, name := range infos {
		body, _ := os.ReadFile(name) // it may be closed by now
		n += strings.Count(string(body), "inotify wd:")
	}
	return n
}

// oldFile returns a file of the system that nobody has changed for that long.
func oldFile(t *testing.T, age time.Duration) string {
	t.Helper()
	enough := time.Now().Add(-age)
	for _, name := range []string{"/bin/sh", "/bin/true", "/etc/passwd"} {
		name, err := filepath.EvalSymlinks(name)
		var st syscall.Stat_t
		if err == nil && syscall.Stat(name, &st) == nil && changedAt(&st).Before(enough) {
			return name
		}
	}
	t.Skip("no file here is old enough")
	return ""
}
