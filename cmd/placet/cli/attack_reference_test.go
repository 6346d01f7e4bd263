package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"placet/engine"
	"placet/engine/ask"
)

var referenceAttacks = []attack{
	{"a request whose digest begins like another's", "the agent makes two questions whose digests begin alike, and puts one in the place of the other", func(t *testing.T, p *place) {
		p.write(".asks/drop/ask.json", `{"question": "Drop production?"}`)
		p.once(3)
		id, hex := ask.RequestID("drop"), p.openRequest().Digest.Hex()
		for _, n := range []int{7, 8, 10, 12, 32, 63} {
			for _, prefix := range []string{"", "sha256:"} {
				p.answersNothing(t, "approve", id+"@"+prefix+hex[:n])
				p.answersNothing(t, "respond", id+"@"+prefix+hex[:n], "approve")
			}
		}
		reference := p.reference()
		word, listed := strings.CutPrefix(reference, id+"@")
		if !listed || strings.Contains(hex, word) {
			t.Errorf("%s is a part of the digest %s", reference, hex)
		}
		p.answersNothing(t, "approve", id+"@"+word[:len(word)-1])
		// A name from a listing never names another request under the same id.
		p.drop(".asks/drop")
		p.write(".asks/drop/ask.json", `{"question": "Fix a typo?"}`)
		p.once(3)
		p.answersNothing(t, "approve", reference)
		// The shown name can be pasted, and programs have the digest.
		pasted := regexp.MustCompile(`placet approve (\S+)`).FindStringSubmatch(p.must(3, "inbox"))
		if pasted == nil || pasted[1] != p.reference() || pasted[1] == reference {
			t.Fatalf("the inbox says %q", pasted)
		}
		p.must(0, "approve", pasted[1], "--as", "kim")
		p.must(0, "once")
		p.opensAsk("program")
		p.must(0, "approve", ask.RequestID("program")+"@"+string(p.openRequest().Digest), "--as", "kim")
	}},
	{"a digest of an answer's call that begins alike", "the agent makes two questions whose digests begin alike, and a program names the beginning", func(t *testing.T, p *place) {
		p.write(".asks/drop/ask.json", `{"question": "Drop production?"}`)
		s := serveAt(p)
		s.token("lead", "read,decide")
		at := "/api/v1/requests/" + ask.RequestID("drop")
		var digest string
		s.until("it is asked", func() bool { digest = s.call("lead", "GET", at, nil).text("data", "digest"); return digest != "" })
		answer := func(shown string) reply {
			return s.call("lead", "POST", at+"/answer", map[string]any{"response": "approve", "digest": shown})
		}
		hex := strings.TrimPrefix(digest, "sha256:")
		for _, n := range []int{7, 12, 63} {
			s.wants("the beginning", answer(hex[:n]), 409, "stale")
			s.wants("the beginning", answer("sha256:"+hex[:n]), 409, "stale")
		}
		s.takes("the reference", answer(s.call("lead", "GET", at, nil).text("data", "reference")))
	}},
	{"a script whose digest begins like another's", "the agent makes two scripts whose digests begin alike, and swaps them while its owner types", func(t *testing.T, p *place) {
		p.write("placet.toml", "[faber]\nresume = { command = [\"sh\", \"work.sh\"] }\n")
		p.write("work.sh", "rm -rf ~\n")
		hex := p.listed("faber.resume")
		for _, n := range []int{7, 8, 12, 63} {
			for _, arg := range []string{hex[:n], "sha256:" + hex[:n], "faber.resume@" + hex[:n]} {
				if out, code := p.placet("trust", arg); code == 0 || p.listed("faber.resume") == "" {
					t.Errorf("%s agrees: %s", arg, out)
				}
			}
		}
		p.once(0) // which makes the state folder
		typed := regexp.MustCompile(`placet trust (\S+@([0-9a-f]{12}))\n`).FindStringSubmatch(p.must(0, "trust"))
		if typed == nil || strings.Contains(hex, typed[2]) {
			t.Fatalf("%q names %s", typed, hex)
		}
		p.write("work.sh", "true\n")
		p.says(p.must(1, "trust", typed[1]), "it is not what was listed any more")
		p.write("work.sh", "rm -rf ~\n")
		p.says(p.must(0, "trust", typed[1]), "trusted")
		p.must(0, "trust", typed[1])
		p.says(p.must(2, "trust", "--revoke", "faber.resume@"+hex[:12]), "nothing")
		p.says(p.must(0, "trust", "--revoke", typed[1]), "faber.resume")
	}},
	{"a state whose digest begins like another's", "the agent makes two states whose digests begin alike, and swaps them while a person adopts one", func(t *testing.T, p *place) {
		p.shopSession()
		p.write(shop+"/state.json", p.completed())
		p.standsStill(shop, "afl/shop")
		hex := engine.Sum([]byte(p.read(shop + "/state.json"))).Hex()
		for _, n := range []int{7, 8, 12, 63} {
			if out, code := p.placet("adopt", "shop@"+hex[:n]); code == 0 {
				t.Errorf("%d digits adopt it: %s", n, out)
			}
		}
		typed := regexp.MustCompile(`placet doctor --fix (\S+@[0-9a-f]{12})\n`).FindStringSubmatch(p.must(1, "adopt", "shop"))
		if typed == nil {
			t.Fatal("adopt does not say what to type")
		}
		p.must(0, "adopt", typed[1], "--as", "kim")
	}},
	{"an approval asked anew under its id", "the agent puts another action in the place of the one that was shown, whose approval has the same id", func(t *testing.T, p *place) {
		d := newSlackDouble(t)
		s := slackSite(t, d, "")
		action, id := s.filesAction()
		approve := "/api/v1/approvals/" + id + "/approve"
		first := buttons(s.posted(d, 1))["hitl_approve"]
		shown := s.asksAnew(action, id)
		if r := s.press("U1", first, nil); r.text("text") == "approved" {
			t.Errorf("a press of the first message: %s", r.body)
		}
		old, _, _ := strings.Cut(first["value"].(string), "|shown=")
		if r := s.press("U1", map[string]any{"action_id": "hitl_approve", "value": old}, nil); r.text("text") == "approved" {
			t.Errorf("a press of a message of the version before: %s", r.body)
		}
		stale := s.call("lead", "POST", approve, map[string]any{"comment": "go"})
		s.wants("an approval of what was shown first", stale, 409, "stale")
		if stale.text("digest") != shown {
			t.Errorf("the digest of what is asked is not said: %s", stale.body)
		}
		s.stays(filepath.Join(action, "requests", id, "response.json"))
		s.stays(filepath.Join(action, "jobs"))
		s.takes("an approval of what is asked now", s.call("lead", "POST", approve, map[string]any{"digest": shown}))

		// An id under which nothing else was ever asked says what was shown.
		_, other := s.begins("lead", nil)
		s.takes("an approval by its id", s.call("lead", "POST", "/api/v1/approvals/"+other+"/approve", map[string]any{}))
		_, other = s.begins("lead", nil)
		value := "thread_id=action-3|approval_request_id=" + other + "|action_id=3"
		if r := s.press("U1", map[string]any{"action_id": "hitl_approve", "value": value}, nil); r.text("text") != "approved" {
			t.Errorf("a press of a message of the version before: %s", r.body)
		}
	}},
}

// answersNothing checks that a command line answers nothing.
func (p *place) answersNothing(t *testing.T, args ...string) {
	t.Helper()
	if out, code := p.placet(append(args, "--as", "kim")...); code == 0 {
		t.Errorf("%q answers: %s", args, out)
	}
	p.stays(p.openRequest().Response)
}

// takes checks that an answer is accepted, even if it is carried out later.
func (s *site) takes(what string, r reply) {
	s.t.Helper()
	if r.status != 200 && r.status != 202 {
		s.t.Errorf("%s: %d %s", what, r.status, r.body)
	}
}

// filesAction begins an action by its files, and returns its folder and its approval.
func (s *site) filesAction() (dir, approval string) {
	s.t.Helper()
	dir = ".nemawashi/actions/1"
	s.write(dir+"/drafts/v1.md", "Lunch is at noon.\n")
	s.write(dir+"/action.json", `{"type":"mail_draft","summary":"Tell them","payload":{"to":["team@example.com"],"subject":"Lunch"},"requested_by":"agent"}`)
	s.until("a person is asked", func() bool { approval = s.actionAt("1"); return approval != "" })
	return dir, approval
}

// asksAnew archives an action and brings it back until another request has the id of its
// approval, and returns what that shows.
func (s *site) asksAnew(dir, id string) (shown string) {
	s.t.Helper()
	at := filepath.Join(dir, "requests", id, "request.json")
	before := s.read(at)
	s.until("another request has the id", func() bool {
		s.until("the folder is away", func() bool { return os.RemoveAll(filepath.Join(s.root, dir)) == nil }) // placet may be writing there
		s.until("the action is gone", func() bool { return s.call("lead", "GET", "/api/v1/requests/"+id, nil).status == 404 })
		s.filesAction()
		s.until("it is asked", func() bool {
			shown = s.call("lead", "GET", "/api/v1/requests/"+id, nil).text("data", "digest")
			return shown != "" && s.read(at) != ""
		})
		return s.read(at) != before
	})
	return shown
}
