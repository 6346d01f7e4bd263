package cli_test

import (
	"fmt"
	"strings"
	"testing"
)

// policyAttacks are on settings whose values can be tighter or looser, by anybody who can write
// placet.toml.
var policyAttacks = []attack{
	{"a tighter policy that nobody trusts yet", "the workspace asks for more than the default, nobody has agreed to that yet, and meanwhile the default holds", func(t *testing.T, p *place) {
		p.write("placet.toml", policyBy("never", "*design-review"))
		if deadline, effect := p.opensUnder(0); deadline != "null" || !strings.Contains(effect, "lets the step run") {
			t.Errorf("the deadline is %s, approval %s", deadline, effect)
		}
		const waits = "optimizer.hitl_timeout waits for trust: until you run `placet trust`, the stricter"
		p.says(p.must(3, "status"), waits)
		p.says(p.must(0, "trust"), "but of faber.destructive_steps, optimizer.hitl_timeout the tighter holds until you decide")
		out, _ := p.placet("doctor")
		p.says(out, "optimizer.hitl_timeout is not trusted: the stricter of the trusted and the new value applies")
	}},
	{"a tight policy taken out", "an agent takes the policy that was agreed to out of placet.toml, loosens it, or removes the file", func(t *testing.T, p *place) {
		p.write("placet.toml", policyBy("9000h", "*design-review"))
		p.must(0, "trust", "--yes")
		due, _ := p.opensUnder(0)
		for i, spoil := range []func(){
			func() { p.write("placet.toml", quick) },
			func() { p.write("placet.toml", policyBy("1s", "")) },
			func() { p.write("placet.toml", policyBy("48h", "*merge-pr")) },
		} {
			spoil()
			if deadline, effect := p.opensUnder(i + 1); deadline[:8] != due[:8] || !strings.Contains(effect, "lets the step run") {
				t.Errorf("spoilt in way %d: the deadline is %s instead of %s, approval %s", i, deadline, due, effect)
			}
			if p.listed("optimizer.hitl_timeout") == "" || p.listed("faber.destructive_steps") == "" {
				t.Errorf("spoilt in way %d: it does not wait for trust", i)
			}
		}
		p.write("placet.toml", quick)
		p.must(0, "trust", "--yes") // to none
		if p.listed("optimizer.hitl_timeout") != "" {
			t.Error("what was decided waits again")
		}
		if deadline, effect := p.opensUnder(9); deadline[:8] == due[:8] || strings.Contains(effect, "lets the step run") {
			t.Errorf("the deadline is %s, approval %s after somebody decided", deadline, effect)
		}
		// Earlier agreements count no more.
		p.write("placet.toml", policyBy("9000h", "*design-review"))
		if p.listed("optimizer.hitl_timeout") == "" {
			t.Error("an agreement of before counts again")
		}
	}},
}

const quick = "[optimizer]\ninputs_wait = \"0s\"\n"

func policyBy(timeout, step string) string {
	return fmt.Sprintf("%shitl_timeout = %q\n[faber]\ndestructive_steps = [%q]\n", quick, timeout, step)
}

// opensUnder opens two requests under the present settings: a cycle's, whose deadline it
// returns, and a run's, for which it returns what approval does.
func (p *place) opensUnder(i int) (deadline, effect string) {
	p.t.Helper()
	p.write(fmt.Sprintf(".mso-context/active/20260302-msowd-w%d/optimizer/trigger.json", i), `{"workflow_name": "sop"}`)
	p.runs = newPlace(p.t, p.root, i+1).runs
	p.placet("once")
	for _, name := range p.glob("request.json") {
		body := p.read(name)
		if strings.Contains(name, fmt.Sprintf("msowd-w%d/", i)) {
			_, after, _ := strings.Cut(body, `"deadline": `)
			deadline, _, _ = strings.Cut(after, ",\n")
		}
	}
	_, after, _ := strings.Cut(p.read(p.request(i)+"/form.md"), "approve: ")
	effect, _, _ = strings.Cut(after, "\n")
	return deadline, effect
}
