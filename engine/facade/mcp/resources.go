package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// resource is one kind of readable resource. If it has a wildcard, its argument is the rest of
// the address, unescaped.
type resource struct {
	prefix, wildcard, name, about, kind string
	read                                func(w Workspace, argument string) (string, error)
}

const markdown, plainText, asJSON = "text/markdown", "text/plain", "application/json"

var resources = []resource{
	{"placet://inbox", "", "inbox", "What waits for people in this workspace.", markdown, func(w Workspace, _ string) (string, error) { return w.Inbox() }},
	{"placet://run/", "{+key}", "run", "Why a run stands where it stands.", markdown, Workspace.Explain},
	{"placet://form/", "{request}", "form", "The form in which a person answers a request.", markdown, Workspace.Form},
	{"placet://shown/", "{request}/{n}", "shown", "A file as it was when a request about it was made, by its number from 1.", plainText, Workspace.Shown},
	{"placet://answer/", "{ask}", "answer", "How an ask stands, as check_answer says it.", asJSON, func(w Workspace, id string) (string, error) {
		a, err := w.Answer(id)
		body, _ := json.Marshal(a)
		return string(body), err
	}},
}

func (s *Server) addResources() {
	for _, r := range resources {
		if r.wildcard == "" {
			s.sdk.AddResource(&sdk.Resource{URI: r.prefix, Name: r.name, Description: r.about, MIMEType: r.kind}, s.readResource)
		} else {
			s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: r.prefix + r.wildcard, Name: r.name, Description: r.about, MIMEType: r.kind}, s.readResource)
		}
	}
}

func (s *Server) readResource(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	text, kind, err := s.read(req.Params.URI)
	if err != nil {
		return nil, sdk.ResourceNotFoundError(req.Params.URI)
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: req.Params.URI, MIMEType: kind, Text: text}}}, nil
}

// read returns the content at an address.
func (s *Server) read(uri string) (text, kind string, err error) {
	for _, r := range resources {
		rest, ok := strings.CutPrefix(uri, r.prefix)
		if !ok || (rest == "") != (r.wildcard == "") {
			continue
		}
		if rest, err = url.PathUnescape(rest); err != nil {
			break
		}
		text, err = r.read(s.o.Workspace, rest)
		return text, r.kind, err
	}
	return "", "", fmt.Errorf("there is nothing at %q", uri)
}

// subscription is a resource that clients follow.
type subscription struct {
	sessions []*sdk.ServerSession
	last     [sha256.Size]byte // of the last content
}

const (
	// lookEvery is the least time between two looks at the followed resources, and lookFactor
	// the same in multiples of the time that the last look took.
	lookEvery  = 400 * time.Millisecond
	lookFactor = 4
)

// subscribe implements resources/subscribe. A client is notified of changes from now on.
func (s *Server) subscribe(_ context.Context, req *sdk.SubscribeRequest) error {
	text, _, err := s.read(req.Params.URI)
	if err != nil {
		return sdk.ResourceNotFoundError(req.Params.URI)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.of[req.Params.URI]
	if one == nil {
		one = &subscription{last: sha256.Sum256([]byte(text))}
		s.of[req.Params.URI] = one
	}
	one.sessions = append(one.sessions, req.Session)
	if !s.follow {
		s.follow = true
		go s.followResources()
	}
	return nil
}

func (s *Server) unsubscribe(_ context.Context, req *sdk.UnsubscribeRequest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.of[req.Params.URI]; one != nil {
		one.sessions = slices.DeleteFunc(one.sessions, func(x *sdk.ServerSession) bool { return x == req.Session })
	}
	return nil
}

// followResources notifies clients of changes, until nobody follows anything.
func (s *Server) followResources() {
	took := time.Duration(0)
	for {
		select {
		case <-s.ended.Done():
			return
		case <-time.After(max(lookEvery, lookFactor*took)):
		}
		began := time.Now()
		followed := s.followed()
		if followed == nil {
			return
		}
		for _, uri := range followed {
			if text, _, _ := s.read(uri); s.isNew(uri, text) {
				_ = s.sdk.ResourceUpdated(s.ended, &sdk.ResourceUpdatedNotificationParams{URI: uri})
			}
		}
		took = time.Since(began)
	}
}

// followed returns the addresses that open sessions follow. If there are none, the looks end.
func (s *Server) followed() (uris []string) {
	living := slices.Collect(s.sdk.Sessions())
	s.mu.Lock()
	defer s.mu.Unlock()
	for uri, one := range s.of {
		one.sessions = slices.DeleteFunc(one.sessions, func(x *sdk.ServerSession) bool { return !slices.Contains(living, x) })
		if len(one.sessions) == 0 {
			delete(s.of, uri)
			continue
		}
		uris = append(uris, uri)
	}
	s.follow = len(uris) > 0
	return uris
}

// isNew reports whether a text differs from the one that was at an address before.
func (s *Server) isNew(uri, text string) bool {
	sum := sha256.Sum256([]byte(text))
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.of[uri]
	if one == nil || one.last == sum {
		return false
	}
	one.last = sum
	return true
}

func (s *Server) addPrompts() {
	s.sdk.AddPrompt(&sdk.Prompt{Name: "waiting", Title: "What waits for people", Description: "The questions that wait for people in this workspace."},
		func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			text, err := s.o.Workspace.Inbox()
			return prompt("These questions wait for people. Tell me what each is about and what answering it would change. Answer none of them yourself.\n\n" + text), err
		})
	s.sdk.AddPrompt(&sdk.Prompt{
		Name: "explain", Title: "Explain a run", Description: "Why a run stands where it stands.",
		Arguments: []*sdk.PromptArgument{{Name: "run", Description: "The run, such as ask/deploy-14.", Required: true}},
	}, func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		text, err := s.o.Workspace.Explain(req.Params.Arguments["run"])
		return prompt("Explain to me why this run stands where it stands, and who has to do what next. Do nothing about it yourself.\n\n" + text), err
	})
}

func prompt(text string) *sdk.GetPromptResult {
	return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}}}
}
