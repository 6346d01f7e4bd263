package cli_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// kill -9 in a loop while runs are answered: nothing is lost, nothing doubled.
func TestTortureKillNineLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	kills := tortured(6, 200)
	p := newPlace(t, t.TempDir(), kills/2)
	want := make([]string, len(p.runs))
	next := 0
	rng := rand.New(rand.NewPCG(1, 2))
	for k := range kills {
		d, before := p.start(), p.made()
		if k%3 == 2 {
			p.await(d)
		}
		for next < len(p.runs)*(k+1)/kills && p.read(p.request(next)+"/form.md") != "" && p.state(next).Revision > 0 {
			want[next] = answer(t, p, next)
			next++
		}
		more := before + rng.IntN(12)
		p.until("the daemon has written something, or serves", func() bool { return p.made() >= more || d.isReady() })
		jitter(time.Duration(rng.IntN(90)) * time.Millisecond)
		d.stop(syscall.SIGKILL)
	}
	d := p.start()
	p.await(d)
	p.until("all forms are written", func() bool {
		for ; next < len(p.runs); next++ {
			if p.read(p.request(next)+"/form.md") == "" || p.state(next).Revision < 1 {
				return false
			}
			want[next] = answer(t, p, next)
		}
		return true
	})
	for i := range p.runs {
		p.until("every run is answered", func() bool { return p.answered(i) })
	}
	d.stop(syscall.SIGTERM)
	if out, code := p.placet("once"); code != 0 {
		t.Errorf("once afterwards: %d: %s", code, out)
	}
	for i := range p.runs {
		p.verify(i, want[i])
	}
	t.Logf("%d kills, %d answers: none lost, none doubled", kills, len(p.runs))
	p.until("temporary files are gone", func() bool {
		p.placet("once")
		return len(temporaries(t, p.root)) == 0
	})
}

func answer(t *testing.T, p *place, i int) string {
	t.Helper()
	option := []string{"approve", "reject", "request_changes"}[i%3]
	if i%2 == 0 {
		if err := replaced("NAME.tmp")(filepath.Join(p.root, p.request(i), "response.json"), p.response(i, option, "c")); err != nil {
			t.Fatal(err)
		}
		return option
	}
	if option == "request_changes" {
		option = "approve"
	}
	if err := replaced("NAME.vsctmp")(filepath.Join(p.root, p.request(i), "form.md"), p.ticked(i, option)); err != nil {
		t.Fatal(err)
	}
	return option
}

// made counts the files in the folders of the runs.
func (p *place) made() (n int) {
	_ = filepath.WalkDir(filepath.Join(p.root, ".fractary"), func(string, os.DirEntry, error) error { n++; return nil })
	return n
}

func temporaries(t *testing.T, root string) []string {
	t.Helper()
	var left []string
	err := filepath.WalkDir(filepath.Join(root, ".fractary"), func(path string, d os.DirEntry, err error) error {
		if err == nil && len(d.Name()) > 8 && d.Name()[:8] == ".placet-" {
			left = append(left, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// A start finds the work that a crash left undone in a run that is final now.
func TestFinalRunsAreLookedAtOnceAfterAStart(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 1)
	p.placet("once")
	p.write(p.request(0)+"/response.json", p.response(0, "reject", "no"))
	p.placet("once")
	if st := p.state(0); st.Status != "cancelled" {
		t.Fatalf("status %s", st.Status)
	}
	receipt := filepath.Join(p.root, p.request(0), "receipt.json")
	if err := os.Remove(receipt); err != nil {
		t.Fatal(err)
	}
	// A state that has settled for a second is read at first sight, so that the run counts as
	// final from the beginning.
	p.until("state.json has stood still", func() bool {
		info, err := os.Stat(filepath.Join(p.root, p.runs[0], "state.json"))
		return err == nil && time.Now().After(info.ModTime().Add(1500*time.Millisecond))
	})
	d := p.start()
	defer d.stop(syscall.SIGTERM)
	p.await(d)
	p.until("the receipt is written again", func() bool { _, err := os.Stat(receipt); return err == nil })
	p.verify(0, "reject")
}
