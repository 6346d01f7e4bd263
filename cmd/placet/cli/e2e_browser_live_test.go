package cli_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"placet/internal/browsertest"
)

// These tests look at the page of a run while it goes on.

// plannedSession is an AFL session of several levels: checkpoint → what it depends on.
var plannedSession = [][]string{
	{"schema"}, {"settings"}, {"storage", "schema"}, {"http", "schema", "settings"}, {"cart", "storage"}, {"prices", "storage"},
	{"login", "http"}, {"checkout", "cart", "prices", "login"}, {"docs", "settings"}, {"release", "checkout", "docs"},
}

const plan = ".afl/sessions/plan"

// plansSession begins the session. A checkpoint passes once its file below checks/ says so.
func (p *place) plansSession() {
	p.t.Helper()
	p.configure("[afl]\nmax_iterations = 2\nparallel_workers = 3\nescalate_on_pattern = false\napproval_quiet = \"0s\"\nauto_retry_delay = \"0s\"\nshell = [\"sh\", \"-c\"]\n")
	specs := "approved_at: 2026-01-19T10:30:00Z\ncheckpoints:\n"
	for _, c := range plannedSession {
		p.write("checks/"+c[0]+".sh", "echo "+c[0]+": all is well\n")
		specs += fmt.Sprintf("  - {id: %s, dependencies: [%s], criteria: [it is well], validation: {command: sh checks/%s.sh, expected: \"%s: all is well\"}}\n", c[0], strings.Join(c[1:], ", "), c[0], c[0])
	}
	p.write("checks/http.sh", "echo FAIL: http answers 500\nexit 1\n")
	p.write(plan+"/specs/checkpoints.yaml", specs)
	p.placet("once")
	if out, code := p.placet("trust", "--yes"); code != 0 {
		p.t.Fatal(out)
	}
}

// hands hands an attempt in as soon as its prompt is there.
func (p *place) hands(id string, attempt int) {
	p.t.Helper()
	at := fmt.Sprintf("%s/delegations/%s/iterations/%d/", plan, id, attempt)
	p.until("attempt "+id, func() bool { return p.there(at + "prompt.md") })
	p.saved(at+"worker.json", fmt.Sprintf(`{"checkpoint": %q, "iteration": %d, "status": "completed", "changed_files": ["checks/%s.sh"]}`+"\n", id, attempt, id))
}

// isNode waits until a node of the page's plan has a status.
func (b *tab) isNode(id, status string) {
	b.t.Helper()
	b.Until(id+" is "+status, fmt.Sprintf(`document.querySelector('[data-node=%q] .state').firstChild.textContent === %q`, id, status))
}

// The page of a run follows the run, and its requests are answered there.
func TestBrowserFollowsARun(t *testing.T) {
	t.Parallel()
	browser := browsertest.Open(t)
	p := newPlace(t, t.TempDir(), 0)
	p.write(".git/HEAD", "ref: refs/heads/main\n")
	p.plansSession()
	s := serveAt(p)
	b := newTab(t, browser)
	b.login(s)
	b.goes(s, "/runs/afl/plan")
	b.Until("the plan", `document.querySelectorAll(".graph .node").length === 10 && !document.getElementById("live").hidden`)
	p.hands("schema", 1)
	b.isNode("schema", "completed")
	p.hands("settings", 1)
	b.isNode("settings", "completed")
	p.hands("storage", 1)
	p.hands("http", 1)
	p.hands("http", 2)
	b.isNode("http", "escalated")
	b.Until("the form is there", `!!document.querySelector(".ask form.answer") && !document.getElementById("asks").hidden`)

	b.States("8-plan")
	if crossed := browsertest.Eval[int](b.Tab, `[...document.querySelectorAll(".line.critical")].length`); crossed != 4 {
		t.Errorf("%d lines on the critical path", crossed)
	}
	// Text that is being typed stays while the page changes.
	b.Looks(1200, "light")
	b.Do(chromedp.SendKeys(`.ask textarea[name=comment]`, "the port was taken"))
	p.hands("cart", 1)
	b.isNode("cart", "completed")
	if words := browsertest.Eval[string](b.Tab, `document.querySelector(".ask textarea[name=comment]").value`); words != "the port was taken" {
		t.Errorf("the words typed are gone: %q", words)
	}
	p.write("checks/http.sh", "echo http: all is well\n")
	if out, code := p.placet("trust", "--yes"); code != 0 {
		t.Fatal(out)
	}
	second := newTab(t, browser)
	second.login(s)
	second.goes(s, "/runs/afl/plan")
	second.Until("the form", `!!document.querySelector(".ask form.answer")`)
	if browsertest.Eval[bool](b.Tab, `!document.querySelector(".ask input[name=attempts]").disabled`) {
		t.Error("attempts can be given without the option that takes them")
	}
	b.Do(chromedp.Click(`.ask input[name=option][value=retry_more]`), chromedp.SendKeys(`.ask input[name=attempts]`, "4"), chromedp.Click(`.ask .primary`))
	b.Until("the receipt", `!!document.querySelector(".receipt, #before")`)
	second.Until("it is answered elsewhere", `document.querySelector(".ask .fields").disabled && !document.querySelector(".ask .elsewhere").hidden`)
	receipt := ""
	for _, name := range p.glob("receipt.json") {
		receipt += p.read(name)
	}
	if !regexp.MustCompile(`"response": *"retry_more"`).MatchString(receipt) || !strings.Contains(receipt, "the port was taken") {
		t.Errorf("receipt: %s", receipt)
	}
	if state := p.read(plan + "/state.json"); !regexp.MustCompile(`"attempts": *4`).MatchString(state) {
		t.Errorf("the number of attempts is not in the state: %s", state)
	}
	p.hands("http", 3)
	second.isNode("http", "completed")
	b.Quiet()
	second.Quiet()

	// Without any script the page shows everything, and the form works.
	p.write("checks/login.sh", "echo FAIL: nobody logs in\nexit 1\n")
	if out, code := p.placet("trust", "--yes"); code != 0 {
		t.Fatal(out)
	}
	p.hands("login", 1)
	p.hands("login", 2)
	second.isNode("login", "escalated")
	plain := newTab(t, browser)
	browsertest.Call(plain.Tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	plain.goes(s, "/login")
	plain.Do(chromedp.SendKeys(`#link`, s.link()), chromedp.Submit(`#link`), chromedp.WaitVisible(`#list .card .cover`))
	plain.goes(s, "/runs/afl/plan")
	plain.Do(chromedp.WaitVisible(`.graph .node`), chromedp.WaitVisible(`.ask form.answer`), chromedp.Click(`.ask input[name=option][value=skip_forced]`), chromedp.Click(`.ask .primary`), chromedp.WaitVisible(`.receipt, #before`))
	second.isNode("login", "aborted")
}

const shopPorts = ".pal/orchestrations/shop"

// The page of an orchestration works as that of an AFL session does: it shows the progress of
// its workers, a failed test, and an escalation that is answered there.
func TestBrowserFollowsAnOrchestration(t *testing.T) {
	t.Parallel()
	browser := browsertest.Open(t)
	p := newPlace(t, t.TempDir(), 0)
	p.write(".git/HEAD", "ref: refs/heads/main\n")
	p.write(shopPorts+"/orchestration.json", `{"title": "a shop", "max_retries": 2, "ports": [
		{"port_id": "orders", "body": "Order entity"}, {"port_id": "prices", "body": "Prices"}, {"port_id": "cart", "body": "A cart", "depends_on": ["orders", "prices"]},
		{"port_id": "mails", "body": "Mails", "depends_on": ["orders"]}, {"port_id": "checkout", "body": "Checkout", "depends_on": ["cart", "mails"]}]}`)
	s := serveAt(p)
	b := newTab(t, browser)
	b.login(s)
	impl := shopPorts + "/sessions/build/orders/impl"
	p.until("the pair is asked", func() bool { return p.there(impl + "/inbox/try-1.md") })
	b.goes(s, "/runs/pal/shop")
	b.Until("the plan", `document.querySelectorAll(".graph .node").length === 5 && !document.getElementById("live").hidden`)
	progress := func(value float64, task string, used int) {
		p.saved(impl+"/progress.json", fmt.Sprintf(`{"progress": %v, "current_task": %q, "tokens_used": %d}`, value, task, used))
	}
	shows := func(what, percent string) {
		t.Helper()
		b.Until(what, fmt.Sprintf(`(document.querySelector('.worker[data-session="shop/build/orders/impl"] .percent') || {}).textContent === %q`, percent))
	}
	progress(0.2, "reading the port", 1000)
	shows("the first progress", "20 %")
	browsertest.Eval[int](b.Tab, `(window.first = document.querySelector('.worker[data-session="shop/build/orders/impl"]'), 0)`)
	for i := range 20 {
		progress(0.3+float64(i)/100, "writing the entity", 2000+i)
	}
	shows("the last progress", "49 %")
	if !browsertest.Eval[bool](b.Tab, `first === document.querySelector('.worker[data-session="shop/build/orders/impl"]') && first.querySelector(".tokens").textContent.startsWith("2019 ")`) {
		t.Errorf("the bar: %s", browsertest.Eval[string](b.Tab, `document.querySelector(".bars").innerText`))
	}
	if journal := p.read(shopPorts + "/events.jsonl"); strings.Contains(journal, "worker.progress") {
		t.Errorf("progress is in the journal: %s", journal)
	}
	for try := range 2 {
		p.saved(fmt.Sprintf("%s/result-%d.json", impl, try+1), `{"status": "ready", "summary": "order entity", "changed_files": ["order.go"], "tokens_used": 5100}`)
		p.until("the test is asked", func() bool {
			return p.there(fmt.Sprintf("%s/sessions/build/orders/test/inbox/try-%d.md", shopPorts, try+1))
		})
		p.saved(fmt.Sprintf("%s/sessions/build/orders/test/feedback-%d.json", shopPorts, try+1), `{"success": false, "failed_tests": [{"name": "TestTotal", "expected": "3", "actual": "2"}]}`)
		if try == 0 {
			p.until("the next try", func() bool { return p.there(impl + "/inbox/try-2.md") })
		}
	}
	b.isNode("orders", "blocked")
	b.Until("the form is there", `!!document.querySelector(".ask form.answer")`)
	b.States("8-orchestration")
	b.Looks(1200, "light")
	b.Do(chromedp.Click(`.ask input[name=option][value=retry]`), chromedp.Click(`.ask .primary`))
	b.Until("the receipt", `!!document.querySelector(".receipt, #before")`)
	b.goes(s, "/runs/pal/shop")
	b.isNode("orders", "running")
	b.Quiet()
}

const phasedRun = "acme/web/0000dead-0000-4000-8000-000000000001"

// phases makes a FABER run of five phases, in the third of which it waits for a person.
func (p *place) phases() {
	p.t.Helper()
	dir := ".fractary/faber/runs/" + phasedRun
	p.write(dir+"/state.json", fmt.Sprintf(`{
  "run_id": %q, "work_id": "7", "status": "awaiting_feedback", "current_phase": "build", "current_step": "review", "last_event_id": 1,
  "updated_at": "2026-11-20T10:00:00Z",
  "phases": {
    "frame": {"status": "completed", "steps": [{"id": "fetch", "status": "completed"}, {"id": "classify", "status": "completed"}]},
    "architect": {"status": "completed", "steps": [{"id": "specification", "status": "completed"}, {"id": "threat-model", "status": "skipped"}]},
    "build": {"status": "in_progress", "steps": [{"id": "implement", "status": "completed"}, {"id": "review", "status": "in_progress"}, {"id": "document", "status": "pending"}]},
    "evaluate": {"status": "pending", "steps": [{"id": "test", "status": "pending"}]},
    "release": {"status": "pending", "steps": [{"id": "publish", "status": "pending"}]}
  },
  "feedback_request": {"request_id": "fr-20261120-0dead1", "type": "review", "prompt": "Is the change good?", "requested_at": "2026-11-20T10:00:00Z"},
  "resume_point": {"phase": "build", "step": "review", "step_index": 1}
}
`, phasedRun))
	p.write(dir+"/metadata.json", fmt.Sprintf(`{"run_id": %q, "workflow_id": "none"}`, phasedRun))
	p.write(dir+"/events/001-step_start.json", fmt.Sprintf(`{"event_id": 1, "type": "step_start", "timestamp": "2026-11-20T09:59:00.000Z", "run_id": %q, "phase": "build", "step": "review"}`, phasedRun))
	p.write(dir+"/events/.next-id", "2\n")
}
