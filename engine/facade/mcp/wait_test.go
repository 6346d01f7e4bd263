package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// office is a workspace with one ask.
type office struct {
	Workspace // nil: the rest is not called

	mu      sync.Mutex
	answer  Answer
	changed chan struct{}
	refuses int // so many answers of the dialogue
	replies []Reply
	private bool
}

func newOffice() *office {
	return &office{changed: make(chan struct{}), answer: Answer{AskID: "a", Status: "open", Selected: []string{}, Form: "form.md", Title: "Deploy?"}}
}

func (o *office) set(change func(a *Answer)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change(&o.answer)
	close(o.changed)
	o.changed = make(chan struct{})
}

func (o *office) Ask(context.Context, Question) (string, error) { return "a", nil }
func (o *office) IsOf(_ Question, id string) bool               { return id == "a" }
func (o *office) Changed() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.changed
}

func (o *office) Answer(id string) (Answer, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if id != "a" {
		return Answer{}, errors.New("there is no such ask. Call list_waiting")
	}
	return o.answer, nil
}

func (o *office) Dialogue(string) (Dialogue, bool) {
	return Dialogue{Message: "Deploy?", Options: []DialogueOption{{"deploy", "deploy: now"}, {"wait", "wait"}}}, !o.private
}

func (o *office) Respond(_ context.Context, _ string, r Reply) error {
	o.mu.Lock()
	o.replies = append(o.replies, r)
	refused := len(o.replies) <= o.refuses
	o.mu.Unlock()
	if refused {
		return errors.New("a comment is missing")
	}
	o.set(func(a *Answer) {
		a.Status, a.Answered, a.Response, a.Comment = "answered", true, r.Choices[0], r.Comment
	})
	return nil
}

// host is a client in the same process.
type host struct {
	*sdk.ClientSession
	progress []sdk.ProgressNotificationParams
	mu       sync.Mutex
}

// connect connects a host of a version to a server. elicit is nil if the host has no dialogue.
func connect(t *testing.T, o *office, mode, version string, elicit func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error)) *host {
	t.Helper()
	s := New(Options{Workspace: o, Wait: 45 * time.Second, Elicit: func() string { return mode }})
	here, there := sdk.NewInMemoryTransports()
	ran := make(chan error, 1)
	go func() { ran <- s.sdk.Run(t.Context(), here) }()
	h := &host{}
	c := sdk.NewClient(&sdk.Implementation{Name: "host", Version: "1"}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{}, ElicitationHandler: elicit,
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.progress = append(h.progress, *r.Params)
		},
	})
	var err error
	if h.ClientSession, err = c.Connect(t.Context(), there, &sdk.ClientSessionOptions{ProtocolVersion: version}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		_ = h.Close()
		<-ran
	})
	return h
}

// asks calls ask_human.
func (h *host) asks(ctx context.Context, arguments map[string]any) (Answer, *sdk.CallToolResult, error) {
	p := &sdk.CallToolParams{Name: "ask_human", Arguments: arguments}
	p.SetProgressToken("p")
	res, err := h.CallTool(ctx, p)
	var a Answer
	if err == nil {
		body, _ := json.Marshal(res.StructuredContent)
		_ = json.Unmarshal(body, &a)
	}
	return a, res, err
}

var deploy = map[string]any{"question": "Deploy?"}

func TestMCP7ACallThatWaitsEndsWithAnOpenAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := connect(t, newOffice(), "auto", "2025-06-18", nil)
		began := time.Now()
		a, res, err := h.asks(t.Context(), deploy)
		if err != nil || res.IsError || a.Status != "open" || a.Answered || !strings.Contains(a.Note, "check_answer") {
			t.Errorf("%+v %v", a, err)
		}
		if took := time.Since(began); took != 45*time.Second {
			t.Errorf("it waited %v", took)
		}
		began = time.Now()
		if a, _, err := h.asks(t.Context(), map[string]any{"question": "Deploy?", "wait_seconds": 0}); err != nil || a.Status != "open" || time.Since(began) != 0 {
			t.Errorf("with wait_seconds 0: %+v %v after %v", a, err, time.Since(began))
		}
	})
}

func TestMCP5ProgressRisesAndEndsWithTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice()
		h := connect(t, o, "auto", "2025-06-18", nil)
		time.AfterFunc(40*time.Second, func() { o.set(func(a *Answer) { a.Status, a.Answered, a.Response = "answered", true, "approve" }) })
		if a, _, err := h.asks(t.Context(), map[string]any{"question": "Deploy?", "wait_seconds": 600}); err != nil || !a.Answered {
			t.Fatalf("%+v %v", a, err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		h.mu.Lock()
		defer h.mu.Unlock()
		var got []float64
		for _, p := range h.progress {
			got = append(got, p.Progress)
			if p.Message != "Deploy?" || p.ProgressToken != "p" {
				t.Errorf("progress %+v", p)
			}
		}
		if len(got) != 3 || got[0] != 0 || got[1] != 15 || got[2] != 30 {
			t.Errorf("progress %v", got)
		}
	})
}

// A bubble ends only when none of its goroutines is left.
func TestMCP4ACancelledCallLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice()
		left := make(chan error, 1)
		h := connect(t, o, "auto", "2025-06-18", func(ctx context.Context, _ *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			<-ctx.Done()
			left <- ctx.Err()
			return nil, ctx.Err()
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := h.asks(ctx, deploy); err == nil {
			t.Error("the call was not cancelled")
		}
		<-left // the dialogue is shut, too
		if a, _ := o.Answer("a"); a.Status != "open" {
			t.Errorf("the ask is %+v", a)
		}
	})
}

func TestMCP6DialoguesOfHosts(t *testing.T) {
	say := func(action string, content map[string]any) func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		return func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: action, Content: content}, nil
		}
	}
	accept := say("accept", map[string]any{"answer": "deploy", "comment": "now"})
	for name, c := range map[string]struct {
		mode, version string
		host          func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error)
		change        func(o *office)
		answered      bool
		replies       int
	}{
		"accepted beside the waiting":   {"auto", "2025-06-18", accept, nil, true, 1},
		"accepted, on":                  {"on", "2025-11-25", accept, nil, true, 1},
		"accepted at the third time":    {"auto", "2025-06-18", accept, func(o *office) { o.refuses = 2 }, true, 3},
		"never fits":                    {"auto", "2025-06-18", accept, func(o *office) { o.refuses = 9 }, false, 3},
		"another word":                  {"auto", "2025-06-18", say("accept", map[string]any{"answer": "explode"}), nil, false, 0},
		"declined":                      {"auto", "2025-06-18", say("decline", nil), nil, false, 0},
		"cancelled":                     {"auto", "2025-06-18", say("cancel", nil), nil, false, 0},
		"off":                           {"off", "2025-06-18", accept, nil, false, 0},
		"private":                       {"auto", "2025-06-18", accept, func(o *office) { o.private = true }, false, 0},
		"without sessions, auto":        {"auto", "2026-07-28", accept, nil, false, 0},
		"without sessions, on":          {"on", "2026-07-28", accept, nil, true, 1},
		"without sessions, refused":     {"on", "2026-07-28", accept, func(o *office) { o.refuses = 1 }, true, 2},
		"without sessions, declined":    {"on", "2026-07-28", say("decline", nil), nil, false, 0},
		"without sessions, no dialogue": {"on", "2026-07-28", nil, nil, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newOffice()
				if c.change != nil {
					c.change(o)
				}
				h := connect(t, o, c.mode, c.version, c.host)
				began := time.Now()
				a, _, err := h.asks(t.Context(), deploy)
				if err != nil || a.Answered != c.answered || len(o.replies) != c.replies {
					t.Errorf("%+v %v after %d replies", a, err, len(o.replies))
				}
				if c.answered && (a.Response != "deploy" || a.Comment != "now") || !c.answered && time.Since(began) != 45*time.Second {
					t.Errorf("%+v after %v", a, time.Since(began))
				}
			})
		})
	}
}

func TestMCP6ADialogueEndsWhenTheAnswerComesElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice()
		shut := make(chan struct{})
		h := connect(t, o, "auto", "2025-06-18", func(ctx context.Context, _ *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			o.set(func(a *Answer) { a.Status, a.Answered, a.Response = "answered", true, "wait" })
			<-ctx.Done()
			close(shut)
			return nil, ctx.Err()
		})
		if a, _, err := h.asks(t.Context(), deploy); err != nil || a.Response != "wait" {
			t.Errorf("%+v %v", a, err)
		}
		<-shut
	})
}

func TestMCP6AForeignRequestStateIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := connect(t, newOffice(), "on", "2026-07-28", nil)
		_, err := h.CallTool(t.Context(), &sdk.CallToolParams{
			Name: "ask_human", Arguments: deploy, RequestState: "b",
			InputResponses: sdk.InputResponseMap{"answer": &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": "deploy"}}},
		})
		if rpc := (*jsonrpc.Error)(nil); !errors.As(err, &rpc) || rpc.Code != -32602 {
			t.Errorf("%v", err)
		}
	})
}

// An answer counts only if this server has sent the dialogue, and if the dialogue would still
// be the same.
func TestMCP6AnAnswerToADialogueThatWasNotShownDoesNotCount(t *testing.T) {
	for _, mode := range []string{"auto", "on", "off"} {
		synctest.Test(t, func(t *testing.T) {
			o := newOffice()
			h := connect(t, o, mode, "2026-07-28", func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
				return &sdk.ElicitResult{Action: "decline"}, nil
			})
			other := New(Options{Workspace: o})
			defer other.Close()
			d, _ := o.Dialogue("a")
			for _, state := range []string{"a", "a.", "a.00", other.stateOf("a", d)} {
				_, _ = h.CallTool(t.Context(), &sdk.CallToolParams{
					Name: "ask_human", Arguments: map[string]any{"question": "Deploy?", "wait_seconds": 0}, RequestState: state,
					InputResponses: sdk.InputResponseMap{"answer": &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": "deploy"}}},
				})
			}
			if len(o.replies) > 0 {
				t.Errorf("%s: it counts", mode)
			}
		})
	}
}

func TestACallThatDoesNotFitSaysWhatToWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := connect(t, newOffice(), "auto", "2025-06-18", nil)
		for _, c := range []struct{ tool, arguments, want string }{
			{"ask_human", `{}`, "/question: is missing: expected what is asked"},
			{"check_answer", `{"ask_id": "a", "wait": 3}`, `check_answer takes no argument "wait": it takes ask_id, wait_seconds`},
			{"ask_human", `{"question": "a", "options": [{"id": "b", "text": "c"}, {"id": "d"}]}`, `unknown members: "text"`},
			{"ask_human", `{"question": "a", "question": "b"}`, "question"},
			{"ask_human", `{"question": "a", "options": ["b c"]}`, "/options/0/id: "},
			{"ask_human", `{"question": "a", "wait_seconds": 86401}`, "/wait_seconds: is the number 86401: expected a whole number from 0 to 86400"},
			{"ask_human", `{"question": "a", "type": "vote"}`, `unknown word "vote": expected one of "approval"`},
			{"check_answer", `{"ask_id": "z"}`, "there is no such ask. Call list_waiting"},
			{"withdraw_question", `{"ask_id": "a"}`, "/reason: is missing"},
			{"list_waiting", `{"limit": 0}`, "/limit: is the number 0: expected a whole number from 1 to 100"},
			{"report_progress", `{"message": "m", "percent": 101}`, "/percent"},
		} {
			res, err := h.CallTool(t.Context(), &sdk.CallToolParams{Name: c.tool, Arguments: json.RawMessage(c.arguments)})
			if err != nil || !res.IsError || !strings.Contains(res.Content[0].(*sdk.TextContent).Text, c.want) {
				t.Errorf("%s %s: %v %+v, expected %q", c.tool, c.arguments, err, res, c.want)
			}
		}
	})
}

func TestInstructionsAreShort(t *testing.T) {
	if n := len(instructions); n > 1500 {
		t.Errorf("the instructions have %d bytes: hosts cut them at 2 KB", n)
	}
}

// A followed resource is looked at only while the session lasts: a bubble does not end before
// the looks end.
func TestMCP8FollowedResourcesAreTold(t *testing.T) {
	for _, version := range []string{"2025-06-18", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newOffice()
				s := New(Options{Workspace: o, Elicit: func() string { return "off" }})
				defer s.Close()
				here, there := sdk.NewInMemoryTransports()
				ran := make(chan error, 1)
				go func() { ran <- s.sdk.Run(t.Context(), here) }()
				told := make(chan string, 8)
				c, err := sdk.NewClient(&sdk.Implementation{Name: "host", Version: "1"}, &sdk.ClientOptions{
					ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { told <- r.Params.URI },
				}).Connect(t.Context(), there, &sdk.ClientSessionOptions{ProtocolVersion: version})
				if err != nil {
					t.Fatal(err)
				}
				const uri = "placet://answer/a"
				if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				began := time.Now()
				o.set(func(a *Answer) { a.Status = "withdrawn" })
				if got := <-told; got != uri || time.Since(began) > time.Second {
					t.Errorf("%s is told after %v", got, time.Since(began))
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if len(told) > 0 {
					t.Error("it is told again")
				}
				if err := c.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: uri}); err != nil {
					t.Fatal(err)
				}
				o.set(func(a *Answer) { a.Status = "open" })
				time.Sleep(time.Minute)
				synctest.Wait()
				s.mu.Lock()
				if len(told) > 0 || s.follow {
					t.Error("what nobody follows is looked at, or told")
				}
				s.mu.Unlock()
				_ = c.Close()
				<-ran
			})
		})
	}
}
