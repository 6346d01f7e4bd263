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
	// idleSession is how long a session may be idle.
	idleSession = 12 * time.Hour
)

// Handler answers over HTTP, for callers that its user has already identified. Calls of
// protocol versions with sessions and of those without come to the same address.
type Handler struct{ modern, legacy, guarded http.Handler }

// caller says who calls: by which server, and under which name.
type caller struct {
	server *Server
	user   string
}

type callerKey struct{}

// streamEnds is the key of the channel that tells a token's call when its stream ends.
const streamEnds = "placet/stream-ends"

// streamEnd returns a channel that is closed when the stream of a call ends, nil if the end
// of the stream also ends the call.
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

// NewHandler returns a handler. Pages of the given origins may call, and pages of the address
// itself.
func NewHandler(origins []string, log *slog.Logger) (*Handler, error) {
	of := func(r *http.Request) *sdk.Server { return callerOf(r.Context()).server.sdk }
	h := &Handler{
		modern: sdk.NewStreamableHTTPHandler(of, &sdk.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: largestBody, Logger: log}),
		legacy: sdk.NewStreamableHTTPHandler(of, &sdk.StreamableHTTPOptions{SessionTimeout: idleSession, MaxRequestBodyBytes: largestBody, Logger: log}),
	}
	// A session belongs to the token that began it. A call in it also ends with its stream,
	// because nothing would bring the result to anybody.
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

// Serve answers a call of a user with a server that belongs to the user.
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
