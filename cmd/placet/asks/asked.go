package asks

import (
	"encoding/json"
	"strings"

	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/ask"
	"placet/engine/facade/mcp"
	"placet/engine/loop"
	"placet/engine/statedir"
)

// A waiting caller gets an answer only to its own question. This process remembers its own
// questions; a record beside the workspace, by the name of the ask, has those of other processes
// on this machine.

// want restricts the answer of an ask to this question, for this caller and for those who wait
// for it later.
func (a *Asks) want(f loop.Found, asked ask.Asked) {
	a.mu.Lock()
	a.wanted[f.Run.ID] = asked
	a.mu.Unlock()
	if err := a.keepAsked(f, asked); err != nil {
		a.Workspace.Env.Note("workspace.asked.unrecorded", "ask", console.Brief(f.Key()), "error", console.Plain(err))
	}
}

// keepAsked records what was asked. Without a state folder it records nothing.
func (a *Asks) keepAsked(f loop.Found, asked ask.Asked) error {
	if a.Workspace.StateDir == nil {
		return nil
	}
	body, err := json.Marshal(asked)
	if err != nil {
		return err
	}
	dir, err := statedir.CreatePath(a.Workspace.Env.StateHome(), a.Workspace.Root)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.KeepAsked(f.Run.ID, body)
}

// differs returns how an ask differs from the one that was asked here, if one was.
func (a *Asks) differs(st ask.State) ask.Difference {
	a.mu.Lock()
	asked, any := a.wanted[st.AskID]
	a.mu.Unlock()
	if any {
		return asked.Differs(st)
	}
	return differsFromRecord(a.Workspace, st)
}

// differsFromRecord returns how an ask differs from the one in this machine's record. A record
// that cannot be read may be of another question.
func differsFromRecord(b *workspace.Workspace, st ask.State) ask.Difference {
	dir := config.PathDir(b.Env, b.Root)
	if dir == nil {
		return ask.Difference{}
	}
	defer dir.Close()
	all, err := dir.Asked(st.AskID)
	var asked ask.Asked
	switch {
	case err == nil && len(all) == 0:
		return ask.Difference{}
	case len(all) > 1:
		return ask.Difference{Member: ask.MemberKey}
	case err == nil:
		_ = json.Unmarshal(all[0], &asked) // no question matches the zero value
	}
	return asked.Differs(st)
}

// unlike returns the error for an ask that differs from what was asked here.
func (a *Asks) unlike(f loop.Found, there ask.Ask, d ask.Difference) error {
	name := console.Brief(f.Key())
	switch {
	case d.File != "":
		return console.Changed("workspace.wait.changed", "ask", name, "file", d.File).Try("workspace.asked.file.try")
	case d.Member == ask.MemberKey:
		return console.Changed("workspace.asked.several", "ask", name).Try("workspace.asked.several.try")
	case !d.IsQuestion():
		return console.Changed("workspace.asked.member", "ask", name, "member", d.Member).Try("workspace.ask.changed.try", "path", f.Run.Dir+"/ask.json")
	}
	return console.Changed("workspace.ask.changed", "ask", name, "question", console.Cut(console.OneLine(there.Question), 200)).
		Try("workspace.ask.changed.try", "path", f.Run.Dir+"/ask.json")
}

// join makes the caller wait for the question that its key already has. The error says why the
// answer to that one is no answer to the caller's question.
func (a *Asks) join(f loop.Found, asked ask.Ask, there previous) error {
	switch d := asked.Joins(there.Ask, artifactBefore(a, &asked, there.edited)); {
	case d.IsQuestion():
		return console.Usage("workspace.ask.other", "key", quotedKey(asked), "question", OtherQuestion{there.Ask}).Try("workspace.ask.other.try")
	case d.File != "":
		return a.unlike(f, there.Ask, d)
	case !d.IsNone():
		return console.Changed("workspace.ask.other.member", "key", quotedKey(asked), "member", d.Member, "question", OtherQuestion{there.Ask}).Try("workspace.ask.other.try")
	}
	joined := ask.NewAsked(there.Ask.AsNow(a.Workspace.Artifact))
	joined.File = there.file
	a.want(f, joined)
	return nil
}

// artifactBefore returns a function that reads files as they are. A file that now holds an
// edited and approved text counts as the original that was asked about, because the answer is
// for both. artifactBefore changes the digests in asked in the same way.
func artifactBefore(a *Asks, asked *ask.Ask, edited []ask.Edited) func(string) engine.Document {
	for i, f := range asked.Artifacts {
		for _, e := range edited {
			if e.Path == f.Path && e.SHA256() == f.SHA256 {
				asked.Artifacts[i].SHA256 = e.Asked
			}
		}
	}
	return func(file string) engine.Document {
		d := a.Workspace.Artifact(file)
		for _, e := range edited {
			if e.Path == file && d.Matches(e.SHA256()) {
				d.Sum = engine.Digest("sha256:" + e.Asked)
			}
		}
		return d
	}
}

// previous is the question that an id already has.
type previous struct {
	ask.Ask
	file   engine.Digest // of its ask.json
	edited []ask.Edited
}

// titleOf returns the first line of a question, unless the question is private.
func titleOf(st ask.State) string {
	if st.Ask.Sensitivity == "private" {
		return "a private question"
	}
	title, _, _ := strings.Cut(strings.TrimSpace(st.Ask.Question), "\n")
	return console.Cut(console.OneLine(title), 300)
}

// waitingLine returns an open request as agents see it.
func waitingLine(v *workspace.Workspace, t view.Request) mcp.WaitingLine {
	question := console.Cut(console.OneLine(t.Prompt), 300)
	if x, _, _, _ := view.ReadExtras(v, t.Found, t.Request); x.Sensitivity == "private" {
		question = "a private question"
	}
	return mcp.WaitingLine{
		Request: t.Request, Run: t.Run.String(), Type: t.Type, Question: question,
		AskedAt: console.Stamp(t.RequestedAt), Deadline: console.Stamp(t.Deadline), Form: t.Form,
	}
}
