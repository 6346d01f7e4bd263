package config

import (
	"bytes"
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/BurntSushi/toml"

	"placet/cmd/placet/console"
	"placet/cmd/placet/family"
	"placet/engine/ask"
	"placet/engine/gate"
	"placet/schemas"
	"placet/templates"
)

// Reading a configuration file is strict: an unknown key, a key in other
// letters, a wrong type and a word that no setting has are refused with file
// and line. Silence about a mistyped key would be a switch that seems on.

// LimitSmall is the largest configuration or trust file, in bytes.
const LimitSmall = 1 << 20

// ReadSmall reads a regular file. It never blocks on a FIFO.
func ReadSmall(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, templates.Errorf("config.file.regular")
	}
	body, err := io.ReadAll(io.LimitReader(f, LimitSmall+1))
	if err == nil && len(body) > LimitSmall {
		err = templates.Errorf("config.file.large", "size", "1 MiB")
	}
	return body, err
}

// Bounds of a configuration file. The decoder's time and memory grow with the
// square of how deep keys and tables nest, so that is bounded before it reads.
const (
	limitSettings = 64 << 10 // bytes
	limitLine     = 4 << 10  // bytes; a key stands in one line
	limitTables   = 500      // inline tables
)

// bounded refuses what no configuration needs and the decoder would choke on.
func bounded(body []byte) error {
	if len(body) > limitSettings {
		return templates.Errorf("config.file.large", "size", "64 KiB")
	}
	for n, line := range bytes.Split(body, []byte("\n")) {
		if len(line) > limitLine {
			return templates.Errorf("config.file.line", "line", n+1)
		}
	}
	if bytes.Count(body, []byte("{")) > limitTables {
		return templates.Errorf("config.file.tables", "most", limitTables)
	}
	return nil
}

// parse reads a file as a tree and refuses all that no setting has.
func (l Layer) parse() (map[string]any, error) {
	tree := map[string]any{}
	if _, err := toml.Decode(string(l.body), &tree); err != nil {
		return nil, l.refuse(err)
	}
	if key := unknown(tree, reflect.TypeFor[File]()); key != nil {
		return nil, l.unknown(key)
	}
	scratch := Defaults()
	if _, err := toml.Decode(string(l.body), &scratch); err != nil {
		return nil, l.refuse(err)
	}
	return tree, cmp.Or(l.check(scratch), l.checkGroups(scratch.Gates))
}

// apply adds a tree to the settings, and checks what the whole then says.
func (s *Settings) apply(l Layer, tree map[string]any) error {
	mergeTree(s.tree, tree)
	if err := l.decode(s.tree, &s.File); err != nil {
		return err
	}
	return l.check(s.File)
}

// decode decodes a tree into f. What the tree does not name stays in f as it is.
func (l Layer) decode(tree map[string]any, f *File) error {
	var buf bytes.Buffer
	if err := toml.NewEncoder(&buf).Encode(tree); err != nil {
		return console.Usage("config.unusable", "file", strconv.Quote(l.Path), "error", err)
	}
	if _, err := toml.Decode(buf.String(), f); err != nil {
		return l.refuse(err)
	}
	return nil
}

// mergeTree sets the values of a tree in another one. Tables that both trees have are merged.
func mergeTree(into, from map[string]any) {
	for name, value := range from {
		table, isTable := value.(map[string]any)
		if there, ok := into[name].(map[string]any); ok && isTable {
			mergeTree(there, table)
		} else {
			into[name] = value
		}
	}
}

// check refuses words that a setting does not know.
func (l Layer) check(f File) error {
	if f.Language != "" && !slices.Contains(templates.Languages(), f.Language) {
		return l.at([]string{"language"}, "config.language", "setting", "language", "value", strconv.Quote(f.Language), "languages", strings.Join(templates.Languages(), ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(f.Gates)) {
		if err := l.checkGate(name, f.Gates[name]); err != nil {
			return err
		}
	}
	for _, name := range f.Commands.Env {
		if name == "" || strings.ContainsAny(name, "=\x00 ") {
			return l.at([]string{"commands", "env"}, "config.env", "value", strconv.Quote(name))
		}
	}
	if key, err := f.Hook.check(); err != nil {
		return l.at([]string{"hook", key}, "config.setting", "table", "hook", "key", key, "problem", err)
	}
	if key, err := f.Serve.check(); err != nil {
		return l.at([]string{"serve", key}, "config.setting", "table", "serve", "key", key, "problem", err)
	}
	if key, err := f.Slack.check(); err != nil {
		return l.at([]string{"slack", key}, "config.setting", "table", "slack", "key", key, "problem", err)
	}
	if key, err := f.MCP.check(); err != nil {
		return l.at([]string{"mcp", key}, "config.setting", "table", "mcp", "key", key, "problem", err)
	}
	if l.own { // in a file of the workspace it is ignored
		if key, err := f.Notify.Check(family.Names()); err != nil {
			return l.at([]string{notifyKey, key}, "config.setting", "table", notifyKey, "key", key, "problem", err)
		}
	}
	for _, one := range family.All {
		if err := l.checkFamily(one, &f.Settings); err != nil {
			return err
		}
	}
	return nil
}

// checkFamily refuses settings that a family cannot use. The error names the setting first.
func (l Layer) checkFamily(f family.Family, s *family.Settings) error {
	if _, lang := f.Config(s); lang != "" && !slices.Contains(templates.Languages(), lang) {
		return l.at([]string{f.Name, "language"}, "config.language", "setting", f.Name+".language", "value", strconv.Quote(lang), "languages", strings.Join(templates.Languages(), ", "))
	}
	key, err := f.Check(s)
	if err == nil {
		return nil
	}
	if key == nil {
		first, _, _ := strings.Cut(strings.Fields(err.Error())[0], ":")
		key = []string{first}
	}
	return l.at(append([]string{f.Name}, key...), "config.family", "family", f.Name, "problem", err)
}

// checkGate refuses what no gate can mean. Levels other than file are named in
// the design and not built: to accept the word would promise a proof.
func (l Layer) checkGate(name string, g GateRule) error {
	key := []string{"gates", name}
	of, typ, typed := strings.Cut(name, "/")
	families := family.Names()
	if name != "*" && !slices.Contains(families, of) || typed && typ == "" {
		return l.at(key, "config.gate.family", "gate", strconv.Quote(name), "families", strings.Join(families, ", "))
	}
	if err := ask.CheckApprovers(g.Approvers); err != nil {
		return l.at(append(key, "approvers"), "config.gate.approvers", "gate", strconv.Quote(name), "problem", err)
	}
	switch g.Level {
	case "", "file":
		return nil
	case "owner", "signed", "touched", "committed", "remote":
		return l.at(append(key, "level"), "config.gate.later", "gate", strconv.Quote(name), "level", strconv.Quote(g.Level))
	}
	return l.at(append(key, "level"), "config.gate.level", "gate", strconv.Quote(name), "level", strconv.Quote(g.Level))
}

// at is a problem with the setting at key.
func (l Layer) at(key []string, says templates.Key, pairs ...any) *console.Problem {
	return l.problem(l.lineOf(key), templates.NewMessage(says, pairs...))
}

// problem is a problem with a line.
func (l Layer) problem(line int, says any) *console.Problem {
	return console.Usage("config.at", "place", l.Place(line), "problem", says)
}

func (l Layer) Place(number int) string {
	if number == 0 {
		return console.OneLine(l.Path)
	}
	return fmt.Sprintf("%s:%d", console.OneLine(l.Path), number)
}

// refuse words a decoding error.
func (l Layer) refuse(err error) error {
	var parse toml.ParseError
	if errors.As(err, &parse) {
		return l.problem(parse.Position.Line, parse.Message)
	}
	m := mistyped.FindStringSubmatch(err.Error())
	if m == nil {
		return l.problem(0, strings.TrimPrefix(err.Error(), "toml: "))
	}
	line, _ := strconv.Atoi(m[1])
	return l.problem(line, mismatch(m[2], m[3]))
}

// mistyped is the decoder's error for a value of another type than a setting
// has: line, key, message.
var mistyped = regexp.MustCompile(`^toml: (?:line (\d+) )?\(last key "(.*?)"\): (.*)$`)

// mismatch words the decoder's message about a key by the types that TOML has.
func mismatch(key, message string) any {
	want := "table"
	_, found, ok := strings.Cut(message, "expected table but found ")
	if !ok {
		message, ok = strings.CutPrefix(message, "incompatible types: TOML value has type ")
		found, want, _ = strings.Cut(message, "; destination has type ")
	}
	if !ok {
		return key + ": " + message
	}
	return templates.NewMessage("config.type", "key", key, "want", cmp.Or(tomlTypes[want], want), "found", cmp.Or(tomlTypes[found], found))
}

var tomlTypes = map[string]string{
	"int64": "integer", "float64": "float", "bool": "boolean", "map[string]any": "table", "map": "table",
	"slice": "array", "[]any": "array", "[]map[string]any": "array of tables", "time.Time": "date",
}

// unknown is the problem with a key that no setting has.
func (l Layer) unknown(key []string) error {
	name := toml.Key(key).String()
	p := l.at(key, "config.unknown", "name", strconv.Quote(name))
	if like := alike(key, reflect.TypeFor[File]()); like != "" {
		return p.Try("config.unknown.like", "name", strconv.Quote(like))
	}
	if tables := tablesWith(key[len(key)-1]); len(tables) > 0 {
		return p.Try("config.unknown.table", "tables", oneAmong(tables))
	}
	return p.Try("config.unknown.init")
}

// oneAmong is a list of names of which one is meant.
func oneAmong(names []string) any {
	end := len(names) - 1
	if end == 0 {
		return names[0]
	}
	return templates.NewMessage("list.or", "all", strings.Join(names[:end], ", "), "last", names[end])
}

// unknown returns the first key of a tree that a type has no place for. Case
// counts: the decoder alone would take "Language" for "language".
func unknown(tree map[string]any, t reflect.Type) []string {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		below, ok := member(t, name)
		if !ok {
			return []string{name}
		}
		for _, sub := range tablesIn(tree[name]) {
			if key := unknown(sub, elem(below)); key != nil {
				return append([]string{name}, key...)
			}
		}
	}
	return nil
}

// tablesIn are the tables that a value is, or that it lists.
func tablesIn(value any) (tables []map[string]any) {
	switch v := value.(type) {
	case map[string]any:
		tables = append(tables, v)
	case []map[string]any:
		tables = v
	case []any:
		for _, one := range v {
			if table, ok := one.(map[string]any); ok {
				tables = append(tables, table)
			}
		}
	}
	return tables
}

// elem is the type of what a list of type t holds, t itself where it is no list.
func elem(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Slice {
		return t.Elem()
	}
	return t
}

// member is the type of the setting name in a table of type t.
func member(t reflect.Type, name string) (reflect.Type, bool) {
	if t.Kind() == reflect.Pointer { // a setting that may be left unsaid
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Map:
		return t.Elem(), true
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			if f.Tag.Get("toml") == name {
				return f.Type, true
			}
		}
		return nil, false
	}
	// A table where a plain value belongs: the decoder words that better.
	return reflect.TypeFor[map[string]any](), true
}

// alike is the setting that a mistyped key was meant to be, "" if none is near.
func alike(key []string, t reflect.Type) string {
	for _, name := range key[:len(key)-1] {
		t, _ = member(t, name)
		t = elem(t)
	}
	if t.Kind() != reflect.Struct {
		return ""
	}
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		if !f.Anonymous {
			names = append(names, f.Tag.Get("toml"))
		}
	}
	if name := schemas.Nearest(key[len(key)-1], names); name != "" {
		return toml.Key(append(slices.Clone(key[:len(key)-1]), name)).String()
	}
	return ""
}

// tablesWith are the tables that have a setting of a name, as a file has them.
func tablesWith(name string) (tables []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[File]()) {
		if f.Anonymous || f.Type.Kind() != reflect.Struct {
			continue
		}
		if _, has := member(f.Type, name); has {
			tables = append(tables, "["+f.Tag.Get("toml")+"]")
		}
	}
	return tables
}

// stop ends decoding at the key that lineOf looks for.
type stop struct{}

func (*stop) UnmarshalTOML(any) error { return errors.New("found") }

// lineOf returns the line of a key, or of the nearest table around it; 0 if
// the file does not say. The decoder knows lines only in errors, so a type is
// made that has a place for this key alone, and refuses it.
func (l Layer) lineOf(key []string) int {
	for ; len(key) > 0; key = key[:len(key)-1] {
		t := reflect.TypeFor[stop]()
		for _, name := range slices.Backward(key) {
			t = reflect.StructOf([]reflect.StructField{{
				Name: "F", Type: t, Tag: reflect.StructTag("toml:" + strconv.Quote(name)),
			}})
		}
		_, err := toml.Decode(string(l.body), reflect.New(t).Interface())
		var parse toml.ParseError
		if errors.As(err, &parse) && parse.Message == "found" {
			return parse.Position.Line
		}
	}
	return 0
}

// checkGroups refuses groups as approvers: they do not exist yet, so nobody could answer.
func (l Layer) checkGroups(gates map[string]GateRule) error {
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		for _, approver := range gates[name].Approvers {
			if gate.IsGroup(approver) {
				return l.at([]string{GatesKey[0], name, "approvers"}, "config.gate.group", "gate", strconv.Quote(name), "name", strconv.Quote(approver))
			}
		}
	}
	return nil
}
