package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"placet/cmd/placet/announce"
	"placet/cmd/placet/asks"
	askverb "placet/cmd/placet/cli/ask"
	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/hook"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/ask"
	"placet/engine/gate"
	"placet/engine/statedir"
	"placet/templates"
)

// The hook tells an agent the answers that it does not know, whenever its client accepts a
// text. An ask belongs to a session whose id is its correlation, or the session of its asker.
// The state folder records which answers the hook has passed on. If that record is lost, it
// passes them on once more.

// turn tells the agent, at the beginning or end of a turn, the answers that it does not know.
func (h *hookCall) turn() error {
	ends := h.in.Moment == hook.TurnEnds
	if h.in.Session == "" || ends && h.conf.Hook.Stop == "off" {
		return nil
	}
	states, err := h.ownAsks()
	if err != nil {
		return err
	}
	if open := openNames(states); ends && h.conf.Hook.Stop == "block" && len(open) > 0 && !h.in.StopActive {
		return h.print(h.client.Keep(areOpen(open)))
	}
	if !h.client.Tells(h.in) {
		return nil
	}
	return h.tell(states)
}

// notice notifies the user, as [notify] says, that the client waits.
func (h *hookCall) notice() error {
	if !h.in.IsWaiting() || h.isAsked() {
		return nil
	}
	b, err := workspace.Open(h.Env, workspace.Setup{Family: "ask", Remembers: true})
	if err != nil {
		return err
	}
	now := h.Env.Now().UTC()
	key := engine.Sum([]byte(strings.Join([]string{h.client.Name, h.in.Session, h.in.Notice, h.in.Message, now.Format(time.RFC3339)}, "\n"))).Hex()[:16]
	title := templates.Phrase(b.Language, "hook.waits", "client", h.client.Name, "folder", filepath.Base(h.root))
	return announce.Notice(h.Ctx, b, slog.New(console.NewLogHandler(h.Env.Err, slog.LevelWarn)), key, title, h.in.Message)
}

// ownAsks returns the asks of the session, except those from hooks, whose answers the agent
// knows.
func (h *hookCall) ownAsks() (states []ask.State, err error) {
	b, err := workspace.Open(h.Env, workspace.Setup{Family: "ask"})
	if err != nil {
		return nil, err
	}
	found, err := b.Loop.Runs()
	for _, f := range found {
		st, ok := asks.StateOf(b, f)
		own := string(st.Ask.Correlation) == h.in.Session || st.Ask.AskedBy != nil && st.Ask.AskedBy.Session == h.in.Session
		if ok && own && !slices.Contains(st.Ask.Tags, hookTag) {
			states = append(states, st)
		}
	}
	return states, err
}

func openNames(states []ask.State) (names []string) {
	for _, st := range states {
		if !st.IsFinal() {
			names = append(names, "ask/"+st.AskID)
		}
	}
	return names
}

func areOpen(names []string) string {
	verb := " is"
	if len(names) > 1 {
		verb = " are"
	}
	return strings.Join(names, ", ") + verb + " open: call check_answer"
}

// mostTold limits how much the hook passes on at once, in bytes: clients cut longer texts.
const mostTold = 9000

// tell tells the agent the answers that the session does not know yet, as many as fit.
func (h *hookCall) tell(states []ask.State) error {
	states = slices.DeleteFunc(states, func(st ask.State) bool { return st.Status != ask.Answered && st.Status != ask.Expired })
	if len(states) == 0 {
		return nil
	}
	dir, err := config.StateDir(h.Env, h.root, true)
	if err != nil {
		return err
	}
	defer dir.Close()
	name := "told/" + engine.Sum([]byte(h.client.Name + "\n" + h.in.Session)).Hex()[:16] + ".json"
	told, err := readTold(dir, name)
	if err != nil {
		return err
	}
	text := "What became of questions of this session, as placet recorded it:"
	known := len(told)
	for _, st := range states {
		if line := newsOf(st); !slices.Contains(told, st.AskID) && len(text)+len(line) < mostTold {
			text, told = text+"\n"+line, append(told, st.AskID)
		}
	}
	if len(told) == known {
		return nil
	}
	if err := h.print(h.client.Tell(h.in, text)); err != nil {
		return err
	}
	return writeTold(dir, name, told)
}

func readTold(dir *statedir.Dir, name string) (ids []string, err error) {
	body, err := dir.Read(name, config.LimitSmall)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && json.Unmarshal(body, &ids) != nil {
		return nil, nil // all are passed on once more, and the file is replaced
	}
	return ids, err
}

func writeTold(dir *statedir.Dir, name string, ids []string) error {
	if err := dir.Root().Mkdir("told", 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	body, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	return dir.Write(name, body, false)
}

// newsOf returns the outcome of a question as a statement, not an order.
func newsOf(st ask.State) string {
	title, _, _ := strings.Cut(strings.TrimSpace(st.Ask.Question), "\n")
	head := fmt.Sprintf("- ask/%s, %q: ", st.AskID, console.Cut(console.OneLine(title), 200))
	said := console.Cut(console.OneLine(strings.Join(askverb.AnswerLines(st), ", ")), 2000)
	if st.Answer == nil {
		return head + "nobody answered in time" + console.Suffix("; the default is ", said)
	}
	by := gate.By{User: st.Answer.By.User, Source: st.Answer.By.Source}
	return head + "answered " + said + ", by " + console.OneLine(by.Shown("", st.Answer.KnownAs)) + console.Suffix(". Comment: ", console.Cut(console.OneLine(st.Answer.Comment), 2000))
}
