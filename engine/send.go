package engine

import (
	"time"

	"placet/schemas"
)

// Send is something given to somebody outside this machine. With neither Mail nor Call
// nothing leaves it: the send is done at once.
type Send struct {
	Mail *Mail // by SMTP
	Call *Call // of an HTTP service
	// Key is the idempotency key: the header Idempotency-Key of a call. The Message-ID
	// of a mail is <Key@domain of From>.
	Key string
	// Response is what the outcome says that the provider answered; a mail adds
	// server_reply to it. nil with Call: the service's own answer.
	Response []Field
	// Timeout is how long the send may take; zero means a minute.
	Timeout time.Duration
	// Problem says why nothing may be sent, "" for nothing: then the outcome is
	// not_started.
	Problem string
}

// Mail is a text for some people. Either all of them are sent it or none.
type Mail struct {
	Host string
	Port int
	// TLS is "starttls", "tls" or "none", which only reaches this machine.
	TLS string
	// Username is empty where the server asks for no authentication.
	Username string
	Password Secret
	// From and To are addresses without names.
	From          string
	To            []string
	Subject, Body string
	// Calendar is an invitation (text/calendar; method=REQUEST) that goes beside the
	// text, and as invite.ics; nil for none.
	Calendar []byte
}

// Call is a POST of a JSON document.
type Call struct {
	URL string
	// Address is where the URL stands, of a service whose address is a secret.
	Address Secret
	// Slack says that the service is Slack: a member ok of its answer says whether it was
	// done, and of the rest only error, channel and ts are kept.
	Slack bool
	// Token is sent as a bearer token where there is one.
	Token Secret
	Body  []byte
}

// Secret says where a secret is: in a file outside the workspace that only its owner may
// read (mode 0600), which wins, or in a variable of the environment. The content "" or
// "CHANGE_ME" stands for no secret.
type Secret struct{ File, Env string }

// The values of [Sent].Outcome.
const (
	// SendDone says that the provider took it.
	SendDone = "done"
	// SendRefused says that the answer is a clear no: trying again is of no use.
	SendRefused = "refused"
	// SendFailed says that it was certainly not done and may be tried again.
	SendFailed = "failed"
	// SendNotStarted says that nothing left this machine.
	SendNotStarted = "not_started"
	// SendUnknown says that it may have been done.
	SendUnknown = "unknown"
	// SendLost says that the attempt was recorded and that nobody knows how it ended.
	SendLost = "lost"
)

// Sent says how a send ended.
type Sent struct {
	Outcome string
	// Code is the reply code of SMTP or the status of HTTP, nil where there was none.
	Code *int
	// Response is at most 64 KiB of JSON, nil for none.
	Response schemas.Raw
	// RetryAfter is how long the provider asks to wait, zero where it does not.
	RetryAfter time.Duration
	// Reason is for people: why it was not done.
	Reason string
}
