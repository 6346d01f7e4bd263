package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// upstream is what may stand in a database: what the script makes that makes it. What
// others have made may be worded in another way.
type upstream struct {
	tables, views map[string]bool
	virtual       map[string][]token
	triggers      map[string]trigger
}

// trigger is what a trigger follows, and the tables that it writes.
type trigger struct {
	event, table string
	into         []string
}

// schemaOf reads the script that makes a database.
func schemaOf(script string) upstream {
	s := upstream{map[string]bool{}, map[string]bool{}, map[string][]token{}, map[string]trigger{}}
	all, _ := tokens(script)
	all = slices.DeleteFunc(all, func(t token) bool { return t.is("if") || t.is("exists") }) // "not" tells where
	for len(all) > 0 {
		var one []token
		one, all = splitStatement(all)
		kind, rest := splitHead(one)
		if len(rest) > 0 && rest[0].is("not") {
			rest = rest[1:]
		}
		switch kind {
		case "table":
			s.tables[rest[0].text] = true
		case "view":
			s.views[rest[0].text] = true
		case "virtual table":
			s.virtual[rest[0].text] = rest
		case "trigger":
			s.triggers[rest[0].text] = parseTrigger(rest)
		}
	}
	return s
}

// splitStatement splits the first statement off; that of a trigger holds others.
func splitStatement(all []token) (one, rest []token) {
	body := len(all) > 1 && all[1].is("trigger")
	for i, t := range all {
		if t.kind == ';' && (!body || all[i-1].is("end")) {
			return all[:i], all[i+1:]
		}
	}
	return all, nil
}

// made are the kinds of what a statement makes, by its first words.
var made = []string{"table", "view", "trigger", "index", "unique index", "virtual table"}

// splitHead returns what a statement makes, and what follows from its name on.
func splitHead(all []token) (kind string, rest []token) {
	for _, kind := range made {
		words := strings.Fields("create " + kind)
		if len(all) > len(words) && slices.EqualFunc(all[:len(words)], words, token.is) {
			return kind, all[len(words):]
		}
	}
	return "", nil
}

// parseTrigger returns what a trigger follows, and the tables into which it inserts.
func parseTrigger(rest []token) trigger {
	var t trigger
	for i, at := range rest[:len(rest)-1] {
		switch {
		case t.event == "" && i > 0 && (at.is("insert") || at.is("update") || at.is("delete")):
			t.event = at.text
		case t.event != "" && t.table == "" && at.is("on"):
			t.table = rest[i+1].text
		case t.table != "" && at.is("into"):
			t.into = append(t.into, rest[i+1].text)
		}
	}
	return t
}

// touches reports whether a row that goes in may touch a table: upstream's own, those
// in which its full-text indexes keep themselves, and that of SQLite's counters.
func (s upstream) touches(table string) bool { return s.tables[table] || s.keeps(table) }

func (s upstream) keeps(table string) bool {
	for name := range s.virtual {
		if strings.HasPrefix(table, name+"_") {
			return true
		}
	}
	return table == "sqlite_sequence"
}

// checkSchema looks at everything that stands in the database, by its own words, as SQLite
// has read them: nothing of it has been used yet. It returns how many objects there
// are.
func (c *connection) checkSchema(ctx context.Context) (objects int, err error) {
	ctx, cancel := c.schemaLimit(ctx)
	defer cancel()
	if err := c.load(ctx); err != nil {
		return 0, err
	}
	err = c.each(ctx, "SELECT +sql FROM sqlite_schema LIMIT "+strconv.Itoa(mostObjects+1), nil, func(rows *sql.Rows) error {
		objects++
		return c.checkRow(rows)
	})
	if err == nil && objects > mostObjects {
		err = unsound(fmt.Sprintf("more than %d tables, indexes, views and triggers", mostObjects))
	}
	return objects, err
}

// checkRow judges the object of a row of the schema, once.
func (c *connection) checkRow(rows *sql.Rows) error {
	var made any
	if err := rows.Scan(&made); err != nil || made == nil { // SQLite's own index of a key
		return err
	}
	text, is := made.(string)
	if !is {
		return unsound("an object whose SQL is no text")
	}
	if !c.sound[text] {
		if err := c.allowed.checkObject(text); err != nil {
			return err
		}
		c.sound[text] = true
	}
	return nil
}

// checkObject judges one object by the SQL that made it.
func (s upstream) checkObject(text string) error {
	all, sound := tokens(text)
	kind, rest := splitHead(all)
	if !sound || kind == "" || rest[0].is("if") || slices.ContainsFunc(all, func(t token) bool { return t.kind == ';' }) && kind != "trigger" {
		return unsound("an object that placet cannot read, made by " + quoteForPeople(text))
	}
	name := rest[0].text
	switch kind {
	case "view":
		if !s.views[name] {
			return unsound("the view " + quoteForPeople(name) + ", which upstream's schema does not have")
		}
	case "virtual table":
		if !isOlderColumns(s.virtual[name], rest) {
			return unsound("the virtual table " + quoteForPeople(name) + ", which upstream's schema does not have in that way")
		}
	case "trigger":
		ours, is := s.triggers[name]
		if theirs := parseTrigger(rest); !is || theirs.event != ours.event || theirs.table != ours.table {
			return unsound("the trigger " + quoteForPeople(name) + ", which upstream's schema does not have")
		}
	case "index", "unique index":
		if len(rest) < 4 || !rest[1].is("on") || s.touches(rest[2].text) && !plainColumns(rest[3:]) {
			return unsound("the index " + quoteForPeople(name) + ", which computes something: an index over columns is allowed")
		}
	case "table":
		if why := s.checkTable(name, rest[1:]); why != "" {
			return unsound("the table " + quoteForPeople(name) + ", which " + why)
		}
	}
	return nil
}

// isOlderColumns reports whether a virtual table is upstream's, or an older one of it, which
// lacks some of its columns and nothing else.
func isOlderColumns(ours, theirs []token) bool {
	for _, t := range theirs {
		for len(ours) > 2 && ours[0] != t && ours[0].kind == tokenWord && ours[1].kind == ',' {
			ours = ours[2:]
		}
		if len(ours) == 0 || ours[0] != t {
			return false
		}
		ours = ours[1:]
	}
	return len(ours) == 0
}

// plainColumns reports whether an index is over columns alone.
func plainColumns(rest []token) bool {
	last := len(rest) - 1
	if rest[0].kind != '(' || rest[last].kind != ')' {
		return false
	}
	return !slices.ContainsFunc(rest[1:last], func(t token) bool { return t.kind != tokenWord && t.kind != tokenName && t.kind != ',' })
}

// before are the words after which a parenthesis calls nothing, computing those that
// upstream's tables have no use for: each of them computes.
var (
	before    = []string{"check", "default", "in", "and", "or", "not", "key", "unique"}
	computing = []string{"generated", "as", "select", "glob", "regexp", "match", "cast", "case", "exists"}
)

// checkTable says what is wrong with a table that a row touches, "" where nothing is: SQLite
// computes its rules and defaults when the row goes in, each function in one step that
// cannot be interrupted.
func (s upstream) checkTable(table string, rest []token) string {
	if rest[0].kind != '(' {
		return "has no columns of its own"
	}
	if s.views[table] || s.virtual[table] != nil {
		return "is none in upstream's schema"
	}
	if !s.touches(table) {
		return ""
	}
	for i, t := range rest[1:] {
		last := rest[i]
		next := token{}
		if i+2 < len(rest) {
			next = rest[i+2]
		}
		switch t.kind {
		case tokenWord, tokenName, tokenText:
			if t.kind == tokenWord && slices.Contains(computing, t.text) {
				return "computes a column or a rule (" + strings.ToUpper(t.text) + ")"
			}
			if next.kind == '(' && !last.is("references") && !(t.kind == tokenWord && slices.Contains(before, t.text)) && !isMeasure(rest[i+1:]) {
				return "calls " + quoteForPeople(t.text) + ": upstream's calls length and trim alone"
			}
		case tokenNumber, '(', ')', ',', '.', '=', '<', '!', '>':
		case '+', '-':
			if next.kind != tokenNumber {
				return "computes a column or a rule (" + t.text + ")"
			}
		default:
			return "computes a column or a rule (" + t.text + ")"
		}
	}
	return ""
}

// isMeasure reports whether a call is one of upstream's: the length of a column, or what
// is left of it without blanks.
func isMeasure(all []token) bool {
	if all[0].is("length") && len(all) > 2 && all[2].is("trim") {
		all = all[2:]
	}
	return (all[0].is("length") || all[0].is("trim")) && len(all) > 3 && all[1].kind == '(' &&
		(all[2].kind == tokenWord || all[2].kind == tokenName) && all[3].kind == ')'
}

// longestShown is how much is shown of a name that others gave, in bytes.
const longestShown = 80

// quoteForPeople is a name of others as a person is shown it: what cannot be seen is escaped.
func quoteForPeople(s string) string {
	if len(s) > longestShown {
		s = strings.ToValidUTF8(s[:longestShown], "") + "…"
	}
	return strconv.Quote(s)
}

// The kinds of tokens that are no single character.
const (
	tokenWord   = 'w' // in lower case
	tokenName   = 'n' // a quoted name, without its quotes, in lower case
	tokenText   = 't' // likewise
	tokenNumber = '0'
)

type token struct {
	kind rune
	text string
}

// is reports whether a token is a word without quotes.
func (t token) is(s string) bool { return t.kind == tokenWord && t.text == s }

// tokens cuts SQL as SQLite does. It is not sound where that cannot be told.
func tokens(sql string) (all []token, sound bool) {
	if strings.ContainsAny(sql, "\x00\uFEFF") || !utf8.ValidString(sql) {
		return nil, false
	}
	for sql != "" {
		t, size := token{}, 0
		switch c := sql[0]; {
		case strings.IndexByte(" \t\n\f\r", c) >= 0:
			size = 1
		case strings.HasPrefix(sql, "--"):
			size = endAfter(sql, 2, "\n")
		case strings.HasPrefix(sql, "/*"):
			size = endAfter(sql, 2, "*/")
		case c == '"' || c == '`' || c == '\'':
			size = endOfQuoted(sql)
			t = token{quoting(c), lower(strings.ReplaceAll(sql[1:max(size-1, 1)], string([]byte{c, c}), string(c)))}
		case c == '[':
			size = endAfter(sql, 1, "]")
			t = token{tokenName, lower(sql[1:max(size-1, 1)])}
		case c >= '0' && c <= '9':
			size = span(sql, func(c byte) bool { return inWord(c) || c == '.' })
			t = token{tokenNumber, sql[:size]}
		case c != '$' && inWord(c):
			size = span(sql, inWord)
			t = token{tokenWord, lower(sql[:size])}
		case strings.IndexByte("(),.;=<>!+-*/%|&~", c) >= 0:
			size = 1
			t = token{rune(c), string(c)}
		}
		if size == 0 {
			return nil, false
		}
		if t.kind != 0 {
			all = append(all, t)
		}
		sql = sql[size:]
	}
	return all, true
}

// quoting is the kind of a token by its quotes.
func quoting(c byte) rune {
	if c == '\'' {
		return tokenText
	}
	return tokenName
}

// endAfter returns where what begins ends, 0 where it does not.
func endAfter(sql string, from int, end string) int {
	i := strings.Index(sql[from:], end)
	if i < 0 {
		return 0
	}
	return from + i + len(end)
}

// endOfQuoted returns where a quoted token ends, 0 where it does not: its quote stands in
// it twice.
func endOfQuoted(sql string) int {
	for i := 1; i < len(sql); i++ {
		if sql[i] != sql[0] {
			continue
		}
		if i+1 == len(sql) || sql[i+1] != sql[0] {
			return i + 1
		}
		i++
	}
	return 0
}

func span(sql string, in func(byte) bool) int {
	n := 0
	for n < len(sql) && in(sql[n]) {
		n++
	}
	return n
}

func inWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

// lower is a name as SQLite compares it: it knows the case of ASCII alone.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}
