// Package ntfytest is a server that behaves as ntfy's documentation says, as far as placet uses it:
// messages are published as JSON or as text, a topic is read as a stream of JSON lines, and a
// button makes the call that its action says.
package ntfytest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Message is a message of a topic.
type Message struct {
	ID      string   `json:"id"`
	Time    int64    `json:"time"`
	Event   string   `json:"event"`
	Topic   string   `json:"topic"`
	Title   string   `json:"title,omitempty"`
	Message string   `json:"message,omitempty"`
	Actions []Action `json:"actions,omitempty"`
}

// Action is a button of a message.
type Action struct {
	Action string `json:"action"`
	Label  string `json:"label"`
	URL    string `json:"url"`
	Method string `json:"method,omitempty"`
	Body   string `json:"body,omitempty"`
	Clear  bool   `json:"clear,omitempty"`
}

// longestMessage is the size of the longest message, in bytes: longer ones become attachments.
const longestMessage = 4096

// Server has topics.
type Server struct {
	*httptest.Server
	mu      sync.Mutex
	all     []Message
	came    chan struct{} // closed with each message
	streams int
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	s := &Server{came: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{$}", s.publish)
	mux.HandleFunc("POST /{topic}", s.post)
	mux.HandleFunc("GET /{topic}/json", s.stream)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

// Target returns the URL of a topic for [notify].
func (s *Server) Target(topic string) string {
	return "ntfy://" + s.Listener.Addr().String() + "/" + topic + "?scheme=http"
}

func (s *Server) publish(w http.ResponseWriter, r *http.Request) {
	var m Message
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil || m.Topic == "" || len(m.Message) > longestMessage || len(m.Actions) > 3 {
		http.Error(w, `{"code":40024,"http":400,"error":"invalid request"}`, http.StatusBadRequest)
		return
	}
	s.answer(w, s.add(m))
}

func (s *Server) post(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.answer(w, s.add(Message{Topic: r.PathValue("topic"), Title: r.Header.Get("Title"), Message: string(body)}))
}

func (s *Server) answer(w io.Writer, m Message) { _ = json.NewEncoder(w).Encode(m) }

// Post publishes a text, as anybody can, and returns the id of the message.
func (s *Server) Post(topic, text string) (id string) {
	return s.add(Message{Topic: topic, Message: text}).ID
}

func (s *Server) add(m Message) Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.ID, m.Event, m.Time = fmt.Sprintf("msg%09d", len(s.all)), "message", 1795000000
	s.all = append(s.all, m)
	close(s.came)
	s.came = make(chan struct{})
	return m
}

// In returns the messages of a topic.
func (s *Server) In(topic string) (list []Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.all {
		if m.Topic == topic {
			list = append(list, m)
		}
	}
	return list
}

// About returns the last message of a topic whose title contains a text.
func (s *Server) About(topic, text string) (m Message, ok bool) {
	for _, m := range slices.Backward(s.In(topic)) {
		if strings.Contains(m.Title, text) {
			return m, true
		}
	}
	return m, false
}

// Button returns a button of a message; ok is false if it has none with that label.
func (m Message) Button(label string) (a Action, ok bool) {
	i := slices.IndexFunc(m.Actions, func(a Action) bool { return a.Label == label })
	if i < 0 {
		return a, false
	}
	return m.Actions[i], true
}

// Press makes the call of a button, as the app does, and returns the id of the message that came of
// it.
func Press(t testing.TB, m Message, label string) (id string) {
	t.Helper()
	a, ok := m.Button(label)
	if !ok || a.Action != "http" {
		t.Fatalf("no button %q on %+v", label, m)
	}
	r, err := http.NewRequest(a.Method, a.URL, strings.NewReader(a.Body))
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true // a kept connection may be one that the test closes
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var got Message
	if err := json.NewDecoder(res.Body).Decode(&got); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("the press ends with %d: %v", res.StatusCode, err)
	}
	return got.ID
}

// Streams returns how many streams are open.
func (s *Server) Streams() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.streams
}

func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	topic, since := r.PathValue("topic"), r.URL.Query().Get("since")
	s.count(1)
	defer s.count(-1)
	s.answer(w, Message{ID: "open00000000", Event: "open", Topic: topic})
	next := s.after(since)
	for {
		s.mu.Lock()
		list, came := s.all[next:], s.came
		next = len(s.all)
		s.mu.Unlock()
		for _, m := range list {
			if m.Topic == topic {
				s.answer(w, m)
			}
		}
		s.answer(w, Message{ID: "keep00000000", Event: "keepalive", Topic: topic})
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-came:
		}
	}
}

func (s *Server) count(n int) {
	s.mu.Lock()
	s.streams += n
	s.mu.Unlock()
}

// after returns the index of the first message after since: all of them if it is "all" or an id
// that is not known, those to come if it is empty.
func (s *Server) after(since string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if since == "" {
		return len(s.all)
	}
	return 1 + slices.IndexFunc(s.all, func(m Message) bool { return m.ID == since })
}
