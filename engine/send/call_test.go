package send

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
)

// callOf is a call of a service.
func callOf(url string) engine.Send {
	return engine.Send{
		Key: "job-0123456789ab-2", Timeout: time.Hour,
		Call: &engine.Call{URL: url, Token: engine.Secret{Env: "API_TOKEN"}, Body: []byte(`{"title":"会議"}`)},
	}
}

// service is an HTTP server that answers with a handler.
func service(t *testing.T, answer http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s
}

func TestACallHoldsWhatWasApproved(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://192.0.2.1:1") // nothing asks for it
	t.Setenv("HTTPS_PROXY", "http://192.0.2.1:1")
	type seen struct {
		Method, Path, Type, Auth, Key, Body string
		Close                               bool
	}
	var got seen
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = seen{r.Method, r.RequestURI, r.Header.Get("Content-Type"), r.Header.Get("Authorization"), r.Header.Get("Idempotency-Key"), string(body), r.Close}
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"event_id": "e-1", "n": 1.50}`)
	}))
	defer s.Close()
	from := sender(t)
	_, from.authorities = authority(t)
	from.authorities.AddCert(s.Certificate())
	sent := from.Send(t.Context(), callOf(s.URL+"/events?a=b"))
	if short(sent) != "done 201" || string(sent.Response) != "{\n  \"event_id\": \"e-1\",\n  \"n\": 1.50\n}\n" {
		t.Errorf("%s: %s %s", short(sent), sent.Reason, sent.Response)
	}
	want := seen{"POST", "/events?a=b", "application/json", "Bearer " + password, "job-0123456789ab-2", `{"title":"会議"}`, true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}

	what := callOf(s.URL)
	what.Call.Token, what.Response = engine.Secret{Env: "UNSET"}, []engine.Field{{Name: "status", Value: "submitted"}}
	if sent := from.Send(t.Context(), what); short(sent) != "done 201" || string(sent.Response) != "{\n  \"status\": \"submitted\"\n}\n" {
		t.Errorf("%s: %s %s", short(sent), sent.Reason, sent.Response)
	}
	if got.Auth != "" {
		t.Errorf("Authorization %q without a token", got.Auth)
	}
}

func TestHowACallEnds(t *testing.T) {
	t.Parallel()
	type answer struct {
		status int
		header string // name: value
		body   string
	}
	tests := map[string]struct {
		answer   answer
		want     string
		wait     time.Duration
		response string
	}{
		"204":                    {answer: answer{status: 204}, want: "done 204", response: `{"status":"accepted","raw":""}`},
		"HTML":                   {answer: answer{200, "Content-Type: text/html", "<p>ok</p>"}, want: "done 200", response: `{"status":"accepted","raw":"<p>ok</p>"}`},
		"an array":               {answer: answer{200, "", "[1, \"\\u0041\"]"}, want: "done 200", response: `[1,"\u0041"]`},
		"null":                   {answer: answer{200, "", "null"}, want: "done 200", response: `null`},
		"two documents":          {answer: answer{200, "", `{} {}`}, want: "done 200", response: `{"status":"accepted","raw":"{} {}"}`},
		"a way out of the value": {answer: answer{200, "", `1,"outcome":"done"`}, want: "done 200", response: `{"status":"accepted","raw":"1,\"outcome\":\"done\""}`},
		"doubled names":          {answer: answer{200, "", `{"a":1,"a":2}`}, want: "done 200", response: `{"status":"accepted","raw":"{\"a\":1,\"a\":2}"}`},
		"too deep":               {answer: answer{200, "", strings.Repeat("[", 64) + strings.Repeat("]", 64)}, want: "done 200", response: `{"status":"accepted","raw":"` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `"}`},
		"not UTF-8":              {answer: answer{200, "", "\"\xff\""}, want: "done 200", response: `{"status":"accepted","raw":"\"` + "\uFFFD" + `\""}`},
		"301":                    {answer: answer{301, "Location: /elsewhere", ""}, want: "refused 301"},
		"302":                    {answer: answer{302, "Location: /elsewhere", ""}, want: "refused 302"},
		"307":                    {answer: answer{307, "Location: /elsewhere", ""}, want: "refused 307"},
		"400":                    {answer: answer{400, "Retry-After: 5", `{"detail":"no"}`}, want: "refused 400"},
		"404":                    {answer: answer{404, "", ""}, want: "refused 404"},
		"408":                    {answer: answer{408, "", ""}, want: "failed 408"},
		"425":                    {answer: answer{425, "", ""}, want: "failed 425"},
		"429":                    {answer: answer{429, "Retry-After: 7", ""}, want: "failed 429", wait: 7 * time.Second},
		"500":                    {answer: answer{500, "Retry-After: 7", ""}, want: "unknown 500"},
		"501":                    {answer: answer{501, "", ""}, want: "refused 501"},
		"502":                    {answer: answer{502, "", ""}, want: "unknown 502"},
		"503":                    {answer: answer{503, "Retry-After: 90", ""}, want: "failed 503", wait: 90 * time.Second},
		"504":                    {answer: answer{504, "", ""}, want: "unknown 504"},
		"999":                    {answer: answer{999, "", ""}, want: "unknown 999"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int32
			s := service(t, func(w http.ResponseWriter, _ *http.Request) {
				calls.Add(1)
				if name, value, ok := strings.Cut(test.answer.header, ": "); ok {
					w.Header().Set(name, value)
				}
				w.WriteHeader(test.answer.status)
				fmt.Fprint(w, test.answer.body)
			})
			sent := sender(t).Send(t.Context(), callOf(s.URL))
			if short(sent) != test.want || sent.RetryAfter != test.wait {
				t.Errorf("%s after %s: %s; want %s after %s", short(sent), sent.RetryAfter, sent.Reason, test.want, test.wait)
			}
			if got := decodedOf(t, sent); got != test.response {
				t.Errorf("response %s\nwant %s", got, test.response)
			}
			if (sent.Reason == "") != strings.HasPrefix(test.want, "done") {
				t.Errorf("reason %q", sent.Reason)
			}
			if calls.Load() != 1 {
				t.Errorf("called %d times", calls.Load())
			}
		})
	}
}

// decodedOf is the response of an outcome without the blanks between its values.
func decodedOf(t *testing.T, sent engine.Sent) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(string(sent.Response)) {
		out.WriteString(strings.Replace(strings.TrimSpace(line), `": `, `":`, 1))
	}
	return out.String()
}

func TestRetryAfterIsSecondsOrADate(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "0": 0, "90": 90 * time.Second, "-5": 0, "1.5": 0, "soon": 0,
		"99999999999": longestWait, "99999999999999999999999": longestWait,
		"Tue, 24 Nov 2026 10:01:30 GMT":   90 * time.Second,
		"Tue, 24 Nov 2026 09:00:00 GMT":   0,
		"Tue, 24 Nov 2099 09:00:00 GMT":   longestWait,
		"Tuesday, 24-Nov-26 10:00:10 GMT": 10 * time.Second,
	} {
		if got := retryAfter(value, now); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}

func TestOfALongAnswerTheBeginningIsKept(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"text": strings.Repeat("x", 1<<20), "control characters": strings.Repeat("\x01", 60<<10),
		"JSON that grows": "[" + strings.Repeat("[0],", 15<<10) + "0]", "long JSON": `{"a":"` + strings.Repeat("x", 70<<10) + `"}`,
	} {
		s := service(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
		sent := sender(t).Send(t.Context(), callOf(s.URL))
		if short(sent) != "done 200" || len(sent.Response) > longestResponse || len(sent.Response) < longestResponse/4 {
			t.Errorf("%s: %s with %d bytes", name, short(sent), len(sent.Response))
		}
		if !strings.HasPrefix(string(sent.Response), "{\n  \"status\": \"accepted\",\n  \"raw\": ") {
			t.Errorf("%s: %.60s", name, sent.Response)
		}
	}
}

func TestACallWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	stopped := errors.New("placet was stopped")
	hanging := func() (url string, reached chan struct{}) {
		reached = make(chan struct{}, 1)
		return service(t, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			reached <- struct{}{}
			<-r.Context().Done() // until the caller has gone
		}).URL, reached
	}
	url, reached := hanging()
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-reached; cancel(stopped) }()
	if sent := sender(t).Send(ctx, callOf(url)); short(sent) != "unknown -" || !strings.Contains(sent.Reason, stopped.Error()) {
		t.Errorf("stopped: %s: %s", short(sent), sent.Reason)
	}
	// A busy machine may take longer to reach the service than the call may take.
	for timeout, over := 50*time.Millisecond, false; !over; timeout *= 2 {
		url, reached := hanging()
		what := callOf(url)
		what.Timeout = timeout
		sent := sender(t).Send(t.Context(), what)
		over = len(reached) > 0
		if over && (short(sent) != "unknown -" || !strings.Contains(sent.Reason, "no answer within "+what.Timeout.String())) {
			t.Errorf("late: %s: %s", short(sent), sent.Reason)
		}
	}

	cut := service(t, func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		conn.Close()
	})
	if sent := sender(t).Send(t.Context(), callOf(cut.URL)); short(sent) != "unknown -" {
		t.Errorf("cut: %s: %s", short(sent), sent.Reason)
	}

	// The status was read, so what happens to the rest changes nothing.
	half := service(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "half")
	})
	if sent := sender(t).Send(t.Context(), callOf(half.URL)); short(sent) != "done 200" || !strings.Contains(string(sent.Response), `"raw": "half"`) {
		t.Errorf("half: %s: %s", short(sent), sent.Response)
	}
}

func TestACallThatReachesNobodyMayBeTriedAgain(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	foreign := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was called") }))
	foreign.Config.ErrorLog = log.New(io.Discard, "", 0)
	defer foreign.Close()
	for name, url := range map[string]string{"nobody": "http://" + listener.Addr().String(), "somebody else": foreign.URL} {
		if sent := sender(t).Send(t.Context(), callOf(url)); short(sent) != "failed -" {
			t.Errorf("%s: %s: %s", name, short(sent), sent.Reason)
		}
	}
	for _, url := range []string{"", "file:///etc/passwd", "http://", "ftp://x.example/", "x.example", "http://x.example:port/", "http://a b/"} {
		if sent := sender(t).Send(t.Context(), callOf(url)); short(sent) != "not_started -" {
			t.Errorf("%q: %s: %s", url, short(sent), sent.Reason)
		}
	}
	what := callOf(foreign.URL)
	what.Call.Token.File = "/nowhere/token"
	if sent := sender(t).Send(t.Context(), what); short(sent) != "not_started -" || !strings.Contains(sent.Reason, "/nowhere/token") {
		t.Errorf("no token: %s: %s", short(sent), sent.Reason)
	}
}

func TestNoAnswerBringsTheTokenBack(t *testing.T) {
	t.Parallel()
	escaped := strings.ReplaceAll(strconv.Quote(password), "o", `\u006f`)
	for name, body := range map[string]string{
		"text": "your token is " + password, "JSON": `{"token":` + escaped + `}`,
		"at the edge": strings.Repeat("x", longestResponse-6) + password,
	} {
		for _, status := range []int{200, 401, 503, 500} {
			s := service(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
				fmt.Fprint(w, body)
			})
			sent := sender(t).Send(t.Context(), callOf(s.URL))
			if all := sent.Reason + string(sent.Response); strings.Contains(all, "horse") || strings.Contains(all, `h\u006f`) || !strings.Contains(all, "withheld") {
				t.Errorf("%s with %d: %.200s", name, status, all)
			}
		}
	}
	odd, _ := script(t, "HTTP/1.1 "+password+" x", func(string) string { return "-" })
	if sent := sender(t).Send(t.Context(), callOf("http://"+odd.String())); short(sent) != "unknown -" || strings.Contains(sent.Reason, "horse") {
		t.Errorf("%s: %s", short(sent), sent.Reason)
	}
}

func TestWithNothingToSendNothingLeaves(t *testing.T) {
	t.Parallel()
	sent := sender(t).Send(t.Context(), engine.Send{Response: []engine.Field{{Name: "event_id", Value: "cal-1"}}})
	if short(sent) != "done -" || string(sent.Response) != "{\n  \"event_id\": \"cal-1\"\n}\n" {
		t.Errorf("%s: %s", short(sent), sent.Response)
	}
	if sent := sender(t).Send(t.Context(), engine.Send{}); short(sent) != "done -" || sent.Response != nil {
		t.Errorf("%s: %s", short(sent), sent.Response)
	}
}
