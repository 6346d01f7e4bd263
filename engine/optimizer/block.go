package optimizer

import (
	"strconv"

	"placet/engine"
	"placet/engine/gate"
)

// levelWords are the Korean words for an answer about the level, accepted
// beside its id whatever language the cycle speaks.
var levelWords = map[string][]string{
	optAppropriate: {"적절"}, optRaise: {"상향", "상향 권장"}, optLower: {"하향", "하향 권장"},
}

// block is the prompt of the request hitl.
func block(st State) string { return blockOf(st).Prompt(offered(st)) }

// blockOf are the facts and the three questions of the request hitl.
func blockOf(st State) gate.Block {
	ask := func(key string) string { return phrase(st.Lang, "block."+key) }
	return gate.Block{
		Head: ask("head"),
		Facts: []engine.Fact{
			{Label: ask("workflow"), Value: st.WorkflowName},
			{Label: ask("level"), Value: strconv.Itoa(st.Level.Current)},
			{Label: ask("report"), Value: st.Report.Path},
		},
		Title:   ask("title"),
		Options: ask("options"), Items: ask("items"), Comment: ask("comment"),
		None: ask("none"),
	}
}

// levelOptions are the answers about the level: what each is, and the level that the
// goal takes with it.
func (st State) levelOptions() []gate.Option {
	var options []gate.Option
	for _, id := range []string{optAppropriate, optRaise, optLower} {
		options = append(options, gate.Option{
			ID: id, Description: phrase(st.Lang, "block."+id), Words: levelWords[id],
			Effect: phrase(st.Lang, "effect.level", "level", strconv.Itoa(st.levelAfter(id))),
		})
	}
	return options
}

// offered are the suggestions as items of the request hitl.
func offered(st State) []gate.Item {
	var items []gate.Item
	for _, s := range st.Suggestions {
		items = append(items, gate.Item{ID: s.ID, Label: s.Text, Priority: s.Priority})
	}
	return items
}
