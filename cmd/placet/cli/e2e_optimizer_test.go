package cli_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"placet/engine/optimizer"
)

// way is a way to judge a cycle's report.
type way int

const (
	byForm    way = iota // raise, s1 and a comment
	byFile               // lower, s2 and a comment, in response.json
	bySilence            // nothing before the deadline, then a late answer
	byComment            // a comment alone, in the form
	bySecond             // raise and s2, in the form: the goal has no issue
	byThird              // appropriate and s1, in response.json: likewise
)

// judgement is the answer of a way.
type judgement struct {
	level, item, comment string
	form                 bool
}

var judgements = map[way]judgement{
	byForm:    {"raise", "s1", "희귀 라벨 | look again", true},
	byFile:    {"lower", "s2", "too much work", false},
	bySilence: {"raise", "s1", "I was away", false},
	byComment: {"", "", "look at the masks", true},
	bySecond:  {"raise", "s2", "", true},
	byThird:   {"appropriate", "s1", "", false},
}

// These are the ways in which a workflow's cycles carry out their level.
const (
	levelTen = iota
	levelTwentyByAgent
	levelTwentyByCommand
	levelKinds
)

// chain is a workflow with two cycles: the first is triggered, and its open goal begins the
// second. Two runs complete for that goal, and one of them takes it up.
type chain struct {
	n        int
	root     string // .mso-context or workspace/.mso-context
	workflow string
	kind     int
	ways     [2]way
}

func newChain(n int) *chain {
	c := &chain{n: n, root: []string{".mso-context", "workspace/.mso-context"}[(n+n/4)%2], workflow: fmt.Sprintf("work %03d", n), kind: n % levelKinds}
	c.ways = [2]way{way(n % 4), []way{bySecond, byThird}[n/2%2]}
	if c.ways[0] == bySilence {
		c.ways[1] = bySilence // what happens to a request without an answer is a setting of the workflow
	}
	return c
}

// run is the k-th run of the chain; the last two compete.
func (c *chain) run(k int) string { return fmt.Sprintf("202603%02d-msowd-case-%03d", k+1, c.n) }

// at is a file of the k-th run's cycle.
func (c *chain) at(k int, name string) string {
	return c.root + "/active/" + c.run(k) + "/optimizer/" + name
}

// cycles are workflows in both roots, with agents, reviewers and upstream's tools played by the
// test, a daemon that is killed again and again, and a program that locks the databases.
type cycles struct {
	*place
	chains []*chain
	rng    *rand.Rand
	kills  int // how often the daemon was killed

	mu sync.Mutex
	// said are the requests that were answered, ended the chains whose next runs have
	// completed, and wrote the rows of others by database.
	said, ended map[string]bool
	wrote       map[string]int
}

// analyseScript carries a level out.
const analyseScript = `for n in 1 2 3; do echo "{\"record_id\": \"r$n\", \"metric\": \"precision\", \"value\": 8$n}"; done > "$PLACET_OUT"
`

// Cycles reach their goals while the daemon is killed at any moment and another program locks
// the databases: no answer, no goal and no row is lost or doubled.
func TestTortureCyclesSurviveKillNine(t *testing.T) {
	t.Parallel()
	n := tortured(8, 60)
	c := newCycles(t, n/2, rand.New(rand.NewPCG(11, 5)))
	c.run()
	c.settle()
	c.verify()
	t.Logf("%d cycles, %d kills, %v rows of others", n, c.kills, c.wrote)
}

// newCycles makes a workspace in which the first cycle of every chain is prepared.
func newCycles(t *testing.T, n int, rng *rand.Rand) *cycles {
	t.Helper()
	c := &cycles{
		place: newPlace(t, filepath.Join(t.TempDir(), "workspace"), 0), rng: rng,
		said: map[string]bool{}, ended: map[string]bool{}, wrote: map[string]int{},
	}
	c.write("placet.toml", "")
	c.write("scripts/analyse.sh", analyseScript)
	settings := "[optimizer]\nlanguage = \"en\"\n[optimizer.workflows]\n"
	for i := range n {
		ch := newChain(i)
		c.chains = append(c.chains, ch)
		settings += ch.settings()
		for k := range 3 {
			c.prepare(ch, k)
		}
	}
	c.write("../home-workspace/placet/placet.toml", settings)
	if out, code := c.placet("trust", "--yes"); code != 0 {
		t.Fatalf("trust: %d: %s", code, out)
	}
	return c
}

func (c *chain) settings() string {
	timeout, commands := "48h", ""
	if c.ways[0] == bySilence {
		timeout = "1s"
	}
	if c.kind == levelTwentyByCommand {
		commands = `, analysis = ["sh", "scripts/analyse.sh"], evaluation = ["sh", "scripts/analyse.sh"], idempotent = true`
	}
	return fmt.Sprintf("%q = { hitl_timeout = %q, inputs_wait = \"0s\"%s }\n", c.workflow, timeout, commands)
}

// prepare writes the inputs of a run, except the file that begins its cycle.
func (c *cycles) prepare(ch *chain, k int) {
	assets, kpi := `{}`, `{}`
	if ch.kind != levelTen {
		assets, kpi = `{"analysis_script": "scripts/analyse.sh"}`, `{"metrics": [{"name": "precision", "value": 87, "threshold": 85}]}`
	}
	c.write(ch.at(k, "inputs/assets.json"), assets)
	c.write(ch.at(k, "inputs/kpi.json"), kpi)
	if ch.kind != levelTwentyByCommand {
		c.write(ch.at(k, "retrieved.jsonl"), `{"record_id": "r1", "metric": "precision", "value": 86.5}`+"\n")
	}
	c.write(ch.at(k, "suggestions.json"), fmt.Sprintf(`{"suggestions": [{"text": "second of %[1]s"}, {"text": "first of %[1]s", "priority": "high"}]}`, ch.run(k)))
}

// run triggers the cycles, makes everybody work and kills the daemon, until every cycle has its
// result.
func (c *cycles) run() {
	near := &locker{cycles: c, root: ".mso-context", rng: rand.New(rand.NewPCG(0, 23))}
	far := &locker{cycles: c, root: "workspace/.mso-context", rng: rand.New(rand.NewPCG(1, 23))}
	c.kills = c.killed(c.rng, []func(){c.work, near.part, far.part}, c.revisions, c.done)
	near.release()
	far.release()
}

// revisions returns how often the cycles have moved.
func (c *cycles) revisions() (n int) {
	for _, ch := range c.chains {
		for k := range 3 {
			n += c.cycle(ch.at(k, "state.json")).Revision
		}
	}
	return n
}

// taken returns the run of a chain that took the goal up, 0 while none has.
func (c *cycles) taken(ch *chain) int {
	for k := 1; k < 3; k++ {
		if c.there(ch.at(k, "trigger.json")) {
			return k
		}
	}
	return 0
}

// cycle is state.json as these tests read it.
type cycle struct {
	Status    string `json:"status"`
	Revision  int    `json:"revision"`
	RequestID string `json:"request_id"`
	Last      struct {
		At time.Time `json:"at"`
	} `json:"last_transition"`
	Decision struct {
		AutomationLevel int `json:"automation_level"`
	} `json:"decision"`
	Level struct {
		Current int `json:"current"`
	} `json:"level"`
	Suggestions []struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	} `json:"suggestions"`
	Issues     []string `json:"issues"`
	AuditID    string   `json:"audit_id"`
	FeedbackID string   `json:"feedback_id"`
}

func (p *place) cycle(state string) (st cycle) {
	_ = json.Unmarshal([]byte(p.read(state)), &st)
	return st
}

// work plays the agents, the reviewers and upstream's tools.
func (c *cycles) work() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ch := range c.chains {
		if !c.there(ch.at(0, "trigger.json")) {
			c.saved(ch.at(0, "trigger.json"), fmt.Sprintf(`{"workflow_name": %q}`, ch.workflow))
		}
		c.judge(ch, 0, ch.ways[0])
		c.complete(ch)
		if k := c.taken(ch); k != 0 {
			c.judge(ch, k, ch.ways[1])
		}
	}
}

// complete makes two runs of the workflow complete once its first cycle has a goal.
func (c *cycles) complete(ch *chain) {
	if st := c.cycle(ch.at(0, "state.json")); !c.ended[ch.workflow] && st.Status == "goal" && c.there(ch.at(0, "goal.json")) {
		for _, k := range []int{2 - ch.n%2, 1 + ch.n%2} {
			tag := []string{"workflow:" + ch.workflow, ch.workflow, "none"}[ch.n%3] // the last is known by its name
			c.saved(ch.root+"/active/"+ch.run(k)+"/manifest.json", fmt.Sprintf(`{"run_id": %q, "status": "completed", "completed_at": %q, "tags": [%q]}`,
				ch.run(k), st.Last.At.Add(time.Second).Format(time.RFC3339), tag))
		}
		c.ended[ch.workflow] = true
	}
}

// judge answers the requests of a cycle, each once.
func (c *cycles) judge(ch *chain, k int, w way) {
	st := c.cycle(ch.at(k, "state.json"))
	names, _ := filepath.Glob(filepath.Join(c.root, ch.at(k, "requests/*/form.md")))
	for _, name := range names {
		id := filepath.Base(filepath.Dir(name))
		switch {
		case c.said[ch.run(k)+id]:
			continue
		case strings.HasPrefix(id, "attempt_unknown-"):
			c.saved(ch.at(k, "requests/"+id+"/response.json"), fmt.Sprintf(`{"request_id": %q, "response": "retry", "provided_by": {"user": "kim", "source": "file"}}`, id))
		case id != st.RequestID || w == bySilence && (st.Status != "goal" || !c.there(ch.at(k, "requests/"+id+"/receipt.json"))):
			continue
		default:
			c.answer(ch.at(k, "requests/"+id+"/"), id, judgements[w])
		}
		c.said[ch.run(k)+id] = true
	}
}

// answer answers a request in its folder.
func (p *place) answer(folder, id string, j judgement) {
	if j.form {
		p.saved(folder+"form.md", j.ticked(p.read(folder+"form.md")))
		return
	}
	items := []string{}
	if j.item != "" {
		items = append(items, j.item)
	}
	body, err := json.Marshal(map[string]any{
		"request_id": id, "response": j.level, "selected": items, "comment": j.comment,
		"provided_by": map[string]string{"user": "kim", "source": "file"},
	})
	if err != nil {
		p.t.Error(err)
	}
	p.saved(folder+"response.json", string(body)+"\n")
}

// ticked is a form with the judgement in it.
func (j judgement) ticked(form string) string {
	for _, item := range []string{j.level, j.item} {
		if item != "" {
			form = strings.Replace(form, "- [ ] "+item, "- [x] "+item, 1)
		}
	}
	if j.comment != "" {
		form = strings.Replace(form, "\n\n- [ ] submit", "\n"+j.comment+"\n\n- [ ] submit", 1)
	}
	return strings.Replace(form, "- [ ] submit", "- [x] submit", 1)
}

// done reports whether every cycle has reached its goal, and late answers are recorded.
func (c *cycles) done() bool { return len(c.missing()) == 0 }

// missing are the cycles that are not done, with their statuses.
func (c *cycles) missing() (list []string) {
	for _, ch := range c.chains {
		for step, k := range []int{0, c.taken(ch)} {
			if st := c.cycle(ch.at(k, "state.json")); step > 0 && k == 0 || st.Status != "goal" || !c.heard(ch.at(k, ""), st, ch.ways[step]) {
				list = append(list, fmt.Sprintf("%s, cycle %d: %s", ch.workflow, step+1, st.Status))
			}
		}
	}
	return list
}

// heard reports whether the late answer to a request, if it gets one, is recorded.
func (c *cycles) heard(dir string, st cycle, w way) bool {
	return w != bySilence || c.there(dir+"requests/"+st.RequestID+"/late.json")
}

// locker is a program that locks a root's database, and writes into it.
type locker struct {
	*cycles
	root  string
	rng   *rand.Rand
	db    *sql.DB // while it is locked
	calls int     // until that changes
}

// part locks the database, or unlocks it after some calls.
func (l *locker) part() {
	if l.calls--; l.calls > 0 {
		return
	}
	l.calls = l.rng.IntN(60)
	if l.db != nil {
		l.release()
		return
	}
	name := l.root + "/audit_global.db"
	if !l.there(name) {
		return
	}
	db := l.database(name)
	_, err := db.Exec("BEGIN EXCLUSIVE")
	if err == nil {
		_, err = db.Exec("INSERT INTO document_references (file_path) VALUES ('of others')")
	}
	if err != nil { // somebody else has locked it, or its tables do not exist yet
		db.Close()
		return
	}
	l.db = db
}

// release unlocks the database.
func (l *locker) release() {
	if l.db == nil {
		return
	}
	if _, err := l.db.Exec("COMMIT"); err == nil {
		l.mu.Lock()
		l.wrote[l.root]++
		l.mu.Unlock()
	}
	l.db.Close()
	l.db = nil
}

// settle lets placet finish the work that the last kill left, and ends it in good order.
func (c *cycles) settle() {
	d := c.start()
	c.await(d)
	c.until("all rows are settled", func() bool {
		return !slices.ContainsFunc(c.folders(), func(dir string) bool { return !c.settled(dir) })
	})
	d.stop(syscall.SIGTERM)
	c.swept()
}

// folders are those of the cycles that began.
func (c *cycles) folders() (dirs []string) {
	for _, ch := range c.chains {
		dirs = append(dirs, ch.at(0, ""), ch.at(c.taken(ch), ""))
	}
	return dirs
}

// settled reports whether all the rows of a cycle are in its database.
func (p *place) settled(dir string) bool {
	rows := p.audit(dir)
	return len(rows) == 2 && !slices.ContainsFunc(rows, func(r optimizer.Row) bool { return !r.Settled() })
}
