package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"placet/engine"
)

func channelRows() []engine.Row {
	session := func(id string) engine.Row {
		return engine.Row{Table: "sessions", ID: id, Values: []engine.Field{{Name: "id", Value: id}, {Name: "type", Value: "worker"}, {Name: "depth", Value: 2}}}
	}
	return []engine.Row{session("O/build/A/impl"), session("O/build/A/test"), {Table: "direct_channels", ID: "A", Values: []engine.Field{
		{Name: "id", Value: "A"}, {Name: "session_a", Value: "O/build/A/impl"}, {Name: "session_b", Value: "O/build/A/test"}, {Name: "status", Value: nil},
	}}}
}

func TestABuiltDatabaseIsReadAsItWasGiven(t *testing.T) {
	body, err := Build("pal/export", channelRows())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.db"), body, 0o600); err != nil {
		t.Fatal(err)
	}
	end := New(dir).Do(engine.Database{Path: "x.db", Schema: "pal/export", Select: []engine.Query{
		{Name: "channels", SQL: "SELECT id, session_a, session_b, status FROM direct_channels"}, {Name: "sessions", SQL: "SELECT depth FROM sessions"},
	}})
	const want = `{"channels":[{"id":"A","session_a":"O/build/A/impl","session_b":"O/build/A/test","status":null}],"sessions":[{"depth":2},{"depth":2}]}`
	if end.Result != rowDone || string(end.Output) != want {
		t.Errorf("%+v\n%s", end, end.Output)
	}
}

func TestARowThatDoesNotFitMakesNoDatabase(t *testing.T) {
	for name, rows := range map[string][]engine.Row{
		"twice":          append(channelRows(), channelRows()...),
		"without parent": channelRows()[2:],
	} {
		body, err := Build("pal/export", rows)
		if err == nil || body != nil || !strings.Contains(err.Error(), "row ") {
			t.Errorf("%s: %d bytes, %v", name, len(body), err)
		}
	}
}
