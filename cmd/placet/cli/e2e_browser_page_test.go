package cli_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"placet/engine/ask"
	"placet/internal/browsertest"
)

// reviewed is a difference of two pairs of lines.
const reviewed = "--- a/price.go\n+++ b/price.go\n@@ -1,4 +1,4 @@\n func Total() int {\n-\treturn 1\n-\t// one\n+\treturn 2\n+\t// two\n }\n"

// reviews asks about files of several kinds, and serves the question.
func (p *place) reviews() *site {
	p.write("plan.md", "# Rollout\n\nFirst **eu-west**.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```yaml\nimage: shop\n```\n")
	p.write("deploy.yaml", strings.Repeat("# a comment\nimage: \"shop:1.4\"\n", 60))
	p.write("change.diff", reviewed)
	p.write("settings.yaml", "replicas: 1\n")
	for i := range 4 {
		p.write(fmt.Sprintf(".asks/review-%d/ask.json", i), `{"question": "Deploy 1.4?\n\nThe tests are *green*.", "type": "approval", "artifacts": [{"path": "plan.md"}, {"path": "change.diff"}, {"path": "deploy.yaml"}]}`)
	}
	p.write(".asks/settings/ask.json", `{"question": "Are the settings good?", "type": "approval", "artifacts": [{"path": "settings.yaml"}]}`)
	p.write(".asks/regions/ask.json", `{"question": "Which regions?", "type": "multi", "options": [{"id": "eu"}, {"id": "us"}]}`)
	s := serveAt(p)
	p.until("all ask", func() bool { return len(p.openForms()) == 6 })
	return s
}

func askPath(id string) string { return "/requests/" + percent("ask/"+id, ask.RequestID(id)) }

// at opens the page of an ask.
func (b *tab) at(s *site, id string) {
	b.t.Helper()
	b.goes(s, askPath(id))
	b.Until("the page of "+id, `document.body.dataset.page === "request" && !!document.querySelector(".act") && !document.getElementById("live").hidden`)
}

// The page shows first what it is about, as it was shown, with colours and lines that have
// numbers; the answer stays in sight beside it.
func TestBrowserReviews(t *testing.T) {
	t.Parallel()
	browser := browsertest.Open(t)
	p := newPlace(t, t.TempDir(), 0)
	s := p.reviews()
	b := newTab(t, browser)
	b.login(s)
	b.at(s, "review-0")
	b.States("3-review")
	top := func(selector string) int {
		return browsertest.Eval[int](b.Tab, fmt.Sprintf(`Math.round(document.querySelector(%q).getBoundingClientRect().top)`, selector))
	}
	b.Looks(1240, "light")
	if q, file, facts := top("h1"), top(".artifact"), top(".about"); q >= file || file >= facts {
		t.Errorf("the question is at %d, its files at %d, run and id at %d", q, file, facts)
	}
	if removed, added := top("del"), top("ins"); removed != added {
		t.Errorf("side by side what was removed is at %d and what was added at %d", removed, added)
	}
	browsertest.Eval[int](b.Tab, `scrollTo(0, document.body.scrollHeight), 0`)
	b.Until("the answer stays in sight", `document.querySelector(".act .press.yes").getBoundingClientRect().top > 0 && document.querySelector(".act .press.no").getBoundingClientRect().bottom < innerHeight`)
	browsertest.Eval[int](b.Tab, `scrollTo(0, 0), 0`)
	b.Looks(360, "light")
	if removed, added := top("del"), top("ins"); removed >= added {
		t.Errorf("one below the other what was removed is at %d and what was added at %d", removed, added)
	}
	b.Until("the bar is at the bottom", `Math.abs(document.querySelector(".actbar").getBoundingClientRect().bottom - innerHeight) < 2 && document.querySelectorAll(".actbar .press").length === 2`)
	b.Looks(1024, "dark")
	for what, is := range map[string]string{
		"Markdown is rendered":       `document.querySelector(".artifact .prose table td").textContent === "1" && document.querySelector(".artifact .prose h3").textContent === "Rollout"`,
		"YAML has colours":           `getComputedStyle(document.querySelector(".k-com")).color !== getComputedStyle(document.querySelector(".k-str")).color`,
		"lines have numbers":         `getComputedStyle(document.querySelector(".artifact > details > .code > code > span"), "::before").content.includes("counter")`,
		"the buttons look different": `getComputedStyle(document.querySelector(".act .press.yes")).backgroundColor !== getComputedStyle(document.querySelector(".act .press.no")).backgroundColor`,
		"each has its effect":        `[...document.querySelectorAll(".act .press")].every((b) => b.parentElement.querySelector(".effect").textContent.length > 5)`,
	} {
		b.Until(what, is)
	}
	// What changed since it was shown stands in the file's place, and nobody can answer.
	b.at(s, "settings")
	p.write("settings.yaml", "replicas:  1\n")
	b.Until("the form is closed, and says what can be done", `!document.querySelector(".press.yes") || document.querySelector(".press.yes").disabled`)
	b.at(s, "settings")
	b.Until("what changed", `document.querySelector(".artifact .diff del").innerText.includes("-replicas: 1") && document.querySelector(".artifact .diff ins").innerText.includes("+replicas:  1") && !!document.querySelector(".act .outdated") && !document.querySelector(".act form")`)
	b.States("3-changed")
	b.Quiet()
}

// One press answers, after five seconds in which it can be taken back; keys do the same.
func TestBrowserActs(t *testing.T) {
	t.Parallel()
	browser := browsertest.Open(t)
	p := newPlace(t, t.TempDir(), 0)
	s := p.reviews()
	b := newTab(t, browser)
	b.login(s)
	b.Until("the list", `document.querySelectorAll("#list .card").length === 6`)
	pending := `!document.getElementById("undo").hidden && document.querySelector(".press[aria-pressed]")?.dataset.option === %q`
	isPending := func(option string) { b.Until(option+" is about to be sent", fmt.Sprintf(pending, option)) }
	back := func() {
		t.Helper()
		b.Until("it was taken back", `document.getElementById("undo").hidden && !document.querySelector(".press[aria-pressed]")`)
	}
	b.at(s, "review-0")
	browsertest.Eval[int](b.Tab, `(window.setInterval = () => 0, 0)`) // time stands still
	b.Do(chromedp.Click(`.act .press.yes`))
	isPending("approve")
	b.States("3-pending")
	b.Looks(1240, "light")
	if browsertest.Eval[bool](b.Tab, `dispatchEvent(new Event("beforeunload", { cancelable: true }))`) {
		t.Error("the page can be left unasked while an answer waits to be sent")
	}
	b.Do(chromedp.Click(`#undo-it`))
	back()
	b.at(s, "review-1")
	b.Do(chromedp.Click(`.act .press.yes`))
	isPending("approve")
	b.key("u")
	back()
	b.key("r")
	isPending("reject")
	b.key("a")
	isPending("approve")
	b.key("u")
	back()
	b.key("c")
	b.Until("the comment has the focus", `document.activeElement.name === "comment"`)
	b.Do(chromedp.SendKeys(`#answer textarea[name=comment]`, "arou"))
	back()
	browsertest.Eval[int](b.Tab, `document.activeElement.blur(), 0`)
	if rc := p.receiptOf(ask.RequestID("review-1")); rc != "" {
		t.Fatalf("it was sent: %s", rc)
	}
	b.key("r")
	isPending("reject")
	b.key("\r")
	b.Until("the receipt", `!!document.querySelector(".receipt, #before")`)
	if rc := p.receiptOf(ask.RequestID("review-1")); !strings.Contains(rc, `"reject"`) || !strings.Contains(rc, "arou") {
		t.Errorf("receipt: %s", rc)
	}
	// Left alone, it is sent by itself.
	b.at(s, "review-2")
	b.Do(chromedp.Click(`.act .press.yes`))
	b.Until("the receipt", `!!document.querySelector(".receipt, #before")`)
	if rc := p.receiptOf(ask.RequestID("review-2")); !strings.Contains(rc, `"approve"`) {
		t.Errorf("receipt: %s", rc)
	}
	// The keys lead to the next question of the list.
	b.goes(s, "/")
	b.Until("the list", `document.querySelectorAll("#list .card").length === 4 && sessionStorage.getItem("placet.list") !== null`)
	first := browsertest.Eval[string](b.Tab, `JSON.parse(sessionStorage.getItem("placet.list"))[0]`)
	b.goes(s, first)
	b.Until("its page, and the script at work", `location.pathname === JSON.parse(sessionStorage.getItem("placet.list"))[0] && !document.getElementById("live").hidden`)
	b.key("j")
	b.Until("the next page", `location.pathname === JSON.parse(sessionStorage.getItem("placet.list"))[1] && !document.getElementById("live").hidden`)
	b.key("k")
	b.Until("the page before", `location.pathname === JSON.parse(sessionStorage.getItem("placet.list"))[0]`)
	// What is not allowed together cannot be ticked.
	b.at(s, "regions")
	b.Do(chromedp.Click(`input[name=option][value=eu]`))
	b.Until("none is not offered", `document.querySelector("input[value=none]").disabled && !document.querySelector("input[value=us]").disabled`)
	b.Do(chromedp.Click(`input[name=option][value=eu]`), chromedp.Click(`input[name=option][value=none]`))
	b.Until("none alone", `document.querySelector("input[value=eu]").disabled && document.querySelector("input[value=us]").disabled`)
	b.Quiet()

	// Without any script the options are chosen, and the answer is sent by its button.
	plain := newTab(t, browser)
	browsertest.Call(plain.Tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	plain.goes(s, "/login")
	plain.Do(chromedp.SendKeys(`#link`, s.link()), chromedp.Submit(`#link`), chromedp.WaitVisible(`#list .card .cover`))
	plain.goes(s, askPath("review-3"))
	plain.Do(chromedp.WaitVisible(`#answer`), chromedp.Click(`input[name=option][value=approve]`))
	if rc := p.receiptOf(ask.RequestID("review-3")); rc != "" {
		t.Errorf("a click on the option answers: %s", rc)
	}
	plain.Do(chromedp.Click(`#answer .primary`), chromedp.WaitVisible(`.receipt, #before`))
}

// A form in which nobody's answer would count is closed, and says so.
func TestBrowserFormsThatCannotCountAreClosed(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	p.configure("[gates]\n\"*\" = { approvers = [\"owner:somebody-else\"] }\n")
	p.write(".asks/x/ask.json", `{"question": "Is it fine?", "type": "approval"}`)
	page := serveAt(p).pageOf(t, "x")
	if strings.Contains(page, `<form class="answer"`) || !strings.Contains(page, "you may not answer this request: [gates] names who may") {
		t.Errorf("the form: %s", page)
	}
}

// Script and styles stay small.
func TestWhatPagesLoadIsSmall(t *testing.T) {
	for name, most := range map[string]int64{"app.js": 20 << 10, "app.css": 30 << 10} {
		if f, err := os.Stat("../web/static/" + name); err != nil || f.Size() > most {
			t.Errorf("%s has %d bytes, %d are allowed (%v)", name, f.Size(), most, err)
		}
	}
}
