package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"placet/schemas"
)

// upstream holds what a database may contain: the objects that SQLite makes from upstream's script.
// Others may have made theirs with a script in other words.
type upstream struct {
	made  map[kind]map[string]object // by name
	into  map[[2]string]bool         // a trigger, and a table into which it inserts
	calls map[string]bool            // what the rules and defaults of its tables call
	sound map[string]bool            // the hashes of schemas that were found good
}

// mostSound limits how many schemas are remembered as good: each cycle may have a database of its own.
const mostSound = 64

// object is a row of sqlite_schema, SQLite's table of the objects of a database.
type object struct {
	kind      kind
	name, of  string // in lower case; of is the table of an index or a trigger
	statement string
}

// kind is the kind of an object, in the words with which SQLite stores its statement.
type kind string

const (
	kindTable       kind = "table"
	kindVirtual     kind = "virtual table"
	kindView        kind = "view"
	kindTrigger     kind = "trigger"
	kindIndex       kind = "index"
	kindUniqueIndex kind = "unique index"
)

var kinds = []kind{kindTable, kindVirtual, kindView, kindTrigger, kindIndex, kindUniqueIndex}

// is reports whether an object is of a kind. SQLite stores a statement with these words, and
// unchanged from the name on: SQLite did not write a statement that begins differently.
func (o object) is(k kind) bool {
	rest, found := strings.CutPrefix(o.statement, "CREATE "+strings.ToUpper(string(k))+" ")
	return found && (strings.HasPrefix(lower(rest), o.name) || strings.ContainsAny(rest[:min(1, len(rest))], "\"'`["))
}

// upstreamOf returns what a database of a schema may contain.
func (d *Databases) upstreamOf(schema string) (*upstream, error) {
	if s := d.upstream[schema]; s != nil {
		return s, nil
	}
	s, err := readUpstream(context.Background(), schemas.SQL(schema))
	if err != nil {
		return nil, fmt.Errorf("the schema %s: %w", schema, err)
	}
	d.upstream[schema] = s
	return s, nil
}

// readUpstream makes SQLite run a script, in memory, and reads what it made.
func readUpstream(ctx context.Context, script string) (*upstream, error) {
	c, err := connect(ctx, "/upstream", url.Values{"mode": {"memory"}}, 0)
	if err != nil {
		return nil, err
	}
	defer c.close()
	s := &upstream{map[kind]map[string]object{}, map[[2]string]bool{}, map[string]bool{}, map[string]bool{}}
	for _, k := range kinds {
		s.made[k] = map[string]object{}
	}
	if err := c.exec(ctx, script); err != nil {
		return nil, err
	}
	if err := c.eachObject(ctx, func(o object) error { s.made[o.kind][o.name] = o; return nil }); err != nil {
		return nil, err
	}
	err = c.authorize(func(action sqlite.AuthorizerActionCode, table, _, _, trigger string) sqlite.AuthorizerReturnCode {
		if action == sqlite.AuthInsert {
			s.into[[2]string{lower(trigger), lower(table)}] = true
		}
		return sqlite.AuthorizerOK
	})
	for _, table := range s.tables() {
		if err == nil {
			err = c.eachCall(ctx, table, func(call string) error { s.calls[call] = true; return nil })
		}
	}
	return s, err
}

// tables returns upstream's own tables, without those in which SQLite keeps its indexes and
// counters.
func (s *upstream) tables() []string {
	names := slices.Sorted(maps.Keys(s.made[kindTable]))
	return slices.DeleteFunc(names, s.keeps)
}

// touches reports whether inserting a row may touch a table: upstream's own, those of its full-text
// indexes, and that of SQLite's counters.
func (s *upstream) touches(table string) bool {
	_, is := s.made[kindTable][table]
	return is || s.keeps(table)
}

func (s *upstream) keeps(table string) bool {
	for name := range s.made[kindVirtual] {
		if strings.HasPrefix(table, name+"_") {
			return true
		}
	}
	return table == "sqlite_sequence"
}

// checkSchema judges all objects in the database, before any of them is used. It returns how many
// there are.
func (c *connection) checkSchema(ctx context.Context) (objects int, err error) {
	ctx, cancel := c.schemaLimit(ctx)
	defer cancel()
	if err := c.load(ctx); err != nil {
		return 0, err
	}
	all, tables := sha256.New(), []string(nil)
	err = c.eachObject(ctx, func(o object) error {
		objects++
		fmt.Fprintf(all, "%d %s", len(o.statement), o.statement)
		if o.kind == kindTable && c.allowed.touches(o.name) {
			tables = append(tables, o.name)
		}
		return c.allowed.check(o)
	})
	if err == nil && objects > mostObjects {
		err = unsound(fmt.Sprintf("more than %d tables, indexes, views and triggers", mostObjects))
	}
	c.unjudged = nil
	if sum := string(all.Sum(nil)); err == nil && !c.allowed.sound[sum] {
		if err = c.checkTables(ctx, tables); err == nil && c.unjudged == nil {
			if len(c.allowed.sound) == mostSound {
				clear(c.allowed.sound)
			}
			c.allowed.sound[sum] = true
		}
	}
	return objects, err
}

// eachObject calls do for the objects of the database, at most [mostObjects] and one more, without
// SQLite's own indexes of keys. SQLite has made sure that kind, name and table are those of the
// statement.
func (c *connection) eachObject(ctx context.Context, do func(object) error) error {
	const query = "SELECT +name, +tbl_name, +sql FROM sqlite_schema WHERE sql IS NOT NULL LIMIT "
	return c.each(ctx, query+strconv.Itoa(mostObjects+1), nil, func(rows *sql.Rows) error {
		var o object
		if err := rows.Scan(&o.name, &o.of, &o.statement); err != nil {
			return err
		}
		o.name, o.of = lower(o.name), lower(o.of)
		if i := slices.IndexFunc(kinds, o.is); i >= 0 {
			o.kind = kinds[i]
		}
		return do(o)
	})
}

// check judges one object by its name and kind, and by its statement only if SQLite words that
// itself.
func (s *upstream) check(o object) error {
	ours, is := s.made[o.kind][o.name]
	named := "the " + string(o.kind) + " " + quoteForPeople(o.name)
	switch o.kind {
	case kindView:
		if !is {
			return unsound(named + ", which upstream's schema does not have")
		}
	case kindVirtual:
		if !is || !isOlderIndex(ours.statement, o.statement) {
			return unsound(named + ", which upstream's schema does not have in that way")
		}
	case kindTrigger:
		if !is || o.of != ours.of {
			return unsound(named + ", which upstream's schema does not have")
		}
	case kindTable:
		if s.made[kindView][o.name].name != "" || s.made[kindVirtual][o.name].name != "" {
			return unsound(named + ", which is none in upstream's schema")
		}
		if s.keeps(o.name) && o.statement != ours.statement {
			return unsound(named + ", which is not as SQLite makes it")
		}
	case "":
		return unsound("an object that placet cannot read, made by " + quoteForPeople(o.statement))
	}
	return nil
}

// isOlderIndex reports whether a full-text index is upstream's, or an older one of upstream's that
// lacks some of the columns and nothing else.
func isOlderIndex(ours, theirs string) bool {
	left := indexParts(ours)
	for _, part := range indexParts(theirs) {
		at := slices.Index(left, part)
		if at < 0 || slices.ContainsFunc(left[:at], isOption) {
			return false
		}
		left = left[at+1:]
	}
	return !slices.ContainsFunc(left, isOption)
}

// indexParts splits the statement of a full-text index into its beginning, columns and options.
func indexParts(statement string) []string {
	head, list, _ := strings.Cut(lower(statement), "(")
	parts := []string{head}
	if list, closed := strings.CutSuffix(strings.TrimSpace(list), ")"); closed {
		parts = append(parts, strings.Split(list, ",")...)
	}
	for i := range parts {
		parts[i] = strings.Join(strings.Fields(parts[i]), " ")
	}
	return parts
}

func isOption(part string) bool { return strings.Contains(part, "=") }

// checkTables judges what SQLite computes when a row is inserted into tables: SQLite calls each
// function in one step that nothing interrupts. It sets unjudged if SQLite cannot prepare an insert.
//
// SQLite computes some constants while it prepares a statement, so functions of triggers do not
// count here; the authorizer of the insert denies them.
func (c *connection) checkTables(ctx context.Context, tables []string) (err error) {
	if err := c.authorize(ignoreCalls); err != nil {
		return err
	}
	defer func() {
		if again := c.authorize(nil); err == nil {
			err = again
		}
	}()
	for _, table := range tables {
		named := "the table " + quoteForPeople(table)
		err := c.eachName(ctx, "SELECT name FROM pragma_table_xinfo(?) WHERE hidden IN (2, 3)", table, func(column string) error {
			return unsound(named + ", which computes the column " + quoteForPeople(column))
		})
		if err == nil {
			err = c.eachName(ctx, computingIndexes, table, func(index string) error {
				return unsound("the index " + quoteForPeople(index) + ", which computes something: an index over columns is allowed")
			})
		}
		if err == nil && !c.allowed.keeps(table) {
			err = c.eachCall(ctx, table, func(call string) error {
				if c.allowed.calls[call] {
					return nil
				}
				return unsound(named + ", which calls " + quoteForPeople(call) + ": upstream's calls " +
					strings.Join(slices.Sorted(maps.Keys(c.allowed.calls)), ", ") + " alone")
			})
			if sqliteCode(err) == sqlite3.SQLITE_ERROR {
				c.unjudged, err = unsound(named+", into which no row goes: "+driverText(err)), nil
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ignoreCalls is an authorizer for which a call in a trigger is NULL, unless upstream's triggers make it.
func ignoreCalls(action sqlite.AuthorizerActionCode, _, function, _, by string) sqlite.AuthorizerReturnCode {
	if action == sqlite.AuthFunction && by != "" && !slices.Contains(called, lower(function)) {
		return sqlite.AuthorizerIgnore
	}
	return sqlite.AuthorizerOK
}

// computingIndexes finds the indexes of a table that cover an expression or only some rows.
const computingIndexes = "SELECT l.name FROM pragma_index_list(?) AS l WHERE l.partial OR EXISTS (SELECT 1 FROM pragma_index_xinfo(l.name) WHERE cid = -2)"

func (c *connection) eachName(ctx context.Context, query, table string, do func(string) error) error {
	return c.each(ctx, query, []any{table}, func(rows *sql.Rows) error {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		return do(name)
	})
}

// eachCall calls do for everything that SQLite would compute in one step of its machine to insert a
// row into a table, except in triggers: "length(1)" is the function length with one argument, "||"
// joins texts. See
// https://www.sqlite.org/opcode.html.
func (c *connection) eachCall(ctx context.Context, table string, do func(string) error) error {
	ended, at := false, -1
	err := c.each(ctx, "EXPLAIN INSERT INTO "+quoted(table)+" DEFAULT VALUES", nil, func(rows *sql.Rows) error {
		var address int
		var opcode string
		var text sql.NullString
		var other any
		if err := rows.Scan(&address, &opcode, &other, &other, &other, &text, &other, &other); err != nil {
			return err
		}
		ended, at = ended || address <= at, address // programs of triggers follow, each from 0 on
		switch {
		case ended:
			return nil
		case opcode == "Concat":
			return do("||")
		case strings.HasSuffix(opcode, "Func"), opcode == "Function":
			return do(lower(text.String))
		}
		return nil
	})
	return err
}

// longestShown is how much of a name that others gave is shown, in bytes.
const longestShown = 80

// quoteForPeople returns a name that others gave in the form for people: characters that cannot be
// seen are escaped.
func quoteForPeople(s string) string {
	if len(s) > longestShown {
		s = strings.ToValidUTF8(s[:longestShown], "") + "…"
	}
	return strconv.Quote(s)
}

// lower returns a name as SQLite compares it: it ignores the case of ASCII letters alone.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}
