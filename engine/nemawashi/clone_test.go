package nemawashi

import (
	"strings"
	"testing"
	"time"

	"placet/internal/enginetest"
)

// treeOf returns the tree that a case leaves.
func treeOf(t *testing.T, c enginetest.Case) (tree enginetest.Tree) {
	t.Helper()
	plays(t, c, func(d *storyDesk) {
		d.takes(c.Steps...)
		tree = d.Tree().Clone()
	})
	return tree
}

func count(tree enginetest.Tree, part string) (n int) {
	for _, p := range tree.Paths() {
		if strings.Contains(p, part) {
			n++
		}
	}
	return n
}

const execute = `{"command": "execute", "actor": {"user": "ami", "source": "file"}}`

// A clone of an approved action begins nothing before somebody gives execute there.
func TestACloneSendsNothingBeforeExecute(t *testing.T) {
	files := treeOf(t, set(story("", mailAction, ticks("apr-", "approve")), func(c *Config) { c.ExecuteOnApprove = false }))
	enginetest.AtDesk(t, laws(), enginetest.Case{Now: now.Add(time.Hour), Files: files}, func(d *enginetest.Desk) {
		d.Settle()
		d.Pass(24 * time.Hour)
		d.Settle()
		if n := count(d.Tree(), "/jobs/"); n > 0 {
			t.Fatalf("the clone began a job: %q", d.Tree().Paths())
		}
		d.Put(dir+"/intake/here/command.json", execute)
		d.Settle()
		if n := count(d.Tree(), "/attempt-1.json"); n != 1 {
			t.Fatalf("execute began %d attempts:\n%s", n, d.Read(dir+"/state.json"))
		}
	})
}

// A clone of an action whose mail is being sent elsewhere concludes nothing, and continues once
// somebody gives execute there.
func TestACloneConcludesNothingBeforeExecute(t *testing.T) {
	c := set(story("", mailAction, ticks("apr-", "approve")), func(c *Config) { c.Mail.Provider, c.Mail.SMTPHost = smtp, "mail.acme.example" })
	files := treeOf(t, c)
	enginetest.AtDesk(t, laws(), enginetest.Case{Now: now.Add(time.Hour), Files: files, Config: c.Config}, func(d *enginetest.Desk) {
		d.Settle()
		d.Pass(24 * time.Hour)
		d.Settle()
		if alive := d.Alive(); len(alive) > 0 || count(d.Tree(), "attempt-2") > 0 {
			t.Fatalf("the clone took the attempt in hand: %q", alive)
		}
		d.Put(dir+"/intake/here/command.json", execute)
		d.Settle()
		if rc := d.Read(dir + "/intake/here/receipt.json"); !strings.Contains(rc, `"code": "same"`) {
			t.Fatal(rc)
		}
		if alive := d.Alive(); len(alive) != 1 {
			t.Fatalf("nobody says that the attempt is lost: %q", alive)
		}
	})
}

// A state that somebody set to approved, together with its journal, counts no more than the gate
// allows: nothing is sent without a valid answer.
func TestAForgedApprovalSendsNothing(t *testing.T) {
	files := treeOf(t, story("", mailAction))
	files[dir+"/state.json"] = strings.Replace(files[dir+"/state.json"], `"status": "approval_pending"`, `"status": "approved"`, 1)
	enginetest.AtDesk(t, laws(), enginetest.Case{Now: now.Add(time.Hour), Files: files, Notes: true}, func(d *enginetest.Desk) {
		d.Put(dir+"/intake/here/command.json", execute)
		d.Settle()
		if count(d.Tree(), "/jobs/") > 0 || !strings.Contains(d.Notes(), "state.json") {
			t.Fatalf("%q\n%s", d.Tree().Paths(), d.Notes())
		}
	})
}
