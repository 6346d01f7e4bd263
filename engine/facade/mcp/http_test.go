package mcp

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"placet/internal/await"
)

// waits reports whether a call waits in this process.
func waits() bool {
	var b strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&b, 2)
	return strings.Contains(b.String(), "(*Server).await(")
}

// bearer sends a token with each call.
type bearer struct{}

func (bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer x")
	return http.DefaultTransport.RoundTrip(r)
}

// A call over HTTP ends with its stream in every version: nothing remains of it, and the ask
// stays open.
func TestMCP4OverHTTPACallEndsWithItsStream(t *testing.T) {
	for _, version := range []string{"2026-07-28", "2025-06-18"} {
		t.Run(version, func(t *testing.T) {
			o := newOffice()
			s := New(Options{Workspace: o, Wait: time.Hour, Elicit: func() string { return "off" }})
			h, err := NewHandler(nil, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.Serve(w, r, s, "api:x") }))
			defer server.Close()
			defer s.Close() // first: a call that waits would keep the other
			c, err := sdk.NewClient(&sdk.Implementation{Name: "host", Version: "1"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{
				Endpoint: server.URL, HTTPClient: &http.Client{Transport: bearer{}}, MaxRetries: -1,
			}, &sdk.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				_, _ = c.CallTool(context.Background(), &sdk.CallToolParams{Name: "ask_human", Arguments: deploy})
			}()
			await.Until(t, "the call waits", waits)
			server.CloseClientConnections()
			await.Until(t, "the call has ended", func() bool { return !waits() })
			if a, _ := o.Answer("a"); a.Status != "open" {
				t.Errorf("the ask is %+v", a)
			}
		})
	}
}
