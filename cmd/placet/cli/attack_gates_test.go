package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// gateAttacks change who may answer, by anybody who can write placet.toml.
var gateAttacks = []attack{
	{"gates that nobody trusts yet", "the workspace names its approvers, nobody has agreed to that yet, and meanwhile anybody's answer counts", func(t *testing.T, p *place) {
		p.askedOnce(t)
		p.write("placet.toml", gatesBy("kim"))
		p.write(p.request(0)+"/response.json", p.response(0, "approve", ""))
		p.movesNothing("lets only `kim` answer")
		p.says(p.problem(), "Until you run `placet trust`, the stricter of the trusted and the new `[gates]`")
		const waits = "[gates] waits for trust: until you run `placet trust`, the stricter"
		p.says(p.must(1, "inbox"), waits)
		p.says(p.must(1, "status"), waits)
		p.says(p.must(1, "approve", p.reference(), "--as", "tester"), "lets only `kim` answer", "Until you run `placet trust`, the stricter of the trusted and the new `[gates]`")
		p.remove(p.request(0) + "/response.json")
		p.says(p.must(0, "approve", p.reference(), "--as", "kim"), waits)
		p.must(0, "once")
		p.verify(0, "approve")
	}},
	{"gates taken out", "an agent takes the gates that were agreed to out of placet.toml, exchanges them, or removes the file", func(t *testing.T, p *place) {
		p.askedOnce(t)
		p.write("placet.toml", gatesBy("kim"))
		p.must(0, "trust", "--yes")
		for what, spoil := range map[string]func(){
			"taken out":  func() { p.write("placet.toml", "language = \"en\"\n") },
			"exchanged":  func() { p.write("placet.toml", gatesBy("tester")) },
			"opened":     func() { p.write("placet.toml", "[gates]\n\"*\" = { approvers = [] }\n") },
			"narrowed":   func() { p.write("placet.toml", "[gates]\n\"faber/approval\" = { approvers = [\"tester\"] }\n") },
			"in no file": func() { p.remove("placet.toml") },
		} {
			spoil()
			p.write(p.request(0)+"/response.json", p.response(0, "approve", ""))
			if p.onceMoved(0) {
				t.Fatalf("%s: anybody's answer counts", what)
			}
			p.says(p.problem(), "does not count: its author is known as", "Until you run `placet trust`, the stricter of the trusted and the new `[gates]`")
			if p.listed("gates") == "" {
				t.Errorf("%s: it does not wait for trust", what)
			}
		}
		p.write("placet.toml", "")
		p.must(0, "trust", "--yes") // to no gates
		if p.listed("gates") != "" {
			t.Error("what was agreed to waits again")
		}
		p.write(p.request(0)+"/response.json", p.response(0, "approve", ""))
		if !p.onceMoved(0) {
			t.Errorf("without gates it does not count: %s", p.problem())
		}
	}},
	{"trust that decides an old conflict", "an answer that was refused lies there until its gate opens, and then counts though nobody looked at it again", func(t *testing.T, p *place) {
		p.runs = newPlace(t, p.root, 3).runs
		p.placet("once")
		p.write("placet.toml", gatesBy("kim"))
		for i := range p.runs {
			p.write(p.request(i)+"/response.json", p.response(i, "approve", "looks good"))
		}
		p.remove(p.request(1) + "/response.json")
		p.write(p.request(1)+"/form.md", p.ticked(1, "approve"))
		p.write("placet.toml", "[gates]\n\"*\" = { approvers = [] }\n")
		p.must(0, "trust", "--yes")
		for range 2 { // it holds for every process to come
			p.must(1, "once")
			for i := range p.runs {
				if p.answered(i) {
					t.Fatalf("trust carried out the old answer: %s", p.read(p.request(i)+"/receipt.json"))
				}
				p.says(p.read(p.request(i)+"/problem.md"), "was saved before somebody decided which `[gates]` hold", "Save it again to confirm it")
			}
		}
		p.says(p.must(0, "approve", p.requestReference(0), "--as", "kim"), "answered")
		now := time.Now()
		for i, name := range map[int]string{1: "form.md", 2: "response.json"} {
			if err := os.Chtimes(filepath.Join(p.root, p.request(i), name), now, now); err != nil {
				t.Fatal(err)
			}
		}
		p.must(0, "once")
		for i := range p.runs {
			p.verify(i, "approve")
		}
		p.says(p.read(p.request(0)+"/receipt.json"), `"user": "kim"`, `"comment": "looks good"`)
	}},
	{"a revocation that decides an old conflict", "the same, where agreement to the gate is taken back", func(t *testing.T, p *place) {
		p.askedOnce(t)
		p.write("placet.toml", gatesBy("kim"))
		p.must(0, "trust", "--yes")
		p.write(p.request(0)+"/response.json", p.response(0, "approve", ""))
		if p.onceMoved(0) {
			t.Fatal("it counts")
		}
		p.remove("placet.toml")
		p.must(0, "trust", "--revoke", "gates")
		if p.onceMoved(0) || !strings.Contains(p.problem(), "was saved before somebody decided") {
			t.Errorf("the revocation carried out the old answer, or the note does not say why not: %s", p.problem())
		}
		p.write(p.request(0)+"/response.json", p.response(0, "approve", ""))
		if !p.onceMoved(0) {
			t.Errorf("saved again it does not count: %s", p.problem())
		}
	}},
}

func gatesBy(who string) string { return "[gates]\n\"*\" = { approvers = [\"" + who + "\"] }\n" }

// requestReference is a request as the listing of its run names it.
func (p *place) requestReference(i int) string {
	p.t.Helper()
	out, _ := p.placet("inbox", "--short")
	for line := range strings.Lines(out) {
		if _, after, ok := strings.Cut(line, p.requestID(i)+"@"); ok {
			return p.requestID(i) + "@" + after[:min(len(after), strings.IndexAny(after+" ", " \n"))]
		}
	}
	p.t.Fatalf("no %s in %s", p.requestID(i), out)
	return ""
}
