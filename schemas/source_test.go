package schemas

import (
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNamesAreThoseOfTheFiles(t *testing.T) {
	want := []string{
		"afl/analysis", "afl/checkpoint", "afl/checkpoints", "afl/config-json", "afl/config-yaml", "afl/control",
		"afl/current-delegation", "afl/delegation-status", "afl/escalation", "afl/meta", "afl/pending-question", "afl/result",
		"afl/review", "afl/state", "afl/validation", "afl/verdict", "afl/worker", "afl/worker-run",
		"ask/answer", "ask/ask", "ask/reuse", "ask/state", "ask/withdraw",
		"faber/again", "faber/cancel", "faber/comment", "faber/coordinator", "faber/coordinator-state", "faber/event",
		"faber/gate", "faber/issue", "faber/metadata", "faber/posted", "faber/state", "faber/workflow",
		"kernel/receipt", "kernel/request", "kernel/response", "kernel/response-optional", "kernel/slack-attempt", "kernel/slack-note", "kernel/slack-outcome", "kernel/void",
		"mcp/answer", "mcp/ask_human", "mcp/check_answer", "mcp/explain_run", "mcp/explanation", "mcp/list_waiting", "mcp/recorded", "mcp/report_progress",
		"mcp/waiting", "mcp/withdraw_question",
		"nemawashi/action", "nemawashi/attempt", "nemawashi/command", "nemawashi/event", "nemawashi/job", "nemawashi/outcome", "nemawashi/receipt",
		"nemawashi/run", "nemawashi/state",
		"optimizer/assets", "optimizer/attempt", "optimizer/audit", "optimizer/callback", "optimizer/context", "optimizer/decision",
		"optimizer/goal", "optimizer/kpi", "optimizer/late", "optimizer/level-error", "optimizer/manifest", "optimizer/outcome",
		"optimizer/result", "optimizer/retrieved", "optimizer/state", "optimizer/stop", "optimizer/suggestions", "optimizer/trigger",
		"optimizer/usage",
		"pal/attempt", "pal/channel", "pal/config", "pal/control", "pal/delivered", "pal/escalation", "pal/event", "pal/feedback", "pal/filed",
		"pal/message", "pal/orchestration", "pal/outcome", "pal/plan", "pal/processed", "pal/progress", "pal/result", "pal/session", "pal/state",
		"placet/settings",
	}
	got := Names()
	slices.Sort(got) // "worker-run.json" comes before "worker.json"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestSourceIsTheFileByteForByte(t *testing.T) {
	for _, name := range Names() {
		ending := ".json"
		if strings.HasPrefix(name, "optimizer/") {
			ending = ".schema.json"
		}
		want, err := os.ReadFile(filepath.FromSlash(name) + ending)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Source(name)
		if err != nil || string(got) != string(want) {
			t.Errorf("Source(%q): error %v, %d bytes of %d", name, err, len(got), len(want))
		}
	}
	if _, err := Source("faber/nosuch"); err == nil || !strings.Contains(err.Error(), `"faber/nosuch"`) || !strings.Contains(err.Error(), "faber/state") {
		t.Errorf("unknown schema: %v", err)
	}
}

// drafts are the drafts of JSON Schema of the families, by the first part of a schema's
// name.
var drafts = map[string]string{
	"faber":  "http://json-schema.org/draft-07/schema#",
	"kernel": "http://json-schema.org/draft-07/schema#",
	"afl":    "https://json-schema.org/draft/2020-12/schema",
	"ask":    "https://json-schema.org/draft/2020-12/schema",

	"nemawashi": "https://json-schema.org/draft/2020-12/schema",
	"optimizer": "https://json-schema.org/draft/2020-12/schema",
	"pal":       "https://json-schema.org/draft/2020-12/schema",
}

func TestEverySchemaIsOfItsDraftAndAllowsUnknownKeys(t *testing.T) {
	for _, name := range Names() {
		s, err := load(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		family, _, _ := strings.Cut(name, "/")
		if family == "mcp" || family == "placet" { // for settings, too, a word that nobody knows is a mistake
			continue
		}
		if s.source["$schema"] != drafts[family] {
			t.Errorf("%s: $schema is %v, expected %s", name, s.source["$schema"], drafts[family])
		}
		walkSchema(s.source, func(at string, node map[string]any) {
			if node["additionalProperties"] == false || node["additionalItems"] == false || node["propertyNames"] != nil || node["unevaluatedProperties"] != nil {
				t.Errorf("%s: %s refuses unknown keys", name, at)
			}
		}, "")
	}
}

// The arguments and results of tools are not documents that a later version could have
// written, so an unknown key is a mistake. No type is "or null", which hosts read in
// different ways.
func TestTheSchemasOfToolsRefuseUnknownKeys(t *testing.T) {
	for _, name := range Names() {
		if !strings.HasPrefix(name, "mcp/") {
			continue
		}
		s, err := load(name)
		if err != nil {
			t.Fatal(err)
		}
		walkSchema(s.source, func(at string, node map[string]any) {
			_, described := node["description"]
			switch {
			case node["type"] == "object" && (node["additionalProperties"] != false || node["properties"] == nil):
				t.Errorf("%s: %s takes unknown keys", name, at)
			case node["type"] != nil && reflect.TypeOf(node["type"]).Kind() != reflect.String && !strings.HasSuffix(at, "/properties"):
				t.Errorf("%s: %s has the type %v", name, at, node["type"])
			case path.Base(path.Dir(at)) == "properties" && !described:
				t.Errorf("%s: %s has no description", name, at)
			}
		}, "")
	}
}

func TestEveryMemberSaysWhatIsExpected(t *testing.T) {
	for _, name := range Names() {
		s, err := load(name)
		if err != nil {
			t.Fatal(err)
		}
		walkSchema(s.source, func(at string, node map[string]any) {
			properties, _ := node["properties"].(map[string]any)
			for key, member := range properties {
				m := member.(map[string]any)
				if name == "placet/settings" { // it says by its keywords what is expected, in every language
					if m["description"] == nil || m["title"] != nil {
						t.Errorf("%s: %s/properties/%s has no description, or a title", name, at, key)
					}
					continue
				}
				if m["$ref"] == nil && m["title"] == nil {
					t.Errorf("%s: %s/properties/%s has no title", name, at, key)
				}
			}
		}, "")
	}
}

func walkSchema(node any, visit func(at string, node map[string]any), at string) {
	switch n := node.(type) {
	case map[string]any:
		visit(at, n)
		for key, child := range n {
			walkSchema(child, visit, at+"/"+key)
		}
	case []any:
		for _, child := range n {
			walkSchema(child, visit, at)
		}
	}
}

func TestASchemaNeverLeadsToFileOrNetwork(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(secret, []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"file://" + secret, secret, "http://127.0.0.1:1/x.json", "https://example.invalid/x.json", "../../../etc/passwd", "nosuch.json"} {
		c := compiler()
		if err := c.AddResource(base+"faber/test.json", strings.NewReader(`{"$ref":"`+ref+`"}`)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Compile(base + "faber/test.json"); err == nil {
			t.Errorf("the reference %s was followed", ref)
		}
	}
	c := compiler()
	if err := c.AddResource(base+"faber/test.json", strings.NewReader(`{"$ref":"../kernel/response.json"}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Compile(base + "faber/test.json"); err != nil {
		t.Errorf("a reference to an embedded schema: %v", err)
	}
}
