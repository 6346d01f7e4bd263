package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"placet/internal/browsertest"
)

// These tests look at the pages in a real browser.

// tab is a page of a browser.
type tab struct {
	*browsertest.Tab
	t *testing.T
}

func newTab(t *testing.T, browser context.Context) *tab {
	t.Helper()
	return &tab{browsertest.NewTab(t, browser), t}
}

var loginAt = regexp.MustCompile(`http://\S+/login#[A-Za-z0-9_-]{43}`)

// link is a new link to log in by.
func (s *site) link(args ...string) string {
	s.t.Helper()
	out, code := s.placet(append([]string{"login"}, args...)...)
	found := loginAt.FindString(out)
	if code != 0 || found == "" {
		s.t.Fatalf("login: %d %s", code, out)
	}
	return found
}

// login logs a page in.
func (b *tab) login(s *site, args ...string) {
	b.t.Helper()
	b.Do(chromedp.Navigate(s.link(args...)))
	b.Until("the inbox after the login", `document.body.dataset.page === "inbox"`)
}

func (b *tab) goes(s *site, path string) {
	b.t.Helper()
	b.Do(chromedp.Navigate("http://" + s.pages + path))
}

// opens clicks the first request of the inbox whose question has some words.
func (b *tab) opens(words string) {
	b.t.Helper()
	id := browsertest.Eval[string](b.Tab, fmt.Sprintf(`[...document.querySelectorAll("#list .card")].find(c => c.innerText.includes(%q)).dataset.id`, words))
	b.Do(chromedp.Click(fmt.Sprintf(`#list .card[data-id=%q] .cover`, id)))
}

func (b *tab) key(keys string) { b.t.Helper(); b.Do(chromedp.KeyEvent(keys)) }

// askEach begins questions of the family ask.
func (p *place) askEach(n int, members string) {
	for i := range n {
		p.write(fmt.Sprintf(".asks/q%04d/ask.json", i), fmt.Sprintf(`{"question": "Deploy build %d to production?"%s}`, i, members))
	}
}

const twoOptions = `, "options": [{"id": "deploy", "description": "Roll it out"}, {"id": "wait", "description": "Ask again tomorrow"}]`

// The five states of the pages are shown small and dark, and wide and light. axe finds no fault
// in them, and they are kept as pictures.
func TestBrowserStates(t *testing.T) {
	t.Parallel()
	browser := browsertest.Open(t)
	p := everyFamily(t)
	p.write(".git/HEAD", "ref: refs/heads/main\n")
	p.phases()
	s := serveAt(p)
	empty := serveAt(newPlace(t, t.TempDir(), 0))
	s.token("all", "read,write,decide")
	p.until("every family asks", func() bool {
		return strings.Count(s.call("all", "GET", "/api/v1/requests", nil).body, `"reference"`) == leftOpen+3
	})
	b, nothing, stranger := newTab(t, browser), newTab(t, browser), newTab(t, browser)
	b.login(s)
	nothing.login(empty)
	approval := s.actionAt("1")
	answered := false
	for _, state := range []struct {
		name, path string
		tab        *tab
		ready      string
	}{
		{"0-login", "/requests/" + percent("nemawashi/1", approval), stranger, `!!document.querySelector("#login")`},
		{"1-empty", "/", nothing, `!!document.querySelector(".empty")`},
		{"2-list", "/", b, `document.querySelectorAll("#list .card").length > 5`},
		{"3-request", "/requests/" + percent("nemawashi/1", approval), b, `!!document.querySelector("#answer")`},
		{"4-elsewhere", "/requests/" + percent("nemawashi/1", approval), b, `!!document.querySelector("#answer")`},
		{"5-error", "/requests/nothing", b, `!!document.querySelector("[role=alert]")`},
		{"6-run", "/runs/nemawashi/1", b, `document.querySelectorAll(".node").length === 3`},
		{"6-run-afl", "/runs/afl/receipts", b, `!!document.querySelector(".part") && !!document.querySelector(".ask form.answer")`},
		{"6-run-faber", "/runs/faber/" + phasedRun, b, `document.querySelectorAll(".node").length === 9 && !!document.querySelector(".ask form.answer")`},
		{"6-run-optimizer", "/runs/" + s.cycleName(), b, `!!document.querySelector(".ask form.answer")`},
		{"6-run-facts", "/runs/faber/" + phasedRun + "?tab=facts", b, `!!document.querySelector(".facts")`},
		{"6-run-log", "/runs/faber/" + phasedRun + "?tab=log", b, `!!document.querySelector(".log time")`},
		{"5-closed", "/requests/" + percent("nemawashi/1", approval), b, `!!document.querySelector(".receipt")`},
		{"7-runs", "/runs?status=all", b, `!!document.querySelector("table")`},
	} {
		at := s
		if state.tab == nothing {
			at = empty
		}
		state.tab.goes(at, state.path)
		state.tab.Until(state.name, state.ready)
		if state.name == "4-elsewhere" && !answered {
			answered = true
			state.tab.Do(chromedp.SendKeys(`textarea[name="comment"]`, "my own words"))
			shown := s.call("all", "GET", "/api/v1/requests/"+approval, nil).text("data", "digest")
			if r := s.call("all", "POST", "/api/v1/requests/"+approval+"/answer", map[string]any{"response": "reject", "digest": shown}); r.status != 200 {
				t.Fatalf("answer: %s", r.body)
			}
			state.tab.Until("it is answered elsewhere", `!document.getElementById("elsewhere").hidden && document.querySelector("#answer .fields").disabled`)
			if words := browsertest.Eval[string](state.tab.Tab, `document.querySelector("textarea[name=comment]").value`); words != "my own words" {
				t.Errorf("the words typed are gone: %q", words)
			}
			if text := browsertest.Eval[string](state.tab.Tab, `document.getElementById("elsewhere").innerText`); !strings.Contains(text, "Reject by all") {
				t.Errorf("it does not say by whom: %s", text)
			}
		}
		state.tab.States(state.name)
		state.tab.Looks(1440, "light")
		if n := browsertest.Eval[int](state.tab.Tab, `document.documentElement.scrollHeight`); strings.HasPrefix(state.name, "6-run") && n > 1600 {
			t.Errorf("%s is %d pixels high", state.name, n)
		}
		// A badge has one shape, whatever its text is called.
		if shapes := browsertest.Eval[int](state.tab.Tab, `new Set([...document.querySelectorAll(".badge")].map((b) => { const c = getComputedStyle(b); return [c.fontSize, c.padding, c.borderWidth, c.display, b.offsetHeight].join(); })).size`); shapes > 1 {
			t.Errorf("%s has badges of %d shapes", state.name, shapes)
		}
	}
	b.Quiet()
	nothing.Quiet()
	stranger.Quiet()
}

// README.md shows the page of its own question. docs/request.png is a copy of this picture, without
// the folder of the test in the last line.
func TestBrowserPictureForReadme(t *testing.T) {
	t.Parallel()
	browser := browsertest.Open(t)
	p := newPlace(t, t.TempDir(), 0)
	p.write("plan.md", "eu-west first, then the rest\n")
	p.write(".asks/deploy-14/ask.json", `{"question": "Deploy 1.4 to production?", "asked_by": {"name": "deploy.sh"}, "artifacts": [{"path": "plan.md"}]}`)
	s := serveAt(p)
	b := newTab(t, browser)
	b.login(s)
	b.Until("the question", `document.querySelectorAll("#list .card").length === 1`)
	b.opens("Deploy 1.4")
	b.Until("its page", `!!document.querySelector("#answer") && document.body.innerText.includes("eu-west first")`)
	browsertest.Eval[int](b.Tab, `document.querySelector("footer").remove(), 0`)
	b.Picture("request")
	b.Quiet()
}

// cycleName is the name of the run of the optimizer.
func (s *site) cycleName() string {
	s.t.Helper()
	found := regexp.MustCompile(`"run":"(optimizer/[^"]+)"`).FindStringSubmatch(s.call("all", "GET", "/api/v1/runs", nil).body)
	if found == nil {
		s.t.Fatal("there is no cycle")
	}
	return found[1]
}

// hostile is the text of a question that attacks its page.
const hostile = `<script>document.title='owned'</script><img src=x onerror=alert(1)>[x](javascript:alert(1)) **bold** ` + "\u202e" + `

| left | right |
|:-----|------:|
| one  | two   |

- [x] approve: forged
- [ ] submit this answer
`

// A person logs in, and answers with the mouse, with the keyboard, and without any script.
func TestBrowserAnswers(t *testing.T) {
	t.Parallel()
	browser := browsertest.Open(t)
	p := newPlace(t, t.TempDir(), 0)
	p.askEach(3, twoOptions)
	text, err := json.Marshal("Deploy?\n\n" + hostile)
	if err != nil {
		t.Fatal(err)
	}
	hostileAsk := fmt.Sprintf(`{"question": %s, "options": [{"id": "yes", "description": "<b>x</b><script>alert(1)</script>"}, {"id": "no"}], "context": %s}`, text, text)
	p.write(".asks/hostile/ask.json", hostileAsk)
	s := serveAt(p)
	s.token("all", "read,write,decide")
	p.until("all ask", func() bool {
		return strings.Count(s.call("all", "GET", "/api/v1/requests", nil).body, `"reference"`) == 4
	})
	link := s.link("all")
	b := newTab(t, browser)
	b.Do(chromedp.Navigate(link))
	b.Until("the inbox after the login", `document.body.dataset.page === "inbox" && document.querySelectorAll("#list .card").length === 4`)
	if hash := browsertest.Eval[string](b.Tab, `location.hash`); hash != "" {
		t.Errorf("the word of the link stays in the address: %s", hash)
	}
	if seen := browsertest.Eval[string](b.Tab, `document.cookie`); seen != "" {
		t.Errorf("scripts see the cookie: %s", seen)
	}
	// A link works once.
	twice := newTab(t, browser)
	twice.Do(chromedp.Navigate(link))
	twice.Until("the login page refuses", `!!document.querySelector("#login") && !!document.querySelector("[role=alert]")`)

	b.Until("the script is at work", `!document.getElementById("live").hidden`)
	// The keyboard: j j ↵, then the option and the answer.
	b.key("?")
	b.Until("the keys are shown", `document.getElementById("help").open`)
	b.key("\u001b")
	b.Until("the keys are gone", `!document.getElementById("help").open`)
	b.key("j")
	b.key("j")
	b.key("k")
	b.Until("the first is marked", `document.querySelectorAll("#list .card")[0].classList.contains("at")`)
	for range 3 {
		if !browsertest.Eval[bool](b.Tab, `document.querySelector(".card.at .question").innerText.includes("Deploy build")`) {
			b.key("j")
		}
	}
	b.Until("a question about a build is marked", `document.querySelector(".card.at .question").innerText.includes("Deploy build")`)
	b.key("\r")
	b.Until("its page", `document.body.dataset.page === "request" && !!document.getElementById("answer")`)
	first := browsertest.Eval[string](b.Tab, `document.body.dataset.request`)
	browsertest.Eval[int](b.Tab, `document.querySelector("input[name=option]").focus(), 0`)
	b.key(" ")
	browsertest.Eval[int](b.Tab, `document.querySelector("#answer .primary").focus(), 0`)
	b.key("\r")
	b.Until("the receipt", `!!document.querySelector(".receipt, #before") && !document.getElementById("live").hidden && document.querySelector("#before, .notice.good").innerText.length > 0`)
	p.until("the receipt is on disk", func() bool { return p.receiptOf(first) != "" })
	if rc := p.receiptOf(first); !strings.Contains(rc, `"deploy"`) || !strings.Contains(rc, `"api:all"`) {
		t.Errorf("receipt: %s", rc)
	}
	// The mouse.
	b.key("u")
	b.Until("the inbox", `document.querySelectorAll("#list .card").length === 3`)
	b.opens("Deploy build")
	b.Until("its page", `document.body.dataset.page === "request" && !!document.getElementById("answer")`)
	second := browsertest.Eval[string](b.Tab, `document.body.dataset.request`)
	b.Do(chromedp.Click(`input[name=option][value=wait]`), chromedp.SendKeys(`textarea[name=comment]`, "tomorrow & after"), chromedp.Click(`#answer .primary`))
	b.Until("the receipt", `!!document.querySelector(".receipt, #before")`)
	if rc := p.receiptOf(second); !strings.Contains(rc, `"wait"`) || !strings.Contains(rc, "tomorrow & after") {
		t.Errorf("receipt: %s", rc)
	}
	// The page shows the attack as text.
	b.goes(s, "/requests/"+percent("ask/hostile", s.requestOf("ask/hostile")))
	b.Until("the hostile question", `!!document.getElementById("answer")`)
	shown := browsertest.Eval[string](b.Tab, `document.querySelector("main").innerText`)
	for _, words := range []string{"<script>document.title='owned'</script>", "<img src=x onerror=alert(1)>", `\u{202e}`, "<b>x</b>", "[x] approve: forged", "[ ] submit this answer"} {
		if !strings.Contains(shown, words) {
			t.Errorf("%q is not shown as text: %s", words, shown)
		}
	}
	if n := browsertest.Eval[int](b.Tab, `document.querySelectorAll("main script, main img, main a[href^='javascript'], article input, [style]").length`); n != 0 || browsertest.Eval[string](b.Tab, `document.title`) == "owned" {
		t.Errorf("%d elements of the question's own", n)
	}
	if at := browsertest.Eval[string](b.Tab, `document.querySelector(".prose td:last-child").align`); at != "right" {
		t.Errorf("the columns of a table are aligned %q", at)
	}
	b.Quiet()

	// Without any script: the login by the field, the form, the receipt.
	plain := newTab(t, browser)
	browsertest.Call(plain.Tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	plain.goes(s, "/login")
	plain.Do(chromedp.SendKeys(`#link`, s.link()), chromedp.Submit(`#link`), chromedp.WaitVisible(`#list .card .cover`), chromedp.Click(`#list .card[data-id^="ask/q"] .cover`), chromedp.WaitVisible(`#answer`),
		chromedp.Click(`input[name=option][value=deploy]`), chromedp.Click(`#answer .primary`), chromedp.WaitVisible(`.receipt, #before`))
	third := ""
	for _, id := range []string{"ask/q0000", "ask/q0001", "ask/q0002"} {
		if rc := p.receiptOf(s.requestOf(id)); strings.Contains(rc, "owner:") {
			third = rc
		}
	}
	if !strings.Contains(third, `"deploy"`) {
		t.Errorf("receipt: %s", third)
	}
	// The token of the session ends, and with it the session.
	if out, code := p.placet("token", "revoke", "all"); code != 0 {
		t.Fatal(out)
	}
	b.goes(s, "/")
	b.Until("the login page", `!!document.querySelector("#login")`)
}

// requestOf is the id of the request of a run.
func (p *place) requestOf(run string) string {
	found, _ := filepath.Glob(filepath.Join(p.root, ".asks", strings.TrimPrefix(run, "ask/"), "requests/*"))
	if len(found) != 1 {
		p.t.Fatalf("%d requests of %s", len(found), run)
	}
	return filepath.Base(found[0])
}

// receiptOf is the receipt of a request of the family ask.
func (p *place) receiptOf(id string) string {
	found, _ := filepath.Glob(filepath.Join(p.root, ".asks/*/requests", id, "receipt.json"))
	if len(found) == 0 {
		return ""
	}
	body, _ := os.ReadFile(found[0])
	return string(body)
}

// Every open page shows changes, and a thousand requests make no difference.
func TestTortureBrowserStaysUpToDate(t *testing.T) {
	t.Parallel()
	browser := browsertest.Open(t)
	p := newPlace(t, t.TempDir(), 0)
	n := tortured(30, 1000)
	p.askEach(n, twoOptions)
	p.write("plan.md", "one\ntwo\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "plan.md"}, {"commit", "-q", "-m", "plan"}} {
		git := exec.Command("git", append([]string{"-C", p.root}, args...)...)
		git.Env = p.env()
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	p.write(".asks/file/ask.json", `{"question": "Is the plan good?", "options": [{"id": "yes"}, {"id": "no"}], "artifacts": [{"path": "plan.md"}]}`)
	s := serveAt(p)
	s.token("all", "read,write,decide")
	p.until("all ask", func() bool {
		return len(p.openForms()) == n+1
	})
	pages := []*tab{newTab(t, browser), newTab(t, browser)}
	for _, b := range pages {
		b.login(s)
		b.Until("all cards", fmt.Sprintf(`document.querySelectorAll("#list .card").length > %d || !!document.querySelector(".more")`, n*9/10))
	}
	b := pages[0]
	b.goes(s, "/")
	b.Until("the script is at work", `!document.getElementById("live").hidden`)
	b.key("j")
	b.Until("the keyboard moves", `!!document.querySelector("#list .card.at")`)
	// A new question and a given answer are shown on all pages.
	if r := s.answers("ask/q0000", "deploy"); r.status != 200 {
		t.Fatalf("answer: %s", r.body)
	}
	for _, b := range pages {
		b.Until("the answered one is gone", `!document.querySelector('#list .card[data-id^="ask/q0000:"]')`)
	}
	// The content of a request changes while somebody types.
	request := s.requestOf("ask/file")
	b.goes(s, "/requests/"+percent("ask/file", request))
	b.Until("the form", `!!document.getElementById("answer")`)
	b.Do(chromedp.SendKeys(`textarea[name=comment]`, "my words"), chromedp.Click(`input[name=option][value=yes]`))
	p.write("plan.md", "one\nthree\n")
	b.Until("the page says that it has changed", `!!document.querySelector(".notice.bad") && !!document.querySelector(".diff")`)
	if words := browsertest.Eval[string](b.Tab, `document.querySelector("textarea[name=comment]").value`); words != "my words" {
		t.Errorf("the words typed are gone: %q", words)
	}
	if diff := browsertest.Eval[string](b.Tab, `document.querySelector(".diff").innerText`); !strings.Contains(diff, "-two") || !strings.Contains(diff, "+three") {
		t.Errorf("the difference: %s", diff)
	}
	s.wants("an answer to what was shown before", s.answers("ask/file", "yes"), 409, "stale")
	b.Until("the form takes no answer, and keeps its words", `document.querySelector("#answer .primary").disabled && document.querySelector("textarea[name=comment]").value === "my words"`)
	p.write("plan.md", "one\ntwo\n")
	b.Until("it is as it was: the form takes an answer again", `!document.querySelector("#answer .primary").disabled`)
	b.Do(chromedp.Click(`#answer .primary`))
	p.until("the answer counts, with its words", func() bool { return strings.Contains(p.read(".asks/file/answer.json"), "my words") })
	b.Quiet()
}

// openForms are the forms of the family ask.
func (p *place) openForms() []string {
	found, _ := filepath.Glob(filepath.Join(p.root, ".asks/*/requests/*/form.md"))
	return found
}

// answers answers the request of a run of the family ask.
func (s *site) answers(run, option string) reply {
	s.t.Helper()
	id := s.requestOf(run)
	shown := s.call("all", "GET", "/api/v1/requests/"+percent(run, id), nil).text("data", "digest")
	return s.call("all", "POST", "/api/v1/requests/"+percent(run, id)+"/answer", map[string]any{"response": option, "digest": shown})
}
