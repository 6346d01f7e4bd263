package gate

import (
	"errors"
	"strings"
	"testing"

	"placet/engine"
)

// committedBy evaluates the files of a folder for which git gives one fact.
func committedBy(fact engine.Document, ok bool, approvers ...string) (Verdict, []string) {
	var asked []string
	a := asking(file("response.json", response("approve", ""), "owner:root"))
	a.Gate.Approvers = approvers
	a.Fact = func(need string) (engine.Document, bool) {
		asked = append(asked, need)
		return fact, ok
	}
	return judge(a), asked
}

func mailed(mail string) engine.Document { return engine.Document{Body: []byte(mail)} }

func TestACommittedAnswerIsItsCommittersClaim(t *testing.T) {
	for name, c := range map[string]struct {
		fact      engine.Document
		approvers []string
		want      string // what is known of the author; "" if the answer does not count
	}{
		"not by git":                      {mailed(""), nil, "owner:root claimed:jm"},
		"without git":                     {engine.Document{Err: engine.ErrAbsent}, nil, "owner:root claimed:jm"},
		"by git":                          {mailed("a@b"), nil, "committed:a@b claimed:jm"},
		"by git, nobody can tell by whom": {mailed("?"), nil, "committed:? claimed:jm"},
		"git cannot be asked":             {engine.Document{Err: errors.New("no")}, nil, "committed:? claimed:jm"},
		"the owner asked for":             {mailed("a@b"), []string{"owner:root"}, ""},
		"the bare mail asked for":         {mailed("a@b"), []string{"a@b"}, ""},
		"the committer asked for":         {mailed("a@b"), []string{"committed:a@b"}, "committed:a@b"},
		"another committer":               {mailed("a@b"), []string{"committed:c@d"}, ""},
		"nobody in particular":            {mailed("?"), []string{"committed:?"}, ""},
		"the claim asked for":             {mailed("a@b"), []string{"jm"}, "committed:a@b claimed:jm"},
	} {
		v, asked := committedBy(c.fact, true, c.approvers...)
		switch {
		case len(asked) != 1 || !strings.HasPrefix(asked[0], engine.CommitterNeed) || !strings.HasSuffix(asked[0], "/"+dir+"/response.json"):
			t.Errorf("%s: git is asked %q", name, asked)
		case c.want == "" && (v.Answer != nil || v.Problem == ""), c.want != "" && v.Answer == nil:
			t.Errorf("%s: %+v", name, v)
		case v.Answer != nil && strings.Join(v.Answer.Known, " ") != c.want:
			t.Errorf("%s: known as %q", name, v.Answer.Known)
		case v.Answer != nil && strings.Contains(c.want, "committed:") && v.Answer.By.Shown("en", v.Answer.Known) != v.Answer.By.User+" (committed)":
			t.Errorf("%s: shown as %q", name, v.Answer.By.Shown("en", v.Answer.Known))
		}
	}
	if v, _ := committedBy(engine.Document{}, false); v.Answer != nil {
		t.Errorf("it counts before git is asked: %+v", v)
	}
}

// Git is not asked about files that placet has written, or that would not count.
func TestGitIsNotAskedInVain(t *testing.T) {
	recorded := file("response.json", response("approve", ""), "api:ci")
	recorded.Source = "http"
	for name, d := range map[string]engine.Document{"recorded": recorded, "no option": file("response.json", response("perhaps", ""), "owner:root")} {
		a := asking(d)
		a.Fact = func(need string) (engine.Document, bool) {
			t.Errorf("%s: git is asked %s", name, need)
			return engine.Document{}, false
		}
		if v := judge(a); (v.Answer != nil) != (name == "recorded") || v.Answer != nil && v.Answer.By.Source != "http" {
			t.Errorf("%s: %+v", name, v)
		}
	}
}
