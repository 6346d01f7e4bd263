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

// Whoever waits is told an answer to what was asked, and to nothing else. This process knows
// what it has asked itself; of what another one on this machine has asked there is a record
// beside the workspace, by the name of the ask.

// want has the answer to an ask told only where it was given to this question, here and to
// whoever waits for it later.
func (a *Asks) want(f loop.Found, asked ask.Asked) {
	a.mu.Lock()
	a.wanted[f.Run.ID] = asked
	a.mu.Unlock()
	if err := a.keepAsked(f, asked); err != nil {
		a.Workspace.Env.Note("workspace.asked.unrecorded", "ask", console.Brief(f.Key()), "error", console.Plain(err))
	}
}

// keepAsked records what was asked. Without a state folder nobody knows later.
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

// differs says in what an ask is another than was asked here, if anything was.
func (a *Asks) differs(st ask.State) ask.Difference {
	a.mu.Lock()
	asked, any := a.wanted[st.AskID]
	a.mu.Unlock()
	if any {
		return asked.Differs(st)
	}
	return differsFromRecord(a.Workspace, st)
}

// differsFromRecord says in what an ask is another than the one that this machine has a
// record of. A record that cannot be read may be of another question.
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
		_ = json.Unmarshal(all[0], &asked) // nothing is what nobody asked
	}
	return asked.Differs(st)
}

// unlike is the error of an ask that is another than was asked here.
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

// join has the caller wait for what is asked under its key already. The error says why its
// answer is none to what the caller asks.
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

// artifactBefore returns the files as they are, but those in which by now stands what a person
// made of them and approved, as they were asked about: the answer stands for both. What is asked
// about them is changed alike.
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

// previous is what is asked under an id already.
type previous struct {
	ask.Ask
	file   engine.Digest // of its ask.json
	edited []ask.Edited
}

// titleOf is the first line of what is asked, unless that is private.
func titleOf(st ask.State) string {
	if st.Ask.Sensitivity == "private" {
		return "a private question"
	}
	title, _, _ := strings.Cut(strings.TrimSpace(st.Ask.Question), "\n")
	return console.Cut(console.OneLine(title), 300)
}

// waitingLine is an open request as agents are shown it.
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
