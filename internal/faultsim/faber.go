package main

import (
	"maps"
	"path"
	"regexp"
	"strings"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/engine/faber"
	"placet/engine/loop"
	"placet/internal/enginetest"
	"placet/layout"
)

const (
	faberRun   = ".fractary/faber/runs/acme/web/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34/"
	faberState = `{
  "run_id": "acme/web/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34",
  "work_id": "258",
  "status": "awaiting_feedback",
  "current_phase": "build",
  "current_step": "make",
  "last_event_id": 1,
  "updated_at": "2026-03-01T11:00:00Z",
  "phases": {
    "build": {"status": "in_progress", "steps": [{"id": "make", "status": "in_progress"}, {"id": "after-make", "status": "pending"}]}
  },
  "feedback_request": {"request_id": "fr-1", "type": "approval", "prompt": "Well?", "requested_at": "2026-03-01T11:00:00Z"}
}
`
	faberEvent  = `{"event_id": 1, "type": "step_start", "timestamp": "2026-03-01T10:00:00.000Z", "run_id": "x", "phase": "build", "step": "make"}`
	faberBad    = `{"request_id": "fr-1", "response": "lgtm", "provided_by": {"user": "kim", "source": "file"}}`
	faberAnswer = `{"request_id": "fr-1", "response": "approve", "comment": "Good", "provided_by": {"user": "kim", "source": "file"}}`
)

// faberStory returns a scenario of a real family's run: asked, answered badly,
// approved. A schedule of it costs ten of the toy family's.
func faberStory() *story {
	response := faberRun + "requests/fr-1/response.json"
	return &story{
		name:   "faber",
		family: loop.Family{Layout: layout.Faber{}, Machine: faber.New()},
		facts:  engine.Environment{Config: engine.Config{Language: "en", Family: faber.DefaultConfig()}},
		same:   sameFaber,
		dear:   8,
		steps: []step{
			put(faberRun+"metadata.json", `{"run_id": "acme/web/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34"}`,
				faberRun+"events/001-step_start.json", faberEvent, faberRun+"events/.next-id", "2\n", faberRun+"state.json", faberState),
			put(response, faberBad),
			put(response, faberAnswer),
		},
	}
}

// sameFaber compares as the laws of the families do: apart from times, digests and
// what the family's page lets a power cut change.
func sameFaber(want, got map[string]string) string {
	for name := range got {
		if layout.IsTemp(path.Base(name)) && !strings.HasPrefix(name, ".placet/") {
			return "a temporary file is left: " + name
		}
	}
	a, b := unnumbered(want).Normal(), unnumbered(got).Normal()
	if maps.Equal(a, b) {
		return ""
	}
	return cmp.Diff(a, b)
}

var (
	eventName = regexp.MustCompile(`^(.*/events/)\d+(-[a-z_]+)\.json$`)
	eventID   = regexp.MustCompile(`"(event_id|last_event_id)": \d+`)
	listed    = regexp.MustCompile(`(?m)^- \d{3,} .*$`)
)

// unnumbered removes the numbers of events from a tree, because a power cut may
// leave gaps in them.
func unnumbered(from map[string]string) enginetest.Tree {
	t := enginetest.Tree(maps.Clone(from))
	for _, p := range t.Paths() {
		body := eventID.ReplaceAllString(t[p], `"$1": N`)
		name := p
		if m := eventName.FindStringSubmatch(p); m != nil {
			name = m[1] + "N" + m[2]
			for t[name] != "" {
				name += "+"
			}
		}
		switch path.Base(p) {
		case ".next-id":
			body = "N\n"
		case "context.md":
			body = listed.ReplaceAllString(body, "- an event")
		}
		delete(t, p)
		t[name] = body
	}
	return t
}
