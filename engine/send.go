package engine

import (
	"time"

	"placet/schemas"
)

// Send is something given to somebody outside this machine. Without Mail and Call
// nothing leaves the machine, and the send is done at once.
type Send struct {
	Mail *Mail // by SMTP
	Call *Call // of an HTTP service
	// Key is the idempotency key: the header Idempotency-Key of a call. The Message-ID
	// of a mail is <Key@domain of From>.
	Key string
	// Response is the provider's answer in the outcome; a mail adds server_reply to
	// it. nil with Call: the service's own answer.
	Response []Field
	// Timeout is how long the send may take; zero means a minute.
	Timeout time.Duration
	// Problem says why nothing may be sent, and the outcome is then not_started. ""
	// means that there is no problem.
	Problem string
}

// Mail is a text for some people. It is sent to all of them or to none.
type Mail struct {
	Host string
	Port int
	// TLS is "starttls", "tls" or "none", which can only reach a server on this
	// machine.
	TLS string
	// Username is empty if the server asks for no authentication.
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
	// Address holds the URL, for a service whose address is a secret.
	Address Secret
	// Slack says that the service is Slack: the member ok of its answer says whether
	// the call succeeded, and of the rest only error, channel and ts are kept.
	Slack bool
	// Token is sent as a bearer token if there is one.
	Token Secret
	Body  []byte
}

// Secret says where a secret is: in a file outside the workspace that only its owner
// may read (mode 0600), which wins, or in an environment variable. The content "" or
// "CHANGE_ME" means that there is no secret.
type Secret struct{ File, Env string }

// The values of [Sent].Outcome.
const (
	// SendDone says that the provider accepted it.
	SendDone = "done"
	// SendRefused says that the provider clearly refused: trying again is of no use.
	SendRefused = "refused"
	// SendFailed says that it was certainly not done and may be tried again.
	SendFailed = "failed"
	// SendNotStarted says that nothing left this machine.
	SendNotStarted = "not_started"
	// SendUnknown says that it may have been done.
	SendUnknown = "unknown"
	// SendLost says that the attempt was recorded and that its end is unknown.
	SendLost = "lost"
)

// Sent says how a send ended.
type Sent struct {
	Outcome string
	// Code is the reply code of SMTP or the status of HTTP, nil if there was none.
	Code *int
	// Response is at most 64 KiB of JSON, nil for none.
	Response schemas.Raw
	// RetryAfter is how long the provider asks to wait, zero if it does not.
	RetryAfter time.Duration
	// Reason says, for people, why it was not done.
	Reason string
}
