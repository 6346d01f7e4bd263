package afl

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"placet/engine/run"
	"placet/internal/enginetest"
)

// anyOrder makes trees equal that took the same edges in another order. A file that is unreadable
// for a moment takes effect after the others that were due, which changes revisions and the ids
// made from them.
func anyOrder(t enginetest.Tree) enginetest.Tree {
	names := requestNames(t)
	equal := enginetest.Tree{}
	for p, body := range t {
		p, body = names.Replace(p), revisions.ReplaceAllString(names.Replace(body), `"$1": 0`)
		switch {
		case strings.HasSuffix(p, "/events.jsonl"):
			lines := strings.Split(seqs.ReplaceAllString(body, ""), "\n")
			slices.Sort(lines)
			body = strings.Join(lines, "\n")
		case p == lawState:
			body = sortedState(body)
		}
		equal[p] = body
	}
	return equal
}

var (
	revisions = regexp.MustCompile(`"((?:closed_)?revision)": \d+`)
	seqs      = regexp.MustCompile(`"seq":\d+,"at":"[^"]*",`)
)

// requestNames replaces the ids of requests by their meaning: the k-th request of a type for a
// checkpoint.
func requestNames(t enginetest.Tree) *strings.Replacer {
	st, err := DecodeState(lawState, []byte(t[lawState]))
	if err != nil {
		return strings.NewReplacer()
	}
	all := slices.SortedFunc(slices.Values(st.Requests), func(a, b *run.Request) int {
		return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.ID, b.ID))
	})
	count := map[string]int{}
	var pairs []string
	for _, q := range all {
		name := q.Type + "-" + string(q.Subject)
		count[name]++
		pairs = append(pairs, q.ID, fmt.Sprintf("%s-%d", name, count[name]))
	}
	return strings.NewReplacer(pairs...)
}

// sortedState returns a state.json with sorted keys and without its last transition.
func sortedState(body string) string {
	var st map[string]any
	if err := json.Unmarshal([]byte(body), &st); err != nil {
		return body
	}
	delete(st, "last_transition")
	sorted, err := json.MarshalIndent(st, "", "  ")
	if err != nil {
		return body
	}
	return string(sorted)
}
