package ask

import (
	"testing"

	"placet/internal/enginetest"
)

// An answer counts for the asker if no more people could give it than the asker allows.
func TestAnAskLetsNobodyElseAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		asked, there []string
		differs      bool
	}{
		"anybody":        {nil, nil, false},
		"fewer":          {nil, []string{"kim"}, false},
		"the same":       {[]string{"kim"}, []string{"kim"}, false},
		"one of two":     {[]string{"kim", "lee"}, []string{"kim"}, false},
		"anybody at all": {[]string{"kim"}, nil, true},
		"another":        {[]string{"kim"}, []string{"lee"}, true},
		"one more":       {[]string{"kim"}, []string{"kim", "lee"}, true},
	} {
		asked := NewAsked(Ask{Question: "Well?", MayAnswer: c.asked})
		if d := asked.Differs(State{Ask: Ask{Question: "Well?", MayAnswer: c.there}}); d.IsNone() == c.differs {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// A question that a person has approved is not asked again under the name of their answer.
func TestNoRoundFollowsAnApproval(t *testing.T) {
	for _, answer := range []string{"approve", "reject"} {
		asked := answer != "approve"
		tell(t, enginetest.Tree{dir + "/ask.json": yes}, func(d *enginetest.Desk) {
			d.Settle()
			d.Put(folder+"/response.json", responseOf(`"response": "`+answer+`"`))
			d.Settle()
			d.Put(".asks/next/ask.json", `{"question": "Again?", "round_of": "deploy-14"}`)
			d.Settle()
			if is, noted := d.Has(".asks/next/state.json"), d.Has(".asks/next/ask.json.problem.md"); is != asked || noted == asked {
				t.Errorf("after %s: asked %v, noted %v", answer, is, noted)
			}
		})
	}
}
