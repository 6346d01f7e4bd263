package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"placet/cmd/placet/console"
)

// hostileRuns is how many runs wait for an approval in the workspace.
const hostileRuns = 2

// hostileWorkspace is a workspace with runs that wait, and a folder beside it that nobody may
// touch.
type hostileWorkspace struct {
	t         *testing.T
	top, root string
}

func newHostileWorkspace(t *testing.T) hostileWorkspace {
	t.Helper()
	top := t.TempDir()
	h := hostileWorkspace{t, top, filepath.Join(top, "ws")}
	put(t, top, "config/placet/placet.toml", "[gates]\n\"*\" = { approvers = [\"kim\"] }\n")
	put(t, top, "outside/keep.json", `{"keep": true}`)
	put(t, top, "outside/requests/fr-1/response.json", "{}")
	put(t, h.root, "src/main.go", "package main\n")
	put(t, h.root, ".git/objects/keep", "history")
	for i := range hostileRuns {
		put(t, h.root, h.run(i)+"/state.json", fmt.Sprintf(clockedState, h.uuid(i), "2026-11-20T10:00:00Z", i+1))
		put(t, h.root, h.run(i)+"/events/.next-id", "1\n")
	}
	return h
}

func (h hostileWorkspace) uuid(i int) string {
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", i+1, i+1)
}

func (h hostileWorkspace) run(i int) string { return ".fractary/faber/runs/acme/web/" + h.uuid(i) }

func (h hostileWorkspace) request(i int) string {
	return fmt.Sprintf("%s/requests/fr-20261120-%06d", h.run(i), i+1)
}

// once lets placet settle the workspace and returns what was decided.
func (h hostileWorkspace) once() (decided []string) {
	h.t.Helper()
	env := map[string]string{"HOME": h.top, "XDG_CONFIG_HOME": filepath.Join(h.top, "config"), "XDG_STATE_HOME": filepath.Join(h.top, "state")}
	var out, errs bytes.Buffer
	w := &console.Env{
		In: strings.NewReader(""), Out: &out, Err: &errs, Getenv: func(name string) string { return env[name] },
		Cwd: h.root, Now: time.Now, Flags: console.Flags{Workspace: h.root, JSON: true},
	}
	_ = settleOnce(context.Background(), w, false) // the program itself reports what is wrong with the workspace; nothing is decided
	var said struct{ Data onceData }
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &said); err != nil {
			h.t.Fatalf("%v: %s", err, out.Bytes())
		}
	}
	for _, move := range said.Data.Transitions {
		if strings.HasPrefix(move.Event, "answered") || move.Event == "expired" {
			decided = append(decided, move.Run+" "+move.Event)
		}
	}
	return decided
}

// answer makes the approver answer some of the requests, by the bits of a number.
func (h hostileWorkspace) answer(which byte) {
	for i := range hostileRuns {
		if which>>i&1 == 1 {
			word := []string{"approve", "reject"}[which>>(i+4)&1]
			put(h.t, h.root, h.request(i)+"/response.json", fmt.Sprintf(
				`{"request_id": "fr-20261120-%06d", "response": %q, "provided_by": {"user": "kim", "source": "file"}}`, i+1, word))
		}
	}
}

// hostileNames are the places for hostile files; %s stands for a run's folder or for a
// request's.
var hostileNames = []string{
	".placet", ".placet/lock", ".placet/now", ".placet/actions", ".placet/actions/0123456789abcdef/process.json", ".placet/statcache", ".placet/.gitignore",
	"%run/state.json", "%run/events", "%run/events/001-feedback_received.json", "%run/events/.next-id", "%run/metadata.json", "%run/resume.md", "%run/context.md",
	"%run/actions/resume-r2/outcome.json", "%run/cancel.json", "%run/.placet-0.tmp", "%run/requests", "%request", "%request/request.json", "%request/form.md",
	"%request/receipt.json", "%request/problem.md", "%request/response-x.json", "placet.toml", ".fractary", ".fractary/faber/runs/acme/web/x", ".fractary/plugins/faber/runs", ".git/HEAD",
}

// hostileContents are the contents of hostile files.
var hostileContents = []string{
	"", "{", "{}",
	`{"id":"x","pid":-1,"outcome":"src/main.go","kind":"outcome","agent":true}`,
	`{"schema_version":1,"request_id":"fr-20261120-000001","result":"accepted","response":"approve","selected":[],"comment":"","late":false,"provided_by":{"user":"kim","source":"form"},"known_as":["owner:kim"],"answer":null,"digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000","received_at":"2026-11-20T10:00:00Z","decided_at":"2026-11-20T10:00:00Z","reason":"","revision":2}`,
	`{"event_id":1,"type":"feedback_received","timestamp":"2026-11-20T10:00:00.000Z","run_id":"acme/web/x","user":"kim","metadata":{"request_id":"fr-20261120-000001","response":"approve","provided_by":{"user":"kim","source":"form"}}}`,
	"[gates]\n\"*\" = { approvers = [] }\n",
	"<!-- placet request fr-20261120-000001 sha256:0000000000000000000000000000000000000000000000000000000000000000 -->\n\n- [x] approve: yes\n- [x] submit this answer\n",
}

// attack changes the workspace as four bytes say, if possible.
func (h hostileWorkspace) attack(op, where, what, how byte, text string) {
	i := int(where) % hostileRuns
	name := strings.NewReplacer("%request", h.request(i), "%run", h.run(i)).Replace(hostileNames[int(what)%len(hostileNames)])
	full := filepath.Join(h.root, name)
	_ = os.MkdirAll(filepath.Dir(full), 0o755)
	target := []string{"..", "../..", h.top + "/outside", h.top + "/outside/keep.json", "/", h.root, h.root + "/src/main.go", "/dev/zero"}[int(how)%8]
	switch op % 7 {
	case 0:
		_ = os.RemoveAll(full)
		_ = os.Symlink(target, full)
	case 1:
		_ = os.WriteFile(full, []byte(hostileContents[int(how)%len(hostileContents)]), 0o644)
	case 2:
		_ = os.WriteFile(full, []byte(text), 0o644)
	case 3:
		_ = os.Chmod(full, []fs.FileMode{0, 0o444, 0o777, 0o755 | fs.ModeSetuid}[how%4])
	case 4:
		_ = os.RemoveAll(full)
		_ = os.Mkdir(full, 0o755)
	case 5:
		_ = os.RemoveAll(full)
		_ = syscall.Mkfifo(full, 0o644)
	case 6:
		_ = os.Remove(full)
		_ = os.Link(h.top+"/outside/keep.json", full)
	}
}

// untouched are all files outside the run folders and placet's own, with mode and
// content.
func (h hostileWorkspace) untouched() (found []string) {
	h.t.Helper()
	err := filepath.WalkDir(h.top, func(p string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(h.top, p)
		if rel == "state" || strings.HasPrefix(rel, "ws/.fractary/") || strings.HasPrefix(rel, "ws/.placet") {
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		line := rel + " " + info.Mode().String()
		if info.Mode().IsRegular() {
			body, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			line += " " + string(body)
		}
		found = append(found, line)
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return found
}

// FuzzHostileWorkspace fills a workspace with files, links, pipes and modes, below .placet/ and
// in run and request folders. Nothing outside the run folders changes, no process that placet
// did not start gets a signal, and placet decides only what it would decide if the same
// approver answered undisturbed.
func FuzzHostileWorkspace(f *testing.F) {
	f.Add(byte(0x00), []byte{0, 0, 3, 0}, "")
	f.Add(byte(0x01), []byte{0, 0, 3, 5, 1, 0, 4, 3}, "")
	f.Add(byte(0x02), []byte{1, 0, 22, 4, 1, 0, 10, 5, 1, 0, 25, 6}, "")
	f.Add(byte(0x13), []byte{0, 0, 18, 2, 0, 1, 19, 2, 6, 0, 20, 0}, "x")
	f.Add(byte(0x01), []byte{0, 0, 0, 2}, "")
	f.Add(byte(0x03), []byte{6, 0, 8, 0, 0, 1, 8, 3, 5, 0, 21, 0, 3, 1, 21, 0}, "")
	f.Add(byte(0x20), []byte{1, 0, 21, 7, 4, 1, 23, 0, 0, 0, 26, 2}, "{")
	f.Fuzz(func(t *testing.T, answers byte, ops []byte, text string) {
		if len(text) > 1<<10 {
			return
		}
		honest := newHostileWorkspace(t)
		honest.once()
		honest.answer(answers)
		allowed := honest.once()

		h := newHostileWorkspace(t)
		h.once()
		h.answer(answers)
		for i := 0; i+4 <= min(len(ops), 32); i += 4 {
			h.attack(ops[i], ops[i+1], ops[i+2], ops[i+3], text)
		}
		before := h.untouched()
		bystander := exec.Command("sleep", "600")
		bystander.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := bystander.Start(); err != nil {
			t.Fatal(err)
		}
		decided := append(h.once(), h.once()...)
		if err := bystander.Process.Signal(syscall.Signal(0)); err != nil || reaped(bystander.Process.Pid) {
			t.Errorf("a process that placet did not start was signalled: %v", err)
		}
		_ = bystander.Process.Kill()
		_ = bystander.Wait()
		if after := h.untouched(); !slices.Equal(before, after) {
			t.Errorf("changed outside the run folders:\nbefore %q\nafter  %q", before, after)
		}
		for _, one := range decided {
			if !slices.Contains(allowed, one) {
				t.Errorf("decided %q; undisturbed it is %q", one, allowed)
			}
		}
	})
}

// reaped reports whether a child has ended and waits to be reaped.
func reaped(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(stat), ") Z ")
}
