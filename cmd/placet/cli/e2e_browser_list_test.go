package cli_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"placet/internal/browsertest"
)

// twins begins an AFL session whose checkpoints ask the same, and waits until they do.
func (p *place) twins(ids ...string) {
	p.t.Helper()
	p.configure("[afl]\nparallel_workers = 9\n")
	specs := "approved_at: 2026-01-19T10:30:00Z\ncheckpoints:\n"
	for _, id := range ids {
		specs += fmt.Sprintf("  - {id: %s, criteria: [it is well], validation: {command: make %s}}\n", id, id)
	}
	p.write(shop+"/specs/checkpoints.yaml", specs)
	p.placet("once")
	p.must(0, "trust", "--yes")
	for _, id := range ids {
		p.write(shop+"/delegations/"+id+"/pending-question.json", fmt.Sprintf(`{"timestamp": "2026-01-19T10:30:00Z", "checkpoint": %q, "question": "Which way for %s?"}`, id, id))
	}
	p.placet("once")
	if n := len(p.glob("form.md")); n != len(ids) {
		p.t.Fatalf("%d of %d ask", n, len(ids))
	}
}

// The list shows twenty questions at a glance, those with a deadline first and those of a run
// together. It narrows while somebody types, and has what was answered.
func TestBrowserLists(t *testing.T) {
	t.Parallel()
	browser := browsertest.Open(t)
	p := newPlace(t, t.TempDir(), 0)
	p.twins("cart", "login")
	p.askEach(22, twoOptions)
	p.write(".asks/last/ask.json", fmt.Sprintf(`{"question": "Before the deadline?", "deadline": %q, "options": [{"id": "yes"}, {"id": "no"}], "default": "no"}`, time.Now().Add(24*time.Hour).UTC().Format(time.RFC3339)))
	s := serveAt(p)
	p.until("all ask", func() bool { return len(p.glob("form.md")) == 25 })
	b := newTab(t, browser)
	b.login(s)
	b.Until("the list", `document.querySelectorAll("#list .card").length === 25 && !document.getElementById("live").hidden`)
	b.Do(chromedp.EmulateViewport(1440, 800))
	if n := browsertest.Eval[int](b.Tab, `[...document.querySelectorAll("#list .card")].filter((c) => c.getBoundingClientRect().bottom <= 800).length`); n < 20 {
		t.Errorf("%d questions are on a screen of 800 pixels", n)
	}
	questions := browsertest.Eval[string](b.Tab, `[...document.querySelectorAll("#list .card")].map((c) => c.innerText.replace(/\s+/g, " ")).join("\n")`)
	if first, _, _ := strings.Cut(questions, "\n"); !strings.HasPrefix(first, "Before the deadline?") || !strings.Contains(first, "then") {
		t.Errorf("the first is %q", first)
	}
	if n := browsertest.Eval[int](b.Tab, `document.querySelectorAll("#list .group .card").length`); n != 2 {
		t.Errorf("%d questions stand together", n)
	}
	b.States("2-groups")
	b.Looks(1440, "light")
	b.Do(chromedp.SendKeys(`#search`, "build 7"))
	b.Until("one is left", `[...document.querySelectorAll("#list .card")].filter((c) => c.checkVisibility()).length === 1 && document.querySelector("#list .group").hidden`)
	b.Do(chromedp.SendKeys(`#search`, "77"))
	b.Until("none is left, and the page says so", `[...document.querySelectorAll("#list .card")].every((c) => !c.checkVisibility()) && document.getElementById("none").checkVisibility()`)
	b.Quiet()

	// After an answer comes the next question, and says what became of the last.
	b.goes(s, askPath("q0007"))
	b.Until("its page", `!!document.getElementById("answer") && !document.getElementById("live").hidden`)
	b.Do(chromedp.Click(`input[name=option][value=wait]`), chromedp.Click(`#answer .primary`))
	b.Until("the next question", `!!document.querySelector("#before") && !!document.getElementById("answer") && document.getElementById("before").innerText.includes("Ask again tomorrow")`)
	b.States("3-next")
	b.goes(s, "/?tab=answered")
	b.Until("what was answered", `document.querySelectorAll("#list .card").length === 1 && document.querySelector("#list .card").innerText.includes("Ask again tomorrow")`)
	b.States("2-answered")
	b.goes(s, "/?tab=mine")
	b.Until("nothing names the reader", `document.querySelector(".empty h2").innerText.includes("names you as approver")`)
	b.States("2-mine")
	b.Quiet()
}

// Questions of a run with the same options are answered together. Each answer counts for what was
// shown of its question.
func TestBrowserAnswersTogether(t *testing.T) {
	t.Parallel()
	browser := browsertest.Open(t)
	p := newPlace(t, t.TempDir(), 0)
	p.twins("cart", "login", "search")
	s := serveAt(p)
	b := newTab(t, browser)
	b.login(s)
	b.Until("the list", `document.querySelectorAll("#list .group .card").length === 3`)
	b.Do(chromedp.Click(`.head a[href$="#together"]`))
	b.Until("the form", `!!document.querySelector("#together form") && !document.getElementById("live").hidden`)
	browsertest.Eval[int](b.Tab, `document.getElementById("together").open = true, 0`)
	b.States("6-together")
	b.Looks(1440, "light")
	b.Do(chromedp.Click(`#together .item:nth-of-type(1) input`), chromedp.Click(`#together .item:nth-of-type(2) input`), chromedp.Click(`#together input[value=answer]`))
	b.Do(chromedp.Click(`#together .primary`)) // without the comment that it needs
	if browsertest.Eval[bool](b.Tab, `document.querySelector("#together form").checkValidity()`) {
		t.Error("an answer without its comment can be sent")
	}
	b.Do(chromedp.SendKeys(`#together textarea`, "the shorter one"), chromedp.Click(`#together .primary`))
	b.Until("both are taken", `document.querySelectorAll("article.run .notice.good").length === 2`)
	b.Until("one is left", `document.querySelectorAll("#asks .ask[data-ask]").length === 1 && !document.getElementById("together")`)
	if n := len(p.glob("receipt.json")); n != 2 {
		t.Errorf("%d receipts", n)
	}
	b.Quiet()
}

// Without any script the same form works.
func TestBrowserAnswersTogetherWithoutScript(t *testing.T) {
	t.Parallel()
	browser := browsertest.Open(t)
	p := newPlace(t, t.TempDir(), 0)
	p.twins("cart", "login")
	s := serveAt(p)
	plain := newTab(t, browser)
	browsertest.Call(plain.Tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	plain.goes(s, "/login")
	plain.Do(chromedp.SendKeys(`#link`, s.link()), chromedp.Submit(`#link`), chromedp.WaitVisible(`#list .group .card`))
	plain.goes(s, "/runs/afl/shop")
	plain.Do(chromedp.WaitVisible(`#together summary`), chromedp.Click(`#together summary`), chromedp.WaitVisible(`#together .primary`))
	plain.Do(chromedp.Click(`#together .item input`), chromedp.Click(`#together input[value=escalate]`), chromedp.Click(`#together .primary`), chromedp.WaitVisible(`article.run .notice.good`))
	if n := len(p.glob("receipt.json")); n != 1 {
		t.Errorf("%d receipts", n)
	}
}
