package send

import (
	"bytes"
	"context"
	"encoding/json"
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

// longestWait is the longest wait that a service may ask for.
const longestWait = 365 * 24 * time.Hour

// call posts a document to a service over a new connection, because net/http repeats a
// request that it sent over a reused one.
func (s *Sender) call(ctx context.Context, what engine.Send, token secret) engine.Sent {
	var connected atomic.Bool // from here on bytes may have left
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }}
	address, err := s.addressOf(*what.Call)
	if err != nil {
		return engine.Sent{Outcome: engine.SendNotStarted, Reason: err.Error()}
	}
	req, err := newRequest(httptrace.WithClientTrace(ctx, trace), address, what, token)
	if err != nil && what.Call.URL == "" {
		err = errors.New("cannot call a service whose secret address is no URL") // never quoted
	}
	if err != nil {
		return engine.Sent{Outcome: engine.SendNotStarted, Reason: err.Error()}
	}
	service := &http.Transport{DisableKeepAlives: true, MaxResponseHeaderBytes: longestResponse, TLSClientConfig: s.tlsConfig("")}
	answer, err := service.RoundTrip(req) // follows no redirect and uses no proxy
	switch {
	case err != nil && connected.Load():
		return engine.Sent{Outcome: engine.SendUnknown, Reason: "the service did not answer: " + secret(address).hideIn(what.Call.URL == "", err.Error())}
	case err != nil:
		return engine.Sent{Outcome: engine.SendFailed, Reason: "cannot reach the service: " + secret(address).hideIn(what.Call.URL == "", err.Error())}
	}
	defer answer.Body.Close()
	// The text is read past longestResponse, so that a secret that begins within it is
	// seen whole. A read error changes nothing: the status says how the call ended.
	body, _ := io.ReadAll(io.LimitReader(answer.Body, longestResponse+2*longestSecret))
	text := secret(address).hideIn(what.Call.URL == "", token.hide(string(body)))
	if what.Call.Slack {
		return judgeSlack(answer, text)
	}
	return judge(answer, text, what.Response)
}

// addressOf returns the address at which a service is called.
func (s *Sender) addressOf(call engine.Call) (string, error) {
	if call.URL != "" {
		return call.URL, nil
	}
	address, err := s.secretAt(call.Address)
	if err == nil && address == "" {
		err = errors.New("cannot call a service whose address is not set")
	}
	return string(address), err
}

// newRequest returns the request of a call.
func newRequest(ctx context.Context, address string, what engine.Send, token secret) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(what.Call.Body))
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

// judge returns the meaning of a service's answer.
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

// judgeSlack returns the meaning of an answer of Slack, whose body says whether the call
// succeeded: https://api.slack.com/web#evaluating_responses.
func judgeSlack(answer *http.Response, body string) engine.Sent {
	sent := judge(answer, body, nil)
	if sent.Outcome != engine.SendDone {
		return sent
	}
	var said struct {
		OK      *bool  `json:"ok"`
		Error   string `json:"error,omitempty"`
		Channel string `json:"channel,omitempty"`
		TS      string `json:"ts,omitempty"`
	}
	if err := json.Unmarshal([]byte(body), &said); err != nil || said.OK == nil {
		return engine.Sent{Outcome: engine.SendUnknown, Code: sent.Code, Reason: "the service answered what Slack never does: " + body}
	}
	sent.Response = respond([]engine.Field{{Name: "ok", Value: *said.OK}, {Name: "channel", Value: said.Channel}, {Name: "ts", Value: said.TS}})
	switch {
	case *said.OK:
		return sent
	case slices.Contains([]string{"ratelimited", "rate_limited", "service_unavailable"}, said.Error):
		sent.Outcome = engine.SendFailed
	case slices.Contains([]string{"fatal_error", "internal_error", "request_timeout"}, said.Error):
		sent.Outcome = engine.SendUnknown
	default:
		sent.Outcome = engine.SendRefused
	}
	sent.Response, sent.Reason = nil, "Slack answered "+said.Error
	return sent
}

// outcomeOf returns the meaning of a status.
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

// retryAfter reads the header Retry-After: seconds or a date. It returns zero for a
// past time and for a value that it cannot read.
func retryAfter(value string, now time.Time) time.Duration {
	var wait time.Duration
	if n, err := strconv.ParseUint(value, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		wait = time.Duration(min(n, uint64(longestWait/time.Second))) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), longestWait)
}

// responseOf returns a service's answer as JSON. An answer that is not strict JSON, or
// is longer than a response may be, is returned as text.
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
