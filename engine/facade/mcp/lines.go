package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// lines is a transport over a stream with one message, or one batch of messages, in a line. It
// answers a line that is no message with an error, and reads the next one, while the SDK's own
// transport ends the session.
type lines struct {
	in  io.ReadCloser
	out io.WriteCloser
}

// Connect implements [sdk.Transport].
func (l lines) Connect(context.Context) (sdk.Connection, error) {
	c := &lineConn{lines: l, frames: make(chan frame), closed: make(chan struct{}), ids: newOddIDs(), calls: map[jsonrpc.ID]*batch{}}
	go c.readFrames()
	return c, nil
}

// lineConn is the connection of one session.
type lineConn struct {
	lines
	frames chan frame
	ended  error // is why frames was closed
	closed chan struct{}
	once   sync.Once
	// queue are the messages of the last line that are still to be read.
	queue []jsonrpc.Message
	ids   oddIDs
	// mu guards out and calls.
	mu sync.Mutex
	// calls are those without a response, with the batch that each belongs to, or nil.
	calls map[jsonrpc.ID]*batch
}

// batch is the answer to the messages of one line. It is written as soon as no call waits.
type batch struct {
	waiting   int
	responses []json.RawMessage
}

// readFrames passes on what the stream has, because a read of the stream cannot be interrupted.
func (c *lineConn) readFrames() {
	defer close(c.frames)
	r := newFrameReader(c.in)
	for {
		f, err := r.next()
		if err != nil {
			c.ended = err
			return
		}
		select {
		case c.frames <- f:
		case <-c.closed:
			return
		}
	}
}

// SessionID implements [sdk.Connection]. A stream has one session.
func (c *lineConn) SessionID() string { return "" }

// Close implements [sdk.Connection].
func (c *lineConn) Close() (err error) {
	c.once.Do(func() {
		close(c.closed)
		err = c.in.Close()
		if outErr := c.out.Close(); err == nil {
			err = outErr
		}
	})
	return err
}

// Read implements [sdk.Connection].
func (c *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for len(c.queue) == 0 {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.closed:
			return nil, io.EOF
		case f, ok := <-c.frames:
			if !ok {
				return nil, c.ended
			}
			if err := c.accept(f); err != nil {
				return nil, err
			}
		}
	}
	next := c.queue[0]
	c.queue = c.queue[1:]
	return next, nil
}

// accept puts the messages of a line into the queue, and answers what is none.
func (c *lineConn) accept(f frame) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case f.fault != nil:
		return c.writeLine(refusal(f.fault))
	case f.text[0] == '[':
		return c.acceptBatch(f.text)
	}
	msg, fault := c.expected(f.text, nil)
	if fault != nil {
		return c.writeLine(refusal(fault))
	}
	c.queue = append(c.queue, msg)
	return nil
}

// acceptBatch puts the messages of a batch into the queue. The errors of those that are none
// belong to the answer of the batch. The caller holds mu.
func (c *lineConn) acceptBatch(text []byte) error {
	var all []json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil || len(all) == 0 {
		return c.writeLine(refusal(invalid("a batch holds at least one message")))
	}
	b := &batch{}
	for _, one := range all {
		msg, fault := c.expected(one, b)
		if fault != nil {
			b.responses = append(b.responses, refusal(fault))
			continue
		}
		c.queue = append(c.queue, msg)
	}
	return c.writeBatch(b)
}

// expected returns the message of a text, and notes the call that it may be, as one of a batch or,
// with nil, as one on its own. The SDK would leave a call with the id of another one unanswered.
// The caller holds mu.
func (c *lineConn) expected(text []byte, b *batch) (jsonrpc.Message, *jsonrpc.Error) {
	msg, fault := c.message(text)
	call, ok := msg.(*jsonrpc.Request)
	if fault != nil || !ok || !call.IsCall() {
		return msg, fault
	}
	if _, used := c.calls[call.ID]; used {
		return nil, invalid("this id is that of another call: use each id once")
	}
	c.calls[call.ID] = b
	if b != nil {
		b.waiting++
	}
	return msg, nil
}

// writeBatch writes the answer of a batch, if it is complete and not empty.
func (c *lineConn) writeBatch(b *batch) error {
	if b.waiting > 0 || len(b.responses) == 0 {
		return nil
	}
	body := append([]byte{'['}, bytes.Join(asBytes(b.responses), []byte{','})...)
	return c.writeLine(append(body, ']'))
}

func asBytes(all []json.RawMessage) (texts [][]byte) {
	for _, one := range all {
		texts = append(texts, one)
	}
	return texts
}

// refusal returns the response to what has no id that could be named.
func refusal(fault *jsonrpc.Error) json.RawMessage {
	text, _ := json.Marshal(fault) // contains two plain values
	return json.RawMessage(`{"jsonrpc":"2.0","id":null,"error":` + string(text) + `}`)
}

// Write implements [sdk.Connection].
func (c *lineConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	text, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	text = c.ids.restore(text)
	c.mu.Lock()
	defer c.mu.Unlock()
	response, ok := msg.(*jsonrpc.Response)
	if !ok {
		return c.writeLine(text)
	}
	b := c.calls[response.ID]
	delete(c.calls, response.ID)
	if b == nil {
		return c.writeLine(text)
	}
	b.waiting--
	b.responses = append(b.responses, text)
	return c.writeBatch(b)
}

// writeLine writes a line. The caller holds mu.
func (c *lineConn) writeLine(text []byte) error {
	_, err := c.out.Write(append(text, '\n'))
	return err
}
