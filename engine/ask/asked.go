package ask

import (
	"slices"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
)

// Asked is the question on which an asker relies: the answer to any other question is no answer
// to it.
type Asked struct {
	// Words is the digest of the text that a person reads and of the options.
	Words engine.Digest `json:"words"`
	// MayAnswer lists those who may answer, none for anybody. An ask may narrow the list.
	MayAnswer []string `json:"may_answer,omitzero"`
	// Artifacts are the files as they were, without a digest if it was not known.
	Artifacts []Artifact `json:"artifacts,omitzero"`
	// File is the digest of ask.json, "" if only the question matters.
	File engine.Digest `json:"-"`
}

// These members of an ask may differ from what was asked.
const (
	memberQuestion  = "question"
	memberMayAnswer = "may_answer"
	memberArtifacts = "artifacts"
	memberDeadline  = "deadline"
	memberFile      = "ask.json"
	// MemberKey is the name or the key, if more than one question was asked under it.
	MemberKey = "key"
)

// AnotherQuestion is the difference between two questions.
var AnotherQuestion = Difference{Member: memberQuestion}

// Difference says how an ask differs from the one that was asked.
type Difference struct {
	// Member is the member of ask.json that differs, "" for no difference.
	Member string
	// File is an artifact whose content differs, "" for none.
	File string
}

// IsNone reports whether nothing differs.
func (d Difference) IsNone() bool { return d == Difference{} }

// IsQuestion reports whether the question itself differs, and not only its circumstances.
func (d Difference) IsQuestion() bool { return d == AnotherQuestion }

// NewAsked returns the question on which the asker of an ask relies. The files have the digests
// with which they were asked about.
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

// words returns the digest of the text that a person reads and of the options.
func (a Ask) words() engine.Digest {
	return engine.Sum(run.Encoded(Ask{Question: a.Question, Type: a.Type, Options: a.Options, Context: a.Context, Default: a.Default}))
}

// Differs returns how the question of a state differs from the one that was asked.
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

// isNarrowed reports whether all names that may answer are in among; an empty list means
// anybody.
func isNarrowed(names, among []string) bool {
	return len(among) == 0 || len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool {
		return !slices.ContainsFunc(among, func(one string) bool { return gate.Admits(one, name) })
	})
}

// Joins returns the difference for which the asker of a cannot have the answer to there, which
// is already asked. now returns a file as it is: the answer to a registered ask is about the
// files as they were then.
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

// AsNow returns the ask with the present digests of the files that have none.
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
