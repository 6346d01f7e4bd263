package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/BurntSushi/toml"

	"placet/cmd/placet/console"
	"placet/cmd/placet/family"
	"placet/engine/ask"
	"placet/engine/gate"
	"placet/internal/lazyregexp"
	"placet/schemas"
	"placet/templates"
)

// Reading a configuration file is strict: an unknown key, a key in other letters, a wrong
// type and an unknown word are refused with file and line. If a mistyped key were ignored, a
// setting would seem to be on that is not.

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

// These constants bound a configuration file. The decoder's time and memory grow with the
// square of the depth at which keys and tables nest, so that depth is bounded before it
// reads.
const (
	limitSettings = 64 << 10 // bytes
	limitLine     = 4 << 10  // bytes; a key is in one line
	limitTables   = 500      // inline tables
)

// bounded refuses a file that no configuration needs and that would overload the decoder.
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

// settingsSchema names the schema of a configuration file.
const settingsSchema = "placet/settings"

// parse reads a file as a tree and refuses everything that is no setting. spared are the
// mistakes of the tables that it leaves out instead; see [Layer.spare].
func (l Layer) parse() (tree map[string]any, spared []error, err error) {
	tree = map[string]any{}
	if _, err := toml.Decode(string(l.body), &tree); err != nil {
		return nil, nil, l.refuse(err)
	}
	if l.spares {
		spared = l.spare(tree)
	}
	scratch := Defaults()
	if err := l.judge(tree, &scratch); err != nil {
		return nil, nil, err
	}
	return tree, spared, l.checkGroups(scratch.Gates)
}

// judge refuses a tree with anything that is no setting, and decodes it into f.
func (l Layer) judge(tree map[string]any, f *File) error {
	if err := l.conforms(tree); err != nil {
		return err
	}
	if err := l.decode(tree, f); err != nil {
		return err
	}
	return l.check(*f)
}

// spare removes from a tree the tables with mistakes that do not concern asks: [notify], and
// those of other families. It returns the mistakes. A verb that asks, waits or shows what is
// asked works without these tables.
func (l Layer) spare(tree map[string]any) (mistakes []error) {
	for _, name := range append(family.Names(), notifyKey) {
		table, is := tree[name]
		if !is || name == asksKey {
			continue
		}
		scratch := Defaults()
		if err := l.judge(map[string]any{name: table}, &scratch); err != nil {
			delete(tree, name)
			mistakes = append(mistakes, err)
		}
	}
	return mistakes
}

// asksKey is the table of the settings for asks.
const asksKey = "ask"

// AddText adds settings in TOML to others, and returns all of them. An error begins with where the
// text is from, and says why placet cannot use them.
func AddText(from, text string, to map[string]any) (map[string]any, error) {
	tree, l, scratch := map[string]any{}, Layer{Path: from}, Defaults()
	if _, err := toml.Decode(text, &tree); err != nil {
		return nil, l.refuse(err)
	}
	tree = merged(to, tree)
	if err := l.judge(tree, &scratch); err != nil {
		return nil, err
	}
	return tree, nil
}

// conforms refuses a tree that does not match the schema of settings.
func (l Layer) conforms(tree map[string]any) error {
	if len(tree) == 0 {
		return nil
	}
	plain, odd, value := plainTable(tree)
	if value != "" {
		return l.at(odd, "config.at", "place", toml.Key(odd).String(), "problem", templates.NewMessage("config.value", "value", value))
	}
	key, err := schemas.Unknown(settingsSchema, plain)
	if key != nil {
		return l.unknown(key)
	}
	if err == nil {
		err = schemas.CheckTree(settingsSchema, plain)
	}
	var unfit *schemas.Error
	if !errors.As(err, &unfit) {
		return err
	}
	key, number := settingAt(plain, unfit.Names())
	problem := inTOML(unfit.Says())
	if number > 0 {
		problem = templates.NewMessage("config.element", "number", number, "problem", problem)
	}
	return l.at(key, "config.at", "place", toml.Key(key).String(), "problem", problem)
}

// plainTable returns a table in the form that schemas read. It returns the key and the value of
// the first element that no setting accepts: a date, inf or nan.
func plainTable(table map[string]any) (plain map[string]any, key []string, value string) {
	plain = map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if plain[name], key, value = plainValue(table[name]); value != "" {
			return nil, append([]string{name}, key...), value
		}
	}
	return plain, nil, ""
}

func plainValue(v any) (plain any, key []string, value string) {
	switch v := v.(type) {
	case map[string]any:
		return plainTable(v)
	case []any:
		return plainList(v)
	case []map[string]any:
		return plainList(v)
	case int64:
		return json.Number(strconv.FormatInt(v, 10)), nil, ""
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil, nil, fmt.Sprint(v)
		}
		return json.Number(strconv.FormatFloat(v, 'g', -1, 64)), nil, ""
	case time.Time:
		return nil, nil, v.Format(time.RFC3339)
	}
	return v, nil, ""
}

func plainList[E any](list []E) (plain []any, key []string, value string) {
	plain = []any{}
	for _, element := range list {
		one, key, value := plainValue(element)
		if value != "" {
			return nil, key, value
		}
		plain = append(plain, one)
	}
	return plain, nil, ""
}

// settingAt returns the setting at a path, and the number of the element in the last list on
// the way, 0 for none.
func settingAt(tree any, path []string) (key []string, number int) {
	for _, part := range path {
		switch v := tree.(type) {
		case []any:
			i, _ := strconv.Atoi(part)
			tree, number = v[i], i+1
		case map[string]any:
			tree, key = v[part], append(key, part)
		}
	}
	return key, number
}

// inTOML returns a message in the terms of TOML, in which an object is a table.
func inTOML(m templates.Message) templates.Message {
	if m.Key == "schema.kind.object" {
		return templates.NewMessage("config.table")
	}
	m.Pairs = slices.Clone(m.Pairs)
	for i, value := range m.Pairs {
		if part, ok := value.(templates.Message); ok {
			m.Pairs[i] = inTOML(part)
		}
	}
	return m
}

// apply adds a tree to the settings, and checks the result.
func (s *Settings) apply(l Layer, tree map[string]any) error {
	mergeTree(s.tree, tree)
	if err := l.conforms(s.tree); err != nil {
		return err
	}
	if err := l.decode(s.tree, &s.File); err != nil {
		return err
	}
	return l.check(s.File)
}

// decode decodes a tree into f, and leaves unchanged what the tree does not name.
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

// merged returns the values of two trees, of which the second one wins.
func merged(one, other map[string]any) map[string]any {
	both := map[string]any{}
	for _, tree := range []map[string]any{one, other} {
		for name, value := range tree {
			table, isTable := value.(map[string]any)
			if there, ok := both[name].(map[string]any); ok && isTable {
				both[name] = merged(there, table)
			} else {
				both[name] = value
			}
		}
	}
	return both
}

// check refuses words that are no value of their setting.
func (l Layer) check(f File) error {
	if f.Language != "" && !slices.Contains(templates.Languages(), f.Language) {
		return l.at([]string{"language"}, "config.language", "setting", "language", "value", strconv.Quote(f.Language), "languages", strings.Join(templates.Languages(), ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(f.Gates)) {
		if err := l.checkGate(name, f.Gates[name]); err != nil {
			return err
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

// checkFamily refuses settings that a family cannot use. The error begins with the setting.
func (l Layer) checkFamily(f family.Family, s *family.Settings) error {
	if _, lang := f.Config(s); lang != "" && !slices.Contains(templates.Languages(), lang) {
		return l.at([]string{f.Name, "language"}, "config.language", "setting", f.Name+".language", "value", strconv.Quote(lang), "languages", strings.Join(templates.Languages(), ", "))
	}
	if f.Check == nil {
		return nil
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

// checkGate refuses a rule that no gate can have. Levels other than file are named in the
// design and not built: accepting the word would promise a proof.
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

// at returns a problem with the setting at key.
func (l Layer) at(key []string, says templates.Key, pairs ...any) *console.Problem {
	return l.problem(l.lineOf(key), templates.NewMessage(says, pairs...))
}

// problem returns a problem with a line.
func (l Layer) problem(line int, says any) *console.Problem {
	return console.Usage("config.at", "place", l.Place(line), "problem", says)
}

func (l Layer) Place(number int) string {
	if number == 0 {
		return console.OneLine(l.Path)
	}
	return fmt.Sprintf("%s:%d", console.OneLine(l.Path), number)
}

// refuse returns a decoding error in words for people.
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
	if !strings.HasPrefix(m[3], "incompatible types") {
		return l.problem(line, m[2]+": "+m[3])
	}
	return l.problem(line, templates.NewMessage("config.at", "place", m[2], "problem", templates.NewMessage("config.whole")))
}

// mistyped matches the decoder's error for a value that the schema accepts and the setting does
// not: a number with a point instead of a whole one. It has a line and a key.
var mistyped = lazyregexp.New(`^toml: (?:line (\d+) )?\(last key "(.*?)"\): (.*)$`)

// unknown returns the problem with a key that is no setting.
func (l Layer) unknown(key []string) error {
	name := toml.Key(key).String()
	p := l.at(key, "config.unknown", "name", strconv.Quote(name))
	table, last := key[:len(key)-1], key[len(key)-1]
	names, _ := schemas.Properties(settingsSchema, table...) // already checked
	if like := schemas.Nearest(last, names); like != "" {
		return p.Try("config.unknown.like", "name", strconv.Quote(toml.Key(append(slices.Clone(table), like)).String()))
	}
	if tables := tablesWith(last); len(tables) > 0 {
		return p.Try("config.unknown.table", "tables", oneAmong(tables))
	}
	return p.Try("config.unknown.init")
}

// oneAmong returns a list of names joined by "or".
func oneAmong(names []string) any {
	end := len(names) - 1
	if end == 0 {
		return names[0]
	}
	return templates.NewMessage("list.or", "all", strings.Join(names[:end], ", "), "last", names[end])
}

// tablesIn returns the tables in a value: the value itself, or its elements.
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

// tablesWith returns the tables that have a setting of a name, in the order of their names.
func tablesWith(name string) (tables []string) {
	top, _ := schemas.Properties(settingsSchema)
	for _, table := range top {
		if names, _ := schemas.Properties(settingsSchema, table); slices.Contains(names, name) {
			tables = append(tables, "["+table+"]")
		}
	}
	return tables
}

// stop ends decoding at the key that lineOf looks for.
type stop struct{}

func (*stop) UnmarshalTOML(any) error { return errors.New("found") }

// lineOf returns the line of a key, or of the nearest table around it; 0 if the file does not
// say. The decoder reports lines only in errors, so lineOf builds a type that has a place for
// this key alone and refuses it.
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

// checkGroups refuses groups as approvers: groups do not exist yet, so nobody could answer.
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
