package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/internal/await"
)

// slowService is a service for requests to HR that answers once it is released.
func slowService(t *testing.T) *httptest.Server {
	released := make(chan struct{})
	release := sync.OnceFunc(func() { close(released) })
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/release" {
			release()
		}
		select {
		case <-released:
		case <-r.Context().Done():
		}
		fmt.Fprint(w, `{"status": "accepted"}`)
	}))
	t.Cleanup(func() { release(); s.Close() })
	return s
}

// A client that was written from the seed alone brings actions into every status of the seed, over
// HTTP and by Slack's buttons and replies.
func TestAClientOfTheSeedAlone(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3: install it (apt-get install python3) to run the client of the seed")
	}
	d, hr := newSlackDouble(t), slowService(t)
	s := slackSite(t, d, fmt.Sprintf("[nemawashi]\nexecute_on_approve = false\nhr = { provider = \"http\", api_url = %q }\n", hr.URL))
	client, err := filepath.Abs(filepath.Join("..", "..", "..", "testdata", "clients", "seed_client.py"))
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(await.Context(t), python, client, s.url, s.tokens["lead"], slackSecret, d.URL, hr.URL)
	run.Env = append(os.Environ(), "NO_PROXY=*", "no_proxy=*", "PYTHONDONTWRITEBYTECODE=1", "PYTHONIOENCODING=utf-8")
	var words strings.Builder
	run.Stderr = &words
	out, err := run.Output()
	if err != nil {
		t.Fatalf("the client: %v\n%s%s", err, out, words.String())
	}
	var seen []string
	if err := json.Unmarshal(out, &seen); err != nil {
		t.Fatalf("the client says %s: %v", out, err)
	}
	want := []string{"approval_pending", "approved", "drafted", "executed", "executing", "failed", "pending", "rejected"}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("the statuses that the client saw (-want +got):\n%s", diff)
	}
	d.set(func() {
		if len(d.broken) > 0 {
			t.Errorf("Slack would refuse: %q", d.broken)
		}
	})
}
