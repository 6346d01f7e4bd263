package pal

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/loop"
	"placet/engine/pal"
	"placet/engine/store"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// These variables tell a worker's tools where they are. A command that placet starts has them.
const (
	envWorkspace = "PLACET_WORKSPACE"
	envSession   = "PLACET_SESSION"
)

// lookAsWorker opens the workspace of a worker: that of -C, else of PLACET_WORKSPACE, else the
// one around the current folder.
func lookAsWorker(w *console.Env) (*workspace.Workspace, error) {
	w.Flags.Workspace = cmp.Or(w.Flags.Workspace, w.Getenv(envWorkspace))
	b, err := workspace.Look(w)
	if err == nil && !b.Serves("pal") {
		err = console.Usage("cli.pal.disabled").Try("cli.pal.disabled.try")
	}
	return b, err
}

// palRun returns the orchestration of a worker's session.
func palRun(b *workspace.Workspace, session string) (loop.Found, error) {
	id, _, _, ok := pal.SplitSession(session)
	if !ok {
		return loop.Found{}, console.Usage("cli.pal.session", "session", strconv.Quote(console.OneLine(session))).Try("cli.pal.session.try")
	}
	for _, f := range b.Runs() {
		if f.Run.Family == "pal" && f.Run.ID == id {
			return f, nil
		}
	}
	return loop.Found{}, console.Usage("cli.pal.absent", "id", strconv.Quote(console.OneLine(id)), "folder", b.Root).Try("cli.pal.absent.try")
}

// workerAt returns the worker of a session, and its run.
func workerAt(b *workspace.Workspace, session string) (*pal.Worker, loop.Found, error) {
	f, err := palRun(b, session)
	if err != nil {
		return nil, f, err
	}
	snap, err := b.SettledRun(f, false)
	if err != nil {
		return nil, f, console.Refused("cli.pal.read", "file", console.Brief(f.Key()), "error", console.Plain(err))
	}
	worker, err := pal.New().Worker(snap, session)
	if err != nil {
		return nil, f, console.Refused("say.text", "text", err).Try("say.text", "text", console.Typed("show --why", console.Brief(f.Key())))
	}
	return worker, f, nil
}

// draft is a message that a worker wants to send.
type draft struct{ session, of, payload string }

// SendVerb returns the verb that writes a worker's message.
func SendVerb() verb.Verb {
	var d draft
	return verb.Verb{
		Use: "send query|ack", Least: 1, Most: 1,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&d.session, "session", "", "")
			f.StringVar(&d.of, "of", "", "")
			f.StringVar(&d.payload, "payload", "", "")
		},
		Run: func(c verb.Call) error {
			payload, err := d.read(c.Env, c.Args[0])
			if err != nil {
				return err
			}
			b, err := lookAsWorker(c.Env)
			if err != nil {
				return err
			}
			session := cmp.Or(d.session, c.Env.Getenv(envSession))
			if session == "" {
				return console.Usage("cli.pal.send.session").Try("cli.pal.send.session.try", "variable", envSession)
			}
			return sendMessage(b, session, c.Args[0], payload)
		},
	}
}

// read returns the payload of a message of a type.
func (d draft) read(w *console.Env, typ string) (schemas.Raw, error) {
	switch {
	case typ != "query" && typ != "ack":
		return nil, console.Usage("cli.pal.send.type", "type", strconv.Quote(console.OneLine(typ)))
	case typ == "query" && d.of != "":
		return nil, console.Usage("cli.pal.send.of")
	case typ == "query" && d.payload == "":
		return nil, console.Usage("cli.pal.send.query").Try("cli.pal.send.query.try")
	case typ == "ack" && d.of == "":
		return nil, console.Usage("cli.pal.send.ack").Try("cli.pal.send.ack.try")
	}
	var said schemas.Raw
	if d.payload != "" {
		text, err := readLimited(w, d.payload)
		if err == nil {
			said, err = anyJSON(text)
		}
		if err != nil {
			return nil, console.Usage("cli.pal.send.payload", "error", console.Plain(err))
		}
	}
	if typ == "query" {
		return said, nil
	}
	o := schemas.Object{{Name: "of", Value: strings.TrimSuffix(path.Base(d.of), ".json")}}
	if said != nil {
		members, err := schemas.Members(said)
		if err != nil {
			return nil, console.Usage("cli.pal.send.object")
		}
		o = append(o, members.Without("of")...)
	}
	body, err := schemas.Encode(o)
	return schemas.Raw(strings.TrimSpace(string(body))), err
}

// anyJSON reads a JSON value of any kind.
func anyJSON(text []byte) (schemas.Raw, error) {
	if text = bytes.TrimSpace(text); bytes.HasPrefix(text, []byte("{")) {
		return text, schemas.Decode("", "payload", text, nil)
	}
	// Decoding takes only whole objects, so the value is read as a member of one.
	document := slices.Concat([]byte(`{"payload":`), text, []byte("}"))
	members, err := schemas.Members(document)
	if cmp.Or(err, schemas.Decode("", "payload", document, nil)) != nil || len(members) != 1 {
		return nil, templates.Errorf("cli.pal.send.json")
	}
	return members.Raw("payload"), nil
}

// readLimited reads a file that is named on the command line, or standard input for "-". A file
// above the limit is an error.
func readLimited(w *console.Env, name string) ([]byte, error) {
	in, err := verb.OpenInput(w, name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	body, err := io.ReadAll(io.LimitReader(in, config.LimitSmall+1))
	if err == nil && len(body) > config.LimitSmall {
		err = templates.Errorf("cli.pal.large", "n", config.LimitSmall)
	}
	return body, err
}

// sendMessage writes a worker's message under the next free number: two that are sent at once
// get two numbers.
func sendMessage(b *workspace.Workspace, session, typ string, payload schemas.Raw) error {
	worker, f, err := workerAt(b, session)
	if err != nil {
		return err
	}
	for n := worker.NextNumber(typ); ; n++ {
		id, file, body, err := worker.Message(typ, n, payload, b.Env.Now())
		if err != nil {
			return console.Refused("cli.pal.send.failed", "type", typ, "error", console.Plain(err))
		}
		d := engine.Document{Path: path.Join(f.Run.Dir, file), Kind: layout.PalMessage, Body: body}
		switch err = b.Store.Create(d); {
		case errors.Is(err, store.ErrConflict):
			continue // another message has this number
		case err != nil:
			return console.Refused("cli.pal.write", "file", d.Path, "error", console.Plain(err))
		}
		data := map[string]any{"run": f.Key(), "message": id, "path": d.Path, "daemon": b.HasDaemon("workspace.nodaemon.deliver")}
		return b.Env.Answer(data, func() { b.Env.Say("say.text", "text", id) })
	}
}
