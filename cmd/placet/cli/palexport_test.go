package cli

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"placet/cmd/placet/console"
)

// placetIn runs a verb in a workspace, in this process.
func placetIn(t *testing.T, root, in string, args ...string) (out string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	home := filepath.Join(filepath.Dir(root), "home")
	w := &console.Env{
		In: strings.NewReader(in), Out: &stdout, Err: &stderr, Cwd: root, Now: time.Now,
		Getenv: func(name string) string { return map[string]string{"HOME": home, "PATH": os.Getenv("PATH")}[name] },
	}
	code = run(context.Background(), w, args)
	t.Logf("placet %s: %d\n%s%s", strings.Join(args, " "), code, stdout.String(), stderr.String())
	return stdout.String(), code
}

const palShop = ".pal/orchestrations/shop/"

// The rows of an export agree with the files, member by member.
func TestAnExportEqualsTheFiles(t *testing.T) {
	root := mustResolve(t, t.TempDir()) + "/ws"
	put(t, root, "placet.toml", "")
	put(t, root, palShop+"orchestration.json", `{"title": "Shop", "max_retries": 1, "ports": [{"port_id": "A", "agent": "kim"}, {"port_id": "B"}]}`)
	placetIn(t, root, "", "once")
	put(t, root, palShop+"sessions/build/A/extra/session.json", `{"type": "worker"}`)
	put(t, root, palShop+"sessions/build/A/impl/result-1.json", `{"status": "ready", "summary": "한글", "changed_files": ["a.go"]}`)
	put(t, root, palShop+"sessions/build/A/test/feedback-1.json", `{"success": false, "suggestions": ["x"]}`)
	if out, code := placetIn(t, root, `{"n": [1, 2.5, null]}`, "pal", "send", "query", "--session", "shop/build/B/test", "--payload", "-"); code != 0 || out != "B/0001-test-query\n" {
		t.Fatalf("%d %q", code, out)
	}
	placetIn(t, root, "", "once")
	placetIn(t, root, "", "pal", "abort", "shop", "-m", "enough")
	placetIn(t, root, "", "once")
	if _, code := placetIn(t, root, "", "pal", "export", "shop", "--sqlite", "out.db"); code != 0 {
		t.Fatal("no export")
	}
	rows := tablesOf(t, filepath.Join(root, "out.db"))
	equalFiles(t, rows["sessions"], filesLike(t, root, "sessions/build/**/session.json"), map[string]string{})
	equalFiles(t, rows["direct_channels"], filesLike(t, root, "channels/*/channel.json"), map[string]string{})
	equalFiles(t, rows["direct_messages"], filesLike(t, root, "channels/*/messages/*.json"), map[string]string{"message_type": "type"})
	equalFiles(t, rows["escalations"], filesLike(t, root, "escalations/*.json"), map[string]string{})
	for table, want := range map[string]int{"sessions": 8, "direct_channels": 2, "direct_messages": 3, "escalations": 1} {
		if len(rows[table]) != want {
			t.Errorf("%s: %d rows, want %d", table, len(rows[table]), want)
		}
	}
}

// tablesOf reads all tables of a database.
func tablesOf(t *testing.T, file string) map[string][]map[string]any {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all := map[string][]map[string]any{}
	for _, table := range []string{"sessions", "direct_channels", "direct_messages", "escalations"} {
		rows, err := db.Query("SELECT * FROM " + table)
		if err != nil {
			t.Fatal(err)
		}
		names, _ := rows.Columns()
		for rows.Next() {
			into := make([]any, len(names))
			for i := range into {
				into[i] = new(any)
			}
			if err := rows.Scan(into...); err != nil {
				t.Fatal(err)
			}
			row := map[string]any{}
			for i, name := range names {
				row[name] = *into[i].(*any)
			}
			all[table] = append(all[table], row)
		}
	}
	return all
}

// filesLike returns the documents of the orchestration that match a pattern, by their id; "**"
// stands for any folders.
func filesLike(t *testing.T, root, pattern string) map[string]map[string]any {
	t.Helper()
	found := map[string]map[string]any{}
	patterns := []string{pattern}
	if before, after, ok := strings.Cut(pattern, "**/"); ok {
		patterns = []string{before + after, before + "*/" + after, before + "*/*/" + after}
	}
	for _, p := range patterns {
		names, _ := filepath.Glob(filepath.Join(root, palShop, p))
		for _, name := range names {
			body, err := os.ReadFile(name)
			var doc map[string]any
			if err == nil {
				err = json.Unmarshal(body, &doc)
			}
			if err != nil {
				t.Fatal(err)
			}
			rel, _ := filepath.Rel(filepath.Join(root, palShop, "sessions"), filepath.Dir(name))
			if strings.HasPrefix(p, "sessions/") {
				doc["id"] = "shop/" + filepath.ToSlash(rel)
			}
			if strings.Contains(p, "messages") {
				receipt := filepath.Join(filepath.Dir(filepath.Dir(name)), "receipts", strings.TrimSuffix(filepath.Base(name), ".json")+".delivered.json")
				var r map[string]any
				if body, err := os.ReadFile(receipt); err == nil && json.Unmarshal(body, &r) == nil {
					doc["delivered_at"] = r["delivered_at"]
				}
			}
			found[doc["id"].(string)] = doc
		}
	}
	return found
}

// equalFiles compares rows with documents. Some columns are members of another name.
func equalFiles(t *testing.T, rows []map[string]any, files map[string]map[string]any, renamed map[string]string) {
	t.Helper()
	var ids []string
	for _, row := range rows {
		id := row["id"].(string)
		ids = append(ids, id)
		for column, have := range row {
			name := column
			if other, ok := renamed[column]; ok {
				name = other
			}
			if want := files[id][name]; !isSame(have, want) {
				t.Errorf("%s: %s is %v, the file says %v", id, column, have, want)
			}
		}
	}
	slices.Sort(ids)
	var want []string
	for id := range files {
		want = append(want, id)
	}
	slices.Sort(want)
	if !slices.Equal(ids, want) {
		t.Errorf("rows %v, files %v", ids, want)
	}
}

// isSame reports whether a column has the value of a member.
func isSame(have, want any) bool {
	switch want := want.(type) {
	case nil:
		return have == nil
	case bool:
		return fmt.Sprint(have) == map[bool]string{true: "1", false: "0"}[want]
	case float64:
		return fmt.Sprint(have) == fmt.Sprint(want)
	case string:
		if at, ok := have.(time.Time); ok {
			return at.UTC().Format(time.RFC3339) == want
		}
		return have == want
	}
	var value any
	text, _ := have.(string)
	return json.Unmarshal([]byte(text), &value) == nil && reflect.DeepEqual(value, want)
}

// Each of two equal queries that are sent at once has its number.
func TestMessagesSentAtOnceHaveNumbersOfTheirOwn(t *testing.T) {
	root := mustResolve(t, t.TempDir()) + "/ws"
	put(t, root, "placet.toml", "")
	put(t, root, palShop+"orchestration.json", `{"title": "Shop", "ports": [{"port_id": "A"}]}`)
	placetIn(t, root, "", "once")
	out := make(chan string)
	for range 8 {
		go func() {
			said, _ := placetIn(t, root, `"?"`, "pal", "send", "query", "--session", "shop/build/A/impl", "--payload", "-")
			out <- said
		}()
	}
	var ids []string
	for range 8 {
		ids = append(ids, strings.TrimSpace(<-out))
	}
	slices.Sort(ids)
	for i, id := range ids {
		if want := fmt.Sprintf("A/%04d-impl-query", i+1); id != want {
			t.Errorf("message %d is %s, want %s", i+1, id, want)
		}
	}
}
