package mcp

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"io"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Workspace is a workspace as one caller sees it. An error about a mistake of the caller says
// what to do instead.
type Workspace interface {
	// Ask asks a person, or joins the open ask of the same call, and returns its id once it
	// is open, or shortly afterwards.
	Ask(ctx context.Context, q Question) (id string, err error)
	// IsOf reports whether an ask is one that this call makes, or has made.
	IsOf(q Question, id string) bool
	// Answer returns the state of an ask. The channel of Changed is closed when the state may
	// have changed.
	Answer(id string) (Answer, error)
	Changed() <-chan struct{}
	Withdraw(ctx context.Context, id, reason string) error
	Waiting(family, tag string, limit int) (Waiting, error)
	Explain(run string) (string, error)
	// Report shows what a session is doing. recorded is false if there is no place for it.
	Report(session string, p Progress) (recorded bool, err error)
	// Dialogue returns what the host may show its user about an ask. ok is false if it may
	// show nothing.
	Dialogue(id string) (d Dialogue, ok bool)
	// Respond answers for the user of the host.
	Respond(ctx context.Context, id string, r Reply) error
	// Inbox returns everything that waits, as Markdown without ages; Form the form of a
	// request, and Shown a file as a request shows it: file is the request, a slash, and the
	// file's number from 1.
	Inbox() (string, error)
	Form(request string) (string, error)
	Shown(file string) (string, error)
}

// Question holds the arguments of ask_human.
type Question struct {
	Question   string   `json:"question"`
	Type       string   `json:"type"`
	Options    []Option `json:"options"`
	Context    string   `json:"context"`
	Artifacts  []string `json:"artifacts"`
	Editable   []string `json:"editable"`
	Deadline   string   `json:"deadline"`
	Default    string   `json:"default"`
	Key        string   `json:"key"`
	Supersedes string   `json:"supersedes"`
	RoundOf    string   `json:"round_of"`
	Tags       []string `json:"tags"`
	Wait       *int     `json:"wait_seconds"`
	// By is the host's own name for itself.
	By string `json:"-"`
}

// Option is one possible answer.
type Option struct {
	ID          string `json:"id"`
	Description string `json:"description"`
	Comment     bool   `json:"comment"`
	Approves    bool   `json:"approves"`
}

// Answer is the state of an ask. Unknown values are "" or empty.
type Answer struct {
	AskID    string   `json:"ask_id"`
	Status   string   `json:"status"`
	Answered bool     `json:"answered"`
	Response string   `json:"response"`
	Selected []string `json:"selected"`
	Comment  string   `json:"comment"`
	By       string   `json:"by"`
	Form     string   `json:"form"`
	// Changed are the files that differ from what was asked about. Round is the number of the
	// question among those about the same work.
	Changed []string     `json:"changed"`
	Edited  []EditedFile `json:"edited"`
	Round   int          `json:"round"`
	Note    string       `json:"note"`
	// Title is what the host shows while a call waits.
	Title string `json:"-"`
}

// EditedFile is an artifact that a person changed, and the file with what they approved.
type EditedFile struct {
	Path string `json:"path"`
	File string `json:"file"`
}

// isOpen reports whether a person can still answer.
func (a Answer) isOpen() bool { return a.Status == "open" }

// Waiting lists what waits for people.
type Waiting struct {
	Waiting []WaitingLine `json:"waiting"`
	More    int           `json:"more"`
}

// WaitingLine is one open request.
type WaitingLine struct {
	Request  string `json:"request"`
	Run      string `json:"run"`
	Type     string `json:"type"`
	Question string `json:"question"`
	AskedAt  string `json:"asked_at"`
	Deadline string `json:"deadline"`
	Form     string `json:"form"`
}

// Progress is what an agent says that it is doing.
type Progress struct {
	Message string   `json:"message"`
	Percent *float64 `json:"percent"`
	Run     string   `json:"run"`
}

// Options configure a server.
type Options struct {
	Workspace Workspace
	Version   string
	// Wait is how long a call waits if it does not say.
	Wait time.Duration
	// Elicit says when the host's dialogue is used: "auto", "on" or "off".
	Elicit func() string
}

// instructions are for the model of the host. One host cuts them at 2 KB.
const instructions = `placet asks people. A question is a file in the workspace; a person answers it by ticking a form, in a terminal, a browser or a chat.

Ask with ask_human before you do what cannot be undone (delete, overwrite, push, deploy, publish, pay, send) or what was not agreed: a change of scope, a new dependency, a trade-off that somebody else will live with. Say in the first line what is asked, in context what the person needs to decide, and name the files that it is about as artifacts. Offer options where you can.

Act on "answered" alone. Status "open" is no answer: call check_answer with the ask_id, and do meanwhile only what does not depend on the answer. Expired, withdrawn and superseded are no consent either. A comment is part of the answer: follow it.

Never answer a question yourself: do not write response.json, form.md, receipt.json or answer.json, do not run placet approve, reject, respond or steer, and do not ask the same thing again in other words to get another answer. Use withdraw_question when an answer is not needed any more.

list_waiting shows what waits for people, explain_run why a run does not move. Say with report_progress what you are doing when work takes long.`

// Server answers one caller, in any number of sessions.
type Server struct {
	o   Options
	sdk *sdk.Server
	// ended is done when calls must not wait any longer.
	ended context.Context
	end   context.CancelFunc
	// key is the key for the codes of dialogues that were shown.
	key []byte
	subscriptions
}

// New returns a server, which must be closed.
func New(o Options) *Server {
	s := &Server{o: o, key: make([]byte, sha256.Size), subscriptions: subscriptions{of: map[string]*subscription{}}}
	_, _ = rand.Read(s.key) // never fails: crypto/rand
	s.ended, s.end = context.WithCancel(context.Background())
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "placet", Title: "placet", Version: o.Version}, &sdk.ServerOptions{
		Instructions: instructions,
		Capabilities: &sdk.ServerCapabilities{
			Tools: &sdk.ToolCapabilities{}, Prompts: &sdk.PromptCapabilities{}, Resources: &sdk.ResourceCapabilities{Subscribe: true},
		},
		SubscribeHandler: s.subscribe, UnsubscribeHandler: s.unsubscribe,
	})
	s.addTools()
	s.addResources()
	s.addPrompts()
	return s
}

// Close ends all waiting calls and all subscriptions.
func (s *Server) Close() { s.end() }

// longestLine is the largest message over a stream, in bytes, far above the arguments of any tool.
const longestLine = 16 << 20

// Run answers over a stream of lines until it ends, or the context does. No line ends it.
func (s *Server) Run(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	defer s.end()
	defer context.AfterFunc(ctx, s.end)()
	return s.sdk.Run(ctx, lines{in, out})
}

// until returns a context that also ends when the server is closed.
func (s *Server) until(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.ended, cancel)
	return ctx, func() { stop(); cancel() }
}

// subscriptions are the resources that clients follow, by their addresses.
type subscriptions struct {
	mu     sync.Mutex
	of     map[string]*subscription
	follow bool // the looks are running
}
