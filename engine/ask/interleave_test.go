package ask

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/internal/enginetest"
)

// interleavings is the number of orders that are tried; PLACET_INTERLEAVINGS sets another
// number, and PLACET_SEED the first seed.
const interleavings = 300

// In whatever order an agent, a person and placet act, an answer counts only for the text that
// its giver was shown. No void answer counts, and none counts while the file differs. Once the
// file is as it was asked about, an answer counts.
func TestAnswersCountForWhatWasSeenInAnyOrder(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("PLACET_INTERLEAVINGS"))
	if err != nil {
		n = interleavings
	}
	first, _ := strconv.ParseUint(os.Getenv("PLACET_SEED"), 10, 64)
	for seed := first; seed < first+uint64(n) && !t.Failed(); seed++ {
		tell(t, enginetest.Tree{dir + "/ask.json": `{"question": "Good?", "type": "approval", "artifacts": [{"path": "plan.md"}]}`, "plan.md": asked}, func(d *enginetest.Desk) {
			d.Lax = true
			o := &order{d: d, rand: rand.New(rand.NewPCG(seed, 27)), seen: map[engine.Digest]string{}, void: map[engine.Digest]bool{}}
			o.play()
			if t.Failed() {
				t.Logf("PLACET_SEED=%d PLACET_INTERLEAVINGS=1:\n%s", seed, strings.Join(o.story, "\n"))
			}
		})
	}
}

// asked is the text of the file when it is asked about, other the text by which an agent
// replaces it.
const asked, other = "eu-west first\n", "everywhere at once\n"

// order is one order of events.
type order struct {
	d     *enginetest.Desk
	rand  *rand.Rand
	story []string
	// seen has the text that the giver of an answer was shown, by the answer's digest; void are
	// the answers that placet has called void.
	seen map[engine.Digest]string
	void map[engine.Digest]bool
	// form is the text that an editor has open, and read the text that a person has read in the
	// file.
	form, formPath string
	read           string
	written        [][2]string // answers that were written once: paths and bodies
	swappedMidway  bool
	changed        time.Time // when the file was written last
}

func (o *order) play() {
	o.look()
	o.d.Pass(3 * time.Second) // nobody has read and answered before
	for range 4 + o.rand.IntN(16) {
		if o.step(); o.ended() {
			o.check()
			return
		}
	}
	o.counts()
}

// step does one of all possible things.
func (o *order) step() {
	steps := []struct {
		name string
		do   func()
	}{
		{"swap", func() { o.put(other) }},
		{"restore", func() { o.put(asked) }},
		{"restore with other line ends", func() { o.put(strings.ReplaceAll(asked, "\n", "\r\n")) }},
		{"remove", func() { o.d.Remove("plan.md") }},
		{"open the form", o.openForm},
		{"save the form", o.saveForm},
		{"read the file", o.readFile},
		{"answer for what was read", func() { o.respond("") }},
		{"answer, and say what was read", func() { o.respond(engine.Sum([]byte(o.read)).Hex()) }},
		{"put an earlier answer back", o.putBack},
		{"pass", o.look},
		{"pass", o.look},
		{"pass, and swap in its midst", func() { o.lookWhile(other) }},
		{"pass, and restore in its midst", func() { o.lookWhile(asked) }},
		{"restart", o.d.Restart},
		{"wait", func() { o.d.Pass(time.Duration(o.rand.IntN(3000)) * time.Millisecond) }},
	}
	one := steps[o.rand.IntN(len(steps))]
	o.story = append(o.story, one.name)
	one.do()
}

func (o *order) put(text string) {
	o.d.Put("plan.md", text)
	o.changed = o.d.Now()
}

// look makes placet look. An answer alone beside a file that has differed for two seconds is
// void from then on.
func (o *order) look() {
	o.d.Look()
	if o.d.Has("plan.md") && (isAsked(o.d.Read("plan.md")) || o.d.Now().Before(o.changed.Add(voidTime))) {
		return
	}
	var standing []engine.Digest
	for path, body := range o.d.Tree() {
		if sum := engine.Sum([]byte(body)); strings.HasPrefix(path, folder+"/") && o.seen[sum] != "" {
			standing = append(standing, sum)
		}
	}
	if len(standing) == 1 && isAsked(o.seen[standing[0]]) {
		o.void[standing[0]] = true
	}
}

// voidTime is how long a file must differ before the answers beside it are void.
const voidTime = 2 * time.Second

func isAsked(text string) bool { return strings.ReplaceAll(text, "\r", "") == asked }

// lookWhile makes placet look, and changes the file before one of placet's changes.
func (o *order) lookWhile(text string) {
	o.swappedMidway = true
	come := o.d.BeforeChange(1+o.rand.IntN(6), func() { o.put(text) })
	o.d.Look()
	if !come() {
		o.d.BeforeChange(0, nil)
	}
}

// openForm opens the form that placet names.
func (o *order) openForm() {
	if open := o.d.Account("deploy-14").Open; len(open) == 1 && o.d.Has(open[0].Form) {
		o.formPath, o.form = open[0].Form, o.d.Read(open[0].Form)
	}
}

// saveForm saves the form, ticked. Its text says what was seen.
func (o *order) saveForm() {
	if o.form == "" {
		return
	}
	if !strings.Contains(o.form, asked) {
		o.d.T.Fatalf("the form does not hold the text:\n%s", o.form)
	}
	body := strings.NewReplacer("- [ ] approve", "- [x] approve", "- [ ] submit", "- [x] submit").Replace(o.form)
	o.write(o.formPath, body, asked)
}

// readFile reads the file if it exists.
func (o *order) readFile() {
	if o.d.Has("plan.md") {
		o.read = o.d.Read("plan.md")
	}
}

// respond answers for the text that was read in the file. digest is the digest of that text, ""
// for none.
func (o *order) respond(digest string) {
	if o.read == "" {
		return
	}
	says := ""
	if digest != "" {
		says = fmt.Sprintf(`, "artifacts": [{"path": "plan.md", "sha256": %q}]`, digest)
	}
	o.write(folder+"/response.json", responseOf(fmt.Sprintf(`"response": "approve", "comment": "%d"%s`, len(o.written), says)), o.read)
}

func (o *order) write(path, body, seen string) {
	o.d.Put(path, body)
	o.written = append(o.written, [2]string{path, body})
	o.seen[engine.Sum([]byte(body))] = seen
}

// putBack makes an agent write an answer of the person again.
func (o *order) putBack() {
	if n := len(o.written); n > 0 {
		one := o.written[o.rand.IntN(n)]
		o.d.Put(one[0], one[1])
	}
}

// ended records what is void now, and reports whether the question is answered.
func (o *order) ended() bool {
	if o.d.Has(folder + "/void.json") {
		var v struct {
			Voids []struct {
				Answers []struct {
					SHA256 string `json:"sha256"`
				} `json:"answers"`
			} `json:"voids"`
		}
		if err := json.Unmarshal([]byte(o.d.Read(folder+"/void.json")), &v); err != nil {
			o.d.T.Fatal(err)
		}
		for _, one := range v.Voids {
			for _, a := range one.Answers {
				o.void[engine.Digest("sha256:"+a.SHA256)] = true
			}
		}
	}
	return o.d.Has(dir + "/answer.json")
}

// check compares the answer that was counted with what its giver saw.
func (o *order) check() {
	r, err := gate.ReadReceipt("receipt.json", []byte(o.d.Read(folder+"/receipt.json")))
	if err != nil {
		o.d.T.Fatal(err)
	}
	answer := engine.Digest("sha256:" + strings.TrimPrefix(r.Answer.SHA256, "sha256:"))
	switch seen, known := o.seen[answer]; {
	case !known:
		o.d.T.Errorf("an answer that nobody gave counts: %+v", r)
	case !isAsked(seen):
		o.d.T.Errorf("an answer to %q counts for %q", seen, asked)
	case o.void[answer]:
		o.d.T.Errorf("a void answer counts: %+v", r)
	case !o.swappedMidway && (!o.d.Has("plan.md") || !isAsked(o.d.Read("plan.md"))):
		o.d.T.Errorf("an answer counts although the file is another")
	}
}

// counts checks that an honest answer counts once the file is as it was asked about.
func (o *order) counts() {
	o.story = append(o.story, "at last")
	o.put(asked)
	o.d.Remove(folder + "/response.json")
	for range 4 {
		o.look()
		o.d.Pass(5 * time.Second)
	}
	o.openForm()
	o.saveForm()
	for range 4 {
		if o.look(); o.ended() {
			o.check()
			return
		}
		o.d.Pass(5 * time.Second)
	}
	o.d.T.Errorf("an honest answer does not count:\n%s\n%s", o.d.Notes(), o.formPath)
}
