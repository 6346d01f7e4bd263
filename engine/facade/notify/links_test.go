package notify

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/statedir"
	"placet/internal/await"
	"placet/internal/ntfytest"
)

// withButtons makes an office whose messages have two buttons, and the presses that came.
func withButtons(t *testing.T, s *ntfytest.Server) (o *office, came chan statedir.Link) {
	o = newOffice(t, Settings{To: []string{s.Target("kim")}, Answers: "answers"})
	came = make(chan statedir.Link, 100)
	o.press = func(_ context.Context, l statedir.Link) (bool, error) { came <- l; return true, nil }
	o.buttons = Buttons{Text: "all of it", Shown: engine.Sum([]byte("shown")), List: []Button{{"approve", "Approve"}, {"reject", "Reject"}}}
	return o, came
}

// messageAbout waits for the message about a request.
func messageAbout(t *testing.T, s *ntfytest.Server, title string) (m ntfytest.Message) {
	t.Helper()
	await.Until(t, "somebody is told of "+title, func() (ok bool) { m, ok = s.About("kim", title); return ok })
	return m
}

// A button posts a code of 128 bits, which stands for what was shown and for its option alone, and
// counts once.
func TestAPressAnswersOnce(t *testing.T) {
	s := ntfytest.New(t)
	o, came := withButtons(t, s)
	o.begin(nil)
	o.ask(fact(), "deploy")
	m := messageAbout(t, s, "deploy")
	if m.Message != "all of it" || len(m.Actions) != 2 || m.Actions[0].Label != "Approve" || !m.Actions[0].Clear || m.Actions[0].Method != "POST" || !strings.HasSuffix(m.Actions[0].URL, "/answers") {
		t.Errorf("the message is %+v", m)
	}
	if code := m.Actions[0].Body; len(code) != len("placet-00000000-")+32 || code == m.Actions[1].Body {
		t.Errorf("the codes are %q and %q", code, m.Actions[1].Body)
	}
	ntfytest.Press(t, m, "Reject")
	l := <-came
	if l.Request != "deploy" || l.Option != "reject" || l.Digest != o.buttons.Shown || !l.Expires.Equal(o.now().Add(24*time.Hour)) || !strings.HasPrefix(l.Target, "ntfy-") {
		t.Errorf("it stands for %+v", l)
	}
	ntfytest.Press(t, m, "Reject")
	if refused := messageAbout(t, s, "Your press did not count"); !strings.Contains(refused.Message, "was pressed before") {
		t.Errorf("the second press: %+v", refused)
	}
	if len(came) > 0 {
		t.Errorf("it came again: %+v", <-came)
	}
}

// A message that was read, and not answered when placet was killed, is read again, and its code
// answers then. Nothing else has the use of that code.
func TestAPressSurvivesAKill(t *testing.T) {
	s := ntfytest.New(t)
	o, came := withButtons(t, s)
	given := o.press
	dying := make(chan struct{})
	o.press = func(ctx context.Context, l statedir.Link) (bool, error) {
		close(dying)
		<-ctx.Done()
		return true, ctx.Err()
	}
	o.begin(nil)
	o.ask(fact(), "deploy")
	m := messageAbout(t, s, "deploy")
	ntfytest.Press(t, m, "Approve")
	<-dying
	s.Post("answers", m.Actions[0].Body)
	o.stop()
	o.press = given
	o.begin(nil)
	if l := <-came; l.Option != "approve" {
		t.Errorf("it stands for %+v", l)
	}
	messageAbout(t, s, "Your press did not count") // the other message
	o.stop()
	o.begin(nil)
	ntfytest.Press(t, m, "Reject")
	if l := <-came; l.Option != "reject" {
		t.Errorf("after the third start %+v came", l)
	}
}

// Guesses keep no press from counting, but after many of them nobody is told of what does not. Codes
// of other workspaces at the same topic are no guesses.
func TestGuessesAreBounded(t *testing.T) {
	s := ntfytest.New(t)
	o, came := withButtons(t, s)
	var answered atomic.Int32
	o.press = func(_ context.Context, l statedir.Link) (bool, error) {
		answered.Add(1)
		came <- l
		return true, errors.New("it does not count")
	}
	o.begin(nil)
	o.ask(fact(), "deploy", "other")
	m, other := messageAbout(t, s, "deploy"), messageAbout(t, s, "other")
	for i := range 2 * mostWrong {
		s.Post("answers", fmt.Sprintf("placet-ffffffff-%032x", i))
	}
	ntfytest.Press(t, other, "Approve")
	<-came
	prefix := m.Actions[0].Body[:len("placet-00000000-")]
	for i := range mostWrong {
		s.Post("answers", fmt.Sprintf("%s%032x", prefix, i))
	}
	const told = 3 // two questions, and a press that did not count
	await.Until(t, "the refusal is told", func() bool { return len(s.In("kim")) == told })
	last := ntfytest.Press(t, m, "Approve")
	if l := <-came; l.Option != "approve" {
		t.Errorf("after the guesses %+v came", l)
	}
	await.Until(t, "all is read", func() bool { return heard(t, o) == last })
	if n := len(s.In("kim")); n != told {
		t.Errorf("%d messages say that a press does not count, after as many as may", n-told)
	}
	o.forward(2 * time.Minute)
	ntfytest.Press(t, m, "Reject")
	if l := <-came; l.Option != "reject" || answered.Load() != 3 {
		t.Errorf("after the minute %+v came, %d in all", l, answered.Load())
	}
}

// heard returns the last message that was read.
func heard(t *testing.T, o *office) string {
	files, err := filepath.Glob(filepath.Join(o.state.Location(), "links/heard-*"))
	if err != nil || len(files) == 0 {
		return ""
	}
	body, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// A stream that breaks is opened again after the last message, and a request that this process does
// not know is left to another one.
func TestABrokenStreamGoesOn(t *testing.T) {
	s := ntfytest.New(t)
	o, came := withButtons(t, s)
	o.begin(nil)
	o.ask(fact(), "deploy")
	m := messageAbout(t, s, "deploy")
	ntfytest.Press(t, m, "Approve")
	<-came
	s.CloseClientConnections()
	ntfytest.Press(t, m, "Reject")
	if l := <-came; l.Option != "reject" {
		t.Errorf("after the break %+v came", l)
	}
}

// Settings without buttons follow nothing and send none.
func TestWithoutATopicOfAnswersThereAreNoButtons(t *testing.T) {
	s := ntfytest.New(t)
	o, _ := withButtons(t, s)
	o.settings.Store(&Settings{To: []string{s.Target("kim")}})
	o.begin(nil)
	o.ask(fact(), "deploy")
	await.Until(t, "somebody is told", func() bool { return len(s.In("kim")) == 1 })
	if m := s.In("kim")[0]; len(m.Actions) > 0 || s.Streams() > 0 || strings.Contains(m.Message, "all of it") {
		t.Errorf("%+v, %d streams", m, s.Streams())
	}
}

func TestATopicOfAnswersThatCannotBeUsed(t *testing.T) {
	for name, s := range map[string]Settings{
		"the same topic":   {To: []string{"ntfy://ntfy.sh/kim"}, Answers: "kim"},
		"no name":          {To: []string{"ntfy://ntfy.sh/kim"}, Answers: "a/b"},
		"another service":  {To: []string{"desktop"}, Answers: "answers"},
		"nobody to answer": {Answers: "answers"},
	} {
		if key, err := s.Check(nil); key != "answers" || err == nil {
			t.Errorf("%s: %s, %v", name, key, err)
		}
	}
	if key, err := (Settings{To: []string{"desktop", "ntfy://:tk_secret@push.example.org/kim?priority=high"}, Answers: "answers"}).Check(nil); err != nil {
		t.Errorf("%s: %v", key, err)
	}
}

// A server that refuses a message, or the stream, says why, without the names of its topics.
func TestARefusingServerIsTold(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, `{"code":40301,"error":"forbidden: secret-answers, secret-topic"}`, http.StatusForbidden)
	}))
	t.Cleanup(server.Close)
	topic, err := newTopic("ntfy://"+server.Listener.Addr().String()+"/secret-topic?scheme=http", "secret-answers")
	if err != nil {
		t.Fatal(err)
	}
	err = topic.publish(t.Context(), topic.message("title", "text"))
	if !errors.As(err, new(refusal)) || !strings.Contains(err.Error(), "403") || strings.Contains(err.Error(), "secret") {
		t.Errorf("it says %v", err)
	}
}

// Where calls come in, buttons post there. A repeated call of the same button succeeds and does
// nothing; what is no code is refused, and bounded.
func TestAPressByACall(t *testing.T) {
	s := ntfytest.New(t)
	o, came := withButtons(t, s)
	o.postTo = "https://placet.example.com/api/links"
	o.begin(nil)
	o.ask(fact(), "deploy")
	m := messageAbout(t, s, "deploy")
	if m.Actions[0].URL != o.postTo {
		t.Errorf("the button posts to %s", m.Actions[0].URL)
	}
	for range 2 {
		if err := o.n.Press(t.Context(), m.Actions[0].Body); err != nil {
			t.Error(err)
		}
	}
	if l := <-came; l.Option != "approve" || len(came) > 0 {
		t.Errorf("%+v came, and %d more", l, len(came))
	}
	for i := range mostWrong {
		if err := o.n.Press(t.Context(), fmt.Sprintf("%s%032x", m.Actions[0].Body[:len("placet-00000000-")], i)); !errors.Is(err, errUnknown) {
			t.Errorf("a guess: %v", err)
		}
	}
	if err := o.n.Press(t.Context(), m.Actions[0].Body[:len("placet-00000000-")]+strings.Repeat("f", 32)); !errors.Is(err, errMany) {
		t.Errorf("after too many guesses: %v", err)
	}
	if err := o.n.Press(t.Context(), m.Actions[1].Body); err != nil || len(came) != 1 {
		t.Errorf("a press after too many guesses: %v, %d came", err, len(came))
	}
}
