package pal

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"placet/internal/lazyregexp"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Spec is the metadata in the spec of a port. ID is "" if it declares none.
type Spec struct {
	ID        string
	DependsOn []string
	Title     string
	// Type, Priority, Agent and Status are shown and have no effect.
	Type, Priority, Agent, Status string
}

// specKeys maps the keys that a spec may have, in lower case, to their meanings. A known key that
// placet does not use has the meaning "".
var specKeys = map[string]string{
	"id": "id", "port id": "id",
	"의존성": "depends", "선행": "depends", "depends": "depends", "depends on": "depends", "dependencies": "depends",
	"타입": "type", "type": "type", "우선순위": "priority", "priority": "priority", "agent": "agent", "상태": "status", "status": "status",
	"레이어": "", "layer": "", "예상 토큰": "", "예상 복잡도": "", "예상 기간": "", "완료일": "", "생성일": "", "created": "",
}

// mostPorts is how many ports an orchestration may have, and on how many a port may depend.
const mostPorts = 500

// ReadSpec reads the spec of a port, which is Markdown. Its metadata is a table, or else a block of
// quoted lines at its beginning. The error, a *[schemas.Error], says why the metadata is unusable.
func ReadSpec(body []byte) (Spec, error) {
	if len(body) > layout.LimitText {
		return Spec{}, &schemas.Error{Problem: templates.NewMessage("pal.spec.large"), Expected: templates.NewMessage("schema.large.wanted")}
	}
	if !utf8.Valid(body) {
		return Spec{}, &schemas.Error{Problem: templates.NewMessage("schema.utf8"), Expected: templates.Untranslated("UTF-8"), Torn: true}
	}
	if bytes.IndexByte(body, 0) >= 0 {
		return Spec{}, &schemas.Error{Problem: templates.NewMessage("schema.nul"), Expected: templates.NewMessage("schema.kind.text"), Torn: true}
	}
	lines := specLines(string(body))
	pairs := tablePairs(lines)
	if pairs == nil {
		pairs = quotedPairs(lines)
	}
	s := Spec{Title: specTitle(lines), DependsOn: []string{}}
	return s, s.fill(pairs)
}

// specLine is a line of a spec without surrounding blanks.
type specLine struct {
	number int
	text   string
}

// specLines returns the lines of a spec. Lines of fenced code are empty.
func specLines(body string) []specLine {
	var lines []specLine
	fence := ""
	for i, text := range strings.Split(strings.ReplaceAll(body, "\r\n", "\n"), "\n") {
		text = strings.TrimSpace(text)
		marks := fenceOf(text)
		switch {
		case fence == "" && marks != "":
			fence, text = marks, ""
		case fence != "":
			if strings.HasPrefix(marks, fence) && marks == text {
				fence = ""
			}
			text = ""
		}
		lines = append(lines, specLine{i + 1, text})
	}
	return lines
}

var fenceMarks = lazyregexp.New("^(`{3,}|~{3,})")

// fenceOf returns the marks that begin or end fenced code in a line, or "".
func fenceOf(line string) string {
	marks := fenceMarks.FindString(line)
	if strings.HasPrefix(marks, "`") && strings.Contains(line[len(marks):], "`") {
		return "" // inline code
	}
	return marks
}

// pair is a key and its value in a line.
type pair struct {
	line       int
	key, value string
}

// means returns the meaning of a pair's key, and whether the key is known.
func (p pair) means() (meaning string, known bool) {
	meaning, known = specKeys[strings.ToLower(p.key)]
	return meaning, known
}

// tablePairs returns the rows of the first table of keys and values, nil if there is none.
func tablePairs(lines []specLine) []pair {
	for i := 0; i+1 < len(lines); i++ {
		header := cells(lines[i].text)
		key, value := columns(header)
		if key < 0 || value < 0 || !isDelimiter(lines[i+1].text, len(header)) {
			continue
		}
		pairs := []pair{}
		for _, l := range lines[i+2:] {
			row := cells(l.text)
			if row == nil {
				break
			}
			if max(key, value) < len(row) {
				pairs = append(pairs, pair{l.number, row[key], row[value]})
			}
		}
		return pairs
	}
	return nil
}

// columns returns the columns of the keys and the values of a table, -1 if it has none.
func columns(header []string) (key, value int) {
	for _, words := range [][2]string{{"항목", "값"}, {"Item", "Value"}} {
		key, value = slices.Index(header, words[0]), slices.Index(header, words[1])
		if key >= 0 && value >= 0 {
			return key, value
		}
	}
	return -1, -1
}

// cells returns the cells of a table row, nil if the line is not one.
func cells(line string) []string {
	if !strings.Contains(line, "|") {
		return nil
	}
	line = strings.ReplaceAll(line, `\|`, "\x00")
	row := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), "|")
	for i, cell := range row {
		row[i] = plain(strings.ReplaceAll(cell, "\x00", "|"))
	}
	return row
}

var delimiterCell = lazyregexp.New(`^:?-+:?$`)

// isDelimiter reports whether a line separates the header of a table from its rows.
func isDelimiter(line string, width int) bool {
	row := cells(line)
	return len(row) == width && !slices.ContainsFunc(row, func(cell string) bool { return !delimiterCell.MatchString(cell) })
}

var quotedPair = lazyregexp.New(`^>\s*([^:]+?)\s*:(?:\s+(.*))?$`)

// quotedPairs returns the first block of quoted lines before the first section in which all lines
// are keys and values and one key is known, or nil.
func quotedPairs(lines []specLine) []pair {
	var block []pair
	isKnown := false
	for _, l := range lines {
		m := quotedPair.FindStringSubmatch(l.text)
		switch {
		case m != nil:
			p := pair{l.number, plain(m[1]), plain(m[2])}
			_, known := p.means()
			block, isKnown = append(block, p), isKnown || known
			continue
		case isKnown:
			return block
		case strings.HasPrefix(l.text, "## "):
			return nil
		}
		block = nil
	}
	if isKnown {
		return block
	}
	return nil
}

// plain returns a key or a value without the marks of Markdown around it.
func plain(cell string) string {
	return strings.TrimFunc(cell, func(r rune) bool { return unicode.IsSpace(r) || r == '`' || r == '*' })
}

// specTitle returns the first heading.
func specTitle(lines []specLine) string {
	for _, l := range lines {
		if title, ok := strings.CutPrefix(l.text, "# "); ok {
			title = strings.TrimPrefix(strings.TrimSpace(title), "Orchestration Port: ")
			return strings.TrimSpace(strings.TrimPrefix(title, "Port: "))
		}
	}
	return ""
}

// fill sets the fields from the metadata. If a key without effect has several values, the first one
// counts.
func (s *Spec) fill(pairs []pair) error {
	values := map[string]pair{}
	for _, p := range pairs {
		meaning, _ := p.means()
		earlier, twice := values[meaning]
		switch {
		case !twice:
			values[meaning] = p
		case earlier.value != p.value && (meaning == "id" || meaning == "depends"):
			problem := templates.NewMessage("pal.spec.twice", "key", p.key, "value", strconv.Quote(p.value), "line", earlier.line, "earlier", strconv.Quote(earlier.value))
			return &schemas.Error{Line: p.line, Column: 1, Problem: problem, Expected: templates.NewMessage("pal.unfit.single")}
		}
	}
	s.ID, s.Type, s.Priority = values["id"].value, values["type"].value, values["priority"].value
	s.Agent, s.Status = values["agent"].value, values["status"].value
	on := values["depends"]
	if s.DependsOn = dependencies(on.value); len(s.DependsOn) > mostPorts {
		problem := templates.NewMessage("pal.spec.ports", "key", on.key, "n", len(s.DependsOn))
		return &schemas.Error{Line: on.line, Column: 1, Problem: problem, Expected: templates.NewMessage("schema.most", "n", mostPorts)}
	}
	return nil
}

// dependencies returns the ids in a list, each once.
func dependencies(list string) []string {
	words := strings.Split(list, ",")
	for i, word := range words {
		words[i] = plain(word)
	}
	return distinctIDs(slices.DeleteFunc(words, func(id string) bool {
		return id == "" || id == "-" || id == "없음" || strings.EqualFold(id, "none")
	}))
}

// distinctIDs returns ids in their order, each once.
func distinctIDs(list []string) []string {
	ids := make([]string, 0, len(list))
	seen := make(map[string]bool, len(list))
	for _, id := range list {
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids
}
