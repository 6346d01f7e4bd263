package ask

import (
	"slices"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
)

// Asked is what whoever asks relies on: an answer to anything else is none to its question.
type Asked struct {
	// Words is the digest of what a person reads and may choose.
	Words engine.Digest `json:"words"`
	// MayAnswer are those who may answer, none for anybody. An ask may narrow them.
	MayAnswer []string `json:"may_answer,omitzero"`
	// Artifacts are the files as they were, without a digest where nobody could tell.
	Artifacts []Artifact `json:"artifacts,omitzero"`
	// File is the digest of ask.json, "" where only what it asks matters.
	File engine.Digest `json:"-"`
}

// Members of an ask that may differ from what was asked.
const (
	memberQuestion  = "question"
	memberMayAnswer = "may_answer"
	memberArtifacts = "artifacts"
	memberDeadline  = "deadline"
	memberFile      = "ask.json"
	// MemberKey is the name or the key, under which more than one question was asked.
	MemberKey = "key"
)

// AnotherQuestion is the difference of another question.
var AnotherQuestion = Difference{Member: memberQuestion}

// Difference says in what an ask is another than the one that was asked.
type Difference struct {
	// Member is that of ask.json, "" for no difference.
	Member string
	// File is an artifact whose content is another, "" for none.
	File string
}

// IsNone reports whether nothing differs.
func (d Difference) IsNone() bool { return d == Difference{} }

// IsQuestion reports whether the question itself is another one, and not only what stands
// around it.
func (d Difference) IsQuestion() bool { return d == AnotherQuestion }

// NewAsked is what whoever asks relies on. The files have the digests that they were asked
// about with.
func NewAsked(a Ask) Asked {
	x := Asked{Words: a.words(), MayAnswer: a.MayAnswer}
	for _, f := range a.Artifacts {
		binding := f.IsBinding()
		if !binding {
			f.SHA256 = "" // it is for information, and may go on changing
		}
		x.Artifacts = append(x.Artifacts, Artifact{Path: f.Path, SHA256: f.SHA256, Binding: &binding, Editable: f.Editable})
	}
	return x
}

// words is the digest of what a person reads and may choose.
func (a Ask) words() engine.Digest {
	return engine.Sum(run.Encoded(Ask{Question: a.Question, Type: a.Type, Options: a.Options, Context: a.Context, Default: a.Default}))
}

// Differs says in what the question of a state is another than the one that was asked.
func (x Asked) Differs(st State) Difference {
	d := x.differs(st.Ask)
	if d.IsNone() && x.File != "" && string(x.File) != string(st.AskDigest) {
		return Difference{Member: memberFile}
	}
	return d
}

func (x Asked) differs(there Ask) Difference {
	switch {
	case x.Words != there.words():
		return AnotherQuestion
	case !isNarrowed(there.MayAnswer, x.MayAnswer):
		return Difference{Member: memberMayAnswer}
	case len(x.Artifacts) != len(there.Artifacts):
		return Difference{Member: memberArtifacts}
	}
	for i, f := range x.Artifacts {
		switch other := there.Artifacts[i]; {
		case f.Path != other.Path || f.IsBinding() != other.IsBinding() || f.Editable != other.Editable:
			return Difference{Member: memberArtifacts}
		case f.IsBinding() && f.SHA256 != "" && other.SHA256 != "" && f.SHA256 != other.SHA256:
			return Difference{memberArtifacts, f.Path}
		}
	}
	return Difference{}
}

// isNarrowed reports whether all who may answer are among some names, none for anybody.
func isNarrowed(names, among []string) bool {
	return len(among) == 0 || len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool {
		return !slices.ContainsFunc(among, func(one string) bool { return gate.Admits(one, name) })
	})
}

// Joins says why whoever asks something cannot have the answer to what is asked already.
// now returns a file as it is: the answer to what is registered is one to what the files
// were.
func (a Ask) Joins(there Ask, now func(path string) engine.Document) Difference {
	d := NewAsked(a).differs(there)
	if d.IsNone() && a.Deadline != "" && (there.Deadline == "" || text(there.Deadline).Time().After(text(a.Deadline).Time())) {
		return Difference{Member: memberDeadline}
	}
	for _, f := range there.Artifacts {
		if d.IsNone() && f.IsBinding() && f.SHA256 != "" && !now(f.Path).Matches(f.SHA256) {
			d = Difference{memberArtifacts, f.Path}
		}
	}
	return d
}

// AsNow is what is asked, with the digests of the files as they are where none is given.
func (a Ask) AsNow(now func(path string) engine.Document) Ask {
	a.Artifacts = slices.Clone(a.Artifacts)
	for i := range a.Artifacts {
		f := &a.Artifacts[i]
		if d := now(f.Path); f.SHA256 == "" && d.Present() {
			f.SHA256 = d.Sum.Hex()
		}
	}
	return a
}
