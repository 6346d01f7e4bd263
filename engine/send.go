package engine

import (
	"time"

	"placet/schemas"
)

// Send is something that is given to somebody outside this machine, in this process. With
// neither Mail nor Call nothing leaves the machine: it is done at once. The commit that
// records the attempt begins it, and nothing else does.
type Send struct {
	Mail *Mail // by SMTP
	Call *Call // of an HTTP service
	// Key is the idempotency key: the header Idempotency-Key of a call; the Message-ID of
	// a mail is <Key@domain of From>.
	Key string
	// Response is what the outcome says that the provider answered; a mail adds
	// server_reply. Of a call it is the service's own answer.
	Response []Field
	// Timeout bounds how long it may take.
	Timeout time.Duration
	// Problem says why nothing may be sent, "" for nothing: then it is not started.
	Problem string
}

// Mail is one mail in plain text.
type Mail struct {
	Host string
	Port int
	// TLS is starttls, tls or none; none goes to this machine alone.
	TLS      string
	Username string // "": without authentication
	Password Secret
	From     string
	To       []string
	Subject  string
	Body     string
	// Calendar is an invitation, which the mail carries as text/calendar and as
	// invite.ics; nil: none.
	Calendar []byte
}

// Call is one POST of a JSON document.
type Call struct {
	URL   string
	Token Secret // bearer; without one the call has none
	Body  []byte
}

// Secret says where a secret is: in a file outside the workspace, readable by its owner
// alone, which wins, or in a variable of the environment. A secret that is empty or
// CHANGE_ME is not set.
type Secret struct{ File, Env string }

// How a send may end.
const (
	SendDone       = "done"        // the provider took it
	SendRefused    = "refused"     // a clear no
	SendFailed     = "failed"      // certainly not done; it may be tried again
	SendNotStarted = "not_started" // nothing left this machine
	SendUnknown    = "unknown"     // it may have been done
	SendLost       = "lost"        // recorded, and nobody knows how it ended
)

// Sent says how a send ended.
type Sent struct {
	Outcome  string
	Code     *int        // the reply of the mail server or the HTTP status
	Response schemas.Raw // what the provider answered, nil for nothing
	// RetryAfter is how long the provider asks to wait.
	RetryAfter time.Duration
	Reason     string // what went wrong, for people
}
