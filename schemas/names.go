package schemas

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// strictNames are the schemas of the documents that people, scripts and agents write for
// placet, to ask, to answer or to command. In these documents an unknown member whose
// name is close to one that placet reads is bad input: otherwise its value would be
// lost, and a lost artifact, deadline or gate makes a request less strict. Other unknown
// members are kept.
//
// The gate refuses every unknown member in response.json. The list leaves out documents
// of other programs (FABER's, AFL's checkpoints and meta data); the measurements and
// hand-ins of workers, whose further members belong to the workers and cause a finding
// at most; and documents that placet itself has written.
var strictNames = []string{
	"ask/ask", "ask/withdraw",
	"afl/control", "afl/review", "faber/cancel", "nemawashi/action", "nemawashi/command",
	"optimizer/trigger", "optimizer/stop", "optimizer/level-error",
	"pal/control", "pal/orchestration", "pal/filed",
	"mcp/ask_human", "mcp/check_answer", "mcp/explain_run", "mcp/list_waiting", "mcp/report_progress", "mcp/withdraw_question",
}

// misspelt returns an error for a misspelt name in a document that its schema accepts,
// nil if there is none.
func (s *schema) misspelt(body []byte) *Error {
	at, meant := s.findMisspelt(s.source, body, "")
	if meant == "" {
		return nil
	}
	problem := &Error{
		Pointer: string(at), Problem: say("schema.misspelt", "name", quoted(at.LastToken())),
		Expected: say("schema.misspelt.expected", "name", quoted(meant)),
	}
	return problem.at(body, locate(body, problem.Pointer))
}

// findMisspelt looks for a misspelt name in a value that a schema describes, and returns
// its place and the intended name, "" if there is none.
func (s *schema) findMisspelt(node any, value Raw, at jsontext.Pointer) (place jsontext.Pointer, meant string) {
	rules := s.rules(node)
	switch value.Kind() {
	case '{':
		members, err := Members(value)
		if err != nil {
			return "", ""
		}
		properties, _ := rules["properties"].(map[string]any)
		others, isMap := rules["additionalProperties"].(map[string]any)
		for _, m := range members {
			below, known := properties[m.Name]
			switch {
			case known:
			case isMap: // its names are values: those of metrics, for example
				below = others
			default:
				if meant := meantName(m.Name, slices.Sorted(maps.Keys(properties))); meant != "" {
					return at.AppendToken(m.Name), meant
				}
				continue
			}
			if place, meant := s.findMisspelt(below, members.Raw(m.Name), at.AppendToken(m.Name)); meant != "" {
				return place, meant
			}
		}
	case '[':
		var list []Raw
		if DecodeValue(value, &list) != nil {
			return "", ""
		}
		for i, element := range list {
			if place, meant := s.findMisspelt(rules["items"], element, at.AppendToken(strconv.Itoa(i))); meant != "" {
				return place, meant
			}
		}
	}
	return "", ""
}

// rules returns the keywords of a schema, or of the one to which it refers.
func (s *schema) rules(node any) map[string]any {
	rules, _ := node.(map[string]any)
	to, _ := rules["$ref"].(string)
	if within, ok := strings.CutPrefix(to, "#/"); ok {
		rules, _ = follow(s.source, tokens("/"+within)).(map[string]any)
	}
	return rules
}

// meantName returns the known name that an unknown one was meant to be, "" for none: the
// nearest of those that differ in case, in dashes, or by at most two letters, or one
// letter for names of less than four letters. A name that begins with x- or a dollar
// sign is never a misspelt one.
func meantName(name string, known []string) string {
	best, least := "", 3
	if strings.HasPrefix(name, "x-") || strings.HasPrefix(name, "$") {
		return ""
	}
	for _, other := range known {
		n, most := lettersApart(name, other), 2
		if min(len(name), len(other)) < 4 {
			most = 1
		}
		if n <= most && n < least {
			best, least = other, n
		}
	}
	return best
}
