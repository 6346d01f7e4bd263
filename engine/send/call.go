package send

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"placet/engine"
	"placet/schemas"
	"placet/templates"
)

// longestWait bounds what a service may ask to wait.
const longestWait = 365 * 24 * time.Hour

// call posts a document to a service, on a connection of its own: net/http repeats what it
// sends on one that was used before.
func (s *Sender) call(ctx context.Context, what engine.Send, token secret) engine.Sent {
	var connected atomic.Bool // from here on bytes may have left
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }}
	req, err := newRequest(httptrace.WithClientTrace(ctx, trace), what, token)
	if err != nil {
		return engine.Sent{Outcome: engine.SendNotStarted, Reason: err.Error()}
	}
	service := &http.Transport{DisableKeepAlives: true, MaxResponseHeaderBytes: longestResponse, TLSClientConfig: s.tlsConfig("")}
	answer, err := service.RoundTrip(req) // never follows a redirect, knows no proxy
	switch {
	case err != nil && connected.Load():
		return engine.Sent{Outcome: engine.SendUnknown, Reason: "the service did not answer: " + err.Error()}
	case err != nil:
		return engine.Sent{Outcome: engine.SendFailed, Reason: "cannot reach the service: " + err.Error()}
	}
	defer answer.Body.Close()
	// A secret that goes beyond what is repeated must be seen whole. What cannot be read
	// changes nothing: the status says how it ended.
	body, _ := io.ReadAll(io.LimitReader(answer.Body, longestResponse+2*longestSecret))
	return judge(answer, token.hide(string(body)), what.Response)
}

// newRequest returns the request of a call.
func newRequest(ctx context.Context, what engine.Send, token secret) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, what.Call.URL, bytes.NewReader(what.Call.Body))
	if err != nil {
		return nil, err
	}
	if req.URL.Scheme != "https" && req.URL.Scheme != "http" || req.URL.Host == "" {
		return nil, errors.New("cannot call a service whose address is not an http or https URL")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "placet")
	req.Header.Set("Idempotency-Key", what.Key)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+string(token))
	}
	return req, nil
}

// judge says what a service's answer means.
func judge(answer *http.Response, body string, response []engine.Field) engine.Sent {
	sent := engine.Sent{Outcome: outcomeOf(answer.StatusCode), Code: &answer.StatusCode}
	switch sent.Outcome {
	case engine.SendDone:
		if sent.Response = respond(response); response == nil {
			sent.Response = responseOf(body)
		}
		return sent
	case engine.SendFailed:
		sent.RetryAfter = retryAfter(answer.Header.Get("Retry-After"), time.Now())
	}
	sent.Reason = fmt.Sprintf("the service answered %d %s: %s", answer.StatusCode, http.StatusText(answer.StatusCode), body)
	return sent
}

// outcomeOf says what a status means.
func outcomeOf(status int) string {
	switch {
	case status/100 == 2:
		return engine.SendDone
	case slices.Contains([]int{http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests, http.StatusServiceUnavailable}, status):
		return engine.SendFailed
	case status/100 == 3, status/100 == 4, status == http.StatusNotImplemented:
		return engine.SendRefused
	default:
		return engine.SendUnknown
	}
}

// retryAfter reads the header Retry-After: seconds or a date. What is over or cannot be
// read is zero.
func retryAfter(value string, now time.Time) time.Duration {
	var wait time.Duration
	if n, err := strconv.ParseUint(value, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		wait = time.Duration(min(n, uint64(longestWait/time.Second))) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), longestWait)
}

// responseOf returns a service's answer as JSON. One that is no strict JSON, or longer
// than a response may be, is given as text.
func responseOf(body string) schemas.Raw {
	if err := schemas.Decode("", "", []byte(`{"response":`+body+`}`), nil); err == nil {
		if answer, err := schemas.Encode(schemas.Raw(body)); err == nil && len(answer) <= longestResponse {
			return answer
		}
	}
	text := templates.CutWith(strings.ToValidUTF8(body, "\uFFFD"), longestResponse, "")
	for {
		answer := respond([]engine.Field{{Name: "status", Value: "accepted"}, {Name: "raw", Value: text}})
		if answer != nil {
			return answer
		}
		text = templates.CutWith(text, len(text)/2, "")
	}
}
