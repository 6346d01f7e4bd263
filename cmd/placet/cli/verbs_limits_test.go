package cli_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"placet/engine"
	"placet/engine/gate"
)

const sopCycle = ".mso-context/active/20260302-msowd-sop/optimizer"

// worded are the verbs that write a person's text, by their command line: the flag of the text,
// the file that holds it, and whether it holds a name.
var worded = map[string]struct {
	flag, file string
	named      bool
}{
	"faber cancel RUN":                               {"-m", "RUN/cancel.json", true},
	"afl pause shop":                                 {"-m", shop + "/control.json", true},
	"afl resume shop":                                {"-m", shop + "/control.json", true},
	"afl abort shop":                                 {"-m", shop + "/control.json", true},
	"adopt shop@DIGEST":                              {"-m", shop + "/events.jsonl", true},
	"optimizer stop 20260302-msowd-sop":              {"-m", sopCycle + "/stop.json", true},
	"optimizer demote 20260302-msowd-sop":            {"-m", sopCycle + "/inputs/level-error.json", false},
	"optimizer trigger sop --run 20260303-msowd-sop": {"--goal", ".mso-context/active/20260303-msowd-sop/optimizer/trigger.json", false},
}

// TestWordsAndNamesHaveTheLimitsOfAnAnswer gives each verb a text and a name at the limit of an
// answer and beyond it. Those that are accepted can be carried out.
func TestWordsAndNamesHaveTheLimitsOfAnAnswer(t *testing.T) {
	t.Parallel()
	words, name := strings.Repeat("x", 64<<10), strings.Repeat("k", gate.LongestUser)
	for verb, c := range worded {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 1)
			p.write(sopCycle+"/trigger.json", `{"workflow_name": "sop"}`)
			p.write(sopCycle+"/inputs/assets.json", `{"analysis_script": "a.py", "evaluation_script": "e.py"}`)
			p.write(".mso-context/active/20260303-msowd-sop/README.md", "")
			p.write("placet.toml", "")
			p.write(shop+"/specs/checkpoints.yaml", shopCheckpoints)
			p.once(3)
			file := strings.Replace(c.file, "RUN", p.runs[0], 1)
			digest := ""
			if strings.HasPrefix(verb, "adopt") {
				p.write(shop+"/state.json", p.completed())
				p.once(1)
				digest = engine.Sum([]byte(p.read(shop + "/state.json"))).Hex()
			}
			args := strings.Fields(strings.NewReplacer("RUN", filepath.Base(p.runs[0]), "DIGEST", digest).Replace(verb))
			before := p.read(file)
			words := words
			refused := map[string][]string{"has 65537 bytes of text: expected at most 65536. Put the rest into a file and name it.": {c.flag, words + "x"}}
			if c.named {
				p.says(p.must(2, slices.Concat(args, []string{c.flag, "why", "--as", name + "k"})...), "a name is one line of at most 100 visible characters")
			}
			if strings.HasPrefix(verb, "adopt") { // only the line of the journal has them
				refused["events.jsonl takes 65"] = []string{c.flag, words}
				words = words[:60_000]
			}
			for says, more := range refused {
				if out := p.must(1, slices.Concat(args, more)...); !strings.Contains(out, says) {
					t.Errorf("no %q in\n%.500s", says, out)
				}
			}
			if p.read(file) != before {
				t.Errorf("%s was written:\n%.500s", file, p.read(file))
			}
			args = append(args, c.flag, words)
			if c.named {
				args = append(args, "--as", name)
			}
			p.must(0, args...)
			if body := p.read(file); !strings.Contains(body, words) || c.named && !strings.Contains(body, name) {
				t.Errorf("%s does not hold what was said:\n%.500s", file, body)
			}
			if out, code := p.placet("once"); code != 0 && code != 3 {
				t.Errorf("it is not carried out: exit %d\n%.500s", code, out)
			}
			if out, code := p.placet("check"); code != 0 {
				t.Errorf("after it was carried out, check exits %d\n%.500s", code, out)
			}
		})
	}
}
