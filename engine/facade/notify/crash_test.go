package notify

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"placet/engine/statedir"
	"placet/internal/leftovers"
)

// Variables of a process that is killed: the places of its state and its workspace, the target, and the number
// of the round.
const (
	crashState = "NOTIFY_TEST_STATE"
	crashRoot  = "NOTIFY_TEST_ROOT"
	crashURL   = "NOTIFY_TEST_URL"
	crashRound = "NOTIFY_TEST_ROUND"
)

func TestMain(m *testing.M) {
	if os.Getenv(crashState) != "" {
		tellUntilKilled()
	}
	os.Exit(leftovers.Run(m))
}

// perRound is how many requests open in a round.
const perRound = 2

// tellUntilKilled tells about the requests of this round and of earlier rounds.
func tellUntilKilled() {
	round, _ := strconv.Atoi(os.Getenv(crashRound))
	state, err := statedir.Open(os.Getenv(crashState), os.Getenv(crashRoot))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	at := func(round int) time.Time { return noon.Add(time.Duration(round) * 2 * time.Minute) }
	var all []Request
	for r := 1; r <= round; r++ {
		for i := range perRound {
			id := fmt.Sprintf("r%d-%d", r, i)
			all = append(all, Request{
				ID: id, Look: func() (Facts, bool) { return Facts{Family: "ask", Type: "text", At: at(r)}, true },
				Say: func(string) (Message, bool) { return Message{Title: id}, true },
			})
		}
	}
	n := New(Options{
		State: state, Settings: func() Settings { return Settings{To: []string{os.Getenv(crashURL)}} }, List: func() []Request { return all },
		Summarize: func(_ int, first []Message) (m Message) {
			for _, one := range first {
				m.Text += one.Title + "\n"
			}
			return m
		},
		Env: os.Environ, Lang: func() string { return "" }, Now: func() time.Time { return at(round) }, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	n.Begin()
	fmt.Println("begun")
	for range 20 { // whoever is not killed ends
		n.round(context.Background())
		n.sending.Wait()
	}
	os.Exit(0)
}

// Check 1 of notifications: placet is killed two hundred times, at any moment, and tells nobody twice.
func TestNotifyTellsNobodyTwiceThroughTwoHundredCrashes(t *testing.T) {
	if testing.Short() {
		t.Skip("two hundred processes")
	}
	dir, root := t.TempDir(), t.TempDir()
	state, err := statedir.Create(dir, root)
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	var mu sync.Mutex
	got := map[string]int{}
	arrived := make(chan chan struct{})
	name := regexp.MustCompile(`r\d+-\d+`)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		for _, id := range name.FindAllString(string(body), -1) {
			got[id]++
		}
		mu.Unlock()
		answer := make(chan struct{})
		select {
		case arrived <- answer:
			<-answer
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dice := rand.New(rand.NewPCG(1, 2))
	for round := range 201 {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), crashState+"="+dir, crashRoot+"="+root, crashURL+"=generic+"+server.URL+"/hook", crashRound+"="+strconv.Itoa(round))
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		kills, atOnce := dice.IntN(3), round > 0 && round < 200 && dice.IntN(4) == 0
		go func() {
			if _, err := bufio.NewReader(out).ReadString('\n'); err == nil && atOnce {
				_ = cmd.Process.Kill() // while it writes the ledger
			}
			_ = cmd.Wait()
			close(ended)
		}()
	messages:
		for n := 0; ; n++ {
			select {
			case <-ended:
				break messages
			case answer := <-arrived:
				if round > 0 && round < 200 && n == kills {
					_ = cmd.Process.Kill() // before the answer
				}
				close(answer)
			}
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for id, n := range got {
		if n > 1 {
			t.Errorf("%s is told %d times", id, n)
		}
	}
	t.Logf("of %d requests %d are told", 200*perRound, len(got))
	if len(got) < 200 {
		t.Errorf("of %d requests %d are told: the crashes leave nothing to see", 200*perRound, len(got))
	}
	body, err := state.Read(ledgerName, 4*longLedger)
	if err != nil || !json.Valid(body[1:regexp.MustCompile(`\}\n`).FindIndex(body)[0]+1]) {
		t.Errorf("the ledger cannot be read (%v)", err)
	}
}
