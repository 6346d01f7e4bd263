package mcp

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// largestBody is how many bytes a call may have.
	largestBody = 1 << 20
	// idleSession is how long a session may be silent.
	idleSession = 12 * time.Hour
)

// Handler answers over HTTP, for callers of whom others have found out who they are. Calls of
// the versions that have sessions and of those that have none come to the same address.
type Handler struct{ modern, legacy, guarded http.Handler }

// caller is who calls: with which server, and under which name.
type caller struct {
	server *Server
	user   string
}

type callerKey struct{}

// streamEnds names what a token's call is told of the end of its stream.
const streamEnds = "placet/stream-ends"

// streamEnd is closed when the stream of a call ends, nil where that ends the call by itself.
func streamEnd(req *sdk.CallToolRequest) <-chan struct{} {
	if extra := req.GetExtra(); extra != nil && extra.TokenInfo != nil {
		done, _ := extra.TokenInfo.Extra[streamEnds].(<-chan struct{})
		return done
	}
	return nil
}

func callerOf(ctx context.Context) caller {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c
}

// NewHandler returns a handler. Pages of these origins may call besides those of the address
// itself.
func NewHandler(origins []string, log *slog.Logger) (*Handler, error) {
	of := func(r *http.Request) *sdk.Server { return callerOf(r.Context()).server.sdk }
	h := &Handler{
		modern: sdk.NewStreamableHTTPHandler(of, &sdk.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: largestBody, Logger: log}),
		legacy: sdk.NewStreamableHTTPHandler(of, &sdk.StreamableHTTPOptions{SessionTimeout: idleSession, MaxRequestBodyBytes: largestBody, Logger: log}),
	}
	// A session belongs to the token that began it. A call of it ends with its stream, too:
	// nothing would bring its result to anybody.
	h.legacy = auth.RequireBearerToken(func(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
		return &auth.TokenInfo{UserID: callerOf(ctx).user, Extra: map[string]any{streamEnds: ctx.Done()}}, nil
	}, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(h.legacy)
	protection := http.NewCrossOriginProtection()
	for _, origin := range origins {
		if err := protection.AddTrustedOrigin(origin); err != nil {
			return nil, err
		}
	}
	h.guarded = protection.Handler(http.HandlerFunc(h.route))
	return h, nil
}

// Serve answers a call of a user by a server of theirs.
func (h *Handler) Serve(w http.ResponseWriter, r *http.Request, s *Server, user string) {
	h.guarded.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, caller{s, user})))
}

func (h *Handler) route(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Mcp-Protocol-Version") >= withoutDialogues {
		h.modern.ServeHTTP(w, r)
	} else {
		h.legacy.ServeHTTP(w, r)
	}
}
