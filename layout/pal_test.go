package layout

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pgregory.net/rapid"
	"placet/templates"
)

const orchestration = PalRoot + "/shop"

func TestOrchestrations(t *testing.T) {
	ls := lister(
		orchestration+"/orchestration.json", PalRoot+"/A.b_c-9/state.json", PalRoot+"/"+strings.Repeat("x", 64)+"/x",
		PalRoot+"/a b/orchestration.json", PalRoot+"/shop.json/x", PalRoot+"/shop.bak/orchestration.json", PalRoot+"/.x/y", PalRoot+"/note.md", ".pal/config.yaml",
	)
	runs, err := Pal{}.Runs(ls)
	var ids []string
	for _, r := range runs {
		ids = append(ids, r.ID)
		if want := (Run{Family: "pal", ID: r.ID, Dir: PalRoot + "/" + r.ID, State: PalRoot + "/" + r.ID + "/state.json"}); !cmp.Equal(r, want) {
			t.Errorf("%+v", r)
		}
	}
	if diff := cmp.Diff([]string{"A.b_c-9", "shop", strings.Repeat("x", 64)}, ids); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	wrong, err := Pal{}.Misplaced(ls)
	want := []Misplaced{
		{PalRoot + "/a b", templates.Untranslated(`the name "a b" does not match ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`), true},
		{PalRoot + "/shop.bak", templates.Untranslated(`the name "shop.bak" looks like that of a document, a backup or a note`), true},
		{PalRoot + "/shop.json", templates.Untranslated(`the name "shop.json" looks like that of a document, a backup or a note`), false},
	}
	if diff := cmp.Diff(want, wrong, cmp.Transformer("words", templates.Message.String)); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if run, ok := (Pal{}).At(orchestration + "/sessions/build/a/impl/result-1.json"); !ok || run.Dir != orchestration {
		t.Errorf("%+v, %v", run, ok)
	}
	for _, p := range []string{"", ".pal", PalRoot, PalRoot + "/", PalRoot + "/x.json/state.json", PalRoot + "/../x", ".pal/config.yaml", "ports/a.md"} {
		if run, ok := (Pal{}).At(p); ok {
			t.Errorf("%s is in run %+v", p, run)
		}
	}
}

func TestFilesOfAnOrchestration(t *testing.T) {
	const mega = 1 << 20
	run, _ := Pal{}.At(orchestration)
	document := func(kind string, writer Writer) File { return File{Kind: kind, Writer: writer, Limit: mega} }
	text := func(kind string, once bool) File {
		return File{Kind: kind, Writer: Placet, Format: Text, Limit: mega, Once: once}
	}
	immutable := func(f File) File { f.Once = true; return f }
	impl, test := "sessions/build/A-1/impl/", "sessions/build/A-1/test/"
	for rel, want := range map[string]File{
		"orchestration.json":                                     document(PalOrchestration, Person),
		"control.json":                                           document(PalControl, Person),
		"plan.json":                                              {Kind: PalPlan, Writer: Placet, Limit: 16 * mega},
		"state.json":                                             {Kind: KindStateFile, Writer: Placet, Limit: 16 * mega},
		"events.jsonl":                                           {Kind: "events", Writer: Placet, Format: Text, Limit: mega, End: endPalEvents},
		"report.md":                                              text(PalReport, true),
		"problems/ports--a.md.problem.md":                        text(KindProblem, false),
		"problems/.pal--config.yaml.problem.md":                  text(KindProblem, false),
		"orchestration.json.problem.md":                          text(KindProblem, false),
		"escalations/esc-0123456789ab.json":                      document(PalEscalation, Placet),
		"channels/A-1/channel.json":                              document(PalChannel, Placet),
		"channels/A-1/messages/0001-impl-result.json":            immutable(document(PalMessage, Placet)),
		"channels/A-1/messages/0012-test-feedback.json":          immutable(document(PalMessage, Placet)),
		"channels/A-1/messages/0001-test-result.json":            document(PalMessage, Anyone), // it earns a note
		"channels/A-1/messages/0001-test-query.json":             document(PalMessage, Anyone),
		"channels/A-1/messages/banana.json":                      document(PalMessage, Anyone),
		"channels/A-1/messages/banana.json.problem.md":           text(KindProblem, false),
		"channels/A-1/receipts/0001-impl-result.delivered.json":  immutable(document(PalDelivered, Placet)),
		"channels/A-1/receipts/0001-impl-query.processed.json":   immutable(document(PalProcessed, Placet)),
		"sessions/build/session.json":                            document(PalSession, Placet),
		"sessions/build/escalation-1.json":                       document(PalFiled, Agent),
		"sessions/build/progress.json.problem.md":                text(KindProblem, false),
		"sessions/build/A-1/session.json":                        document(PalSession, Placet),
		"sessions/build/A-1/report.md":                           text(PalReport, true),
		"sessions/build/A-1/escalation-12.json":                  document(PalFiled, Agent),
		"sessions/build/A-1/progress.json.problem.md":            text(KindProblem, false),
		"sessions/build/A-1/reviewer/session.json":               document(PalSession, Agent),
		"sessions/build/A-1/reviewer/escalation-1.json":          document(PalFiled, Agent),
		"sessions/build/A-1/reviewer/progress.json.problem.md":   text(KindProblem, false),
		"sessions/build/A-1/reviewer/below/session.json":         document(PalSession, Agent), // it earns a note
		impl + "session.json":                                    document(PalSession, Placet),
		impl + "inbox/try-3.md":                                  text(PalInbox, true),
		impl + "inbox/message-0001-test-feedback.md":             text(PalInbox, true),
		impl + "inbox/answer-esc-0123456789ab.md":                text(PalInbox, true),
		impl + "result-1.json":                                   document(PalResult, Agent),
		impl + "result-01.json":                                  document(PalMisnamed, Agent),
		impl + "feedback-1.json":                                 document(PalMisnamed, Agent),
		impl + "result.json":                                     document(PalMisnamed, Agent),
		impl + "result-1.sync-conflict-20251206-181500-ABC.json": document(PalMisnamed, Agent),
		impl + "attempt-2-1.json":                                immutable(document(PalAttempt, Placet)),
		impl + "outcome-2-1.json":                                immutable(document(PalOutcome, Placet)),
		impl + "escalation-1.json":                               document(PalFiled, Agent),
		impl + "below/session.json":                              document(PalSession, Agent),
		impl + "progress.json.problem.md":                        text(KindProblem, false),
		test + "session.json":                                    document(PalSession, Placet),
		test + "inbox/try-1.md":                                  text(PalInbox, true),
		test + "feedback-1.json":                                 document(PalFeedback, Agent),
		test + "feedback-1.json.problem.md":                      text(KindProblem, false),
		test + "result-1.json":                                   document(PalMisnamed, Agent),
		test + "attempt-1-1.json":                                immutable(document(PalAttempt, Placet)),
		test + "outcome-1-1.json":                                immutable(document(PalOutcome, Placet)),
		test + "escalation-1.json":                               document(PalFiled, Agent),
		test + "progress.json.problem.md":                        text(KindProblem, false),
		"requests/esc-0123456789ab/form.md":                      {Kind: KindForm, Writer: Reviewer, Format: Text, Limit: mega, Request: "esc-0123456789ab"},
	} {
		f, ok := Pal{}.File(run, rel)
		if diff := cmp.Diff(want, f); diff != "" || !ok {
			t.Errorf("%s: %v (-want +got):\n%s", rel, ok, diff)
		}
		for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
			if !(Pal{}).Descend(run, dir) {
				t.Errorf("nobody looks into %s", dir)
			}
		}
	}
	for _, rel := range []string{
		"", ".", "specs/a.md", "plan.json.tmp", "state.yaml", "sessions/session.json", "sessions/plan/session.json", "sessions/build/a b/session.json",
		"sessions/build/progress.json", "sessions/build/A-1/progress.json", impl + "progress.json", "sessions/build/A-1/reviewer/progress.json",
		"sessions/build/A-1/reviewer/result-1.json", "sessions/build/A-1/reviewer/below/below/session.json", "sessions/build/A-1/impl", "sessions/build/report.md",
		impl + "attempt-1.json", impl + "attempt-01-1.json", impl + "outcome-1-0.json", impl + "inbox/note.md", impl + "inbox/try-01.md", impl + "result-1.json.tmp",
		"escalations/esc-1.json", "escalations/esc-0123456789AB.json", "channels/A-1/receipts/banana.delivered.json", "channels/A-1/messages/0001-impl-query.md",
		"channels/A-1/messages/.0001-impl-query.json", "channels/A-1/receipts/0001-impl-query.delivered.json.bak",
	} {
		if f, ok := (Pal{}).File(run, rel); ok {
			t.Errorf("%s is %+v", rel, f)
		}
	}
}

func TestProgressIsVolatile(t *testing.T) {
	for rel, want := range map[string]bool{
		"sessions/build/progress.json": true, "sessions/build/a/progress.json": true, "sessions/build/a/impl/progress.json": true, "sessions/build/a/test/progress.json": true,
		"sessions/build/a/reviewer/progress.json": true, "sessions/build/a/reviewer/below/progress.json": false, "sessions/progress.json": false, "progress.json": false,
		"sessions/build/a/x.tmp/progress.json": false, "sessions/build/a/impl/progress.json.problem.md": false, "sessions/build/a/impl/session.json": false, "sessions/build": false,
	} {
		if got := (Pal{}).Volatile(Run{}, rel); got != want {
			t.Errorf("%s is volatile: %v", rel, got)
		}
	}
}

func TestIDsOfOrchestrationsAndPorts(t *testing.T) {
	for id, want := range map[string]bool{
		"a": true, "port-002": true, "A.b_c-9": true, "x.jsonl": true, "mdx": true, strings.Repeat("x", 64): true,
		"": false, "x.json": false, "x.md": false, "x.problem.md": false, "x.tmp": false, "4913": false, "-a": false, ".a": false, "a b": false, "a/b": false, "é": false, strings.Repeat("x", 65): false,
	} {
		if IsPalID(id) != want {
			t.Errorf("%q is an id: %v", id, !want)
		}
	}
}

func TestNamesOfOrchestrationsThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		port := rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9_-]{0,9}`).Filter(IsPalID).Draw(t, "port")
		try, start := rapid.IntRange(1, 999_999_999).Draw(t, "try"), rapid.IntRange(1, 999_999_999).Draw(t, "start")
		role := rapid.SampledFrom([]string{PalImpl, PalTest}).Draw(t, "role")
		seq, typ := rapid.IntRange(1, 9999).Draw(t, "seq"), rapid.SampledFrom([]string{"result", "feedback", "query", "ack", "banana"}).Draw(t, "type")
		name := fmt.Sprintf("%04d-%s-%s", seq, role, typ)
		for rel, kind := range map[string]string{
			PalResultFile(port, try): PalResult, PalFeedbackFile(port, try): PalFeedback, PalAttemptFile(port, role, try, start): PalAttempt,
			PalOutcomeFile(port, role, try, start): PalOutcome, PalChannelFile(port): PalChannel, PalMessageFile(port, name): PalMessage,
			PalReceiptFile(port, name, palDelivered): PalDelivered, PalReceiptFile(port, name, palProcessed): PalProcessed,
			PalInboxFile(port, role, fmt.Sprintf("try-%d.md", try)): PalInbox, PalInboxFile(port, role, "message-"+name+".md"): PalInbox,
			PalFiledFile("build", start): PalFiled, PalFiledFile("build/"+port, start): PalFiled, PalFiledFile("build/"+port+"/"+role, start): PalFiled,
			PalEscalationFile("esc-0123456789ab"): PalEscalation, PalSessionFile("build/"+port, "session.json"): PalSession, PalPortDir(port) + "/report.md": PalReport,
		} {
			if f, ok := (Pal{}).File(Run{}, rel); !ok || f.Kind != kind {
				t.Fatalf("%s is %+v, expected a %s", rel, f, kind)
			}
		}
		for rel, role := range map[string]string{PalResultFile(port, try): PalImpl, PalFeedbackFile(port, try): PalTest} {
			if p, r, n, ok := PalTry(rel); !ok || p != port || r != role || n != try {
				t.Fatalf("%s is try %d of %s of %s, %v", rel, n, r, p, ok)
			}
		}
		if s, r, ty, ok := PalMessageName(name); !ok || s != seq || r != role || ty != typ {
			t.Fatalf("%s is message %d of %s, a %s, %v", name, s, r, ty, ok)
		}
	})
	for _, name := range []string{"", "0000-impl-query", "001-impl-query", "00001-impl-query", "0001-operator-query", "0001-impl-", "0001-impl-a/b", "0001-impl-query.json", "0001-impl-QUERY"} {
		if seq, role, typ, ok := PalMessageName(name); ok {
			t.Errorf("%q is message %d of %s, a %s", name, seq, role, typ)
		}
	}
	for _, rel := range []string{"", "sessions/build/a/impl/result-01.json", "sessions/build/a/test/result-1.json", "sessions/build/a/impl/attempt-1-1.json", "orchestration.json"} {
		if port, role, try, ok := PalTry(rel); ok {
			t.Errorf("%s is try %d of %s of %s", rel, try, role, port)
		}
	}
}
