package optimizer

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"placet/engine"
	"placet/engine/run"
	"placet/schemas"
	"placet/templates"
)

func TestSlugs(t *testing.T) {
	for in, want := range map[string]string{
		"희귀 라벨 검사 추가":             "희귀-라벨-검사-추가",
		"Split the *slow* step!":  "Split-the-slow-step",
		"  a  b\t\nc ":            "a-b-c",
		"a - b":                   "a-b",
		"a__b":                    "a-b",
		"! a -? ":                 "a-",
		"a_b":                     "a_b",
		"ㄱㄴ 日本 é":                 "ticket",
		"":                        "ticket",
		"!?/\\..":                 "ticket",
		"../../etc/passwd":        "etcpasswd",
		"가힣":                      "가힣",
		"\u3000wide\u00a0blanks":  "wide-blanks",
		strings.Repeat("가", 100):  strings.Repeat("가", 60),
		strings.Repeat("ab ", 40): strings.Repeat("ab-", 20),
	} {
		if got := slug(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

var slugForm = regexp.MustCompile(`^[0-9A-Za-z가-힣_-]{1,60}$`)

func TestASlugIsAPartOfAFilesName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("ab가힣 -_.\t/")))).Draw(t, "text")
		got := slug(in)
		if !slugForm.MatchString(got) || regexp.MustCompile(`[-_]{2}`).MatchString(got) {
			t.Fatalf("%q: %q", in, got)
		}
		if again := slug(got); again != got {
			t.Fatalf("%q: %q, then %q", in, got, again)
		}
	})
}

// upstreamsNext returns the number that upstream's create_ticket would use beside some files.
func upstreamsNext(names []string) int {
	highest := 0
	for _, name := range names {
		if m := regexp.MustCompile(`^TKT-(\d+).*\.md$`).FindStringSubmatch(name); m != nil {
			n, _ := strconv.Atoi(m[1])
			highest = max(highest, n)
		}
	}
	return highest + 1
}

// A ticket gets the number that upstream would use, and upstream uses the next one: none is used
// twice, and none is skipped. The next pass continues an interrupted one, whichever of the files
// that had written.
func TestATicketTakesUpstreamsNextNumber(t *testing.T) {
	const run = "20260302-msowd-sop-masking"
	st := reached("en")
	file := func(name, body string) engine.Document {
		return engine.Document{Path: "tickets/" + name, Body: []byte(body)}
	}
	for name, c := range map[string]struct {
		there []string
		want  []string
	}{
		"none":           {nil, []string{"TKT-0001", "TKT-0002"}},
		"some":           {[]string{"TKT-0001-a.md", "TKT-0003-c.md"}, []string{"TKT-0004", "TKT-0005"}},
		"five digits":    {[]string{"TKT-12345.md"}, []string{"TKT-12346", "TKT-12347"}},
		"other names":    {[]string{"TKT-x-9.md"}, []string{"TKT-0001", "TKT-0002"}},
		"a huge number":  {[]string{"TKT-" + strings.Repeat("9", 40) + ".md", "TKT-0002.md"}, []string{"TKT-0003", "TKT-0004"}},
		"without a slug": {[]string{"TKT-7.md"}, []string{"TKT-0008", "TKT-0009"}},
	} {
		var there []engine.Document
		for _, f := range c.there {
			there = append(there, file(f, "---\nid: x\n---\n"))
		}
		all := ticketsOf(st, run, ticketSettings, there)
		if got := []string{all[0].TicketID, all[1].TicketID}; !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if name != "a huge number" {
			if got := upstreamsNext(append(c.there, all[0].File, all[1].File)); fmt.Sprintf("TKT-%04d", got) <= all[1].TicketID || got != upstreamsNext(c.there)+2 {
				t.Errorf("%s: upstream takes %d next", name, got)
			}
		}
		for _, written := range [][]int{{0}, {1}, {0, 1}} {
			left := slices.Clone(there)
			for _, i := range written {
				left = append(left, file(all[i].File, string(all[i].Body)))
			}
			for i, again := range ticketsOf(st, run, ticketSettings, left) {
				if again.Ticket != all[i].Ticket || (again.Body == nil) != slices.Contains(written, i) {
					t.Errorf("%s: after %v were written ticket %d is %+v, want %+v", name, written, i, again.Ticket, all[i].Ticket)
				}
			}
		}
	}
}

// reached returns a cycle whose goal contains both of its suggestions.
func reached(lang string) State {
	st := asked(lang)
	st.Status, st.Revision, st.Last = Reached, 8, &run.Last{Event: answered, At: "2026-03-28T23:30:00Z"}
	st.Goal = ptr(goalOf(st, &Given{Response: optAppropriate, Selected: []string{"s1", "s2"}}))
	return st
}

var ticketSettings = settings{Config: Config{TicketOwner: "operation-agent", TicketDueDays: 7}}

func TestTickets(t *testing.T) {
	const run = "20260302-msowd-sop-masking"
	all := ticketsOf(reached("ko"), run, ticketSettings, nil)
	if len(all) != 2 {
		t.Fatalf("%d tickets of two directives", len(all))
	}
	for i, m := range all {
		hex := engine.Sum([]byte("optimizer\n" + run + "\n8\ndirective:" + strconv.Itoa(i+1))).Hex()[:8]
		number := []string{"TKT-0001", "TKT-0002"}[i]
		name := number + "-" + []string{"희귀-라벨-검사-추가", "Split-the-slow-step"}[i] + ".md"
		want := Ticket{DirectiveID: strings.ToUpper(hex), TicketID: number, File: name, CreatedAt: "2026-03-28T23:30:00Z"}
		if diff := cmp.Diff(want, m.Ticket); diff != "" {
			t.Error(diff)
		}
		golden(t, []string{"ticket-ko.md", "ticket-second-ko.md"}[i], m.Body)
	}
	golden(t, "ticket-en.md", ticketsOf(reached("en"), run, ticketSettings, nil)[0].Body)
	body, err := schemas.Encode(Tickets{[]Ticket{all[0].Ticket, all[1].Ticket}})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "tickets.json", body)
	st := reached("ko")
	st.Goal = ptr(goalOf(st, nil))
	if all := ticketsOf(st, run, ticketSettings, nil); len(all) != 0 {
		t.Errorf("a timeout makes tickets: %v", all)
	}
}

// TestHostileTextStaysInItsLine parses the front matter of tickets as YAML, and line by line as
// upstream does.
func TestHostileTextStaysInItsLine(t *testing.T) {
	keys := []string{
		"id", "task_context_id", "task_id", "title", "status", "priority", "owner", "owner_agent", "dispatch_mode", "role", "objective",
		"workflow_name", "run_id", "due_by", "created", "updated", "dependencies", "tags", "directive_id",
	}
	check := func(t interface{ Fatalf(string, ...any) }, s string) {
		st := reached("en")
		st.WorkflowName, st.Suggestions[0].Text, st.Suggestions[1].Text = s, s, s+"x"
		st.Goal = ptr(goalOf(st, &Given{Response: optAppropriate, Selected: []string{"s1", "s2"}}))
		own := ticketSettings
		own.TicketOwner = s
		for i, m := range ticketsOf(st, "r", own, nil) {
			head, rest, ok := strings.Cut(strings.TrimPrefix(string(m.Body), "---\n"), "\n---\n")
			if !ok || !strings.HasPrefix(rest, "\n# "+m.TicketID+"\n\n- ") || strings.Count(rest, "\n") != 5 {
				t.Fatalf("%q: %q", s, m.Body)
			}
			var names []string
			for _, line := range strings.Split(head, "\n") {
				key, _, _ := strings.Cut(line, ": ")
				names = append(names, key)
			}
			if diff := cmp.Diff(keys, names); diff != "" {
				t.Fatalf("%q: %s", s, diff)
			}
			var found map[string]any
			var doc any
			if err := schemas.DecodeYAML("", "ticket", []byte(head+"\n"), &doc, schemas.YAMLLimits{}); err != nil {
				t.Fatalf("%q: %v\n%s", s, err, head)
			}
			found = doc.(map[string]any)
			want := templates.Line(st.Goal.OptimizationDirectives[i], 1000)
			if found["objective"] != want || found["workflow_name"] != templates.Line(s, 1000) || found["owner"] != templates.Line(s, 1000) || found["directive_id"] != m.DirectiveID {
				t.Fatalf("%q became %q", s, found)
			}
			if title, _ := found["title"].(string); title != templates.Line(want, 200) || !utf8.ValidString(title) {
				t.Fatalf("%q has the title %q", s, title)
			}
			if strings.ContainsAny(m.File, "/\\") || !strings.HasPrefix(m.File, m.TicketID+"-") {
				t.Fatalf("%q has the file %q", s, m.File)
			}
		}
	}
	for _, s := range append(hostileTexts, "a: b", "\"", "'", "\"\nid: TKT-1", "\n---\n", "---", "...", "%YAML 1.2", "!!str x", "&a *a", "{a: 1}", "null", "1", "\ufffe\uffff\ue000", strings.Repeat("가", 300)) {
		if !templates.Blank(s) {
			check(t, s)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		if s := rapid.StringN(1, 100, -1).Draw(t, "text"); !templates.Blank(s) && len(templates.Clean(s)) < 900 {
			check(t, s)
		}
	})
}
