package notify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/templates"
)

// Check 2 of notifications.
func TestNotifyTellsNobodyOfWhatIsAnsweredBetweenRungs(t *testing.T) {
	s := Settings{To: []string{"desktop"}, Remind: []string{"30m", "2h"}}
	inBubble(t, "2000-01-10 07:00", time.UTC, s, func(o *office, until func(string), came func() []string) {
		until("2000-01-10 08:00")
		o.ask(fact(), "heard", "unheard")
		until("2000-01-10 08:40")
		o.mu.Lock()
		delete(o.requests, "unheard") // nobody says so: it is looked at
		o.mu.Unlock()
		o.answer("heard")
		came()
		until("2000-01-12 08:00")
		if got := came(); len(got) > 0 {
			t.Errorf("told after the answer: %v", got)
		}
	})
}

func TestNotifySumsUpWhatIsMoreThanFiveInAMinute(t *testing.T) {
	inBubble(t, "2000-01-10 07:00", time.UTC, Settings{To: []string{"desktop"}}, func(o *office, until func(string), came func() []string) {
		until("2000-01-10 08:00")
		var ids []string
		for i := range 20 {
			ids = append(ids, fmt.Sprintf("r%02d", i))
		}
		o.ask(fact(), ids...)
		until("2000-01-10 08:05")
		if got := came(); len(got) != 1 || !strings.HasPrefix(got[0], "10 08:00 20: ") || strings.Count(got[0], "r") != shownFirst {
			t.Errorf("twenty at once: %v", got)
		}
		for i := range 20 { // one each second
			o.ask(fact(), fmt.Sprintf("s%02d", i))
			time.Sleep(time.Second)
		}
		until("2000-01-10 08:20")
		got := came()
		told := 0
		for _, text := range got {
			n := 1
			_, _ = fmt.Sscanf(text[len("10 08:00 "):], "%d:", &n)
			told += n
		}
		if len(got) > 7 || told != 20 {
			t.Errorf("twenty in twenty seconds: %d told in %d messages: %v", told, len(got), got)
		}
	})
}

func TestNotifyTriesARefusedAttemptThreeTimesMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t, Settings{To: []string{"desktop"}})
		o.now, o.lang = time.Now, "ko"
		var at []time.Duration
		began := time.Now()
		end := func() error { return refuse("say.text", "text", "500") }
		o.begin(func(context.Context, target, Message, []string) error {
			at = append(at, time.Since(began).Truncate(time.Second))
			return end()
		})
		o.ask(fact(), "a")
		time.Sleep(time.Hour)
		synctest.Wait()
		if diff := cmp.Diff([]time.Duration{0, 10 * time.Second, 70 * time.Second, 370 * time.Second}, at); diff != "" {
			t.Errorf("refused (-want +got):\n%s", diff)
		}
		at, began, end = nil, time.Now(), func() error { return errLost }
		o.ask(fact(), "b")
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(at) != 1 {
			t.Errorf("an attempt of which nobody knows what came is made %d times", len(at))
		}
		doubts, err := Doubts(o.state, time.Now())
		got := ""
		for _, d := range doubts {
			got += d.Request + " " + d.Outcome + " " + d.Reason + "\n"
		}
		if want := "a refused 500\nb unknown " + templates.Text("ko", "notify.lost") + "\n"; err != nil || got != want {
			t.Errorf("doubts %q (%v), expected %q", got, err, want)
		}
		o.stop()
	})
}

// Requests that are open when the ledger is made count as told: losing the ledger
// silences messages and repeats none. The same holds for a new target and a new rung.
func TestNotifyCountsWhatIsOpenAsToldWithoutALedger(t *testing.T) {
	s := Settings{To: []string{"desktop"}, Remind: []string{"30m", "2h"}}
	inBubble(t, "2000-01-10 07:00", time.UTC, s, func(o *office, until func(string), came func() []string) {
		until("2000-01-10 08:00")
		o.ask(fact(), "a")
		until("2000-01-10 08:40")
		if diff := cmp.Diff([]string{"10 08:00 a", "10 08:30 a"}, came()); diff != "" {
			t.Errorf("at first (-want +got):\n%s", diff)
		}
		o.stop()
		if err := o.state.Root().Remove(ledgerName); err != nil {
			t.Fatal(err)
		}
		o.begin(o.n.deliver)
		o.ask(fact(), "b")
		until("2000-01-10 08:50")
		more := s
		more.To, more.Remind = []string{"desktop", "ntfy://ntfy.sh/new"}, []string{"5m", "30m", "2h"}
		o.settings.Store(&more)
		until("2000-01-10 12:00")
		want := []string{"10 08:40 b", "10 09:10 b", "10 09:10 b", "10 10:00 a", "10 10:00 a", "10 10:40 b", "10 10:40 b"}
		if diff := cmp.Diff(want, came()); diff != "" {
			t.Errorf("without a ledger (-want +got):\n%s", diff)
		}
	})
}

func TestNotifySendsNothingThatItCannotRecord(t *testing.T) {
	o := newOffice(t, Settings{To: []string{"desktop"}})
	if err := o.state.Root().Mkdir(ledgerName, 0o700); err != nil {
		t.Fatal(err)
	}
	box := newMailbox()
	o.begin(box.deliver)
	o.ask(fact(), "a")
	o.stop()
	if got := box.take(); len(got) > 0 {
		t.Errorf("told without a record: %v", got)
	}
}

// If the line may not be durable, nothing is sent.
func TestNotifyClaimsNothingWithAnError(t *testing.T) {
	long := longLedger
	t.Cleanup(func() { longLedger = long })
	o := newOffice(t, Settings{})
	l := ledger{dir: o.state, memory: newMemory()}
	if _, _, err := l.claim("desktop", map[string]rung{"a": {name: opening}}, noon); err != nil {
		t.Fatal(err)
	}
	longLedger = l.read - 1 // it is to be shortened, and cannot be
	if err := o.state.Root().MkdirAll(ledgerName+".new/full", 0o700); err != nil {
		t.Fatal(err)
	}
	attempt, mine, err := l.claim("desktop", map[string]rung{"b": {name: opening}}, noon)
	if attempt != 0 || mine != nil || err == nil {
		t.Errorf("attempt %d about %v, %v", attempt, mine, err)
	}
}

func TestNotifyLedgerIsShortenedAndNothingIsRepeated(t *testing.T) {
	long := longLedger
	longLedger = 4 << 10
	t.Cleanup(func() { longLedger = long })
	s := Settings{To: []string{"desktop"}, Remind: []string{"2d"}}
	inBubble(t, "2000-01-10 07:00", time.UTC, s, func(o *office, until func(string), came func() []string) {
		until("2000-01-10 08:00")
		for i := range 60 {
			o.ask(fact(), fmt.Sprintf("r%02d", i))
			time.Sleep(time.Minute)
		}
		if got := came(); len(got) != 60 {
			t.Errorf("%d told, expected 60", len(got))
		}
		info, err := os.Stat(filepath.Join(o.state.Location(), ledgerName))
		if err != nil || info.Size() > 2*longLedger {
			t.Errorf("the ledger has %d bytes (%v)", info.Size(), err)
		}
		o.stop()
		o.begin(o.n.deliver)
		until("2000-01-11 08:00")
		if got := came(); len(got) > 0 {
			t.Errorf("told again: %v", got)
		}
		until("2000-01-13 08:00")
		told := 0
		for _, text := range came() {
			n := 1
			_, _ = fmt.Sscanf(text[len("10 08:00 "):], "%d:", &n)
			told += n
		}
		if told != 60 {
			t.Errorf("%d were reminded of, expected 60", told)
		}
	})
}

// Two processes that serve the same request send one message about it.
func TestNotifyTwoAtATimeTellOnce(t *testing.T) {
	o := newOffice(t, Settings{To: []string{"desktop"}})
	box := newMailbox()
	o.begin(box.deliver)
	other := &office{t: t, state: o.state, requests: map[string]Facts{}, now: o.now}
	other.settings.Store(o.settings.Load())
	other.begin(box.deliver)
	for i := range 5 {
		id := fmt.Sprintf("r%d", i)
		o.ask(fact(), id)
		other.n.Opened(o.request(id))
	}
	for range 5 {
		<-box.came
	}
	o.stop()
	other.stop()
	if got := box.take(); len(got) != 5 {
		t.Errorf("told %v", got)
	}
}

func TestNotifyTellsOnlyWhatIsWanted(t *testing.T) {
	tagged := func(tags ...string) Facts { return Facts{Family: "ask", Type: "text", Tags: tags} }
	for _, test := range []struct {
		on   string
		fact Facts
		want bool
	}{
		{"", tagged(), true}, {"*", tagged(), true}, {"ask", tagged(), true}, {"ask/text", tagged(), true}, {"ask/choice", tagged(), false},
		{"afl", tagged(), false}, {"* !ask/text", tagged(), false}, {"!ask/text", tagged(), false}, {"!ask/choice", tagged(), true},
		{"tag:urgent", tagged("urgent"), true}, {"tag:urgent", tagged("other"), false}, {"ask !tag:later", tagged("later"), false},
		{"faber tag:urgent", tagged("urgent"), true},
	} {
		if got := (plan{on: strings.Fields(test.on)}).wants(test.fact); got != test.want {
			t.Errorf("%q of %+v: %v", test.on, test.fact, got)
		}
	}
}

func TestNotifyRefusesSettings(t *testing.T) {
	secret := "xoxb-very-secret"
	for name, test := range map[string]struct {
		s    Settings
		want string
	}{
		"no URL":          {Settings{To: []string{"phone " + secret}}, "to: number 1 of the list: takes \"desktop\" or a URL of a service, such as ntfy://ntfy.sh/topic"},
		"bad URL":         {Settings{To: []string{"desktop", "ntfy://a:" + secret + "@%zz"}}, "to: number 2 of the list: takes \"desktop\" or a URL of a service, such as ntfy://ntfy.sh/topic"},
		"no service":      {Settings{To: []string{"pigeon://" + secret}}, `to: number 1 of the list: there is no service "pigeon": docs/notifications.md names them`},
		"a log":           {Settings{To: []string{"logger://"}}, `to: number 1 of the list: there is no service "logger": docs/notifications.md names them`},
		"half a URL":      {Settings{To: []string{"slack://" + secret}}, "to: number 1 of the list: the URL does not fit the service \"slack\": slack: failed to initialize service"},
		"program":         {Settings{Command: []string{"./tell"}}, `command: takes the name of a program or its absolute path, not "./tell"`},
		"filter":          {Settings{On: []string{"ask text"}}, `on: takes "family/type", "family", "*" or "tag:word", each with "!" before it or without, not "ask text"`},
		"family":          {Settings{On: []string{"!aks"}}, `on: "!aks" names no family: there are ask, "*" for all, and "tag:word"`},
		"hours":           {Settings{Quiet: "22-7"}, `quiet: takes two different times of the day such as "22:00-07:00", not "22-7"`},
		"no hour":         {Settings{Quiet: "22:00-24:00"}, `quiet: takes two different times of the day such as "22:00-07:00", not "22:00-24:00"`},
		"the whole day":   {Settings{Quiet: "07:00-07:00"}, `quiet: takes two different times of the day such as "22:00-07:00", not "07:00-07:00"`},
		"age":             {Settings{To: []string{"desktop"}, Remind: []string{"soon"}}, `remind: takes ages from 1s to 365d, such as "30m", "2h" or "1d", not "soon"`},
		"days":            {Settings{To: []string{"desktop"}, Remind: []string{"9000000d"}}, `remind: takes ages from 1s to 365d, such as "30m", "2h" or "1d", not "9000000d"`},
		"escalation":      {Settings{Escalate: []Escalation{{After: "0s", To: []string{"desktop"}}}}, `escalate: takes ages from 1s to 365d, such as "30m", "2h" or "1d", not "0s"`},
		"escalation to":   {Settings{Escalate: []Escalation{{After: "1h"}}}, `escalate: needs somebody to escalate to: { after = "4h", to = ["desktop"] }`},
		"escalation (ok)": {Settings{Escalate: []Escalation{{After: "1d", To: []string{"desktop"}}}, On: []string{"*", "!ask/text"}, Quiet: "22:00-07:00"}, ""},
	} {
		key, err := test.s.Check([]string{"ask"})
		got := ""
		if err != nil {
			got = key + ": " + err.Error()
		}
		if got != test.want || strings.Contains(got, secret) {
			t.Errorf("%s: %q, expected %q", name, got, test.want)
		}
		if ko := templates.In("ko", err); err != nil && ko == err.Error() || strings.Contains(ko, secret) {
			t.Errorf("%s in Korean: %q", name, ko)
		}
	}
}

func TestNotifyNoticeIsToldOnceForItsKey(t *testing.T) {
	o := newOffice(t, Settings{To: []string{"desktop"}, Quiet: "22:00-07:00"})
	box := newMailbox()
	o.begin(box.deliver)
	o.stop()
	for range 2 {
		if err := o.n.Notice(t.Context(), "session-1:idle", Message{Title: "claude-code waits"}); err != nil {
			t.Fatal(err)
		}
	}
	o.ahead.Store(int64(11 * time.Hour)) // 23:00
	err := errors.Join(o.n.Notice(t.Context(), "session-2:idle", Message{Title: "at night"}))
	if diff := cmp.Diff([]string{"desktop claude-code waits "}, box.take()); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// A clock that was ahead and was then corrected silences no message.
func TestNotifyAfterAClockThatWentAhead(t *testing.T) {
	o := newOffice(t, Settings{To: []string{"desktop"}})
	o.ahead.Store(int64(240 * time.Hour))
	box := newMailbox()
	o.begin(box.deliver)
	for i := range 6 {
		o.ask(fact(), fmt.Sprintf("r%d", i))
		<-box.came
	}
	o.forward(-240 * time.Hour)
	o.ask(fact(), "now")
	for line := range box.came {
		if strings.Contains(line, "now") {
			break
		}
	}
}
